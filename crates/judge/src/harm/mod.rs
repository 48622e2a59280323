//! Values that can do no harm: what a scan sends never names a process, a file, a host or a statement that is someone's.
//!
//! Tools that write are skipped by default, but a tool may write without saying so. So the arguments that name something
//! outside the server get values that cannot exist or belong to mcprove: paths in a scratch folder, process ids above
//! the largest one, `echo`, hosts that are reserved, `SELECT 1`. The same holds for fuzz mutations and for what is left
//! of them when they are shrunk.

mod role;
mod safe_value;

use serde_json::{Map, Value};

use crate::generate::{Oracle, Places, Ungeneratable, fuller_input, placed, valid_input};
use crate::json_pointer::escaped;
use crate::tool_effect::ToolEffect;

use role::{Role, role};

/// Texts that mean "everything" to some program, whatever the argument is called.
const EVERYTHING: &[&str] = &["*", "**", "**/*", "*.*", ".", "..", "./", "../", "/", "/*", "~", "~/", "\\", "C:\\"];

/// The paths that may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathRule {
    /// Any: the tool only reads.
    Any,
    /// Paths that cannot exist, and those of the fixture.
    Harmless,
}

/// Values that may be sent to one tool.
#[derive(Clone, Debug)]
pub struct HarmGuard {
    /// True if everything may be sent.
    is_off: bool,
    /// True if the tool says that it only reads: then paths may be any.
    reads: bool,
    paths: PathRule,
    mentions_sql: bool,
    /// A folder of mcprove's.
    scratch: String,
    /// A copy of the fixture.
    fixture: Option<String>,
    /// Values that the user gave.
    given: Vec<Value>,
    /// Values of the author of the tool: closed lists, and suggestions where the tool says that it only reads.
    authored: Vec<Value>,
}

impl HarmGuard {
    /// The guard of a tool; made-up paths are in the scratch folder.
    pub fn new(tool: &Value, effect: &ToolEffect, scratch: &str) -> Self {
        let reads = *effect == ToolEffect::Reads;
        let mut authored = Vec::new();
        collect_authored(tool.get("inputSchema").unwrap_or(&Value::Null), reads, &mut authored);
        Self {
            is_off: false,
            reads,
            paths: if reads { PathRule::Any } else { PathRule::Harmless },
            mentions_sql: mentions_sql(tool),
            scratch: scratch.trim_end_matches('/').to_owned(),
            fixture: None,
            given: Vec::new(),
            authored,
        }
    }

    /// A guard that lets everything through.
    pub fn off() -> Self {
        Self::new(&Value::Null, &ToolEffect::Unclear, "").allowing_all_if(true)
    }

    /// Lets everything through, for a user who asked for calls that write; valid inputs stay harmless where they can.
    #[must_use]
    pub fn allowing_all_if(mut self, is_asked_for: bool) -> Self {
        self.is_off |= is_asked_for;
        self
    }

    /// Also allows paths in a copy of the fixture.
    #[must_use]
    pub fn with_fixture(mut self, folder: &str) -> Self {
        self.fixture = Some(folder.trim_end_matches('/').to_owned());
        self
    }

    /// Also allows the values of arguments that the user gave.
    #[must_use]
    pub fn with_given(mut self, arguments: &[Value]) -> Self {
        for given in arguments {
            collect_scalars(given, &mut self.given);
        }
        self
    }

    /// True if arguments hold nothing that could do harm.
    pub fn allows(&self, arguments: &Value) -> bool {
        self.is_off || self.faults(arguments).is_empty()
    }

    /// Arguments with a harmless value for each one that could do harm, as much like it as can be.
    pub fn made_harmless(&self, mut arguments: Value) -> Value {
        if self.is_off {
            return arguments;
        }
        for fault in self.faults(&arguments) {
            if let Some(leaf) = arguments.pointer_mut(&fault.pointer) {
                *leaf = safe_value::altered(leaf, fault.role, &self.scratch);
            }
        }
        arguments
    }

    /// A valid input that is harmless; the places are paths in the fixture.
    pub fn input(&self, tool: &Value, seed: u64, places: Option<&Places>) -> Result<Value, Ungeneratable> {
        let schema = argument_schema(tool);
        let made = valid_input(&schema, seed)?;
        self.harmless_input(tool, &schema, &made, places)
    }

    /// The same with optional arguments, for a tool that needs more than its schema says.
    pub fn fuller_input(&self, tool: &Value, seed: u64, places: Option<&Places>) -> Option<Value> {
        let schema = argument_schema(tool);
        let made = fuller_input(&schema, seed)?;
        self.harmless_input(tool, &schema, &made, places).ok()
    }

    fn harmless_input(
        &self,
        tool: &Value,
        schema: &Value,
        made: &Value,
        places: Option<&Places>,
    ) -> Result<Value, Ungeneratable> {
        let made = places.map_or_else(|| made.clone(), |places| placed(tool, made, places));
        let oracle = Oracle::new(schema).map_err(|reason| Ungeneratable { pointer: String::new(), reason })?;
        // Also a tool that only reads is asked for a path that cannot exist.
        let strict = Self { paths: PathRule::Harmless, ..self.clone() };
        let mut input = made;
        for fault in strict.faults(&input) {
            let is_free = self.reads && matches!(fault.role, Some(Role::File | Role::Folder | Role::Pattern));
            input = match self.replaced(&input, &fault, &oracle) {
                // A path that is read does no harm where no other is valid.
                Err(_) if is_free => input,
                replaced => replaced?,
            };
        }
        Ok(input)
    }

