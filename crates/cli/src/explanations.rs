//! Explanations of every id that a finding can carry, for `mcprove explain` and the documentation.
//!
//! Rules, checks, matchers and probes have tables of their own; all other ids are in the registry of `model`.
//! `tests/finding_ids.rs` looks for ids in the sources that are in none of them.

use mcprove_judge::checks::{CheckKind, TABLES};
use mcprove_judge::conformance::{RULES as CONFORMANCE_RULES, Rule as ConformanceRule};
use mcprove_judge::matchers::{MATCHERS, MatcherKind};
use mcprove_judge::negative::Probe;
use mcprove_judge::trust::{RULES as TRUST_RULES, TrustRule};
use mcprove_judge::{Group, RULES, Rule};
use mcprove_model::{FindingKind, finding_kinds};
use mcprove_suite::lint::{RULES as SUITE_RULES, Rule as SuiteRule};

/// Something that has a name and can be explained.
pub enum Topic {
    /// A rule about the tools a server lists.
    Rule(&'static Rule),
    /// A group of such rules.
    Group(Group),
    /// A rule about trust between servers.
    Trust(&'static TrustRule),
    /// A rule of the protocol.
    Conformance(&'static ConformanceRule),
    /// A rule about suite files that load.
    Suite(&'static SuiteRule),
    /// A probe of the error contract.
    Probe(&'static Probe),
    /// The checks of that name, with their blocks; one name may be a check in several blocks.
    Checks(Vec<(&'static str, &'static str, &'static CheckKind)>),
    /// A matcher.
    Matcher(&'static MatcherKind),
    /// Any other finding.
    Finding(FindingKind),
}

impl Topic {
    /// Everything that has this name, whatever its case: a check and a matcher may share one.
    pub fn find(name: &str) -> Vec<Self> {
        let same = |other: &str| other.eq_ignore_ascii_case(name);
        let mut topics: Vec<Self> = Vec::new();
        topics.extend(Rule::find(name).map(Self::Rule));
        topics.extend(Group::ALL.into_iter().find(|group| same(group.prefix())).map(Self::Group));
        topics.extend(TrustRule::find(name).map(Self::Trust));
        topics.extend(CONFORMANCE_RULES.iter().find(|rule| same(rule.id)).map(Self::Conformance));
        topics.extend(SUITE_RULES.iter().find(|rule| same(rule.id)).map(Self::Suite));
        topics.extend(Probe::find(name).map(Self::Probe));
        let checks = TABLES.iter().flat_map(|table| table.kinds.iter().map(|kind| (table.key, table.of, kind)));
        let checks: Vec<_> = checks.filter(|(_, _, kind)| same(kind.name)).collect();
        topics.extend((!checks.is_empty()).then_some(Self::Checks(checks)));
        topics.extend(MATCHERS.iter().find(|kind| same(kind.name)).map(Self::Matcher));
        topics.extend(FindingKind::find(name).map(Self::Finding));
        topics
    }

    /// Every name there is.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> = RULES.iter().flat_map(|rule| [rule.id, rule.name]).collect();
        names.extend(Group::ALL.iter().map(|group| group.prefix()));
        names.extend(TRUST_RULES.iter().flat_map(|rule| [rule.id, rule.axis]));
        names.extend(CONFORMANCE_RULES.iter().map(|rule| rule.id));
        names.extend(SUITE_RULES.iter().map(|rule| rule.id));
        names.extend(mcprove_judge::negative::PROBES.iter().map(|probe| probe.name));
        names.extend(TABLES.iter().flat_map(|table| table.kinds).map(|kind| kind.name));
        names.extend(MATCHERS.iter().map(|kind| kind.name));
        names.extend(finding_kinds().map(|kind| kind.id));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
        for name in Topic::names() {
            assert!(!Topic::find(name).is_empty(), "{name}");
        }
        assert!(Topic::find("nothing-of-the-kind").is_empty());
    }
}
