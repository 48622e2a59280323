//! `${NAME}` in every text of a suite file: variables of the suite, of the environment, and the suite's own folder.

use std::ops::Range;

use mcprove_model::{Diagnostics, Kind, Node, Scalar, ScalarStyle, Span, nearest};
use serde_json::Value;

use super::variables::Variables;
use crate::environment::{Unset, closing_brace, is_name, name_length};
use crate::template::verbatim_start;

/// Defaults may hold references of their own; deeper nesting than this is a mistake.
const MAX_NESTING: usize = 16;

/// Treatment of values that come from the environment.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Values {
    /// Only those asked for as `${secret:NAME}` are not to be shown.
    Shown,
    /// None of them is to be shown.
    Hidden,
}

/// Replaces the references in texts, in place, and gathers what is not to be shown.
pub(super) struct Interpolation<'v> {
    pub(super) variables: &'v Variables<'v>,
    pub(super) secrets: &'v mut Vec<String>,
    pub(super) values: Values,
    pub(super) unset: Unset,
}

impl Interpolation<'_> {
    /// Replaces the references in every text of a tree; keys stay as they are.
    ///
    /// A text that is nothing but one reference becomes the value itself, with its type.
    pub(super) fn apply(&mut self, node: &mut Node, found: &mut Diagnostics<'_>) {
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
        if let Some(reference) = Reference::at(text, 0).filter(|reference| reference.range.end == text.len()) {
            return self.value(&reference, &mut place, 0);
        }
        let replaced = self.text(text, 0, &mut place, 0);
        (replaced != text.as_str()).then_some(Value::String(replaced))
    }

    /// A text with its references replaced; it is at `offset` of the whole.
    fn text(&mut self, text: &str, offset: usize, place: &mut Place<'_, '_>, depth: usize) -> String {
        let mut result = String::with_capacity(text.len());
        let mut done = 0;
        while let Some(dollar) = text[done..].find('$').map(|at| at + done) {
            result.push_str(&text[done..dollar]);
            done = dollar + 1;
            if text[done..].starts_with('$') {
                result.push('$');
                done += 1;
            } else if let Some(mut reference) = Reference::at(text, dollar) {
                done = reference.range.end;
                reference.range = offset + reference.range.start..offset + reference.range.end;
                match self.value(&reference, place, depth) {
                    Some(Value::String(value)) => result.push_str(&value),
                    Some(value) => result.push_str(&value.to_string()),
                    None => result.push_str(&text[dollar..done]),
                }
            } else {
                result.push('$');
            }
        }
        result.push_str(&text[done..]);
        result
    }

    /// Value of a reference; `None` leaves it as it is written.
    fn value(&mut self, reference: &Reference<'_>, place: &mut Place<'_, '_>, depth: usize) -> Option<Value> {
        let name = reference.name;
        let value = match reference.form {
            Form::Environment | Form::Secret => self.variables.environment(name).map(Value::String),
            Form::Plain | Form::Default(_) | Form::Required(_) => self.variables.get(name),
            Form::Unknown => {
                report_unknown(reference, place);
                return None;
            }
        };
        let wants_content = matches!(reference.form, Form::Default(_) | Form::Required(_));
        let value = value.filter(|value| !wants_content || value.as_str() != Some(""));
        if let Some(value) = value {
            self.hide(reference, &value);
            return Some(value);
        }
        match reference.form {
            Form::Default(default) if depth < MAX_NESTING => {
                let offset = reference.range.end - 1 - default.len();
                return Some(Value::String(self.text(default, offset, place, depth + 1)));
            }
            Form::Plain if self.unset == Unset::Reported => self.report_unset(reference, place),
            Form::Required(message) if self.unset == Unset::Reported => {
                let why = if message.is_empty() { String::new() } else { format!(": {message}") };
                let text = format!("`{name}` must be set{why}");
                place.error("required-variable", reference, text, format!("set `{name}` and run again"));
            }
            Form::Environment | Form::Secret if self.unset == Unset::Reported => {
                let text = format!("the environment variable `{name}` is not set");
                place.error("required-variable", reference, text, format!("set `{name}` and run again"));
            }
            Form::Plain | Form::Default(_) | Form::Required(_) | Form::Environment | Form::Secret | Form::Unknown => {}
        }
        Some(Value::String(String::new()))
    }

    fn hide(&mut self, reference: &Reference<'_>, value: &Value) {
        let is_secret = match reference.form {
            Form::Secret => true,
            Form::Environment => self.values == Values::Hidden,
            Form::Plain | Form::Default(_) | Form::Required(_) => {
                self.values == Values::Hidden && self.variables.environment(reference.name).is_some()
            }
            Form::Unknown => false,
        };
        if let (true, Some(text)) = (is_secret, value.as_str())
            && !text.is_empty()
            && !self.secrets.iter().any(|known| known == text)
        {
            self.secrets.push(text.to_owned());
        }
    }

    fn report_unset(&self, reference: &Reference<'_>, place: &mut Place<'_, '_>) {
        let name = reference.name;
        let help = match nearest(name, self.variables.names()) {
            Some(near) => format!("did you mean `{near}`? a default is written `${{{name}:-default}}`"),
            None => format!("set it, add it to `variables`, or give a default: `${{{name}:-default}}`"),
        };
        let message = format!("`{name}` is neither set nor one of `variables`; it becomes empty");
        place.found.warning("unset-variable", place.of(reference), message, Some(help));
    }
}

