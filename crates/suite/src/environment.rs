//! The caller's environment, and the names and dollar signs of variables in texts.

/// Prefix of a variable that must be set, and whose value is not to be shown.
pub(crate) const SECRET: &str = "${secret:";

/// The caller's environment.
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    /// The value of a variable.
    pub lookup: &'e dyn Fn(&str) -> Option<String>,
    /// The names that are set, for "did you mean".
    pub names: &'e [String],
}

/// Treatment of variables that are not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// They are reported.
    Reported,
    /// They are passed over: a case that is skipped because of a missing variable needs no warning about it.
    Ignored,
}

/// A text with those dollar signs doubled that `needs_two` says so of, by their number in a row and what follows them.
pub(crate) fn with_doubled_dollars(text: &str, needs_two: impl Fn(usize, &str) -> bool) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        let after = rest[start..].trim_start_matches('$');
        let count = rest.len() - start - after.len();
        result.push_str(&rest[..start]);
        result.extend(std::iter::repeat_n('$', if needs_two(count, after) { 2 * count } else { count }));
        rest = after;
    }
    result.push_str(rest);
    result
}

/// True if a text is the name of a variable.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}

/// Letters, digits and underscores, not beginning with a digit: `$5` is an amount of money.
pub(crate) fn name_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}
