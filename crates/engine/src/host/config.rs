//! The configuration of a client, in its own format, with the servers of a scenario.

use std::fmt::Write as _;

use mcprove_suite::scenario_file::ConfigFormat;
use serde_json::{Map, Value, json};

/// A server in the configuration of a client.
#[derive(Clone, Debug)]
pub struct ClientServer {
    /// Its name.
    pub name: String,
    /// The command and its arguments, or the URL.
    pub place: Place,
    /// The token for it.
    pub token: Option<String>,
}

/// Way from a client to a server.
#[derive(Clone, Debug)]
pub enum Place {
    /// It starts a command.
    Command(Vec<String>),
    /// It sends requests to a URL.
    Url(String),
}

/// A configuration file: its name, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// The path below a folder of its own.
    pub path: &'static str,
    /// The content.
    pub text: String,
}

/// The configuration file of a client.
pub fn client_config(format: ConfigFormat, servers: &[ClientServer]) -> ClientConfig {
    let (path, key) = match format {
        ConfigFormat::Plain => ("mcp.json", "mcpServers"),
        ConfigFormat::ClaudeDesktop => ("claude_desktop_config.json", "mcpServers"),
        ConfigFormat::VsCode => (".vscode/mcp.json", "servers"),
        ConfigFormat::Cursor => (".cursor/mcp.json", "mcpServers"),
        ConfigFormat::Gemini => (".gemini/settings.json", "mcpServers"),
        ConfigFormat::Codex => return ClientConfig { path: ".codex/config.toml", text: toml(servers) },
    };
    let entries: Map<String, Value> =
        servers.iter().map(|server| (server.name.clone(), entry(format, server))).collect();
    let mut text = serde_json::to_string_pretty(&json!({ key: entries })).unwrap_or_default();
    text.push('\n');
    ClientConfig { path, text }
}

fn entry(format: ConfigFormat, server: &ClientServer) -> Value {
    let mut entry = match (&server.place, format) {
        (Place::Command(words), ConfigFormat::VsCode | ConfigFormat::Cursor) => {
            json!({"type": "stdio", "command": words[0], "args": words[1..]})
        }
        (Place::Command(words), _) => json!({"command": words[0], "args": words[1..]}),
        (Place::Url(url), ConfigFormat::Gemini) => json!({"httpUrl": url}),
        (Place::Url(url), ConfigFormat::Cursor) => json!({"url": url}),
        (Place::Url(url), _) => json!({"type": "http", "url": url}),
    };
    if let Some(token) = &server.token {
        match server.place {
            Place::Command(_) => entry["env"] = json!({"MCP_TOKEN": token}),
            Place::Url(_) => entry["headers"] = json!({"Authorization": format!("Bearer {token}")}),
        }
    }
    entry
}

fn toml(servers: &[ClientServer]) -> String {
    let quoted = |text: &str| Value::String(text.to_owned()).to_string();
    let mut text = String::new();
    for server in servers {
        let _ = writeln!(text, "[mcp_servers.{}]", quoted(&server.name));
        match &server.place {
            Place::Command(words) => {
                let args: Vec<String> = words[1..].iter().map(|word| quoted(word)).collect();
                let _ = writeln!(text, "command = {}\nargs = [{}]", quoted(&words[0]), args.join(", "));
                if let Some(token) = &server.token {
                    let _ = writeln!(text, "env = {{ MCP_TOKEN = {} }}", quoted(token));
                }
            }
            Place::Url(url) => {
                let _ = writeln!(text, "url = {}", quoted(url));
                if let Some(token) = &server.token {
                    let header = quoted(&format!("Bearer {token}"));
                    let _ = writeln!(text, "http_headers = {{ Authorization = {header} }}");
                }
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_names_every_server() {
        let servers = [
            ClientServer { name: "a".into(), place: Place::Command(vec!["x".into(), "--p".into()]), token: None },
            ClientServer {
                name: "b".into(),
                place: Place::Url("http://127.0.0.1:1/mcp".into()),
                token: Some("t0k".into()),
            },
        ];
        for (name, format) in ConfigFormat::ALL {
            let config = client_config(format, &servers);
            for part in ["--p", "http://127.0.0.1:1/mcp", "Bearer t0k"] {
                assert!(config.text.contains(part), "{name}: {}", config.text);
            }
            if format != ConfigFormat::Codex {
                let json: Value = serde_json::from_str(&config.text).expect(name);
                let key = if format == ConfigFormat::VsCode { "servers" } else { "mcpServers" };
                assert_eq!(json[key]["a"]["args"], json!(["--p"]), "{name}");
            }
        }
    }

    /// The files as the documentation of each client shows them (November 2026).
    #[test]
    fn each_format_is_that_of_its_documentation() {
        let (url, headers) = ("http://127.0.0.1:1/mcp", json!({"Authorization": "Bearer t0k"}));
        let servers = [
            ClientServer { name: "a".into(), place: Place::Command(vec!["x".into(), "--p".into()]), token: None },
            ClientServer { name: "b".into(), place: Place::Url(url.into()), token: Some("t0k".into()) },
        ];
        let plain = json!({"command": "x", "args": ["--p"]});
        let typed = json!({"type": "stdio", "command": "x", "args": ["--p"]});
        let http = json!({"type": "http", "url": url, "headers": headers});
        for (format, path, wanted) in [
            (ConfigFormat::Plain, "mcp.json", json!({"mcpServers": {"a": plain, "b": http}})),
            (ConfigFormat::VsCode, ".vscode/mcp.json", json!({"servers": {"a": typed, "b": http}})),
            (
                ConfigFormat::Cursor,
                ".cursor/mcp.json",
                json!({"mcpServers": {"a": typed, "b": {"url": url, "headers": headers}}}),
            ),
            (
                ConfigFormat::Gemini,
                ".gemini/settings.json",
                json!({"mcpServers": {"a": plain, "b": {"httpUrl": url, "headers": headers}}}),
            ),
        ] {
            let config = client_config(format, &servers);
            assert_eq!(config.path, path);
            assert_eq!(serde_json::from_str::<Value>(&config.text).expect("JSON"), wanted, "{path}");
        }
        // Claude Desktop reads commands alone.
        let desktop = client_config(ConfigFormat::ClaudeDesktop, &servers[..1]);
        assert_eq!(desktop.path, "claude_desktop_config.json");
        assert_eq!(serde_json::from_str::<Value>(&desktop.text).expect("JSON"), json!({"mcpServers": {"a": plain}}));
        let codex = client_config(ConfigFormat::Codex, &servers);
        assert_eq!(codex.path, ".codex/config.toml");
        let wanted = "[mcp_servers.\"a\"]\ncommand = \"x\"\nargs = [\"--p\"]\n\n[mcp_servers.\"b\"]\nurl = \"http://127.0.0.1:1/mcp\"\n\
                      http_headers = { Authorization = \"Bearer t0k\" }\n\n";
        assert_eq!(codex.text, wanted);
    }
}
