//! `servers`: the servers under test by name, each started, reached, or played.

use std::path::Path;
use std::time::Duration;

use mcprove_model::{Auth, Diagnostics, Entry, Node, Ready, ServerSpec, Target, WaitFor};
use serde_json::{Value, json};

use super::{Context, PlayedFile, Reader, Unit, auth, http};
use crate::assertion_file::server::{self, ServerOverride, Transport};
use crate::assertion_file::templates::Scope;
use crate::assertion_file::{client_capabilities, texts};
use crate::duration;
use crate::schema::fragment;

pub(super) const KEYS: &[&str] = &[
    "args",
    "auth",
    "cassette",
    "client_capabilities",
    "command",
    "cwd",
    "docker",
    "env",
    "headers",
    "http",
    "keep_state",
    "mock",
    "protocol",
    "sandbox",
    "transport",
    "url",
    "virtual_time",
    "wait_for_ready",
];

/// Keys that mean something to a mock only.
const OF_MOCKS: &[&str] = &["keep_state", "virtual_time"];

/// Keys of the server that a recording was made from; replay uses none of them.
const OF_REFRESH: &[&str] = &["args", "auth", "command", "cwd", "env", "headers", "http", "transport", "url"];

/// Keys that say where a server is; a server has one of them.
const WHERE: &[&str] = &["cassette", "command", "mock", "url"];

/// Time limit for `wait_for_ready`.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// The files that servers are played from; their paths are relative to the suite, which comes first.
pub(super) fn played_files(units: &[Unit]) -> Vec<PlayedFile> {
    let folder = Path::new(units[0].source.path()).parent().unwrap_or(Path::new(""));
    let mut played = Vec::new();
    for unit in units {
        for server in unit.node.get("servers").and_then(Node::as_map).unwrap_or_default() {
            // A path with a template is known when the test runs.
            let file = played_file(&server.value).and_then(|file| Some((file, file.as_text()?)));
            if let Some((file, name)) = file.filter(|(_, name)| !name.contains("{{") && !name.trim().is_empty()) {
                played.push(PlayedFile { path: folder.join(name), place: unit.source.place(file.span) });
            }
        }
    }
    played
}

/// Where a server that is played from a file says which.
fn played_file(server: &Node) -> Option<&Node> {
    ["cassette", "mock"].iter().find_map(|key| server.get(key)).filter(|file| file.as_text().is_some())
}

/// True for a server as only suite files describe it.
pub(super) fn is_of_suites(server: &Node) -> bool {
    let own = ["auth", "cassette", http::KEY, "mock", "wait_for_ready"];
    own.iter().any(|key| server.get(key).is_some())
        || server.get("command").is_some_and(|command| command.as_list().is_some())
}

/// Decodes a server; `default_auth` is for those with a `url` and no `auth` of their own.
pub(super) fn decode(
    entry: &Entry,
    default_auth: Option<&Node>,
    reader: &mut Reader<'_, '_>,
    found: &mut Diagnostics<'_>,
) -> Option<ServerSpec> {
    let node = &entry.value;
    let name = &entry.key.text;
    let what = format!("the server `{name}`");
    let entries = found.map(node, &what)?;
    found.known_keys(node, &what, KEYS);
    let scope = Scope::new(reader.context.fixture.is_some());
    for part in entries.iter().filter(|part| !matches!(part.key.text.as_str(), "auth" | "client_capabilities")) {
        scope.check(&part.value, found);
    }
    let client = node.get("client_capabilities").map(|client| client_capabilities::decode(client, &scope, found));
    let protocol = node.get("protocol").and_then(|protocol| server::decode_protocol(protocol, found));
    let sandbox = server::decode_sandbox(node, found);
    let http = entries.iter().find(|part| part.key.text == http::KEY && !part.value.is_null());
    let http = http.map(|part| http::decode(part, reader.context, found));
    let Reached { target, auth, refresh } = decode_target(entry, default_auth, reader, found)?;
    let ready = match entries.iter().find(|part| part.key.text == "wait_for_ready" && !part.value.is_null()) {
        Some(part) => decode_ready(part, &target, found),
        None => None,
    };
    Some(ServerSpec {
        ready,
        name: name.to_string(),
        target,
        auth,
        protocol: protocol.unwrap_or_default(),
        client: client.unwrap_or_default(),
        sandbox,
        http,
        refresh: refresh.map(Box::new),
        ..ServerSpec::default()
    })
}

