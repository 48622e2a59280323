//! Conformance of event logs: whatever a log holds, its conversations are judged without a panic, and the same twice.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_judge::conformance::{Channel, Evidence, Recording, STATIC_RULES, findings, judge};
use mcprove_model::{Event, Report, Revision};
use mcprove_report::{Events, Style, render_findings};

fuzz_target!(|data: &[u8]| {
    let events: Vec<Event> = Events::new(data).map_while(Result::ok).collect();
    let mut report = Report::fold(events);
    report.settle();
    for case in &report.cases {
        for session in &case.sessions {
            let Some(revision) = Revision::parse(&session.protocol) else { continue };
            for channel in [Channel::Stdio, Channel::Http] {
                let evidence = || {
                    let frames = case.frames.iter().filter(|(number, _)| *number == session.session);
                    Evidence::new(revision, channel, vec![Recording::from_frames(frames.map(|(_, frame)| frame))])
                };
                let verdicts = || -> Vec<_> {
                    let graded = judge(&evidence(), |rule| STATIC_RULES.contains(&rule.id));
                    graded.iter().flat_map(findings).collect()
                };
                let found = verdicts();
                assert_eq!(found, verdicts(), "the same log has the same verdicts");
                let _ = render_findings(&found, &Style::default());
            }
        }
    }
});
