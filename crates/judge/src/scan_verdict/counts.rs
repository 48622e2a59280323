//! The counts of a scan and the score they make.

use std::collections::BTreeMap;

use super::{FailureCause, ToolVerdict};

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
        add(self.of(ToolVerdict::Works), "work");
        add(self.of(ToolVerdict::Fails(FailureCause::Other)), "fail");
        add(self.of(ToolVerdict::ErrorAsSuccess), "answer an error as a success");
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
            None if self.counts.is_empty() => "score: none, because there are no tools".to_owned(),
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
            "2 work, 1 answer an error as a success, 1 crashed, 1 not provable (input not found), \
             1 not provable (credentials missing), 1 skipped"
        );
        assert_eq!(ScanCounts::default().score(), None);
    }
}
