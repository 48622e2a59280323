//! What a mock offers: the decoded manifest.

use mcprove_model::{Diagnostics, Entry, Node};
use serde_json::{Value, json};

/// What a mock offers.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// Its own name.
    pub name: String,
    /// Its tools.
    pub tools: Vec<MockTool>,
    /// Its resources.
    pub resources: Vec<MockResource>,
    /// Its prompts.
    pub prompts: Vec<MockPrompt>,
}

/// A tool and its answer.
#[derive(Clone, Debug)]
pub struct MockTool {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    pub description: Option<String>,
    /// The schema its arguments are checked against.
    pub input_schema: Value,
    /// The schema of its structured content.
    pub output_schema: Option<Value>,
    /// Its hints.
    pub annotations: Option<Value>,
    /// The result it answers with, `${args.x}` filled in.
    pub response: Value,
}

/// A resource and its text.
#[derive(Clone, Debug)]
pub struct MockResource {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its type.
    pub mime_type: Option<String>,
    /// Its content.
    pub text: String,
}

/// A prompt and its one message.
#[derive(Clone, Debug)]
pub struct MockPrompt {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    pub description: Option<String>,
    /// The user's message, `${args.x}` filled in.
    pub text: String,
}

const SERVER_KEYS: &[&str] = &["name", "tools", "resources", "prompts"];
const TOOL_KEYS: &[&str] =
    &["name", "description", "input_schema", "inputSchema", "output_schema", "outputSchema", "annotations", "response"];
const RESOURCE_KEYS: &[&str] = &["uri", "name", "mime_type", "mimeType", "text"];
const PROMPT_KEYS: &[&str] = &["name", "description", "text"];

/// Decodes a manifest: `mock_server: {…}`, or its content at the top level.
pub(crate) fn decode(document: &Node, found: &mut Diagnostics<'_>) -> Manifest {
    let (body, what) = match document.get("mock_server") {
        Some(body) => {
            found.known_keys(document, "the manifest", &["mock_server"]);
            (body, "`mock_server`")
        }
        None => (document, "the manifest"),
    };
    let mut manifest = Manifest { name: "mcprove-mock".to_owned(), ..Manifest::default() };
    for Entry { key, value } in found.known_keys(body, what, SERVER_KEYS) {
        match key.text.as_str() {
            "name" => found.text(value, "`name`").unwrap_or_default().clone_into(&mut manifest.name),
            "tools" => {
                manifest.tools = found.list(value, "`tools`").iter().filter_map(|node| tool(node, found)).collect();
            }
            "resources" => {
                let nodes = found.list(value, "`resources`");
                manifest.resources = nodes.iter().filter_map(|node| resource(node, found)).collect();
            }
            "prompts" => {
                manifest.prompts =
                    found.list(value, "`prompts`").iter().filter_map(|node| prompt(node, found)).collect();
            }
            _ => {}
        }
    }
    manifest
}

fn tool(node: &Node, found: &mut Diagnostics<'_>) -> Option<MockTool> {
    let entries = found.known_keys(node, "a tool", TOOL_KEYS);
    let value = |names: &[&str]| entries.iter().find(|e| names.contains(&e.key.text.as_str())).map(|e| &e.value);
    let name = required(node, value(&["name"]), "a tool", "name", found)?;
    Some(MockTool {
        response: response(&name, value(&["response"])),
        name,
        description: value(&["description"]).and_then(|node| found.text(node, "`description`")).map(str::to_owned),
        input_schema: value(&["inputSchema", "input_schema"])
            .map_or_else(|| json!({"type": "object"}), |node| object(node, "`inputSchema`", found)),
        output_schema: value(&["outputSchema", "output_schema"]).map(|node| object(node, "`outputSchema`", found)),
        annotations: value(&["annotations"]).map(|node| object(node, "`annotations`", found)),
    })
}

/// A response is a whole result, or what a result says: text, or data.
fn response(tool: &str, node: Option<&Node>) -> Value {
    let text_result = |text: String| json!({"content": [{"type": "text", "text": text}]});
    match node.map(Node::to_json) {
        None | Some(Value::Null) => text_result(format!("mock {tool}")),
        Some(Value::String(text)) => text_result(text),
        Some(Value::Object(map))
            if ["content", "structuredContent", "isError"].iter().any(|k| map.contains_key(*k)) =>
        {
            let mut map = map;
            map.entry("content").or_insert_with(|| json!([]));
            Value::Object(map)
        }
        Some(data) => {
            json!({"content": [{"type": "text", "text": data.to_string()}], "structuredContent": data})
        }
    }
}

fn resource(node: &Node, found: &mut Diagnostics<'_>) -> Option<MockResource> {
    found.known_keys(node, "a resource", RESOURCE_KEYS);
    let uri = required(node, node.get("uri"), "a resource", "uri", found)?;
    let mime = node.get("mimeType").or_else(|| node.get("mime_type"));
    Some(MockResource {
        name: node.get("name").and_then(Node::as_text).unwrap_or(&uri).to_owned(),
        mime_type: mime.and_then(|node| found.text(node, "`mimeType`")).map(str::to_owned),
        text: node.get("text").and_then(|node| found.text(node, "`text`")).unwrap_or_default().to_owned(),
        uri,
    })
}

fn prompt(node: &Node, found: &mut Diagnostics<'_>) -> Option<MockPrompt> {
    found.known_keys(node, "a prompt", PROMPT_KEYS);
    let name = required(node, node.get("name"), "a prompt", "name", found)?;
    Some(MockPrompt {
        name,
        description: node.get("description").and_then(|node| found.text(node, "`description`")).map(str::to_owned),
        text: node.get("text").and_then(|node| found.text(node, "`text`")).unwrap_or_default().to_owned(),
    })
}

fn required(node: &Node, value: Option<&Node>, what: &str, key: &str, found: &mut Diagnostics<'_>) -> Option<String> {
    let Some(value) = value else {
        found.error("missing-key", node.span, format!("{what} has no `{key}`"));
        return None;
    };
    found.text(value, &format!("`{key}`")).map(str::to_owned)
}

fn object(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Value {
    found.map(node, what);
    node.to_json()
}
