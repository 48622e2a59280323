//! Tools that take several things at once: `create_entities` with a list of records, `delete_entities` with a list of keys.
//! Everything else looks at the arguments about one thing, as if the tool took it alone.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::key;
use super::role::one_of;

/// The list in the arguments of a tool that takes several things.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// The argument with the list.
    list: String,
    /// The name under which a key of the list is known; `None` if the items are records with names of their own.
    key: Option<String>,
}

impl Batch {
    /// The list of a tool that needs nothing but a list of things of this noun, and the schema of the arguments about one.
    pub(super) fn of(schema: &Value, noun: &str) -> Option<(Self, Value)> {
        let required = schema.get("required")?.as_array()?;
        let [Value::String(list)] = required.as_slice() else { return None };
        let own = schema.get("properties")?.get(list)?;
        let items = own.get("items").filter(|_| own.get("type").is_some_and(|kind| kind == "array"))?;
        if items.get("properties").is_some_and(Value::is_object) {
            return Some((Self { list: list.clone(), key: None }, items.clone()));
        }
        let is_key = items.get("type").is_some_and(|kind| kind == "string" || kind == "integer" || kind == "number");
        // `ids` is too short for a plural elsewhere.
        let key = if list == "ids" { "id".to_owned() } else { one_of(list).into_owned() };
        key::rank(&key, noun).filter(|_| is_key && key != *list)?;
        let flat = json!({"type": "object", "properties": {key.clone(): items}, "required": [key]});
        Some((Self { list: list.clone(), key: Some(key) }, flat))
    }

    /// The name of an argument about one thing, where the user gives the list.
    pub(super) fn argument(&self, name: String) -> String {
        self.key.clone().filter(|_| name == self.list).unwrap_or(name)
    }

    /// The arguments about each thing.
    pub(super) fn parts<'a>(&self, args: &'a Value) -> Vec<Cow<'a, Value>> {
        let items = args.get(&self.list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let part = |item: &'a Value| match &self.key {
            Some(key) => Cow::Owned(json!({key: item})),
            None => Cow::Borrowed(item),
        };
        items.iter().map(part).collect()
    }

    /// The arguments of a call about these things.
    pub(super) fn whole(&self, parts: Vec<Value>) -> Value {
        let item = |mut part: Value| match &self.key {
            Some(key) => part.get_mut(key).map(Value::take).unwrap_or_default(),
            None => part,
        };
        let items: Vec<Value> = parts.into_iter().map(item).collect();
        Value::Object(Map::from_iter([(self.list.clone(), Value::Array(items))]))
    }

    /// JSON Pointer to an argument about the thing at this place of the list; `inner` is the one in the arguments about it.
    pub(super) fn place(&self, at: usize, inner: &str) -> String {
        let list = key::escaped(&self.list);
        match &self.key {
            Some(_) => format!("/{list}/{at}"),
            None => format!("/{list}/{at}{inner}"),
        }
    }

    /// JSON Pointer to an argument about the second thing, for one about the first.
    pub(super) fn second(&self, first: &str) -> String {
        let list = format!("/{}/", key::escaped(&self.list));
        first.replacen(&format!("{list}0"), &format!("{list}1"), 1)
    }

    /// The tool with a list that is not empty.
    pub(super) fn listed(&self, listed: &Value) -> Value {
        let mut listed = listed.clone();
        if let Some(own) = listed.pointer_mut(&format!("/inputSchema/properties/{}", key::escaped(&self.list)))
            && let Some(own) = own.as_object_mut()
            && own.get("minItems").and_then(Value::as_u64).unwrap_or(0) == 0
        {
            own.insert("minItems".to_owned(), json!(1));
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(list: &str, items: &Value, noun: &str) -> Option<(Batch, Value)> {
        Batch::of(&json!({"properties": {list: {"type": "array", "items": items}}, "required": [list]}), noun)
    }

    #[test]
    fn lists_of_records_and_of_keys_are_things() {
        let record = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let (records, flat) = batch("entities", &record, "entity").expect("a batch");
        let args = json!({"entities": [{"name": "a"}, {"name": "b"}]});
        let parts: Vec<Value> = records.parts(&args).into_iter().map(Cow::into_owned).collect();
        assert_eq!((parts.len(), &parts[1], &flat), (2, &json!({"name": "b"}), &record));
        assert_eq!((records.whole(parts), records.place(1, "/name")), (args, "/entities/1/name".to_owned()));

        let (keys, flat) = batch("entityNames", &json!({"type": "string"}), "entity").expect("a batch");
        let args = json!({"entityNames": ["a"]});
        let parts: Vec<Value> = keys.parts(&args).into_iter().map(Cow::into_owned).collect();
        assert_eq!(parts, [json!({"entityName": "a"})]);
        assert_eq!(flat["required"], json!(["entityName"]));
        assert_eq!((keys.whole(parts), keys.place(0, "/entityName")), (args, "/entityNames/0".to_owned()));
    }

    #[test]
    fn other_lists_are_arguments_of_one_thing() {
        assert!(batch("tags", &json!({"type": "string"}), "note").is_none());
        assert!(batch("edits", &json!({"type": "array"}), "file").is_none());
        let both = json!({
            "properties": {"project": {"type": "string"}, "ids": {"type": "array", "items": {"type": "string"}}},
            "required": ["project", "ids"],
        });
        assert!(Batch::of(&both, "task").is_none());
    }
}
