//! Keys of the other tool that are outside our subset: each is an error that names the nearest thing we have.

use mcprove_model::{Diagnostics, Entry, Key};

/// Keys of a suite file, and what to do instead.
pub(super) const OF_SUITE: &[(&str, &str)] = &[
    ("corpus", "`mcprove conformance` has its rules built in"),
    ("input_responder", "no service is asked; `input_responses` of a test answers by key, `elicitation` in turn"),
    ("mock_server", "a manifest is a file of its own; `mock` of a server plays it"),
    ("model_compat", "`mcprove run --save-baseline FILE` and `--baseline FILE` compare two runs"),
];

/// Keys of a test, and what to do instead.
pub(super) const OF_TEST: &[(&str, &str)] = &[
    ("hooks", "`hooks` at the top run around each test; `setup` of a test calls tools"),
    ("inject_error", "it is for tests of `tools`"),
    ("input_responder", "no service is asked; `input_responses` answers by key, `elicitation` in turn"),
    ("input_responses", "it is for tests of `tools`"),
    ("metamorphic", "it is for tests of `tools`"),
    ("transform", "it is for tests of `tools`; an assertion may have one, too"),
];

/// Reports the keys that mean nothing here: known elsewhere, or misspelt.
pub(crate) fn known_keys<'n>(
    entries: impl IntoIterator<Item = &'n Entry>,
    what: &str,
    known: &[&str],
    outside: &[(&'static str, &'static str)],
    found: &mut Diagnostics<'_>,
) {
    for Entry { key, .. } in entries {
        if !known.contains(&key.text.as_str()) && !is_told(key, what, outside, found) {
            found.unknown_key(key, what, known);
        }
    }
}

/// Reports a key that is known elsewhere; false where it is not.
pub(super) fn is_told(
    key: &Key,
    what: &str,
    outside: &[(&'static str, &'static str)],
    found: &mut Diagnostics<'_>,
) -> bool {
    let Some((_, instead)) = outside.iter().find(|(name, _)| *name == key.text) else { return false };
    let message = format!("`{}` of {what} is not supported", key.text);
    found.error_with_help("unsupported-key", key.span, message, *instead);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        for table in [OF_SUITE, OF_TEST] {
            assert!(table.is_sorted_by_key(|(name, _)| name.to_lowercase()), "{table:?}");
        }
    }
}
