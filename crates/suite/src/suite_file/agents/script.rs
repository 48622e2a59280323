//! `script`: what a scripted model does, one step a turn.

use mcprove_judge::target::Target;
use mcprove_model::{
    AgentServer, Diagnostics, Entry, Node, Repeat, ScriptAction, ScriptCall, ScriptStep, When, nearest,
};
use serde_json::{Value, json};

use crate::assertion_file::templates::Scope;
use crate::assertion_file::{block, texts};
use crate::field::{self, Field};
use crate::schema::fragment;
use crate::suite_file::claims;
use crate::template::unresolved;

const FIELDS: &[Field] = &[
    Field::optional("call", || {
        json!({
            "anyOf": [field::map("A call.", CALL), {"type": "array", "minItems": 1, "items": field::map("A call.", CALL)}],
            "description": "Tools to call, all at once.",
        })
    }),
    Field::optional("repeat", || {
        json!({
            "anyOf": [{"type": "integer", "minimum": 1}, {"const": "forever"}],
            "description": "Number of times the step is taken.",
        })
    }),
    Field::optional("say", || fragment::text("The final answer: `{{last.text}}` is what the last call answered.")),
    Field::optional("when", || {
        json!({
            "anyOf": [
                {"enum": ["error", "ok"]},
                fragment::map("A text.", json!({"contains": fragment::text("The text.")}), &["contains"]),
            ],
            "description": "What must hold of the last results; otherwise the step is passed over.",
        })
    }),
];

const CALL: &[Field] = &[
    Field::optional("args", || fragment::any_map("The arguments.")),
    Field::optional(claims::KEY, claims::schema),
    Field::optional("server", || fragment::text("The server; may be left out when only one has the tool.")),
    Field::required("tool", || fragment::text("The tool.")),
];

/// Decodes a script; `None` when a step of it is wrong.
pub(super) fn decode(
    node: &Node,
    servers: &[AgentServer],
    scope: &Scope,
    found: &mut Diagnostics<'_>,
) -> Option<Vec<ScriptStep>> {
    let steps = found.list(node, "`script`");
    if steps.is_empty() {
        if node.as_list().is_some() {
            let help = "add a step with `call:` or `say:`";
            found.error_with_help("missing-key", node.span, "`script` has no step", help);
        }
        return None;
    }
    let decoded: Vec<ScriptStep> = steps.iter().filter_map(|step| decode_step(step, servers, scope, found)).collect();
    (decoded.len() == steps.len()).then_some(decoded)
}

/// The JSON Schema of a script.
pub(super) fn schema() -> Value {
    fragment::list("Steps of a scripted model, one per turn.", field::map("One turn of the model.", FIELDS))
}

fn decode_step(node: &Node, servers: &[AgentServer], scope: &Scope, found: &mut Diagnostics<'_>) -> Option<ScriptStep> {
    let entries = field::entries(node, "a step of `script`", FIELDS, found)?;
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    let when = match node.get("when").filter(|when| !when.is_null()) {
        Some(when) => Some(decode_when(when, scope, found)?),
        None => None,
    };
    let repeat = match node.get("repeat").filter(|repeat| !repeat.is_null()) {
        Some(repeat) => decode_repeat(repeat, found)?,
        None => Repeat::Times(1),
    };
    let part = |key: &str| entries.iter().find(|entry| entry.key.text == key && !entry.value.is_null());
    let action = match (part("call"), part("say")) {
        (Some(call), None) => ScriptAction::Call(decode_calls(call, servers, scope, found)?),
        (None, Some(say)) => {
            found.text(&say.value, "`say`")?;
            check(&say.value, scope, found);
            ScriptAction::Say(say.value.clone())
        }
        (Some(_), Some(say)) => {
            let help = "make two steps of it: a model either calls tools or answers";
            found.error_with_help(
                "two-acts",
                say.key.span,
                "`say` and `call` are mutually exclusive in one step",
                help,
            );
            return None;
        }
        (None, None) => {
            if entries.iter().all(|entry| field::has(FIELDS, &entry.key.text)) {
                let message = "this step does nothing";
                found.error_with_help("missing-key", place, message, "add `call: {tool: …}` or `say: …`");
            }
            return None;
        }
    };
    Some(ScriptStep { when, action, repeat, span: place })
}

