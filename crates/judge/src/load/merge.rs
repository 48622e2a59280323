//! The shards of a load become the load they are part of.

use mcprove_model::{CaseFinished, CaseReport, CaseStarted, Finding, LoadRecord, Report, Verdict, duration_text};

use super::findings::findings;
use super::gate::{Gate, GateResult};

/// The name of the case that is a load.
pub const LOAD_CASE: &str = "load";

/// Shards that begin within this time of each other begin together.
const TOGETHER_MS: u64 = 1_000;

impl Gate {
    /// The verdict of the gate's case, and its reason. What could not be measured is not kept.
    pub fn verdict(&self, load: &LoadRecord) -> (Verdict, Finding) {
        let name = self.text.split(['<', '>']).next().unwrap_or_default().trim();
        match self.judge(load) {
            GateResult::Kept(value) => (Verdict::Passed, Finding::note("gate", format!("{name}: {value}"))),
            GateResult::Broken(value) => {
                let mut finding = Finding::error("gate", format!("{name} is {value}; the gate is `{self}`"));
                finding.expected = Some(self.text.clone());
                finding.actual = Some(value);
                (Verdict::Failed, finding)
            }
            GateResult::Unknown(why) => {
                let finding =
                    Finding::error("gate-not-measured", format!("the gate `{self}` could not be judged: {why}"));
                (Verdict::Error, finding.help("give it a run in which it can be measured, or leave it out"))
            }
        }
    }
}

/// Merges the shards of a load in a report, judges the whole and its gates. A report without shards is left as it is: its
/// load was judged when it was run.
pub fn merge_loads(report: &mut Report) {
    let is_shard = |case: &CaseReport| case.started.name.starts_with("load ") && load_of(case).is_some();
    if !report.cases.iter().any(is_shard) || !report.is_complete() {
        return;
    }
    let (shards, mut cases): (Vec<_>, Vec<_>) = std::mem::take(&mut report.cases).into_iter().partition(is_shard);
    let mut whole: Vec<CaseReport> = Vec::new();
    for shard in shards {
        match whole.iter_mut().find(|case| case.run == shard.run) {
            Some(case) => add(case, shard),
            None => whole.push(shard),
        }
    }
    for mut case in whole {
        LOAD_CASE.clone_into(&mut case.started.name);
        let gates = judge(&mut case);
        cases.push(case);
        cases.extend(gates);
    }
    report.cases = cases;
    for run in report.runs.iter_mut().filter_map(|run| run.started.as_mut()) {
        run.total = report.cases.len();
    }
}

fn load_of(case: &CaseReport) -> Option<&LoadRecord> {
    case.finished.as_ref()?.load.as_deref()
}

/// Adds a shard to the whole.
fn add(whole: &mut CaseReport, shard: CaseReport) {
    whole.sessions.extend(shard.sessions);
    let (Some(whole), Some(shard)) = (&mut whole.finished, shard.finished) else { return };
    whole.findings.extend(shard.findings);
    whole.duration_us = whole.duration_us.max(shard.duration_us);
    if whole.verdict == Verdict::Passed {
        whole.verdict = shard.verdict;
    }
    if let (Some(load), Some(more)) = (&mut whole.load, shard.load) {
        load.merge(*more);
    }
}

/// Shards that did not load the server at the same time.
fn apart(load: &LoadRecord) -> Option<Finding> {
    let began = load.began?;
    let apart_ms = began.last_unix_ms.saturating_sub(began.first_unix_ms);
    (apart_ms > TOGETHER_MS).then(|| {
        let apart = duration_text(std::time::Duration::from_millis(apart_ms).as_secs_f64() * 1e6);
        let message = format!("the shards began {apart} apart: the server did not get the whole load at the same time");
        Finding::warning("shards-apart", message).help("give all shards the same `--start-at`")
    })
}

