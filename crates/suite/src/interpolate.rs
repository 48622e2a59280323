//! `${NAME}` in texts: values of the environment, and in suite files of `variables` and the suite's own folder.
//!
//! There is one engine; which forms a text may hold is a [`Syntax`].

use std::ops::Range;

use mcprove_model::{Diagnostics, Kind, Node, Scalar, ScalarStyle, Span, nearest};
use serde_json::Value;

use crate::environment::{SECRET, Unset, is_name, name_length};
use crate::template::{literal_text, verbatim_start};
use crate::variables::Variables;

/// Defaults may hold references of their own; deeper nesting than this is a mistake.
const MAX_NESTING: usize = 16;

/// Forms of a reference, as authors write them.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// `$NAME`.
    Bare,
    /// `${NAME}`.
    Plain,
    /// `${NAME:-default}`.
    Default,
    /// `${NAME:?message}`.
    Required,
    /// `${env:NAME}`, and `${env:NAME:-default}`.
    Environment,
    /// `${secret:NAME}`.
    Secret,
}

impl Form {
    /// Its form, for help; `$NAME` works where a shell would read it too, and needs no advertising.
    fn written(self) -> Option<&'static str> {
        match self {
            Self::Bare => None,
            Self::Plain => Some("`${NAME}`"),
            Self::Default => Some("`${NAME:-default}`"),
            Self::Required => Some("`${NAME:?message}`"),
            Self::Environment => Some("`${env:NAME}`"),
            Self::Secret => Some("`${secret:NAME}`"),
        }
    }
}

/// The references that a text may hold, and the treatment of their values. `$$` is a dollar sign wherever one of the forms
/// could begin.
pub(crate) struct Syntax {
    forms: &'static [Form],
    /// True if other text after a dollar sign is a mistake; otherwise it is for another reader, such as `${args.x}`.
    is_strict: bool,
    /// True if braces in values mean themselves, because the text is read for `{{name}}` afterwards.
    escapes_braces: bool,
    /// True if no value of the environment is to be shown; otherwise, only those of `${secret:NAME}` are hidden.
    hides_values: bool,
}

impl Syntax {
    /// `env` and `headers` of a server in an assertion file.
    pub(crate) const PAIRS: Self =
        Self { forms: OF_ASSERTIONS, is_strict: true, escapes_braces: true, hides_values: true };

    /// The other texts of a server in an assertion file: dollar signs without `{secret:` are for a shell.
    pub(crate) const WORDS: Self = Self { forms: &[Form::Secret], ..Self::PAIRS };

    /// `redact` of an assertion file.
    pub(crate) const REDACTED: Self = Self { escapes_braces: false, ..Self::PAIRS };

    /// Every text of a suite file.
    pub(crate) const SUITE: Self =
        Self { forms: OF_SUITES, is_strict: false, escapes_braces: false, hides_values: false };

    /// `env` and `headers` of a server in a suite file.
    pub(crate) const SUITE_PAIRS: Self = Self { hides_values: true, ..Self::SUITE };

    fn has(&self, form: Form) -> bool {
        self.forms.contains(&form)
    }

    /// The forms, for help.
    fn help(&self) -> String {
        let written: Vec<&str> = self.forms.iter().filter_map(|form| form.written()).collect();
        let (last, others) = written.split_last().map_or(("", &[][..]), |(last, others)| (*last, others));
        let or = if others.is_empty() { "" } else { " or " };
        format!("write {}{or}{last}; `$$` is a dollar sign", others.join(", "))
    }
}

const OF_ASSERTIONS: &[Form] = &[Form::Bare, Form::Plain, Form::Default, Form::Required, Form::Secret];
const OF_SUITES: &[Form] = &[Form::Plain, Form::Default, Form::Required, Form::Environment, Form::Secret];

/// Replaces the references in texts, in place, and gathers what is not to be shown.
pub(crate) struct Interpolation<'v> {
    pub(crate) variables: &'v Variables<'v>,
    pub(crate) secrets: &'v mut Vec<String>,
    pub(crate) syntax: Syntax,
    pub(crate) unset: Unset,
}

