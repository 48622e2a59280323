//! What a case does: exactly one thing.

use crate::Node;

/// The one thing a case does. What a file asks for is this enum, never "whichever field is present".
#[derive(Clone, Debug)]
pub enum Act {
    /// `tools/call`.
    CallTool(CallTool),
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct CallTool {
    /// The tool's name: a text node that may hold templates.
    pub tool: Node,
    /// Its arguments: a map that may hold templates.
    pub args: Node,
}

impl Act {
    /// The protocol method the act is about.
    pub fn method(&self) -> &'static str {
        match self {
            Self::CallTool(_) => "tools/call",
        }
    }
}
