//! A graph of tool calls, in which calls use the results of others.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::{Node, ServerSpec, Span};

/// A graph of tool calls.
#[derive(Clone, Debug)]
pub struct Composition {
    /// The calls; each comes after those it needs.
    pub nodes: Vec<CompositionNode>,
    /// Result of the whole composition.
    pub output: CompositionOutput,
    /// What `${var.NAME}` stands for: an object.
    pub vars: Value,
    /// The time that all calls together may take.
    pub max_duration: Option<Duration>,
    /// The nodes whose failure an expectation speaks of; a failure of any other is a failure of the case.
    pub judged: Vec<String>,
    /// Its position in the file.
    pub span: Span,
}

/// One call of a graph, or several of the same tool.
#[derive(Clone, Debug)]
pub struct CompositionNode {
    /// Its name in the graph.
    pub id: String,
    /// The nodes whose results it uses.
    pub needs: Vec<String>,
    /// The server, where it is another than the case's own.
    pub server: Option<Arc<ServerSpec>>,
    /// The tool.
    pub tool: String,
    /// Its arguments: a map with references to other nodes.
    pub args: Node,
    /// A jq program that rewrites its result.
    pub transform: Option<String>,
    /// A jq program; if it is false, the node is skipped.
    pub when: Option<String>,
    /// The node whose result is a list, for each item of which the tool is called.
    pub for_each: Option<String>,
    /// Maximum number of concurrent calls.
    pub max_concurrency: usize,
    /// Maximum number of items in the list.
    pub max_iterations: usize,
    /// The result that stands in for a call.
    pub mock: Option<Value>,
    /// Its position in the file.
    pub span: Span,
}

/// Result of a graph.
#[derive(Clone, Debug)]
pub enum CompositionOutput {
    /// The result of the last node.
    Last,
    /// The result of a node.
    Of(String),
    /// Output of a jq program for `{nodes: {ID: RESULT}}`.
    Assembled(String),
}

impl Composition {
    /// True if a server is called.
    pub fn is_live(&self) -> bool {
        self.nodes.iter().any(|node| node.mock.is_none())
    }
}
