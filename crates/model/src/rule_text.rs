//! Descriptions of all rules, for SARIF reports.
//!
//! Ids of findings are in the registry (`finding_kinds.txt`). Rules, checks, matchers and probes have tables in `judge` and
//! `suite`, which reports cannot see; `rule_texts.txt` is made from these tables by
//! `SNAPSHOTS=overwrite cargo test -p mcprove --test cli generated_pages`.

use crate::FindingKind;

const ROWS: &str = include_str!("rule_texts.txt");

/// URL of the documentation.
const DOCS: &str = "https://github.com/mcprove/mcprove/blob/main/docs/";

/// The texts of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Its name in words with dashes.
    pub name: &'static str,
    /// Description in a sentence.
    pub summary: &'static str,
    /// Advice on what to do about it.
    pub help: &'static str,
    /// Its place in the documentation.
    pub url: String,
}

impl RuleText {
    /// The texts of a rule; `None` for an id that no table has.
    pub fn find(id: &str) -> Option<Self> {
        // An id of a finding is exact here: `equals` is a check and `EQUALS` is nothing.
        if let Some(kind) = FindingKind::find(id).filter(|kind| kind.id == id) {
            return Some(Self { name: kind.id, summary: kind.meaning, help: kind.help, url: kind.docs_url() });
        }
        ROWS.lines().find_map(|row| {
            let mut parts = row.split('\t');
            let is_it = parts.next()? == id;
            let (name, summary, help, page) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
            is_it.then(|| Self { name, summary, help, url: format!("{DOCS}{page}") })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_checks_and_findings_have_texts() {
        for id in ["stdout-pollution", "SCH-001", "SEC-060", "json_path", "missing_required", "always-holds"] {
            let text = RuleText::find(id).unwrap_or_else(|| panic!("{id}"));
            assert!(!text.summary.is_empty() && !text.help.is_empty(), "{text:?}");
            assert!(text.url.contains(".md"), "{text:?}");
        }
        assert_eq!(RuleText::find("no-such-rule"), None);
    }
}
