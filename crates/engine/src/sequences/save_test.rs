//! A failure of a sequence as an ordinary test: the calls before it in `setup`, the last one in `assert`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcprove_judge::generate::hash;
use mcprove_judge::sequences::{Bind, Expected, Reply, Step, StepTarget, with_binds};
use mcprove_model::{Node, Span, escape_line, shorten};
use mcprove_suite::schema::editor_line;
use mcprove_suite::template::{FIXTURE, literal_value};
use mcprove_suite::yaml;
use serde_json::{Map, Value, json};

use super::failure::{Reproduced, SequenceFailure};
use crate::fuzz::{Keeping, KeptTest};

/// The test for a failure; none if it cannot be said in one.
pub fn kept_sequence(failure: &SequenceFailure, again: &str, keeping: &Keeping) -> Option<KeptTest> {
    let (last, _) = failure.steps.last()?;
    let name = failure.names.last()?;
    let key = hash(0, failure.breach.signature.as_bytes());
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(60).collect();
    let stem = format!("sequence-{plain}-{}-{:08x}", failure.breach.rule, key >> 32);
    let names = Captures::of(failure);
    let mut document = Map::new();
    document.insert("name".to_owned(), stem.clone().into());
    document.insert("server".to_owned(), keeping.server.block());
    let keep: Vec<&str> = names.names.iter().map(String::as_str).chain([FIXTURE]).collect();
    let literal = |value: &Value| literal_value(value, &keep);
    match failure.reproduced {
        Reproduced::InOrder => {
            let expect = expect(failure, &names)?;
            let before = &failure.steps[..failure.steps.len() - 1];
            let setup: Option<Vec<Value>> = before
                .iter()
                .zip(&failure.names)
                .map(|((step, reply), name)| Some(literal(&setup_step(step, reply, name, &names)?)))
                .collect();
            let setup = setup?;
            if !setup.is_empty() {
                document.insert("setup".to_owned(), setup.into());
            }
            let (key, block) = match last.target {
                StepTarget::Tool(_) => {
                    ("assert", json!({"tool": name, "args": names.arguments(last), "expect": expect}))
                }
                StepTarget::Resources => ("assert_resources", json!({"list": {}, "expect": expect})),
                StepTarget::Resource => ("assert_resources", json!({"read": last.args.get("uri")?, "expect": expect})),
                StepTarget::Restart => return None,
            };
            document.insert(key.to_owned(), literal(&block));
        }
        Reproduced::AtOnce { from, until } => {
            let setup: Option<Vec<Value>> = failure.steps[..from]
                .iter()
                .zip(&failure.names)
                .map(|((step, reply), name)| Some(literal(&setup_step(step, reply, name, &names)?)))
                .collect();
            let setup = setup?;
            if !setup.is_empty() {
                document.insert("setup".to_owned(), setup.into());
            }
            let call = |at: usize| json!({"tool": failure.names[at], "args": names.arguments(&failure.steps[at].0)});
            let mut block = call(from);
            block["beside"] = (from + 1..until).map(call).collect();
            block["expect"] = json!({"handled": true});
            let expect = expect(failure, &names)?;
            if until == failure.steps.len() {
                block["expect"] = expect;
            } else {
                let mut step = call(failure.steps.len() - 1);
                step["expect"] = expect;
                document.insert("verify".to_owned(), literal(&json!([step])));
            }
            document.insert("assert".to_owned(), literal(&block));
        }
        Reproduced::Repeated { .. } => return None,
    }
    let mut text = editor_line("assertion");
    let _ = writeln!(text, "# Found by fuzzing: {}", comment(&keeping.secrets.text(&failure.breach.message)));
    let _ = writeln!(text, "# Again: {}", comment(&keeping.secrets.text(again)));
    if let Some(remark) = keeping.server.remark() {
        let _ = writeln!(text, "# {}", comment(&remark));
    }
    text.push_str(&yaml::write(&Node::from_json(Span::default(), Value::Object(document)), 0));
    Some(KeptTest { stem, text })
}

/// The names under which replies are captured.
struct Captures {
    /// By step and pointer; an empty pointer is the whole text.
    by_place: BTreeMap<(u32, String), String>,
    /// Keys that are captured, and the names of them.
    keys: Vec<(Value, String)>,
    names: Vec<String>,
}

impl Captures {
    fn of(failure: &SequenceFailure) -> Self {
        let mut captures = Self { by_place: BTreeMap::new(), keys: Vec::new(), names: Vec::new() };
        for (step, _) in &failure.steps {
            for bind in &step.binds {
                let value = step.args.pointer(&bind.at).cloned();
                captures.add(bind.step, &bind.path, value);
            }
        }
        match &failure.breach.expected {
            Expected::SameAs(step) => captures.add(*step, "", None),
            Expected::OtherThan(step, path) => captures.add(*step, path, None),
            // A key that no call names, but a list shows: it is in the reply of the call that made the thing.
            Expected::Has(key) | Expected::HasNot(key) => {
                let made = failure.steps.iter().find_map(|(step, reply)| {
                    let pointer = pointer_of(reply.doc.as_ref()?, key)?;
                    Some((step.id, pointer))
                });
                if let (Some((step, pointer)), false) = (made, captures.keys.iter().any(|(known, _)| same(known, key)))
                {
                    captures.add(step, &pointer, Some(key.clone()));
                }
            }
            Expected::Checks(_) | Expected::Unsaid => {}
        }
        captures
    }

