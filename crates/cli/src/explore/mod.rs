//! Trying a server by hand: one session, one request, and the people or files that answer when the server asks.

mod answers;
mod arguments;
mod attempt;
mod content;
mod outcome;
mod request_options;
mod request_session;
mod save;
mod signature;
mod user_prompt;

pub(crate) use arguments::{arguments, missing, object, pairs};
pub(crate) use attempt::{Attempt, Subject, attempt};
pub(crate) use content::{Blobs, of_contents, of_prompt, of_tool_result};
pub(crate) use outcome::{Shown, tell};
pub(crate) use request_options::{RequestOptions, TargetServer};
pub(crate) use request_session::Request;
pub(crate) use save::{SavedTest, save};
pub(crate) use signature::{prompt_signature, tool_signature};
