//! Event logs of earlier runs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use mcprove_model::{Event, Report};
use mcprove_report::Events;
use mcprove_suite::load::bounded_read::{self, Input};

use crate::failure::Failure;

/// Treatment of raw frames, which are most of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// They are shown.
    Keep,
    /// They are not needed.
    Drop,
}

/// The content of logs.
pub(crate) struct Read {
    /// All logs as one report.
    pub(crate) report: Report,
    /// Messages about a log that could still be read.
    pub(crate) complaints: Vec<String>,
}

/// Opens a log. A pipe by a name of its own may never have a writer; one that a shell made (`<(…)`) has.
fn open(path: &Path) -> io::Result<File> {
    let is_given = ["/dev/fd/", "/dev/stdin", "/proc/"].iter().any(|system| path.starts_with(system));
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() && !metadata.is_dir() && !is_given {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    bounded_read::remember(path, Input::Log);
    File::open(path)
}

/// Reads logs, one after the other, into one report. `-` is standard input.
pub(crate) fn read(paths: &[PathBuf], frames: Frames) -> Result<Read, Failure> {
    let mut read = Read { report: Report::default(), complaints: Vec::new() };
    let mut seen = BTreeSet::new();
    for path in paths {
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            read.complaints.push(format!("the event log `{}` is named twice; it is read once", path.display()));
            continue;
        }
        let input: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::new(open(path).map_err(|error| unreadable(path, &error.to_string()))?))
        };
        let mut is_empty = true;
        for event in Events::new(input) {
            is_empty = false;
            match event {
                Ok(Event::Frame { .. }) if frames == Frames::Drop => {}
                Ok(event) => read.report.add(event),
                // A run that was killed leaves such a log, and what it did until then is still worth a report.
                Err(error) if error.cut_off => {
                    read.complaints.push(format!("the event log `{}`: {error}", path.display()));
                }
                Err(error) => return Err(unreadable(path, &error.to_string())),
            }
        }
        if is_empty {
            read.complaints.push(format!("the event log `{}` is empty", path.display()));
        }
    }
    read.report.settle();
    Ok(read)
}

fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::new(
        format!("the event log `{}` cannot be read: {why}", path.display()),
        "name logs that `mcprove run --events FILE` wrote",
    )
}
