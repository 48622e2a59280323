//! An argument that the schema does not know.

use serde_json::{Value, json};

use super::{Probe, ProbeRequest, with};

const UNEXPECTED: &str = "__mcprove_unexpected__";

pub(super) const PROBE: Probe = Probe {
    name: "extra_field",
    taxonomy: "FAULT-SCHEMA-UNEXPECTED-FIELD",
    paper: "arXiv:2603.05637",
    sends: "a call with an argument that is not declared",
    contract: "a rejection when `additionalProperties` is false",
    may_accept: false,
    requests: |subject| {
        if subject.schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Err("the schema does not say `additionalProperties: false`, so more arguments are legal".to_owned());
        }
        let arguments = with(subject.base, UNEXPECTED, json!(true));
        Ok(vec![ProbeRequest {
            tool: subject.tool.to_owned(),
            arguments,
            what: format!("`{UNEXPECTED}` is not declared"),
            has_default: false,
        }])
    },
};
