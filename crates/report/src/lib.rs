//! Output of mcprove: events as terminal lines, reports as files.
//!
//! Everything here is a function of [`mcprove_model::Event`]s or of the [`mcprove_model::Report`] they fold into. Nothing
//! waits, reads a clock, opens a file or knows where its bytes go. Text from outside is escaped where it
//! is written, by the rules of the place it is written to.

mod baseline;
mod call_progress;
mod columns;
mod compat_json;
mod conformance;
mod coverage_table;
mod duration;
mod escape;
mod evidence;
mod explanation;
mod formats;
mod fuzz_table;
mod json_text;
mod json_view;
mod load;
mod matrix;
mod ndjson;
mod one_line;
mod progress;
mod reliability;
mod rerun_command;
mod scan_tables;
mod snippet;
mod status;
mod style;
mod terminal;
mod threshold;
mod time_breakdown;
mod trials_tables;
mod usage;
mod wrap;

pub use baseline::{Baseline, Comparison, Regression};
pub use call_progress::CallProgress;
pub use compat_json::{of_mistakes as compat_json_of_mistakes, render as compat_json};
pub use conformance::conformance_table;
pub use coverage_table::coverage_table;
pub use escape::{
    line as escape_terminal_line, name as escape_terminal_name, printed as escape_terminal_output,
    printed_plain as escape_plain_output,
};
pub use formats::html::{PAGE_SCRIPT, PAGE_STYLE, page_data};
pub use formats::{FORMATS, Format, Shows};
pub use fuzz_table::fuzz_table;
pub use json_text::{line as to_safe_json_line, pretty as to_safe_json, stored as to_stored_json};
pub use load::{K6Call, K6Script, LoadLine, load_of, load_summary, openmetrics, otlp};
pub use ndjson::{Events, ReadError, read_events, write_event};
pub use one_line::OneLine;
pub use progress::Progress;
pub use reliability::{Failing, Reliability, Trials};
pub use scan_tables::{
    AuditFacts, Detail, audit_table, contract_table, is_tool, known_word, scan_counts, score, tool_verdict,
};
pub use snippet::render_findings;
pub use status::status_word;
pub use style::Style;
pub use terminal::{Terminal, TerminalOptions, Verbosity};
pub use threshold::{Share, Threshold};
