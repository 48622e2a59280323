//! Results of the cases of an earlier run, and the regressions since.
//!
//! The file is the known one: `{"entries":[{"name","status","language"?}]}`, sorted by name. Names are unique in a folder
//! only, so where a run has the same name in several files, `file` is written too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mcprove_model::{CaseReport, Finding, Report, Severity, Verdict};
use serde::{Deserialize, Serialize};

use crate::reliability::{Reliability, Trials};
use crate::{escape, json_text, status};

const PASS: &str = "PASS";
const FAIL: &str = "FAIL";

/// Results of the cases of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    name: String,
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

/// Changes since a baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Cases that passed then and do not now, in the order of the run.
    pub regressions: Vec<Regression>,
    /// Cases that failed then and fail now, in the order of the run, each in one harmless line.
    pub known_failures: Vec<String>,
    /// True if a case fails that did not fail then: a regression, or one that the baseline does not know.
    pub has_other_failures: bool,
    /// Names in the baseline that no case has any more, sorted.
    pub stale: Vec<String>,
}

/// A case that passed in the baseline and does not now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regression {
    /// The case, in one harmless line.
    pub title: String,
    /// Its status in this run: `FAIL` or `SKIP`.
    pub now: &'static str,
}

impl Baseline {
    /// Builds a baseline from the cases of a run; a case passes if it passed every trial.
    pub fn of(report: &Report) -> Self {
        Self::default().updated(report)
    }

    /// This baseline updated with the results of a run; entries of cases that did not run are unchanged.
    #[must_use]
    pub fn updated(&self, report: &Report) -> Self {
        let trials = of_cases_that_ran(report);
        let mut rows: BTreeMap<&str, Vec<&Trials>> = BTreeMap::new();
        for row in trials.rows() {
            rows.entry(row.name.as_str()).or_default().push(row);
        }
        let rows_of = |entry: &Entry| rows.get(entry.name.as_str()).into_iter().flatten();
        let is_replaced = |entry: &Entry| rows_of(entry).any(|row| entry.is_of(row).is_some());
        let mut entries: Vec<Entry> = self.entries.iter().filter(|entry| !is_replaced(entry)).cloned().collect();
        let mut files: BTreeMap<(&str, Option<&str>), u32> = BTreeMap::new();
        let kept = entries.iter().map(|entry| (entry.name.as_str(), entry.language.as_deref()));
        let kept: Vec<(String, Option<String>)> =
            kept.map(|(name, language)| (name.to_owned(), language.map(str::to_owned))).collect();
        let ran = trials.rows().iter().map(|row| (row.name.as_str(), row.variant.as_deref()));
        for key in ran.chain(kept.iter().map(|(name, language)| (name.as_str(), language.as_deref()))) {
            *files.entry(key).or_default() += 1;
        }
        entries.extend(trials.rows().iter().map(|row| Entry {
            name: row.name.clone(),
            status: status_of(row).to_owned(),
            language: row.variant.clone(),
            file: (files[&(row.name.as_str(), row.variant.as_deref())] > 1).then(|| plain_path(&row.file)),
        }));
        entries.sort_by(|a, b| (&a.name, &a.language, &a.file).cmp(&(&b.name, &b.language, &b.file)));
        Self { entries }
    }

    /// True if a run was stopped before some of its cases, so that it says nothing about them.
    pub fn is_cut_short(report: &Report) -> bool {
        report.cases.iter().any(was_cut_off)
    }

    /// Reads a baseline file.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The file's content.
    pub fn render(&self) -> String {
        json_text::pretty(self)
    }