/// `wait_for_ready`: a time in which the handshake must succeed, or what must be reachable before it.
fn decode_ready(part: &Entry, target: &Target, found: &mut Diagnostics<'_>) -> Option<Ready> {
    let text = found.text(&part.value, "`wait_for_ready`")?;
    if let Ok(within) = duration::parse(text) {
        return Some(Ready { within, probe: None });
    }
    let url = match target {
        Target::Remote { url, .. } => url.as_str(),
        Target::Stdio { .. } | Target::Mock { .. } | Target::Cassette { .. } => "",
    };
    let probe = if text.starts_with('/') {
        let host = url.split_once("://").map(|(scheme, rest)| (scheme, rest.split('/').next().unwrap_or(rest)));
        host.and_then(|(scheme, host)| WaitFor::parse(&format!("{scheme}://{host}{text}")))
    } else {
        WaitFor::parse(text)
    };
    if probe.is_none() {
        let help = "write a duration such as `30s`, a URL, or a path of the server such as `/health`";
        found.error_with_help(
            "wrong-type",
            part.value.span,
            format!("`wait_for_ready: {text}` is not understood"),
            help,
        );
    }
    probe.map(|probe| Ready { within: READY_WITHIN, probe: Some(probe) })
}

/// The JSON Schema of `servers`.
pub(super) fn schema() -> Value {
    json!({
        "anyOf": [
            {"type": "object", "additionalProperties": one_schema(false)},
            {"type": "array", "items": one_schema(true)},
        ],
        "description": "The servers under test, by name.",
    })
}

/// The JSON Schema of one server; in a list, it has a name.
pub(super) fn one_schema(is_named: bool) -> Value {
    let word = json!({"type": ["string", "number", "boolean"]});
    let mut properties = json!({
        "args": fragment::texts("Further arguments of the command."),
        "auth": auth::schema(),
        "cassette": fragment::text("A recorded event log that is played instead of a server."),
        "client_capabilities": server::client_capabilities_schema(),
        "command": {
            "anyOf": [word, {"type": "array", "minItems": 1, "items": word}],
            "description": "The program and its arguments: a list, or a text that is split as a shell would.",
        },
        "cwd": fragment::scalar("The folder it is started in; the caller's when left out."),
        "docker": fragment::scalar("An image to run the command in."),
        "env": fragment::scalars("Variables added to the caller's environment."),
        "headers": headers_schema("Headers of every request."),
        "http": http::schema(),
        "keep_state": fragment::flag("All sessions speak to one mock, so that its faults go on counting after a restart."),
        "mock": fragment::text("A manifest of the built-in mock that is played instead of a server."),
        "protocol": server::protocol_schema(),
        "sandbox": server::sandbox_schema(),
        "transport": server::transport_schema(),
        "url": fragment::text("The URL of a running server."),
        "wait_for_ready": fragment::text("A time such as `30s` in which the handshake must succeed, or a URL or path that must answer with 2xx first."),
        "virtual_time": fragment::flag("A mock's delays take no time, and are measured as if they did."),
    });
    if is_named {
        properties["name"] = fragment::text("The name by which tests refer to it.");
    }
    let mut schema = fragment::map("A server.", properties, if is_named { &["name"] } else { &[] });
    schema[fragment::DEFINITION] = if is_named { "named-server" } else { "server" }.into();
    schema
}

/// Where a server is, and how it is reached.
struct Reached {
    target: Target,
    auth: Option<Auth>,
    /// The server that a recording is made anew from.
    refresh: Option<Target>,
}

