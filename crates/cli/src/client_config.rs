//! Servers from the configuration files of MCP clients: `mcpServers` or `servers`, a map of names, with what the clients
//! put in the place of `${…}`.

use std::path::{Path, PathBuf};

use mcprove_model::{Origin, OriginPart, Remote, SourceFile, Target, bounded_json, nearest};
use mcprove_suite::env_file;
use mcprove_suite::load::bounded_read;
use serde_json::Value;

use crate::client_variables::{self, Missing};
use crate::failure::Failure;
use crate::subject::stdio;

/// Claude Desktop hands on what it reads, dollar signs and all; the others expand.
const LITERAL: &str = "claude_desktop_config.json";

/// A server that a configuration file describes.
#[derive(Debug)]
pub(crate) struct Configured {
    /// The command or URL of the server.
    pub(crate) target: Target,
    /// Which of its texts variables and inputs gave a part of; their values are not to be shown.
    pub(crate) origins: Vec<Origin>,
}

/// Values for the variables of a configuration file.
pub(crate) struct Surroundings<'s> {
    /// The value of a variable of the environment.
    pub(crate) variable: &'s dyn Fn(&str) -> Option<String>,
    /// The folder that the client has open.
    pub(crate) workspace: PathBuf,
}

impl<'s> Surroundings<'s> {
    /// Those of a file: `.vscode/mcp.json` and its like belong to the folder above.
    pub(crate) fn of(path: &Path, variable: &'s dyn Fn(&str) -> Option<String>) -> Self {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = real.parent().unwrap_or_else(|| Path::new("."));
        let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let workspace = if is_hidden { folder.parent().unwrap_or(folder) } else { folder };
        Self { variable, workspace: workspace.to_owned() }
    }
}

/// Reads a file and finds one of its servers; the name may be left out where there is one only.
pub(crate) fn read(path: &Path, name: Option<&str>, surroundings: &Surroundings<'_>) -> Result<Configured, Failure> {
    let shown = path.display();
    let text = bounded_read::read_to_string(path)
        .map_err(|error| Failure::new(format!("`{shown}` could not be read: {error}"), "give an existing file"))?;
    let config = bounded_json::value(without_comments(&text))
        .map_err(|error| Failure::new(format!("`{shown}` is not JSON: {error}"), "fix the file"))?;
    let keys = [("mcpServers", "/mcpServers"), ("servers", "/servers"), ("mcp.servers", "/mcp/servers")];
    let found = keys.iter().find_map(|(key, pointer)| config.pointer(pointer).map(|servers| (*key, servers)));
    let listed = found.and_then(|(key, servers)| Some((key, servers.as_object().filter(|map| !map.is_empty())?)));
    let Some((key, servers)) = listed else {
        return Err(Failure::new(format!("`{shown}` lists no servers"), "it should have `mcpServers` or `servers`"));
    };
    let names: Vec<&str> = servers.keys().map(String::as_str).collect();
    let (name, server) = match name {
        Some(name) => servers.get(name).map(|server| (name, server)).ok_or_else(|| {
            let help = match nearest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", names.join(", ")),
            };
            Failure::new(format!("`{shown}` has no server `{name}`"), help)
        })?,
        None => match (names.as_slice(), servers.values().next()) {
            ([only], Some(server)) => (*only, server),
            (several, _) => {
                return Err(Failure::new(
                    format!("`{shown}` has {} servers", several.len()),
                    format!("choose one with `--name`: {}", several.join(", ")),
                ));
            }
        },
    };
    let is_literal = path.file_name().is_some_and(|name| name == LITERAL);
    let mut entry = EntryReader {
        server,
        place: format!("{key}.{name}"),
        file: path,
        inputs: config.get("inputs").unwrap_or(&Value::Null),
        surroundings: (!is_literal).then_some(surroundings),
        origins: Vec::new(),
    };
    let target = entry.target()?;
    Ok(Configured { target, origins: entry.origins })
}

/// The names of the servers of a file; none if it cannot be read.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let text = bounded_read::read_to_string(path).unwrap_or_default();
    let config = bounded_json::parse(without_comments(&text)).unwrap_or_default();
    let servers =
        ["/mcpServers", "/servers", "/mcp/servers"].iter().find_map(|pointer| config.pointer(pointer)?.as_object());
    servers.into_iter().flat_map(serde_json::Map::keys).cloned().collect()
}

