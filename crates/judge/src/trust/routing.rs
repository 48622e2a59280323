//! Evidence that a text went through a sanitizer before it reached a server.

use std::collections::BTreeSet;

use serde_json::Value;

use super::needles::Needles;
use super::outputs::{Output, outputs};
use super::parts::Want;

/// Treatment of a carried piece by the required sanitizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Routing {
    /// None of them was called and answered in between.
    NotCalled,
    /// One was called in between, on something else.
    OtherInput,
    /// One was handed the piece, and its output does not hold what was sent on.
    NotItsOutput,
    /// One was handed the piece, and what was sent on is in its output.
    Routed,
}

/// A call of a required sanitizer.
#[derive(Debug)]
pub(super) struct Sanitizing<'t> {
    /// Position of its call in the trace.
    pub(super) asked: usize,
    /// Position of its answer in the trace.
    pub(super) answered: Option<usize>,
    /// The texts of its arguments.
    pub(super) texts: Vec<&'t str>,
    /// The objects of its arguments.
    pub(super) objects: Vec<u64>,
    /// Its result.
    pub(super) result: Option<&'t Value>,
}

/// A piece that was carried from one server to another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Object(u64),
}

/// A piece with the moments between which it must have been sanitized.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'t> {
    pub(super) piece: Piece<'t>,
    /// The text of the arguments that a piece of text is in.
    pub(super) within: &'t str,
    pub(super) said: usize,
    pub(super) told: usize,
}

/// A sanitizer that saw a piece, and on which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sight {
    sanitizing: usize,
    side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Input,
    Output,
}

/// Determines the treatment of each piece.
pub(super) fn routings(sanitizings: &[Sanitizing<'_>], questions: &[Question<'_>]) -> Vec<Routing> {
    if sanitizings.is_empty() || questions.is_empty() {
        return vec![Routing::NotCalled; questions.len()];
    }
    let texts = questions.iter().filter_map(|question| match question.piece {
        Piece::Text(text) => Some(text),
        Piece::Object(_) => None,
    });
    let least = texts.clone().map(|text| text.chars().take(16).count()).min().unwrap_or(1).max(1);
    let mut needles = Needles::new(least);
    texts.filter(|text| !text.is_empty()).for_each(|text| {
        needles.add(text);
    });
    let (text_sights, object_sights) = sights(sanitizings, &needles);
    let judged = questions.iter().map(|question| {
        let seen: Vec<Sight> = match question.piece {
            Piece::Text(text) => needles.id(text).map_or_else(Vec::new, |id| text_sights[id].iter().copied().collect()),
            Piece::Object(hash) => object_sights.range((hash, FIRST)..=(hash, LAST)).map(|(_, sight)| *sight).collect(),
        };
        judge(sanitizings, *question, &seen)
    });
    judged.collect()
}

const FIRST: Sight = Sight { sanitizing: 0, side: Side::Input };
const LAST: Sight = Sight { sanitizing: usize::MAX, side: Side::Output };

