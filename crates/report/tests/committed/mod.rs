//! The committed event logs, and what they are rendered to.

use std::fs;
use std::path::{Path, PathBuf};

use mcprove_model::{Event, Report};
use mcprove_report::{Format, read_events};

/// Every committed log with its name, sorted.
pub(crate) fn logs() -> Vec<(String, Vec<Event>)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(here().join("logs"))
        .expect("the logs are committed")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let log = fs::read(&path).expect("a readable log");
            (name, read_events(log.as_slice()).expect("a whole log"))
        })
        .collect()
}

/// A report in a format.
pub(crate) fn render(format: &str, report: &Report) -> String {
    (Format::find(format).expect("a known format").render)(report)
}

/// The folder of these tests.
pub(crate) fn here() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}
