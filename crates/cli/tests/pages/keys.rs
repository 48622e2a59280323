//! `docs/keys.md`: every key of both kinds of files, from their JSON Schemas.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value};

use super::cell;

/// Keys below these are checks, matchers or data; they are told elsewhere.
const TOLD_ELSEWHERE: &[&str] = &["expect", "expect_sampling", "matcher", "trajectory"];

/// Steps are the same wherever they stand; in a suite file they are not told again for each list of tests.
const TOLD_ONCE: &[&str] = &["setup", "teardown", "verify"];

/// How deep keys are followed.
const DEEPEST: usize = 4;

pub(crate) fn page() -> String {
    let mut page = "# Every key\n\n".to_owned();
    page.push_str(&super::made_from("schema/assertion.json and schema/suite.json, which are made from the decoders"));
    page.push_str(
        "\nWhat may be written in the two kinds of files. An editor that knows JSON Schema completes and checks them: put \
         `# yaml-language-server: $schema=https://raw.githubusercontent.com/mcprove/mcprove/main/schema/suite.json` (or \
         `assertion.json`) at the top. What may stand under `expect` is in [Checks and matchers](checks.md); `[]` means \
         each item of a list, `*` any name.\n",
    );
    for (title, file) in [("Assertion files", "assertion.json"), ("Suite files", "suite.json")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(file);
        let text = std::fs::read_to_string(&path).expect("the schema");
        let schema: Value = serde_json::from_str(&text).expect("JSON");
        let _ = write!(page, "\n## {title}\n\n| key | what it is |\n|---|---|\n");
        rows(&mut page, &schema, &schema, &mut Vec::new());
    }
    page
}

fn rows(page: &mut String, whole: &Value, schema: &Value, path: &mut Vec<String>) {
    let schema = resolved(whole, schema);
    if path.len() > DEEPEST {
        return;
    }
    for (key, below) in properties(whole, schema) {
        path.push(key.clone());
        let said = below.get("description").or_else(|| resolved(whole, below).get("description"));
        if let Some(said) = said.and_then(Value::as_str) {
            let _ = writeln!(page, "| `{}` | {} |", path.join("."), cell(said));
        }
        let again = path.len() > 1 && TOLD_ONCE.contains(&key.as_str());
        if !again && !TOLD_ELSEWHERE.contains(&key.as_str()) {
            rows(page, whole, below, path);
        }
        path.pop();
    }
    if let Some(items) = schema.get("items") {
        within(page, whole, items, path, "[]");
    }
    if let Some(others) = schema.get("additionalProperties").filter(|others| others.is_object()) {
        within(page, whole, others, path, ".*");
    }
}

/// What is below every item of a list, or every entry of a map.
fn within(page: &mut String, whole: &Value, schema: &Value, path: &mut Vec<String>, mark: &str) {
    let Some(last) = path.last_mut() else { return };
    last.push_str(mark);
    rows(page, whole, schema, path);
    if let Some(last) = path.last_mut() {
        last.truncate(last.len() - mark.len());
    }
}

/// The properties of a schema, and of the alternatives it names.
fn properties<'s>(whole: &'s Value, schema: &'s Value) -> Vec<(String, &'s Value)> {
    let own = schema.get("properties").and_then(Value::as_object);
    let mut all: Vec<(String, &Value)> = own.into_iter().flatten().map(|(key, below)| (key.clone(), below)).collect();
    for word in ["anyOf", "oneOf"] {
        for choice in schema.get(word).and_then(Value::as_array).into_iter().flatten() {
            let choice = resolved(whole, choice);
            let theirs: Option<&Map<String, Value>> = choice.get("properties").and_then(Value::as_object);
            for (key, below) in theirs.into_iter().flatten() {
                if !all.iter().any(|(known, _)| known == key) {
                    all.push((key.clone(), below));
                }
            }
        }
    }
    all
}

fn resolved<'s>(whole: &'s Value, schema: &'s Value) -> &'s Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    target.and_then(|pointer| whole.pointer(pointer)).unwrap_or(schema)
}
