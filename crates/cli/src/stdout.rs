//! Standard output.

use std::io::{self, Write as _};

use crate::failure::Failure;

/// Writes to standard output; a reader that went away has seen what it wanted.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Other { message: format!("standard output could not be written: {error}"), help: None })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
