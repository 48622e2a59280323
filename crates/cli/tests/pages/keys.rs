//! `docs/keys.md`: every key of both kinds of files, from their JSON Schemas.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value};

use super::cell;

/// Keys below these are checks, matchers or data; they are described elsewhere.
const TOLD_ELSEWHERE: &[&str] = &["expect", "expect_sampling", "matcher", "trajectory"];

/// Steps are the same everywhere; in a suite file they are not repeated for each list of tests.
const TOLD_ONCE: &[&str] = &["setup", "teardown", "verify"];

/// How deep keys are followed.
const DEEPEST: usize = 8;

pub(crate) fn page() -> String {
    let mut page = "# Every key\n\n".to_owned();
    page.push_str(&super::made_from("schema/assertion.json and schema/suite.json, which are made from the decoders"));
    page.push_str(
        "\nWhat may be written in the two kinds of files. An editor that knows JSON Schema completes and checks them: put \
         `# yaml-language-server: $schema=https://raw.githubusercontent.com/mcprove/mcprove/main/schema/suite.json` (or \
         `assertion.json`) at the top. The keys of `expect` are in [Checks and matchers](checks.md); `[]` means \
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
    if path.len() > DEEPEST {
        return;
    }
    let choices = choices(whole, schema);
    let mut seen: Vec<&str> = Vec::new();
    for (key, below) in choices.iter().filter_map(|choice| choice.get("properties")?.as_object()).flatten() {
        if seen.contains(&key.as_str()) {
            continue;
        }
        seen.push(key);
        path.push(key.clone());
        let said = below.get("description").or_else(|| resolved(whole, below).get("description"));
        let said = said.and_then(Value::as_str).unwrap_or_default();
        let _ = writeln!(page, "| `{}` | {} |", path.join("."), cell(said));
        let again = path.len() > 1 && TOLD_ONCE.contains(&key.as_str());
        if !again && !TOLD_ELSEWHERE.contains(&key.as_str()) {
            rows(page, whole, below, path);
        }
        path.pop();
    }
    for choice in &choices {
        if let Some(items) = choice.get("items") {
            within(page, whole, items, path, "[]");
        }
        if let Some(others) = choice.get("additionalProperties").filter(|others| others.is_object()) {
            within(page, whole, others, path, ".*");
        }
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

/// A schema and the alternatives it names, with references followed.
fn choices<'s>(whole: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let schema = resolved(whole, schema);
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|word| schema.get(word)?.as_array()).flatten();
    std::iter::once(schema).chain(alternatives.flat_map(|choice| choices(whole, choice))).collect()
}

/// The keys of a schema that the page has no row for; those that other pages list are left out.
pub(crate) fn missing(page: &str) -> Vec<String> {
    let mut missing = Vec::new();
    for file in ["assertion.json", "suite.json"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(file);
        let mut schema: Value =
            serde_json::from_str(&std::fs::read_to_string(path).expect("the schema")).expect("JSON");
        if let Some(definitions) = schema["$defs"].as_object_mut() {
            definitions
                .retain(|name, _| !name.starts_with("expect") && !["assertion", "matcher"].contains(&name.as_str()));
        }
        collect(&schema, page, &mut missing);
    }
    missing.sort();
    missing.dedup();
    missing
}

fn collect(schema: &Value, page: &str, missing: &mut Vec<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| collect(item, page, missing)),
        Value::Object(map) => {
            for key in map.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
                if !page.contains(&format!("`{key}` |")) && !page.contains(&format!(".{key}` |")) {
                    missing.push(key.clone());
                }
            }
            for (key, below) in map {
                // Data that a file may hold as it likes is not followed, nor what other pages list.
                if key == "properties" {
                    let below = below.as_object().into_iter().flatten();
                    let own = below.filter(|(key, _)| !TOLD_ELSEWHERE.contains(&key.as_str()));
                    own.for_each(|(_, below)| collect(below, page, missing));
                } else {
                    collect(below, page, missing);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn resolved<'s>(whole: &'s Value, schema: &'s Value) -> &'s Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    target.and_then(|pointer| whole.pointer(pointer)).unwrap_or(schema)
}