    fn add(&mut self, step: u32, path: &str, value: Option<Value>) {
        let number = self.by_place.len() + 1;
        let last = path.rsplit('/').next().unwrap_or_default();
        let is_word = !last.is_empty() && last.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let name = if is_word { format!("{last}_{number}") } else { format!("before_{number}") };
        let name = self.by_place.entry((step, path.to_owned())).or_insert(name).clone();
        if !self.names.contains(&name) {
            self.names.push(name.clone());
        }
        if let Some(value) = value.filter(|value| !self.keys.iter().any(|(known, _)| same(known, value))) {
            self.keys.push((value, name));
        }
    }

    fn arguments(&self, step: &Step) -> Value {
        with_binds(step, |bind: &Bind| self.by_place.get(&(bind.step, bind.path.clone())).cloned())
    }

    /// The text for a key in an expectation.
    fn text_for(&self, key: &Value) -> String {
        let known = self.keys.iter().find(|(known, _)| same(known, key));
        known.map_or_else(|| plain_text(key), |(_, name)| format!("{{{{{name}}}}}"))
    }
}

fn setup_step(step: &Step, reply: &Reply, name: &str, names: &Captures) -> Option<Value> {
    let mut shown = match step.target {
        StepTarget::Tool(_) => json!({"tool": name, "args": names.arguments(step)}),
        StepTarget::Resource => json!({"read": step.args.get("uri")?}),
        StepTarget::Restart => return Some(json!({"restart": true})),
        StepTarget::Resources => return None,
    };
    let captures: Map<String, Value> = names
        .by_place
        .iter()
        .filter(|((of, _), _)| *of == step.id)
        .map(|((_, pointer), name)| (name.clone(), Value::from(json_path(pointer))))
        .collect();
    if !captures.is_empty() {
        shown["capture"] = Value::Object(captures);
    }
    if !reply.is_fine {
        shown["expect"] = json!({"handled": true});
    }
    Some(shown)
}

/// The `expect` block of the last call.
fn expect(failure: &SequenceFailure, names: &Captures) -> Option<Value> {
    let named = |key: &Value| -> String {
        let name = names.text_for(key);
        if is_quoted(failure, key) { format!("\"{name}\"") } else { name }
    };
    Some(match &failure.breach.expected {
        Expected::Checks(checks) => checks.clone(),
        Expected::SameAs(step) => {
            json!({"equals": format!("{{{{{}}}}}", names.by_place.get(&(*step, String::new()))?)})
        }
        Expected::OtherThan(step, path) => {
            let name = names.by_place.get(&(*step, path.clone()))?;
            json!({"not_error": true, "not_contains": [format!("\"{{{{{name}}}}}\"")]})
        }
        Expected::Has(key @ Value::String(_)) => json!({"contains": [named(key)]}),
        Expected::HasNot(key @ Value::String(_)) => json!({"not_contains": [named(key)]}),
        Expected::Has(key) => json!({"json_path": {format!("$..[?@.id=={}].id", names.text_for(key)): [key]}}),
        Expected::HasNot(key) => json!({"json_path": {format!("$..[?@.id=={}].id", names.text_for(key)): []}}),
        Expected::Unsaid => return None,
    })
}

/// True if replies have this key as a whole string of a JSON document: a short one is a part of many other words.
fn is_quoted(failure: &SequenceFailure, key: &Value) -> bool {
    let quoted = key.to_string();
    let is_document = |reply: &Reply| reply.doc.is_some();
    failure.steps.last().is_some_and(|(step, reply)| matches!(step.target, StepTarget::Tool(_)) && is_document(reply))
        && failure.steps.iter().any(|(_, reply)| is_document(reply) && reply.text.contains(&quoted))
}

/// A JSON Pointer as a path of a capture.
fn json_path(pointer: &str) -> String {
    let mut path = "$".to_owned();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part.chars().all(|c| c.is_ascii_digit()) {
            let _ = write!(path, "[{part}]");
        } else if part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let _ = write!(path, ".{part}");
        } else {
            let _ = write!(path, "['{}']", part.replace('\'', "\\'"));
        }
    }
    path
}

/// Where a value is in a document.
fn pointer_of(document: &Value, wanted: &Value) -> Option<String> {
    let mut open = vec![(document, String::new())];
    while let Some((value, pointer)) = open.pop() {
        if same(value, wanted) && !pointer.is_empty() {
            return Some(pointer);
        }
        match value {
            Value::Object(map) => {
                open.extend(
                    map.iter().map(|(key, inner)| {
                        (inner, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")))
                    }),
                );
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(at, inner)| (inner, format!("{pointer}/{at}"))));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    None
}

fn same(one: &Value, other: &Value) -> bool {
    plain_text(one) == plain_text(other)
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn comment(text: &str) -> String {
    shorten(&escape_line(text), 300).into_owned()
}
