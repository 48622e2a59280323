//! Meaning of a scalar, as the tool whose files we run reads it (yaml.v3).
//!
//! One difference is deliberate: a date such as `2024-01-01` stays the text that was written.

use mcprove_model::{Meaning, Scalar, ScalarStyle};
use serde_json::Number;

/// The meaning of a plain scalar.
pub(super) fn plain(text: &str) -> Meaning {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Meaning::Null,
        "true" | "True" | "TRUE" => Meaning::Bool(true),
        "false" | "False" | "FALSE" => Meaning::Bool(false),
        _ => number(text).map_or(Meaning::Text, Meaning::Number),
    }
}

/// A scalar that is read as it was written.
pub(super) fn read(text: &str, style: ScalarStyle) -> Scalar {
    let meaning = match style {
        ScalarStyle::Plain => plain(text),
        ScalarStyle::Quoted | ScalarStyle::Block => Meaning::Text,
    };
    Scalar { text: text.into(), style, meaning }
}

/// A scalar under a tag of the core schema (`str`, `int`, …); `None` when the tag is not one of them, an error in
/// words when the text does not fit it.
pub(super) fn tagged(tag: &str, text: &str) -> Option<Result<Meaning, &'static str>> {
    let read = plain(text);
    Some(match (tag, read) {
        ("str" | "timestamp", _) => Ok(Meaning::Text),
        ("int", Meaning::Number(number)) if !number.is_f64() => Ok(Meaning::Number(number)),
        ("int", _) => Err("a whole number"),
        ("float", Meaning::Number(number)) => match number.as_f64().and_then(Number::from_f64) {
            Some(float) => Ok(Meaning::Number(float)),
            None => Err("a number"),
        },
        ("float", _) => Err("a number"),
        ("bool", Meaning::Bool(value)) => Ok(Meaning::Bool(value)),
        ("bool", _) => Err("true or false"),
        ("null", Meaning::Null) => Ok(Meaning::Null),
        ("null", _) => Err("null"),
        _ => return None,
    })
}

fn number(text: &str) -> Option<Number> {
    let first = *text.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    let digits = text.replace('_', "");
    integer(&digits).or_else(|| float(&digits))
}

fn integer(text: &str) -> Option<Number> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match unsigned.get(..2) {
        Some("0x" | "0X") => (16, &unsigned[2..]),
        Some("0o" | "0O") => (8, &unsigned[2..]),
        Some("0b" | "0B") => (2, &unsigned[2..]),
        Some(_) | None if is_old_octal(unsigned) => (8, &unsigned[1..]),
        Some(_) | None => (10, unsigned),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative { Some(0_i64.checked_sub_unsigned(magnitude)?.into()) } else { Some(magnitude.into()) }
}

/// `010` is eight, as in YAML 1.1; `09` can only be meant as nine.
fn is_old_octal(digits: &str) -> bool {
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| (b'0'..b'8').contains(&byte))
}

fn float(text: &str) -> Option<Number> {
    // Words that Rust reads as floats (`infinity`, `nan`) are text here.
    let is_numeric = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    if !text.bytes().all(is_numeric) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite()).and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_scalars_mean_what_the_old_tool_made_of_them() {
        for (text, value) in [
            ("0x10", json!(16)),
            ("-0x10", json!(-16)),
            ("010", json!(8)),
            ("0o10", json!(8)),
            ("0b101", json!(5)),
            ("09", json!(9)),
            ("+5", json!(5)),
            ("1_000", json!(1000)),
            ("1e3", json!(1000.0)),
            ("5.0", json!(5.0)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            ("-1", json!(-1)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
            ("True", json!(true)),
            ("~", json!(null)),
            ("", json!(null)),
        ] {
            assert_eq!(read(text, ScalarStyle::Plain).value(), value, "{text}");
        }
    }

    #[test]
    fn everything_else_stays_text() {
        for text in
            ["yes", "no", "on", "off", ".inf", "-.inf", ".nan", "2024-01-01", "1:30", "1e999", "-", "+", ".", "0x"]
        {
            assert_eq!(plain(text), Meaning::Text, "{text}");
        }
        for text in ["0xg", "1.2.3", "-+5", "0x-5", "e5", "1e", "infinity", "_1", "１"] {
            assert_eq!(plain(text), Meaning::Text, "{text}");
        }
    }

    #[test]
    fn tags_decide() {
        assert_eq!(tagged("str", "5"), Some(Ok(Meaning::Text)));
        assert_eq!(tagged("int", "5"), Some(Ok(Meaning::Number(5.into()))));
        assert_eq!(tagged("int", "five"), Some(Err("a whole number")));
        assert_eq!(tagged("float", "5"), Some(Ok(Meaning::Number(Number::from_f64(5.0).expect("finite")))));
        assert_eq!(tagged("color", "5"), None);
    }
}
