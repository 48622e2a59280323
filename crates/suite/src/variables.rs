//! Values that `${NAME}` stands for: of the environment, and in suite files those of `variables`.

use std::sync::atomic::{AtomicUsize, Ordering};

use mcprove_model::{Diagnostics, Node};
use serde_json::{Map, Value, json};

use crate::environment::{Environment, Unset};
use crate::field::{self, Field};
use crate::interpolate::{Interpolation, Syntax};
use crate::schema::fragment;

const VALUE: &[Field] = &[Field::required("value", || fragment::text("The value."))];

const FROM_ENV: &[Field] = &[
    Field::required("from_env", || fragment::text("Its name.")),
    Field::optional("default", || fragment::text("Its value where it is not set.")),
];

/// Values of references: the environment wins over the suite, and both over the built-in ones.
pub(crate) struct Variables<'e> {
    environment: Environment<'e>,
    /// The folder of a suite file.
    folder: Option<&'e str>,
    values: Map<String, Value>,
    /// Bytes that references may still stand for.
    room: AtomicUsize,
}

/// Bytes that all references of a file may stand for: values of values double with each level.
const ROOM: usize = 64 << 20;

impl<'e> Variables<'e> {
    /// No variables but those of the environment and, in a suite file, its folder.
    pub(crate) fn new(environment: Environment<'e>, folder: Option<&'e str>) -> Self {
        Self { environment, folder, values: Map::new(), room: AtomicUsize::new(ROOM) }
    }

    /// Sets a variable that is not set yet.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.values.entry(name).or_insert(value);
    }

    /// The value of a variable. One of the environment takes the type that the suite gives it.
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        let own = self.values.get(name);
        if let Some(text) = self.environment(name) {
            let typed = own.filter(|own| !own.is_string()).and_then(|own| as_type_of(own, &text));
            return Some(typed.unwrap_or(Value::String(text)));
        }
        let folder = || self.folder.filter(|_| name == "CONFIG_DIR").map(Value::from);
        own.cloned().or_else(folder)
    }

    /// True if there is room for a value in the place of one more reference.
    pub(crate) fn has_room_for(&self, value: &Value) -> bool {
        let size = value.as_str().map_or(0, str::len);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(size)).is_ok()
    }

    /// True in a suite file, which may have `variables`.
    pub(crate) fn is_of_suite(&self) -> bool {
        self.folder.is_some()
    }

    /// The value of an environment variable.
    pub(crate) fn environment(&self, name: &str) -> Option<String> {
        (self.environment.lookup)(name)
    }

    /// The names that are set, for "did you mean".
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().chain(self.environment.names).map(String::as_str)
    }

    /// Decodes a `variables` map; later ones may refer to earlier ones.
    pub(crate) fn decode(&mut self, node: &Node, secrets: &mut Vec<String>, found: &mut Diagnostics<'_>) {
        if node.is_null() {
            return;
        }
        for entry in found.map(node, "`variables`").unwrap_or_default() {
            let mut definition = entry.value.clone();
            let mut interpolation =
                Interpolation { variables: self, secrets, syntax: Syntax::SUITE, unset: Unset::Reported };
            interpolation.apply(&mut definition, found);
            let what = format!("the variable `{}`", entry.key.text);
            if definition.as_map().is_none() {
                let help = format!("write `{}: {{value: …}}` or `{{from_env: NAME, default: …}}`", entry.key.text);
                let message = format!("{what} must be a map, found {}", definition.kind_name());
                found.error_with_help("wrong-type", entry.value.span, message, help);
                continue;
            }
            found.known_keys(&definition, &what, &field::keys(VALUE.iter().chain(FROM_ENV)));
            if let Some(value) = self.defined(&definition, &what, found) {
                self.set(&entry.key.text, value);
            }
        }
    }

    fn defined(&self, node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<Value> {
        match (node.get("value"), node.get("from_env")) {
            (Some(value), None) => scalar(value, "`value`", found),
            (None, Some(name)) => {
                let default = node.get("default").and_then(|default| scalar(default, "`default`", found));
                let text = self.environment(found.text(name, "`from_env`")?);
                match (text, default) {
                    (Some(text), Some(default)) => Some(as_type_of(&default, &text).unwrap_or(Value::String(text))),
                    (Some(text), None) => Some(Value::String(text)),
                    (None, default) => default,
                }
            }
            (Some(_), Some(name)) => {
                let message = format!("{what} has both a `value` and `from_env`");
                found.error_with_help("wrong-key", name.span, message, "keep one; a `default` goes with `from_env`");
                None
            }
            (None, None) => {
                let message = format!("{what} has neither a `value` nor `from_env`");
                found.error_with_help("missing-key", node.span, message, "add `value:`, or `from_env:` with a name");
                None
            }
        }
    }
}

/// The JSON Schema of `variables`.
pub(crate) fn schema() -> Value {
    json!({
        "type": ["object", "null"],
        "additionalProperties": {"anyOf": [field::map("A value.", VALUE), field::map("A variable of the environment.", FROM_ENV)]},
        "description": "Values that `${NAME}` stands for.",
    })
}

fn scalar(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<Value> {
    found.text(node, what)?;
    Some(node.to_json())
}

/// A text read as the type that another value has.
fn as_type_of(model: &Value, text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    (std::mem::discriminant(&value) == std::mem::discriminant(model)).then_some(value)
}
