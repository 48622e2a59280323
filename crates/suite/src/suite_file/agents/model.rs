//! `model` of an agent: a script, or a language model at a provider.

use mcprove_model::{AgentModel, AgentServer, Diagnostics, NamedModel, Node};
use serde_json::{Value, json};

use super::script;
use crate::assertion_file::block::{self, Input};
use crate::field::{self, Field};
use crate::schema::fragment;
use crate::suite_file::{Suite, providers};

const MODEL: &[Field] = &[
    Field::required("id", || fragment::text("The model.")),
    Field::optional("provider", || fragment::text("One of `providers`.")),
];

/// The word for a model that is a script.
const SCRIPT: &str = "script";

/// Decodes who decides what an agent does.
pub(super) fn decode(
    input: &Input<'_>,
    servers: &[AgentServer],
    suite: &Suite<'_>,
    found: &mut Diagnostics<'_>,
) -> Option<AgentModel> {
    let test = input.node;
    let model = chosen(input, found);
    let steps = test.as_map()?.iter().find(|entry| entry.key.text == SCRIPT && !entry.value.is_null());
    // Mistakes in a script are reported even if another model is used.
    let script = steps.map(|entry| script::decode(&entry.value, servers, input.scope, found));
    let model = model?;
    if model.as_text() == Some(SCRIPT) {
        if script.is_none() && !input.is_misspelt(SCRIPT) {
            let help = "add `script:`, a list of `call:` and `say:`";
            found.error_with_help("missing-key", model.span, "the model is a script, and there is none", help);
        }
        return script?.map(AgentModel::Script);
    }
    if let Some(entry) = steps {
        let message = format!("`script` means nothing to the model `{}`", model.as_text().unwrap_or("named here"));
        found.error_with_help("wrong-key", entry.key.span, message, "write `model: script`, or remove it");
        return None;
    }
    let (id, provider) = if model.as_map().is_some() {
        found.known_keys(&model, "`model`", &field::keys(MODEL));
        let id = block::named(&model, "id", model.span, found)?;
        (id, model.get("provider").cloned())
    } else {
        found.text(&model, "`model`")?;
        (model, None)
    };
    let name = id.as_text()?.to_owned();
    let before = found.error_count();
    let provider = providers::of_model(&name, provider.as_ref(), id.span, suite.providers, found);
    if provider.is_none() && found.error_count() > before {
        return None;
    }
    Some(AgentModel::Named(NamedModel { id: name, provider }))
}

/// The JSON Schema of a model.
pub(super) fn schema() -> Value {
    let map = field::map("A model at a provider.", MODEL);
    json!({
        "anyOf": [fragment::text("`script`, or the name of a model."), map],
        "description": "The model: `script` for the steps under `script`, or a language model.",
    })
}

/// The model under `model`, or the only one under `models`: several were made several tests.
fn chosen(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Node> {
    let test = input.node;
    let one = test.get("model").filter(|model| !model.is_null());
    let many = test.get("models").filter(|models| !models.is_null());
    match (one, many) {
        (Some(model), None) => Some(model.clone()),
        (Some(_), Some(models)) => {
            found.error_with_help(
                "wrong-key",
                models.span,
                "`models` and `model` are mutually exclusive",
                "keep one of the two",
            );
            None
        }
        (None, Some(models)) => {
            let items = found.list(models, "`models`");
            if items.is_empty() && models.as_list().is_some() {
                found.error_with_help("missing-key", models.span, "`models` is empty", "name at least one model");
            }
            items.first().cloned()
        }
        (None, None) => {
            if !["model", "models"].iter().any(|key| input.is_misspelt(key)) {
                let help = "add `model:`; `model: script` needs no key and no network";
                found.error_with_help("missing-key", input.place, "this agent has no `model`", help);
            }
            None
        }
    }
}
