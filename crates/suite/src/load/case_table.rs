//! Reads the tables that `cases` names: CSV or JSON files in the folder of the suite.

use std::path::{Component, Path};

use mcprove_model::{Diagnostics, Kind, Node, bounded_json};
use serde_json::Value;

use super::bounded_read;
use crate::assertion_file::cases::MOST;
use crate::{csv, suite_file};

/// Puts the rows of a file in the place of its path, for the tests of every list of a suite file.
pub(super) fn read_lists(document: &mut Node, folder: &Path, found: &mut Diagnostics<'_>) {
    let Kind::Map(entries) = &mut document.kind else { return };
    for entry in entries.iter_mut().filter(|entry| suite_file::is_list(&entry.key.text)) {
        if let Kind::List(tests) = &mut entry.value.kind {
            for test in tests {
                read(test, folder, found);
            }
        }
    }
}

/// Puts the rows of a file in the place of its path, for one test.
pub(super) fn read(test: &mut Node, folder: &Path, found: &mut Diagnostics<'_>) {
    let Kind::Map(entries) = &mut test.kind else { return };
    let Some(entry) = entries.iter_mut().find(|entry| entry.key.text == "cases") else { return };
    let Some(name) = entry.value.as_text().filter(|_| !entry.value.is_null()).map(str::to_owned) else { return };
    let span = entry.value.span;
    match rows(&name, folder) {
        Ok(rows) => entry.value = Node::from_json(span, Value::Array(rows)),
        Err(why) => {
            let help = "`cases` names a CSV or JSON file, relative to the file it is written in";
            found.error_with_help("bad-table", span, format!("`{name}` cannot be read: {why}"), help);
            entry.value = Node::from_json(span, Value::Array(vec![Value::Object(serde_json::Map::new())]));
        }
    }
}

/// The content of a file is never quoted: it may be anything.
fn rows(name: &str, folder: &Path) -> Result<Vec<Value>, String> {
    let path = folder.join(name);
    let climbs = Path::new(name).components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    let is_inside = match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        // What is not there is reported as such.
        _ => true,
    };
    if climbs || !is_inside {
        return Err("it is outside the folder of the suite".to_owned());
    }
    let text = bounded_read::read_to_string(&path).map_err(|error| error.to_string())?;
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        return csv::parse(&text);
    }
    match bounded_json::value(&text) {
        Ok(Value::Array(rows)) if rows.len() > MOST => Err(format!("it has {} rows, more than {MOST}", rows.len())),
        Ok(Value::Array(rows)) => Ok(rows),
        Ok(_) => Err("it is not a list of rows".to_owned()),
        Err(error) => Err(format!("line {}, column {} is not JSON", error.line(), error.column())),
    }
}
