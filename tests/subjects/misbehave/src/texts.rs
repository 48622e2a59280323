//! Names and texts that want to be obeyed by whoever writes them down: terminals, pages, tables, build servers, file systems.

use serde_json::{Value, json};

use crate::server::{Server, tool};

/// What a tool may be called that wants to be more than a name.
pub(crate) const NAMES: &[&str] = &[
    "../../outside",
    "/tmp/absolute",
    "..",
    ".hidden",
    "CON",
    "con.yaml",
    "a/b\\c",
    "",
    "-rf",
    "~root",
    "new\nline",
    "nul\0byte",
    "\u{1b}[2J\u{1b}]0;title\u{7}red",
    "\u{202e}backwards",
    "<script>alert(1)</script>",
    "]]><x/>",
    "|pipe|`tick`",
    "=cmd|' /C calc'!A0",
    "::set-output name=x::y",
    "::error::forged",
    "##vso[task.complete]",
    "${HOME}{{fixture}}",
    "name: yaml # &a *a !!x",
    "upper",
    "UPPER",
];

/// A text that wants something of every place it may be shown in.
const TEXT: &str = "\u{1b}[2J\u{1b}[31mred\u{1b}[0m\rover\nPASS  a forged line\n::error::forged\n::set-output name=x::y\n\
                    ##[group]x\n</script><script>alert(1)</script>\n]]>\n|a|b|\n```\n=cmd|' /C calc'!A0\n\u{202e}back\u{7}\
                    \u{9b}1m\0${HOME} {{fixture}} $(touch pwned) `touch pwned`";

/// Lists tools with such names, and answers every call with such a text.
pub(crate) fn hostile(_: &Server, request: &Value, reply: &mut Value) {
    match request["method"].as_str().unwrap_or_default() {
        "initialize" => {
            reply["result"]["serverInfo"] = json!({ "name": TEXT, "version": TEXT });
            reply["result"]["instructions"] = json!(TEXT);
        }
        "tools/list" => {
            let long = "x".repeat(5_000);
            let names = NAMES.iter().copied().chain([long.as_str()]);
            let tools: Vec<Value> = names.map(named).collect();
            reply["result"]["tools"] = json!(tools);
        }
        "tools/call" => {
            let result = json!({ "content": [{ "type": "text", "text": TEXT }], "structuredContent": { TEXT: TEXT } });
            *reply = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        }
        _ => {}
    }
}

/// Refuses everything with such a text.
pub(crate) fn hostile_error(_: &Server, request: &Value, reply: &mut Value) {
    let error = json!({ "code": -32603, "message": TEXT, "data": { TEXT: TEXT } });
    *reply = json!({ "jsonrpc": "2.0", "id": request["id"], "error": error });
}

fn named(name: &str) -> Value {
    let mut tool = tool(name);
    tool["title"] = json!(TEXT);
    tool["description"] = json!(TEXT);
    tool["inputSchema"]["properties"][TEXT] = json!({ "type": "string", "description": TEXT });
    tool
}
