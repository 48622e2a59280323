//! The JSON Schema of a manifest, for editors.

use mcprove_suite::schema::{DRAFT, PUBLISHED};
use serde_json::{Map, Value, json};

use super::block::camel;
use super::tool::Level;

/// The schema of a manifest.
pub fn schema() -> Value {
    let whole = map("What the server is and offers.", &["mock_server"], [("mock_server", reference("server"))]);
    json!({
        "$schema": DRAFT,
        "$id": format!("{PUBLISHED}/mock.json"),
        "title": "mcprove mock file",
        "anyOf": [whole, reference("server")],
        "$defs": {
            "answer": answer(),
            "argument": argument(),
            "cache": cache(),
            "error": error(),
            "list_changed": list_changed(),
            "log": log_message(),
            "progress": progress(),
            "prompt": prompt(),
            "request": request(),
            "resource": resource(),
            "resource_template": resource_template(),
            "round": round(),
            "server": server(),
            "task": task(),
            "tool": tool(),
        },
    })
}

fn server() -> Value {
    let tools = list("The tools.", reference("tool"));
    map(
        "What the server is and offers. What is not offered is not declared.",
        &[],
        [
            ("name", text("Its name.")),
            ("version", text("Its version.")),
            ("title", text("Its name for people.")),
            ("instructions", text("Instructions for clients, sent in the handshake.")),
            ("page_size", count("Entries on a page of a list; all when left out.", 1)),
            ("cache", reference("cache")),
            ("fault", fault("The fault of all tools")),
            ("tools", tools),
            ("list_changed", reference("list_changed")),
            ("resources", list("The resources.", reference("resource"))),
            ("resource_templates", list("The resource templates.", reference("resource_template"))),
            ("prompts", list("The prompts.", reference("prompt"))),
        ],
    )
}

fn cache() -> Value {
    let scope =
        json!({"enum": ["public", "private", null], "description": "Who may keep a list; `public` when left out."});
    let ttl = count("How long a list may be kept, in milliseconds.", 0);
    map("Cache hints for modern clients.", &[], [("ttl_ms", ttl), ("scope", scope)])
}

fn list_changed() -> Value {
    map("The catalog after a change.", &[], [("tools", list("The tools.", reference("tool")))])
}

fn tool() -> Value {
    map(
        "A tool.",
        &["name"],
        [
            ("name", text("Its name.")),
            ("title", text("Its name for people.")),
            ("description", text("What it does.")),
            ("input_schema", object("The JSON Schema of its arguments, which are checked against it.")),
            ("output_schema", object("The JSON Schema of its structured content.")),
            ("annotations", object("Hints such as `readOnlyHint`.")),
            ("icons", any("Its icons.")),
            ("_meta", object("Further members of its entry in the list.")),
            ("response", any("The answer when none of `responses` fits: a text, a result, or structured content.")),
            ("responses", list("Answers; the first whose `when` holds is given.", reference("answer"))),
            ("sampling", object("The params of a `sampling/createMessage` request to the client.")),
            ("elicitation", object("The params of an `elicitation/create` request to the client.")),
            ("roots_list", flag("True if the client is asked for its roots.")),
            ("input_required", rounds()),
            ("task", reference("task")),
            ("progress", reference("progress")),
            ("logs", list("Log messages that are sent while it works.", reference("log"))),
            ("notifies", texts("What a call changes: `tools`, `prompts`, `resources`, or the URI of a resource.")),
            ("fault", fault("Its fault")),
        ],
    )
}

fn answer() -> Value {
    let mut answer = map(
        "An answer; it has one of `result`, `error` and `sequence`.",
        &[],
        [
            ("when", text("The condition, such as `args.city == \"Oslo\"`; without it, the answer always fits.")),
            ("default", flag("True if it is given where no condition holds.")),
            ("result", any("A text, a result, or structured content.")),
            ("error", reference("error")),
            (
                "sequence",
                json!({"type": "array", "minItems": 1, "description": "Answers call by call; the last one stays."}),
            ),
        ],
    );
    answer["oneOf"] = json!([{"required": ["result"]}, {"required": ["error"]}, {"required": ["sequence"]}]);
    answer
}

