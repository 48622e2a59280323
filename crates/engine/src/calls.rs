//! Calls of a case: made, recorded, and judged as far as any call can be.

use std::time::Duration;

use mcprove_model::{CallRecord, CallRole, Exchange, Finding, Outcome, TextPlace, escape_line, shorten};

/// Maximum length of a request or reply kept for display; the frames hold all of it.
const SHOWN: usize = 4_000;

/// The record of a call for people.
pub(crate) fn record(role: CallRole, subject: Option<&str>, exchange: &Exchange) -> CallRecord {
    let text = |bytes: &[u8]| shown(bytes, SHOWN);
    CallRecord {
        role,
        method: exchange.method.clone(),
        subject: subject.map(str::to_owned),
        server: None,
        fault: None,
        request: text(&exchange.request),
        reply: exchange.reply.as_deref().map(text),
        elapsed_us: exchange.elapsed_us,
    }
}

/// The beginning of a message, and how much more there is of it.
pub(crate) fn shown(bytes: &[u8], characters: usize) -> String {
    // What has no more bytes has no more characters either.
    if bytes.len() <= characters
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return text.to_owned();
    }
    let head = &bytes[..bytes.len().min(characters * 4)];
    let text = String::from_utf8_lossy(head);
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}… ({} more bytes)", &text[..end], bytes.len().saturating_sub(end)),
        None => text.into_owned(),
    }
}

/// True if the message of an error says that there is no tool, prompt or resource of the name.
fn names_nothing(message: &str) -> bool {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    has(&["tool", "prompt", "resource"])
        && has(&["unknown", "not found", "no such", "does not exist"])
        && !has(&["argument", "parameter"])
}

/// The finding about a call that did not end with a result, if it did not. `what` names the call.
pub(crate) fn no_result(what: &str, outcome: &Outcome, place: Option<TextPlace>) -> Option<Finding> {
    let finding = match outcome {
        Outcome::Result(_) => return None,
        Outcome::Error(error) => {
            let mut finding = Finding::error("protocol-error", format!("{what} was answered with a JSON-RPC error"));
            finding.expected = Some("a result".to_owned());
            let data = error.data.as_ref().map(|data| format!(" (data: {})", shorten(&data.to_string(), 300)));
            finding.actual = Some(format!("error {error}{}", data.unwrap_or_default()));
            finding.help(match error.code {
                -32602 if names_nothing(&error.message) => {
                    "the server has nothing of this name; `mcprove list` prints what it offers"
                }
                -32602 => "the server rejects the arguments; `protocol_error: -32602` expects that",
                -32601 => "the server does not know the method or tool; `protocol_error: -32601` expects that",
                _ => "`protocol_error: true` expects an error; tools should report failures with `isError`",
            })
        }
        Outcome::Malformed(malformed) => {
            let evidence = String::from_utf8_lossy(&malformed.evidence[..malformed.evidence.len().min(2_000)]);
            let mut finding = Finding::error("malformed-reply", format!("{what}: {}", malformed.fault));
            finding.actual = Some(shorten(&escape_line(&evidence), 500).into_owned());
            finding
        }
        Outcome::Refused(refused) => {
            let mut finding = Finding::error("refused", format!("{what}: {}", refused.what));
            finding.help.clone_from(&refused.help);
            if !refused.evidence.is_empty() {
                let text = String::from_utf8_lossy(&refused.evidence);
                finding.actual = Some(shorten(&escape_line(&text), 500).into_owned());
            }
            finding
        }
        Outcome::TimedOut { after_ms } => {
            Finding::error("timeout", format!("{what} was not answered within {}", seconds(*after_ms)))
                .help("raise `timeout:` of the case (or `--timeout`) if the server needs longer")
        }
        Outcome::Closed { what: how, .. } => Finding::error("server-gone", format!("{how} before it answered {what}")),
        Outcome::Cancelled => Finding::error("cancelled", format!("{what} was cancelled")),
    };
    Some(match place {
        Some(place) => finding.at(place),
        None => finding,
    })
}

fn seconds(ms: u64) -> String {
    format!("{:.1} s", Duration::from_millis(ms).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::names_nothing;

    #[test]
    fn a_missing_name_is_told_from_bad_arguments() {
        for message in ["Unknown tool: echo", "MCP error -32602: Tool echo not found", "unknown tool `echo` (at /name)"]
        {
            assert!(names_nothing(message), "{message}");
        }
        for message in ["Invalid arguments for tool echo: unknown key", "`city` is missing", "File not found"] {
            assert!(!names_nothing(message), "{message}");
        }
    }
}
