//! The fold of an event stream, or of several merged ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bytes::Bytes;

use crate::{
    CaseFinished, CaseStarted, Connected, Event, ExitStatus, Finding, Frame, RunFinished, RunStarted, ShardOf, Verdict,
};

/// A whole run, folded from its events. The logs of several runs may be folded into one; shards of one plan then become the
/// run they were split from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Its runs: one, or several where logs were merged.
    pub runs: Vec<RunReport>,
    /// Findings about the suite or the run as a whole.
    pub findings: Vec<Finding>,
    /// The cases in plan order.
    pub cases: Vec<CaseReport>,
    /// Number of passed cases without details, which are not in `cases`.
    pub let_go: usize,
    /// True if the log cannot be the log of a run; a finding says why.
    pub damaged: bool,
}

/// One run of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// The head, when the log has one.
    pub started: Option<RunStarted>,
    /// The end, when the log has one.
    pub finished: Option<RunFinished>,
}

/// One case of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseReport {
    /// Index of its run in the report.
    pub run: usize,
    /// Its start.
    pub started: CaseStarted,
    /// Its sessions.
    pub sessions: Vec<Connected>,
    /// Its frames, with the session each belongs to.
    pub frames: Vec<(u32, Frame)>,
    /// Bytes left out at the end of frames, by their position.
    pub cut_frames: BTreeMap<usize, usize>,
    /// Its end; `None` if the log breaks off.
    pub finished: Option<CaseFinished>,
}

/// Number of cases per verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Skipped.
    pub skipped: usize,
    /// Could not be run.
    pub errors: usize,
    /// Did not end.
    pub unfinished: usize,
}

impl CaseReport {
    /// Keeps of each frame no more than `most` bytes.
    pub fn cut_frames(&mut self, most: usize) {
        for (position, (_, frame)) in self.frames.iter_mut().enumerate() {
            let length = frame.body.len();
            if length > most {
                let kept = match std::str::from_utf8(&frame.body) {
                    Ok(text) => text.floor_char_boundary(most),
                    Err(_) => most,
                };
                // A copy: a slice would keep the whole body.
                frame.body = Bytes::copy_from_slice(&frame.body[..kept]);
                *self.cut_frames.entry(position).or_default() += length - kept;
            }
        }
    }
}

impl Report {
    /// Folds a whole stream: one log, or several one after the other.
    pub fn fold(events: impl IntoIterator<Item = Event>) -> Self {
        let mut report = Self::default();
        events.into_iter().for_each(|event| report.add(event));
        report.settle();
        report
    }

    /// Takes in one more event; [`Self::settle`] follows the last.
    pub fn add(&mut self, event: Event) {
        match event {
            Event::RunStarted(started) => {
                // A log may claim anything; what is promised beyond reason is not believed.
                self.cases.reserve_exact(started.total.min(100_000));
                self.runs.push(RunReport { started: Some(started), finished: None });
            }
            Event::Finding { finding } => {
                // Every shard reports the findings of the suite; once is enough.
                if self.runs.len() < 2 || !self.findings.contains(&finding) {
                    self.findings.push(finding);
                }
            }
            Event::CaseStarted(started) => {
                let run = self.current_run();
                let (sessions, frames, cut_frames) = (Vec::new(), Vec::new(), BTreeMap::new());
                self.cases.push(CaseReport { run, started, sessions, frames, cut_frames, finished: None });
            }
            Event::Connected(connected) => {
                let index = connected.index;
                match self.case_mut(index) {
                    Some(case) => case.sessions.push(connected),
                    None => self.note_damage(|| format!("a session of case {index}, which did not begin")),
                }
            }
            Event::Frame { index, session, frame } => match self.case_mut(index) {
                Some(case) => case.frames.push((session, frame)),
                None => self.note_damage(|| format!("a message of case {index}, which did not begin")),
            },
            Event::CaseFinished(finished) => self.end_case(finished),
            Event::RunFinished(finished) => {
                let run = self.current_run();
                self.runs[run].finished = Some(finished);
            }
        }
    }