    /// Lists the regressions of a run; `known` has the names of all cases, including those that were not selected.
    pub fn compare(&self, report: &Report, known: &BTreeSet<&str>) -> Comparison {
        let mut entries: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in &self.entries {
            entries.entry(entry.name.as_str()).or_default().push(entry);
        }
        let trials = of_cases_that_ran(report);
        // If several entries match equally well, all of them must have had the status.
        let was = |row: &Trials, status: &str| {
            let alike: Vec<_> = entries
                .get(row.name.as_str())
                .into_iter()
                .flatten()
                .filter_map(|entry| Some((entry.is_of(row)?, entry)))
                .collect();
            let nearest = alike.iter().map(|(nearness, _)| *nearness).max();
            let mut same = alike.iter().filter(|(nearness, _)| Some(*nearness) == nearest);
            nearest.is_some() && same.all(|(_, entry)| entry.status == status)
        };
        let worse = trials.rows().iter().filter(|row| was(row, PASS) && status_of(row) != PASS);
        let regressions = worse.map(|row| Regression { title: row.title(), now: status_of(row) }).collect();
        let (known_failures, others): (Vec<&Trials>, Vec<&Trials>) =
            trials.rows().iter().filter(|row| status_of(row) == FAIL).partition(|row| was(row, FAIL));
        let here: BTreeSet<_> = trials.rows().iter().map(|row| row.name.as_str()).collect();
        let stale: BTreeSet<_> = self
            .entries
            .iter()
            .map(|entry| entry.name.as_str())
            .filter(|name| !known.contains(name) && !here.contains(name))
            .collect();
        Comparison {
            regressions,
            known_failures: known_failures.into_iter().map(Trials::title).collect(),
            has_other_failures: !others.is_empty(),
            stale: stale.into_iter().map(str::to_owned).collect(),
        }
    }
}

impl Comparison {
    /// The changes as text for the terminal; empty if nothing changed.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.regressions.is_empty() {
            let _ = writeln!(text, "Regressions detected ({}):", self.regressions.len());
            for Regression { title, now } in &self.regressions {
                let _ = writeln!(text, "  {title}: was {PASS}, now {now}");
            }
        }
        if !self.known_failures.is_empty() {
            let _ = writeln!(text, "Known failures ({}), which failed in the baseline too:", self.known_failures.len());
            for title in &self.known_failures {
                let _ = writeln!(text, "  {title}");
            }
        }
        if !self.stale.is_empty() {
            let _ = writeln!(text, "Stale baseline entries ({}), no case has these names:", self.stale.len());
            for name in &self.stale {
                let _ = writeln!(text, "  {}", status::name(name, None));
            }
        }
        text
    }

    /// The changes as findings about the run; `severity` is that of a regression.
    pub fn findings(&self, severity: Severity) -> Vec<Finding> {
        let regressions = self.regressions.iter().map(|Regression { title, now }| {
            let message = format!("`{title}` passed in the baseline and is {now} now");
            Finding::new("regression", severity, message)
        });
        let known = self
            .known_failures
            .iter()
            .map(|title| Finding::note("known-failure", format!("`{title}` failed in the baseline and still fails")));
        let stale = self.stale.iter().map(|name| {
            let message = format!("the baseline has `{}`, which no case is called", escape::line(name));
            Finding::warning("stale-baseline", message).help("write the baseline anew with `--save-baseline`")
        });
        regressions.chain(known).chain(stale).collect()
    }
}

impl Entry {
    /// Similarity of the entry and a case: the number of path components they share; `None` if they cannot match.
    fn is_of(&self, row: &Trials) -> Option<usize> {
        if self.name != row.name || self.language != row.variant {
            return None;
        }
        match &self.file {
            None => Some(0),
            Some(file) => shared_path(file, &row.file),
        }
    }
}

/// Cases that a run was stopped before say nothing about it.
fn of_cases_that_ran(report: &Report) -> Reliability {
    let mut trials = Reliability::default();
    for (position, case) in report.cases.iter().enumerate().filter(|(_, case)| !was_cut_off(case)) {
        trials.add(position, &case.started, case.finished.as_ref());
    }
    trials
}

fn was_cut_off(case: &CaseReport) -> bool {
    const CUT_OFF: [&str; 2] = ["interrupted", "not run after the first failure"];
    let verdict = case.finished.as_ref().map(|finished| &finished.verdict);
    matches!(verdict, Some(Verdict::Skipped { reason }) if CUT_OFF.contains(&reason.as_str()))
}

