//! A text with a few characters changed, added, left out or repeated.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "random-text",
    phase: Phase::Random,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "string"}"#,
    make,
};

fn make(site: &Site<'_, '_>, dice: &mut Dice) -> Vec<Variant> {
    let Value::String(text) = site.value else { return Vec::new() };
    let mut letters: Vec<char> = text.chars().take(400).collect();
    for _ in 0..=dice.below(3) {
        let at = dice.below(letters.len() + 1);
        match dice.below(5) {
            0 if at < letters.len() => {
                letters.remove(at);
            }
            1 if at < letters.len() => letters[at] = odd(dice),
            2 => {
                let part: Vec<char> = letters[..at].to_vec();
                letters.extend(part);
            }
            3 => letters.truncate(at),
            _ => letters.insert(at, odd(dice)),
        }
    }
    Variant::one("changed text", letters.into_iter().collect::<String>())
}

/// Characters that programs stumble over.
const ODD: &[char] = &[
    '\0',
    '\u{7}',
    '\n',
    '\r',
    '\t',
    ' ',
    '"',
    '\'',
    '`',
    '\\',
    '/',
    '.',
    '%',
    '$',
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    '<',
    '>',
    '&',
    ';',
    '|',
    '*',
    '?',
    '#',
    '@',
    ':',
    ',',
    '-',
    '+',
    '=',
    '~',
    '^',
    '!',
    '0',
    '9',
    'A',
    'z',
    '\u{7f}',
    '\u{a0}',
    'ß',
    'İ',
    'é',
    '\u{301}',
    '\u{200b}',
    '\u{202e}',
    '\u{feff}',
    '\u{fffd}',
    '中',
    '🎉',
    '\u{10ffff}',
];

fn odd(dice: &mut Dice) -> char {
    dice.pick(ODD).copied().unwrap_or('a')
}
