//! Inputs of servers: every text and object of the arguments of calls.

use serde_json::{Map, Value};

use super::parts::{self, NESTING, ValuePart, Want};

/// A call with its place in the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentCall<'t> {
    /// Position of the request in the trace.
    pub(super) position: usize,
    /// A number that stands for the server.
    pub(super) server: usize,
    pub(super) arguments: &'t Value,
}

/// JSON text inside arguments, read.
#[derive(Debug)]
pub(super) struct Nested {
    call: usize,
    /// Place of the text in the arguments.
    pointer: String,
    document: Value,
    /// The text it was read from holds escapes, so its strings have another form there.
    escaped: bool,
}

/// A text in the arguments of a call.
#[derive(Clone, Debug)]
pub(super) struct InputText<'t> {
    pub(super) call: usize,
    pub(super) pointer: String,
    pub(super) text: &'t str,
}

/// An object in the arguments of a call.
#[derive(Clone, Debug)]
pub(super) struct InputObject<'t> {
    pub(super) call: usize,
    pub(super) pointer: String,
    pub(super) members: &'t Map<String, Value>,
    pub(super) hash: u64,
}

/// All inputs of servers, in the order of the calls.
#[derive(Debug, Default)]
pub(super) struct Haystack<'t> {
    pub(super) texts: Vec<InputText<'t>>,
    pub(super) objects: Vec<InputObject<'t>>,
}

/// The JSON documents inside the texts of arguments, and those inside theirs.
pub(super) fn nested(calls: &[SentCall<'_>]) -> Vec<Nested> {
    let mut level = Vec::new();
    for (call, asked) in calls.iter().enumerate() {
        parts::walk(asked.arguments, Want::Texts, &mut |path, part| {
            if let ValuePart::Text(text) = part {
                read(call, || parts::pointer(path), text, &mut level);
            }
        });
    }
    let mut all = Vec::new();
    for _ in 1..NESTING {
        let mut next = Vec::new();
        for outer in &level {
            parts::walk(&outer.document, Want::Texts, &mut |_, part| {
                if let ValuePart::Text(text) = part {
                    read(outer.call, || outer.pointer.clone(), text, &mut next);
                }
            });
        }
        all.append(&mut level);
        level = next;
    }
    all.append(&mut level);
    all
}

/// Gathers the inputs of servers.
pub(super) fn gather<'t>(calls: &[SentCall<'t>], nested: &'t [Nested]) -> Haystack<'t> {
    let mut haystack = Haystack::default();
    for (call, asked) in calls.iter().enumerate() {
        parts::walk(asked.arguments, Want::TextsAndObjects, &mut |path, part| match part {
            ValuePart::Text(text) => haystack.texts.push(InputText { call, pointer: parts::pointer(path), text }),
            ValuePart::Object(members, hash) => {
                haystack.objects.push(InputObject { call, pointer: parts::pointer(path), members, hash });
            }
        });
    }
    for Nested { call, pointer, document, escaped } in nested {
        parts::walk(document, Want::TextsAndObjects, &mut |_, part| match part {
            ValuePart::Text(text) if *escaped => {
                haystack.texts.push(InputText { call: *call, pointer: pointer.clone(), text });
            }
            ValuePart::Text(_) => {}
            ValuePart::Object(members, hash) => {
                haystack.objects.push(InputObject { call: *call, pointer: pointer.clone(), members, hash });
            }
        });
    }
    haystack.texts.sort_by_key(|told| told.call);
    haystack
}

fn read(call: usize, pointer: impl Fn() -> String, text: &str, found: &mut Vec<Nested>) {
    let documents = parts::documents(text);
    if documents.is_empty() {
        return;
    }
    let escaped = text.contains('\\');
    found.extend(documents.into_iter().map(|document| Nested { call, pointer: pointer(), document, escaped }));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_inside_json_inside_arguments_is_read() {
        let deep = json!({"c": "line\nbreak"}).to_string();
        let arguments = json!({"a": json!({"b": deep}).to_string(), "n": 1});
        let calls = [SentCall { position: 0, server: 0, arguments: &arguments }];
        let nested = nested(&calls);
        let haystack = gather(&calls, &nested);
        assert!(haystack.texts.iter().any(|told| told.text == "line\nbreak" && told.pointer == "/a"));
        assert_eq!(haystack.objects.len(), 3);
    }
}
