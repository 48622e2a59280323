//! The levels of log messages (RFC 5424, as the protocol takes them).

use mcprove_model::{Diagnostics, Finding, Node, Notification, nearest};
use serde_json::Value;

/// Every level, from the least to the most severe.
pub const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// True if a text is one of [`LEVELS`].
pub fn is_known(level: &str) -> bool {
    LEVELS.contains(&level)
}

/// Advice for a string that is not a level.
pub fn help(level: &str) -> String {
    let lower = level.to_lowercase();
    let meant = match lower.as_str() {
        "warn" => Some("warning"),
        "err" => Some("error"),
        "crit" | "fatal" => Some("critical"),
        "trace" | "verbose" => Some("debug"),
        "emerg" | "panic" => Some("emergency"),
        other => nearest(other, LEVELS),
    };
    match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("levels are {}", LEVELS.join(", ")),
    }
}

/// The finding about log messages below the level that was set, if there are any.
///
/// Give it the messages that arrived after the level was set: "the server should send all logs at this level and
/// higher" (2025-11-25, Logging, Setting Log Level).
pub fn messages_below(level: &str, notifications: &[Notification]) -> Option<Finding> {
    let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
    let set = rank(level)?;
    let levels = notifications
        .iter()
        .filter(|notification| notification.method == "notifications/message")
        .filter_map(|notification| notification.params.get("level").and_then(Value::as_str));
    let below: Vec<&str> = levels.filter(|level| rank(level).is_some_and(|rank| rank < set)).collect();
    let first = below.first()?;
    let message = match below.len() {
        1 => format!("a log message of level `{first}` arrived although the level was set to `{level}`"),
        many => format!("{many} log messages below the level `{level}` that was set arrived, the first is `{first}`"),
    };
    let mut finding = Finding::warning("log-below-level", message);
    finding.help = Some("the server should send messages of the level that was set and higher".to_owned());
    Some(finding)
}

/// Reports strings that are not a level as a warning, since a server may use its own words.
pub(crate) fn report_unknown(node: &Node, found: &mut Diagnostics<'_>) {
    for item in found.one_or_many(node) {
        if let Some(level) = item.as_text().filter(|level| !is_known(level)) {
            found.warning(
                "unknown-level",
                item.span,
                format!("`{level}` is not a log level of the protocol"),
                Some(help(level)),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn logged(levels: &[&str]) -> Vec<Notification> {
        let message = |level: &&str| Notification {
            at_us: 0,
            method: "notifications/message".to_owned(),
            params: json!({"level": level, "data": "x"}),
        };
        levels.iter().map(message).collect()
    }

    #[test]
    fn messages_below_the_level_are_told() {
        assert_eq!(messages_below("warning", &logged(&["warning", "emergency", "odd"])), None);
        assert_eq!(messages_below("debug", &logged(&["debug"])), None);
        let one = messages_below("error", &logged(&["alert", "info"])).expect("a finding");
        assert_eq!(one.message, "a log message of level `info` arrived although the level was set to `error`");
        let two = messages_below("error", &logged(&["warning", "info"])).expect("a finding");
        assert!(two.message.starts_with("2 log messages below the level `error`"), "{}", two.message);
    }

    #[test]
    fn other_words_for_levels_are_understood() {
        assert_eq!(help("warn"), "did you mean `warning`?");
        assert_eq!(help("Eror"), "did you mean `error`?");
        assert!(help("loud").starts_with("levels are debug, info"));
    }
}
