//! Trying a server by hand: one session, one request, and the people or files that answer when the server asks.

mod answers;
mod arguments;
mod asking;
mod attempt;
mod content;
mod outcome;
mod reach;
mod save;
mod signature;
mod talk;

pub(crate) use arguments::{arguments, file_or_stdin, missing, pairs};
pub(crate) use attempt::{Attempt, Subject, attempt};
pub(crate) use content::{Blobs, of_contents, of_prompt, of_tool_result};
pub(crate) use outcome::{Shown, tell};
pub(crate) use reach::{Reach, Trying};
pub(crate) use save::{SavedTest, save};
pub(crate) use signature::{prompt_signature, tool_signature};
pub(crate) use talk::Request;
