//! Standard output.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use mcprove_report::{escape_plain_output, escape_terminal_output};

use crate::failure::Failure;
use crate::logins::without_tokens;

/// True if output is coloured.
static COLORED: AtomicBool = AtomicBool::new(false);

/// Says whether output is coloured; where it is not, no control sequence is ours.
pub(crate) fn set_colored(is_colored: bool) {
    COLORED.store(is_colored, Ordering::Relaxed);
}

/// Text for people, with what a terminal or a CI system would obey in it escaped.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    if COLORED.load(Ordering::Relaxed) { escape_terminal_output(text) } else { escape_plain_output(text) }
}

/// Prints text for people, or JSON: whatever a terminal or a CI system would obey in it is escaped.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_exactly(&guarded(&without_tokens(text)))
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
