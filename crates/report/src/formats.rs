//! The formats a report can be written in, one file each.

use mcprove_model::Report;

mod badge;
mod github;
mod html;
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
    /// What it is for, in a few words.
    pub summary: &'static str,
    /// Whether it shows raw frames, which a report keeps only for those who do.
    pub shows_frames: bool,
    /// The file's content.
    pub render: fn(&Report) -> String,
}

/// Every format, sorted by name.
pub const FORMATS: &[Format] = &[
    badge::FORMAT,
    github::FORMAT,
    html::FORMAT,
    json::FORMAT,
    junit::FORMAT,
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
