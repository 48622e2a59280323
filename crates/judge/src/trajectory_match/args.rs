//! Requirements on the arguments of an expected call.

use mcprove_model::shorten;
use serde_json::Value;

use crate::json_equality::{JsonEquality, compare};
use crate::json_pointer::escaped;
use crate::schema;

/// Requirements on the arguments of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ArgsMatcher {
    /// Anything.
    #[default]
    Any,
    /// Anything; another word for it.
    Ignore,
    /// Exactly this.
    Exact(Value),
    /// At least this: members that are not named may be anything, in objects at any depth.
    Subset(Value),
    /// Whatever a JSON Schema allows.
    Schema(Value),
}

impl ArgsMatcher {
    /// The first error in the arguments; `None` if there is none.
    pub fn mismatch(&self, args: &Value) -> Option<String> {
        match self {
            Self::Any | Self::Ignore => None,
            Self::Exact(expected) => {
                (compare(expected, args) != JsonEquality::Same).then(|| format!("expected exactly {}", shown(expected)))
            }
            Self::Subset(expected) => missing(expected, args, &mut String::new()),
            Self::Schema(schema) => match schema::errors(schema, args) {
                Ok(errors) => errors.into_iter().next(),
                Err(unusable) => Some(unusable),
            },
        }
    }
}

/// The first member of `expected` that `args` lacks or has otherwise.
fn missing(expected: &Value, args: &Value, pointer: &mut String) -> Option<String> {
    let (Value::Object(members), Value::Object(given)) = (expected, args) else {
        let same = compare(expected, args) == JsonEquality::Same;
        let place = if pointer.is_empty() { "the top" } else { pointer.as_str() };
        return (!same).then(|| format!("expected {} at {place}, found {}", shown(expected), shown(args)));
    };
    members.iter().find_map(|(key, member)| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&escaped(key));
        let found = match given.get(key) {
            Some(given) => missing(member, given, pointer),
            None => Some(format!("expected {} at {pointer}, found nothing", shown(member))),
        };
        pointer.truncate(length);
        found
    })
}

fn shown(value: &Value) -> String {
    format!("`{}`", shorten(&value.to_string(), 120))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_matcher_says_what_is_wrong() {
        let args = json!({"query": "incident", "page": {"size": 10, "number": 1}});
        for matcher in [
            ArgsMatcher::Any,
            ArgsMatcher::Ignore,
            ArgsMatcher::Exact(json!({"page": {"number": 1.0, "size": 10}, "query": "incident"})),
            ArgsMatcher::Subset(json!({})),
            ArgsMatcher::Subset(json!({"page": {"size": 10}})),
            ArgsMatcher::Schema(json!({"required": ["query"]})),
        ] {
            assert_eq!(matcher.mismatch(&args), None, "{matcher:?}");
        }
        let wrong = |matcher: ArgsMatcher| matcher.mismatch(&args).unwrap_or_default();
        assert_eq!(
            wrong(ArgsMatcher::Exact(json!({"query": "incident"}))),
            "expected exactly `{\"query\":\"incident\"}`"
        );
        assert_eq!(
            wrong(ArgsMatcher::Subset(json!({"page": {"size": 20}}))),
            "expected `20` at /page/size, found `10`"
        );
        assert_eq!(wrong(ArgsMatcher::Subset(json!({"limit": 1}))), "expected `1` at /limit, found nothing");
        assert_eq!(
            wrong(ArgsMatcher::Subset(json!({"page": {"size": "10"}}))),
            "expected `\"10\"` at /page/size, found `10`"
        );
        assert!(wrong(ArgsMatcher::Schema(json!({"required": ["limit"]}))).contains("limit"));
        assert!(wrong(ArgsMatcher::Schema(json!({"type": "strnig"}))).starts_with("the schema is not usable"));
    }
}
