//! `{{name}}`: values that are known only while a case runs. `{{'{{'}}` stands for two braces that begin no reference.

use mcprove_model::{Entry, Key, Kind, Meaning, Node, Scalar, ScalarStyle, Span};
use serde_json::{Map, Value};

/// The variable that names the folder copied for a case.
pub const FIXTURE: &str = "fixture";

/// Escape for two braces; double quotes work too.
const ESCAPED: &str = "{{'{{'}}";
const BRACES: &str = "{{";

/// Values by name, in the order they were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variables {
    values: Map<String, Value>,
}

impl Variables {
    /// No variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable; a later value replaces an earlier one.
    pub fn set(&mut self, name: impl Into<String>, value: Value) {
        self.values.insert(name.into(), value);
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The names that are set.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

/// The tree with every known `{{name}}` in its texts replaced; keys stay as they are.
///
/// A text that is nothing but `{{name}}` becomes the value itself, with its type. Unknown names stay as written.
#[must_use]
pub fn substitute(node: &Node, variables: &Variables) -> Node {
    node.map_text(&mut |text, _| substituted(text, variables))
}

/// The value of a tree with every known `{{name}}` in its texts replaced.
pub fn filled(node: &Node, variables: &Variables) -> Value {
    // Nearly every tree has nothing to replace, and need not be built twice.
    if is_literal(node) { node.to_json() } else { substitute(node, variables).to_json() }
}

/// The tree with every `{{name}}` in its texts replaced that `value_of` knows a value for.
#[must_use]
pub fn substitute_by(node: &Node, value_of: &mut dyn FnMut(&str) -> Option<Value>) -> Node {
    node.map_text(&mut |text, _| {
        let mut variables = Variables::new();
        for name in references(text).filter_map(|reference| reference.name) {
            if let Some(value) = value_of(name) {
                variables.set(name, value);
            }
        }
        substituted(text, &variables)
    })
}

/// The text that stays what it is when it is written into a file: braces that would begin a reference are escaped, except
/// those of these names.
pub fn literal_text(text: &str, except: &[&str]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for reference in references(text) {
        if reference.name.is_some_and(|name| except.contains(&name)) {
            continue;
        }
        result.push_str(&text[done..reference.start]);
        result.push_str(ESCAPED);
        done = reference.start + BRACES.len();
        // What stands for braces has two pairs of them.
        if reference.name.is_none()
            && let Some(inner) = text[done..].find(BRACES)
        {
            result.push_str(&text[done..done + inner]);
            result.push_str(ESCAPED);
            done += inner + BRACES.len();
        }
    }
    result.push_str(&text[done..]);
    result
}

/// The same for every text of a block, and for the keys below its `expect`, which are read as texts are. All other keys are
/// literal, including one called `expect` among the arguments of a call.
#[must_use]
pub fn literal_value(value: &Value, except: &[&str]) -> Value {
    literal(value, except, Part::Block)
}

/// The part of a block that a value is in.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// Its own keys, which have a meaning.
    Block,
    /// Sent values: keys are literal.
    Sent,
    /// Expected values: keys are read as texts are.
    Expected,
}

fn literal(value: &Value, except: &[&str], part: Part) -> Value {
    match value {
        Value::String(text) => Value::String(literal_text(text, except)),
        Value::Array(items) => Value::Array(items.iter().map(|item| literal(item, except, part)).collect()),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| {
                    let below = match (part, key.as_str()) {
                        (Part::Block, "args" | "arguments" | "params") => Part::Sent,
                        (Part::Block, "expect") => Part::Expected,
                        (part, _) => part,
                    };
                    let key = if part == Part::Expected { literal_text(key, except) } else { key.clone() };
                    (key, literal(value, except, below))
                })
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Like [`substitute`], in keys too: the paths of an `expect` block are keys.
#[must_use]
pub fn substitute_with_keys(node: &Node, variables: &Variables) -> Node {
    let kind = match &node.kind {
        Kind::Scalar(_) => return substitute(node, variables),
        Kind::List(items) => Kind::List(items.iter().map(|item| substitute_with_keys(item, variables)).collect()),
        Kind::Map(entries) => Kind::Map(
            entries
                .iter()
                .map(|entry| Entry {
                    key: Key { text: substitute_text(&entry.key.text, variables).into(), span: entry.key.span },
                    value: substitute_with_keys(&entry.value, variables),
                })
                .collect(),
        ),
    };
    Node { span: node.span, kind }
}

/// A text with every known `{{name}}` replaced: strings as they are, other values as compact JSON.
pub fn substitute_text(text: &str, variables: &Variables) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for reference in references(text) {
        let value = match reference.name {
            Some(name) => variables.get(name),
            None => None,
        };
        if reference.name.is_some() && value.is_none() {
            continue;
        }
        result.push_str(&text[done..reference.start]);
        match value {
            None => result.push_str(BRACES),
            Some(Value::String(string)) => result.push_str(string),
            Some(other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => {
                result.push_str(&other.to_string());
            }
        }
        done = reference.end;
    }
    result.push_str(&text[done..]);
    result
}

/// True if nothing in the texts and keys of a tree would be replaced, whatever is known.
pub(crate) fn is_literal(node: &Node) -> bool {
    let is_plain = |text: &str| references(text).next().is_none();
    match &node.kind {
        Kind::Scalar(scalar) => !scalar.is_text() || is_plain(&scalar.text),
        Kind::List(items) => items.iter().all(is_literal),
        Kind::Map(entries) => entries.iter().all(|entry| is_plain(&entry.key.text) && is_literal(&entry.value)),
    }
}

/// The references in the texts of a tree that nothing known provides, each with its place.
pub fn unresolved(node: &Node, known: &[&str]) -> Vec<(String, Span)> {
    unknown_only(placed_references(node, Keys::Skipped), known)
}

/// Like [`unresolved`], in keys too.
pub fn unresolved_with_keys(node: &Node, known: &[&str]) -> Vec<(String, Span)> {
    unknown_only(placed_references(node, Keys::Included), known)
}

/// The places of the texts and keys of a tree that hold a reference to one of these names.
pub(crate) fn templated_places(node: &Node, names: &[&str]) -> Vec<Span> {
    let mut places = Vec::new();
    each_text(node, Keys::Included, &mut |text, outer, _| {
        if references(text).filter_map(|reference| reference.name).any(|name| names.contains(&name)) {
            places.push(outer);
        }
    });
    places
}

/// Treatment of keys.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    Skipped,
    Included,
}

/// A `{{name}}` in a text, or what stands for two braces, which has no name.
struct Reference<'t> {
    name: Option<&'t str>,
    start: usize,
    end: usize,
}

