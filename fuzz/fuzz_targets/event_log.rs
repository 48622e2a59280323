//! The reader of event logs: whatever a file holds, it is read or said to be wrong; what is read can be written and read
//! again, and every report can be made of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_model::{Event, Report};
use mcprove_report::{Events, FORMATS, compat_json, read_events, write_event};

fuzz_target!(|data: &[u8]| {
    let events: Vec<Event> = Events::new(data).map_while(Result::ok).collect();
    let mut written = Vec::new();
    for event in &events {
        write_event(&mut written, event).expect("a vector takes everything");
    }
    let mut again = Vec::new();
    for event in read_events(&written[..]).expect("what was written can be read") {
        write_event(&mut again, &event).expect("a vector takes everything");
    }
    assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&again));
    let mut report = Report::fold(events);
    report.settle();
    for format in FORMATS {
        let _ = (format.render)(&report);
    }
    let _ = compat_json(&report);
});
