//! The formats a report can be written in, one file each.

use mcprove_model::{Report, Verdict};

mod agent;
mod badge;
mod github;
pub(crate) mod html;
mod json;
mod junit;
mod markdown;
mod ndjson;
mod sarif;
mod tap;

/// A format a report can be written in.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// The usual ending of its files, without the dot.
    pub extension: &'static str,
    /// Its purpose, in a few words.
    pub summary: &'static str,
    /// Details shown of cases that pass; a report keeps only what at least one format shows.
    pub shows: Shows,
    /// The file's content.
    pub render: fn(&Report) -> String,
}

/// Details kept of a case that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shows {
    /// Nothing: how many passed is enough.
    #[default]
    Totals,
    /// That it passed, how long it took, its sessions, and what was remarked.
    Verdicts,
    /// Also its calls.
    Calls,
    /// Also every raw frame, as far as a page shows it.
    Frames,
    /// Also every raw frame in full.
    Everything,
}

/// Bytes of a frame that a page shows.
pub(crate) const LONG_FRAME: usize = 64 << 10;

impl Shows {
    /// Drops the details of the last case that no format shows.
    pub fn trim(self, report: &mut Report) {
        let Some(case) = report.cases.last_mut() else { return };
        if case.finished.is_some() && self == Self::Frames {
            case.cut_frames(LONG_FRAME);
        }
        let Some(finished) = case.finished.as_mut().filter(|finished| finished.verdict == Verdict::Passed) else {
            return;
        };
        // Fixes and stored values are taken from the report, whatever is shown of it.
        if self == Self::Totals && finished.findings.is_empty() && finished.snapshots.is_empty() {
            report.let_go_of_last();
        } else if self < Self::Calls {
            // Sessions stay: every report counts the servers that were started.
            finished.calls = Vec::new();
            finished.stderr = String::new();
        }
    }
}

/// Every format, sorted by name.
pub const FORMATS: &[Format] = &[
    agent::FORMAT,
    badge::FORMAT,
    badge::SVG,
    github::FORMAT,
    html::FORMAT,
    json::FORMAT,
    junit::FORMAT,
    junit::WITH_LINES,
    markdown::FORMAT,
    ndjson::FORMAT,
    sarif::FORMAT,
    tap::FORMAT,
];

impl Format {
    /// The format of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_found_by_name() {
        assert!(FORMATS.is_sorted_by(|a, b| a.name < b.name));
        assert_eq!(Format::find("junit").map(|format| format.extension), Some("xml"));
        assert!(Format::find("pdf").is_none());
    }

    #[test]
    fn an_empty_report_can_be_written() {
        for format in FORMATS {
            let _ = (format.render)(&Report::default());
        }
    }
}
