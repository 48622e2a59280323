//! Arguments that the user gives to begin with.

use std::collections::BTreeMap;
use std::path::Path;

use mcprove_model::{Node, SourceFile};
use mcprove_report::render_findings;
use mcprove_suite::load::bounded_read;
use mcprove_suite::yaml;
use serde_json::Value;

use crate::context::Context;
use crate::failure::Failure;

/// Reads arguments to begin with.
pub(crate) fn seed_arguments(path: &Path, context: &Context) -> Result<BTreeMap<String, Vec<Value>>, Failure> {
    let shown = path.display().to_string();
    let help = "write a map: `tool: {argument: value}`, or `tool: [{…}, {…}]`";
    let text = bounded_read::read_written(path)
        .map_err(|error| Failure::new(format!("`{shown}` could not be read: {error}"), "give an existing file"))?;
    let source = SourceFile::new(shown.as_str(), text.as_str());
    let (documents, findings) = yaml::parse(&source);
    if !findings.is_empty() {
        context.write_stderr(&render_findings(&findings, &context.style()));
        return Err(Failure::new(format!("`{shown}` cannot be read as YAML or JSON"), help));
    }
    let Some(Value::Object(map)) = documents.first().map(Node::to_json) else {
        return Err(Failure::new(format!("`{shown}` is not a map from tools to arguments"), help));
    };
    map.into_iter()
        .map(|(tool, value)| match value {
            Value::Array(many) if many.iter().all(Value::is_object) => Ok((tool, many)),
            Value::Object(_) => Ok((tool, vec![value])),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(Failure::new(format!("the arguments of `{tool}` in `{shown}` are not a map"), help))
            }
        })
        .collect()
}
