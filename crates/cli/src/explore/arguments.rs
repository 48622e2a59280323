//! Arguments of a tool as a person types them: `key=value`, `key:=json`, typed by the tool's schema.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use mcprove_model::bounded_json;
use mcprove_suite::load::bounded_read;
use serde_json::{Map, Value, json};

use super::answers::question;
use super::user_prompt::ask_line;
use crate::failure::Failure;

/// An argument as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: Given,
}

/// The value of an argument as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    /// A string that becomes what the schema says.
    Text(String),
    /// JSON, sent as it is.
    Json(Value),
}

/// Reads `key=value`, `key=@FILE`, `key:=json` and `key:=@FILE`.
pub(crate) fn pairs(words: &[String]) -> Result<Vec<Pair>, Failure> {
    words.iter().map(|word| pair(word)).collect()
}

fn pair(word: &str) -> Result<Pair, Failure> {
    let Some((left, right)) = word.split_once('=') else {
        return Err(Failure::new(format!("`{word}` is not an argument"), "write `key=value` or `key:=json`"));
    };
    let (key, is_json) = left.strip_suffix(':').map_or((left, false), |key| (key, true));
    if key.is_empty() {
        return Err(Failure::new(format!("`{word}` has no key"), "write `key=value` or `key:=json`"));
    }
    let text = match right.strip_prefix('@') {
        Some(path) => read(Path::new(path))?,
        None => right.to_owned(),
    };
    let value = if is_json {
        Given::Json(bounded_json::value(&text).map_err(|error| {
            Failure::new(
                format!("the value of `{key}` is invalid JSON: {error}"),
                "quote it for the shell, or write `key=value`",
            )
        })?)
    } else {
        Given::Text(text)
    };
    Ok(Pair { key: key.to_owned(), value })
}

fn read(path: &Path) -> Result<String, Failure> {
    bounded_read::read_written(path).map_err(|error| {
        Failure::new(format!("`{}` could not be read: {error}", path.display()), "give the path of a text file")
    })
}

/// The JSON object that is written here, in a file, or on standard input for `-`.
pub(crate) fn object(path: &str) -> Result<Map<String, Value>, Failure> {
    let text = if path.trim_start().starts_with(['{', '[']) {
        path.to_owned()
    } else if path == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| {
            Failure::new(format!("standard input could not be read: {error}"), "give the arguments as JSON")
        })?;
        text
    } else {
        read(Path::new(path))?
    };
    let value = bounded_json::value(&text)
        .map_err(|error| Failure::new(format!("`--args {path}` is invalid JSON: {error}"), "give a JSON object"))?;
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(Failure::new(format!("`--args {path}` holds no JSON object"), "give an object with the arguments")),
    }
}

/// The arguments of a call: those of a file, and on top of them the typed ones.
pub(crate) fn arguments(
    base: Map<String, Value>,
    pairs: &[Pair],
    schema: &Value,
) -> Result<Map<String, Value>, Failure> {
    let mut arguments = base;
    for (key, value) in typed(pairs, schema)? {
        arguments.insert(key, value);
    }
    Ok(arguments)
}

/// The typed arguments. A key of an array may be repeated; `a.b=1` is a field of the object `a`.
pub(crate) fn typed(pairs: &[Pair], schema: &Value) -> Result<Map<String, Value>, Failure> {
    let mut arguments = Map::new();
    for Pair { key, value } in pairs {
        let steps = steps(key, schema);
        let mut field = schema;
        for step in &steps {
            field = property(field, step, schema);
        }
        let value = match value {
            Given::Json(value) => value.clone(),
            Given::Text(text) => scalar(key, text, field, schema)?,
        };
        let is_list = types_of(field, schema).contains(&"array");
        insert(&mut arguments, &steps, value, is_list);
    }
    Ok(arguments)
}

/// The path of a key: one step, or the steps between dots where the first one is an object of the schema.
fn steps<'k>(key: &'k str, schema: &Value) -> Vec<&'k str> {
    let known = |name: &str| schema.get("properties").is_some_and(|properties| properties.get(name).is_some());
    let parts: Vec<&str> = key.split('.').collect();
    let leads_on = parts.len() > 1 && !known(key) && known(parts[0]) && parts.iter().all(|part| !part.is_empty());
    if leads_on { parts } else { vec![key] }
}

fn insert(map: &mut Map<String, Value>, steps: &[&str], value: Value, is_list: bool) {
    let [first, rest @ ..] = steps else { return };
    if rest.is_empty() {
        match (map.get_mut(*first), value) {
            (Some(Value::Array(items)), Value::Array(more)) if is_list => items.extend(more),
            (_, value) => {
                map.insert((*first).to_owned(), value);
            }
        }
        return;
    }
    let inner = map.entry((*first).to_owned()).or_insert_with(|| json!({}));
    if !inner.is_object() {
        *inner = json!({});
    }
    if let Value::Object(inner) = inner {
        insert(inner, rest, value, is_list);
    }
}