/// Reads one server of a file.
struct EntryReader<'e> {
    server: &'e Value,
    /// Its place in the file, for messages.
    place: String,
    file: &'e Path,
    /// Inputs that the client would ask the user for.
    inputs: &'e Value,
    /// Values of variables; `None` if they are passed on unchanged.
    surroundings: Option<&'e Surroundings<'e>>,
    origins: Vec<Origin>,
}

impl EntryReader<'_> {
    fn target(&mut self) -> Result<Target, Failure> {
        if let Some(command) = self.text("command")? {
            let mut words = vec![command];
            for (index, word) in self.server.get("args").and_then(Value::as_array).into_iter().flatten().enumerate() {
                words.push(self.expanded(word, &format!("args[{index}]"))?);
            }
            let mut env = self.env_file()?;
            env.extend(self.pairs("env")?);
            let cwd = self.text("cwd")?;
            return Ok(stdio(words, env, cwd));
        }
        let url = match self.text("url")? {
            Some(url) => Some(url),
            None => self.text("serverUrl")?,
        };
        let Some(url) = url else {
            let message = format!("`{}` of `{}` has neither `command` nor `url`", self.place, self.file.display());
            return Err(Failure::new(message, "say how the server is started, or where it is"));
        };
        let kind = self.server.get("type").or_else(|| self.server.get("transport")).and_then(Value::as_str);
        let headers = self.pairs("headers")?;
        // Clients call Streamable HTTP by several names.
        let transport = kind.and_then(Remote::of_name).unwrap_or(Remote::Http);
        Ok(Target::Remote { transport, url, headers })
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, Failure> {
        let Some(value @ Value::String(_)) = self.server.get(key) else { return Ok(None) };
        self.expanded(value, key).map(Some)
    }

    fn pairs(&mut self, key: &str) -> Result<Vec<(String, String)>, Failure> {
        let map = self.server.get(key).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .map(|(name, value)| Ok((name.clone(), self.expanded(value, &format!("{key}.{name}"))?)))
            .collect()
    }

    /// The variables of the file that `envFile` names; those of `env` win over them.
    fn env_file(&mut self) -> Result<Vec<(String, String)>, Failure> {
        let (Some(file), Some(surroundings)) = (self.text("envFile")?, self.surroundings) else {
            return Ok(Vec::new());
        };
        let path = surroundings.workspace.join(file);
        let text = bounded_read::read_to_string(&path).map_err(|error| {
            let place = format!("`{}.envFile` of `{}`", self.place, self.file.display());
            Failure::new(format!("`{}` could not be read: {error}", path.display()), format!("fix {place}"))
        })?;
        let (variables, findings) = env_file::parse(&SourceFile::new(path.display().to_string(), text));
        if findings.is_empty() { Ok(variables) } else { Err(Failure::Config(findings)) }
    }

    fn expanded(&mut self, value: &Value, key: &str) -> Result<String, Failure> {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let Some(surroundings) = self.surroundings else { return Ok(text) };
        // Clients differ in what they call an address.
        let place = if key == "serverUrl" { "url" } else { key };
        let origin = client_variables::expand(place, &text, surroundings, self.inputs);
        let origin = origin.map_err(|missing| self.failure(&missing, key))?;
        let text = origin.text();
        if origin.parts.iter().any(|part| matches!(part, OriginPart::Variable { .. })) {
            self.origins.push(origin);
        }
        Ok(text)
    }

    fn failure(&self, missing: &Missing, key: &str) -> Failure {
        let place = format!("`{}.{key}` of `{}`", self.place, self.file.display());
        match missing {
            Missing::Variable(name) => Failure::new(
                format!("{place} needs the environment variable `{name}`, which is not set"),
                format!("set `{name}` and run again"),
            ),
            Missing::Input { id, variable } => Failure::new(
                format!("{place} needs the input `{id}`, which a client would ask you for"),
                format!("set the environment variable `{variable}` to it and run again"),
            ),
            Missing::Unknown(form) => Failure::new(
                format!("{place} has `{form}`, which only its client can know"),
                "write the value there, or `${env:NAME}`",
            ),
        }
    }
}

