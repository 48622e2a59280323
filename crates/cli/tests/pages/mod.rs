//! One file a page.

pub(crate) mod checks;
pub(crate) mod commands;
pub(crate) mod conformance;
pub(crate) mod findings;
pub(crate) mod formats;
pub(crate) mod keys;
pub(crate) mod public_names;
pub(crate) mod rule_texts;

/// Says where a page comes from, for whoever opens the file.
pub(crate) fn made_from(what: &str) -> String {
    format!("<!-- Made from {what} by `SNAPSHOTS=overwrite cargo test -p mcprove --test cli generated_pages`. -->\n")
}

/// Text for a cell of a table.
pub(crate) fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
