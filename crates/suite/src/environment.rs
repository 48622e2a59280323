//! `${VAR}`: values from the environment of the caller, in `server.env` and headers; `${secret:VAR}` in all that says how a
//! server is started or reached.

use std::ops::Range;

use mcprove_model::{Diagnostics, Span, nearest};

use crate::template::literal_text;

/// Defaults may hold variables of their own; deeper nesting than this is a mistake.
const MAX_NESTING: usize = 16;

/// A text after expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    /// The text.
    pub text: String,
    /// The values that came from variables; they are not to be shown.
    pub secrets: Vec<String>,
    /// Problems with variables.
    pub problems: Vec<Problem>,
}

/// Something wrong with a variable in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// The bytes of the text it is about.
    pub range: Range<usize>,
}

/// Kinds of problems with a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// It is not set, and expands to nothing.
    Unset {
        /// Its name.
        name: String,
    },
    /// It is not set, and the author insists on it (`${NAME:?message}`).
    Required {
        /// Its name.
        name: String,
        /// The author's message.
        message: String,
    },
    /// It is not written as a variable can be.
    Malformed {
        /// Why not.
        message: String,
    },
}

/// Expands `$VAR`, `${VAR}`, `${VAR:-default}`, `${VAR:?message}`, `${secret:VAR}` and `$$` (a dollar sign).
///
/// As in a shell, `:-` and `:?` treat an empty variable as one that is not set.
pub fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Expanded {
    let mut expanded = Expanded::default();
    Expansion { lookup, values: Values::Plain, expanded: &mut expanded }.run(text, 0, 0);
    expanded
}

