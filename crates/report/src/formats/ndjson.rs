//! The event log again: what was read, or several logs folded into one.

use mcprove_model::{CaseReport, Event, Report};

use super::{Format, Shows};
use crate::ndjson::write_event;

/// See the module.
pub(super) const FORMAT: Format = Format {
    name: "ndjson",
    extension: "ndjson",
    summary: "the event log, one event per line",
    shows: Shows::Everything,
    render,
};

fn render(report: &Report) -> String {
    let mut out = Vec::new();
    let mut write = |event: Event| {
        // Memory takes every byte, and events have no failing serialisers.
        let _ = write_event(&mut out, &event);
    };
    let mut findings = report.findings.iter();
    for (number, run) in report.runs.iter().enumerate() {
        run.started.iter().for_each(|started| write(Event::RunStarted(started.clone())));
        findings.by_ref().for_each(|finding| write(Event::Finding { finding: finding.clone() }));
        report.cases.iter().filter(|case| case.run == number).for_each(|case| events_of(case, &mut write));
        run.finished.iter().for_each(|finished| write(Event::RunFinished(finished.clone())));
    }
    String::from_utf8(out).unwrap_or_default()
}

fn events_of(case: &CaseReport, write: &mut impl FnMut(Event)) {
    let index = case.started.index;
    write(Event::CaseStarted(case.started.clone()));
    case.sessions.iter().for_each(|session| write(Event::Connected(session.clone())));
    for (session, frame) in &case.frames {
        write(Event::Frame { index, session: *session, frame: frame.clone() });
    }
    case.finished.iter().for_each(|finished| write(Event::CaseFinished(finished.clone())));
}
