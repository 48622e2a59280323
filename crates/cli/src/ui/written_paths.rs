//! The files that a run of the page may write: reports and tests, inside the folders that the page works on.

use std::path::{Component, Path, PathBuf};

use clap::CommandFactory as _;

use crate::Arguments;

/// The options of the page's commands that name a file or folder to write.
const WRITTEN: &[&str] = &[
    "badge",
    "corpus",
    "events",
    "export-k6",
    "html",
    "junit",
    "junit-lines",
    "markdown",
    "openmetrics",
    "otlp",
    "output",
    "report",
    "sarif",
    "save",
    "save-baseline",
    "tap",
];

/// Refuses a command line that writes outside of these folders; the error says why.
pub(super) fn refuse_outside(words: &[String], folders: &[PathBuf]) -> Result<(), String> {
    let line = std::iter::once("mcprove").chain(words.iter().map(String::as_str));
    let parsed = Arguments::command().try_get_matches_from(line).map_err(|error| error.to_string())?;
    let Some((name, given)) = parsed.subcommand() else { return Ok(()) };
    let program = Arguments::command();
    let Some(command) = program.find_subcommand(name) else { return Ok(()) };
    for option in command.get_arguments() {
        let Some(long) = option.get_long().filter(|long| WRITTEN.contains(long)) else { continue };
        for path in given.get_raw(option.get_id().as_str()).into_iter().flatten() {
            if !is_inside(Path::new(path), folders) {
                return Err(format!(
                    "`--{long} {}` is outside of the folders of the suites and the logs; give a path inside them",
                    path.to_string_lossy()
                ));
            }
        }
    }
    Ok(())
}

/// True if a path, which need not exist, is inside one of these folders when all links are followed.
fn is_inside(path: &Path, folders: &[PathBuf]) -> bool {
    let Ok(path) = std::path::absolute(path) else { return false };
    // A link to a file that is not there yet leads where the file would be written.
    let existing = path.ancestors().find(|part| part.symlink_metadata().is_ok());
    let Some(Ok(found)) = existing.map(Path::canonicalize) else { return false };
    let rest = existing.and_then(|existing| path.strip_prefix(existing).ok());
    let goes_down = rest.is_some_and(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))));
    let is_inside = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| found.starts_with(folder));
    goes_down && folders.iter().any(is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::runs::commands;

    /// Options that name a file or folder to read.
    const READ: &[&str] = &[
        "args",
        "balance",
        "baseline",
        "client-config",
        "compare",
        "config",
        "cwd",
        "env-file",
        "fixture",
        "last-failed",
        "recording",
        "seed-args",
        "suite",
    ];

    #[test]
    fn every_option_with_a_path_is_known_as_read_or_written() {
        let program = Arguments::command();
        for name in commands() {
            let command = program.find_subcommand(name).expect("it is there");
            for option in command.get_arguments().filter(|option| !option.is_positional()) {
                let value = option.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
                let is_path = ["PATH", "FILE", "DIR", "LOG", "EVENTS"].iter().any(|kind| value.starts_with(kind));
                let long = option.get_long().unwrap_or_default();
                let is_known = READ.contains(&long) || WRITTEN.contains(&long);
                assert!(!is_path || is_known, "{name} --{long} {value}: is it read or written?");
            }
        }
    }

    #[test]
    fn reports_stay_inside() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("suites");
        std::fs::create_dir(&inside).expect("made");
        let folders = [inside.clone()];
        let judged = |option: &str, path: &Path| {
            let words = ["run".to_owned(), format!("--{option}"), path.to_string_lossy().into_owned()];
            refuse_outside(&words, &folders).is_ok()
        };
        assert!(judged("junit", &inside.join("j.xml")) && judged("html", &inside.join("new/folder/p.html")));
        for path in
            [folder.path().join("j.xml"), inside.join("../j.xml"), inside.join("new/../../j.xml"), "/j.xml".into()]
        {
            assert!(!judged("junit", &path), "{}", path.display());
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path(), inside.join("out")).expect("a link");
            std::os::unix::fs::symlink(folder.path().join("missing"), inside.join("dangling")).expect("a link");
            assert!(!judged("tap", &inside.join("out/t.tap")) && !judged("tap", &inside.join("dangling")));
        }
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(refuse_outside(&words("audit -o=/tmp/x"), &folders).is_err(), "short options are options");
        assert!(refuse_outside(&words("run --junit=/x --nonsense"), &folders).is_err());
    }
}
