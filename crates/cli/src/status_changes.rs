//! Status changes of cases since their last run.

use std::collections::BTreeMap;

use mcprove_judge::text_diff;
use mcprove_model::{CallRole, CaseReport, Report, Verdict};
use mcprove_report::escape_terminal_line;

/// Identity of a case: its file, its name and its trial.
type Key = (String, String, u32);

/// Result of a case, to compare with the next run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Last {
    status: Status,
    reply: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Passed,
    Failed,
    Skipped,
}

/// Results of all cases when they last ran.
#[derive(Debug, Default)]
pub(crate) struct StatusChanges {
    last: BTreeMap<Key, Last>,
}

impl StatusChanges {
    /// Takes a run and lists the cases whose status changed, with the differences in the replies of their servers.
    pub(crate) fn take(&mut self, report: &Report) -> String {
        let mut text = String::new();
        for case in &report.cases {
            let Some(now) = last(case) else { continue };
            let key = (case.started.file.clone(), case.started.name.clone(), case.started.trial);
            if let Some(before) = self.last.get(&key)
                && before.status != now.status
            {
                text.push_str(&describe_status_change(&case.started.name, before, &now));
            }
            self.last.insert(key, now);
        }
        text
    }

    /// True if a case did not pass when it last ran.
    pub(crate) fn failed(&self, file: &str, name: &str) -> bool {
        self.last.iter().any(|(key, last)| key.0 == file && key.1 == name && last.status == Status::Failed)
    }
}

fn last(case: &CaseReport) -> Option<Last> {
    let finished = case.finished.as_ref()?;
    let status = match finished.verdict {
        Verdict::Passed => Status::Passed,
        Verdict::Failed | Verdict::Error => Status::Failed,
        Verdict::Skipped { .. } => Status::Skipped,
    };
    let reply = finished.calls.iter().rfind(|call| call.role == CallRole::Act).and_then(|call| call.reply.as_deref());
    Some(Last { status, reply: readable(reply.unwrap_or_default()) })
}

/// A reply with a line for each value, so that a difference is a line.
fn readable(reply: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(reply) {
        Ok(value) => format!("{:#}", value.get("result").or_else(|| value.get("error")).unwrap_or(&value)),
        Err(_) => reply.to_owned(),
    }
}

fn describe_status_change(name: &str, before: &Last, now: &Last) -> String {
    let word = |status: Status| match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Skipped => "skipped",
    };
    let mut text =
        format!("\nchanged: {} ({} → {})\n", escape_terminal_line(name), word(before.status), word(now.status));
    if before.reply == now.reply {
        text.push_str("  the server answered the same\n");
    } else {
        for line in text_diff("before", "now", &before.reply, &now.reply).lines() {
            text.push_str("  ");
            text.push_str(&escape_terminal_line(line));
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcprove_model::{CallRecord, CaseFinished, CaseStarted};

    fn report(verdict: Verdict, reply: &str) -> Report {
        let started = CaseStarted {
            index: 0,
            name: "n".to_owned(),
            file: "f".to_owned(),
            line: 1,
            trial: 1,
            server: None,
            variant: None,
            tags: Vec::new(),
        };
        let call = CallRecord {
            fault: None,
            role: CallRole::Act,
            method: "tools/call".to_owned(),
            subject: None,
            server: None,
            request: String::new(),
            reply: Some(format!("{{\"result\":{{\"text\":\"{reply}\"}}}}")),
            elapsed_us: 0,
        };
        let finished = CaseFinished { calls: vec![call], ..CaseFinished::new(0, verdict, Vec::new()) };
        let case = CaseReport {
            run: 0,
            started,
            sessions: Vec::new(),
            frames: Vec::new(),
            cut_frames: BTreeMap::new(),
            finished: Some(finished),
        };
        Report { cases: vec![case], ..Report::default() }
    }

    #[test]
    fn only_what_ended_otherwise_is_told() {
        let mut status_changes = StatusChanges::default();
        assert_eq!(status_changes.take(&report(Verdict::Passed, "a")), "");
        assert_eq!(status_changes.take(&report(Verdict::Passed, "b")), "");
        let told = status_changes.take(&report(Verdict::Failed, "c\\u001b[31m"));
        assert!(told.contains("changed: n (passed → failed)\n"), "{told}");
        assert!(told.contains("-  \"text\": \"b\"") && told.contains("+  \"text\": \"c"), "{told}");
        assert!(!told.contains('\u{1b}'));
        assert!(status_changes.failed("f", "n") && !status_changes.failed("f", "m"));
        assert!(status_changes.take(&report(Verdict::Error, "c")).is_empty(), "it has not passed before either");
    }
}
