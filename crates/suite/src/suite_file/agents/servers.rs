//! `servers` of an agent: whose tools it is given.

use std::sync::Arc;

use mcprove_model::{AgentServer, Diagnostics, Node, ServerSpec, Span, nearest};

use super::KIND;
use crate::assertion_file::texts;
use crate::suite_file::list::List;
use crate::suite_file::{Suite, test};

/// The servers an agent names, or the only one there is.
pub(super) fn decode(test: &Node, place: Span, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Vec<AgentServer> {
    let Some(named) = test.get("servers").filter(|named| !named.is_null()) else {
        return the_only_one(test, place, suite, found);
    };
    let mut servers: Vec<AgentServer> = Vec::new();
    let mut whole = true;
    for node in found.one_or_many(named) {
        let Some(name) = found.text(node, "an item of `servers`") else {
            whole = false;
            continue;
        };
        if servers.iter().any(|server| server.name == name) {
            let message = format!("the server `{name}` is named twice");
            found.error_with_help("duplicate-name", node.span, message, "name each server once");
            whole = false;
            continue;
        }
        match find(name, node.span, suite, found) {
            Some(spec) => servers.push(AgentServer { name: name.to_owned(), spec }),
            None => whole = false,
        }
    }
    if servers.is_empty() && whole {
        let message = "this agent is given no server";
        found.error_with_help("no-server", named.span, message, "name at least one of `servers:`");
    }
    if whole { servers } else { Vec::new() }
}

/// The server for the steps around an agent; problems of its servers are reported elsewhere.
pub(crate) fn server_of_steps(test: &Node, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<Arc<ServerSpec>> {
    let mut unheard = Diagnostics::new(found.source());
    let servers = decode(test, test.span, suite, &mut unheard);
    if let Some(named) = test.get("server").filter(|named| !named.is_null()) {
        let name = found.text(named, "`server`")?;
        if !servers.is_empty() && servers.iter().all(|server| server.name != name) {
            let message = format!("`{name}` is none of the `servers` of this agent");
            let help = "`server` says which of `servers` the steps around the agent speak to";
            found.error_with_help("unknown-server", named.span, message, help);
            return None;
        }
    }
    servers.get(index_of_steps(test, &servers)).map(|server| Arc::clone(&server.spec))
}

/// Which of its servers the steps around an agent speak to.
pub(super) fn index_of_steps(test: &Node, servers: &[AgentServer]) -> usize {
    let named = test.get("server").and_then(Node::as_text);
    servers.iter().position(|server| Some(server.name.as_str()) == named).unwrap_or_default()
}

fn the_only_one(agent: &Node, place: Span, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Vec<AgentServer> {
    if texts::is_misspelt(agent.as_map().unwrap_or_default(), "servers", &test::keys(List::Own(&KIND))) {
        return Vec::new();
    }
    match (suite.servers, &suite.given) {
        ([(name, Some(spec))], _) => vec![AgentServer { name: name.clone(), spec: Arc::clone(spec) }],
        ([(_, None)], _) => Vec::new(),
        ([], Some(given)) => vec![AgentServer { name: given.name.clone(), spec: Arc::clone(given) }],
        ([], None) if suite.has_servers => Vec::new(),
        ([], None) => {
            let message = "this agent needs a server, and there is none";
            found.error_with_help("no-server", place, message, "add `servers:`, or give `--server`");
            Vec::new()
        }
        (many, _) => {
            let names: Vec<&str> = many.iter().map(|(name, _)| name.as_str()).collect();
            let help = format!("add `servers:` with some of {}", names.join(", "));
            found.error_with_help("no-server", place, "this agent does not say whose tools it is given", help);
            Vec::new()
        }
    }
}

fn find(name: &str, span: Span, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<Arc<ServerSpec>> {
    if let Some((_, server)) = suite.servers.iter().find(|(known, _)| known == name) {
        return server.clone();
    }
    if suite.servers.is_empty() && suite.given.is_some() {
        return suite.given.clone();
    }
    let names = || suite.servers.iter().map(|(name, _)| name.as_str());
    let help = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if suite.servers.is_empty() => "add it to `servers:`".to_owned(),
        None => format!("`servers` has {}", names().collect::<Vec<_>>().join(", ")),
    };
    found.error_with_help("unknown-server", span, format!("unknown server `{name}`"), help);
    None
}