/// The components of a path, without those that depend on the current directory. Both separators count, so that a
/// baseline may come from another system.
fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(_)) => {
                parts.pop();
            }
            ("..", None) => {}
            _ => parts.push(part),
        }
    }
    parts
}

/// A path as a baseline has it.
fn plain_path(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts(path).join("/"))
}

/// Number of components that two paths share if they may name one file seen from two folders: one ends with the other.
fn shared_path(one: &str, other: &str) -> Option<usize> {
    let (one, other) = (parts(one), parts(other));
    (one.ends_with(&other) || other.ends_with(&one)).then(|| one.len().min(other.len()))
}

/// The word in the file format for the status of a case.
fn status_of(trials: &Trials) -> &'static str {
    if trials.reliable() {
        PASS
    } else if trials.run == 0 {
        "SKIP"
    } else {
        FAIL
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::{CaseFinished, CaseStarted};

    use super::*;

    fn report(cases: &[(&str, &str, u32, Verdict)]) -> Report {
        let case = |(index, (name, file, trial, verdict)): (usize, &(&str, &str, u32, Verdict))| CaseReport {
            run: 0,
            started: CaseStarted {
                index,
                name: (*name).to_owned(),
                file: (*file).to_owned(),
                line: 1,
                trial: *trial,
                server: None,
                variant: None,
                tags: Vec::new(),
            },
            sessions: Vec::new(),
            frames: Vec::new(),
            cut_frames: BTreeMap::new(),
            finished: Some(CaseFinished::new(index, verdict.clone(), Vec::new())),
        };
        Report { cases: cases.iter().enumerate().map(case).collect(), ..Report::default() }
    }

    fn skipped() -> Verdict {
        Verdict::Skipped { reason: String::new() }
    }

    #[test]
    fn the_file_has_the_known_shape() {
        let report = report(&[
            ("b", "x.yaml", 1, Verdict::Passed),
            ("b", "x.yaml", 2, Verdict::Failed),
            ("c", "x.yaml", 1, skipped()),
            ("a", "x.yaml", 1, Verdict::Passed),
            ("d", "y/x.yaml", 1, Verdict::Error),
            ("d", "x.yaml", 1, Verdict::Passed),
        ]);
        let baseline = Baseline::of(&report);
        let compact: String = baseline.render().split_whitespace().collect();
        assert_eq!(
            compact,
            concat!(
                r#"{"entries":[{"name":"a","status":"PASS"},{"name":"b","status":"FAIL"},{"name":"c","status":"SKIP"},"#,
                r#"{"name":"d","status":"PASS","file":"x.yaml"},{"name":"d","status":"FAIL","file":"y/x.yaml"}]}"#
            )
        );
        assert_eq!(Baseline::parse(&baseline.render()), Ok(baseline));
    }

    #[test]
    fn only_what_passed_then_and_does_not_now_is_a_regression() {
        let then = Baseline::parse(
            r#"{"entries":[
              {"name":"fails now","status":"PASS"}, {"name":"skipped now","status":"PASS"}, {"name":"failed before","status":"FAIL"},
              {"name":"still passes","status":"PASS"}, {"name":"not selected","status":"PASS"}, {"name":"gone\n::x","status":"FAIL"},
              {"name":"of another column","status":"PASS","language":"go"}]}"#,
        )
        .expect("a baseline");
        let now = report(&[
            ("fails now", "a.yaml", 1, Verdict::Failed),
            ("skipped now", "a.yaml", 1, skipped()),
            ("failed before", "a.yaml", 1, Verdict::Failed),
            ("still passes", "a.yaml", 1, Verdict::Passed),
            ("of another column", "a.yaml", 1, Verdict::Failed),
            ("new", "a.yaml", 1, Verdict::Failed),
        ]);
        let changed = then.compare(&now, &BTreeSet::from(["not selected"]));
        assert_eq!(
            changed.text(),
            "Regressions detected (2):\n  fails now: was PASS, now FAIL\n  skipped now: was PASS, now SKIP\n\
             Known failures (1), which failed in the baseline too:\n  failed before\n\
             Stale baseline entries (1), no case has these names:\n  gone\\n::x\n"
        );
        assert_eq!(changed.findings(Severity::Error).len(), 4);
        assert!(changed.has_other_failures);
    }

    #[test]
    fn what_failed_then_and_fails_now_is_known() {
        let then = report(&[("a", "x.yaml", 1, Verdict::Failed), ("b", "x.yaml", 1, skipped())]);
        let now = |b: Verdict| report(&[("a", "x.yaml", 1, Verdict::Failed), ("b", "x.yaml", 1, b)]);
        let compare = |now: &Report| Baseline::of(&then).compare(now, &BTreeSet::new());
        let same = compare(&now(Verdict::Passed));
        assert_eq!((same.known_failures.as_slice(), same.has_other_failures), (["a".to_owned()].as_slice(), false));
        assert!(compare(&now(Verdict::Failed)).has_other_failures, "what was skipped then was not known to fail");
        let flaky = report(&[("a", "x.yaml", 1, Verdict::Passed), ("a", "x.yaml", 2, Verdict::Failed)]);
        assert_eq!(compare(&flaky).known_failures, ["a"]);
    }

    #[test]
    fn a_name_in_two_files_is_told_apart_by_its_file() {
        let then = report(&[("a", "x.yaml", 1, Verdict::Failed), ("a", "y.yaml", 1, Verdict::Passed)]);
        let now = report(&[("a", "x.yaml", 1, Verdict::Failed), ("a", "y.yaml", 1, Verdict::Failed)]);
        let changed = Baseline::of(&then).compare(&now, &BTreeSet::new());
        assert_eq!(changed.regressions.len(), 1);
    }

    #[test]
    fn a_file_is_the_same_from_another_folder_and_on_another_system() {
        let then = Baseline::of(&report(&[
            ("a", "./evals/one/x.yaml", 1, Verdict::Failed),
            ("a", "evals/two/x.yaml", 1, Verdict::Passed),
        ]));
        for (file, regressions) in [
            ("evals/two/x.yaml", 1),
            ("./evals/./two/x.yaml", 1),
            ("../evals/two/x.yaml", 1),
            ("two/x.yaml", 1),
            ("/repo/evals/two/x.yaml", 1),
            (".\\evals\\two\\x.yaml", 1),
            ("evals/one/../two/x.yaml", 1),
            ("one/x.yaml", 0),
            // It may be either, and one of them failed before.
            ("x.yaml", 0),
            ("three/x.yaml", 0),
            ("wo/x.yaml", 0),
        ] {
            let changed = then.compare(&report(&[("a", file, 1, Verdict::Failed)]), &BTreeSet::new());
            assert_eq!(changed.regressions.len(), regressions, "{file}");
        }
    }

    #[test]
    fn what_did_not_run_stays_as_it_was() {
        let then = Baseline::of(&report(&[
            ("a", "x.yaml", 1, Verdict::Passed),
            ("b", "x.yaml", 1, Verdict::Passed),
            ("c", "x.yaml", 1, Verdict::Passed),
            ("c", "y.yaml", 1, Verdict::Failed),
        ]));
        let cut_off = Verdict::Skipped { reason: "not run after the first failure".to_owned() };
        let some = report(&[
            ("a", "x.yaml", 1, Verdict::Failed),
            ("b", "x.yaml", 1, cut_off),
            ("c", "./y.yaml", 1, Verdict::Passed),
            ("d", "x.yaml", 1, Verdict::Passed),
        ]);
        assert!(Baseline::is_cut_short(&some));
        let compact: String = then.updated(&some).render().split_whitespace().collect();
        assert_eq!(
            compact,
            concat!(
                r#"{"entries":[{"name":"a","status":"FAIL"},{"name":"b","status":"PASS"},"#,
                r#"{"name":"c","status":"PASS","file":"x.yaml"},{"name":"c","status":"PASS","file":"y.yaml"},"#,
                r#"{"name":"d","status":"PASS"}]}"#
            )
        );
    }
}
