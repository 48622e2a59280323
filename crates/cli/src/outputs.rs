//! Which reports are written, and writing them. A report that cannot be written never loses the run: the others are still
//! written, and the result of the run stays the same.

use std::path::{Path, PathBuf};

use mcprove_model::Report;
use mcprove_report::{Format, Shows};

use crate::atomic_write;
use crate::failure::Failure;

/// Which reports are written.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Reports")]
pub(crate) struct Outputs {
    /// Write JUnit XML for CI systems.
    #[arg(long, value_name = "PATH")]
    pub(crate) junit: Option<PathBuf>,
    /// Write JUnit XML with the file and line of each case, as GitLab links to.
    #[arg(long, value_name = "PATH")]
    junit_lines: Option<PathBuf>,
    /// Write Markdown for a GitHub step summary.
    #[arg(long, value_name = "PATH")]
    markdown: Option<PathBuf>,
    /// Write one self-contained HTML page with every frame.
    #[arg(long, value_name = "PATH")]
    html: Option<PathBuf>,
    /// Write the full report as JSON.
    #[arg(long, value_name = "PATH.json")]
    report: Option<PathBuf>,
    /// Write SARIF 2.1.0 for code scanning.
    #[arg(long, value_name = "PATH")]
    sarif: Option<PathBuf>,
    /// Write TAP version 13.
    #[arg(long, value_name = "PATH")]
    tap: Option<PathBuf>,
    /// Write a shields.io badge as JSON, and as SVG next to it.
    #[arg(long, value_name = "PATH.json")]
    badge: Option<PathBuf>,
    /// Print GitHub annotations at the end.
    #[arg(long)]
    pub(crate) github: bool,
    /// Reader of standard output: people, or a coding agent, which gets the failures in about 2,000 tokens.
    #[arg(long, value_name = "NAME", default_value = "terminal", conflicts_with = "json")]
    pub(crate) reporter: Reporter,
    /// True if Markdown is added to the summary of the step without having been asked for.
    #[arg(skip)]
    pub(crate) summarise: bool,
}

/// Readers of standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Reporter {
    /// People at a terminal.
    #[default]
    Terminal,
    /// A coding agent.
    Agent,
}

impl Outputs {
    /// True if results are shown to people as they come.
    pub(crate) fn are_for_people(&self) -> bool {
        self.reporter == Reporter::Terminal
    }

    /// Details of passing cases that the wanted reports show.
    pub(crate) fn shows(&self) -> Shows {
        let printed = Format::find("github").filter(|_| self.github);
        let summary = Format::find("markdown").filter(|_| self.summarise);
        self.wanted()
            .map(|(format, _)| format)
            .chain(printed)
            .chain(summary)
            .map(|format| format.shows)
            .max()
            .unwrap_or_default()
    }

    /// Refuses two files at one path, of which one would be lost; `others` are further files of the run.
    pub(crate) fn distinct(&self, others: &[(&'static str, Option<&Path>)]) -> Result<(), Failure> {
        let mut taken: Vec<(String, PathBuf)> = Vec::new();
        let others = others.iter().filter_map(|(flag, path)| Some(((*flag).to_owned(), (*path)?)));
        let svg = self.svg();
        let svg = svg.as_deref().map(|path| ("--badge".to_owned(), path));
        for (flag, path) in self.paths().chain(others).chain(svg) {
            if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
                let message = format!("`{flag}` would write over `{}`, which looks like a suite", path.display());
                return Err(Failure::new(message, "give a path that does not end in `.yaml`"));
            }
            let real = real_path(path);
            // A path such as `/dev/null`, which is not a file, takes any number of writers.
            let is_file = std::fs::metadata(&real).map_or(true, |meta| meta.is_file());
            match taken.iter().find(|(_, other)| *other == real).filter(|_| is_file) {
                Some((other, _)) => {
                    let message = format!("`{other}` and `{flag}` both write `{}`", path.display());
                    return Err(Failure::new(message, "give each a path of its own"));
                }
                None => taken.push((flag, real)),
            }
        }
        Ok(())
    }

    /// The files of reports, each with the flag that names it.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (String, &Path)> {
        let flag = |name: &str| if name == "json" { "--report".to_owned() } else { format!("--{name}") };
        self.files().into_iter().filter_map(move |(name, path)| Some((flag(name), path?)))
    }