fn error() -> Value {
    let code = json!({"type": ["integer", "null"], "description": "The code of a protocol error; without it, the result has `isError`."});
    let error = map(
        "An error.",
        &[],
        [
            ("code", code),
            ("message", text("The message.")),
            ("data", any("Further data.")),
            ("content", any("The content of a result with `isError`.")),
        ],
    );
    json!({"anyOf": [{"type": ["string", "number", "boolean"]}, error], "description": "An error, or its message."})
}

fn rounds() -> Value {
    let many = json!({"type": "array", "items": reference("round")});
    json!({"anyOf": [reference("round"), many, {"type": "null"}], "description": "What the client is asked before the work begins."})
}

fn round() -> Value {
    let by_key = json!({"type": "object", "additionalProperties": reference("request")});
    let many = json!({"type": "array", "items": reference("request")});
    let requests =
        json!({"anyOf": [by_key, many, {"type": "null"}], "description": "Requests by their keys, or a list of them."});
    let state = text("A state that must come back as it was.");
    let description = text("What it is for; shown nowhere.");
    let mut round =
        map("Requests to the client.", &[], [("requests", requests), ("state", state), ("description", description)]);
    round["anyOf"] = json!([{"required": ["requests"]}, {"required": ["state"]}]);
    round
}

fn request() -> Value {
    let methods = ["elicitation/create", "sampling/createMessage", "roots/list"];
    map(
        "A request to the client.",
        &["method"],
        [
            ("method", json!({"enum": methods, "description": "Its method."})),
            ("params", object("Its params.")),
            ("key", text("Its key, in a list.")),
            ("id", text("Its key, in a list.")),
        ],
    )
}

fn task() -> Value {
    let by_key = json!({"type": "object", "additionalProperties": reference("request")});
    let many = json!({"type": "array", "items": reference("request")});
    map(
        "Settings of a tool that runs as a task where the client knows tasks.",
        &[],
        [
            ("poll_count", count("Number of polls that are answered with `working`.", 0)),
            ("poll_interval_ms", count("The pause between polls that a client is asked for, in milliseconds.", 0)),
            ("ttl_ms", count("How long the task is kept, in milliseconds.", 0)),
            ("required", flag("True if clients that do not know tasks are refused.")),
            (
                "requests",
                json!({"anyOf": [by_key, many, {"type": "null"}], "description": "Requests to the client during the task."}),
            ),
        ],
    )
}

fn progress() -> Value {
    let number = json!({"type": "integer", "minimum": 0, "maximum": 10_000});
    let messages = json!({"type": "array", "items": {"type": ["string", "number", "boolean"]}});
    let steps = json!({"anyOf": [number, messages, {"type": "null"}], "description": "The number of steps, or the message of each."});
    let interval = count("How long a step takes, in milliseconds.", 0);
    let block = map("Progress in steps.", &[], [("steps", steps), ("interval_ms", interval)]);
    json!({"anyOf": [number, messages, block], "description": "Progress: the number of steps, the message of each, or a map."})
}

fn log_message() -> Value {
    let levels = Level::ALL.map(|(name, _)| name);
    let level = json!({"enum": levels, "description": "Its severity; `info` when left out."});
    let logger = text("The name of the logger.");
    let block = map("A log message.", &[], [("level", level), ("data", any("What is logged.")), ("logger", logger)]);
    json!({"anyOf": [{"type": ["string", "number", "boolean"]}, block], "description": "A text, or a log message."})
}

fn resource() -> Value {
    let keys = [("uri", text("Its URI."))].into_iter().chain(shown()).chain([
        ("size", any("Its size in bytes, as the list shows it.")),
        ("text", text("Its content.")),
        ("blob", text("Its content in base64.")),
        ("input_required", rounds()),
    ]);
    map("A resource, with `text` or `blob`.", &["uri"], keys)
}

