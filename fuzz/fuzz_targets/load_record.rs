//! Records of loads: whatever a log holds, it is merged, judged, compared and shown without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_judge::load::{compare, findings, merge_loads};
use mcprove_model::{Event, Report};
use mcprove_report::{Events, load_of, load_summary, openmetrics, otlp};

fuzz_target!(|data: &[u8]| {
    let events: Vec<Event> = Events::new(data).map_while(Result::ok).collect();
    let mut report = Report::fold(events);
    report.settle();
    merge_loads(&mut report);
    if let Some((_, load)) = load_of(&report) {
        let _ = findings(load);
        let _ = compare(load, load);
    }
    let _ = (openmetrics(&report), otlp(&report), load_summary(&report));
});
