//! Patterns and formats as the oracle understands them, each compiled once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::budgeted_schema::options;

/// Compiled patterns and formats of one schema.
///
/// They are small schemas of their own, so that a pattern means here exactly what it means to the oracle, with its
/// look-arounds and its ECMAScript classes.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    patterns: RefCell<BTreeMap<String, Option<Rc<Validator>>>>,
    formats: RefCell<BTreeMap<String, Option<Rc<Validator>>>>,
}

impl Checked {
    /// True if a text matches a pattern; a pattern that does not compile matches nothing.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> bool {
        let known = compiled(&self.patterns, pattern, || json!({"pattern": pattern}));
        known.is_some_and(|validator| validator.is_valid(&Value::String(text.to_owned())))
    }

    /// True if a text has a format; an unknown format is had by every text.
    pub(crate) fn has_format(&self, format: &str, text: &str) -> bool {
        let known = compiled(&self.formats, format, || json!({"format": format}));
        known.is_none_or(|validator| validator.is_valid(&Value::String(text.to_owned())))
    }
}

fn compiled(
    known: &RefCell<BTreeMap<String, Option<Rc<Validator>>>>,
    name: &str,
    schema: impl Fn() -> Value,
) -> Option<Rc<Validator>> {
    if let Some(found) = known.borrow().get(name) {
        return found.clone();
    }
    let built = options().should_validate_formats(true).build(&schema()).ok().map(Rc::new);
    known.borrow_mut().insert(name.to_owned(), built.clone());
    built
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_the_oracle_means() {
        let checked = Checked::default();
        assert!(checked.matches(r"^\d+$", "42"));
        assert!(!checked.matches(r"^\d+$", "४२"), "digits are ASCII in ECMAScript");
        assert!(checked.matches("^(?=.*[0-9])[a-z0-9]+$", "a1"));
        assert!(!checked.matches("^(?=.*[0-9])[a-z0-9]+$", "ab"));
        assert!(!checked.matches("(", "("));
    }

    #[test]
    fn formats_are_checked_and_unknown_ones_are_not() {
        let checked = Checked::default();
        assert!(checked.has_format("date", "2024-02-29"));
        assert!(!checked.has_format("date", "2023-02-29"));
        assert!(checked.has_format("colour", "anything"));
    }
}
