//! `${args.x}` and its kin in the answers of a mock.
//!
//! A placeholder names a value of the call by its path: `args` are the arguments, `sampling`, `elicitation` and `roots`
//! the client's answers, `input` the answers to `input_required` by their keys, `uri` the resource asked for.
//! `${faker.<kind>}` is made up, the same at every call. What names nothing stays as it was written.

use mcprove_model::{FNV_START, fnv1a};
use serde_json::Value;

/// Fills in every placeholder of every text.
pub(crate) fn fill(value: &Value, scope: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(text, scope)),
        Value::Array(items) => Value::Array(items.iter().map(|item| fill(item, scope)).collect()),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), fill(v, scope))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Fills in one text.
pub(crate) fn fill_text(text: &str, scope: &Value) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    let mut made_up = 0;
    while let Some(start) = rest.find("${") {
        let (before, from) = rest.split_at(start);
        let Some(end) = from.find('}') else { break };
        filled.push_str(before);
        let (reference, after) = from.split_at(end + 1);
        let path = &reference[2..end];
        let found = match path.strip_prefix("faker.") {
            Some(kind) => {
                made_up += 1;
                fake(kind, text, made_up)
            }
            None => lookup(path, scope).map(|value| match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            }),
        };
        filled.push_str(found.as_deref().unwrap_or(reference));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

fn lookup<'v>(path: &str, scope: &'v Value) -> Option<&'v Value> {
    path.split('.').try_fold(scope, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    })
}

const FIRST: [&str; 8] = ["Ada", "Alan", "Barbara", "Edsger", "Grace", "Ken", "Margaret", "Niklaus"];
const LAST: [&str; 8] = ["Allen", "Backus", "Dahl", "Floyd", "Hopper", "Knuth", "Perlis", "Wilkes"];
const WORDS: [&str; 8] = ["basalt", "cedar", "drift", "fjord", "heron", "lichen", "orbit", "willow"];

/// A made-up value that depends only on its position.
fn fake(kind: &str, text: &str, nth: u64) -> Option<String> {
    let mut seed = fnv1a(FNV_START ^ nth, text.bytes());
    // The same person in one text, whichever part of it is asked for.
    let person = text.bytes().fold(17_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let pick = |from: [&'static str; 8], seed: u64| from[usize::try_from(seed % 8).unwrap_or_default()];
    let (first, last) = (pick(FIRST, person >> 3), pick(LAST, person >> 9));
    Some(match kind {
        "first_name" => first.to_owned(),
        "last_name" => last.to_owned(),
        "name" => format!("{first} {last}"),
        "email" => format!("{}.{}@example.com", first.to_lowercase(), last.to_lowercase()),
        "word" => pick(WORDS, seed >> 5).to_owned(),
        "int" => (seed % 10_000).to_string(),
        "uuid" => {
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                seed >> 16
            };
            let (a, b, c, d) = (next(), next(), next(), next());
            format!(
                "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
                a & 0xffff_ffff,
                b & 0xffff,
                b >> 16 & 0xfff,
                c & 0xfff,
                d & 0xffff_ffff_ffff
            )
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_filled_in_and_unknown_ones_stay() {
        let scope =
            json!({"args": {"name": "Ada", "n": 3, "deep": {"x": [true]}}, "elicitation": {"action": "accept"}});
        assert_eq!(
            fill_text("Hi ${args.name}, ${args.n} ${args.deep.x.0} ${args.gone} ${other} ${args.open", &scope),
            "Hi Ada, 3 true ${args.gone} ${other} ${args.open"
        );
        assert_eq!(fill_text("${elicitation.action}", &scope), "accept");
        assert_eq!(fill(&json!({"a": ["${args.n}"]}), &scope), json!({"a": ["3"]}));
    }

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        assert_eq!(fill_text("${args.a}", &json!({"args": {"a": "${args.b}", "b": "x"}})), "${args.b}");
    }

    #[test]
    fn made_up_values_are_the_same_every_time() {
        let text = "${faker.name} <${faker.email}> ${faker.int} ${faker.uuid} ${faker.uuid} ${faker.bogus}";
        let filled = fill_text(text, &Value::Null);
        assert_eq!(filled, fill_text(text, &Value::Null));
        let words: Vec<&str> = filled.split(' ').collect();
        assert!(words[2].contains("@example.com"), "{filled}");
        assert_eq!((words[4].len(), words[5].len()), (36, 36), "{filled}");
        assert_ne!(words[4], words[5]);
        assert_eq!(words[6], "${faker.bogus}");
    }
}