    /// Writes every report that is wanted, and says which could not be. `step_summary` is the file that GitHub shows as
    /// the summary of a step; other steps write to it too, so it is added to and never replaced.
    pub(crate) fn write(&self, report: &Report, step_summary: Option<&Path>) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut write = |format: &Format, path: &Path, add: bool| {
            let content = (format.render)(report);
            let written = if add {
                atomic_write::append(path, content.as_bytes())
            } else {
                atomic_write::write_report(path, content.as_bytes())
            };
            if let Err(error) = written {
                let path = path.display();
                complaints.push(format!("the {} report `{path}` could not be written: {error}", format.name));
            }
        };
        for (format, path) in self.wanted() {
            write(format, path, step_summary == Some(path));
        }
        if let (Some(format), Some(path)) = (Format::find("badge-svg"), self.svg()) {
            write(format, &path, false);
        }
        let is_asked_for = self.wanted().any(|(_, path)| step_summary == Some(path));
        if let (Some(path), Some(format)) = (step_summary, Format::find("markdown"))
            && self.summarise
            && !is_asked_for
        {
            write(format, path, true);
        }
        complaints
    }

    /// Where the badge is written as a picture; a badge that is not kept has none.
    fn svg(&self) -> Option<PathBuf> {
        let badge = self.badge.as_ref().filter(|path| path.extension().is_some())?;
        Some(badge.with_extension("svg"))
    }

    fn wanted(&self) -> impl Iterator<Item = (&'static Format, &Path)> {
        self.files().into_iter().filter_map(|(name, path)| Some((Format::find(name)?, path?)))
    }

    /// The formats that have a file, each with the path it was given.
    fn files(&self) -> [(&'static str, Option<&Path>); 8] {
        [
            ("badge", self.badge.as_deref()),
            ("html", self.html.as_deref()),
            ("json", self.report.as_deref()),
            ("junit", self.junit.as_deref()),
            ("junit-lines", self.junit_lines.as_deref()),
            ("markdown", self.markdown.as_deref()),
            ("sarif", self.sarif.as_deref()),
            ("tap", self.tap.as_deref()),
        ]
    }
}

/// A path by which the same file is known however it is written, also where it does not exist yet.
fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        (Err(_), _) | (_, None) => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use mcprove_report::FORMATS;

    use super::*;
    use crate::Arguments;

    #[test]
    fn every_format_has_its_flag_on_every_command_that_reports() {
        let arguments = Arguments::command();
        let has_reports = |command: &&clap::Command| command.get_arguments().any(|arg| arg.get_long() == Some("junit"));
        for command in arguments.get_subcommands().filter(has_reports) {
            let name = command.get_name();
            for format in FORMATS {
                let flag = match format.name {
                    // `--json` is the known list, and the event log is written as it happens.
                    "json" => "report",
                    "ndjson" => "events",
                    "badge-svg" => "badge",
                    "agent" => "reporter",
                    name => name,
                };
                let is_there = command.get_arguments().any(|argument| argument.get_long() == Some(flag));
                let is_its_input = matches!(name, "report" | "trust") && format.name == "ndjson";
                assert!(is_there || is_its_input, "`mcprove {name}` has no --{flag}");
            }
        }
    }

    #[test]
    fn every_format_is_written_printed_or_the_event_log() {
        let outputs = Outputs::default();
        let files = outputs.files().map(|(name, _)| name);
        for format in FORMATS {
            assert!(
                files.contains(&format.name) || matches!(format.name, "agent" | "badge-svg" | "github" | "ndjson"),
                "{}",
                format.name
            );
        }
        assert!(files.iter().all(|name| Format::find(name).is_some()));
    }

    #[test]
    fn two_files_at_one_path_are_refused_however_it_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| Some(folder.path().join(name));
        let outputs = Outputs { junit: path("a.xml"), markdown: path("b.md"), ..Outputs::default() };
        let log = path("./a.xml");
        assert!(outputs.distinct(&[("--events", path("c.ndjson").as_deref()), ("--save-baseline", None)]).is_ok());
        assert!(outputs.distinct(&[("--events", log.as_deref())]).is_err());
        let twice = Outputs { sarif: path("x/../a.json"), report: path("a.json"), ..Outputs::default() };
        std::fs::create_dir(folder.path().join("x")).expect("a folder");
        assert!(twice.distinct(&[]).is_err());
        let nowhere = Some(PathBuf::from("/dev/null"));
        let nowhere = Outputs { sarif: nowhere.clone(), report: nowhere, ..Outputs::default() };
        assert!(nowhere.distinct(&[]).is_ok());
    }

    #[test]
    fn what_cannot_be_written_does_not_keep_the_rest_from_being_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let summary = folder.path().join("summary.md");
        std::fs::write(&summary, "# before\n").expect("written");
        let outputs = Outputs {
            badge: Some(folder.path().join("missing/badge.json")),
            junit: Some(folder.path().join("junit.xml")),
            markdown: Some(summary.clone()),
            summarise: true,
            ..Outputs::default()
        };
        let complaints = outputs.write(&Report::default(), Some(&summary));
        assert_eq!(complaints.len(), 2, "the badge is two files");
        assert!(complaints[0].contains("the badge report") && complaints[0].contains("missing/badge.json"));
        assert!(folder.path().join("junit.xml").exists());
        let text = std::fs::read_to_string(summary).expect("read");
        assert!(text.starts_with("# before\n") && text.matches("### mcprove").count() == 1, "{text}");
    }
}
