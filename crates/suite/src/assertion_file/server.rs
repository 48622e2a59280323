//! `server`: how to start or reach the server under test.

use mcprove_model::{
    Auth, Diagnostics, Entry, Kind, Node, Protocol, Remote, Revision, Sandbox, ServerSpec, Target, nearest,
};
use serde_json::{Value, json};

use super::templates::Scope;
use super::{Context, client_capabilities, texts};
use crate::environment::{Forms, SECRET, Unset, expand_reporting};
use crate::oauth::{self, Login};
use crate::schema::fragment;

const KEYS: &[&str] = &[
    "args",
    "auth",
    "client_capabilities",
    "command",
    "cwd",
    "docker",
    "env",
    "headers",
    "protocol",
    "sandbox",
    "transport",
    "url",
];

/// Keys that mean something to a process only.
const STDIO_ONLY: &[&str] = &["command", "args", "env", "cwd", "docker", "sandbox"];

/// Keys that mean something to a remote server only.
const REMOTE_ONLY: &[&str] = &["url", "headers", "auth"];

/// Keys whose texts may hold `{{fixture}}`.
const TEMPLATED: &[&str] = &["args", "command", "cwd", "docker", "env", "headers", "url"];

/// Keys whose texts may hold `${secret:NAME}`; those of `env` and `headers` may hold every form.
pub(crate) const WITH_SECRETS: &[&str] = &["args", "command", "cwd", "docker", "url"];

/// A server given on the command line. A command takes the place of the command and arguments of every server of a suite,
/// which keep their environment and transport; a URL is the server of tests that name none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOverride {
    /// The program, or a URL.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

impl ServerOverride {
    /// The server of a case that has none of its own.
    pub(crate) fn alone(&self) -> ServerSpec {
        ServerSpec { name: self.command.clone(), target: self.target(), ..ServerSpec::default() }
    }

    /// The command that takes the place of others; a URL takes none.
    pub(crate) fn replacing(given: Option<&Self>) -> Option<&Self> {
        given.filter(|given| !given.is_url())
    }

    fn is_url(&self) -> bool {
        self.args.is_empty() && ["http://", "https://"].iter().any(|scheme| self.command.starts_with(scheme))
    }

    /// The program or URL, without anything that a file adds.
    pub(crate) fn target(&self) -> Target {
        if self.is_url() {
            return Target::http(self.command.clone(), Vec::new());
        }
        let (command, args) = (self.command.clone(), self.args.clone());
        Target::Stdio { command, args, env: Vec::new(), cwd: None, docker: None }
    }
}

