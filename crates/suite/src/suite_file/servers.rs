//! `servers`: the servers under test by name.

use std::path::Path;
use std::sync::Arc;

use mcprove_model::{Diagnostics, Node, ServerSpec};
use serde_json::{Value, json};

use super::{PlayedFile, Unit};
use crate::assertion_file::templates::Scope;
use crate::context::{FileKind, Reader};
use crate::schema::fragment;
use crate::server::{self, Described};

/// Servers by name; `None` for one that could not be decoded, which is already reported.
pub(super) type Servers = Vec<(String, Option<Arc<ServerSpec>>)>;

/// Decodes the `servers` of all files.
pub(super) fn decode(units: &[Unit], reader: &mut Reader<'_, '_>, found: &mut [Diagnostics<'_>]) -> Servers {
    let default_auth = units.iter().find_map(|unit| unit.node.get("auth"));
    let scope = Scope::new(reader.context.fixture.is_some());
    let mut servers = Servers::new();
    for (unit, found) in units.iter().zip(found) {
        let Some(node) = unit.node.get("servers").filter(|node| !node.is_null()) else { continue };
        for entry in found.map(node, "`servers`").unwrap_or_default() {
            if servers.iter().all(|(name, _)| *name != entry.key.text) {
                server::check_templates(&entry.value, &scope, found);
                let described = Described { entry, kind: FileKind::Suite, default_auth };
                let server = server::decode(&described, reader, found);
                servers.push((entry.key.text.to_string(), server.map(Arc::new)));
            }
        }
    }
    servers
}

/// The files that servers are played from; their paths are relative to the suite, which comes first.
pub(super) fn played_files(units: &[Unit]) -> Vec<PlayedFile> {
    let folder = Path::new(units[0].source.path()).parent().unwrap_or(Path::new(""));
    let mut played = Vec::new();
    for unit in units {
        for server in unit.node.get("servers").and_then(Node::as_map).unwrap_or_default() {
            // A path with a template is known when the test runs.
            let file = played_file(&server.value).and_then(|file| Some((file, file.as_text()?)));
            if let Some((file, name)) = file.filter(|(_, name)| !name.contains("{{") && !name.trim().is_empty()) {
                played.push(PlayedFile { path: folder.join(name), place: unit.source.place(file.span) });
            }
        }
    }
    played
}

/// Where a server that is played from a file says which.
fn played_file(server: &Node) -> Option<&Node> {
    ["cassette", "mock"].iter().find_map(|key| server.get(key)).filter(|file| file.as_text().is_some())
}

/// The JSON Schema of `servers`.
pub(super) fn schema() -> Value {
    json!({
        "anyOf": [
            {"type": "object", "additionalProperties": one_schema(false)},
            {"type": "array", "items": one_schema(true)},
        ],
        "description": "The servers under test, by name.",
    })
}

/// The JSON Schema of one server; in a list, it has a name.
pub(super) fn one_schema(is_named: bool) -> Value {
    let mut properties = server::keys::schema_properties(FileKind::Suite);
    if is_named {
        properties.insert("name".to_owned(), fragment::text("The name by which tests refer to it."));
    }
    let mut schema = fragment::map("A server.", Value::Object(properties), if is_named { &["name"] } else { &[] });
    schema[fragment::DEFINITION] = if is_named { "named-server" } else { "server" }.into();
    schema
}
