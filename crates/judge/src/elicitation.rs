//! Scripted answers to `elicitation/create` against what the server asked for.

use mcprove_model::{AskedOfClient, ElicitationAction, ElicitationReply, Finding, shorten};
use serde_json::Value;

use crate::schema;

/// The finding about a preset that the server's own `requestedSchema` rejects, if it does.
///
/// Only what is sent is judged: declined and cancelled elicitations, and those that ask for a link to be opened, carry
/// no content.
pub fn rejects_preset(asked: &AskedOfClient, preset: &ElicitationReply) -> Option<Finding> {
    let is_form = asked.params.get("mode").and_then(Value::as_str) != Some("url");
    // Without content the form was filled in by its schema.
    let is_scripted = preset.action == ElicitationAction::Accept && !preset.content.is_null();
    if asked.method != "elicitation/create" || !is_scripted || !is_form {
        return None;
    }
    let mut finding = match schema::errors(asked.params.get("requestedSchema")?, &preset.content) {
        Ok(errors) if errors.is_empty() => return None,
        Ok(errors) => {
            let text = "the preset of `elicitation` is not what the server's `requestedSchema` asks for";
            let mut finding = Finding::warning("elicitation-preset", text);
            finding.expected = Some(errors.join("; "));
            finding.help("change `client_capabilities.elicitation`, or answer with `action: decline`")
        }
        Err(reason) => Finding::warning("elicitation-schema", format!("`requestedSchema` of the server: {reason}")),
    };
    finding.actual = Some(shorten(&preset.content.to_string(), 300).into_owned());
    Some(finding)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(params: Value) -> AskedOfClient {
        AskedOfClient { method: "elicitation/create".to_owned(), params }
    }

    fn preset(action: ElicitationAction, content: Value) -> ElicitationReply {
        ElicitationReply { action, content, url: true }
    }

    #[test]
    fn a_preset_that_does_not_fit_is_told() {
        let form = asked(json!({"message": "", "requestedSchema": {
            "type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]
        }}));
        assert_eq!(rejects_preset(&form, &preset(ElicitationAction::Accept, json!({"age": 3}))), None);
        assert_eq!(rejects_preset(&form, &preset(ElicitationAction::Decline, json!({}))), None);
        let finding = rejects_preset(&form, &preset(ElicitationAction::Accept, json!({"age": "3"}))).expect("wrong");
        assert_eq!(finding.rule, "elicitation-preset");
        assert!(finding.expected.expect("why").contains("(at /age)"));
        let link = asked(json!({"mode": "url", "url": "https://example.com", "message": ""}));
        assert_eq!(rejects_preset(&link, &preset(ElicitationAction::Accept, json!({}))), None);
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_the_fault_of_the_server() {
        let odd = asked(json!({"requestedSchema": {"type": "strnig"}}));
        let finding = rejects_preset(&odd, &preset(ElicitationAction::Accept, json!({}))).expect("unusable");
        assert_eq!(finding.rule, "elicitation-schema");
    }
}