/// The references of a text: two braces, a name on one line, two braces.
fn references(text: &str) -> impl Iterator<Item = Reference<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + opening(text.get(from..)?)?;
            let inside = &text[start + 2..];
            if let Some(length) = escape_length(inside) {
                from = start + 2 + length;
                return Some(Reference { name: None, start, end: from });
            }
            let length = inside.find(['{', '}', '\n']).unwrap_or(inside.len());
            let name = inside[..length].trim();
            if inside[length..].starts_with("}}") && !name.is_empty() {
                let end = start + 2 + length + 2;
                from = end;
                return Some(Reference { name: Some(name), start, end });
            }
            // Of `{{{name}}` the inner two braces count.
            from = start + 1;
        }
    })
}

/// Where two braces open. Nearly every text has none, and is too short for a searcher that has to be set up first.
fn opening(text: &str) -> Option<usize> {
    let start = text.as_bytes().iter().position(|byte| *byte == b'{')?;
    text.as_bytes()[start..].windows(2).position(|pair| pair == b"{{").map(|at| start + at)
}

/// Length of the escape whose first braces were read: quoted braces, and two that close.
fn escape_length(inside: &str) -> Option<usize> {
    let quoted = inside.trim_start_matches(' ');
    let quote = quoted.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let rest = quoted[1..].strip_prefix(BRACES)?.strip_prefix(quote)?;
    let rest = rest.trim_start_matches(' ').strip_prefix("}}")?;
    Some(inside.len() - rest.len())
}

