//! How mcprove pretends to be a server: a manifest says what it offers and how it answers.

mod manifest;
mod placeholders;
mod serve;
mod server;

use std::path::Path;

use mcprove_model::{Diagnostics, Finding, SourceFile};
use mcprove_suite::yaml;

pub use manifest::{Manifest, MockPrompt, MockResource, MockTool};
pub use serve::serve;
pub use server::Mock;

/// Reads a manifest file; what is wrong with it is told with its places.
pub fn load(path: &Path) -> (Option<Manifest>, Vec<Finding>) {
    let shown = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => read(&SourceFile::new(shown, text)),
        Err(error) => {
            let finding = Finding::error("unreadable-file", format!("`{shown}` could not be read: {error}"))
                .help("give `--tools-from` a manifest file");
            (None, vec![finding])
        }
    }
}

/// Reads a manifest from its text.
pub fn read(source: &SourceFile) -> (Option<Manifest>, Vec<Finding>) {
    let (documents, mut findings) = yaml::parse(source);
    let Some(document) = documents.first().filter(|_| findings.is_empty()) else {
        if findings.is_empty() {
            findings.push(Finding::error("empty-file", format!("`{}` is empty", source.path())));
        }
        return (None, findings);
    };
    let mut found = Diagnostics::new(source);
    let manifest = manifest::decode(document, &mut found);
    findings.extend(found.into_findings());
    (Some(manifest), findings)
}
