//! Integers of more than 64 bits in a file: they are read as rounded numbers, so a test with one would accept others.

use mcprove_model::{Diagnostics, Kind, Meaning, Node, bounded_json::is_inexact};

/// The fewest digits of an integer that may be rounded.
const DIGITS: usize = 19;

/// Warns of every integer that is read as another one.
pub(super) fn warn(text: &str, documents: &[Node], found: &mut Diagnostics<'_>) {
    if has_long_number(text.as_bytes()) {
        for document in documents {
            look(document, found);
        }
    }
}

/// True if there are so many digits in a row; of most text, a byte in so many is looked at.
fn has_long_number(text: &[u8]) -> bool {
    let mut end = DIGITS - 1;
    while let Some(byte) = text.get(end) {
        if byte.is_ascii_digit() {
            let before = text[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let after = text[end..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if before + after >= DIGITS {
                return true;
            }
        }
        end += DIGITS;
    }
    false
}

fn look(node: &Node, found: &mut Diagnostics<'_>) {
    match &node.kind {
        Kind::List(items) => items.iter().for_each(|item| look(item, found)),
        Kind::Map(entries) => entries.iter().for_each(|entry| look(&entry.value, found)),
        Kind::Scalar(scalar) => {
            if let Meaning::Number(number) = &scalar.meaning
                && number.is_f64()
                && is_inexact(&scalar.text)
            {
                let message = format!("`{}` is read as a rounded number, and equals others", scalar.text);
                let help = "compare it as text: write it in quotes".to_owned();
                found.warning("inexact-number", node.span, message, Some(help));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_of_digits_are_found_wherever_they_are() {
        for before in 0..40 {
            for (digits, wanted) in [(18, false), (19, true), (20, true), (40, true)] {
                let text = format!("{}{}{}", "x".repeat(before), "7".repeat(digits), "x".repeat(before % 7));
                assert_eq!(has_long_number(text.as_bytes()), wanted, "{text}");
            }
        }
    }
}
