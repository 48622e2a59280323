//! Files that a plan reads while it runs, so that no report is written over one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcprove_model::{Act, Plan, Target, Trajectory};
use mcprove_suite::load::bounded_read::{self, Input, is_same_file};

use crate::changes::programs;
use crate::failure::Failure;

/// Refuses outputs that are inputs: files that were read so far, and those that the plan names. Nothing is started before.
pub(crate) fn refuse_inputs<'a>(outputs: impl Iterator<Item = (String, &'a Path)>, plan: &Plan) -> Result<(), Failure> {
    let existing: Vec<(String, &Path)> = outputs.filter(|(_, path)| path.is_file()).collect();
    if existing.is_empty() {
        return Ok(());
    }
    let (files, folders) = named(plan);
    for (flag, path) in existing {
        let is_input = match bounded_read::input_at(path) {
            Some(Input::File) => true,
            Some(Input::Log) => flag != "--events",
            None => files.iter().any(|file| is_same_file(file, path)) || is_inside(path, &folders),
        };
        if is_input {
            let message = format!("`{flag}` would write over `{}`, which this run reads", path.display());
            return Err(Failure::new(message, "give the path of a new file"));
        }
    }
    Ok(())
}

/// Files that the cases of a plan name, and their fixture folders.
fn named(plan: &Plan) -> (HashSet<PathBuf>, HashSet<PathBuf>) {
    let (mut files, mut folders, mut seen) = (HashSet::new(), HashSet::new(), HashSet::new());
    for planned in &plan.cases {
        let case = &planned.case;
        if let Some(fixture) = &case.fixture
            && !folders.contains(fixture)
        {
            folders.insert(fixture.clone());
        }
        if let Act::Trajectory(Trajectory::AuditLog(log)) = &case.act {
            files.extend(log.as_text().map(PathBuf::from));
        }
        for server in case.servers().filter(|server| seen.insert(Arc::as_ptr(server))) {
            match &server.target {
                Target::Stdio { .. } => files.extend(programs(&server.target)),
                Target::Mock { manifest: path, .. } | Target::Cassette { path } => {
                    files.insert(PathBuf::from(path));
                }
                Target::Remote { .. } => {}
            }
        }
    }
    (files, folders)
}

fn is_inside(path: &Path, folders: &HashSet<PathBuf>) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    folders.iter().any(|folder| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder)))
}
