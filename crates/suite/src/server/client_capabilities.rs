//! `server.client_capabilities`: what the client offers the server, and the answers it gives.

use mcprove_model::{
    ClientCapabilities, Diagnostics, ElicitationAction, ElicitationReply, Kind, Meaning, Node, SamplingReply, nearest,
};
use serde_json::{Map, Value, json};

use crate::assertion_file::templates::Scope;
use crate::assertion_file::texts;
use crate::field::{self, Field};
use crate::schema::fragment;

/// The `content` of an answer that is made from the schema of the form.
pub(crate) const AUTO: &str = "auto";

const FIELDS: &[Field] = &[
    Field::optional("elicitation", elicitation_schema),
    Field::optional("roots", roots_schema),
    Field::optional("sampling", || {
        let reply = sampling_reply_schema();
        json!({
            "anyOf": [reply, {"type": "array", "items": reply}, {"type": "null"}],
            "description": "What a model answers.",
        })
    }),
];

const REPLY: &[Field] = &[
    Field::optional("model", || fragment::text("The model's name.")),
    Field::optional("stop_reason", || fragment::text("Why the model stopped.")),
    Field::optional("text", || fragment::scalar("What it answers.")),
];

const ROOTS: &[Field] = &[
    Field::optional("changed", || {
        fragment::texts("The folders from the block on; the server is notified that they changed.")
    }),
    Field::optional("list", || fragment::texts("The folders at first.")),
];

const ACTIONS: [(&str, ElicitationAction); 3] = [
    ("accept", ElicitationAction::Accept),
    ("cancel", ElicitationAction::Cancel),
    ("decline", ElicitationAction::Decline),
];

/// Decodes the capabilities; each is declared when its key has a value.
pub(crate) fn decode(node: &Node, scope: &Scope, found: &mut Diagnostics<'_>) -> ClientCapabilities {
    let mut client = ClientCapabilities::default();
    if node.is_null() {
        return client;
    }
    for entry in found.known_keys(node, "`client_capabilities`", &field::keys(FIELDS)) {
        if entry.value.is_null() {
            continue;
        }
        match entry.key.text.as_str() {
            "roots" => {
                scope.check(&entry.value, found);
                (client.roots, client.roots_changed) = roots(&entry.value, found);
            }
            "sampling" => {
                scope.check(&entry.value, found);
                let replies = found.one_or_many(&entry.value).iter();
                client.sampling = replies.filter_map(|reply| sampling(reply, found)).collect();
            }
            "elicitation" => {
                scope.check(&entry.value, found);
                (client.elicitation, client.further_elicitations) = elicitations(&entry.value, found);
            }
            _ => {}
        }
    }
    client
}

/// The JSON Schema of the capabilities.
pub(super) fn schema() -> Value {
    let mut schema = field::map("Capabilities that the client declares.", FIELDS);
    schema["type"] = json!(["object", "null"]);
    schema[fragment::DEFINITION] = "client-capabilities".into();
    schema
}

/// The JSON Schema of a scripted answer of a model.
pub(crate) fn sampling_reply_schema() -> Value {
    field::map("An answer.", REPLY)
}

fn roots_schema() -> Value {
    let map = field::map("Folders that change.", ROOTS);
    json!({"anyOf": [fragment::texts("The folders."), map], "description": "Folders for the server's `roots/list` requests."})
}

/// Folders: a list, or `list` with its later value under `changed`.
fn roots(node: &Node, found: &mut Diagnostics<'_>) -> (Option<Vec<String>>, Option<Vec<String>>) {
    if node.as_map().is_none() {
        return (Some(texts::list(node, "`roots`", found)), None);
    }
    found.known_keys(node, "`roots`", &field::keys(ROOTS));
    let mut folders = |key: &str| {
        let list = node.get(key).filter(|list| !list.is_null());
        list.map(|list| texts::list(list, &format!("`{key}` of `roots`"), found))
    };
    (Some(folders("list").unwrap_or_default()), folders("changed"))
}

