//! `matrix`: the same tests on several servers, or in several protocol revisions.

use std::sync::Arc;

use mcprove_model::{ColumnServer, Diagnostics, Entry, Matrix, Node, Revision, ServerSpec, nearest};
use serde_json::{Value, json};

use super::templates::Scope;
use crate::field::{self, Field};
use crate::server::ServerOverride;

const FIELDS: &[Field] = &[
    Field::optional("protocol", || {
        let revision = json!({"enum": Revision::ALL.map(Revision::as_str)});
        json!({
            "anyOf": [{"const": "all"}, revision, {"type": "array", "items": revision}, {"type": "null"}],
            "description": "The protocol revisions, or `all`.",
        })
    }),
    Field::optional(
        "servers",
        || json!({"anyOf": [servers_by_name(), {"type": "null"}], "description": "The servers: a command or a URL for each name."}),
    ),
];

/// The servers of a suite file by name; `None` for one that could not be decoded, which is already reported.
pub(crate) type Described = [(String, Option<Arc<ServerSpec>>)];

/// What `matrix` is decoded with.
pub(crate) struct Around<'a> {
    /// The servers that can be named; none in a file that has one server.
    pub(crate) described: Option<&'a Described>,
    /// A server given on the command line, which takes the place of all others.
    pub(crate) given: Option<&'a ServerOverride>,
    /// The variables a command may use.
    pub(crate) scope: &'a Scope,
}

/// Decodes the value of `matrix`.
pub(crate) fn decode(entry: &Entry, around: &Around<'_>, found: &mut Diagnostics<'_>) -> Option<Arc<Matrix>> {
    let node = &entry.value;
    if node.is_null() {
        return None;
    }
    field::entries(node, "`matrix`", FIELDS, found)?;
    let part = |key: &str| node.get(key).filter(|part| !part.is_null());
    let servers = part("servers").map(|servers| decode_servers(servers, around, found)).unwrap_or_default();
    let revisions = part("protocol").map(|protocol| decode_revisions(protocol, found)).unwrap_or_default();
    if FIELDS.iter().all(|field| part(field.key).is_none()) {
        let message = "`matrix` has neither `servers` nor `protocol`, so it has no columns";
        found.error_with_help("nothing-asked", entry.key.span, message, "add one of them, or remove `matrix`");
        return None;
    }
    let servers = if around.given.is_some() { Vec::new() } else { servers };
    Some(Arc::new(Matrix { servers, revisions }))
}

/// The server of a test that names none: any of the matrix, for the columns take its place.
pub(crate) fn any_server(matrix: Option<&Arc<Matrix>>) -> Option<ServerSpec> {
    let (name, server) = matrix?.servers.first()?;
    Some(match server {
        ColumnServer::Described(server) => ServerSpec::clone(server),
        ColumnServer::Command { .. } | ColumnServer::Url(_) => {
            ServerSpec { name: name.clone(), ..ServerSpec::default() }
        }
    })
}

/// The JSON Schema of `matrix`; in a suite file, servers may be named.
pub(crate) fn schema(names: bool) -> Value {
    let mut schema = field::map("The same tests on several servers, or in several revisions.", FIELDS);
    if names {
        let list = json!({"type": "array", "items": {"type": "string"}});
        schema["properties"]["servers"] = json!({
            "anyOf": [servers_by_name(), list, {"type": "null"}],
            "description": "The servers: names of `servers`, or a command or a URL for each name.",
        });
    }
    schema["type"] = json!(["object", "null"]);
    schema
}

fn servers_by_name() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}})
}

fn decode_servers(node: &Node, around: &Around<'_>, found: &mut Diagnostics<'_>) -> Vec<(String, ColumnServer)> {
    let Some(described) = around.described.filter(|_| node.as_list().is_some()) else {
        let entries = found.map(node, "`servers` of `matrix`").unwrap_or_default();
        let column = |entry: &Entry| Some((entry.key.text.to_string(), decode_command(entry, around, found)?));
        return entries.iter().filter_map(column).collect();
    };
    let mut servers: Vec<(String, ColumnServer)> = Vec::new();
    for item in found.list(node, "`servers` of `matrix`") {
        let Some(name) = found.text(item, "a server of `matrix`") else { continue };
        let Some((_, server)) = described.iter().find(|(known, _)| known == name) else {
            let help = match nearest(name, described.iter().map(|(known, _)| known.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "add it to `servers:`, or write `servers: {name: command}` here".to_owned(),
            };
            found.error_with_help("unknown-server", item.span, format!("unknown server `{name}`"), help);
            continue;
        };
        if servers.iter().any(|(known, _)| known == name) {
            let message = format!("`{name}` is in the matrix already");
            found.error_with_help("duplicate-column", item.span, message, "name each server once");
        } else if let Some(server) = server {
            servers.push((name.to_owned(), ColumnServer::Described(Arc::clone(server))));
        }
    }
    servers
}

/// A command line, split as a shell would, or an address.
fn decode_command(entry: &Entry, around: &Around<'_>, found: &mut Diagnostics<'_>) -> Option<ColumnServer> {
    let text = found.text(&entry.value, "a server of `matrix`")?;
    around.scope.check(&entry.value, found);
    let words = shell_words::split(text);
    let (message, help) = match words.map(ColumnServer::of_words) {
        Ok(Some(server)) => return Some(server),
        Ok(None) => (format!("the server `{}` of `matrix` is empty", entry.key.text), "write a command or a URL"),
        Err(error) => (format!("`{text}` cannot be split into words: {error}"), "close the quote"),
    };
    found.error_with_help("no-command", entry.value.span, message, help);
    None
}

fn decode_revisions(node: &Node, found: &mut Diagnostics<'_>) -> Vec<Revision> {
    if node.as_text() == Some("all") {
        return Revision::ALL.to_vec();
    }
    let known = Revision::ALL.map(Revision::as_str);
    let mut revisions = Vec::new();
    for item in found.one_or_many(node) {
        let Some(text) = found.text(item, "`protocol` of `matrix`") else { continue };
        match Revision::parse(text) {
            Some(revision) if revisions.contains(&revision) => {
                let message = format!("`{text}` is in the matrix already");
                found.error_with_help("duplicate-column", item.span, message, "name each revision once");
            }
            Some(revision) => revisions.push(revision),
            None => {
                let help = match nearest(text, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("write `all` or some of {}", known.join(", ")),
                };
                found.error_with_help("unknown-protocol", item.span, format!("unknown revision `{text}`"), help);
            }
        }
    }
    revisions
}
