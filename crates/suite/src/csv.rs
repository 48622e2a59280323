//! Comma-separated values (RFC 4180): a row of names, then rows of values.

use serde_json::{Map, Value};

use crate::assertion_file::cases::{MOST, MOST_COLUMNS};

/// Maximum number of values of a table.
const MOST_VALUES: usize = 1_000_000;

/// The rows of a table, each with the names of its columns. The error is one lowercase fragment with the line.
pub(crate) fn parse(text: &str) -> Result<Vec<Value>, String> {
    let mut records = records(text.trim_start_matches('\u{feff}'))?.into_iter();
    let Some((_, names)) = records.next() else { return Err("it is empty".to_owned()) };
    if names.len() > MOST_COLUMNS {
        return Err(format!("it has {} columns, more than {MOST_COLUMNS}", names.len()));
    }
    let mut rows = Vec::new();
    for (line, cells) in records {
        if cells.len() != names.len() {
            return Err(format!("line {line} has {} values for {} columns", cells.len(), names.len()));
        }
        let row: Map<String, Value> =
            names.iter().zip(cells).map(|(name, cell)| (name.text.trim().to_owned(), cell.value())).collect();
        rows.push(Value::Object(row));
    }
    Ok(rows)
}

struct Cell {
    text: String,
    is_quoted: bool,
}

impl Cell {
    /// A number, true or false as such; whatever is quoted is a text.
    fn value(self) -> Value {
        let is_plain = !self.is_quoted && self.text.trim() == self.text;
        match serde_json::from_str(&self.text) {
            Ok(value @ (Value::Number(_) | Value::Bool(_))) if is_plain => value,
            Ok(_) | Err(_) => Value::String(self.text),
        }
    }
}

/// Every record with the line it begins in; blank lines are left out.
fn records(text: &str) -> Result<Vec<(usize, Vec<Cell>)>, String> {
    let mut records = Vec::new();
    let mut cells = Vec::new();
    let mut values = 0;
    let mut rest = text;
    let (mut line, mut began) = (1, 1);
    while !rest.is_empty() {
        let (cell, after) = if let Some(quoted) = rest.strip_prefix('"') {
            quoted_cell(quoted).ok_or_else(|| format!("the quote in line {line} is never closed"))?
        } else {
            let end = rest.find([',', '\n', '\r']).unwrap_or(rest.len());
            (Cell { text: rest[..end].to_owned(), is_quoted: false }, &rest[end..])
        };
        line += cell.text.matches('\n').count();
        cells.push(cell);
        if let Some(next) = after.strip_prefix(',') {
            rest = next;
            if rest.is_empty() {
                cells.push(Cell { text: String::new(), is_quoted: false });
            }
            continue;
        }
        let next = after.strip_prefix("\r\n").or_else(|| after.strip_prefix(['\n', '\r']));
        let Some(next) = next.or(Some(after).filter(|after| after.is_empty())) else {
            return Err(format!("line {line} goes on after a closing quote"));
        };
        rest = next;
        line += 1;
        let is_blank = matches!(&cells[..], [Cell { text, is_quoted: false }] if text.trim().is_empty());
        let record = std::mem::take(&mut cells);
        values += record.len();
        if records.len() > MOST || values > MOST_VALUES {
            return Err(format!("it has more than {MOST} rows or {MOST_VALUES} values"));
        }
        if !is_blank {
            records.push((began, record));
        }
        began = line;
    }
    if !cells.is_empty() {
        records.push((began, cells));
    }
    Ok(records)
}

/// The cell whose opening quote was read, and what follows its closing one.
fn quoted_cell(text: &str) -> Option<(Cell, &str)> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let quote = rest.find('"')?;
        value.push_str(&rest[..quote]);
        rest = &rest[quote + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                value.push('"');
                rest = after;
            }
            None => return Some((Cell { text: value, is_quoted: true }, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_are_read() {
        let text = "\u{feff}name, n,text\r\nplain,1,\"a, \"\"b\"\"\nc\"\r\n\r\nlast,-2.5,\n";
        let expected =
            [json!({"name": "plain", "n": 1, "text": "a, \"b\"\nc"}), json!({"name": "last", "n": -2.5, "text": ""})];
        assert_eq!(parse(text).expect("a table"), expected);
        assert_eq!(parse("a\n\"1\"").expect("a table"), [json!({"a": "1"})]);
        assert_eq!(parse("a,b\n1,").expect("a table"), [json!({"a": 1, "b": ""})]);
    }

    #[test]
    fn mistakes_name_their_line() {
        assert_eq!(parse("").expect_err("empty"), "it is empty");
        assert_eq!(parse("a,b\n1").expect_err("short"), "line 2 has 1 values for 2 columns");
        assert_eq!(parse("a\n\n\"x").expect_err("open"), "the quote in line 3 is never closed");
        assert_eq!(parse("a\n\"x\"y").expect_err("rest"), "line 2 goes on after a closing quote");
        let wide = format!("{}\n", ["c"; 1_001].join(","));
        assert_eq!(parse(&wide).expect_err("wide"), "it has 1001 columns, more than 1000");
        let long = format!("a\n{}", "1\n".repeat(MOST + 1));
        assert!(parse(&long).expect_err("long").starts_with("it has more than 100000 rows"));
    }
}
