//! Progress notifications over time.

use std::collections::HashMap;

use mcprove_model::{Finding, Notification};
use serde_json::Value;

/// The finding about progress that does not increase, if there is any.
///
/// "The progress value MUST increase with each notification" (2025-11-25, Progress), counted for each token alone.
pub fn does_not_increase(notifications: &[Notification]) -> Option<Finding> {
    let mut last: HashMap<String, f64> = HashMap::new();
    for notification in notifications.iter().filter(|n| n.method == "notifications/progress") {
        let token = notification.params.get("progressToken").map(Value::to_string).unwrap_or_default();
        let Some(progress) = notification.params.get("progress").and_then(Value::as_f64) else { continue };
        let before = last.insert(token.clone(), progress);
        if let Some(before) = before.filter(|before| progress <= *before) {
            let text = format!("progress of token {token} went from {before} to {progress}");
            let help = "the progress value must increase with each notification";
            return Some(Finding::warning("progress-not-increasing", text).help(help));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn progress(steps: &[(Value, f64)]) -> Vec<Notification> {
        let notification = |(token, progress): &(Value, f64)| Notification {
            at_us: 0,
            method: "notifications/progress".to_owned(),
            params: json!({"progressToken": token, "progress": progress}),
        };
        steps.iter().map(notification).collect()
    }

    #[test]
    fn each_token_is_counted_alone() {
        let fine = progress(&[(json!(1), 1.0), (json!("1"), 0.5), (json!(1), 1.5), (json!("1"), 0.75)]);
        assert_eq!(does_not_increase(&fine), None);
        let still = does_not_increase(&progress(&[(json!("a"), 1.0), (json!("a"), 1.0)])).expect("a finding");
        assert_eq!(still.message, "progress of token \"a\" went from 1 to 1");
    }
}