fn resource_template() -> Value {
    let complete = json!({"type": ["object", "null"], "additionalProperties": texts("Values that complete the variable."), "description": "Values of variables."});
    let keys = [("uri_template", text("The URI with variables: `{name}`, or `{+name}` which may hold slashes."))]
        .into_iter()
        .chain(shown())
        .chain([("text", text("The content.")), ("blob", text("The content in base64.")), ("complete", complete)]);
    map("A resource template, with `text` or `blob`.", &["uri_template"], keys)
}

/// The keys that resources and their templates share.
fn shown() -> [(&'static str, Value); 7] {
    [
        ("name", text("The name; the URI when left out.")),
        ("title", text("The name for people.")),
        ("description", text("What it is.")),
        ("mime_type", text("The media type.")),
        ("annotations", any("Hints for clients.")),
        ("icons", any("The icons.")),
        ("_meta", any("Further members of the entry in the list.")),
    ]
}

fn prompt() -> Value {
    let messages = json!({"type": ["array", "null"], "description": "Its messages; a text is one of the user."});
    map(
        "A prompt, with `text` or `messages`.",
        &["name"],
        [
            ("name", text("Its name.")),
            ("title", text("Its name for people.")),
            ("description", text("What it is for.")),
            ("arguments", list("Its arguments.", reference("argument"))),
            ("text", text("One message of the user.")),
            ("messages", messages),
            ("icons", any("Its icons.")),
            ("_meta", any("Further members of its entry in the list.")),
            ("input_required", rounds()),
        ],
    )
}

fn argument() -> Value {
    let block = map(
        "An argument.",
        &["name"],
        [
            ("name", text("Its name.")),
            ("title", text("Its name for people.")),
            ("description", text("What it is.")),
            ("required", flag("True if it must be given.")),
            ("values", texts("Values that complete it.")),
        ],
    );
    json!({"anyOf": [{"type": "string"}, block], "description": "An argument, or just its name."})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// A map of these keys. Editors complete them as they are here; `input_schema` may be written `inputSchema`, too.
fn map(description: &str, required: &[&str], keys: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let keys: Map<String, Value> = keys.into_iter().map(|(key, schema)| (key.to_owned(), schema)).collect();
    let other = keys.iter().filter(|(key, _)| camel(key) != **key);
    let other: Map<String, Value> = other.map(|(key, schema)| (format!("^{}$", camel(key)), schema.clone())).collect();
    let mut map =
        json!({"type": "object", "properties": keys, "additionalProperties": false, "description": description});
    if !other.is_empty() {
        map["patternProperties"] = Value::Object(other);
    }
    let required: Vec<Value> =
        required.iter().map(|key| json!({"anyOf": [{"required": [key]}, {"required": [camel(key)]}]})).collect();
    if !required.is_empty() {
        map["allOf"] = Value::Array(required);
    }
    map
}

fn text(description: &str) -> Value {
    json!({"type": ["string", "number", "boolean", "null"], "description": description})
}

fn texts(description: &str) -> Value {
    let one = json!({"type": ["string", "number", "boolean"]});
    json!({"anyOf": [one, {"type": "array", "items": one}, {"type": "null"}], "description": description})
}

fn flag(description: &str) -> Value {
    json!({"type": ["boolean", "null"], "description": description})
}

fn count(description: &str, least: u64) -> Value {
    json!({"type": ["integer", "null"], "minimum": least, "description": description})
}

fn object(description: &str) -> Value {
    json!({"type": ["object", "null"], "description": description})
}

fn any(description: &str) -> Value {
    json!({"description": description})
}

#[expect(clippy::needless_pass_by_value, reason = "callers make the schema in place")]
fn list(description: &str, items: Value) -> Value {
    json!({"type": ["array", "null"], "items": items, "description": description})
}

fn fault(what: &str) -> Value {
    text(&format!("{what}: `hang`, `slow:500`, …; `mcprove explain faults` lists them."))
}
