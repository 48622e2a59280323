//! What every id that a finding can carry means, for `mcprove explain` and the documentation.
//!
//! The ids that have no table of their own (rules, checks, matchers and probes do) are explained in
//! `explanations.txt`, a line each. `tests/finding_ids.rs` looks for ids in the sources that nobody explains.

use mcprove_judge::checks::{CheckKind, TABLES};
use mcprove_judge::matchers::{MATCHERS, MatcherKind};
use mcprove_judge::negative::Probe;
use mcprove_judge::trust::{RULES as TRUST_RULES, TrustRule};
use mcprove_judge::{Group, RULES, Rule};
use mcprove_suite::lint::{RULES as SUITE_RULES, Rule as SuiteRule};

const LINES: &str = include_str!("explanations.txt");

/// Something that has a name and can be explained.
pub enum Topic {
    /// A rule about the tools a server lists.
    Rule(&'static Rule),
    /// A group of such rules.
    Group(Group),
    /// A rule about trust between servers.
    Trust(&'static TrustRule),
    /// A rule about suite files that load.
    Suite(&'static SuiteRule),
    /// A probe of the error contract.
    Probe(&'static Probe),
    /// The checks of that name, with where they stand; one name may be a check in several blocks.
    Checks(Vec<(&'static str, &'static str, &'static CheckKind)>),
    /// A matcher.
    Matcher(&'static MatcherKind),
    /// Any other finding.
    Finding(Explained),
}

/// The explanation of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The id.
    pub id: &'static str,
    /// Where such findings come from.
    pub home: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do about it.
    pub help: &'static str,
}

impl Topic {
    /// Everything that has this name, whatever its case: a check and a matcher may share one.
    pub fn find(name: &str) -> Vec<Self> {
        let same = |other: &str| other.eq_ignore_ascii_case(name);
        let mut topics: Vec<Self> = Vec::new();
        topics.extend(Rule::find(name).map(Self::Rule));
        topics.extend(Group::ALL.into_iter().find(|group| same(group.prefix())).map(Self::Group));
        topics.extend(TrustRule::find(name).map(Self::Trust));
        topics.extend(SUITE_RULES.iter().find(|rule| same(rule.id)).map(Self::Suite));
        topics.extend(Probe::find(name).map(Self::Probe));
        let checks = TABLES.iter().flat_map(|table| table.kinds.iter().map(|kind| (table.key, table.of, kind)));
        let checks: Vec<_> = checks.filter(|(_, _, kind)| same(kind.name)).collect();
        topics.extend((!checks.is_empty()).then_some(Self::Checks(checks)));
        topics.extend(MATCHERS.iter().find(|kind| same(kind.name)).map(Self::Matcher));
        topics.extend(findings().find(|finding| same(finding.id)).map(Self::Finding));
        topics
    }

    /// Every name there is.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> = RULES.iter().flat_map(|rule| [rule.id, rule.name]).collect();
        names.extend(Group::ALL.iter().map(|group| group.prefix()));
        names.extend(TRUST_RULES.iter().flat_map(|rule| [rule.id, rule.axis]));
        names.extend(SUITE_RULES.iter().map(|rule| rule.id));
        names.extend(mcprove_judge::negative::PROBES.iter().map(|probe| probe.name));
        names.extend(TABLES.iter().flat_map(|table| table.kinds).map(|kind| kind.name));
        names.extend(MATCHERS.iter().map(|kind| kind.name));
        names.extend(findings().map(|finding| finding.id));
        names
    }
}

/// The findings that have no table of their own, in the order of the file.
pub fn findings() -> impl Iterator<Item = Explained> {
    let mut home = "";
    LINES.lines().filter_map(move |line| {
        if let Some(title) = line.strip_prefix("# ") {
            home = title;
            return None;
        }
        let mut parts = line.split(" | ");
        Some(Explained { id: parts.next()?, home, meaning: parts.next()?, help: parts.next()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_whole() {
        let lines = LINES.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
        assert_eq!(lines.count(), findings().count(), "a line is `id | what it means. | What to do.`");
        for finding in findings() {
            assert!(!finding.home.is_empty(), "{finding:?}");
            assert!(finding.meaning.ends_with('.') && finding.help.ends_with('.'), "{finding:?}");
        }
    }

    #[test]
    fn no_id_is_explained_twice() {
        let mut ids: Vec<&str> = findings().map(|finding| finding.id).collect();
        ids.sort_unstable();
        let mut once = ids.clone();
        once.dedup();
        assert_eq!(ids, once);
    }

    #[test]
    fn every_name_is_found() {
        for name in Topic::names() {
            assert!(!Topic::find(name).is_empty(), "{name}");
        }
        assert!(Topic::find("nothing-of-the-kind").is_empty());
    }
}
