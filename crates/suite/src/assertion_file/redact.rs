//! `redact`: texts that no output may show.

use mcprove_model::{Diagnostics, Node, Redactor, Span};
use serde_json::{Value, json};

use crate::environment::{Environment, Forms, Unset, expand_reporting};

/// The texts under `redact`: one, or a list. References to variables are replaced.
pub(crate) fn decode(
    document: &Node,
    environment: &Environment<'_>,
    unset: Unset,
    found: &mut Diagnostics<'_>,
) -> Vec<String> {
    let expand = |text: &str, span, found: &mut Diagnostics<'_>| {
        expand_reporting((text, Forms::All), span, (environment, unset), found).text
    };
    decode_with(document, expand, found)
}

/// The texts under `redact` as `read` reads each.
pub(crate) fn decode_with(
    document: &Node,
    read: impl Fn(&str, Span, &mut Diagnostics<'_>) -> String,
    found: &mut Diagnostics<'_>,
) -> Vec<String> {
    let Some(redact) = document.get("redact").filter(|redact| !redact.is_null()) else { return Vec::new() };
    let mut texts = Vec::new();
    for item in found.one_or_many(redact) {
        let Some(text) = found.text(item, "an item of `redact`") else { continue };
        let text = read(text, item.span, found);
        if !text.is_empty() && text.chars().count() < Redactor::SHORTEST {
            let message = format!("a text of fewer than {} characters is not masked", Redactor::SHORTEST);
            let help = "a short text would mangle ordinary words; redact a longer one".to_owned();
            found.warning("not-redacted", item.span, message, Some(help));
        }
        texts.push(text);
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
