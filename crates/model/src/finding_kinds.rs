//! The registry of finding ids that have no other table (rules, checks, matchers and probes do).
//!
//! `explain`, `docs/findings.md` and the rules of SARIF reports are made from it. A row of `finding_kinds.txt` is
//! `id | severity | summary | help`, below the heading of the place where such findings come from. A test finds ids in
//! the sources that have no row.

use crate::Severity;

const ROWS: &str = include_str!("finding_kinds.txt");

/// The page that describes all of them.
const PAGE: &str = "https://github.com/mcprove/mcprove/blob/main/docs/findings.md";

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingKind {
    /// The id.
    pub id: &'static str,
    /// The severity, unless the situation demands another.
    pub severity: Severity,
    /// Source of such findings.
    pub home: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// Advice on what to do about it.
    pub help: &'static str,
}

impl FindingKind {
    /// The kind of an id, whatever its case.
    pub fn find(id: &str) -> Option<Self> {
        finding_kinds().find(|kind| kind.id.eq_ignore_ascii_case(id))
    }

    /// Its place in the documentation.
    pub fn docs_url(&self) -> String {
        format!("{PAGE}#{}", self.id)
    }
}

/// All kinds, in the order of the registry.
pub fn finding_kinds() -> impl Iterator<Item = FindingKind> {
    let mut home = "";
    ROWS.lines().filter_map(move |row| {
        if let Some(title) = row.strip_prefix("# ") {
            home = title;
            return None;
        }
        let mut parts = row.split(" | ");
        let (id, severity, meaning, help) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        Some(FindingKind { id, severity: severity_of(severity)?, home, meaning, help })
    })
}

fn severity_of(word: &str) -> Option<Severity> {
    [Severity::Note, Severity::Warning, Severity::Error].into_iter().find(|severity| severity.word() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_whole() {
        let rows = ROWS.lines().filter(|row| !row.is_empty() && !row.starts_with("# "));
        assert_eq!(rows.count(), finding_kinds().count(), "a row is `id | note|warning|error | meaning. | Help.`");
        for kind in finding_kinds() {
            assert!(!kind.home.is_empty(), "{kind:?}");
            assert!(kind.meaning.ends_with('.') && kind.help.ends_with('.'), "{kind:?}");
        }
    }

    #[test]
    fn no_id_is_registered_twice() {
        let mut ids: Vec<&str> = finding_kinds().map(|kind| kind.id).collect();
        ids.sort_unstable();
        let mut once = ids.clone();
        once.dedup();
        assert_eq!(ids, once);
    }
}
