//! `is-xml`: a text that is a well-formed XML document.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "is-xml",
    summary: "The text is a well-formed XML document; with `{root}`, one whose root element has this name.",
    decode,
    schema: || {
        let root = json!({"type": "string", "minLength": 1, "description": "The name of the root element."});
        json!({"anyOf": [
            {"enum": [null, true]},
            {"type": "object", "required": ["root"], "properties": {"root": root}, "additionalProperties": false},
        ]})
    },
    examples: &[
        holds("null", r#""<note><to>a</to></note>""#),
        fails("null", r#""<note><to>a</note>""#),
        fails("null", r#""<note>""#),
        fails("null", r#""plain text""#),
        fails("null", r#""<a/><b/>""#),
        holds(r#"{"root": "note"}"#, r#""<note/>""#),
        fails(r#"{"root": "memo"}"#, r#""<note/>""#),
    ],
};

#[derive(Debug)]
struct IsXml {
    root: Option<String>,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    if node.is_null() || node.as_bool() == Some(true) {
        return Some(Arc::new(IsXml { root: None }));
    }
    found.map(node, "`is-xml`")?;
    found.known_keys(node, "`is-xml`", &["root"]);
    let Some(root) = node.get("root") else {
        found.error_with_help("missing-key", node.span, "`is-xml` names no `root`", "write `{root: NAME}`, or null");
        return None;
    };
    Some(Arc::new(IsXml { root: Some(found.text(root, "`root`")?.to_owned()) }))
}

impl Matcher for IsXml {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let expected = match &self.root {
            Some(root) => format!("an XML document with the root `{root}`"),
            None => "an XML document".to_owned(),
        };
        let Some(text) = value.as_str() else { return Err(mismatch("is not a text", expected, value)) };
        match root_of(text) {
            Err(reason) => Err(mismatch(format!("is not XML: {reason}"), expected, value)),
            Ok(root) if self.root.as_ref().is_some_and(|wanted| *wanted != root) => {
                Err(mismatch(format!("has the root element `{root}`"), expected, value))
            }
            Ok(_) => Ok(()),
        }
    }
}

/// The name of the one root element of a well-formed document.
fn root_of(text: &str) -> Result<String, String> {
    let mut reader = Reader::from_str(text);
    let (mut root, mut depth) = (None, 0_usize);
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Eof if depth > 0 => return Err("an element is not closed".to_owned()),
            Event::Eof => return root.ok_or_else(|| "it has no element".to_owned()),
            Event::Start(start) => {
                if depth == 0 {
                    begin(&mut root, start.name().as_ref())?;
                }
                depth += 1;
            }
            Event::Empty(empty) if depth == 0 => begin(&mut root, empty.name().as_ref())?,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(text) if depth == 0 && !text.iter().all(u8::is_ascii_whitespace) => {
                return Err("there is text outside the root element".to_owned());
            }
            Event::Empty(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
}

fn begin(root: &mut Option<String>, name: &[u8]) -> Result<(), String> {
    if root.is_some() {
        return Err("it has several root elements".to_owned());
    }
    *root = Some(String::from_utf8_lossy(name).into_owned());
    Ok(())
}
