//! Unhandled exceptions in the text of a reply.

mod echo;
pub(crate) mod message;
pub(crate) mod stack;

use serde_json::Value;

pub(crate) use echo::Echo;

/// The place in a text that reports a failure where an unhandled exception shows, if one does; what the arguments held
/// is merely repeated.
pub fn unhandled<'t>(text: &'t str, arguments: &Value) -> Option<&'t str> {
    let echo = Echo::of(arguments);
    let trace = stack::find(text).filter(|trace| !echo.repeats(&text[trace.range.clone()]));
    let told = message::find(text, &echo).and_then(|line| text.find(line));
    // The headline of a trace precedes its frames.
    let start = [trace.map(|trace| trace.range.start), told].into_iter().flatten().min()?;
    Some(&text[start..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::unhandled;

    #[test]
    fn traces_are_seen_and_plain_errors_are_not() {
        for text in [
            "Traceback (most recent call last):\n  File \"x.py\", line 1",
            "TypeError: x\n    at foo (/srv/index.js:10:5)\n",
            "thread 'main' panicked at src/main.rs:3:5",
            "sorry: Cannot read properties of undefined (reading 'a')",
        ] {
            assert!(unhandled(text, &json!({})).is_some(), "{text}");
            assert!(unhandled(text, &json!({"said": text})).is_none(), "{text}");
        }
        for text in ["File not found: /tmp/x", "Meet at the (old) bridge", "error at line 3", "at noon (12:30:00)"] {
            assert!(unhandled(text, &json!({})).is_none(), "{text}");
        }
    }
}
