//! Standard output.

use std::io::{self, Write as _};

use mcprove_report::escape_terminal_output;

use crate::failure::Failure;

/// Prints text for people, or JSON: whatever a terminal or a CI system would obey in it is escaped.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_exactly(&escape_terminal_output(text))
}

/// Prints data that a program reads, workflow commands, and control sequences of our own; nothing is escaped. A reader that
/// went away has seen what it wanted.
pub(crate) fn print_exactly(text: &str) -> Result<(), Failure> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Other { message: format!("standard output could not be written: {error}"), help: None })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