/// The text with comments and commas before a closing bracket blanked out: clients take both. Places stay as they are.
fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            (b'/', Some(b'/')) => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    bytes[at] = b' ';
                    at += 1;
                }
                continue;
            }
            (b'/', Some(b'*')) => {
                let end = text.get(at + 2..).and_then(|rest| rest.find("*/")).map_or(bytes.len(), |end| at + end + 4);
                bytes[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
                at = end;
                continue;
            }
            (b',', _) => comma = Some(at),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            (byte, _) if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    // A file begun by some editors has a mark before its first letter.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn variable(name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "s3cret".to_owned())
    }

    fn read_text(name: &str, text: &str) -> Result<Configured, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        let read = read(&path, None, &Surroundings::of(&path, &variable));
        read.map_err(|failure| format!("{failure:?}").replace(&path.display().to_string(), "FILE"))
    }

    #[test]
    fn both_kinds_of_servers_are_understood() {
        let stdio = read_text(
            ".mcp.json",
            r#"{"mcpServers": {"x": {"command": "npx", "args": ["-y", 1], "env": {"K": "v"}}}}"#,
        );
        assert!(matches!(stdio.expect("a server").target, Target::Stdio { command, args, env, .. }
            if command == "npx" && args == ["-y", "1"] && env == [("K".to_owned(), "v".to_owned())]));
        let http = read_text("mcp.json", r#"{"servers": {"x": {"type": "http", "url": "http://x"}}}"#);
        assert!(matches!(http.expect("a server").target, Target::Remote { url, .. } if url == "http://x"));
        let neither = read_text("mcp.json", r#"{"mcp": {"servers": {"x": {}}}}"#).expect_err("no server");
        assert!(neither.contains("`mcp.servers.x` of `FILE` has neither `command` nor `url`"), "{neither}");
    }

    #[test]
    fn variables_are_expanded_and_their_values_kept_secret() {
        let text =
            r#"{"servers": {"x": {"command": "${workspaceFolder}/run", "args": ["${TOKEN}"], "cwd": "${GONE:-sub}"}}}"#;
        let configured = read_text(".vscode/mcp.json", text).expect("a server");
        let Target::Stdio { command, args, cwd, .. } = configured.target else { panic!("a process") };
        assert!(!command.contains(".vscode") && command.ends_with("/run"), "{command}");
        assert_eq!((args, cwd), (vec!["s3cret".to_owned()], Some("sub".to_owned())));
        let places: Vec<_> = configured.origins.iter().map(|origin| origin.place.as_str()).collect();
        assert_eq!(places, ["args[0]", "cwd"]);
        let literal = read_text("claude_desktop_config.json", r#"{"mcpServers": {"x": {"command": "${GONE}"}}}"#);
        assert!(matches!(literal.expect("a server").target, Target::Stdio { command, .. } if command == "${GONE}"));
    }

    #[test]
    fn what_is_missing_is_told_with_its_place() {
        let told = |value: &str| {
            let text = format!(r#"{{"mcpServers": {{"git": {{"command": "x", "env": {{"KEY": "{value}"}}}}}}}}"#);
            read_text(".mcp.json", &text).expect_err("it is missing")
        };
        assert!(told("${GONE}").contains("`mcpServers.git.env.KEY` of `FILE` needs the environment variable `GONE`"));
        assert!(told("${env:GONE}").contains("environment variable `GONE`, which is not set"));
        assert!(told("${input:api-key}").contains("`MCPROVE_INPUT_API_KEY`"));
        assert!(told("${command:pick}").contains("`${command:pick}`, which only its client can know"));
    }

    #[test]
    fn comments_and_trailing_commas_are_no_mistakes() {
        let text = "{ // a \"comment\"\n \"mcpServers\": {\"x\": {\"url\": \"http://x\", /* , */ \"headers\": {\"A\": \"b,]\\\"//\",},},},\n}";
        let Target::Remote { url, headers, .. } = read_text("mcp.json", text).expect("a server").target else {
            panic!("an address")
        };
        assert_eq!((url.as_str(), headers[0].1.as_str()), ("http://x", "b,]\"//"));
        let broken = read_text("mcp.json", "{\n // x\n \"a\": }").expect_err("not JSON");
        assert!(broken.contains("line 3 column 7"), "{broken}");
    }
}
