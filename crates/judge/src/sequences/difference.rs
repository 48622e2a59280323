//! Two replies to the same call from two servers: the same, the same in another order, or different.

use serde_json::Value;

use super::interleaving::same_history;
use super::reply::Reply;

/// Difference of two replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Not at all, once what changes from run to run is masked.
    Same,
    /// In the order of lists alone.
    Order,
    /// One is an error, the other is not.
    Outcome,
    /// In what they say.
    Content,
}

/// Compares two replies; times, durations and made-up keys are masked.
pub fn difference(one: &Reply, other: &Reply) -> Difference {
    if one.is_fine != other.is_fine || one.is_broken != other.is_broken {
        return Difference::Outcome;
    }
    // The texts of errors are for people, as long as both fail.
    if same_history(std::slice::from_ref(one), std::slice::from_ref(other)) {
        return Difference::Same;
    }
    if let (Some(one), Some(other)) = (&one.doc, &other.doc) {
        let (one, other) = (sorted(one), sorted(other));
        let masked = |value: &Value| crate::snapshot::Masks::default().apply(&value.to_string());
        if masked(&one) == masked(&other) {
            return Difference::Order;
        }
    }
    Difference::Content
}

/// The document with its lists and maps in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_cached_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(map) => {
            let mut map: serde_json::Map<String, Value> =
                map.iter().map(|(key, item)| (key.clone(), sorted(item))).collect();
            map.sort_keys();
            Value::Object(map)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::Outcome;
    use serde_json::json;

    use super::*;

    fn reply(document: &Value) -> Reply {
        Reply::of(&Outcome::Result(json!({"content": [{"type": "text", "text": document.to_string()}]})))
    }

    #[test]
    fn times_and_order_are_told_from_content() {
        let one = reply(&json!({"at": "2026-01-02T03:04:05Z", "items": [1, 2]}));
        assert_eq!(difference(&one, &reply(&json!({"at": "2027-01-02T03:04:05Z", "items": [1, 2]}))), Difference::Same);
        assert_eq!(
            difference(&one, &reply(&json!({"at": "2026-01-02T03:04:05Z", "items": [2, 1]}))),
            Difference::Order
        );
        assert_eq!(difference(&one, &reply(&json!({"at": "2026-01-02T03:04:05Z", "items": [2]}))), Difference::Content);
        let failed = Reply::of(&Outcome::Result(json!({"content": [], "isError": true})));
        assert_eq!(difference(&one, &failed), Difference::Outcome);
    }
}