impl Interpolation<'_> {
    /// Replaces the references in every text of a tree; keys stay as they are.
    ///
    /// A text that is nothing but one reference becomes the value itself, with its type.
    pub(crate) fn apply(&mut self, node: &mut Node, found: &mut Diagnostics<'_>) {
        let span = node.span;
        match &mut node.kind {
            Kind::Scalar(scalar) => {
                if let Some(value) = self.scalar(scalar, span, found) {
                    *node = Node::from_json(span, value);
                }
            }
            Kind::List(items) => items.iter_mut().for_each(|item| self.apply(item, found)),
            Kind::Map(entries) => entries.iter_mut().for_each(|entry| self.apply(&mut entry.value, found)),
        }
    }

    fn scalar(&mut self, scalar: &Scalar, span: Span, found: &mut Diagnostics<'_>) -> Option<Value> {
        let text = &scalar.text;
        if !scalar.is_text() || !text.contains('$') {
            return None;
        }
        let start = match scalar.style {
            ScalarStyle::Plain | ScalarStyle::Quoted => verbatim_start(text, span),
            ScalarStyle::Block => None,
        };
        let mut place = Place { span, start, found };
        let whole = self.reference(text, 0).filter(|reference| reference.range.end == text.len());
        if let Some(reference) = whole.filter(|_| self.syntax.has(Form::Plain)) {
            return self.value(&reference, &mut place, 0);
        }
        let replaced = self.text(text, 0, &mut place, 0);
        (replaced != text.as_str()).then_some(Value::String(replaced))
    }

    /// A text with its references replaced; it is at `offset` of the whole.
    fn text(&mut self, text: &str, offset: usize, place: &mut Place<'_, '_>, depth: usize) -> String {
        let mut result = String::with_capacity(text.len());
        let mut done = 0;
        while let Some(start) = text[done..].find('$').map(|at| at + done) {
            result.push_str(&text[done..start]);
            let after = text[start..].trim_start_matches('$');
            done = text.len() - after.len();
            if !self.syntax.has(Form::Plain) && !after.starts_with(&SECRET[1..]) {
                result.push_str(&text[start..done]);
                continue;
            }
            let count = done - start;
            result.extend(std::iter::repeat_n('$', count / 2));
            if count.is_multiple_of(2) {
                continue;
            }
            let Some(mut reference) = self.reference(text, done - 1) else {
                result.push('$');
                continue;
            };
            let written = &text[reference.range.clone()];
            done = reference.range.end;
            reference.range = offset + reference.range.start..offset + reference.range.end;
            match self.value(&reference, place, depth) {
                Some(Value::String(value)) => result.push_str(&value),
                Some(value) => result.push_str(&value.to_string()),
                None => result.push_str(written),
            }
        }
        result.push_str(&text[done..]);
        result
    }

    /// Value of a reference; `None` leaves it as it is written.
    fn value(&mut self, reference: &Reference<'_>, place: &mut Place<'_, '_>, depth: usize) -> Option<Value> {
        let name = reference.name;
        let value = match reference.form {
            Ok(Form::Environment | Form::Secret) => self.variables.environment(name).map(Value::String),
            Ok(Form::Bare | Form::Plain | Form::Default | Form::Required) if depth <= MAX_NESTING => {
                self.variables.get(name)
            }
            Ok(_) | Err(_) => {
                self.report_malformed(reference, place);
                return None;
            }
        };
        let wants_content = matches!(reference.form, Ok(Form::Default | Form::Required));
        if let Some(value) = value.filter(|value| !wants_content || value.as_str() != Some("")) {
            if !self.variables.has_room_for(&value) {
                let message = format!("with `{name}`, the values of references take too much memory");
                place.error("too-large", reference, message, "use shorter values, or fewer references".to_owned());
                return Some(Value::String(String::new()));
            }
            return Some(self.inserted(reference, value));
        }
        match reference.form {
            Ok(Form::Default) => {
                let offset = reference.range.end - 1 - reference.rest.len();
                return Some(Value::String(self.text(reference.rest, offset, place, depth + 1)));
            }
            Ok(Form::Bare | Form::Plain) => self.report_unset(reference, place),
            Ok(Form::Required | Form::Environment | Form::Secret) => self.report_missing(reference, place),
            Err(_) => {}
        }
        // What is built of a secret, an address for instance, is not to be judged without it.
        (reference.form != Ok(Form::Secret)).then(|| Value::String(String::new()))
    }

    /// A value as it is inserted; it is kept if it is not to be shown.
    fn inserted(&mut self, reference: &Reference<'_>, value: Value) -> Value {
        let Value::String(text) = value else { return value };
        let is_secret = match reference.form {
            Ok(Form::Secret) => true,
            Ok(_) => self.syntax.hides_values && self.variables.environment(reference.name).is_some(),
            Err(_) => false,
        };
        let inserted = if self.syntax.escapes_braces { literal_text(&text, &[]) } else { text.clone() };
        if is_secret && !text.is_empty() && !self.secrets.contains(&text) {
            self.secrets.push(text);
        }
        Value::String(inserted)
    }

    fn report_unset(&self, reference: &Reference<'_>, place: &mut Place<'_, '_>) {
        if self.unset == Unset::Ignored {
            return;
        }
        let name = reference.name;
        let (message, set) = if self.variables.is_of_suite() {
            (
                format!("`{name}` is neither set nor one of `variables`; it becomes empty"),
                "set it, add it to `variables`, or give a default",
            )
        } else {
            (format!("the environment variable `{name}` is not set; it becomes empty"), "set it, or give a default")
        };
        let help = match nearest(name, self.variables.names()) {
            Some(near) => format!("did you mean `{near}`? a default is written `${{{name}:-default}}`"),
            None => format!("{set}: `${{{name}:-default}}`"),
        };
        place.found.warning("unset-variable", place.of(reference), message, Some(help));
    }

    fn report_missing(&self, reference: &Reference<'_>, place: &mut Place<'_, '_>) {
        if self.unset == Unset::Ignored {
            return;
        }
        let Reference { name, rest, .. } = reference;
        let is_any = reference.form == Ok(Form::Required) && self.variables.is_of_suite();
        let kind = if is_any { "" } else { "the environment variable " };
        let why = if rest.is_empty() { String::new() } else { format!(": {rest}") };
        let message = format!("{kind}`{name}` must be set{why}");
        place.error("required-variable", reference, message, format!("set `{name}` and run again"));
    }

    fn report_malformed(&self, reference: &Reference<'_>, place: &mut Place<'_, '_>) {
        let body = reference.rest;
        let (message, help) = match reference.form {
            Err(Malformed::NeverClosed) => ("`${` is never closed".to_owned(), self.syntax.help()),
            Err(Malformed::Other) if reference.name == "capture" => {
                (format!("`${{{body}}}` is not understood here"), "a captured value is written `{{name}}`".to_owned())
            }
            Err(Malformed::Other) if !reference.name.is_empty() => {
                (format!("`${{{body}}}` is not a form that is understood"), self.syntax.help())
            }
            Err(Malformed::Other) => (format!("`${{{body}}}` names no variable"), self.syntax.help()),
            Ok(_) => (format!("`{}` is nested too deeply", reference.name), self.syntax.help()),
        };
        place.error("bad-variable", reference, message, help);
    }

    /// The reference that begins at a dollar sign of a text.
    fn reference<'t>(&self, text: &'t str, start: usize) -> Option<Reference<'t>> {
        let after = text.get(start..)?.strip_prefix('$')?;
        let Some(inside) = after.strip_prefix('{') else {
            let name = &after[..name_length(after)];
            let range = start..start + 1 + name.len();
            let is_bare = !name.is_empty() && self.syntax.has(Form::Bare);
            return is_bare.then_some(Reference { name, rest: "", form: Ok(Form::Bare), range });
        };
        let Some(length) = closing_brace(inside) else {
            let form = Err(Malformed::NeverClosed);
            return self.syntax.is_strict.then_some(Reference { name: "", rest: "", form, range: start..start + 2 });
        };
        let body = &inside[..length];
        let (name, rest) = body.split_at(name_length(body));
        let range = start..start + length + 3;
        let own = rest.strip_prefix(':').unwrap_or_default();
        let has_env = self.syntax.has(Form::Environment);
        let reference = match (name, own.split_once(":-")) {
            ("", _) => None,
            _ if rest.is_empty() => Some((Form::Plain, name, "")),
            _ if own.starts_with('-') => Some((Form::Default, name, &own[1..])),
            _ if own.starts_with('?') => Some((Form::Required, name, &own[1..])),
            ("env", Some((own, default))) if has_env && is_name(own) => Some((Form::Default, own, default)),
            ("env", _) if is_name(own) => Some((Form::Environment, own, "")),
            ("secret", _) if is_name(own) => Some((Form::Secret, own, "")),
            _ => None,
        };
        let reference = reference.filter(|(form, ..)| self.syntax.has(*form));
        // `${a.b}` and the like may be meant for others; a colon after a name never is.
        let is_mistake = self.syntax.is_strict || !name.is_empty() && rest.starts_with(':');
        match reference {
            Some((form, name, rest)) => Some(Reference { name, rest, form: Ok(form), range }),
            None => is_mistake.then_some(Reference { name, rest: body, form: Err(Malformed::Other), range }),
        }
    }
}

/// Place of a text.
struct Place<'p, 's> {
    span: Span,
    /// The offset of its first byte, if the file has the text letter by letter.
    start: Option<usize>,
    found: &'p mut Diagnostics<'s>,
}

impl Place<'_, '_> {
    fn of(&self, reference: &Reference<'_>) -> Span {
        self.start.map_or(self.span, |start| Span::new(start + reference.range.start, start + reference.range.end))
    }

    fn error(&mut self, rule: &'static str, reference: &Reference<'_>, message: String, help: String) {
        self.found.error_with_help(rule, self.of(reference), message, help);
    }
}

/// A `$NAME` or `${…}` in a text.
struct Reference<'t> {
    name: &'t str,
    /// The default or the message, or all that is written, if it has no form.
    rest: &'t str,
    form: Result<Form, Malformed>,
    range: Range<usize>,
}

/// Why something is not a reference.
#[derive(Clone, Copy, PartialEq)]
enum Malformed {
    NeverClosed,
    Other,
}

/// The length up to the brace that closes an already open one.
fn closing_brace(text: &str) -> Option<usize> {
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
mod tests;
