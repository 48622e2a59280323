//! An argument far larger than any real use.

use serde_json::{Value, json};

use super::{Probe, ProbeRequest, properties, with};

pub(super) const PROBE: Probe = Probe {
    name: "oversized",
    taxonomy: "FAULT-INPUT-OVERSIZED",
    paper: "arXiv:2606.05339",
    sends: "a call with a huge text",
    contract: "an error or a result, never a hang",
    may_accept: true,
    requests: |subject| {
        let is_text = |property: &Value| match property.get("type") {
            Some(Value::String(kind)) => kind == "string",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
            Some(_) => false,
            None => property.get("enum").is_none(),
        };
        // A text that may be anything is asked first: others are rejected for what they say, not for their size.
        let is_free =
            |property: &Value| ["const", "enum", "format", "pattern"].iter().all(|key| property.get(key).is_none());
        let texts: Vec<_> = properties(subject).filter(|(_, property)| is_text(property)).collect();
        let Some((name, _)) = texts.iter().find(|(_, property)| is_free(property)).or(texts.first()) else {
            return Err("no argument of the tool takes a text".to_owned());
        };
        let what = format!("`{name}` has {} bytes", subject.oversized);
        let arguments = with(subject.base, name, json!("A".repeat(subject.oversized)));
        Ok(vec![ProbeRequest { tool: subject.tool.to_owned(), arguments, what, has_default: false }])
    },
};
