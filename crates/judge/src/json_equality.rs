//! Equality of JSON values.
//!
//! Numbers compare as numbers. The tool whose files mcprove runs compares scalars by their text, so `"1"` equals `1`
//! there; suites rely on it, and such an equality is [`JsonEquality::Loose`].

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Result of comparing two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JsonEquality {
    /// They differ.
    Different,
    /// Their texts are the same, their types are not.
    Loose,
    /// They are the same.
    Same,
}

/// Compares two values deeply; the order of keys does not matter.
pub(crate) fn compare(one: &Value, other: &Value) -> JsonEquality {
    match (one, other) {
        (Value::Null, Value::Null) => JsonEquality::Same,
        (Value::Bool(a), Value::Bool(b)) => same_if(a == b),
        (Value::Number(a), Value::Number(b)) => same_if(same_number(a, b)),
        (Value::String(a), Value::String(b)) => same_if(a == b),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => worst(a.iter().zip(b)),
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => a
            .iter()
            .map(|(key, value)| b.get(key).map_or(JsonEquality::Different, |other| compare(value, other)))
            .min()
            .unwrap_or(JsonEquality::Same),
        (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => JsonEquality::Different,
        (Value::String(text), scalar) | (scalar, Value::String(text)) => {
            if texts_of(scalar).contains(text) {
                JsonEquality::Loose
            } else {
                JsonEquality::Different
            }
        }
        (Value::Null | Value::Bool(_) | Value::Number(_), _) => JsonEquality::Different,
    }
}

/// True if two numbers are the same number, however they are written; whole numbers compare exactly.
pub(crate) fn same_number(one: &Number, other: &Number) -> bool {
    match (whole(one), whole(other)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => {
            one.as_f64().zip(other.as_f64()).is_some_and(|(a, b)| a.partial_cmp(&b) == Some(Ordering::Equal))
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The number without its fraction.
pub(crate) fn truncated(number: &Number) -> Option<i128> {
    match number.as_i128() {
        Some(whole) => Some(whole),
        None => number.as_f64().map(f64::trunc).and_then(exact),
    }
}

fn whole(number: &Number) -> Option<i128> {
    match number.as_i128() {
        Some(whole) => Some(whole),
        None => number.as_f64().filter(|float| float.fract() == 0.0).and_then(exact),
    }
}

/// A float without fraction as an integer.
#[expect(clippy::cast_possible_truncation, reason = "the range was checked, and the float has no fraction")]
fn exact(float: f64) -> Option<i128> {
    const LIMIT: f64 = 1e38;
    (float.abs() < LIMIT).then_some(float as i128)
}

fn same_if(same: bool) -> JsonEquality {
    if same { JsonEquality::Same } else { JsonEquality::Different }
}

fn worst<'v>(pairs: impl Iterator<Item = (&'v Value, &'v Value)>) -> JsonEquality {
    pairs.map(|(a, b)| compare(a, b)).min().unwrap_or(JsonEquality::Same)
}

/// The texts that stand for a scalar: its JSON text, and the one the tool the format comes from would print.
fn texts_of(scalar: &Value) -> Vec<String> {
    match scalar {
        Value::Null => vec!["<nil>".to_owned()],
        Value::Number(number) => {
            let mut texts = vec![number.to_string()];
            texts.extend(whole(number).map(|whole| whole.to_string()));
            texts.extend(number.as_f64().filter(|float| float.abs() >= 1e6).map(go_exponent));
            texts
        }
        Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => vec![scalar.to_string()],
    }
}

/// A large number as Go prints it: `1e+06`.
fn go_exponent(float: f64) -> String {
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{digits}e+{exponent:0>2}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).expect(text)
    }

    #[test]
    fn numbers_compare_as_numbers() {
        for (one, other) in
            [("1000000", "1e6"), ("1000000", "1000000.0"), ("123456789", "123456789"), ("0", "-0.0"), ("0.5", "5e-1")]
        {
            assert_eq!(compare(&parsed(one), &parsed(other)), JsonEquality::Same, "{one} {other}");
        }
        for (one, other) in [
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551615", "18446744073709551614"),
            ("9007199254740993", "9007199254740992.0"),
            ("1", "1.5"),
            ("-1", "18446744073709551615"),
        ] {
            assert_eq!(compare(&parsed(one), &parsed(other)), JsonEquality::Different, "{one} {other}");
        }
    }

    #[test]
    fn scalars_of_other_types_are_loosely_the_same_by_their_text() {
        for (one, other) in [
            (json!("1"), json!(1)),
            (json!("1"), json!(1.0)),
            (json!("true"), json!(true)),
            (json!("1000000"), json!(1_000_000)),
            (json!("1e+06"), json!(1_000_000)),
            (json!("1.234567e+06"), json!(1_234_567)),
            (json!("<nil>"), json!(null)),
            (json!({"a": ["1"]}), json!({"a": [1]})),
        ] {
            assert_eq!(compare(&one, &other), JsonEquality::Loose, "{one} {other}");
        }
        for (one, other) in [
            (json!("1.0"), json!(1)),
            (json!("1.10"), json!(1.1)),
            (json!("True"), json!(true)),
            (json!("null"), json!(null)),
            (json!(0), json!(false)),
            (json!(null), json!(false)),
            (json!("[]"), json!([])),
            (json!([1]), json!([1, 2])),
        ] {
            assert_eq!(compare(&one, &other), JsonEquality::Different, "{one} {other}");
        }
    }

    #[test]
    fn objects_compare_without_the_order_of_keys() {
        let (one, other) = (parsed(r#"{"a":1,"b":[2.0]}"#), parsed(r#"{"b":[2],"a":1}"#));
        assert_eq!(compare(&one, &other), JsonEquality::Same);
        assert_eq!(compare(&one, &json!({"a": 1, "c": [2]})), JsonEquality::Different);
    }

    fn number() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            (-4_i32..4).prop_map(|n| json!(f64::from(n))),
            (-4_i64..4).prop_map(Value::from),
        ]
    }

    proptest! {
        #[test]
        fn comparison_is_symmetric_and_reflexive(one in number(), other in number()) {
            prop_assert_eq!(compare(&one, &other), compare(&other, &one));
            prop_assert_eq!(compare(&one, &one), JsonEquality::Same);
            let text = Value::String(one.to_string());
            prop_assert_eq!(compare(&one, &text), compare(&text, &one));
        }

        #[test]
        fn a_whole_float_equals_its_integer(number in -(1_i64 << 53)..(1_i64 << 53)) {
            #[expect(clippy::cast_precision_loss, reason = "the range is exact in a float")]
            let float = json!(number as f64);
            prop_assert_eq!(compare(&json!(number), &float), JsonEquality::Same);
        }
    }
}