fn property<'s>(schema: &'s Value, name: &str, root: &'s Value) -> &'s Value {
    let schema = resolved(schema, root);
    schema.get("properties").and_then(|properties| properties.get(name)).unwrap_or(&Value::Null)
}

/// A schema, or the one that its local `$ref` names.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..8 {
        let Some(path) = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#')) else {
            break;
        };
        let Some(target) = root.pointer(path) else { break };
        schema = target;
    }
    schema
}

/// The JSON types that a schema names, in its alternatives too.
pub(crate) fn types_of<'s>(schema: &'s Value, root: &'s Value) -> Vec<&'s str> {
    let mut types: Vec<&str> = Vec::new();
    // Alternatives may lead back to where they come from.
    let mut seen = BTreeSet::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let schema = resolved(schema, root);
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        let named: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            Some(_) | None => Vec::new(),
        };
        for kind in named {
            if !types.contains(&kind) {
                types.push(kind);
            }
        }
        let options = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
        open.extend(options("anyOf").chain(options("oneOf")).collect::<Vec<_>>().into_iter().rev());
    }
    types
}

/// A typed text as the value that the schema wants.
pub(crate) fn scalar(key: &str, text: &str, field: &Value, root: &Value) -> Result<Value, Failure> {
    scalar_in(key, text, field, root, 0)
}

/// Arrays in arrays that a single text may stand for; their schema may be its own item.
const NESTED: usize = 4;

fn scalar_in(key: &str, text: &str, field: &Value, root: &Value, depth: usize) -> Result<Value, Failure> {
    let types = types_of(field, root);
    let field = resolved(field, root);
    if types.is_empty() {
        let mut named = field.get("enum").and_then(Value::as_array).into_iter().flatten();
        let given = json!(text);
        let parsed: Option<Value> = serde_json::from_str(text).ok();
        let same = named.find(|value| **value == given || Some(*value) == parsed.as_ref());
        return Ok(same.cloned().unwrap_or(given));
    }
    // What fits as it is does not become an item of an array.
    let is_array = |kind: &&&str| **kind == "array";
    for kind in types.iter().filter(|kind| !is_array(kind)).chain(types.iter().filter(is_array)) {
        let value = match *kind {
            "integer" => {
                text.parse::<i64>().ok().map(Value::from).or_else(|| text.parse::<u64>().ok().map(Value::from))
            }
            "number" => number(text),
            "boolean" => match text {
                "true" => Some(json!(true)),
                "false" => Some(json!(false)),
                _ => None,
            },
            "null" => (text == "null").then_some(Value::Null),
            // An item is itself an array only if it can be nothing else.
            "array" if depth == 0 || (depth < NESTED && types.len() == 1) => array(key, text, field, root, depth + 1)?,
            "object" => serde_json::from_str(text).ok().filter(Value::is_object),
            "array" | "string" => None,
            _ => Some(json!(text)),
        };
        if let Some(value) = value.filter(|_| *kind != "string" && !types.contains(&"string")) {
            return Ok(value);
        }
    }
    if types.contains(&"string") {
        return Ok(json!(text));
    }
    Err(misfit(key, text, &types.join(" or ")))
}

/// A value that is not what the schema wants.
fn misfit(key: &str, text: &str, wanted: &str) -> Failure {
    let json = shell_words::quote(&json!(text).to_string()).into_owned();
    let help =
        if wanted.contains("object") { format!("write it as JSON: `{key}='{{…}}'`; to") } else { "to".to_owned() };
    Failure::new(
        format!("`{key}` is {wanted} in the schema, and `{text}` is not"),
        format!("{help} send the text anyway: {key}:={json}"),
    )
}

fn number(text: &str) -> Option<Value> {
    let is_number = |value: &Value| value.is_number();
    serde_json::from_str(text).ok().filter(is_number)
}

/// A JSON array, or a single item.
fn array(key: &str, text: &str, field: &Value, root: &Value, depth: usize) -> Result<Option<Value>, Failure> {
    if text.trim_start().starts_with('[')
        && let Ok(items @ Value::Array(_)) = serde_json::from_str(text)
    {
        return Ok(Some(items));
    }
    let items = field.get("items").unwrap_or(&Value::Null);
    let item = scalar_in(key, text, items, root, depth)
        .map_err(|_| misfit(key, text, &format!("an array of {}", types_of(items, root).join(" or "))))?;
    Ok(Some(json!([item])))
}

