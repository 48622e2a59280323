//! Stored replies: read before checks judge, and taken down where that was asked for.

use std::io;
use std::path::{Path, PathBuf};

use mcprove_judge::snapshot::{Masks, SnapshotFile, of_reply, stored};
use mcprove_model::{Case, Expectation, Observation, Redactor, Snapshot, SnapshotKind, StoredValues};
use mcprove_suite::load::bounded_read;
use mcprove_suite::template::FIXTURE;
use serde_json::Value;

use crate::conversation::Conversation;

/// Modes of stored values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storing {
    /// They are compared with.
    #[default]
    Compare,
    /// Values named by the checks are collected, to be stored.
    Update,
    /// The whole reply of each case is taken down.
    Capture,
}

/// The snapshot file of a suite file: in the same folder, with the same stem.
pub fn snapshot_path(suite_file: &Path) -> PathBuf {
    let stem = suite_file.file_stem().unwrap_or(suite_file.as_os_str());
    let mut name = stem.to_owned();
    name.push(".snap");
    suite_file.with_file_name(".snapshots").join(name)
}

/// Gives the checks what they compare with; where values are to be stored anew, what they see is what they get.
pub(crate) fn supply(seen: &mut Observation, expect: &Expectation, talk: &mut Conversation<'_>) {
    let checks = &expect.checks;
    if !checks.iter().any(|planned| planned.check.wants_stored()) {
        return;
    }
    seen.stored = StoredValues { fixture: fixture(talk), masks: masks(talk), ..StoredValues::default() };
    let storing = if expect.updates_snapshots { Storing::Update } else { talk.storing };
    match storing {
        Storing::Compare | Storing::Capture => match read(&snapshot_path(Path::new(talk.case.source.path()))) {
            Ok(file) => {
                let values = file.sections.into_iter().filter(|section| section.kind == SnapshotKind::Value);
                seen.stored.texts = values.map(|section| (section.name, section.text)).collect();
            }
            Err(reason) => seen.stored.unreadable = Some(reason),
        },
        Storing::Update => {
            let values: Vec<Snapshot> = checks.iter().flat_map(|planned| planned.check.to_store(seen)).collect();
            for value in values {
                seen.stored.texts.insert(value.name.clone(), value.text.clone());
                talk.record.snapshots.push(value);
            }
        }
    }
}

/// Takes down the whole reply of a case, where that was asked for.
pub(crate) fn capture(seen: &Observation, talk: &mut Conversation<'_>) {
    if talk.storing != Storing::Capture {
        return;
    }
    let Some(reply) = of_reply(seen) else { return };
    let patterns = masks(talk);
    let masks = Masks::new(patterns.iter().map(String::as_str)).unwrap_or_default();
    let text = stored(masks.with_fixture(fixture(talk).as_deref()).apply(&reply));
    talk.record.snapshots.push(Snapshot { kind: SnapshotKind::Case, name: talk.case.name.clone(), text });
}

fn masks(talk: &Conversation<'_>) -> Vec<String> {
    masks_of(talk.case)
}

/// Patterns of the author to mask, and the secrets of the server.
pub(crate) fn masks_of(case: &Case) -> Vec<String> {
    let secrets = case.server.iter().flat_map(|server| &server.secrets);
    let secrets =
        secrets.filter(|secret| secret.trim().len() >= Redactor::SHORTEST).map(|secret| regex::escape(secret));
    case.masks.iter().cloned().chain(secrets).collect()
}

fn fixture(talk: &Conversation<'_>) -> Option<String> {
    talk.variables.get(FIXTURE).and_then(Value::as_str).map(str::to_owned)
}

/// Reads a snapshot file; one that is not there holds nothing.
pub(crate) fn read(path: &Path) -> Result<SnapshotFile, String> {
    match bounded_read::read_to_string(path) {
        Ok(text) => SnapshotFile::parse(&text).map_err(|error| format!("`{}`, {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(SnapshotFile::default()),
        Err(error) => Err(format!("`{}` could not be read: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_stand_beside_the_suite_by_its_stem() {
        for (suite, snap) in [("evals/echo.yaml", "evals/.snapshots/echo.snap"), ("a.b.yml", ".snapshots/a.b.snap")] {
            assert_eq!(snapshot_path(Path::new(suite)), Path::new(snap));
        }
    }
}