/// Decodes a `server` block.
pub(crate) fn decode(
    entry: &Entry,
    context: &Context<'_>,
    scope: &Scope,
    unset: Unset,
    found: &mut Diagnostics<'_>,
) -> Option<ServerSpec> {
    let node = &entry.value;
    let entries = found.map(node, "`server`")?;
    found.known_keys(node, "`server`", KEYS);
    for key in TEMPLATED {
        if let Some(value) = node.get(key) {
            scope.check(value, found);
        }
    }
    let mut secrets = Vec::new();
    let mut expanded = |key: &str, found: &mut Diagnostics<'_>| -> Vec<(String, String)> {
        let Some(map) = node.get(key) else { return Vec::new() };
        let texts = texts::map(map, &format!("`{key}`"), found);
        let expand = texts.into_iter().map(|(entry, text)| {
            let forms = (text, Forms::AllBeforeTemplates);
            let expanded = expand_reporting(forms, entry.value.span, (&context.environment, unset), found);
            secrets.extend(expanded.secrets);
            (entry.key.text.to_string(), expanded.text)
        });
        expand.collect()
    };
    let env = expanded("env", found);
    let headers = expanded("headers", found);
    // What the command line takes the place of needs no variables.
    let given = ServerOverride::replacing(context.server);
    let is_replaced = |key: &str| given.is_some() && matches!(key, "args" | "command");
    let entries = entries.iter().map(|part| {
        let key = part.key.text.as_str();
        if !WITH_SECRETS.contains(&key) || is_replaced(key) {
            return part.clone();
        }
        let value = part.value.map_text(&mut |text, span| {
            let expanded = expand_reporting((text, Forms::Secrets), span, (&context.environment, unset), found);
            secrets.extend(expanded.secrets);
            (expanded.text != text).then_some(Value::String(expanded.text))
        });
        Entry { key: part.key.clone(), value }
    });
    let entry = &Entry { key: entry.key.clone(), value: Node { span: node.span, kind: Kind::Map(entries.collect()) } };
    let node = &entry.value;
    let args = node.get("args").map(|args| texts::list(args, "`args`", found)).unwrap_or_default();
    let cwd = texts::optional(node, "cwd", found).map(str::to_owned);
    let docker = texts::optional(node, "docker", found).map(str::to_owned);
    let protocol = node.get("protocol").and_then(|protocol| decode_protocol(protocol, found)).unwrap_or_default();
    let client = node
        .get("client_capabilities")
        .map(|client| client_capabilities::decode(client, scope, found))
        .unwrap_or_default();

    let sandbox = decode_sandbox(node, found);
    let transport = transport(node, given.is_some(), found)?;
    let target = match transport {
        Transport::Stdio => {
            let (command, args) = match given {
                Some(given) => (given.command.clone(), given.args.clone()),
                None => (command(entry, KEYS, found)?, args),
            };
            Target::Stdio { command, args, env, cwd, docker }
        }
        Transport::Remote(transport) => Target::Remote { transport, url: url(entry, found)?, headers },
    };
    report_unused(node, transport, found);
    let (target, auth) = logged_in(node, target, (context, &mut secrets), found);
    secrets.sort();
    secrets.dedup();
    let name = match &target {
        Target::Stdio { command, .. } => command.clone(),
        Target::Remote { .. } | Target::Mock { .. } | Target::Cassette { .. } => target.label(),
    };
    Some(ServerSpec { name, target, auth, protocol, client, secrets, sandbox, ..ServerSpec::default() })
}

