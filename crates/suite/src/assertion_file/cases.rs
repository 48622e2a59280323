//! `cases`: one test for each row of a table. `{{column}}` stands for the value of the row.

use mcprove_model::{Diagnostics, Entry, Key, Kind, Node};
use serde_json::{Value, json};

use crate::template::{Variables, substitute_text, substitute_with_keys, unresolved_with_keys};

const KEY: &str = "cases";

/// The column that names a row.
const NAME: &str = "name";

/// More rows than this are a mistake.
const MOST: usize = 100_000;

/// The tests of a table; a test without one is itself.
pub(crate) fn expand(test: Node, found: &mut Diagnostics<'_>) -> Vec<Node> {
    let Some(table) = test.get(KEY) else { return vec![test] };
    let rows = if table.is_null() { &[] } else { found.list(table, "`cases`") };
    if rows.is_empty() && (table.is_null() || table.as_list().is_some()) {
        let help = "write a row for each test, for example `- {a: 1, b: 2}`, or the path of a CSV or JSON file";
        found.error_with_help("nothing-asked", table.span, "`cases` has no rows", help);
    }
    if rows.len() > MOST {
        let message = format!("`cases` has {} rows, more than {MOST}", rows.len());
        found.error_with_help("too-large", table.span, message, "divide the table");
        return Vec::new();
    }
    let template = without(&test);
    report_unused(&template, rows, found);
    let mut tests = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let Some(columns) = found.map(row, "a row of `cases`") else { continue };
        let mut variables = Variables::new();
        for column in columns {
            variables.set(column.key.text.to_string(), column.value.to_json());
        }
        let mut filled = substitute_with_keys(&template, &variables);
        let label = match variables.get(NAME) {
            Some(Value::String(name)) => name.clone(),
            Some(other) => other.to_string(),
            None => (index + 1).to_string(),
        };
        name(&mut filled, &template, &label, &variables, found);
        // What is wrong with a row is shown where the row is.
        tests.push(filled);
    }
    tests
}

/// The JSON Schema of `cases`.
pub(crate) fn schema() -> Value {
    json!({
        "anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "object"}}],
        "description": "One test for each row of this table, or of the CSV or JSON file at this path; `{{column}}` stands \
                        for the row's value.",
    })
}

fn without(test: &Node) -> Node {
    let entries = test.as_map().unwrap_or_default().iter().filter(|entry| entry.key.text != KEY).cloned().collect();
    Node { span: test.span, kind: Kind::Map(entries) }
}

/// The name of a test with that of its row.
fn name(test: &mut Node, template: &Node, label: &str, variables: &Variables, found: &Diagnostics<'_>) {
    let written = template.get("name").and_then(Node::as_text);
    let text = match written {
        // A name with a column in it says already which row it is of.
        Some(name) if substitute_text(name, variables) != name => substitute_text(name, variables),
        Some(name) => format!("{name} [{label}]"),
        None => {
            let path = found.source().path();
            let file = path.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or(path);
            format!("{file} [{label}]")
        }
    };
    let Kind::Map(entries) = &mut test.kind else { return };
    if let Some(entry) = entries.iter_mut().find(|entry| entry.key.text == "name") {
        entry.value = Node::text_at(entry.value.span, text);
    } else {
        let span = entries.first().map_or(test.span, |entry| entry.key.span);
        entries.insert(0, Entry { key: Key { text: "name".into(), span }, value: Node::text_at(span, text) });
    }
}

/// A column that nothing uses is most likely misspelt where it is used.
fn report_unused(template: &Node, rows: &[Node], found: &mut Diagnostics<'_>) {
    let used: Vec<String> = unresolved_with_keys(template, &[]).into_iter().map(|(name, _)| name).collect();
    for column in rows.first().and_then(Node::as_map).unwrap_or_default() {
        let name = column.key.text.as_str();
        if name != NAME && !used.iter().any(|used| used == name) {
            let message = format!("the column `{name}` is not used");
            let help = format!("write `{{{{{name}}}}}` where its value goes, or remove it");
            found.warning("unused-key", column.key.span, message, Some(help));
        }
    }
}
