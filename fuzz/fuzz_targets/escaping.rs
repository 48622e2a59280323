//! Escaping: no text acts on a terminal or in the log of a CI system.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_model::{escape_line, escape_text, is_active};
use mcprove_report::{escape_terminal_line, escape_terminal_name, escape_terminal_output};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for line in [
        escape_line(&text).into_owned(),
        escape_terminal_line(&text).to_string(),
        escape_terminal_name(&text).to_string(),
    ] {
        assert!(!line.contains(['\n', '\r']) && !line.chars().any(is_active), "{line:?}");
    }
    let shown = escape_text(&text);
    assert!(!shown.chars().any(|c| is_active(c) && !matches!(c, '\n' | '\t')), "{shown:?}");
    // Colours stay.
    let printed = escape_terminal_output(&text);
    assert!(!printed.chars().any(|c| is_active(c) && !matches!(c, '\n' | '\t' | '\u{1b}')), "{printed:?}");
    let acts = |line: &str| line.starts_with("::") || line.starts_with("##[");
    assert!(!printed.lines().any(acts), "{printed:?}");
});