/// The same for a text that is read for `{{name}}` afterwards: braces in values mean themselves.
fn expand_before_templates(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Expanded {
    let mut expanded = Expanded::default();
    Expansion { lookup, values: Values::Escaped, expanded: &mut expanded }.run(text, 0, 0);
    expanded
}

/// Prefix of a variable that must be set, and whose value is not to be shown.
pub(crate) const SECRET: &str = "${secret:";

/// Expands `${secret:VAR}` alone, for a text that is read for `{{name}}` afterwards. `$VAR` and `${VAR}` are left to the
/// reader of the text, which may be a shell; before `{secret:`, `$$` is a literal dollar sign.
fn expand_secrets(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Expanded {
    let mut expanded = Expanded::default();
    let mut done = 0;
    while let Some(at) = text[done..].find(SECRET).map(|at| done + at) {
        let before = text[done..at].trim_end_matches('$');
        let dollars = at + 1 - done - before.len();
        expanded.text.push_str(before);
        expanded.text.extend(std::iter::repeat_n('$', dollars / 2));
        if dollars.is_multiple_of(2) {
            expanded.text.push_str(&SECRET[1..]);
            done = at + SECRET.len();
            continue;
        }
        let mut expansion = Expansion { lookup, values: Values::Escaped, expanded: &mut expanded };
        done = at + 1 + expansion.braced(&text[at + 2..], at, 0);
    }
    expanded.text.push_str(&text[done..]);
    expanded
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

/// Which variables of a text are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forms {
    /// Every form, in a text that means nothing else.
    All,
    /// Every form, in a text that is read for `{{name}}` afterwards.
    AllBeforeTemplates,
    /// `${secret:VAR}` alone, in a text that is read for `{{name}}` afterwards.
    Secrets,
}

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

/// Expands a text at `span` and reports its problems.
pub(crate) fn expand_reporting(
    (text, forms): (&str, Forms),
    span: Span,
    (environment, unset): (&Environment<'_>, Unset),
    found: &mut Diagnostics<'_>,
) -> Expanded {
    let expanded = match forms {
        Forms::All => expand(text, environment.lookup),
        Forms::AllBeforeTemplates => expand_before_templates(text, environment.lookup),
        Forms::Secrets => expand_secrets(text, environment.lookup),
    };
    // If the file has the text letter by letter, the caret goes under the variable itself.
    let offset = match (span.end - span.start) as usize {
        length if length == text.len() => Some(span.start as usize),
        length if length == text.len() + 2 => Some(span.start as usize + 1),
        _ => None,
    };
    for problem in &expanded.problems {
        let place = offset.map_or(span, |offset| Span::new(offset + problem.range.start, offset + problem.range.end));
        match &problem.kind {
            ProblemKind::Unset { name } if unset == Unset::Reported => {
                let help = match nearest(name, environment.names.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`? a default is written `${{{name}:-default}}`"),
                    None => format!("set it, or give a default: `${{{name}:-default}}`"),
                };
                let message = format!("the environment variable `{name}` is not set; it becomes empty");
                found.warning("unset-variable", place, message, Some(help));
            }
            ProblemKind::Required { name, message } if unset == Unset::Reported => {
                let message = match message.as_str() {
                    "" => format!("the environment variable `{name}` must be set"),
                    why => format!("the environment variable `{name}` must be set: {why}"),
                };
                found.error_with_help("required-variable", place, message, format!("set `{name}` and run again"));
            }
            ProblemKind::Unset { .. } | ProblemKind::Required { .. } => {}
            ProblemKind::Malformed { message } => found.error_with_help(
                "bad-variable",
                place,
                message,
                "write `${NAME}`, `${NAME:-default}`, `${NAME:?message}` or `${secret:NAME}`; `$$` is a dollar sign",
            ),
        }
    }
    expanded
}

/// Form of values inserted into a text.
#[derive(Clone, Copy, PartialEq)]
enum Values {
    /// As they are.
    Plain,
    /// So that no `{{name}}` in them is one of the text.
    Escaped,
}

struct Expansion<'e> {
    lookup: &'e dyn Fn(&str) -> Option<String>,
    values: Values,
    expanded: &'e mut Expanded,
}

impl Expansion<'_> {
    /// Expands `text`, which is at `offset` of the whole.
    fn run(&mut self, text: &str, offset: usize, depth: usize) {
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            self.expanded.text.push_str(&rest[..dollar]);
            let at = offset + text.len() - rest.len() + dollar;
            let after = &rest[dollar + 1..];
            let taken = if after.starts_with('$') {
                self.expanded.text.push('$');
                1
            } else if let Some(inside) = after.strip_prefix('{') {
                self.braced(inside, at, depth)
            } else {
                let length = name_length(after);
                if length == 0 {
                    self.expanded.text.push('$');
                } else {
                    self.plain(&after[..length], at..at + 1 + length);
                }
                length
            };
            rest = &after[taken..];
        }
        self.expanded.text.push_str(rest);
    }

    /// Expands what follows `${` and says how many bytes after the `$` it took.
    fn braced(&mut self, inside: &str, at: usize, depth: usize) -> usize {
        let Some(length) = closing_brace(inside) else {
            self.problem(ProblemKind::Malformed { message: "`${` is never closed".to_owned() }, at..at + 2);
            self.expanded.text.push_str("${");
            return 1;
        };
        let taken = length + 2;
        let range = at..at + 1 + taken;
        let body = &inside[..length];
        let (name, operation) = body.split_at(name_length(body));
        if name.is_empty() || depth > MAX_NESTING {
            let message = format!("`${{{body}}}` names no variable");
            self.problem(ProblemKind::Malformed { message }, range);
        } else if operation.is_empty() {
            self.plain(name, range);
        } else if let Some(default) = operation.strip_prefix(":-") {
            match self.value(name).filter(|value| !value.is_empty()) {
                Some(value) => self.secret(value),
                None => self.run(default, at + 2 + length - default.len(), depth + 1),
            }
        } else if let Some(message) = operation.strip_prefix(":?") {
            if let Some(value) = self.value(name).filter(|value| !value.is_empty()) {
                self.secret(value);
            } else {
                let kind = ProblemKind::Required { name: name.to_owned(), message: message.to_owned() };
                self.problem(kind, range);
            }
        } else if let Some(name) = secret_name(body) {
            if let Some(value) = self.value(name) {
                self.secret(value);
            } else {
                // What is built of it, an address for instance, is not to be judged without it.
                self.expanded.text.extend([SECRET, name, "}"]);
                self.problem(ProblemKind::Required { name: name.to_owned(), message: String::new() }, range);
            }
        } else {
            let message = format!("`${{{body}}}` is not a form that is understood");
            self.problem(ProblemKind::Malformed { message }, range);
        }
        taken
    }

    fn plain(&mut self, name: &str, range: Range<usize>) {
        match self.value(name) {
            Some(value) => self.secret(value),
            None => self.problem(ProblemKind::Unset { name: name.to_owned() }, range),
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        (self.lookup)(name)
    }

    fn secret(&mut self, value: String) {
        match self.values {
            Values::Plain => self.expanded.text.push_str(&value),
            Values::Escaped => self.expanded.text.push_str(&literal_text(&value, &[])),
        }
        if !value.is_empty() && !self.expanded.secrets.contains(&value) {
            self.expanded.secrets.push(value);
        }
    }

    fn problem(&mut self, kind: ProblemKind, range: Range<usize>) {
        self.expanded.problems.push(Problem { kind, range });
    }
}

/// The name in `secret:NAME`.
fn secret_name(body: &str) -> Option<&str> {
    body.strip_prefix("secret:").filter(|name| is_name(name))
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

/// The length up to the brace that closes an already open one.
pub(crate) fn closing_brace(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let bytes = text.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if index > 0 && bytes[index - 1] == b'$' => open += 1,
            b'}' if open == 0 => return Some(index),
            b'}' => open -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        match name {
            "KEY" => Some("s3cret".to_owned()),
            "USER" => Some("ada".to_owned()),
            "EMPTY" => Some(String::new()),
            "BRACES" => Some("{{fixture}}".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn every_form_expands() {
        for (text, expected) in [
            ("$KEY", "s3cret"),
            ("Bearer ${KEY}!", "Bearer s3cret!"),
            ("$USER:$KEY@host", "ada:s3cret@host"),
            ("${GONE:-sqlite:///tmp/x.db}", "sqlite:///tmp/x.db"),
            ("${EMPTY:-default}", "default"),
            ("${KEY:-default}", "s3cret"),
            ("${GONE:-${USER}}/x", "ada/x"),
            ("${GONE:-}", ""),
            ("${KEY:?needed}", "s3cret"),
            ("a$$b", "a$b"),
            ("costs $5 or $", "costs $5 or $"),
            ("${EMPTY}", ""),
            ("é$KEY", "és3cret"),
            ("${secret:KEY}", "s3cret"),
        ] {
            let expanded = expand(text, &lookup);
            assert_eq!(expanded.text, expected, "{text}");
            assert_eq!(expanded.problems, [], "{text}");
        }
    }

    #[test]
    fn values_of_variables_are_secrets_and_defaults_are_not() {
        assert_eq!(expand("$KEY ${KEY} ${GONE:-plain} $USER", &lookup).secrets, ["s3cret", "ada"]);
    }

    #[test]
    fn where_a_shell_may_read_on_only_secrets_are_expanded() {
        for (text, expected) in [
            ("--key=${secret:KEY}/${secret:USER}", "--key=s3cret/ada"),
            ("echo $KEY ${KEY} $$ $", "echo $KEY ${KEY} $$ $"),
            ("$${secret:KEY} ${secret:KEY}", "${secret:KEY} s3cret"),
            ("a$$${secret:KEY}$$$${secret:KEY}", "a$s3cret$${secret:KEY}"),
            ("${secret:BRACES}/{{fixture}}", "{{'{{'}}fixture}}/{{fixture}}"),
        ] {
            let expanded = expand_secrets(text, &lookup);
            assert_eq!(expanded.text, expected, "{text}");
            assert_eq!(expanded.problems, [], "{text}");
        }
        assert_eq!(expand_secrets("${secret:BRACES}", &lookup).secrets, ["{{fixture}}"]);
        assert_eq!(expand_before_templates("$BRACES", &lookup).text, "{{'{{'}}fixture}}");
        let problems = expand_secrets("é ${secret:GONE} ${secret:", &lookup).problems;
        let ranges: Vec<_> = problems.iter().map(|problem| problem.range.clone()).collect();
        assert_eq!(ranges, [3..17, 18..20]);
    }

    #[test]
    fn problems_know_their_bytes() {
        let problems = |text: &str| -> Vec<(String, ProblemKind)> {
            let expanded = expand(text, &lookup);
            expanded.problems.into_iter().map(|p| (text[p.range].to_owned(), p.kind)).collect()
        };
        let unset = |name: &str| ProblemKind::Unset { name: name.to_owned() };
        assert_eq!(
            problems("a ${GONE} $LOST/x"),
            [("${GONE}".to_owned(), unset("GONE")), ("$LOST".to_owned(), unset("LOST"))]
        );
        assert_eq!(problems("é${GONE:-${LOST}}"), [("${LOST}".to_owned(), unset("LOST"))]);
        let required = ProblemKind::Required { name: "GONE".to_owned(), message: "get one".to_owned() };
        assert_eq!(problems("${GONE:?get one}"), [("${GONE:?get one}".to_owned(), required)]);
        let required = ProblemKind::Required { name: "GONE".to_owned(), message: String::new() };
        assert_eq!(problems("${secret:GONE}"), [("${secret:GONE}".to_owned(), required)]);
        for malformed in ["${GONE", "${}", "${A-b}", "${5}", "${A:+b}", "${secret:}", "${secret:a b}"] {
            assert!(matches!(problems(malformed)[..], [(_, ProblemKind::Malformed { .. })]), "{malformed}");
        }
    }
}