fn substituted(text: &str, variables: &Variables) -> Option<Value> {
    let first = references(text).next()?;
    if let Some(name) = first.name.filter(|_| first.start == 0 && first.end == text.len()) {
        return variables.get(name).cloned();
    }
    let result = substitute_text(text, variables);
    (result != text).then_some(Value::String(result))
}

fn unknown_only(references: Vec<(String, Span)>, known: &[&str]) -> Vec<(String, Span)> {
    references.into_iter().filter(|(name, _)| !known.contains(&name.as_str())).collect()
}

fn placed_references(node: &Node, keys: Keys) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    each_text(node, keys, &mut |text, outer, inner| {
        for reference in references(text) {
            let span = match inner {
                Some(offset) => Span::new(offset + reference.start, offset + reference.end),
                None => outer,
            };
            if let Some(name) = reference.name {
                found.push((name.to_owned(), span));
            }
        }
    });
    found
}

/// Visits texts with their span and, if the file has the text letter by letter, the offset of its first byte.
fn each_text(node: &Node, keys: Keys, visit: &mut dyn FnMut(&str, Span, Option<usize>)) {
    match &node.kind {
        Kind::Scalar(Scalar { meaning: Meaning::Text, text, style }) => {
            let inner = match style {
                ScalarStyle::Plain | ScalarStyle::Quoted => verbatim_start(text, node.span),
                ScalarStyle::Block => None,
            };
            visit(text, node.span, inner);
        }
        Kind::Scalar(_) => {}
        Kind::List(items) => items.iter().for_each(|item| each_text(item, keys, visit)),
        Kind::Map(entries) => {
            for entry in entries {
                if keys == Keys::Included {
                    visit(&entry.key.text, entry.key.span, verbatim_start(&entry.key.text, entry.key.span));
                }
                each_text(&entry.value, keys, visit);
            }
        }
    }
}

