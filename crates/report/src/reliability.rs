//! Statistics of repeated trials: pass@k (passed at least once, so it can) and pass^k (passed every time, so it does).
//!
//! Trials are of the same case when name, file and column of a matrix are the same. A case that was only ever skipped is in neither count: it
//! says nothing about the subject.

use std::collections::{BTreeMap, BTreeSet};

use mcprove_model::{CaseFinished, CaseStarted, Finding, Report, Verdict};

use crate::{escape, status};

/// The trials of every case of a run, in the order the cases first appeared.
#[derive(Clone, Debug, Default)]
pub struct Reliability {
    rows: Vec<Trials>,
    rows_by_case: BTreeMap<(String, String, Option<String>), usize>,
    /// Servers that mcprove started for a trial.
    started: BTreeSet<String>,
}

/// The trials of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trials {
    /// The case's name.
    pub name: String,
    /// The file it was written in.
    pub file: String,
    /// The column of a matrix it belongs to.
    pub variant: Option<String>,
    /// Trials that were run.
    pub run: u32,
    /// Trials that passed.
    pub passed: u32,
    /// Trials that could not be run or did not end.
    pub errors: u32,
    /// Trials that were skipped.
    pub skipped: u32,
    /// True if a trial ran on a server that earlier trials or cases had used.
    pub shared: bool,
    /// The first trial that did not pass.
    pub failing: Option<Failing>,
}

/// A trial that did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Which trial, from 1.
    pub trial: u32,
    /// Its position among the cases of the report.
    pub position: usize,
    /// The worst finding, in one fragment.
    pub message: String,
}

impl Trials {
    /// pass@k: it passed at least once.
    pub fn capable(&self) -> bool {
        self.passed > 0
    }

    /// pass^k: it passed every time.
    pub fn reliable(&self) -> bool {
        self.run > 0 && self.passed == self.run
    }

    /// It passed sometimes.
    pub fn flaky(&self) -> bool {
        self.capable() && !self.reliable()
    }

    /// The reason for different results: trials on one server may see what earlier ones left, so they prove no flakiness.
    pub fn reason(&self) -> &'static str {
        if self.shared { "shared state" } else { "flaky" }
    }

    /// The pass rate and the first failure, in one escaped line.
    pub fn flaky_line(&self) -> String {
        let failing = self.failing.as_ref().map_or_else(String::new, |failing| {
            format!("; trial {}: {}", failing.trial, escape::line(&failing.message))
        });
        let help =
            if self.shared { " (the trials shared a server; `--isolation case` starts one for each)" } else { "" };
        format!("{} passed {} of {}{failing}{help}", self.title(), self.passed, self.run)
    }

    /// The name in one harmless line, and the column of a matrix.
    pub fn title(&self) -> String {
        status::name(&self.name, self.variant.as_deref())
    }
}

impl Reliability {
    /// The trials of a whole report.
    pub fn of(report: &Report) -> Self {
        let mut reliability = Self::default();
        for (position, case) in report.cases.iter().enumerate() {
            reliability.add(position, &case.started, case.finished.as_ref());
        }
        reliability
    }

    /// Takes in one more trial; `None` is one that did not end.
    pub fn add(&mut self, position: usize, started: &CaseStarted, finished: Option<&CaseFinished>) {
        let key = (started.file.clone(), started.name.clone(), started.variant.clone());
        let row = *self.rows_by_case.entry(key).or_insert_with(|| {
            self.rows.push(Trials {
                name: started.name.clone(),
                file: started.file.clone(),
                variant: started.variant.clone(),
                run: 0,
                passed: 0,
                errors: 0,
                skipped: 0,
                shared: false,
                failing: None,
            });
            self.rows.len() - 1
        });
        let row = &mut self.rows[row];
        if let (Some(server), Some(timings)) = (&started.server, finished.map(|finished| finished.timings)) {
            if timings.start > 0 {
                self.started.insert(server.clone());
            } else {
                row.shared |= timings.handshake > 0 && self.started.contains(server);
            }
        }
        let message = match finished.map(|finished| &finished.verdict) {
            Some(Verdict::Skipped { .. }) => {
                row.skipped += 1;
                return;
            }
            Some(Verdict::Passed) => {
                row.run += 1;
                row.passed += 1;
                return;
            }
            Some(verdict @ (Verdict::Failed | Verdict::Error)) => {
                row.errors += u32::from(*verdict == Verdict::Error);
                worst_message(finished.map_or(&[], |finished| finished.findings.as_slice()))
            }
            None => {
                row.errors += 1;
                "it did not end"
            }
        };
        row.run += 1;
        if row.failing.is_none() {
            row.failing = Some(Failing { trial: started.trial, position, message: message.to_owned() });
        }
    }

