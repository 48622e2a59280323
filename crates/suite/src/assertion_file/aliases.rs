//! Other names of keys: what one kind of file calls `args` or `uri`, authors of the other write as `arguments` or `read`.

use mcprove_model::{Kind, Node};
use serde_json::{Value, json};

use super::{STEPS, block};

/// Other names of the keys of a map: each with the name it stands for.
#[derive(Clone, Copy)]
pub(crate) struct Aliases(&'static [(&'static str, &'static str)]);

const CALL: Aliases = Aliases(&[("arguments", "args")]);
const LOGGING: Aliases = Aliases(&[("arguments", "args"), ("level", "set_level")]);
const RESOURCES: Aliases = Aliases(&[("resource", "read"), ("uri", "read")]);
const READ: Aliases = Aliases(&[("read", "uri"), ("resource", "uri")]);
const GET: Aliases = Aliases(&[("args", "arguments"), ("prompt", "name")]);
const STEP: Aliases = Aliases(&[("arguments", "args"), ("resource", "read"), ("uri", "read")]);
const NONE: Aliases = Aliases(&[]);

/// The other names of the keys of a block, or of a test in the list of this name.
pub(crate) fn of_list(key: &str) -> Aliases {
    match key {
        "assert" | "assert_notifications" | "assert_sampling" | "prompts" | "tools" => CALL,
        "assert_logging" => LOGGING,
        "assert_resources" => RESOURCES,
        "resources" => READ,
        _ => NONE,
    }
}

/// The other names of the keys of a step.
pub(crate) fn of_step() -> Aliases {
    STEP
}

/// The other names of the keys of `get`.
pub(crate) fn of_get() -> Aliases {
    GET
}

/// Gives the keys of an assertion document the names they are decoded by.
pub(crate) fn rename_document(document: &mut Node) {
    rename_steps(document);
    let Kind::Map(entries) = &mut document.kind else { return };
    for entry in entries.iter_mut().filter(|entry| block::is_key(&entry.key.text)) {
        of_list(&entry.key.text).rename_keys(&mut entry.value);
        rename_get(&mut entry.value);
    }
}

impl Aliases {
    /// Gives the keys of a test the names they are decoded by.
    pub(crate) fn rename(self, test: &mut Node) {
        self.rename_keys(test);
        rename_steps(test);
        rename_get(test);
    }

    fn rename_keys(self, node: &mut Node) {
        let Kind::Map(entries) = &mut node.kind else { return };
        for (alias, name) in self.0 {
            // Where both are written, the other name stays, and is reported as unknown.
            if entries.iter().any(|entry| entry.key.text == *name) {
                continue;
            }
            if let Some(entry) = entries.iter_mut().find(|entry| entry.key.text == *alias) {
                entry.key.text = (*name).into();
            }
        }
    }

    /// Adds the other names to the JSON Schema of the map.
    pub(crate) fn describe(self, schema: &mut Value) {
        for (alias, name) in self.0 {
            let Some(mut value) = schema["properties"].get(*name).cloned() else { continue };
            value["description"] = format!("Another name of `{name}`.").into();
            schema["properties"][*alias] = value;
        }
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.sort_keys();
        }
        let Some(required) = schema["required"].as_array().cloned() else { return };
        for (_, name) in self.0 {
            if required.iter().all(|key| key != name) {
                continue;
            }
            let names = self.0.iter().filter(|(_, of)| of == name).map(|(alias, _)| alias).chain([name]);
            schema["anyOf"] = names.map(|name| json!({"required": [name]})).collect();
            schema["required"] = required.iter().filter(|key| *key != name).cloned().collect();
        }
    }
}

fn rename_steps(owner: &mut Node) {
    let Kind::Map(entries) = &mut owner.kind else { return };
    for entry in entries.iter_mut().filter(|entry| STEPS.contains(&entry.key.text.as_str())) {
        if let Kind::List(steps) = &mut entry.value.kind {
            for step in steps {
                STEP.rename_keys(step);
            }
        }
    }
}

fn rename_get(block: &mut Node) {
    let Kind::Map(entries) = &mut block.kind else { return };
    if let Some(entry) = entries.iter_mut().find(|entry| entry.key.text == "get") {
        GET.rename_keys(&mut entry.value);
    }
}
