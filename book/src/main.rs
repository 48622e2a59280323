//! Builds the documentation: `cargo run -p book` writes HTML to `target/book`, or to the folder that is named.
//!
//! mdBook is used as a library, so that a machine that can build mcprove can build its documentation.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mdbook_driver::MDBook;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this program is its own command line")]
fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::args_os().nth(1).map_or_else(|| root.join("target/book"), PathBuf::from);
    let built = MDBook::load(root.join("docs")).and_then(|mut book| {
        book.config.build.build_dir = std::path::absolute(&target)?;
        book.build()
    });
    match built {
        Ok(()) => {
            println!("the book is in {}", target.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: the book could not be built: {error:#}");
            ExitCode::from(2)
        }
    }
}
