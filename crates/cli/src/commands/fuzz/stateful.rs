//! `mcprove fuzz --stateful`: sequences of calls, two clients at once, and what a server does not give back.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcprove_engine::{CorpusEntry, ScanKind, ScanResult, SequenceFailure, SequenceRun, SequenceScan, kept_sequence};
use mcprove_model::{ExitStatus, FuzzDictionary, Redactor, SourceFile};
use mcprove_report::{fuzz_table, to_safe_json};
use mcprove_suite::load::bounded_read;
use serde_json::{Value, json};

use super::{ATTEMPTS, Args, TIMES, keeping};
use crate::atomic_write;
use crate::context::Context;
use crate::failure::Failure;
use crate::saved_tests;
use crate::scan::{Scan, ScanRequest, Scanned, scan};
use crate::stdout::print;
use crate::suites::{load_as_written, usable};

/// Number of calls in all.
const CALLS: usize = 6000;

pub(super) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let seed = args.seed.unwrap_or_else(Context::unix_ms);
    let times = TIMES.with(args.run.execution.timeout());
    let (dictionary, source) = match &args.suite {
        Some(path) => declared(path)?,
        None => (FuzzDictionary::default(), None),
    };
    let corpus = args.corpus.as_deref().map(read_corpus).transpose()?.unwrap_or_default();
    if let Some(folder) = args.corpus.as_ref().filter(|_| args.replay && corpus.is_empty()) {
        return Err(Failure::NothingSelected {
            message: format!("the corpus `{}` has no sequences", folder.display()),
            help: "a run without `--replay` adds some".to_owned(),
        });
    }
    let request = ScanRequest {
        command: "fuzz",
        scan: &args.scan,
        run: &args.run,
        fixture: args.fixture.as_deref(),
        seed,
        times,
        kind: ScanKind::Sequences(SequenceScan {
            calls: args.runs(CALLS),
            time: args.time,
            attempts: ATTEMPTS,
            command: args.command_line(),
            corpus,
            replays_only: args.replay,
            dictionary,
            source,
        }),
    };
    let mut scanned = match scan(request, context) {
        Ok(Scan::Shown(status)) => return Ok(status),
        Ok(Scan::Made(scanned)) => scanned,
        Err(Failure::Interrupted) => {
            context.write_stderr(&format!("interrupted; the seed was {seed}\n"));
            return Ok(ExitStatus::Interrupted);
        }
        Err(failure) => return Err(failure),
    };
    let runs = runs_of(&mut scanned);
    let keeping = keeping(&scanned.server, times.call, args.fixture.as_deref());
    let mut kept = Vec::new();
    if let Some(folder) = &args.save {
        for (run, failure) in runs.iter().flat_map(|run| run.failures.iter().map(move |failure| (run, failure))) {
            let Some(test) = kept_sequence(failure, &run.again, &keeping) else { continue };
            if keeping.shows_secret(&test) {
                continue;
            }
            let path =
                saved_tests::write(folder, &test.stem, &test.text).map_err(|error| not_written(folder, &error))?;
            kept.push((failure, path));
        }
    }
    let added = match &args.corpus {
        Some(folder) if !args.replay => write_corpus(folder, &runs, &keeping.secrets)?,
        Some(_) | None => 0,
    };
    if args.run.json {
        let mut json = as_json(&runs, &scanned, seed, &kept);
        keeping.secrets.json(&mut json);
        print(&to_safe_json(&json))?;
    } else if args.run.are_for_people() {
        print(&fuzz_table(&scanned.outcome.report, context.verbosity, &context.style()))?;
        print(&ending(&runs, &scanned, seed, (args, &kept, added)))?;
    }
    if scanned.is_interrupted() {
        context.write_stderr("interrupted: the plan was not sent to its end\n");
    }
    let was_called = runs.iter().any(|run| run.calls > 0);
    scanned.status(&args.run, was_called, "nothing was fuzzed", context)
}

/// The dictionary of a suite, and its file.
fn declared(path: &Path) -> Result<(FuzzDictionary, Option<Arc<SourceFile>>), Failure> {
    let loaded = load_as_written(&[path.to_owned()]);
    usable(&loaded, false)?;
    let suites = loaded.cases.iter().filter_map(|case| case.suite.as_ref());
    let Some(suite) = suites.into_iter().find(|suite| !suite.fuzz.is_empty()) else {
        let message = format!("`{}` has no `fuzz` with `links`, `invariants` or `off`", path.display());
        return Err(Failure::new(message, "give `--suite` a suite file with tests and `fuzz: {links: […]}`"));
    };
    Ok((suite.fuzz.clone(), Some(Arc::clone(&suite.source))))
}

fn runs_of(scanned: &mut Scanned) -> Vec<SequenceRun> {
    let results = std::mem::take(&mut scanned.outcome.scanned);
    let mut runs: Vec<(usize, SequenceRun)> = results
        .into_iter()
        .filter_map(|(index, result)| match result {
            ScanResult::Sequences(run) => Some((index, *run)),
            ScanResult::Audit(_) | ScanResult::Fuzz(_) | ScanResult::Host(_) => None,
        })
        .collect();
    runs.sort_by_key(|(index, _)| *index);
    runs.into_iter().map(|(_, run)| run).collect()
}

