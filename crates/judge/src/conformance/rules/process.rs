//! The process on stdio: what it prints, how it ends, what it survives.

use mcprove_model::shorten;
use serde_json::Value;

use super::BASE;
use crate::conformance::Answer;
use crate::conformance::evidence::{Channel, Step, What};
use crate::conformance::rule::{Level, Rule, Ruling};

pub(super) const STDOUT: Rule = Rule {
    id: "mcp-stdout",
    title: "writes one message per line to standard output and nothing else",
    clauses: &["STDIO-02", "STDIO-01", "RPC-20"],
    channel: Some(Channel::Stdio),
    section: "basic/transports#stdio",
    why: "Clients parse every line as JSON; a banner or a log line ends the connection or fills the log with errors.",
    bad: "Server running on stdio\n{\"jsonrpc\":\"2.0\",…}",
    good: "{\"jsonrpc\":\"2.0\",…}",
    blocked_by: &[],
    judge: stdout,
    ..BASE
};

fn stdout(ruling: &mut Ruling<'_>) {
    for (spot, _, _, payload) in ruling.evidence.received() {
        ruling.ok();
        let bytes = &payload.bytes;
        match &payload.json {
            None if bytes.iter().all(u8::is_ascii_whitespace) => {
                ruling.at("STDIO-02", false, spot, "a blank line was written");
            }
            None if std::str::from_utf8(bytes).is_err() => {
                ruling.at("RPC-20", true, spot, "a line is not UTF-8");
            }
            None => {
                let text = payload.text();
                let is_json = text.trim_start().starts_with(['{', '}', '[', ']', '"']);
                let (clause, what) = if is_json {
                    ("STDIO-01", "a line is not a whole JSON message")
                } else {
                    ("STDIO-02", "a line is not a message")
                };
                ruling.at(clause, true, spot, format!("{what}: {}", shorten(&text, 120)));
            }
            Some(Value::Object(_)) if payload.json.as_ref().is_some_and(super::messages::is_message) => {
                if bytes.ends_with(b"\r") {
                    ruling.at("STDIO-02", false, spot, "a line ends with CR LF");
                }
            }
            Some(Value::Array(_)) => {}
            Some(json) => {
                let text = json.to_string();
                ruling.at("STDIO-02", true, spot, format!("a line is JSON, but no message: {}", shorten(&text, 120)));
            }
        }
        // One line shows what is wrong; a server that logs to stdout would fill the report.
        if ruling.violations.len() >= 5 {
            return;
        }
    }
}

pub(super) const EXITS_ON_EOF: Rule = Rule {
    id: "mcp-exits-on-eof",
    title: "exits when standard input is closed",
    clauses: &["STDIO-05", "STDIO-07"],
    level: Level::Should,
    channel: Some(Channel::Stdio),
    section: "basic/lifecycle#shutdown; 2026-07-28 basic/transports/stdio#shutdown",
    why: "Clients close the input to end a session; a server that stays is an orphan that holds memory and locks.",
    bad: "stdin closed → still running after 2 s",
    good: "stdin closed → exit",
    judge: exits_on_eof,
    ..BASE
};

fn exits_on_eof(ruling: &mut Ruling<'_>) {
    for recording in &ruling.evidence.recordings {
        let Some(closed) = recording.position(|what| matches!(what, What::InputClosed)) else { continue };
        let after = &recording.entries[closed..];
        let ended = |what: &What| matches!(what, What::Exited(..) | What::OutputClosed);
        let killed = |what: &What| matches!(what, What::Killed | What::Terminated);
        let first = after.iter().find(|entry| ended(&entry.what) || killed(&entry.what));
        ruling.checked += 1;
        if first.is_some_and(|entry| killed(&entry.what)) {
            let probe = recording.probe;
            ruling.general(
                "STDIO-05",
                false,
                format!("the server was still running after its input was closed (probe `{probe}`)"),
            );
        }
    }
}

pub(super) const NO_ORPHANS: Rule = Rule {
    id: "mcp-no-orphans",
    title: "exits on SIGTERM and leaves no processes behind",
    clauses: &["PROC-01", "STDIO-06"],
    level: Level::Derived,
    channel: Some(Channel::Stdio),
    section: "basic/lifecycle#shutdown",
    why: "Hosts restart servers often; what is left behind adds up.",
    bad: "exit, and a child of the server is still running",
    good: "exit, and the process group is empty",
    judge: no_orphans,
    ..BASE
};

