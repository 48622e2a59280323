//! Resources that a server does not release: open files, processes, threads, temporary files and memory that grow with every call
//! of the same kind.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mcprove_judge::load::memory_growth;
use mcprove_judge::sequences::{
    Breach, Expected, Explorer, Facts, Judge, Reply, Role, Step, StepTarget, Surroundings, bound,
};
use mcprove_model::UsageSample;
use mcprove_wire::{ProcessUsage, process_usage};
use tokio::time::Instant;

use super::failure::{Reproduced, SequenceFailure, name_of};
use super::life::{ServerLife, Surround};

/// Calls before the first measurement: pools and caches fill up.
const WARM: usize = 40;

/// Calls between two measurements, and their number.
const CALLS: usize = 25;
const SAMPLES: usize = 14;

/// Bytes per call, and bytes in all, from which memory that is not given back may count.
const PER_CALL: f64 = 2_000.0;
const TOTAL: f64 = 1_500_000.0;

/// Collectors of garbage take their time. Calls between two measurements, and bytes in all, that prove growth of memory.
const MANY_CALLS: usize = 400;
const PROVEN: f64 = 40_000_000.0;

/// Time for all of this.
const TIME: Duration = Duration::from_secs(20);

/// The result of the work.
#[derive(Default)]
pub(crate) struct Grown {
    pub(crate) failures: Vec<SequenceFailure>,
    /// Sequences that were repeated.
    pub(crate) sequences: usize,
    /// True if nothing can be measured: the server is not a process of ours.
    pub(crate) is_unknown: bool,
}

/// One measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    usage: ProcessUsage,
    temporary: u64,
}

/// Repeats calls that should leave nothing behind and measures the server.
pub(crate) async fn growth(surround: &Surround<'_>, seed: u64, around: &Surroundings) -> Grown {
    let mut grown = Grown::default();
    let until = Instant::now() + TIME;
    let mut explorer = Explorer::new(surround.model, seed, around, false);
    let judge = Judge::new(surround.model, Facts::default());
    // What takes many calls to prove comes last.
    let mut suspects = Vec::new();
    for (at, tool) in surround.model.tools.iter().enumerate() {
        if surround.fuzz_context.is_over() || Instant::now() >= until {
            break;
        }
        // What makes things or changes them may keep something for each call.
        let is_neutral = !tool.writes() || tool.role == Role::Delete;
        let repeated = if is_neutral {
            explorer.missing_call(at, &judge).map(|step| vec![step])
        } else if tool.role == Role::Create && tool.key.is_none() {
            created_and_deleted(surround, &mut explorer, at).await
        } else {
            None
        };
        let Some(steps) = repeated else { continue };
        match Box::pin(measured(surround, &steps)).await {
            Measured::Unknown => {
                grown.is_unknown = true;
                return grown;
            }
            Measured::Steady => grown.sequences += 1,
            Measured::Suspect => {
                grown.sequences += 1;
                suspects.push(steps);
            }
            Measured::Grown(what, replies) => {
                grown.sequences += 1;
                grown.failures.push(failure(surround, steps, replies, &what));
            }
        }
    }
    for steps in suspects {
        if surround.fuzz_context.is_over() || Instant::now() >= until {
            break;
        }
        if let Some((what, replies)) = Box::pin(remembered(surround, &steps)).await {
            grown.failures.push(failure(surround, steps, replies, &what));
        }
    }
    grown
}

/// Making a thing and deleting it again.
async fn created_and_deleted(surround: &Surround<'_>, explorer: &mut Explorer<'_>, at: usize) -> Option<Vec<Step>> {
    let mut life = ServerLife::begin(surround).await.ok()?;
    let mut judge = Judge::new(surround.model, Facts::default());
    let create = explorer.plain_call(at, &judge)?;
    let performed = life.perform(&create, &create.args).await;
    judge.take(&create, &performed.reply);
    life.end().await;
    let delete = explorer.deletion(at, &judge)?;
    Some(vec![create, delete])
}

enum Measured {
    Unknown,
    Steady,
    /// Its memory grows, as far as so few calls can show it.
    Suspect,
    Grown(String, Vec<Reply>),
}

async fn measured(surround: &Surround<'_>, steps: &[Step]) -> Measured {
    let Ok(temporary) = mcprove_wire::TemporaryFolder::new("tmp") else { return Measured::Unknown };
    let Ok(mut life) = ServerLife::begin_with_temporary(surround, temporary.path()).await else {
        return Measured::Unknown;
    };
    let Some(pid) = life.session.as_ref().and_then(mcprove_wire::Session::process_id) else {
        life.end().await;
        return Measured::Unknown;
    };
    let mut samples: Vec<(usize, Sample)> = Vec::new();
    let mut calls = 0;
    let mut replies = Vec::new();
    for round in 0..=SAMPLES {
        let rounds = if round == 0 { WARM } else { CALLS };
        for _ in 0..rounds {
            let Some(now) = once(&mut life, steps).await else {
                life.end().await;
                return Measured::Steady;
            };
            replies = now;
            calls += 1;
        }
        let Some(usage) = process_usage(&[pid]) else {
            life.end().await;
            return Measured::Unknown;
        };
        samples.push((calls, Sample { usage, temporary: entries(temporary.path()) }));
    }
    life.end().await;
    match counted(&samples) {
        Some(what) => Measured::Grown(what, replies),
        None if memory(&samples, TOTAL).is_some() => Measured::Suspect,
        None => Measured::Steady,
    }
}

