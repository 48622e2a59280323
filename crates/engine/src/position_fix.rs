//! Fix mode: when a case that speaks of a position fails, the positions around it are tried.

use std::sync::Arc;

use mcprove_model::{Act, CallTool, Case, Edit, Entry, Finding, Fix, Kind, Meaning, Node, Scalar, ScalarStyle, Span};

/// Words that name a position.
const POSITIONS: &[&str] = &["line", "column", "col", "offset", "row", "character", "char", "position", "pos"];
/// Distances tried around a position, nearest first.
const DISTANCES: &[i64] = &[1, -1, 2, -2, 3, -3];
/// Maximum number of variants tried per case.
const ATTEMPTS: usize = 60;

/// A case with other positions, and the edit that makes it so.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) case: Arc<Case>,
    edits: Vec<Edit>,
    title: String,
}

/// The variants of a case, nearest first: one position moved, then two.
pub(crate) fn variants(case: &Case) -> Vec<Variant> {
    let Act::CallTool(call) = &case.act else { return Vec::new() };
    let mut positions = Vec::new();
    collect(&call.args, &mut positions);
    let mut moves: Vec<Vec<(usize, i64)>> = Vec::new();
    for distance in DISTANCES {
        moves.extend((0..positions.len()).map(|at| vec![(at, *distance)]));
    }
    for (first, second) in pairs(positions.len()) {
        for one in &DISTANCES[..4] {
            moves.extend(DISTANCES[..4].iter().map(|other| vec![(first, *one), (second, *other)]));
        }
    }
    moves.into_iter().filter_map(|moved| variant(case, call, &positions, &moved)).take(ATTEMPTS).collect()
}

impl Variant {
    /// The finding that suggests this variant.
    pub(crate) fn suggestion(self, case: &Case) -> Finding {
        let span = Span { start: self.edits[0].start, end: self.edits[0].end };
        let mut finding = Finding::warning("nearby-position", format!("the case passes with {}", self.title))
            .at(case.source.place(span))
            .help("`--fix --write` makes the change");
        finding.fix = Some(Fix { title: format!("use {}", self.title), edits: self.edits });
        finding
    }
}

/// A number that names a position.
struct Position {
    name: String,
    span: Span,
    value: i64,
}

fn collect(node: &Node, found: &mut Vec<Position>) {
    match &node.kind {
        Kind::Map(entries) => {
            for Entry { key, value } in entries {
                match value.as_number().and_then(serde_json::Number::as_i64) {
                    Some(number) if is_position(&key.text) => {
                        found.push(Position { name: key.text.to_string(), span: value.span, value: number });
                    }
                    Some(_) | None => collect(value, found),
                }
            }
        }
        Kind::List(items) => items.iter().for_each(|item| collect(item, found)),
        Kind::Scalar(_) => {}
    }
}

fn is_position(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower
        .split(['_', '-', '.'])
        .any(|word| POSITIONS.contains(&word.trim_start_matches("start").trim_start_matches("end")))
        || POSITIONS.iter().any(|word| lower.ends_with(word) && word.len() > 3)
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| (first, second)))
}

fn variant(case: &Case, call: &CallTool, positions: &[Position], moved: &[(usize, i64)]) -> Option<Variant> {
    let mut args = call.args.clone();
    let mut edits = Vec::new();
    let mut words = Vec::new();
    for (at, distance) in moved {
        let position = &positions[*at];
        let value = position.value.checked_add(*distance).filter(|value| *value >= 0)?;
        replace(&mut args, position.span, value);
        edits.push(Edit { start: position.span.start, end: position.span.end, text: value.to_string() });
        words.push(format!("`{}: {value}`", position.name));
    }
    edits.sort_by_key(|edit| edit.start);
    let mut case = case.clone();
    case.act = Act::CallTool(CallTool { args, ..call.clone() });
    Some(Variant { case: Arc::new(case), edits, title: words.join(" and ") })
}

fn replace(node: &mut Node, span: Span, value: i64) {
    match &mut node.kind {
        Kind::Map(entries) => entries.iter_mut().for_each(|entry| replace(&mut entry.value, span, value)),
        Kind::List(items) => items.iter_mut().for_each(|item| replace(item, span, value)),
        Kind::Scalar(scalar) if node.span == span => {
            *scalar = Scalar {
                text: value.to_string().into(),
                style: ScalarStyle::Plain,
                meaning: Meaning::Number(value.into()),
            };
        }
        Kind::Scalar(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_known_by_their_names() {
        for name in ["line", "start_line", "column", "startColumn", "char_offset", "row"] {
            assert!(is_position(name), "{name}");
        }
        for name in ["timeline_id", "count", "limit", "columns_of"] {
            assert!(!is_position(name), "{name}");
        }
    }
}