fn decode_when(node: &Node, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<When> {
    match (node.as_text(), node.as_map()) {
        (Some("error"), _) => return Some(When::Error),
        (Some("ok"), _) => return Some(When::Ok),
        (_, Some([Entry { key, value }])) if key.text == "contains" => {
            found.text(value, "`contains`")?;
            check(value, scope, found);
            return Some(When::Contains(value.clone()));
        }
        (_, Some(_) | None) => {}
    }
    let help = "write `error`, `ok` or `{contains: TEXT}`";
    found.error_with_help("wrong-type", node.span, "`when` does not say what must hold of the last results", help);
    None
}

fn decode_repeat(node: &Node, found: &mut Diagnostics<'_>) -> Option<Repeat> {
    match (node.as_text(), node.as_count()) {
        (Some("forever"), _) => Some(Repeat::Forever),
        (_, Some(times)) if times > 0 => Some(Repeat::Times(times)),
        (_, Some(_) | None) => {
            found.wrong_kind(node, "`repeat`", "`forever` or a whole number from 1");
            None
        }
    }
}

fn decode_calls(
    entry: &Entry,
    servers: &[AgentServer],
    scope: &Scope,
    found: &mut Diagnostics<'_>,
) -> Option<Vec<ScriptCall>> {
    let nodes = found.one_or_many(&entry.value);
    if nodes.is_empty() {
        found.error_with_help("no-tool", entry.value.span, "`call` is empty", "name at least one tool");
        return None;
    }
    let calls: Vec<ScriptCall> =
        nodes.iter().filter_map(|node| decode_call(node, entry, servers, scope, found)).collect();
    (calls.len() == nodes.len()).then_some(calls)
}

fn decode_call(
    node: &Node,
    entry: &Entry,
    servers: &[AgentServer],
    scope: &Scope,
    found: &mut Diagnostics<'_>,
) -> Option<ScriptCall> {
    field::entries(node, "`call`", CALL, found)?;
    let is_misspelt = texts::is_misspelt(node.as_map().unwrap_or_default(), "tool", &field::keys(CALL));
    let tool = if is_misspelt { None } else { block::named(node, "tool", entry.key.span, found) };
    let args = match node.get("args").filter(|args| !args.is_null()) {
        Some(args) => {
            found.map(args, "`args`")?;
            args.clone()
        }
        None => Node::empty_map(node.span),
    };
    check(&args, scope, found);
    let server = match node.get("server").filter(|server| !server.is_null()) {
        Some(server) => {
            let name = found.text(server, "`server`")?;
            if !servers.is_empty() && servers.iter().all(|own| own.name != name) {
                let names = || servers.iter().map(|own| own.name.as_str());
                let help = match nearest(name, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("its `servers` are {}", names().collect::<Vec<_>>().join(", ")),
                };
                let message = format!("this agent is not given a server `{name}`");
                found.error_with_help("unknown-server", server.span, message, help);
                return None;
            }
            Some(name.to_owned())
        }
        None => None,
    };
    let claims = claims::decode(node, found);
    let tool = tool?;
    check(&tool, scope, found);
    Some(ScriptCall { server, tool, args, claims })
}

/// Reports references that will have no value: to results only the last ones and numbered ones exist.
fn check(node: &Node, scope: &Scope, found: &mut Diagnostics<'_>) {
    for (name, span) in unresolved(node, &scope.names()) {
        if speaks_of_results(&name) && !is_result(&name) {
            let message = format!("`{{{{{name}}}}}` does not lead to a result");
            let help =
                "write `{{last.text}}`, `{{last.json.PATH}}`, `{{results[N].text}}` or `{{results[N].json.PATH}}`";
            found.error_with_help("bad-reference", span, message, help);
        }
    }
    scope.check_beside(node, speaks_of_results, found);
}

fn speaks_of_results(name: &str) -> bool {
    matches!(name.split(['.', '[']).next(), Some("last" | "results"))
}

/// True if a reference has one of the known forms.
fn is_result(name: &str) -> bool {
    let part = match name.strip_prefix("results[") {
        Some(rest) => rest.split_once(']').filter(|(number, _)| number.parse::<usize>().is_ok()).map(|(_, rest)| rest),
        None => name.strip_prefix("last"),
    };
    let is_known =
        |part: &str| part == ".text" || part == ".json" || part.starts_with(".json.") || part.starts_with(".json[");
    part.is_some_and(is_known) && Target::parse(name).is_ok()
}