/// The largest corpus that is read, in bytes: a sequence takes some kilobytes.
const LARGEST_CORPUS: u64 = 64 << 20;

/// The files of a corpus, in the order of their names; a folder that does not exist yet is empty. Links and pipes in it are
/// not files of a corpus.
fn read_corpus(folder: &Path) -> Result<Vec<(String, String)>, Failure> {
    let unreadable = |path: &Path, error: &std::io::Error| {
        let message = format!("`{}` could not be read: {error}", path.display());
        Failure::new(message, "give `--corpus` a folder that can be read")
    };
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let (mut paths, mut bytes) = (Vec::new(), 0_u64);
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let path = entry.map_err(|error| unreadable(folder, &error))?.path();
        let is_wanted = path.extension().is_some_and(|extension| extension == "ndjson");
        let about = fs::symlink_metadata(&path).ok().filter(|about| is_wanted && about.is_file());
        let Some(about) = about else { continue };
        bytes = bytes.saturating_add(about.len());
        if bytes > LARGEST_CORPUS {
            let message = format!("the corpus `{}` is larger than {} MiB", folder.display(), LARGEST_CORPUS >> 20);
            return Err(Failure::new(message, "give a folder that only `--corpus` writes to, or remove large files"));
        }
        paths.push(path);
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = bounded_read::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        Ok((path.display().to_string(), text))
    };
    paths.into_iter().map(read).collect()
}

/// Adds the sequences that showed something new; the number of files that were not there before.
fn write_corpus(folder: &Path, runs: &[SequenceRun], secrets: &Redactor) -> Result<usize, Failure> {
    let mut added = 0;
    fs::create_dir_all(folder).map_err(|error| not_written(folder, &error))?;
    for CorpusEntry { name, text } in runs.iter().flat_map(|run| &run.corpus) {
        let path = folder.join(name);
        if !path.exists() {
            atomic_write::write_within(folder, &path, secrets.text(text).as_bytes())
                .map_err(|error| not_written(&path, &error))?;
            added += 1;
        }
    }
    Ok(added)
}

fn not_written(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("`{}` could not be written: {error}", path.display());
    Failure::new(message, "give a folder that can be written")
}

/// Text after the table: the amount of work, and the kept tests.
fn ending(
    runs: &[SequenceRun],
    scanned: &Scanned,
    seed: u64,
    (args, kept, added): (&Args, &[(&SequenceFailure, PathBuf)], usize),
) -> String {
    let counted = |count: usize, what: &str| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") };
    let failures: usize = runs.iter().map(|run| run.failures.len()).sum();
    let calls: usize = runs.iter().map(|run| run.calls).sum();
    let elapsed =
        scanned.outcome.report.runs.iter().filter_map(|run| run.finished.as_ref()).map(|run| run.duration_us).max();
    let elapsed = Duration::from_micros(elapsed.unwrap_or(0));
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\n{}, {}, {:.1} s, {:.0} calls/s, seed {seed}",
        counted(failures, "failure"),
        counted(calls, "call"),
        elapsed.as_secs_f64(),
        super::per_second(calls, elapsed),
    );
    for (_, path) in kept {
        let _ = writeln!(text, "saved {}", path.display());
    }
    if added > 0 {
        let _ = writeln!(text, "added {} to the corpus", counted(added, "sequence"));
    }
    if let (Some(folder), false) = (&args.save, kept.is_empty()) {
        let fixture = args.fixture.as_ref().map(|path| format!(" --fixture {}", path.display())).unwrap_or_default();
        let _ = writeln!(text, "`mcprove run {}{fixture}` runs what was saved", folder.display());
    }
    text
}

fn as_json(runs: &[SequenceRun], scanned: &Scanned, seed: u64, kept: &[(&SequenceFailure, PathBuf)]) -> Value {
    let failures = runs.iter().flat_map(|run| &run.failures).map(|failure| {
        let file =
            kept.iter().find(|(known, _)| std::ptr::eq(*known, failure)).map(|(_, path)| path.display().to_string());
        let steps = failure.steps.iter().zip(&failure.names).map(|((step, reply), name)| {
            json!({"call": name, "args": step.args, "reply": reply.text, "error": !reply.is_fine})
        });
        json!({
            "rule": failure.breach.rule,
            "message": failure.breach.message,
            "calls": failure.calls(),
            "steps": steps.collect::<Vec<_>>(),
            "times": failure.times,
            "file": file,
        })
    });
    json!({
        "server": scanned.server.name,
        "transport": scanned.info.transport,
        "seed": seed,
        "failures": failures.collect::<Vec<_>>(),
        "calls": runs.iter().map(|run| run.calls).sum::<usize>(),
        "planned_calls": runs.iter().map(|run| run.planned).sum::<usize>(),
    })
}
