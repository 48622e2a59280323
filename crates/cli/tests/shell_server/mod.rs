//! A server in a few lines of shell: one tool list and one answer to every call, which may show its environment.

use std::fs;
use std::path::{Path, PathBuf};

/// Writes a server that lists these tools and answers every call with the text `answer`, in which the shell replaces
/// `$NAME`. Both are JSON.
pub(crate) fn write(folder: &Path, tools: &str, answer: &str) -> PathBuf {
    write_with(folder, r#"{"tools":{}}"#, tools, answer)
}

/// The same with these capabilities.
pub(crate) fn write_with(folder: &Path, capabilities: &str, tools: &str, answer: &str) -> PathBuf {
    let reply = |result: &str| format!(r#"printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" {result}"#);
    let begin = format!(
        r#"{{"protocolVersion":"2025-06-18","capabilities":{capabilities},"serverInfo":{{"name":"shell","version":"1"}}}}"#
    );
    let list = format!(r#"{{"tools":{tools}}}"#);
    let call = format!(r#"{{"content":[{{"type":"text","text":{answer}}}]}}"#);
    let text = format!(
        "while read -r line; do\n  id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n  case \"$line\" in\n    \
         *'\"method\":\"initialize\"'*) {} ;;\n    *'\"method\":\"tools/list\"'*) {} ;;\n    *'\"method\":\"tools/call\"'*) {} ;;\n    \
         *'\"id\":'*) printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{{\"code\":-32601,\"message\":\"unknown\"}}}}\\n' \"$id\" ;;\n  esac\ndone\n",
        reply(&verbatim(&begin)),
        reply(&verbatim(&list)),
        reply(&expanded(&call))
    );
    let path = folder.join("server.sh");
    fs::write(&path, text).expect("a file");
    path
}

/// JSON as a word of a shell.
fn verbatim(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// JSON as a word of a shell, which replaces variables in it.
fn expanded(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