fn decode_target(
    entry: &Entry,
    default_auth: Option<&Node>,
    reader: &mut Reader<'_, '_>,
    found: &mut Diagnostics<'_>,
) -> Option<Reached> {
    let node = &entry.value;
    let places: Vec<&Entry> = node
        .as_map()
        .unwrap_or_default()
        .iter()
        .filter(|part| WHERE.contains(&part.key.text.as_str()) && !part.value.is_null())
        .collect();
    // The server that a recording is refreshed from may be next to it.
    let has_cassette = places.iter().any(|part| part.key.text == "cassette");
    let is_refreshed = has_cassette && places.len() == 2 && places.iter().all(|part| part.key.text != "mock");
    if let ([first, second, ..], false) = (&places[..], is_refreshed) {
        let message =
            format!("`{}` and `{}` are mutually exclusive: a server is in one place", second.key.text, first.key.text);
        found.error_with_help("two-places", second.key.span, message, "keep one of the two");
        return None;
    }
    if let Some(played) = places.iter().find(|part| matches!(part.key.text.as_str(), "cassette" | "mock")) {
        let target = decode_played(played, node, reader.context, found);
        if let Some(given) = ServerOverride::replacing(reader.context.server) {
            return Some(Reached { target: given.target(), auth: None, refresh: None });
        }
        let live = is_refreshed.then(|| decode_live(entry, default_auth, reader, found)).flatten();
        let (refresh, auth) = live.unzip();
        return target.map(|target| Reached { target, auth: auth.flatten(), refresh });
    }
    let (target, auth) = decode_live(entry, default_auth, reader, found)?;
    Some(Reached { target, auth, refresh: None })
}

/// A server that is started, or reached at a URL.
fn decode_live(
    entry: &Entry,
    default_auth: Option<&Node>,
    reader: &mut Reader<'_, '_>,
    found: &mut Diagnostics<'_>,
) -> Option<(Target, Option<Auth>)> {
    let node = &entry.value;
    for part in node.as_map().unwrap_or_default().iter().filter(|part| OF_MOCKS.contains(&part.key.text.as_str())) {
        let message = format!("`{}` is for mocks", part.key.text);
        found.error_with_help("wrong-key", part.key.span, message, "remove it, or play a manifest with `mock:`");
    }
    let headers = decode_headers(node, reader, found);
    let env: Vec<(String, String)> = node.get("env").map_or_else(Vec::new, |env| {
        let texts = texts::map(env, "`env`", found);
        texts.into_iter().map(|(entry, text)| (entry.key.text.to_string(), text.to_owned())).collect()
    });
    let cwd = texts::optional(node, "cwd", found).map(str::to_owned);
    let docker = texts::optional(node, "docker", found).map(str::to_owned);
    let given = ServerOverride::replacing(reader.context.server);
    // Mistakes in a command or URL are reported even if the transport is wrong.
    let command = match (given, node.get("url").is_some_and(|url| !url.is_null())) {
        (Some(given), _) => Some((given.command.clone(), given.args.clone())),
        (None, true) => None,
        (None, false) => decode_command(entry, found),
    };
    let transport = server::transport(node, given.is_some(), found)?;
    server::report_unused(node, transport, found);
    let Transport::Remote(transport) = transport else {
        for part in node.as_map().unwrap_or_default() {
            let help = match part.key.text.as_str() {
                "auth" => "give it what it needs in `env`",
                http::KEY => "the deadline of a test is `timeout_ms`",
                _ => continue,
            };
            let message = format!("`{}` means nothing to a stdio server", part.key.text);
            found.error_with_help("wrong-key", part.key.span, message, help);
        }
        let Some((command, args)) = command else {
            if node.get("url").is_some() {
                // It says that the address needs another transport.
                server::command(entry, KEYS, found);
            }
            return None;
        };
        return Some((Target::Stdio { command, args, env, cwd, docker }, None));
    };
    let url = server::url(entry, found)?;
    let auth = node.get("auth").or(default_auth).filter(|auth| !auth.is_null());
    let (headers, auth) = auth::apply(auth, headers, reader, found);
    Some((Target::Remote { transport, url, headers }, auth))
}

/// True if a recording names the server it was made from.
fn has_live_target(node: &Node) -> bool {
    ["command", "url"].iter().any(|key| node.get(key).is_some_and(|value| !value.is_null()))
}

