//! `redact`: texts that no output may show.

use mcprove_model::{Diagnostics, Node, Redactor};
use serde_json::{Value, json};

/// The texts under `redact`: one, or a list.
pub(crate) fn decode(redact: &Node, found: &mut Diagnostics<'_>) -> Vec<String> {
    if redact.is_null() {
        return Vec::new();
    }
    let mut texts = Vec::new();
    for item in found.one_or_many(redact) {
        let Some(text) = found.text(item, "an item of `redact`") else { continue };
        if !text.is_empty() && text.chars().count() < Redactor::SHORTEST {
            let message = format!("a text of fewer than {} characters is not masked", Redactor::SHORTEST);
            let help = "a short text would mangle ordinary words; redact a longer one".to_owned();
            found.warning("not-redacted", item.span, message, Some(help));
        }
        texts.push(text.to_owned());
    }
    texts
}

/// The JSON Schema of `redact`.
pub(crate) fn schema() -> Value {
    let text = json!({"type": ["string", "number", "boolean"]});
    json!({
        "anyOf": [text, {"type": "array", "items": text}, {"type": "null"}],
        "description": "Texts of at least six characters that no output may show; `${NAME}` is a variable of the environment.",
    })
}
