//! Resources, resource templates and prompts.

use std::collections::BTreeMap;

use mcprove_model::{Diagnostics, Node, Span};
use serde_json::{Value, json};

use super::ask::{Round, rounds_of};
use super::block::Block;

/// A resource.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) uri: String,
    pub(crate) span: Span,
    /// What `resources/list` shows.
    pub(crate) entry: Value,
    /// The item of `resources/read`, without its uri.
    pub(crate) content: Value,
    pub(crate) rounds: Vec<Round>,
}

/// Resources whose URIs follow a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) pattern: String,
    pub(crate) entry: Value,
    pub(crate) content: Value,
    /// Values that complete a variable.
    pub(crate) complete: BTreeMap<String, Vec<String>>,
}

/// A prompt.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) entry: Value,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) description: Option<String>,
    pub(crate) messages: Value,
    pub(crate) rounds: Vec<Round>,
}

/// An argument of a prompt.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) required: bool,
    /// Values that complete it.
    pub(crate) values: Vec<String>,
}

pub(super) const RESOURCE_KEYS: &[&str] = &[
    "uri",
    "name",
    "title",
    "description",
    "mime_type",
    "size",
    "annotations",
    "icons",
    "_meta",
    "text",
    "blob",
    "input_required",
];
pub(super) const TEMPLATE_KEYS: &[&str] = &[
    "uri_template",
    "name",
    "title",
    "description",
    "mime_type",
    "annotations",
    "icons",
    "_meta",
    "text",
    "blob",
    "complete",
];
pub(super) const PROMPT_KEYS: &[&str] =
    &["name", "title", "description", "arguments", "text", "messages", "icons", "_meta", "input_required"];
pub(super) const ARGUMENT_KEYS: &[&str] = &["name", "title", "description", "required", "values"];

const SHOWN: &[&str] = &["title", "description", "mime_type", "size", "annotations", "icons", "_meta"];

pub(super) fn resource(node: &Node, found: &mut Diagnostics<'_>) -> Option<Resource> {
    let block = Block::open(node, "a resource", RESOURCE_KEYS, found)?;
    let uri = block.required_text("uri", found)?;
    let mut entry = json!({"uri": uri, "name": block.text("name", found).unwrap_or_else(|| uri.clone())});
    block.copy_into(&mut entry, SHOWN);
    Some(Resource {
        span: block.get("uri").map_or(node.span, |uri| uri.span),
        uri,
        entry,
        content: content(&block, found),
        rounds: rounds_of(&block, found),
    })
}

pub(super) fn template(node: &Node, found: &mut Diagnostics<'_>) -> Option<Template> {
    let block = Block::open(node, "a resource template", TEMPLATE_KEYS, found)?;
    let pattern = block.required_text("uri_template", found)?;
    if let Err(reason) = crate::uri_template::check(&pattern) {
        let span = block.get("uri_template").map_or(node.span, |node| node.span);
        let help = "write variables as `{name}`, or `{+name}` when they may hold slashes";
        found.error_with_help("bad-template", span, reason, help);
        return None;
    }
    let mut entry =
        json!({"uriTemplate": pattern, "name": block.text("name", found).unwrap_or_else(|| pattern.clone())});
    block.copy_into(&mut entry, SHOWN);
    let mut complete = BTreeMap::new();
    if let Some(node) = block.get("complete") {
        for entry in found.map(node, "`complete`").unwrap_or_default() {
            complete.insert(entry.key.text.to_string(), texts(&entry.value, found));
        }
    }
    Some(Template { pattern, entry, content: content(&block, found), complete })
}

/// The content of a resource: text or bytes in base64.
fn content(block: &Block<'_>, found: &mut Diagnostics<'_>) -> Value {
    let mut content = json!({});
    block.copy_into(&mut content, &["mime_type"]);
    match (block.text("text", found), block.text("blob", found)) {
        (text, None) => content["text"] = json!(text.unwrap_or_default()),
        (None, Some(blob)) => content["blob"] = json!(blob),
        (Some(_), Some(_)) => {
            let help = "keep one of `text` and `blob`";
            found.error_with_help("bad-resource", block.node.span, "a resource is either text or a blob", help);
        }
    }
    content
}

pub(super) fn prompt(node: &Node, found: &mut Diagnostics<'_>) -> Option<Prompt> {
    let block = Block::open(node, "a prompt", PROMPT_KEYS, found)?;
    let name = block.required_text("name", found)?;
    let mut entry = json!({"name": name});
    block.copy_into(&mut entry, &["title", "description"]);
    let mut arguments = Vec::new();
    let mut shown = Vec::new();
    for node in block.list("arguments", found) {
        if let Some((argument, entry)) = argument(node, found) {
            arguments.push(argument);
            shown.push(entry);
        }
    }
    if !shown.is_empty() {
        entry["arguments"] = Value::Array(shown);
    }
    block.copy_into(&mut entry, &["icons", "_meta"]);
    let messages = match (block.get("messages"), block.text("text", found)) {
        (Some(node), None) => {
            found.list(node, "`messages`");
            Value::Array(node.as_list().unwrap_or_default().iter().map(message).collect())
        }
        (None, text) => json!([{"role": "user", "content": {"type": "text", "text": text.unwrap_or_default()}}]),
        (Some(node), Some(_)) => {
            let help = "keep one of `text` and `messages`";
            found.error_with_help("bad-prompt", node.span, "a prompt is either one text or messages", help);
            json!([])
        }
    };
    Some(Prompt {
        span: block.get("name").map_or(node.span, |name| name.span),
        description: block.text("description", found),
        rounds: rounds_of(&block, found),
        name,
        entry,
        arguments,
        messages,
    })
}

/// A message as it is; one whose content is a text is given the shape of one.
fn message(node: &Node) -> Value {
    let mut message = node.to_json();
    if message.get("role").is_none() && message.is_object() {
        message["role"] = json!("user");
    }
    if let Some(text) = message.get("content").and_then(Value::as_str).map(str::to_owned) {
        message["content"] = json!({"type": "text", "text": text});
    }
    if let Value::String(text) = message {
        return json!({"role": "user", "content": {"type": "text", "text": text}});
    }
    message
}

fn argument(node: &Node, found: &mut Diagnostics<'_>) -> Option<(Argument, Value)> {
    if let Some(name) = node.as_text() {
        let argument = Argument { name: name.to_owned(), required: false, values: Vec::new() };
        return Some((argument, json!({"name": name})));
    }
    let block = Block::open(node, "an argument", ARGUMENT_KEYS, found)?;
    let name = block.required_text("name", found)?;
    let required = block.flag("required", found);
    let values = block.get("values").map(|node| texts(node, found)).unwrap_or_default();
    let mut entry = json!({"name": name});
    block.copy_into(&mut entry, &["title", "description"]);
    if required {
        entry["required"] = json!(true);
    }
    Some((Argument { name, required, values }, entry))
}

fn texts(node: &Node, found: &mut Diagnostics<'_>) -> Vec<String> {
    let nodes = found.list(node, "values");
    nodes.iter().filter_map(|node| found.text(node, "a value").map(str::to_owned)).collect()
}