/// `auth: {oauth: {flow: …}}`: the target with the token that a variable holds, or the login.
fn logged_in(
    node: &Node,
    mut target: Target,
    (context, secrets): (&Context<'_>, &mut Vec<String>),
    found: &mut Diagnostics<'_>,
) -> (Target, Option<Auth>) {
    let Some(auth) = node.get("auth").filter(|auth| !auth.is_null()) else { return (target, None) };
    if found.map(auth, "`auth`").is_none() {
        return (target, None);
    }
    found.known_keys(auth, "`auth`", &["oauth"]);
    let Some(entry) = auth.get("oauth") else { return (target, None) };
    if found.map(entry, "`oauth`").is_some() && entry.get("flow").is_none() {
        let help = "add `flow: authorization_code`, or `flow: client_credentials`";
        found.error_with_help("missing-key", entry.span, "`oauth` has no `flow`", help);
    }
    match oauth::decode(entry, (&context.environment, secrets), found) {
        Some(Login::Token(token)) => {
            if let Target::Remote { headers, .. } = &mut target {
                headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
            }
            (target, None)
        }
        Some(Login::Settings(settings)) => (target, Some(Auth::Oauth(settings))),
        None => (target, None),
    }
}

/// The JSON Schema of `server`.
pub(crate) fn schema() -> Value {
    let properties = json!({
        "args": fragment::texts("The arguments of the command."),
        "auth": fragment::map("Authentication of the client.", json!({"oauth": oauth::schema()}), &[]),
        "client_capabilities": client_capabilities_schema(),
        "command": fragment::scalar("The program that is started."),
        "cwd": fragment::scalar("The folder it is started in; the caller's when left out."),
        "docker": fragment::scalar("An image to run the command in."),
        "env": fragment::scalars("Variables added to the caller's environment."),
        "headers": fragment::scalars("Headers of every request."),
        "protocol": protocol_schema(),
        "sandbox": sandbox_schema(),
        "transport": transport_schema(),
        "url": fragment::scalar("The URL of a running server."),
    });
    fragment::map("The server under test.", properties, &[])
}

/// Decodes `sandbox`: `true` confines the server, which is then not started on systems without a sandbox.
pub(crate) fn decode_sandbox(server: &Node, found: &mut Diagnostics<'_>) -> Option<Sandbox> {
    let sandbox = server.get("sandbox").filter(|sandbox| !sandbox.is_null())?;
    let is_wanted = found.boolean(sandbox, "`sandbox`")?;
    if let (true, Some(docker)) = (is_wanted, server.get("docker").filter(|docker| !docker.is_null())) {
        let message = "`docker` and `sandbox` are mutually exclusive";
        found.error_with_help("wrong-key", docker.span, message, "a container is a wall of its own; remove one");
    }
    is_wanted.then(|| Sandbox { required: true, ..Sandbox::default() })
}

/// The JSON Schema of `sandbox`.
pub(crate) fn sandbox_schema() -> Value {
    fragment::flag("It may write to the fixture copy, its temporary folder and package caches only.")
}

/// The JSON Schema of `transport`.
pub(crate) fn transport_schema() -> Value {
    json!({
        "type": ["string", "null"],
        "pattern": "^([hH][tT][tT][pP]|[sS][sS][eE]|[sS][tT][dD][iI][oO])?$",
        "description": "Transport: stdio, http or sse.",
    })
}

/// The JSON Schema of `protocol`.
pub(crate) fn protocol_schema() -> Value {
    let revisions = Revision::ALL.map(Revision::as_str);
    let words: Vec<&str> = ["auto", "legacy", "modern"].into_iter().chain(revisions).collect();
    json!({"enum": words, "description": "The protocol revision to speak; legacy when left out."})
}

/// The JSON Schema of `client_capabilities`.
pub(crate) fn client_capabilities_schema() -> Value {
    let reply = fragment::sampling_reply();
    let properties = json!({
        "elicitation": client_capabilities::elicitation_schema(),
        "roots": roots_schema(),
        "sampling": {
            "anyOf": [reply, {"type": "array", "items": reply}, {"type": "null"}],
            "description": "What a model answers.",
        },
    });
    let mut schema = fragment::map("Capabilities that the client declares.", properties, &[]);
    schema["type"] = json!(["object", "null"]);
    schema[fragment::DEFINITION] = "client-capabilities".into();
    schema
}

fn roots_schema() -> Value {
    let changed = "The folders from the block on; the server is notified that they changed.";
    let map = fragment::map(
        "Folders that change.",
        json!({"changed": fragment::texts(changed), "list": fragment::texts("The folders at first.")}),
        &[],
    );
    json!({"anyOf": [fragment::texts("The folders."), map], "description": "Folders for the server's `roots/list` requests."})
}

/// Transport of a server.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Transport {
    Stdio,
    Remote(Remote),
}

impl Transport {
    /// Its name in the file format.
    fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Remote(remote) => remote.name(),
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        Remote::ALL.into_iter().map(Self::Remote).chain([Self::Stdio])
    }
}

/// The transport as named; without a name, a `url` means HTTP and a command a process.
pub(crate) fn transport(node: &Node, is_overridden: bool, found: &mut Diagnostics<'_>) -> Option<Transport> {
    let named = node.get("transport").filter(|transport| !transport.is_null());
    let Some(named) = named else {
        let has = |key: &str| node.get(key).is_some_and(|value| !value.is_null());
        let is_remote = has("url") && !has("command") && !is_overridden;
        return Some(if is_remote { Transport::Remote(Remote::Http) } else { Transport::Stdio });
    };
    let text = found.text(named, "`transport`")?;
    if text.is_empty() {
        return Some(Transport::Stdio);
    }
    let known = Transport::all().find(|transport| transport.name().eq_ignore_ascii_case(text));
    if known.is_none() {
        let help = match nearest(text, Transport::all().map(Transport::name)) {
            Some(near) => format!("did you mean `{near}`? transports are stdio, sse and http"),
            None => "transports are stdio, sse and http".to_owned(),
        };
        found.error_with_help("unknown-transport", named.span, format!("unknown transport `{text}`"), help);
    }
    known
}

