//! `when`: a condition over the arguments of a call, in a small part of CEL.
//!
//! | what | how it is written |
//! |---|---|
//! | values | `"text"`, `'text'`, `1`, `-2.5`, `true`, `false`, `null`, `[1, 2]` |
//! | arguments | `args`, `args.city`, `args.list[0]`, `args["odd name"]` |
//! | comparisons | `==`, `!=`, `<`, `<=`, `>`, `>=` |
//! | logic | `&&`, `\|\|`, `!`, parentheses |
//! | membership | `x in [..]`, `"key" in args` |
//! | functions | `has(args.x)`, `size(x)`, `x.size()`, `x.contains(y)`, `x.startsWith(y)`, `x.endsWith(y)` |
//!
//! Nothing goes wrong while a condition is judged: what is not there equals nothing but itself, and values of different
//! kinds are neither smaller nor greater than each other. A condition holds when it comes out as `true`.

mod parse;

use std::cmp::Ordering;

use serde_json::Value;

pub(crate) use parse::parse;

/// A condition that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition(Term);

/// A part of a condition.
#[derive(Clone, Debug, PartialEq)]
enum Term {
    Literal(Value),
    List(Vec<Term>),
    Args,
    Member(Box<Term>, String),
    Index(Box<Term>, Box<Term>),
    Not(Box<Term>),
    And(Box<Term>, Box<Term>),
    Or(Box<Term>, Box<Term>),
    Compare(Comparison, Box<Term>, Box<Term>),
    In(Box<Term>, Box<Term>),
    Has(Box<Term>),
    Size(Box<Term>),
    Text(TextTest, Box<Term>, Box<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextTest {
    Contains,
    StartsWith,
    EndsWith,
}

impl Condition {
    /// True if the condition holds for these arguments.
    pub(crate) fn holds(&self, arguments: &Value) -> bool {
        self.0.value(arguments) == Some(Value::Bool(true))
    }
}

impl Term {
    /// The value of the term; `None` if it refers to something missing.
    fn value(&self, arguments: &Value) -> Option<Value> {
        let truth = |term: &Self| term.value(arguments) == Some(Value::Bool(true));
        let judged = match self {
            Self::Literal(value) => return Some(value.clone()),
            Self::List(items) => {
                return Some(Value::Array(items.iter().filter_map(|item| item.value(arguments)).collect()));
            }
            Self::Args => return Some(arguments.clone()),
            Self::Member(of, name) => return of.value(arguments)?.get(name).cloned(),
            Self::Index(of, at) => {
                let of = of.value(arguments)?;
                return match at.value(arguments)? {
                    Value::String(name) => of.get(&name).cloned(),
                    at => of.get(usize::try_from(at.as_u64()?).ok()?).cloned(),
                };
            }
            Self::Size(of) => return size(&of.value(arguments)?).map(Value::from),
            Self::Not(term) => match term.value(arguments) {
                Some(Value::Bool(value)) => !value,
                Some(_) | None => false,
            },
            Self::And(left, right) => truth(left) && truth(right),
            Self::Or(left, right) => truth(left) || truth(right),
            Self::Compare(how, left, right) => compare(*how, left.value(arguments), right.value(arguments)),
            Self::In(item, of) => match (item.value(arguments), of.value(arguments)) {
                (Some(item), Some(Value::Array(items))) => items.iter().any(|other| same(&item, other)),
                (Some(Value::String(key)), Some(Value::Object(map))) => map.contains_key(&key),
                (_, _) => false,
            },
            Self::Has(term) => term.value(arguments).is_some(),
            Self::Text(test, of, part) => match (test, of.value(arguments), part.value(arguments)) {
                (TextTest::Contains, Some(Value::Array(items)), Some(item)) => {
                    items.iter().any(|other| same(&item, other))
                }
                (TextTest::Contains, Some(Value::String(of)), Some(Value::String(part))) => of.contains(&part),
                (TextTest::StartsWith, Some(Value::String(of)), Some(Value::String(part))) => of.starts_with(&part),
                (TextTest::EndsWith, Some(Value::String(of)), Some(Value::String(part))) => of.ends_with(&part),
                (_, _, _) => false,
            },
        };
        Some(Value::Bool(judged))
    }
}

fn size(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(map) => Some(map.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn compare(how: Comparison, left: Option<Value>, right: Option<Value>) -> bool {
    let equal = match (&left, &right) {
        (Some(left), Some(right)) => same(left, right),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    let order = left.zip(right).and_then(|(left, right)| order(&left, &right));
    match how {
        Comparison::Equal => equal,
        Comparison::Different => !equal,
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// True if two values are the same; numbers are compared as numbers, so `1` is `1.0`.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => order(left, right) == Some(Ordering::Equal),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (_, _) => left == right,
    }
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i128(), right.as_i128()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            (_, _) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        },
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(text: &str) -> bool {
        let arguments = json!({
            "id": "42", "n": 3, "x": 2.5, "on": true, "off": false, "none": null, "city": "São Paulo",
            "tags": ["a", "b"], "deep": {"odd name": [10, 20]}
        });
        parse(text).unwrap_or_else(|mistake| panic!("{text}: {}", mistake.message)).holds(&arguments)
    }

    #[test]
    fn conditions_that_hold() {
        for text in [
            r#"args.id == "42""#,
            "args.id == '42'",
            "args.n == 3.0 && args.n != 4",
            "args.n > 2 && args.n >= 3 && args.n < 4 && args.n <= 3",
            "args.x > -1 && args.x < 2.75",
            "args.on",
            "!args.off",
            "args.off || args.on && args.n == 3",
            "(args.off || args.on) && !(args.n == 4)",
            "args.n in [1, 2, 3]",
            "'a' in args.tags",
            "'n' in args",
            "args.tags.contains('b')",
            "args.city.contains('Paulo') && args.city.startsWith('São') && args.city.endsWith('lo')",
            "size(args.tags) == 2 && args.city.size() == 9",
            "has(args.none) && !has(args.gone) && !has(args.gone.deeper)",
            "args.none == null",
            "args.gone != 'x' && args.gone != null",
            "args.deep['odd name'][1] == 20",
            "args.tags == ['a', 'b']",
            "'abc' < 'abd'",
            "args.id == \"\\u0034\\x32\"",
        ] {
            assert!(holds(text), "{text}");
        }
    }

    #[test]
    fn conditions_that_do_not_hold() {
        for text in [
            "args.id == 42",
            "args.gone == 'x'",
            "args.gone > 1",
            "args.n < 'z'",
            "args.n",
            "!args.n",
            "!args.gone",
            "args.tags.startsWith('a')",
            "args.tags[7] == 'a'",
            "args.tags['a'] == 'a'",
            "null",
        ] {
            assert!(!holds(text), "{text}");
        }
    }
}
