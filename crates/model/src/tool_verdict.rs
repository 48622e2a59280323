//! The verdict about a tool that a scan called once, its cause, and the score that verdicts make.

use std::collections::BTreeMap;

/// The tag of the cases of an audit that are about resources, templates and prompts.
pub const OFFER_TAG: &str = "offer";

/// The findings that carry verdicts.
const RULES: &[(ToolVerdict, &str)] = &[
    (ToolVerdict::Crashed, "crashed"),
    (ToolVerdict::TimedOut, "timed-out"),
    (ToolVerdict::ErrorAsSuccess, "error-as-success"),
    (ToolVerdict::Fails(FailureCause::InputNotFound), "input-not-found"),
    (ToolVerdict::Fails(FailureCause::CredentialsMissing), "credentials-missing"),
    (ToolVerdict::Fails(FailureCause::NetworkUnreachable), "network-unreachable"),
    (ToolVerdict::Fails(FailureCause::NotConfigured), "not-configured"),
    (ToolVerdict::Fails(FailureCause::Refused), "refused-by-mcprove"),
    (ToolVerdict::Fails(FailureCause::Other), "fails"),
    // Refusals of the sandbox are refusals of mcprove as well.
    (ToolVerdict::Fails(FailureCause::Refused), "sandbox-refusal"),
];

/// The verdict about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolVerdict {
    /// A success that fits the output schema.
    Works,
    /// A worded error.
    Fails(FailureCause),
    /// A success whose text or JSON says that the call failed.
    ErrorAsSuccess,
    /// The process died, an exception was not handled, or the reply breaks the protocol.
    Crashed,
    /// No reply in time.
    TimedOut,
    /// It was not called.
    Skipped,
}

impl ToolVerdict {
    /// The word in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Fails(_) => "fails",
            Self::ErrorAsSuccess => "error-as-success",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed out",
            Self::Skipped => "skipped",
        }
    }

    /// The id of the finding that carries the verdict; a tool that works has none.
    pub fn rule(self) -> Option<&'static str> {
        RULES.iter().find(|(verdict, _)| *verdict == self).map(|(_, rule)| *rule)
    }

    /// The verdict that a finding carries.
    pub fn of_rule(rule: &str) -> Option<Self> {
        RULES.iter().find(|(_, known)| *known == rule).map(|(verdict, _)| *verdict)
    }

    /// True if the call proved nothing about the tool, because the cause is outside the server.
    pub fn is_unprovable(self) -> bool {
        matches!(self, Self::Fails(cause) if cause.is_outside())
    }
}

/// The cause of a worded error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureCause {
    /// The input names something that is not there; inputs are made up.
    InputNotFound,
    /// A key, a token or a login is missing or not accepted.
    CredentialsMissing,
    /// A host cannot be reached.
    NetworkUnreachable,
    /// A setting or another program is missing.
    NotConfigured,
    /// mcprove refused a request of the server.
    Refused,
    /// Anything else.
    Other,
}

impl FailureCause {
    /// The causes that are outside the server.
    pub const OUTSIDE: [Self; 5] =
        [Self::InputNotFound, Self::CredentialsMissing, Self::NetworkUnreachable, Self::NotConfigured, Self::Refused];

    /// True for a cause that is outside the server.
    pub fn is_outside(self) -> bool {
        self != Self::Other
    }

    /// The label for tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::InputNotFound => "input not found",
            Self::CredentialsMissing => "credentials missing",
            Self::NetworkUnreachable => "network unreachable",
            Self::NotConfigured => "not configured",
            Self::Refused => "refused by mcprove",
            Self::Other => "other",
        }
    }

    /// The beginning of a sentence about it.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::InputNotFound => "the made-up input is not there or not accepted",
            Self::CredentialsMissing => "credentials are missing",
            Self::NetworkUnreachable => "the network cannot be reached",
            Self::NotConfigured => "the server is not configured",
            Self::Refused => "mcprove refused a request of the server",
            Self::Other => "it says that it failed",
        }
    }

    /// Advice for the user.
    pub fn help(self) -> Option<&'static str> {
        match self {
            Self::InputNotFound => Some("`--fixture DIR` or `--seed-args FILE` gives the tools something that exists"),
            Self::CredentialsMissing => Some("`--env NAME=VALUE` hands credentials to the server"),
            Self::NetworkUnreachable => Some("run the scan where the server can reach its network"),
            Self::NotConfigured => Some("`--env NAME=VALUE` or the server's own configuration sets what is missing"),
            Self::Refused | Self::Other => None,
        }
    }
}

