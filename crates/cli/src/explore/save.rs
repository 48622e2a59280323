//! A request that was tried, as a test: `--save`.

use std::path::Path;

use mcprove_judge::first_expectation::first_expectation;
use mcprove_model::{Observation, ServerSpec};
use mcprove_suite::starter::Starter;
use serde_json::Value;

use super::answers::Answers;
use crate::atomic_write;
use crate::failure::Failure;
use crate::starter_files::{Described, MachineValues};

/// A test that is to be written.
pub(crate) struct SavedTest<'t> {
    /// Its name.
    pub(crate) name: String,
    /// The key of its block.
    pub(crate) block: &'static str,
    /// The block, without `expect`.
    pub(crate) content: Value,
    /// The arguments that were sent.
    pub(crate) arguments: &'t Value,
    /// The reply.
    pub(crate) reply: &'t Observation,
}

/// Writes a test to a new file; the command that runs it.
pub(crate) fn save(
    path: &Path,
    test: SavedTest<'_>,
    server: &ServerSpec,
    answers: &Answers,
) -> Result<String, Failure> {
    if path.exists() {
        return Err(Failure::new(
            format!("`{}` exists already, and was not changed", path.display()),
            "give `--save` the name of a new file",
        ));
    }
    let described = Described::new(server, None);
    let written = described.written.answering(&answers.replay(), &server.secrets);
    let SavedTest { name, block, mut content, arguments, reply } = test;
    content["expect"] = first_expectation(arguments, &[reply], &MachineValues::of(server).shown_by(&[reply]));
    let mut remarks = vec!["Saved from a call. Change `expect` to what you really want.".to_owned()];
    remarks.extend(written.remark());
    let starter = Starter { remarks, ..Starter::new(name, &written, block, content) };
    if let Some(parent) = path.parent() {
        let _ = std::fs::create_dir_all(parent);
    }
    atomic_write::write(path, starter.text().as_bytes()).map_err(|error| {
        Failure::new(format!("`{}` could not be written: {error}", path.display()), "give a path that can be written")
    })?;
    Ok(format!("mcprove run {}", shell_words::quote(&path.to_string_lossy())))
}