    fn end_case(&mut self, finished: CaseFinished) {
        let index = finished.index;
        let Some(case) = self.case_mut(index) else {
            return self.note_damage(|| format!("the end of case {index}, which did not begin"));
        };
        let is_second = case.finished.is_some();
        // Which end is the right one is not known; bad news is not replaced by good news.
        if case.finished.as_ref().is_none_or(|first| first.verdict == Verdict::Passed) {
            case.finished = Some(finished);
        }
        if is_second {
            self.note_damage(|| format!("two ends of case {index}"));
        }
    }

    /// Notes that the log cannot be the log of a run. Once is enough.
    fn note_damage(&mut self, what: impl FnOnce() -> String) {
        if !std::mem::replace(&mut self.damaged, true) {
            let message = format!("the log is damaged: it has {}", what());
            self.findings.push(Finding::error("damaged-log", message).help("run it again"));
        }
    }

    /// Keeps of the last case only that it passed.
    pub fn let_go_of_last(&mut self) {
        self.let_go += usize::from(self.cases.pop().is_some());
    }

    /// Puts the cases of shards in plan order, makes one run of the shards that are all there, and says what is missing.
    pub fn settle(&mut self) {
        let planned: Option<usize> = self.runs.iter().map(|run| Some(run.started.as_ref()?.total)).sum();
        if let Some(planned) = planned.filter(|planned| !self.runs.is_empty() && self.count() > *planned) {
            let count = self.count();
            self.note_damage(|| format!("{count} cases, and {planned} were planned"));
        }
        let wholes = self.wholes();
        if self.runs.len() > 1 {
            let rank: Vec<usize> =
                (0..self.runs.len()).map(|run| wholes.iter().position(|whole| whole.has(run)).unwrap_or(0)).collect();
            // Runs that are not shards keep the order of their logs.
            self.cases.sort_by_key(|case| {
                let sharded = wholes[rank[case.run]].shard.is_some();
                (rank[case.run], if sharded { case.started.index } else { 0 })
            });
        }
        let gaps: Vec<_> = wholes.iter().flat_map(|whole| self.gaps(whole)).collect();
        for gap in gaps {
            if !self.findings.contains(&gap) {
                self.findings.push(gap);
            }
        }
        self.unite_complete_shards(&wholes);
    }

    /// The head of the run; several are made into one: the first start, all cases.
    pub fn head(&self) -> Option<RunStarted> {
        united_head(&self.runs)
    }

    /// The end of the run, if all of it is complete. Several are made into one: the time in which any of them ran.
    pub fn end(&self) -> Option<RunFinished> {
        united_end(&self.runs)
    }

    /// True if warnings fail cases.
    pub fn strict(&self) -> bool {
        self.runs.iter().any(|run| run.started.as_ref().is_some_and(|started| started.strict))
    }