/// A span as long as its text holds it as written; two bytes more are the quotes around it.
pub(crate) fn verbatim_start(text: &str, span: Span) -> Option<usize> {
    match (span.end - span.start) as usize {
        length if length == text.len() => Some(span.start as usize),
        length if length == text.len() + 2 => Some(span.start as usize + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcprove_model::SourceFile;
    use serde_json::json;

    fn variables() -> Variables {
        let mut variables = Variables::new();
        variables.set("id", json!(7));
        variables.set("name", json!("Ada"));
        variables.set("list", json!([1, "a"]));
        variables.set("none", json!(null));
        variables
    }

    fn tree(text: &str) -> Node {
        let (mut documents, findings) = crate::yaml::parse(&SourceFile::new("t.yaml", text));
        assert_eq!(findings, []);
        documents.remove(0)
    }

    #[test]
    fn a_lone_reference_keeps_the_type_and_others_become_text() {
        let node = tree(
            "a: '{{id}}'\nb: 'no {{ id }}'\nc: ['{{list}}', 'x{{list}}', '{{none}}-{{name}}']\nd: '{{gone}}'\n'{{id}}': 1",
        );
        assert_eq!(
            substitute(&node, &variables()).to_json(),
            json!({"a": 7, "b": "no 7", "c": [[1, "a"], "x[1,\"a\"]", "null-Ada"], "d": "{{gone}}", "{{id}}": 1})
        );
    }

    #[test]
    fn keys_are_replaced_where_asked() {
        let node = tree("file_contains: {'{{name}}/a': '{{id}}', \"{{'{{'}}name}}\": 1}");
        assert_eq!(
            substitute_with_keys(&node, &variables()).to_json(),
            json!({"file_contains": {"Ada/a": 7, "{{name}}": 1}})
        );
        // Where keys are not read as texts, an escape is an ordinary key.
        assert_eq!(substitute(&node, &variables()).to_json()["file_contains"]["{{'{{'}}name}}"], 1);
    }

    #[test]
    fn braces_that_are_no_reference_stay() {
        for text in ["{{}}", "{{ }}", "{{a", "{a}", "{{a\n}}", "}}{{", "{{{", "{{a}b}}"] {
            assert_eq!(substitute_text(text, &variables()), text);
        }
        assert_eq!(substitute_text("{{{id}}}", &variables()), "{7}");
        // A value is never read again for references of its own.
        let mut nested = Variables::new();
        nested.set("a", json!("{{b}}"));
        nested.set("b", json!("no"));
        assert_eq!(substitute_text("{{a}}", &nested), "{{b}}");
    }

    #[test]
    fn braces_can_be_escaped() {
        for (text, expected) in [
            ("{{'{{'}}name}}", "{{name}}"),
            ("a {{ \"{{\" }}id}} {{id}}", "a {{id}} 7"),
            ("{{'{{'}}", "{{"),
            ("{{'{{'}}'{{'}}", "{{'{{'}}"),
            ("{{'{{\"}} {{'{{'} {{'x'}}", "{{'{{\"}} {{'{{'} {{'x'}}"),
        ] {
            assert_eq!(substitute_text(text, &variables()), expected, "{text}");
        }
        assert_eq!(unresolved(&tree("a: \"{{'{{'}}gone}}\""), &[]), []);
    }

    #[test]
    fn what_is_written_literally_is_read_as_it_was() {
        for text in ["{{name}}", "{{{name}}}", "x {{'{{'}} {{id}}{{gone}}", "{{", "}}{{a\n}}", "{{name}}}}{{ \"{{\" }}"]
        {
            let literal = literal_text(text, &[]);
            assert_eq!(substitute_text(&literal, &variables()), text, "{text}");
            assert!(references(&literal).all(|reference| reference.name.is_none()), "{literal}");
        }
        assert_eq!(literal_text("{{fixture}}/{{name}}", &[FIXTURE]), "{{fixture}}/{{'{{'}}name}}");
        assert_eq!(
            literal_value(&json!({"args": {"{{id}}": "{{id}}"}, "expect": {"json_path": {"{{id}}": 1}}}), &[]),
            json!({"args": {"{{id}}": "{{'{{'}}id}}"}, "expect": {"json_path": {"{{'{{'}}id}}": 1}}})
        );
        let sent = json!({"args": {"expect": {"{{id}}": 1}}, "beside": [{"args": {"expect": {"{{id}}": 1}}}]});
        assert_eq!(literal_value(&sent, &[]), sent);
    }

    #[test]
    fn unresolved_references_know_their_place() {
        let text = "a: x{{id}}y{{gone}}\nb: \"é{{ lost }}\"\nc: \"\\t{{tab}}\"\n'{{key}}': 1";
        let source = SourceFile::new("t.yaml", text);
        let node = tree(text);
        let places = |found: Vec<(String, Span)>| -> Vec<(String, String)> {
            found.into_iter().map(|(name, span)| (name, source.slice(span).to_owned())).collect()
        };
        let expected = [("gone", "{{gone}}"), ("lost", "{{ lost }}"), ("tab", "\"\\t{{tab}}\"")]
            .map(|(name, place)| (name.to_owned(), place.to_owned()));
        assert_eq!(places(unresolved(&node, &["id"])), expected);
        assert_eq!(
            places(unresolved_with_keys(&node, &["id"])).last().map(|(_, place)| place.as_str()),
            Some("{{key}}")
        );
    }
}