/// Asks the person at the terminal for required arguments that are missing; the names of those that still are.
pub(crate) async fn missing(arguments: &mut Map<String, Value>, schema: &Value) -> Vec<String> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let absent: Vec<&str> = required.filter(|name| !arguments.contains_key(*name)).collect();
    let mut left = Vec::new();
    for name in absent {
        let field = property(schema, name, schema);
        let mut value = None;
        for _ in 0..3 {
            let Some(line) = ask_line(&question(name, field, schema, true)).await else { break };
            let default = field.get("default").cloned().filter(|_| line.is_empty());
            match default.map_or_else(|| scalar(name, &line, field, schema), Ok) {
                Ok(typed) => {
                    value = Some(typed);
                    break;
                }
                Err(failure) => {
                    let line = format!("  {}\n", mcprove_model::escape_line(&failure.to_string()));
                    let _ = std::io::Write::write_all(&mut anstream::stderr(), line.as_bytes());
                }
            }
        }
        match value {
            Some(value) => {
                arguments.insert(name.to_owned(), value);
            }
            None => left.push(name.to_owned()),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_that_lead_back_to_themselves_have_an_end() {
        let root = json!({
            "properties": {"x": {"$ref": "#/$defs/a"}, "deep": {"$ref": "#/$defs/list"}, "j": {"$ref": "#/$defs/json"}},
            "$defs": {
                "a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]},
                "b": {"oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]},
                "list": {"type": "array", "items": {"$ref": "#/$defs/list"}},
                "json": {"anyOf": [{"type": "number"}, {"type": "array", "items": {"$ref": "#/$defs/json"}}, {"type": "boolean"}]},
            },
        });
        let field = |name: &str| property(&root, name, &root);
        assert!(types_of(field("x"), &root).is_empty());
        assert_eq!(scalar("x", "1", field("x"), &root).expect("a text"), json!("1"));
        assert_eq!(types_of(field("j"), &root), ["number", "array", "boolean"]);
        assert_eq!(scalar("j", "true", field("j"), &root).ok(), Some(json!(true)));
        assert_eq!(scalar("j", "[true]", field("j"), &root).ok(), Some(json!([true])));
        assert!(scalar("deep", "1", field("deep"), &root).is_err());
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "count": {"type": "integer"},
                "ratio": {"type": "number"},
                "deep": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "sizes": {"type": "array", "items": {"type": "integer"}},
                "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "either": {"type": ["integer", "string"]},
                "address": {"$ref": "#/$defs/Address"},
                "a.b": {"type": "integer"},
                "free": {},
            },
            "$defs": {"Address": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}}}},
        })
    }

    fn of(words: &[&str]) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let pairs = pairs(&words).map_err(|failure| failure.to_string())?;
        typed(&pairs, &schema()).map(Value::Object).map_err(|failure| failure.to_string())
    }

    #[test]
    fn values_have_the_types_of_the_schema() {
        let typed =
            of(&["text=7", "count=7", "ratio=1e2", "deep=true", "maybe=null", "either=7", "free=7", "unknown=x"]);
        let expected = json!({"text": "7", "count": 7, "ratio": 1e2, "deep": true, "maybe": null, "either": "7",
                              "free": "7", "unknown": "x"});
        assert_eq!(typed, Ok(expected));
        assert_eq!(of(&["maybe=3"]), Ok(json!({"maybe": 3})));
        assert_eq!(of(&["count:=\"seven\"", "text:=null"]), Ok(json!({"count": "seven", "text": null})));
        assert_eq!(of(&["text=a=b", "text2="]), Ok(json!({"text": "a=b", "text2": ""})));
    }

    #[test]
    fn arrays_are_repeated_keys_or_json_and_objects_have_dotted_keys() {
        assert_eq!(of(&["tags=a", "tags=b"]), Ok(json!({"tags": ["a", "b"]})));
        assert_eq!(of(&["sizes=[1,2]", "sizes=3"]), Ok(json!({"sizes": [1, 2, 3]})));
        assert_eq!(of(&["address.city=Rome", "address.zip=9"]), Ok(json!({"address": {"city": "Rome", "zip": 9}})));
        assert_eq!(of(&["address={\"city\":\"Rome\"}"]), Ok(json!({"address": {"city": "Rome"}})));
        assert_eq!(of(&["a.b=1", "x.y=1"]), Ok(json!({"a.b": 1, "x.y": "1"})));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_a_way_out() {
        let mixed = json!({"properties": {"tasks": {"type": "array", "items": {"type": "object"}}}});
        let failure = typed(&pairs(&["tasks=hello".to_owned()]).expect("a pair"), &mixed).expect_err("no object");
        assert_eq!(failure.to_string(), "`tasks` is an array of object in the schema, and `hello` is not");
        assert_eq!(of(&["count=seven"]), Err("`count` is integer in the schema, and `seven` is not".to_owned()));
        assert_eq!(of(&["plain"]), Err("`plain` is not an argument".to_owned()));
        assert!(of(&["count:={"]).is_err_and(|text| text.starts_with("the value of `count` is invalid JSON")));
        assert_eq!(of(&["=x"]), Err("`=x` has no key".to_owned()));
    }
}
