//! A required argument that is missing, one at a time.

use serde_json::Value;

use super::{Probe, ProbeRequest, Subject, properties};

pub(super) const PROBE: Probe = Probe {
    name: "missing_required",
    taxonomy: "FAULT-SCHEMA-MISSING-REQUIRED",
    paper: "arXiv:2603.05637",
    sends: "a call without a required argument",
    contract: "invalid params",
    may_accept: false,
    requests,
};

fn requests(subject: &Subject<'_>) -> Result<Vec<ProbeRequest>, String> {
    let required = subject.schema.get("required").and_then(Value::as_array);
    let names: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    if names.is_empty() {
        return Err("the tool has no `required` arguments".to_owned());
    }
    let without = |name: &str| {
        let mut arguments = subject.base.as_object().cloned().unwrap_or_default();
        arguments.shift_remove(name);
        let declared = properties(subject).find(|(known, _)| *known == name);
        let has_default = declared.is_some_and(|(_, property)| property.get("default").is_some());
        let what = if has_default {
            format!("`{name}`, which is required and has a default, is missing")
        } else {
            format!("the required `{name}` is missing")
        };
        ProbeRequest { tool: subject.tool.to_owned(), arguments: Value::Object(arguments), what, has_default }
    };
    Ok(names.into_iter().map(without).collect())
}