fn no_orphans(ruling: &mut Ruling<'_>) {
    for recording in &ruling.evidence.recordings {
        let probe = recording.probe;
        if let Some(sent) = recording.position(|what| matches!(what, What::Terminated)) {
            let is_asked_first = !recording.entries[..sent].iter().any(|entry| matches!(entry.what, What::InputClosed));
            if is_asked_first {
                ruling.checked += 1;
                if recording.entries[sent..].iter().any(|entry| matches!(entry.what, What::Killed)) {
                    ruling.general(
                        "STDIO-06",
                        false,
                        format!("the server was still running after SIGTERM (probe `{probe}`)"),
                    );
                }
            }
        }
        if recording.position(|what| matches!(what, What::Exited(..))).is_some() {
            ruling.checked += 1;
            if recording.position(|what| matches!(what, What::Leftovers)).is_some() {
                ruling.general("PROC-01", false, format!("processes of the server outlived it (probe `{probe}`)"));
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("the server is not a process");
    }
}

pub(super) const SURVIVES_MALFORMED: Rule = Rule {
    id: "mcp-survives-malformed",
    title: "survives malformed input and does not act on it",
    clauses: &["RPC-09", "RPC-10", "PROC-02", "PROC-03"],
    level: Level::Derived,
    section: "JSON-RPC 2.0, sections 4 and 5.1",
    why: "One bad message of one client ends the session, and over HTTP the service for all clients.",
    bad: r#"{"jsonrpc": → exit code 1"#,
    good: r#"{"jsonrpc": → {"id":null,"error":{"code":-32700,…}}, and the next request is answered"#,
    judge: survives_malformed,
    ..BASE
};

fn survives_malformed(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    let is_answered = |step: &Step<'_>| !matches!(step.answer(), Answer::Gone | Answer::Silence);
    // The end of the server is only the fault of the message before it.
    let survived: Vec<&str> =
        evidence.steps("hostile", "alive").into_iter().filter(is_answered).map(|step| step.subject()).collect();
    for step in evidence.steps("hostile", "bad") {
        ruling.ok();
        let what = step.subject();
        let is_gone = matches!(step.answer(), Answer::Gone) && !survived.contains(&what);
        if evidence.channel == Channel::Stdio && is_gone {
            ruling.fail("PROC-02", &step, format!("malformed input ({what}) ended the server"));
        }
        let result = step.after().find_map(|(at, entry)| match &entry.what {
            What::Received(payload) => {
                let json = payload.json.as_ref()?;
                let is_result = json.get("method").is_none() && json.get("result").is_some();
                let is_own =
                    step.id().is_none_or(|id| json.get("id") == Some(id)) || json.get("id").is_some_and(Value::is_null);
                (is_result && is_own).then_some((step.spot().0, at))
            }
            _ => None,
        });
        if let Some(spot) = result.filter(|_| !matches!(what, "long" | "deep")) {
            // JSON-RPC advises against fractions as ids, and does not forbid them.
            let fails = what != "a fraction as id";
            ruling.at(
                "RPC-10",
                fails,
                spot,
                format!("a message that is not a request ({what}) was answered with a result"),
            );
        }
        let invented = step.after().find_map(|(at, entry)| match &entry.what {
            What::Received(payload) if step.sent.json.is_none() => {
                let json = payload.json.as_ref()?;
                let id = json.get("id").filter(|id| !id.is_null())?;
                (json.get("error").is_some()).then_some(((step.spot().0, at), id.clone()))
            }
            _ => None,
        });
        if let Some((spot, id)) = invented {
            ruling.at("RPC-09", false, spot, format!("the error to a message that cannot be read has the id {id}"));
        }
    }
    for step in evidence.steps("hostile", "alive") {
        ruling.ok();
        if matches!(step.answer(), Answer::Gone | Answer::Silence) {
            let words = step.answer().words();
            ruling.fail(
                "PROC-02",
                &step,
                format!("after malformed input ({}) a good request got {words}", step.subject()),
            );
            return;
        }
    }
}
