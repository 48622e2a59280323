//! Messages between an agent's loop and its model, for every kind of model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool as described to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatTool {
    /// The name the model calls it by.
    pub name: String,
    /// Description by the server.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
}

/// A message of a conversation with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ChatMessage {
    /// Message from the user.
    User {
        /// The text.
        text: String,
    },
    /// Earlier reply of the model.
    Assistant {
        /// The text, empty when there was none.
        text: String,
        /// The calls it asked for.
        calls: Vec<ChatCall>,
    },
    /// Results of the calls.
    Results {
        /// One for each call, in the order of the calls.
        results: Vec<ChatResult>,
    },
}

/// A call a model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatCall {
    /// The name under which its result is given back.
    pub id: String,
    /// The tool, by the name given to the model.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
    /// Capabilities that its request claims instead of the real ones; only scripts set it.
    #[serde(skip)]
    pub claims: Option<Value>,
}

/// Result of a call, as shown to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatResult {
    /// The call.
    pub id: String,
    /// The text of the result.
    pub text: String,
    /// True if it is an error.
    pub is_error: bool,
}

/// Reply of a model: calls, or a final text if there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text, empty when there was none.
    pub text: String,
    /// The calls it asks for.
    pub calls: Vec<ChatCall>,
    /// True if the model was cut off by the limit of its answer.
    #[serde(default)]
    pub truncated: bool,
    /// Its cost in tokens.
    #[serde(default)]
    pub usage: Usage,
}

/// Tokens that were read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens the model read.
    pub prompt_tokens: u64,
    /// Tokens the model wrote.
    pub completion_tokens: u64,
}

impl Usage {
    /// All tokens.
    pub fn total(self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
        }
    }
}