/// Judges a load that was merged; the cases of its gates.
fn judge(case: &mut CaseReport) -> Vec<CaseReport> {
    let Some(finished) = &mut case.finished else { return Vec::new() };
    let Some(load) = &finished.load else { return Vec::new() };
    let mut found = findings(load);
    found.extend(apart(load));
    if finished.verdict == Verdict::Passed && found.iter().any(|finding| finding.severity.fails()) {
        finished.verdict = Verdict::Failed;
    }
    let gates = load.plan.gates.iter().filter_map(|text| Gate::parse(text).ok()).enumerate();
    let gates = gates.map(|(number, gate)| {
        let (verdict, finding) = gate.verdict(load);
        let index = case.started.index + 1 + number;
        CaseReport {
            run: case.run,
            started: CaseStarted { index, name: gate.text.clone(), ..case.started.clone() },
            sessions: Vec::new(),
            frames: Vec::new(),
            cut_frames: std::collections::BTreeMap::new(),
            finished: Some(CaseFinished::new(index, verdict, vec![finding])),
        }
    });
    let gates = gates.collect();
    finished.findings.extend(found);
    gates
}

#[cfg(test)]
mod tests {
    use mcprove_model::{CallStats, Event, LoadBegin, LoadPlan, RunFinished, RunStarted, ShardOf};

    use super::*;

    fn shard(number: u32, latencies: &[u64]) -> Vec<Event> {
        let mut stats = CallStats::default();
        for us in latencies {
            stats.latency.record(*us);
        }
        let load = LoadRecord {
            plan: LoadPlan { gates: vec!["max < 25us".to_owned(), "p50 < 25us".to_owned()], ..LoadPlan::default() },
            calls: [("echo".to_owned(), stats)].into(),
            ..LoadRecord::default()
        };
        let index = number as usize - 1;
        let started =
            serde_json::json!({"index": index, "name": format!("load {number}/2"), "file": "", "line": 0, "trial": 1});
        let finished = serde_json::json!({"index": index, "verdict": "passed", "duration_us": 1, "load": load});
        let run = RunStarted {
            format: 1,
            program: "mcprove".to_owned(),
            started_unix_ms: 0,
            total: 1,
            jobs: 1,
            strict: false,
            shard: Some(ShardOf { number, of: 2, plan: "p".to_owned(), cases: 2 }),
            again: Vec::new(),
            context: None,
        };
        vec![
            Event::RunStarted(run),
            Event::CaseStarted(serde_json::from_value(started).expect("a start")),
            Event::CaseFinished(serde_json::from_value(finished).expect("an end")),
            Event::RunFinished(RunFinished { duration_us: 1, interrupted: false, hint: None }),
        ]
    }

    #[test]
    fn shards_are_judged_as_the_whole_they_are() {
        let mut report = Report::fold(shard(1, &[10, 20]).into_iter().chain(shard(2, &[15, 30])));
        merge_loads(&mut report);
        let names: Vec<_> = report.cases.iter().map(|case| case.started.name.as_str()).collect();
        assert_eq!(names, ["load", "max < 25us", "p50 < 25us"]);
        let verdicts: Vec<_> = report.cases.iter().flat_map(|case| &case.finished).map(|end| &end.verdict).collect();
        assert_eq!(verdicts, [&Verdict::Passed, &Verdict::Failed, &Verdict::Passed]);
        let whole = load_of(&report.cases[0]).expect("a load").latency();
        assert_eq!((whole.count(), whole.max()), (4, 30));
        assert_eq!(report.exit_status(), mcprove_model::ExitStatus::Wrong);
    }

    #[test]
    fn shards_that_did_not_begin_together_are_reported() {
        for (second, expected) in [(5_900, vec![]), (9_000, vec!["shards-apart"])] {
            let mut events: Vec<Event> = shard(1, &[10]).into_iter().chain(shard(2, &[20])).collect();
            let ends = events.iter_mut().filter_map(|event| {
                let Event::CaseFinished(finished) = event else { return None };
                finished.load.as_mut()
            });
            for (load, ms) in ends.zip([5_000, second]) {
                load.began = Some(LoadBegin { first_unix_ms: ms, last_unix_ms: ms });
            }
            let mut report = Report::fold(events);
            merge_loads(&mut report);
            let finished = report.cases[0].finished.as_ref().expect("finished");
            let rules: Vec<_> = finished.findings.iter().map(|finding| finding.rule.as_ref()).collect();
            assert_eq!((rules, &finished.verdict), (expected, &Verdict::Passed));
        }
    }

    #[test]
    fn a_missing_shard_is_not_judged() {
        let mut report = Report::fold(shard(1, &[10]));
        merge_loads(&mut report);
        assert_eq!(report.cases.len(), 1);
        assert_eq!(report.exit_status(), mcprove_model::ExitStatus::NotDone);
    }
}