/// The needles that each sanitizer saw, by number, and the objects.
fn sights(sanitizings: &[Sanitizing<'_>], needles: &Needles) -> (Vec<BTreeSet<Sight>>, BTreeSet<(u64, Sight)>) {
    let mut texts = vec![BTreeSet::new(); needles.count()];
    let mut objects = BTreeSet::new();
    for (sanitizing, call) in sanitizings.iter().enumerate() {
        let input = Sight { sanitizing, side: Side::Input };
        let output = Sight { sanitizing, side: Side::Output };
        for text in &call.texts {
            needles.find(text, |id, _| {
                texts[id].insert(input);
            });
        }
        objects.extend(call.objects.iter().map(|hash| (*hash, input)));
        for result in call.result.into_iter().filter(|result| !failed(result)) {
            outputs(result, Want::TextsAndObjects, &mut |said| match said {
                Output::Text(part) => needles.find(part.text, |id, _| {
                    texts[id].insert(output);
                }),
                Output::Object(hash) => {
                    objects.insert((hash, output));
                }
            });
        }
    }
    (texts, objects)
}

/// A sanitizer that failed did not sanitize; its message may well repeat what it was handed.
fn failed(result: &Value) -> bool {
    result.get("isError") == Some(&Value::Bool(true))
}

fn judge(sanitizings: &[Sanitizing<'_>], question: Question<'_>, seen: &[Sight]) -> Routing {
    let between = |call: &Sanitizing<'_>| {
        call.asked > question.said && call.answered.is_some_and(|answered| answered < question.told)
    };
    let mut best = if sanitizings.iter().any(between) { Routing::OtherInput } else { Routing::NotCalled };
    for input in seen.iter().filter(|sight| sight.side == Side::Input && between(&sanitizings[sight.sanitizing])) {
        let output = Sight { side: Side::Output, ..*input };
        let is_routed = seen.binary_search(&output).is_ok() && !is_sent_raw(&sanitizings[input.sanitizing], question);
        best = best.max(if is_routed { Routing::Routed } else { Routing::NotItsOutput });
    }
    best
}

/// True if exactly what a sanitizer was handed was sent on, and not what it made of it, though that holds it too.
fn is_sent_raw(call: &Sanitizing<'_>, question: Question<'_>) -> bool {
    let Piece::Text(piece) = question.piece else { return false };
    let piece = piece.trim();
    if !call.texts.iter().any(|text| text.trim() == piece) {
        return false;
    }
    let mut is_made = false;
    if let Some(result) = call.result {
        outputs(result, Want::TextsAndObjects, &mut |said| {
            if let Output::Text(part) = said {
                is_made |= part.text.contains(piece) && question.within.contains(part.text.trim());
            }
        });
    }
    !is_made
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn routing(input: &str, result: &Value, piece: &str) -> Routing {
        let call =
            Sanitizing { asked: 3, answered: Some(4), texts: vec![input], objects: Vec::new(), result: Some(result) };
        let question = Question { piece: Piece::Text(piece), within: piece, said: 1, told: 5 };
        routings(&[call], &[question])[0]
    }

    #[test]
    fn what_the_sanitizer_was_handed_is_raw_even_where_its_output_repeats_it() {
        let result = json!({"content": [{"type": "text", "text": "clean: raw page text"}]});
        let call = Sanitizing {
            asked: 3,
            answered: Some(4),
            texts: vec!["raw page text"],
            objects: Vec::new(),
            result: Some(&result),
        };
        let question = |within| Question { piece: Piece::Text("raw page text"), within, said: 1, told: 5 };
        let judged = routings(&[call], &[question("say 'raw page text'"), question("say 'clean: raw page text'")]);
        assert_eq!(judged, [Routing::NotItsOutput, Routing::Routed]);
    }

    #[test]
    fn input_and_output_must_both_hold_the_piece() {
        let said = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        assert_eq!(routing("raw page text", &said("raw page text"), "page text"), Routing::Routed);
        assert_eq!(routing("raw page text", &said("clean"), "page text"), Routing::NotItsOutput);
        assert_eq!(routing("something else", &said("page text"), "page text"), Routing::OtherInput);
        let failed = json!({"content": [{"type": "text", "text": "cannot clean: page text"}], "isError": true});
        assert_eq!(routing("raw page text", &failed, "page text"), Routing::NotItsOutput);
    }

    #[test]
    fn a_sanitizer_called_before_or_after_does_not_count() {
        let result = json!({"content": [{"type": "text", "text": "page text"}]});
        let call = |asked, answered| Sanitizing {
            asked,
            answered,
            texts: vec!["page text"],
            objects: vec![7],
            result: Some(&result),
        };
        let text = Question { piece: Piece::Text("page text"), within: "page text", said: 4, told: 8 };
        let object = Question { piece: Piece::Object(7), ..text };
        for (asked, answered, expected) in [
            (2, Some(3), Routing::NotCalled),
            (9, Some(10), Routing::NotCalled),
            (5, None, Routing::NotCalled),
            (5, Some(9), Routing::NotCalled),
            (5, Some(6), Routing::Routed),
        ] {
            assert_eq!(routings(&[call(asked, answered)], &[text]), [expected], "{asked} {answered:?}");
        }
        assert_eq!(routings(&[call(5, Some(6))], &[object]), [Routing::NotItsOutput]);
        assert_eq!(routings(&[], &[text, object]), [Routing::NotCalled; 2]);
    }
}
