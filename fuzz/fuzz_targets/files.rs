//! Readers of files besides suites and event logs: whatever a file holds, it is read or said to be wrong, within the memory
//! that `fuzz/run` allows. The first byte chooses the reader.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_judge::snapshot::SnapshotFile;
use mcprove_judge::{Catalog, trace};
use mcprove_model::SourceFile;
use mcprove_report::{Baseline, Style, render_findings};
use mcprove_suite::convert::mcptest;
use mcprove_suite::{answers, env_file};

fuzz_target!(|data: &[u8]| {
    let Some((reader, data)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(data);
    let source = SourceFile::new("file.yaml", text.as_ref());
    let findings = match reader % 8 {
        0 => env_file::parse(&source).1,
        1 => answers::parse(&source).1,
        2 => mcprove_mock::read(&source).1,
        3 => mcprove_mock::read(&SourceFile::new("file.json", text.as_ref())).1,
        4 => {
            if let Ok(baseline) = Baseline::parse(&text) {
                let again = Baseline::parse(&baseline.render());
                assert!(again.is_ok(), "what is written is read again: {again:?}");
            }
            Vec::new()
        }
        5 => {
            if let Ok(file) = SnapshotFile::parse(&text) {
                let written = file.write();
                let again = SnapshotFile::parse(&written).map(|file| file.write());
                assert_eq!(again.ok().as_deref(), Some(written.as_str()), "what is written is read again");
            }
            Vec::new()
        }
        6 => {
            let _ = (Catalog::read("tools.json", data.to_vec()).is_ok(), trace::logged(&text).is_ok());
            Vec::new()
        }
        _ => {
            let _ = mcptest::rewrite("suite.yaml", &text, |_| Vec::new());
            Vec::new()
        }
    };
    let _ = render_findings(&findings, &Style::default());
});
