//! The checks of `assert_logging`: what the server logged.

use mcprove_model::Observation;
use serde_json::Value;

use super::CheckKind;
use super::among::Texts;
use super::bound::Counted;
use super::named::Names;

mod contains_data;
mod contains_level;
mod logger;
mod max_messages;
mod min_messages;
mod not_contains_level;

/// Every check of log messages, in the order failures are reported.
pub(super) const CHECKS: &[CheckKind] = &[
    min_messages::KIND,
    max_messages::KIND,
    contains_level::KIND,
    not_contains_level::KIND,
    logger::KIND,
    contains_data::KIND,
];

const MESSAGES: Counted = Counted { one: "log message", many: "log messages", shown };

const DATA: Texts = Texts {
    none: "no log message contains",
    some: "a log message contains",
    empty: "no log messages",
    of: |seen| messages(seen).map(data).collect(),
};

const LEVELS: Names = Names {
    of: |seen| messages(seen).map(|params| text(params, "level")).collect(),
    missing: |level| format!("no log message has the level {level}"),
    present: |level, count| format!("the level {level} was used, {count} times in all"),
    too_early: |level, previous| format!("the level {level} does not come after {previous}"),
    empty: "no log messages",
};

const LOGGERS: Names = Names {
    of: |seen| messages(seen).map(|params| text(params, "logger")).map(named).collect(),
    missing: |logger| format!("no log message comes from the logger {logger}"),
    present: |logger, count| format!("the logger {logger} was used, {count} times in all"),
    too_early: |logger, previous| format!("the logger {logger} does not come after {previous}"),
    empty: "no log messages",
};

/// The params of every log message.
fn messages(seen: &Observation) -> impl Iterator<Item = &Value> {
    seen.notifications.iter().filter(|n| n.method == "notifications/message").map(|n| &n.params)
}

fn text(params: &Value, key: &str) -> String {
    params.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The name of a logger; `(none)` for messages without one.
fn named(logger: String) -> String {
    if logger.is_empty() { "(none)".to_owned() } else { logger }
}

/// The logged data: a string as it is, anything else as compact JSON.
fn data(params: &Value) -> String {
    match params.get("data") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn shown(seen: &Observation) -> Vec<String> {
    messages(seen).map(|params| format!("{} {}", text(params, "level"), data(params))).collect()
}