/// The memory that a server does not give back after many calls.
async fn remembered(surround: &Surround<'_>, steps: &[Step]) -> Option<(String, Vec<Reply>)> {
    let mut life = ServerLife::begin(surround).await.ok()?;
    let pid = life.session.as_ref().and_then(mcprove_wire::Session::process_id);
    let mut samples = Vec::new();
    let (mut calls, mut replies) = (0, Vec::new());
    'all: for _ in 0..=SAMPLES {
        for _ in 0..MANY_CALLS {
            match once(&mut life, steps).await.filter(|_| !surround.fuzz_context.is_over()) {
                Some(now) => replies = now,
                None => break 'all,
            }
            calls += 1;
        }
        let Some(usage) = pid.and_then(|pid| process_usage(&[pid])) else { break };
        samples.push((calls, Sample { usage, temporary: 0 }));
    }
    life.end().await;
    let is_whole = samples.len() > SAMPLES;
    memory(&samples, PROVEN).filter(|_| is_whole).map(|what| (what, replies))
}

async fn once(life: &mut ServerLife<'_>, steps: &[Step]) -> Option<Vec<Reply>> {
    let mut known = std::collections::BTreeMap::new();
    let mut replies = Vec::new();
    for step in steps {
        let args = bound(step, &known)?;
        let performed = life.perform(step, &args).await;
        if performed.reply.is_broken {
            return None;
        }
        known.insert(step.id, performed.reply.clone());
        replies.push(performed.reply);
    }
    Some(replies)
}

/// A number of things that a server holds.
type Count = fn(&Sample) -> u64;

/// The resource that grew with every call, if there is one.
fn counted(samples: &[(usize, Sample)]) -> Option<String> {
    let (first, last) = (samples.first()?, samples.last()?);
    let calls = (last.0 - first.0) as u64;
    let counts: [(&str, Count); 4] = [
        ("open files", |sample| sample.usage.files),
        ("processes", |sample| sample.usage.processes),
        ("threads", |sample| sample.usage.threads),
        ("temporary files", |sample| sample.temporary),
    ];
    for (what, of) in counts {
        let more = of(&last.1).saturating_sub(of(&first.1));
        // Every second call at least, in each part of the run.
        let is_steady = samples.windows(2).all(|pair| of(&pair[1].1) >= of(&pair[0].1) + CALLS as u64 / 2);
        if is_steady && more * 2 >= calls {
            return Some(format!("{more} more {what} after {calls} calls"));
        }
    }
    None
}

/// Memory that grew with every call by more than this in all.
fn memory(samples: &[(usize, Sample)], total: f64) -> Option<String> {
    let calls = samples.last()?.0 - samples.first()?.0;
    let memory: Vec<UsageSample> = samples
        .iter()
        .map(|(calls, sample)| UsageSample {
            calls: *calls as u64,
            memory: sample.usage.memory,
            processes: sample.usage.processes,
            ..UsageSample::default()
        })
        .collect();
    let growth = memory_growth(&memory)?;
    let is_leak = growth.is_steady && growth.low > PER_CALL && growth.total > total;
    is_leak.then(|| format!("{:.1} MB more memory after {calls} calls", growth.total / 1e6))
}

/// The number of files below a folder.
fn entries(folder: &Path) -> u64 {
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    let mut count = 0;
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            count += 1;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    count
}

fn failure(surround: &Surround<'_>, steps: Vec<Step>, replies: Vec<Reply>, what: &str) -> SequenceFailure {
    let names: Vec<String> = steps.iter().map(|step| name_of(surround.model, step.target)).collect();
    let calls = names.join("` and `");
    let last = steps.last().map_or(StepTarget::Resources, |step| step.target);
    let breach = Breach {
        rule: "resource-growth".to_owned(),
        message: format!("`{calls}` does not give back what it takes: {what}"),
        signature: format!("resource-growth {}", name_of(surround.model, last)),
        cause: String::new(),
        expected: Expected::Unsaid,
    };
    let times = CALLS * SAMPLES;
    SequenceFailure {
        breach,
        steps: steps.into_iter().zip(replies).collect(),
        names,
        reproduced: Reproduced::Repeated { times },
        times: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: impl Fn(u64) -> Sample) -> Vec<(usize, Sample)> {
        (0..=SAMPLES).map(|n| (n * CALLS, of(n as u64))).collect()
    }

    #[test]
    fn what_grows_with_every_call_is_found_and_what_fills_up_is_not() {
        let usage = |files: u64, memory: u64| Sample {
            usage: ProcessUsage { files, memory, processes: 1, threads: 1, cpu_us: 0 },
            temporary: 0,
        };
        assert!(counted(&samples(|n| usage(10 + n * 25, 1 << 20))).is_some_and(|what| what.contains("open files")));
        assert_eq!(counted(&samples(|n| usage(10 + n.min(3) * 25, 1 << 20))), None);
        let leaking = samples(|n| usage(10, 10_000_000 + n * 25 * 10_000));
        assert!(memory(&leaking, TOTAL).is_some_and(|what| what.contains("memory")));
        assert_eq!(memory(&samples(|n| usage(10, 10_000_000 + n.min(2) * 4_000_000)), TOTAL), None);
        assert_eq!(memory(&samples(|n| usage(10, 10_000_000 + (n * 7 % 5) * 65_536)), TOTAL), None);
        assert!(counted(&samples(|n| Sample { temporary: n * 25, ..usage(10, 1 << 20) })).is_some());
    }
}
