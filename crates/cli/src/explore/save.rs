//! A request that was tried, as a test: `--save`.

use std::path::Path;

use mcprove_judge::first_expectation::first_expectation_of_call;
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
    /// The tool as the server lists it; null for what is no tool.
    pub(crate) tool: &'t Value,
    /// The arguments that were sent.
    pub(crate) arguments: &'t Value,
    /// The reply.
    pub(crate) reply: &'t Observation,
}

/// Refuses a file that exists; nothing is called for a test that cannot be written.
pub(super) fn refuse_existing(path: &Path) -> Result<(), Failure> {
    if !path.exists() {
        return Ok(());
    }
    let message = format!("`{}` exists already, and was not changed", path.display());
    Err(Failure::new(message, "give `--save` the name of a new file"))
}

/// Writes a test to a new file; the command that runs it.
pub(crate) fn save(
    path: &Path,
    test: SavedTest<'_>,
    server: &ServerSpec,
    answers: &Answers,
) -> Result<String, Failure> {
    refuse_existing(path)?;
    let described = Described::new(server, None);
    let written = described.written.answering(&answers.replay(), &server.secrets);
    let SavedTest { name, block, mut content, tool, arguments, reply } = test;
    let machine = MachineValues::of(server).shown_by(&[reply]);
    content["expect"] = first_expectation_of_call(tool, arguments, reply, &machine);
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