/// The program of a server, whose keys are `known`; its absence is reported.
pub(crate) fn command(server: &Entry, known: &[&str], found: &mut Diagnostics<'_>) -> Option<String> {
    let command = server.value.get("command").filter(|command| !command.is_null());
    let text = match command {
        Some(command) => found.text(command, "`command`")?,
        None => "",
    };
    if !text.trim().is_empty() {
        return Some(text.to_owned());
    }
    if texts::is_misspelt(server.value.as_map().unwrap_or_default(), "command", known) {
        return None;
    }
    let place = command.map_or(server.key.span, |command| command.span);
    let has_url = server.value.get("url").is_some_and(|url| !url.is_null());
    let message =
        if has_url { "a stdio server needs a `command`" } else { "the server has neither a `command` nor a `url`" };
    let help = if has_url { "write `transport: http` to reach the `url`" } else { "add the `command` that starts it" };
    found.error_with_help("no-command", place, message, help);
    None
}

/// The address of a remote server; its absence is reported.
pub(crate) fn url(server: &Entry, found: &mut Diagnostics<'_>) -> Option<String> {
    let Some(node) = server.value.get("url").filter(|url| !url.is_null()) else {
        found.error_with_help(
            "no-url",
            server.key.span,
            "a remote server needs a `url`",
            "add the `url` it answers at",
        );
        return None;
    };
    let text = found.text(node, "`url`")?;
    let lower = text.to_ascii_lowercase();
    // A variable that is not set has its own finding, or the case is skipped because of it.
    if !text.contains(SECRET) && !lower.starts_with("http://") && !lower.starts_with("https://") {
        found.error_with_help(
            "bad-url",
            node.span,
            format!("`{text}` is not the URL of a remote server"),
            "begin it with http:// or https://",
        );
        return None;
    }
    Some(text.to_owned())
}

/// The revision to speak.
pub(crate) fn decode_protocol(node: &Node, found: &mut Diagnostics<'_>) -> Option<Protocol> {
    if node.is_null() {
        return None;
    }
    let text = found.text(node, "`protocol`")?;
    match text.to_ascii_lowercase().as_str() {
        "legacy" => return Some(Protocol::Legacy),
        "modern" => return Some(Protocol::Modern),
        "auto" => return Some(Protocol::Auto),
        revision => {
            if let Some(revision) = Revision::parse(revision) {
                return Some(Protocol::Exactly(revision));
            }
        }
    }
    let revisions = Revision::ALL.map(Revision::as_str);
    let words = ["legacy", "modern", "auto"];
    let help = match nearest(text, words.into_iter().chain(revisions)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write legacy, modern, auto or one of {}", revisions.join(", ")),
    };
    found.error_with_help("unknown-protocol", node.span, format!("unknown protocol `{text}`"), help);
    None
}

/// A key that cannot matter is worth a word, though older files may carry one.
pub(crate) fn report_unused(node: &Node, transport: Transport, found: &mut Diagnostics<'_>) {
    let (unused, kind) = match transport {
        Transport::Stdio => (REMOTE_ONLY, "a stdio server".to_owned()),
        Transport::Remote(remote) => (STDIO_ONLY, format!("an {} server", remote.name())),
    };
    for entry in node.as_map().unwrap_or_default() {
        let key = entry.key.text.as_str();
        if unused.contains(&key) && !entry.value.is_null() {
            let message = format!("`{key}` means nothing to {kind}");
            found.warning("unused-key", entry.key.span, message, Some("remove it, or change `transport`".to_owned()));
        }
    }
}