/// A scripted answer: a text, or a map where what is left out is as in `defaults`.
pub(crate) fn sampling_reply(
    node: &Node,
    what: &str,
    defaults: &SamplingReply,
    found: &mut Diagnostics<'_>,
) -> Option<SamplingReply> {
    if node.as_map().is_none() {
        if node.as_text().is_none() {
            found.wrong_kind(node, what, "a text, or a map with `text`, `model` and `stop_reason`");
        }
        return node.as_text().map(|text| SamplingReply { text: text.to_owned(), ..defaults.clone() });
    }
    found.known_keys(node, what, &field::keys(REPLY));
    let mut text = |key, default: &String| texts::optional(node, key, found).unwrap_or(default).to_owned();
    Some(SamplingReply {
        text: text("text", &defaults.text),
        model: text("model", &defaults.model),
        stop_reason: text("stop_reason", &defaults.stop_reason),
    })
}

fn sampling(node: &Node, found: &mut Diagnostics<'_>) -> Option<SamplingReply> {
    found.map(node, "`sampling`")?;
    sampling_reply(node, "`sampling`", &silent_model(), found)
}

/// The answer when nothing is said about it.
pub(crate) fn silent_model() -> SamplingReply {
    SamplingReply { text: String::new(), model: "mock".to_owned(), stop_reason: "end_turn".to_owned() }
}

/// One answer, or several in order, of which the last one repeats.
pub(crate) fn elicitations(
    node: &Node,
    found: &mut Diagnostics<'_>,
) -> (Option<ElicitationReply>, Vec<ElicitationReply>) {
    let mut answers = found.one_or_many(node).iter().filter_map(|answer| elicitation(answer, found));
    let first = answers.next();
    (first, answers.collect())
}

/// The JSON Schema of one answer or several.
pub(crate) fn elicitation_schema() -> Value {
    let answer = json!({
        "type": ["object", "null"],
        "properties": {
            "action": fragment::text("The user's action: accept, decline or cancel."),
            "content": {"description": "The user's input; `auto` fills in the form by its schema."},
        },
    });
    json!({
        "anyOf": [answer, {"type": "array", "items": answer}],
        "description": "The answer to a question to the user; of several, each is given once and the last one repeats.",
    })
}

/// `content` is the whole form when it is a map, and filled in by the form's schema when it is `auto`; otherwise every key but `action` is a field of the form. `url: true`
/// says that links are followed too; with any other value it is a field.
fn elicitation(node: &Node, found: &mut Diagnostics<'_>) -> Option<ElicitationReply> {
    let entries = found.map(node, "`elicitation`")?;
    if entries.is_empty() {
        return None;
    }
    let action = match node.get("action").filter(|action| !action.is_null()) {
        Some(action) => elicitation_action(action, found)?,
        None => ElicitationAction::Accept,
    };
    let url = node.get("url").and_then(|url| match url.as_scalar()?.meaning {
        Meaning::Bool(follow) => Some(follow),
        Meaning::Text | Meaning::Null | Meaning::Number(_) => None,
    });
    let is_auto = |content: &&Node| content.as_scalar().is_some_and(|scalar| scalar.text == AUTO);
    let whole = node.get("content").filter(|content| matches!(content.kind, Kind::Map(_)) || is_auto(content));
    let content = if let Some(whole) = whole {
        found.known_keys(node, "`elicitation` with `content`", &["action", "content", "url"]);
        if let (Some(node), None) = (node.get("url"), url) {
            let message = format!("`url` must be true or false, found {}", node.kind_name());
            found.error_with_help("wrong-type", node.span, message, "put a field of this name under `content`");
        }
        if is_auto(&whole) { Value::Null } else { whole.to_json() }
    } else {
        let is_field = |key: &str| key != "action" && !(key == "url" && url.is_some());
        let fields = entries.iter().filter(|entry| is_field(&entry.key.text));
        Value::Object(fields.map(|entry| (entry.key.text.to_string(), entry.value.to_json())).collect::<Map<_, _>>())
    };
    Some(ElicitationReply { action, content, url: url.unwrap_or_default() })
}

fn elicitation_action(node: &Node, found: &mut Diagnostics<'_>) -> Option<ElicitationAction> {
    let text = found.text(node, "`action`")?;
    let known = ACTIONS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    if known.is_none() {
        let help = match nearest(text, ACTIONS.map(|(name, _)| name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "write accept, decline or cancel; form fields with this name go under `content`".to_owned(),
        };
        found.error_with_help("unknown-action", node.span, format!("unknown action `{text}`"), help);
    }
    known.map(|(_, action)| action)
}