    /// Counts the cases by verdict.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { passed: self.let_go, ..Summary::default() };
        for case in &self.cases {
            match case.finished.as_ref().map(|f| &f.verdict) {
                Some(Verdict::Passed) => summary.passed += 1,
                Some(Verdict::Failed) => summary.failed += 1,
                Some(Verdict::Skipped { .. }) => summary.skipped += 1,
                Some(Verdict::Error) => summary.errors += 1,
                None => summary.unfinished += 1,
            }
        }
        summary
    }

    /// True if every run is complete and no shard is missing.
    pub fn is_complete(&self) -> bool {
        !self.damaged && self.wholes().iter().all(|whole| self.gaps(whole).is_empty())
    }

    /// The exit status the run deserves; "could not be done" wins over "something is wrong".
    pub fn exit_status(&self) -> ExitStatus {
        let summary = self.summary();
        let interrupted = self.runs.iter().filter_map(|run| run.finished.as_ref()).any(|end| end.interrupted);
        if interrupted {
            ExitStatus::Interrupted
        } else if summary.errors > 0 || summary.unfinished > 0 || !self.is_complete() {
            ExitStatus::NotDone
        } else if summary.failed > 0 || self.findings.iter().any(|finding| finding.severity.fails()) {
            ExitStatus::Wrong
        } else if self.count() == 0 {
            ExitStatus::NothingSelected
        } else {
            ExitStatus::Good
        }
    }

    fn count(&self) -> usize {
        self.cases.len() + self.let_go
    }

    /// The run that events belong to: the one begun last, or one without a head.
    fn current_run(&mut self) -> usize {
        if self.runs.is_empty() {
            self.runs.push(RunReport::default());
        }
        self.runs.len() - 1
    }

    fn case_mut(&mut self, index: usize) -> Option<&mut CaseReport> {
        let run = self.current_run();
        // Events of a case come together, so it is almost always the last one. In a damaged log it is not looked for further:
        // an event of no case at all would be compared with every case.
        let most = if self.damaged { 1 } else { usize::MAX };
        let of_run = self.cases.iter_mut().rev().take(most).take_while(|case| case.run == run);
        of_run.into_iter().find(|case| case.started.index == index)
    }

    /// The plans of the runs, in order of first appearance; a run that is not a shard is its own plan.
    fn wholes(&self) -> Vec<Whole> {
        let mut wholes: Vec<Whole> = Vec::new();
        let mut known: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        for (number, run) in self.runs.iter().enumerate() {
            let shard = run.started.as_ref().and_then(|started| started.shard.as_ref());
            let at = shard.and_then(|shard| known.get(&(shard.plan.as_str(), shard.of)).copied());
            match (at, shard) {
                (Some(at), _) => wholes[at].runs.push(number),
                (None, shard) => {
                    if let Some(shard) = shard {
                        known.insert((&shard.plan, shard.of), wholes.len());
                    }
                    wholes.push(Whole { runs: vec![number], shard: shard.cloned() });
                }
            }
        }
        wholes
    }

    /// Findings about the missing parts of a plan.
    fn gaps(&self, whole: &Whole) -> Vec<Finding> {
        let mut gaps = Vec::new();
        for run in whole.runs.iter().map(|run| &self.runs[*run]) {
            if let (Some(started), None) = (&run.started, &run.finished) {
                let what = match &started.shard {
                    Some(shard) => format!("shard {} of {}", shard.number, shard.of),
                    None => "the run".to_owned(),
                };
                let message = format!("{what} did not end: its log breaks off");
                gaps.push(Finding::error("incomplete-log", message).help("run it again"));
            }
        }
        let planned: usize =
            whole.runs.iter().filter_map(|run| self.runs[*run].started.as_ref()).map(|s| s.total).sum();
        let headless = whole.runs.iter().any(|run| self.runs[*run].started.is_none());
        let lost = self.is_alone(whole) && planned > self.count();
        if gaps.is_empty() && (headless && self.count() > 0 || lost) {
            let message = if headless {
                "the log has no beginning".to_owned()
            } else {
                format!("the log has {} of {planned} cases", self.count())
            };
            gaps.push(Finding::error("incomplete-log", message).help("run it again"));
        }
        if let Some(shard) = &whole.shard
            && gaps.is_empty()
        {
            gaps.extend(self.missing_shards(whole, shard));
        }
        gaps
    }

    /// True if all cases of the report belong to one plan, so that they can be counted.
    fn is_alone(&self, whole: &Whole) -> bool {
        whole.runs.len() == self.runs.len()
    }

    fn missing_shards(&self, whole: &Whole, shard: &ShardOf) -> Option<Finding> {
        let mut numbers: Vec<u32> = whole
            .runs
            .iter()
            .filter_map(|run| self.runs[*run].started.as_ref()?.shard.as_ref())
            .map(|shard| shard.number)
            .collect();
        numbers.sort_unstable();
        let missing: Vec<_> = (1..=shard.of).filter(|number| numbers.binary_search(number).is_err()).collect();
        let twice: Vec<_> = numbers.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        let (message, help) = match (missing.as_slice(), twice.as_slice()) {
            ([], []) => {
                let there: usize = self.cases.iter().filter(|case| whole.has(case.run)).count();
                if there == shard.cases {
                    return None;
                }
                let message = format!("the {} shards have {there} cases, and their plan has {}", shard.of, shard.cases);
                (message, "split all shards of a run with the same suite and the same `--balance` log")
            }
            ([], [number, ..]) => (
                format!("shard {number} of {} is there twice", shard.of),
                "name each log once, and the newest of each shard",
            ),
            (missing, twice) => {
                let numbers: Vec<_> = missing.iter().map(u32::to_string).collect();
                let (word, verb) = if numbers.len() == 1 { ("shard", "is") } else { ("shards", "are") };
                let mut message = format!("{word} {} of {} {verb} missing", numbers.join(", "), shard.of);
                if let Some(number) = twice.first() {
                    let _ = write!(message, ", and shard {number} is there twice");
                }
                (message, "name the logs of all shards, each once")
            }
        };
        Some(Finding::error("missing-shard", message).help(help))
    }

    fn unite_complete_shards(&mut self, wholes: &[Whole]) {
        let complete = |whole: &&Whole| whole.shard.is_some() && self.gaps(whole).is_empty();
        if !wholes.iter().any(|whole| complete(&whole)) {
            return;
        }
        let mut runs = Vec::with_capacity(self.runs.len());
        let mut moved = vec![0; self.runs.len()];
        for whole in wholes {
            let parts: Vec<_> = whole.runs.iter().map(|run| self.runs[*run].clone()).collect();
            if complete(&whole) {
                let united = RunReport { started: united_head(&parts), finished: united_end(&parts) };
                whole.runs.iter().for_each(|run| moved[*run] = runs.len());
                runs.push(united);
            } else {
                for (run, part) in whole.runs.iter().zip(parts) {
                    moved[*run] = runs.len();
                    runs.push(part);
                }
            }
        }
        self.cases.iter_mut().for_each(|case| case.run = moved[case.run]);
        self.runs = runs;
    }
}

