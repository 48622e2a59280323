//! The checks of `assert_notifications`: what the server announced.

use mcprove_model::{Notification, Observation};
use serde_json::Value;

use super::among::Texts;
use super::bound::Counted;
use super::named::Names;
use super::{CheckKind, Seen};

mod contains_data;
mod in_order;
mod max_count;
mod methods;
mod min_count;
mod not_contains_data;
mod not_methods;

/// Every check of notifications, in the order failures are reported.
pub(super) const CHECKS: &[CheckKind] = &[
    min_count::KIND,
    max_count::KIND,
    methods::KIND,
    not_methods::KIND,
    in_order::KIND,
    contains_data::KIND,
    not_contains_data::KIND,
];

/// Two notifications, for the examples.
const TWO: Seen = Seen::Notifications(
    r#"[{"method": "notifications/progress", "params": {"progress": 1, "message": "half way"}},
        {"method": "notifications/message",
         "params": {"level": "info", "data": "done", "_meta": {"trace": "secret"}}}]"#,
);

const COUNTED: Counted = Counted { one: "notification", many: "notifications", shown: methods_of };

const PARAMS: Texts = Texts {
    none: "the params of no notification contain",
    some: "the params of a notification contain",
    empty: "no notifications",
    of: |seen| seen.notifications.iter().map(params).collect(),
};

const METHODS: Names = Names {
    of: methods_of,
    missing: |method| format!("no {method} arrived"),
    present: |method, count| format!("{method} arrived, {count} times in all"),
    too_early: |method, previous| format!("no {method} arrived after {previous}"),
    empty: "no notifications",
};

fn methods_of(seen: &Observation) -> Vec<String> {
    seen.notifications.iter().map(|notification| notification.method.clone()).collect()
}

/// The params as compact JSON, without `_meta`, which belongs to the protocol.
fn params(notification: &Notification) -> String {
    match &notification.params {
        Value::Null => String::new(),
        Value::Object(map) if map.contains_key("_meta") => {
            let mut map = map.clone();
            map.shift_remove("_meta");
            Value::Object(map).to_string()
        }
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    }
}