    /// Every case with its trials.
    pub fn rows(&self) -> &[Trials] {
        &self.rows
    }

    /// True if anything was tried more than once, so that there is something to say.
    pub fn repeated(&self) -> bool {
        self.rows.iter().any(|row| row.run + row.skipped > 1)
    }

    /// Number of cases that ran.
    pub fn judged(&self) -> usize {
        self.rows.iter().filter(|row| row.run > 0).count()
    }

    /// Number of cases that passed at least once.
    pub fn capable(&self) -> usize {
        self.rows.iter().filter(|row| row.capable()).count()
    }

    /// Number of cases that passed every time.
    pub fn reliable(&self) -> usize {
        self.rows.iter().filter(|row| row.reliable()).count()
    }

    /// The cases that passed sometimes.
    pub fn flaky(&self) -> impl Iterator<Item = &Trials> {
        self.rows.iter().filter(|row| row.flaky())
    }
}

/// The first finding of the worst severity.
pub(crate) fn worst(findings: &[Finding]) -> Option<&Finding> {
    // `rev`, because `max_by_key` keeps the last of several that are equal.
    findings.iter().rev().max_by_key(|finding| finding.severity)
}

/// Message of the worst finding.
pub(crate) fn worst_message(findings: &[Finding]) -> &str {
    worst(findings).map_or("no reason was given", |finding| &finding.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(name: &str, index: usize) -> CaseStarted {
        CaseStarted {
            index,
            name: name.to_owned(),
            file: "a.yaml".to_owned(),
            line: 1,
            trial: 1,
            server: None,
            variant: None,
            tags: Vec::new(),
        }
    }

    fn finished(index: usize, verdict: Verdict) -> CaseFinished {
        CaseFinished::new(index, verdict, vec![Finding::warning("w", "minor"), Finding::error("e", "major")])
    }

    fn reliability(trials: &[(&str, u32, Option<Verdict>)]) -> Reliability {
        let mut reliability = Reliability::default();
        for (position, (name, trial, verdict)) in trials.iter().enumerate() {
            let started = CaseStarted { trial: *trial, ..started(name, position) };
            let finished = verdict.clone().map(|verdict| finished(position, verdict));
            reliability.add(position, &started, finished.as_ref());
        }
        reliability
    }

    #[test]
    fn capable_reliable_and_flaky_are_told_apart() {
        let skipped = || Some(Verdict::Skipped { reason: String::new() });
        let all = reliability(&[
            ("always", 1, Some(Verdict::Passed)),
            ("always", 2, Some(Verdict::Passed)),
            ("sometimes", 1, Some(Verdict::Passed)),
            ("sometimes", 2, Some(Verdict::Failed)),
            ("never", 1, Some(Verdict::Error)),
            ("never", 2, None),
            ("skipped", 1, skipped()),
            ("skipped", 2, skipped()),
        ]);
        assert!(all.repeated());
        assert_eq!((all.judged(), all.capable(), all.reliable()), (3, 2, 1));
        let flaky: Vec<_> = all.flaky().collect();
        assert_eq!(flaky.len(), 1);
        assert_eq!(
            flaky[0].failing,
            Some(Failing { trial: 2, position: 3, message: "major".to_owned() }),
            "the failing trial is the evidence"
        );
    }

    #[test]
    fn trials_that_shared_a_server_are_not_called_flaky() {
        let word = |starts: [u64; 2]| {
            let mut reliability = Reliability::default();
            for (position, (start, verdict)) in starts.into_iter().zip([Verdict::Passed, Verdict::Failed]).enumerate() {
                let started = CaseStarted { server: Some("s".to_owned()), ..started("a", position) };
                let timings = mcprove_model::Timings { start, handshake: 5, ..mcprove_model::Timings::default() };
                let finished = CaseFinished { timings, ..finished(position, verdict) };
                reliability.add(position, &started, Some(&finished));
            }
            let row = reliability.flaky().next().expect("it passed once");
            (row.reason(), row.flaky_line().contains("`--isolation case`"))
        };
        assert_eq!(word([900, 0]), ("shared state", true));
        assert_eq!(word([900, 900]), ("flaky", false), "each trial has its own server");
        assert_eq!(word([0, 0]), ("flaky", false), "a server at a URL is not started");
    }

    #[test]
    fn one_trial_each_says_nothing() {
        assert!(!reliability(&[("a", 1, Some(Verdict::Passed)), ("b", 1, Some(Verdict::Failed))]).repeated());
    }
}