/// A plan as it was before it was split.
struct Whole {
    runs: Vec<usize>,
    shard: Option<ShardOf>,
}

impl Whole {
    fn has(&self, run: usize) -> bool {
        self.runs.contains(&run)
    }
}

fn united_head(runs: &[RunReport]) -> Option<RunStarted> {
    let mut heads = runs.iter().filter_map(|run| run.started.as_ref());
    let mut united = heads.next()?.clone();
    for head in heads {
        united.started_unix_ms = united.started_unix_ms.min(head.started_unix_ms);
        united.total += head.total;
        united.jobs = united.jobs.max(head.jobs);
        united.strict |= head.strict;
    }
    united.shard = None;
    Some(united)
}

fn united_end(runs: &[RunReport]) -> Option<RunFinished> {
    let ends: Option<Vec<_>> = runs.iter().map(|run| run.finished.as_ref()).collect();
    let ends = ends?;
    let (first, rest) = ends.split_first()?;
    if rest.is_empty() {
        return Some((*first).clone());
    }
    Some(RunFinished {
        duration_us: busy_us(runs),
        interrupted: ends.iter().any(|end| end.interrupted),
        // What would have made one machine faster says nothing about several.
        hint: None,
    })
}

/// Time in which at least one of the runs was active.
fn busy_us(runs: &[RunReport]) -> u64 {
    let mut spans: Vec<(u64, u64)> = runs
        .iter()
        .map(|run| {
            let start = run.started.as_ref().map_or(0, |started| started.started_unix_ms.saturating_mul(1_000));
            (start, run.finished.as_ref().map_or(0, |finished| finished.duration_us))
        })
        .collect();
    spans.sort_unstable();
    let (mut busy, mut until) = (0_u64, 0_u64);
    for (start, duration) in spans {
        let end = start.saturating_add(duration);
        busy = busy.saturating_add(end.saturating_sub(start.max(until)));
        until = until.max(end);
    }
    busy
}

#[cfg(test)]
mod tests;
