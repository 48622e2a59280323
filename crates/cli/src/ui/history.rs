//! The history of a folder of event logs: the result of each test in each run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcprove_model::Report;
use mcprove_report::status_word;
use serde_json::{Value, json};

use super::runs::logs_in;
use crate::logs::{self, Frames};

/// Number of runs that are compared, the newest ones.
const RUNS: usize = 50;
/// Size of the longest log that is read for a history.
const LONGEST: u64 = 64 << 20;

/// A run of a history.
pub(super) struct Past {
    /// The id of the page: `log/NAME` or `run/N`.
    pub(super) id: String,
    pub(super) path: PathBuf,
}

/// The logs of a folder, newest first.
pub(super) fn past_of(folder: &Path) -> Vec<Past> {
    let names = logs_in(folder).into_iter().filter(|log| log["bytes"].as_u64().unwrap_or(u64::MAX) <= LONGEST);
    let names = names.filter_map(|log| log["name"].as_str().map(str::to_owned));
    names.map(|name| Past { id: format!("log/{name}"), path: folder.join(name) }).collect()
}

/// The results of each test in each run, oldest run first.
pub(super) fn history(past: &[Past]) -> Value {
    let mut read: Vec<(&str, Report)> = past
        .iter()
        .filter_map(|past| {
            Some((past.id.as_str(), logs::read(std::slice::from_ref(&past.path), Frames::Drop).ok()?.report))
        })
        .filter(|(_, report)| report.head().is_some())
        .take(RUNS)
        .collect();
    read.sort_by_key(|(_, report)| report.head().map(|head| head.started_unix_ms));
    let mut runs = Vec::new();
    let mut tests: BTreeMap<(String, String, Option<String>), Vec<Value>> = BTreeMap::new();
    for (at, (id, report)) in read.iter().enumerate() {
        let Some(head) = report.head() else { continue };
        let summary = report.summary();
        runs.push(json!({
            "id": id,
            "started_unix_ms": head.started_unix_ms,
            "context": head.context,
            "passed": summary.passed,
            "failed": summary.failed + summary.errors + summary.unfinished,
            "skipped": summary.skipped,
        }));
        for case in &report.cases {
            let started = &case.started;
            let key = (started.file.clone(), started.name.clone(), started.variant.clone());
            let duration = case.finished.as_ref().map_or(0, |finished| finished.duration_us);
            tests.entry(key).or_default().push(json!([at, status_word(case), duration]));
        }
    }
    let tests = tests.into_iter().map(
        |((file, name, variant), results)| json!({"file": file, "name": name, "variant": variant, "results": results}),
    );
    json!({"runs": runs, "tests": tests.collect::<Vec<_>>()})
}
