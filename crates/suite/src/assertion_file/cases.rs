//! `cases`: one test for each row of a table. `{{column}}` stands for the value of the row.

use std::collections::HashMap;

use mcprove_model::{Diagnostics, Entry, Key, Kind, Node};
use serde_json::{Value, json};

use crate::template::{Variables, substitute_text, substitute_with_keys, unresolved_with_keys};

const KEY: &str = "cases";

/// The column that names a row.
const NAME: &str = "name";

/// More rows than this are a mistake.
pub(crate) const MOST: usize = 100_000;
/// So are more columns.
pub(crate) const MOST_COLUMNS: usize = 1_000;

/// Memory for the tests that the tables of a file stand for: a row may use a long value often.
const ROOM: usize = 128 << 20;
/// Memory that a value takes besides its text.
const VALUE: usize = 64;

/// The room that is left for tests of tables in a file.
#[derive(Debug)]
pub(crate) struct Room(usize);

impl Room {
    pub(crate) fn new() -> Self {
        Self(ROOM)
    }
}

/// The tests of a table; a test without one is itself.
pub(crate) fn expand(test: Node, room: &mut Room, found: &mut Diagnostics<'_>) -> Vec<Node> {
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
    let uses = uses(&template);
    report_unused(&uses, rows, found);
    let own = memory_of(&template);
    let mut tests = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let Some(columns) = found.map(row, "a row of `cases`") else { continue };
        if columns.len() > MOST_COLUMNS {
            let message = format!("a row of `cases` has {} columns, more than {MOST_COLUMNS}", columns.len());
            found.error_with_help("too-large", row.span, message, "divide the table");
            return Vec::new();
        }
        let count = |column: &Entry| uses.get(column.key.text.as_str()).copied().unwrap_or_default();
        let size = columns.iter().map(|column| count(column).saturating_mul(memory_of(&column.value)));
        let size = size.fold(own, usize::saturating_add);
        let Some(left) = room.0.checked_sub(size) else {
            let message = format!("the tests of `cases` take more than {} MiB", ROOM >> 20);
            found.error_with_help(
                "too-large",
                row.span,
                message,
                "use shorter values, or divide the table and the file",
            );
            return Vec::new();
        };
        room.0 = left;
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

/// Number of uses of each column.
fn uses(template: &Node) -> HashMap<String, usize> {
    let mut uses = HashMap::new();
    for (name, _) in unresolved_with_keys(template, &[]) {
        *uses.entry(name).or_default() += 1;
    }
    uses
}

/// About how many bytes of memory a tree takes.
fn memory_of(node: &Node) -> usize {
    VALUE
        + match &node.kind {
            Kind::Scalar(scalar) => scalar.text.len(),
            Kind::List(items) => items.iter().map(memory_of).sum(),
            Kind::Map(entries) => {
                entries.iter().map(|entry| VALUE + entry.key.text.len() + memory_of(&entry.value)).sum()
            }
        }
}

/// A column that nothing uses is most likely misspelt where it is used.
fn report_unused(uses: &HashMap<String, usize>, rows: &[Node], found: &mut Diagnostics<'_>) {
    for column in rows.first().and_then(Node::as_map).unwrap_or_default() {
        let name = column.key.text.as_str();
        if name != NAME && !uses.contains_key(name) {
            let message = format!("the column `{name}` is not used");
            let help = format!("write `{{{{{name}}}}}` where its value goes, or remove it");
            found.warning("unused-key", column.key.span, message, Some(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::SourceFile;

    use super::*;
    use crate::yaml;

    fn expanded(text: &str, room: &mut Room) -> (usize, Vec<String>) {
        let source = SourceFile::new("t.yaml", text);
        let (mut documents, _) = yaml::parse(&source);
        let mut found = Diagnostics::new(&source);
        let tests = expand(documents.remove(0), room, &mut found);
        (tests.len(), found.into_findings().into_iter().map(|finding| finding.message).collect())
    }

    #[test]
    fn rows_that_stand_for_too_much_are_refused_before_they_are_made() {
        let table = |uses: usize, length: usize, rows: usize| {
            let row = format!("{{a: '{}'}}", "c".repeat(length));
            format!("name: t\nargs: {{x: '{}'}}\ncases: [{}]\n", "{{a}}".repeat(uses), vec![row; rows].join(","))
        };
        let fault = "the tests of `cases` take more than 128 MiB";
        // One row of 100 GB, and many rows that are small alone.
        assert_eq!(expanded(&table(100_000, 1_000_000, 1), &mut Room::new()), (0, vec![fault.to_owned()]));
        assert_eq!(expanded(&table(10_000, 1_000, 100), &mut Room::new()), (0, vec![fault.to_owned()]));
        // The tables of a file share the room.
        let (small, mut room) = (table(10_000, 1_000, 6), Room::new());
        assert_eq!(expanded(&small, &mut room), (6, Vec::new()));
        assert_eq!(expanded(&small, &mut room), (6, Vec::new()));
        assert_eq!(expanded(&small, &mut room), (0, vec![fault.to_owned()]));
        assert_eq!(expanded(&table(1, 10, 5_000), &mut Room::new()), (5_000, Vec::new()));
    }

    #[test]
    fn a_row_with_very_many_columns_is_refused() {
        let columns: Vec<String> = (0..1_001).map(|column| format!("c{column}: 1")).collect();
        let (count, findings) = expanded(&format!("name: t\ncases: [{{{}}}]\n", columns.join(", ")), &mut Room::new());
        assert_eq!(count, 0);
        assert!(findings.iter().any(|message| message == "a row of `cases` has 1001 columns, more than 1000"));
    }
}