    /// The input with one harmless value more, still valid.
    fn replaced(&self, input: &Value, fault: &HarmfulValue, oracle: &Oracle) -> Result<Value, Ungeneratable> {
        let old = input.pointer(&fault.pointer).cloned().unwrap_or_default();
        let operations = self.authored.iter().filter(|_| matches!(fault.role, Some(Role::Operation | Role::Command)));
        let operations = operations.filter(|value| value.is_string() && !safe_value::is_change(value)).cloned();
        for candidate in operations.chain(safe_value::candidates(&old, fault.role, &fault.name, &self.scratch)) {
            let mut changed = input.clone();
            if let Some(leaf) = changed.pointer_mut(&fault.pointer) {
                *leaf = candidate;
            }
            if oracle.accepts(&changed) {
                return Ok(changed);
            }
        }
        // A user who allows writing also allows what the schema leaves.
        if self.is_off {
            return Ok(input.clone());
        }
        let reason = format!("no harmless value is valid here; `{old}` might not be harmless");
        Err(Ungeneratable { pointer: fault.pointer.clone(), reason })
    }

    fn faults(&self, arguments: &Value) -> Vec<HarmfulValue> {
        let mut found = Vec::new();
        self.walk(arguments, &mut Place { pointer: String::new(), name: String::new(), role: None }, &mut found);
        found
    }

    fn walk(&self, value: &Value, place: &mut Place, found: &mut Vec<HarmfulValue>) {
        if let Some(role) = place.role
            && self.is_harmful(value, role)
        {
            found.push(HarmfulValue { pointer: place.pointer.clone(), name: place.name.clone(), role: Some(role) });
            return;
        }
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    let pointer = format!("{}/{}", place.pointer, escaped(key));
                    let role = role(key, self.mentions_sql);
                    self.walk(inner, &mut Place { pointer, name: key.clone(), role }, found);
                }
            }
            Value::Array(items) => {
                for (index, inner) in items.iter().enumerate() {
                    let pointer = format!("{}/{index}", place.pointer);
                    let mut place = Place { pointer, name: place.name.clone(), role: place.role };
                    self.walk(inner, &mut place, found);
                }
            }
            Value::String(text) if EVERYTHING.contains(&text.trim()) && !self.is_owned(value) => {
                found.push(HarmfulValue { pointer: place.pointer.clone(), name: place.name.clone(), role: None });
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn is_owned(&self, value: &Value) -> bool {
        self.given.contains(value) || self.reads && self.authored.contains(value)
    }

    fn is_harmful(&self, value: &Value, role: Role) -> bool {
        if self.given.contains(value) {
            return false;
        }
        // A tool may do several things, and the author lists them all.
        if matches!(role, Role::Operation | Role::Command) && !self.reads && safe_value::is_change(value) {
            return true;
        }
        let is_id = role == Role::ProcessId;
        if !is_id && self.authored.contains(value) && (self.reads || !is_everything(value)) {
            return false;
        }
        if self.paths == PathRule::Any && matches!(role, Role::File | Role::Folder | Role::Pattern) {
            return false;
        }
        let is_in_fixture =
            |text: &str| self.fixture.as_deref().is_some_and(|folder| safe_value::is_within(text, folder));
        match (role, value) {
            (Role::File | Role::Folder, Value::String(text)) if is_in_fixture(text) => false,
            (_, _) => !safe_value::is_harmless(value, role, &self.scratch),
        }
    }
}

/// A value that could do harm.
struct HarmfulValue {
    pointer: String,
    name: String,
    role: Option<Role>,
}

struct Place {
    pointer: String,
    name: String,
    role: Option<Role>,
}

fn is_everything(value: &Value) -> bool {
    value.as_str().is_some_and(|text| EVERYTHING.contains(&text.trim()))
}

/// The schema of a tool's arguments; arguments are an object also where the schema does not say so.
pub fn argument_schema(tool: &Value) -> Value {
    let own = tool.get("inputSchema");
    let Some(Value::Object(map)) = own else {
        // A schema that refuses everything stays: no arguments are valid.
        return match own {
            Some(refused @ Value::Bool(false)) => refused.clone(),
            Some(_) | None => serde_json::json!({"type": "object"}),
        };
    };
    let mut map: Map<String, Value> = map.clone();
    let decides = ["type", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "const", "enum"];
    if !decides.iter().any(|key| map.contains_key(*key)) {
        map.insert("type".to_owned(), Value::from("object"));
    }
    Value::Object(map)
}

fn mentions_sql(tool: &Value) -> bool {
    let texts = ["/name", "/description", "/inputSchema/properties/query/description"];
    let known = ["sql", "postgres", "database", "bigquery", "duckdb", "snowflake", "clickhouse"];
    let text = |pointer: &&str| tool.pointer(pointer).and_then(Value::as_str).map(str::to_lowercase);
    texts.iter().filter_map(text).any(|text| known.iter().any(|word| text.contains(word)))
}

/// Collects the values that a schema names: those of closed lists, and with `suggestions` also defaults and examples.
fn collect_authored(schema: &Value, suggestions: bool, found: &mut Vec<Value>) {
    match schema {
        Value::Object(map) => {
            for (key, inner) in map {
                match key.as_str() {
                    "const" | "enum" => collect_scalars(inner, found),
                    "default" | "example" | "examples" if suggestions => collect_scalars(inner, found),
                    _ => collect_authored(inner, suggestions, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_authored(item, suggestions, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn collect_scalars(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(map) => map.values().for_each(|inner| collect_scalars(inner, found)),
        Value::Array(items) => items.iter().for_each(|inner| collect_scalars(inner, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => found.push(value.clone()),
    }
}

#[cfg(test)]
mod tests;