/// The verdicts of a scan, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanCounts {
    counts: BTreeMap<ToolVerdict, usize>,
}

impl FromIterator<ToolVerdict> for ScanCounts {
    fn from_iter<I: IntoIterator<Item = ToolVerdict>>(verdicts: I) -> Self {
        let mut counts = BTreeMap::new();
        for verdict in verdicts {
            *counts.entry(verdict).or_default() += 1;
        }
        Self { counts }
    }
}

impl ScanCounts {
    /// The number of tools with a verdict.
    pub fn of(&self, verdict: ToolVerdict) -> usize {
        self.counts.get(&verdict).copied().unwrap_or(0)
    }

    fn sum(&self, wanted: impl Fn(ToolVerdict) -> bool) -> usize {
        self.counts.iter().filter(|(verdict, _)| wanted(**verdict)).map(|(_, count)| count).sum()
    }

    /// The number of tools that were called and about which something was proven.
    pub fn proven(&self) -> usize {
        self.sum(|verdict| verdict != ToolVerdict::Skipped && !verdict.is_unprovable())
    }

    /// The share of tools that work among those about which something was proven, in percent, rounded down; `None` when
    /// nothing was proven.
    pub fn score(&self) -> Option<usize> {
        match self.proven() {
            0 => None,
            proven => Some(self.of(ToolVerdict::Works) * 100 / proven),
        }
    }

    /// The counts behind the score, in one line.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        let mut add = |count: usize, what: &str| {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        };
        for (verdict, one, many) in [
            (ToolVerdict::Works, "works", "work"),
            (ToolVerdict::Fails(FailureCause::Other), "fails", "fail"),
            (ToolVerdict::ErrorAsSuccess, "answers an error as a success", "answer an error as a success"),
        ] {
            let count = self.of(verdict);
            add(count, if count == 1 { one } else { many });
        }
        add(self.of(ToolVerdict::Crashed), "crashed");
        add(self.of(ToolVerdict::TimedOut), "timed out");
        for cause in FailureCause::OUTSIDE {
            add(self.of(ToolVerdict::Fails(cause)), &format!("not provable ({})", cause.word()));
        }
        add(self.of(ToolVerdict::Skipped), "skipped");
        parts.join(", ")
    }

    /// The score with its counts.
    pub fn summary(&self) -> String {
        match self.score() {
            Some(score) => format!("score: {score} % ({})", self.line()),
            None if self.counts.is_empty() => "score: none, because the server has no tools".to_owned(),
            None => format!("score: none, because nothing could be proven ({})", self.line()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_leaves_out_what_could_not_be_proven() {
        let credentials = ToolVerdict::Fails(FailureCause::CredentialsMissing);
        let counts: ScanCounts = [credentials; 15].into_iter().collect();
        assert_eq!(counts.score(), None);
        assert_eq!(
            counts.summary(),
            "score: none, because nothing could be proven (15 not provable (credentials missing))"
        );
        let mixed = [
            ToolVerdict::Works,
            ToolVerdict::Works,
            ToolVerdict::Crashed,
            ToolVerdict::ErrorAsSuccess,
            ToolVerdict::Fails(FailureCause::InputNotFound),
            credentials,
            ToolVerdict::Skipped,
        ];
        let counts: ScanCounts = mixed.into_iter().collect();
        assert_eq!((counts.proven(), counts.score()), (4, Some(50)));
        assert_eq!(
            counts.line(),
            "2 work, 1 answers an error as a success, 1 crashed, 1 not provable (input not found), \
             1 not provable (credentials missing), 1 skipped"
        );
        assert_eq!(ScanCounts::default().score(), None);
    }
}
