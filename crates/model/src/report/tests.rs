//! Logs that are merged, cut short, or trimmed.

use super::*;

fn head(total: usize, start_ms: u64, shard: Option<(u32, u32)>) -> Event {
    Event::RunStarted(RunStarted {
        format: RunStarted::FORMAT,
        program: "mcprove 0.1.0".to_owned(),
        started_unix_ms: start_ms,
        total,
        jobs: 1,
        strict: false,
        shard: shard.map(|(number, of)| ShardOf { number, of, plan: "p".to_owned(), cases: 3 }),
        again: Vec::new(),
        context: None,
    })
}

fn case(index: usize, verdict: Verdict) -> [Event; 2] {
    let started = CaseStarted {
        index,
        name: format!("case {index}"),
        file: "a.yaml".to_owned(),
        line: 1,
        trial: 1,
        server: None,
        variant: None,
        tags: Vec::new(),
    };
    let finished = CaseFinished { duration_us: 7, ..CaseFinished::new(index, verdict, Vec::new()) };
    [Event::CaseStarted(started), Event::CaseFinished(finished)]
}

fn end(duration_us: u64) -> Event {
    Event::RunFinished(RunFinished { duration_us, interrupted: false, hint: None })
}

fn warning() -> Event {
    Event::Finding { finding: Finding::warning("unused-key", "`url` means nothing to a stdio server") }
}

fn shard(number: u32, cases: &[usize]) -> Vec<Event> {
    let start = head(cases.len(), 1_000 + u64::from(number), Some((number, 3)));
    let cases = cases.iter().flat_map(|index| case(*index, Verdict::Passed));
    [start, warning()].into_iter().chain(cases).chain([end(500)]).collect()
}

#[test]
fn shards_put_together_are_the_run_they_were_split_from() {
    let whole = [head(3, 1_001, None), warning()]
        .into_iter()
        .chain((0..3).flat_map(|index| case(index, Verdict::Passed)))
        .chain([end(1_500)]);
    let whole = Report::fold(whole);
    let parts = [shard(2, &[0]), shard(3, &[]), shard(1, &[1, 2])].concat();
    assert_eq!(Report::fold(parts.clone()), whole);
    let mut other_order = shard(1, &[1, 2]);
    other_order.extend([shard(3, &[]), shard(2, &[0])].concat());
    assert_eq!(Report::fold(other_order), whole, "the order of the logs does not matter");
    assert_eq!(whole.exit_status(), ExitStatus::Good);
}

#[test]
fn what_is_missing_is_said_and_is_not_success() {
    let said = |events: Vec<Event>| {
        let report = Report::fold(events);
        assert_eq!(report.exit_status(), ExitStatus::NotDone);
        assert!(!report.is_complete());
        report.findings.last().expect("a gap").message.clone()
    };
    assert_eq!(said([shard(1, &[1, 2]), shard(3, &[])].concat()), "shard 2 of 3 is missing");
    assert_eq!(said(shard(1, &[1, 2])), "shards 2, 3 of 3 are missing");
    let twice = [shard(1, &[1, 2]), shard(1, &[1, 2]), shard(2, &[0]), shard(3, &[])].concat();
    assert_eq!(said(twice), "shard 1 of 3 is there twice");
    let split_otherwise = [shard(1, &[1, 2]), shard(2, &[]), shard(3, &[])].concat();
    assert_eq!(said(split_otherwise), "the 3 shards have 2 cases, and their plan has 3");
    let mut cut = shard(1, &[0, 1, 2]);
    cut.pop();
    assert_eq!(said(cut), "shard 1 of 3 did not end: its log breaks off");
    assert_eq!(said(vec![head(1, 0, None)]), "the run did not end: its log breaks off");
}

#[test]
fn a_log_with_an_end_too_many_is_damaged() {
    let [start, passed] = case(0, Verdict::Passed);
    let [_, failed] = case(0, Verdict::Failed);
    let [_, other] = case(1, Verdict::Failed);
    let folded = |middle: Vec<Event>| Report::fold([head(1, 0, None)].into_iter().chain(middle).chain([end(1)]));
    let said = |middle: &[&Event]| {
        let report = folded(middle.iter().copied().cloned().collect());
        assert_eq!((report.exit_status(), report.is_complete()), (ExitStatus::NotDone, false));
        assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
        (report.findings[0].message.clone(), report.cases[0].finished.as_ref().map(|end| end.verdict.clone()))
    };
    let two = "the log is damaged: it has two ends of case 0".to_owned();
    assert_eq!(said(&[&start, &failed, &passed]), (two.clone(), Some(Verdict::Failed)));
    assert_eq!(said(&[&start, &passed, &failed]), (two.clone(), Some(Verdict::Failed)));
    assert_eq!(said(&[&start, &passed, &passed, &passed]), (two, Some(Verdict::Passed)));
    let foreign = "the log is damaged: it has the end of case 1, which did not begin".to_owned();
    assert_eq!(said(&[&start, &passed, &other]), (foreign, Some(Verdict::Passed)));
    let more = Report::fold([head(0, 0, None)].into_iter().chain(case(0, Verdict::Passed)).chain([end(1)]));
    assert_eq!(more.exit_status(), ExitStatus::NotDone);
    assert_eq!(more.findings[0].message, "the log is damaged: it has 1 cases, and 0 were planned");
    // An end belongs to a case of its own run.
    let two_runs = folded(vec![start, failed, end(1), head(0, 5, None), passed]);
    assert_eq!(two_runs.exit_status(), ExitStatus::NotDone);
    assert_eq!(two_runs.summary().failed, 1);
}

#[test]
fn gaps_are_told_once_however_often_a_report_is_settled() {
    let mut report = Report::fold(shard(1, &[0]));
    let settled = report.clone();
    report.settle();
    assert_eq!(report, settled);
}

#[test]
fn runs_that_are_no_shards_keep_their_order_and_all_count() {
    let run = |start, verdict: Verdict| [head(1, start, None)].into_iter().chain(case(0, verdict)).chain([end(600)]);
    let report = Report::fold(run(5_000, Verdict::Passed).chain(run(1_000, Verdict::Failed)));
    assert_eq!(report.cases.iter().map(|case| case.run).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(report.exit_status(), ExitStatus::Wrong);
    let head = report.head().expect("two heads");
    assert_eq!((head.total, head.started_unix_ms), (2, 1_000));
    assert_eq!(report.end().expect("two ends").duration_us, 1_200, "one after the other: the sum");
}

#[test]
fn runs_side_by_side_take_the_time_any_of_them_took() {
    let parts = [head(0, 1, None), end(3_000), head(0, 2, None), end(1_000), head(0, 3, None), end(4_000)];
    assert_eq!(Report::fold(parts).end().expect("all ended").duration_us, 6_000);
}

#[test]
fn cases_that_are_let_go_still_count() {
    let mut report = Report::default();
    [head(2, 0, None)].into_iter().chain(case(0, Verdict::Passed)).for_each(|event| report.add(event));
    report.let_go_of_last();
    case(1, Verdict::Passed).into_iter().chain([end(500)]).for_each(|event| report.add(event));
    report.let_go_of_last();
    assert!(report.cases.is_empty());
    assert_eq!(report.summary(), Summary { passed: 2, ..Summary::default() });
    assert!(report.is_complete(), "none is missing");
    assert_eq!(report.exit_status(), ExitStatus::Good);
}