fn report_unknown(reference: &Reference<'_>, place: &mut Place<'_, '_>) {
    let written = reference.body;
    let (message, help) = match reference.name {
        "capture" => {
            (format!("`${{{written}}}` is not understood here"), "a captured value is written `{{name}}`".to_owned())
        }
        _ => (
            format!("`${{{written}}}` is not a form that is understood"),
            "write `${NAME}`, `${NAME:-default}`, `${NAME:?message}`, `${env:NAME}` or `${secret:NAME}`; \
             `$$` is a dollar sign"
                .to_owned(),
        ),
    };
    place.error("bad-variable", reference, message, help);
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

/// A `${…}` in a text.
struct Reference<'t> {
    name: &'t str,
    body: &'t str,
    form: Form<'t>,
    range: Range<usize>,
}

#[derive(Clone, Copy)]
enum Form<'t> {
    /// `${NAME}`.
    Plain,
    /// `${NAME:-default}`.
    Default(&'t str),
    /// `${NAME:?message}`.
    Required(&'t str),
    /// `${env:NAME}`.
    Environment,
    /// `${secret:NAME}`.
    Secret,
    /// Something with a colon that is none of these.
    Unknown,
}

impl<'t> Reference<'t> {
    /// The reference that begins at a byte of a text. `${args.x}` and the like are meant for others.
    fn at(text: &'t str, start: usize) -> Option<Self> {
        let inside = text.get(start..)?.strip_prefix("${")?;
        let body = &inside[..closing_brace(inside)?];
        let range = start..start + body.len() + 3;
        let (name, rest) = body.split_at(name_length(body));
        if name.is_empty() {
            return None;
        }
        let made = |name, form| Some(Self { name, body, form, range: range.clone() });
        let Some(rest) = rest.strip_prefix(':') else {
            return if rest.is_empty() { made(name, Form::Plain) } else { None };
        };
        if let Some(default) = rest.strip_prefix('-') {
            return made(name, Form::Default(default));
        }
        if let Some(message) = rest.strip_prefix('?') {
            return made(name, Form::Required(message));
        }
        if name == "env"
            && let Some((own, default)) = rest.split_once(":-")
            && is_name(own)
        {
            return made(own, Form::Default(default));
        }
        match name {
            "env" if is_name(rest) => made(rest, Form::Environment),
            "secret" if is_name(rest) => made(rest, Form::Secret),
            _ => made(name, Form::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::SourceFile;
    use serde_json::json;

    use super::*;
    use crate::environment::Environment;

    fn lookup(name: &str) -> Option<String> {
        match name {
            "KEY" => Some("s3cret".to_owned()),
            "EMPTY" => Some(String::new()),
            "LIMIT" => Some("7".to_owned()),
            _ => None,
        }
    }

    fn interpolated(text: &str) -> (Value, Vec<String>, Vec<String>) {
        let source = SourceFile::new("a.yaml", text);
        let mut found = Diagnostics::new(&source);
        let mut variables = Variables::new(Environment { lookup: &lookup, names: &[] }, "/suite");
        variables.set("COUNT", json!(5));
        variables.set("LIMIT", json!(1));
        let mut node = Node::text_at(Span::new(0, text.len()), text);
        let mut secrets = Vec::new();
        let mut interpolation = Interpolation {
            variables: &variables,
            secrets: &mut secrets,
            values: Values::Shown,
            unset: Unset::Reported,
        };
        interpolation.apply(&mut node, &mut found);
        let told = found.into_findings().into_iter().map(|finding| match finding.place {
            Some(mcprove_model::Place::Text(place)) => {
                format!("{} {}-{}", finding.rule, place.column, place.end_column)
            }
            Some(mcprove_model::Place::Wire(_)) | None => finding.rule.into_owned(),
        });
        (node.to_json(), secrets, told.collect())
    }

    #[test]
    fn every_form_is_replaced() {
        for (text, expected) in [
            ("${KEY}", json!("s3cret")),
            ("a ${KEY}!", json!("a s3cret!")),
            ("${COUNT}", json!(5)),
            ("n=${COUNT}", json!("n=5")),
            ("${LIMIT}", json!(7)),
            ("${GONE:-d}", json!("d")),
            ("${GONE:-${COUNT}}", json!("5")),
            ("${EMPTY:-d}", json!("d")),
            ("${KEY:?needed}", json!("s3cret")),
            ("${env:KEY}", json!("s3cret")),
            ("${secret:KEY}", json!("s3cret")),
            ("${CONFIG_DIR}/x", json!("/suite/x")),
            ("$$5 and $KEY", json!("$5 and $KEY")),
            ("${args.x} ${a[0]} ${} ^a$ ${", json!("${args.x} ${a[0]} ${} ^a$ ${")),
            ("$.result.x", json!("$.result.x")),
        ] {
            let (value, _, told) = interpolated(text);
            assert_eq!((value, told), (expected, Vec::new()), "{text}");
        }
        assert_eq!(interpolated("${secret:KEY} ${KEY}").1, ["s3cret"]);
        assert_eq!(interpolated("${KEY}").1, [""; 0]);
    }

    #[test]
    fn what_is_missing_is_told_where_it_is() {
        for (text, expected) in [
            ("a ${GONE}", "unset-variable 3-10"),
            ("${GONE:?why}", "required-variable 1-13"),
            ("${env:GONE}", "required-variable 1-12"),
            ("${secret:GONE}", "required-variable 1-15"),
            ("${capture:id}", "bad-variable 1-14"),
            ("x ${vault:id}", "bad-variable 3-14"),
            ("${X:-a${GONE}}", "unset-variable 7-14"),
        ] {
            assert_eq!(interpolated(text).2, [expected], "{text}");
        }
    }
}
