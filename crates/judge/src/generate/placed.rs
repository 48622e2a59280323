//! Inputs that name files which are there: made-up paths become paths in a folder that was given.

use serde_json::{Map, Value};

use super::Oracle;
use super::names::words;

/// Words that end the name of a property which holds a path.
const PATHS: &[&str] = &[
    "cwd",
    "destination",
    "dir",
    "directory",
    "file",
    "filename",
    "filepath",
    "files",
    "folder",
    "path",
    "paths",
    "root",
    "source",
];
/// Words that make it the path of a folder.
const FOLDERS: &[&str] = &["cwd", "dir", "directory", "folder", "project", "repo", "repository", "root", "workspace"];
/// Words that make it a path of something that is made.
const OUTPUTS: &[&str] = &["dest", "destination", "export", "out", "output", "save"];
/// Words in the name of a tool that works on a whole folder.
const ON_FOLDERS: &[&str] = &["directory", "dir", "find", "folder", "glob", "list", "ls", "search", "tree"];
/// Words in the name of a tool that makes something.
const MAKING: &[&str] = &["add", "create", "make", "mkdir", "new", "save", "write"];
/// Keywords by which an author says which values he wants.
const SAID: &[&str] = &["const", "default", "enum", "example", "examples", "format", "pattern"];

/// Paths that inputs may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// A file that is there, when there is one.
    pub file: Option<String>,
    /// A folder that is there.
    pub folder: String,
    /// Something in the folder that is not there yet.
    pub fresh: String,
}

/// The input with paths of these places where a property's name asks for a path and its schema says no more. What the
/// schema would not accept stays as it was.
pub fn placed(tool: &Value, input: &Value, places: &Places) -> Value {
    let (Some(schema), Value::Object(given)) = (tool.get("inputSchema"), input) else { return input.clone() };
    let tool_words = words(tool.get("name").and_then(Value::as_str).unwrap_or_default());
    let mut moved: Map<String, Value> = given.clone();
    for (name, value) in &mut moved {
        let own = schema.get("properties").and_then(|all| all.get(name));
        let items = own.and_then(|own| own.get("items"));
        let is_said = [own, items].into_iter().flatten().any(|own| SAID.iter().any(|key| own.get(key).is_some()));
        if own.is_none() || is_said {
            continue;
        }
        if let Some(path) = path_for(&words(name), &tool_words, places) {
            replace(value, path);
        }
    }
    let moved = Value::Object(moved);
    let is_valid = Oracle::new(schema).is_ok_and(|oracle| oracle.accepts(&moved));
    if is_valid { moved } else { input.clone() }
}

fn path_for<'p>(name: &[String], tool: &[String], places: &'p Places) -> Option<&'p str> {
    let is_any = |words: &[String], known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let last = name.last().filter(|last| PATHS.contains(&last.as_str()))?;
    let file = places.file.as_deref().unwrap_or(&places.folder);
    Some(if is_any(name, OUTPUTS) {
        &places.fresh
    } else if last == "source" {
        file
    } else if is_any(tool, MAKING) {
        &places.fresh
    } else if is_any(name, FOLDERS) || is_any(tool, ON_FOLDERS) {
        &places.folder
    } else {
        file
    })
}

/// Puts a path in the place of a text, or of every text of a list.
fn replace(value: &mut Value, path: &str) {
    match value {
        Value::String(text) => path.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, path)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn input_of(tool: &str, properties: &Value, input: &Value) -> Value {
        let places = Places { file: Some("/f/a.txt".to_owned()), folder: "/f".to_owned(), fresh: "/f/new".to_owned() };
        let tool = json!({"name": tool, "inputSchema": {"type": "object", "properties": properties}});
        placed(&tool, input, &places)
    }

    #[test]
    fn paths_lead_to_what_is_there() {
        let text = json!({"type": "string"});
        for (tool, property, wanted) in [
            ("read_file", "path", "/f/a.txt"),
            ("list_directory", "path", "/f"),
            ("write_file", "path", "/f/new"),
            ("move_file", "source", "/f/a.txt"),
            ("move_file", "destination", "/f/new"),
            ("run", "workingDirectory", "/f"),
            ("git_status", "repo_path", "/f"),
            ("generate_diagram", "output_path", "/f/new"),
            ("convert_time", "source_timezone", "x"),
        ] {
            let input = input_of(tool, &json!({property: text}), &json!({property: "x"}));
            assert_eq!(input, json!({property: wanted}), "{tool} {property}");
        }
        let many = json!({"paths": {"type": "array", "items": text}});
        assert_eq!(input_of("read_multiple_files", &many, &json!({"paths": ["x"]})), json!({"paths": ["/f/a.txt"]}));
    }

    #[test]
    fn what_the_author_says_stays() {
        for schema in [json!({"enum": ["x"]}), json!({"default": "x"}), json!({"type": "string", "maxLength": 1})] {
            assert_eq!(input_of("read", &json!({"path": schema}), &json!({"path": "x"})), json!({"path": "x"}));
        }
    }
}