/// A mock or a recording; its path is relative to the folder of the suite.
fn decode_played(part: &Entry, node: &Node, context: &Context<'_>, found: &mut Diagnostics<'_>) -> Option<Target> {
    let key = part.key.text.as_str();
    for other in node.as_map().unwrap_or_default() {
        let name = other.key.text.as_str();
        let is_fit = matches!(name, "cassette" | "client_capabilities" | "mock" | "protocol")
            || OF_MOCKS.contains(&name) && key == "mock"
            || OF_REFRESH.contains(&name) && key == "cassette" && has_live_target(node);
        if KEYS.contains(&name) && !is_fit {
            let message = format!("`{name}` has no effect with `{key}`, which starts no process");
            found.error_with_help("wrong-key", other.key.span, message, "remove it");
        }
    }
    let path = found.text(&part.value, &format!("`{key}`"))?;
    if path.trim().is_empty() {
        found.error_with_help("missing-key", part.value.span, format!("`{key}` is empty"), "write the path of a file");
        return None;
    }
    // A path that begins with a template is known when the test runs.
    let path = if path.starts_with("{{") {
        path.to_owned()
    } else {
        Path::new(context.folder).join(path).display().to_string()
    };
    if key == "cassette" {
        return Some(Target::Cassette { path });
    }
    let mut flag = |key: &str| {
        let flag = node.get(key).filter(|flag| !flag.is_null());
        flag.is_some_and(|flag| found.boolean(flag, &format!("`{key}`")) == Some(true))
    };
    let (virtual_time, keep_state) = (flag("virtual_time"), flag("keep_state"));
    Some(Target::Mock { manifest: path, virtual_time, keep_state })
}

/// The program and its arguments: a list, or a text that is split as a shell would; `args` come after both.
fn decode_command(entry: &Entry, found: &mut Diagnostics<'_>) -> Option<(String, Vec<String>)> {
    let node = &entry.value;
    let args = node.get("args").map(|args| texts::list(args, "`args`", found)).unwrap_or_default();
    let Some(command) = node.get("command").filter(|command| !command.is_null()) else {
        // It says that there is neither a command nor an address, unless a key is misspelt.
        server::command(entry, KEYS, found);
        return None;
    };
    let words = if command.as_list().is_some() {
        texts::list(command, "`command`", found)
    } else {
        match shell_words::split(found.text(command, "`command`")?) {
            Ok(words) => words,
            Err(error) => {
                let message = format!("`command` cannot be split into words: {error}");
                found.error_with_help("bad-command", command.span, message, "close the quote, or write a list");
                return None;
            }
        }
    };
    let mut words = words.into_iter();
    let Some(program) = words.next().filter(|program| !program.trim().is_empty()) else {
        found.error_with_help("no-command", command.span, "`command` names no program", "write the program to start");
        return None;
    };
    Some((program, words.chain(args).collect()))
}

/// The JSON Schema of headers.
pub(super) fn headers_schema(description: &str) -> Value {
    let header = fragment::map("A variable of the environment.", json!({"env": fragment::text("Its name.")}), &["env"]);
    json!({
        "type": ["object", "null"],
        "additionalProperties": {"anyOf": [fragment::scalar("The value."), header]},
        "description": description,
    })
}

/// Headers: a text, or `{env: NAME}` for a value that must be set and is never shown.
pub(super) fn decode_headers(
    node: &Node,
    reader: &mut Reader<'_, '_>,
    found: &mut Diagnostics<'_>,
) -> Vec<(String, String)> {
    let Some(map) = node.get("headers").filter(|map| !map.is_null()) else { return Vec::new() };
    let mut headers = Vec::new();
    for entry in found.map(map, "`headers`").unwrap_or_default() {
        let what = format!("the header `{}`", entry.key.text);
        let value = if entry.value.as_map().is_some() {
            found.known_keys(&entry.value, &what, &["env"]);
            let Some(name) = entry.value.get("env") else { continue };
            auth::from_environment(name, "`env`", reader, found)
        } else if entry.value.is_null() {
            Some(String::new())
        } else {
            found.text(&entry.value, &what).map(str::to_owned)
        };
        headers.extend(value.map(|value| (entry.key.text.to_string(), value)));
    }
    headers
}
