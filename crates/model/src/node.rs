//! The spanned tree every authored file is parsed into before anything is decoded.

use serde_json::{Map, Number, Value};
use smol_str::{SmolStr, ToSmolStr as _};

use crate::Span;

/// A value with the place it was written at.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Position of the value, without its key.
    pub span: Span,
    /// Its kind.
    pub kind: Kind,
}

/// Kind of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A scalar: text, number, boolean or null.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A map in written order; its keys are distinct.
    Map(Vec<Entry>),
}

/// One key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Node,
}

/// A map key with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key's text.
    pub text: SmolStr,
    /// Its position.
    pub span: Span,
}

/// A scalar as written (`text`) and as read (`meaning`). Large suites are made of these, so they are small.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The text without quotes; for a plain scalar exactly what was written.
    pub text: SmolStr,
    /// Its style in the file.
    pub style: ScalarStyle,
    /// Its meaning.
    pub meaning: Meaning,
}

/// Meaning of a [`Scalar`].
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// Its text.
    Text,
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
}

impl Scalar {
    /// Its value as JSON: never a list or an object.
    pub fn value(&self) -> Value {
        match &self.meaning {
            Meaning::Text => Value::String(self.text.as_str().to_owned()),
            Meaning::Null => Value::Null,
            Meaning::Bool(value) => Value::Bool(*value),
            Meaning::Number(number) => Value::Number(number.clone()),
        }
    }

    /// True if it means its text, and nothing else.
    pub fn is_text(&self) -> bool {
        self.meaning == Meaning::Text
    }

    /// True if it means nothing.
    pub fn is_null(&self) -> bool {
        self.meaning == Meaning::Null
    }
}

/// Style of a scalar in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarStyle {
    /// Without quotes: may be a number, a boolean or null.
    Plain,
    /// In single or double quotes: always text.
    Quoted,
    /// A block (`|` or `>`): always text.
    Block,
}

impl Node {
    /// A text node, as if it had been written in quotes at `span`.
    pub fn text_at(span: Span, text: impl Into<SmolStr>) -> Self {
        let scalar = Scalar { text: text.into(), style: ScalarStyle::Quoted, meaning: Meaning::Text };
        Self { span, kind: Kind::Scalar(scalar) }
    }

    /// A node that means `value`, every part of it placed at `span`.
    pub fn from_json(span: Span, value: Value) -> Self {
        let plain = |text: SmolStr, meaning| Kind::Scalar(Scalar { text, style: ScalarStyle::Plain, meaning });
        let kind = match value {
            Value::Array(items) => Kind::List(items.into_iter().map(|item| Self::from_json(span, item)).collect()),
            Value::Object(map) => Kind::Map(
                map.into_iter()
                    .map(|(text, value)| Entry {
                        key: Key { text: text.into(), span },
                        value: Self::from_json(span, value),
                    })
                    .collect(),
            ),
            Value::String(text) => return Self::text_at(span, text),
            Value::Null => plain(SmolStr::new_static("null"), Meaning::Null),
            Value::Bool(value) => plain(value.to_smolstr(), Meaning::Bool(value)),
            Value::Number(number) => plain(number.to_smolstr(), Meaning::Number(number)),
        };
        Self { span, kind }
    }

    /// An empty map at `span`.
    pub fn empty_map(span: Span) -> Self {
        Self { span, kind: Kind::Map(Vec::new()) }
    }

    /// The node as JSON, as it is sent to a server.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Scalar(scalar) => scalar.value(),
            Kind::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Kind::Map(entries) => Value::Object(
                entries.iter().map(|e| (e.key.text.as_str().to_owned(), e.value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// The entries of a map.
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            Kind::Scalar(_) | Kind::List(_) => None,
        }
    }

    /// The items of a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            Kind::Scalar(_) | Kind::Map(_) => None,
        }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(scalar),
            Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The value under a key of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.iter().find(|e| e.key.text == key).map(|e| &e.value)
    }

    /// True if it is null or was left empty.
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_null)
    }

    /// Text of any scalar but null: `1` and `true` are taken as they were written.
    pub fn as_text(&self) -> Option<&str> {
        self.as_scalar().filter(|scalar| !scalar.is_null()).map(|scalar| scalar.text.as_str())
    }

    /// A boolean; `yes/no/on/off` count too, because a field that wants a boolean cannot mean anything else.
    pub fn as_bool(&self) -> Option<bool> {
        let scalar = self.as_scalar()?;
        if let Meaning::Bool(value) = scalar.meaning {
            return Some(value);
        }
        if scalar.style != ScalarStyle::Plain {
            return None;
        }
        match scalar.text.to_ascii_lowercase().as_str() {
            "yes" | "on" => Some(true),
            "no" | "off" => Some(false),
            _ => None,
        }
    }

    /// A number.
    pub fn as_number(&self) -> Option<&Number> {
        match &self.as_scalar()?.meaning {
            Meaning::Number(number) => Some(number),
            Meaning::Text | Meaning::Null | Meaning::Bool(_) => None,
        }
    }

    /// A whole number that is not negative.
    pub fn as_count(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// Its kind in words, for "expected …, found …".
    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
            Kind::Scalar(scalar) => match scalar.meaning {
                Meaning::Null => "nothing",
                Meaning::Bool(_) => "a boolean",
                Meaning::Number(_) => "a number",
                Meaning::Text => "text",
            },
        }
    }

    /// Rebuilds the tree with `change` applied to every text scalar; `None` keeps the scalar as it is.
    #[must_use]
    pub fn map_text(&self, change: &mut dyn FnMut(&str, Span) -> Option<Value>) -> Node {
        let kind = match &self.kind {
            Kind::Scalar(scalar) => match scalar.is_text().then(|| change(&scalar.text, self.span)).flatten() {
                Some(value) => return Node::from_json(self.span, value),
                None => self.kind.clone(),
            },
            Kind::List(items) => Kind::List(items.iter().map(|item| item.map_text(change)).collect()),
            Kind::Map(entries) => Kind::Map(
                entries.iter().map(|e| Entry { key: e.key.clone(), value: e.value.map_text(change) }).collect(),
            ),
        };
        Node { span: self.span, kind }
    }
}
