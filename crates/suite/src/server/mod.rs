//! A server, in both kinds of files: how it is started, reached or played.

pub(crate) mod auth;
pub(crate) mod client_capabilities;
mod http;
pub(crate) mod keys;
mod oauth;
mod server_override;

use std::time::Duration;

use mcprove_model::{
    Auth, Diagnostics, Entry, Node, Protocol, Ready, Remote, Revision, Sandbox, ServerSpec, Target, WaitFor, nearest,
};

use crate::assertion_file::templates::Scope;
use crate::assertion_file::texts;
use crate::context::{FileKind, Reader};
use crate::duration;
use crate::environment::SECRET;
use keys::{KEYS, Key, Of};

pub use server_override::ServerOverride;

/// Keys that say where a server is; a server of a suite has one of them.
const WHERE: &[&str] = &["cassette", "command", "mock", "url"];

/// Keys of a live server that have no effect when a recording is made anew from it.
const NOT_REFRESHED: &[&str] = &["docker", "sandbox", "wait_for_ready"];

/// Time limit for `wait_for_ready`.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// True for a server as only suite files describe it.
pub(crate) fn is_of_suites(server: &Node) -> bool {
    let is_own = |key: &Key| key.in_assertions.is_none() || key.name == "auth";
    KEYS.iter().any(|key| is_own(key) && server.get(key.name).is_some())
        || server.get("command").is_some_and(|command| command.as_list().is_some())
}

/// Reports references in the texts of a server that nothing provides.
pub(crate) fn check_templates(server: &Node, scope: &Scope, found: &mut Diagnostics<'_>) {
    for part in server.as_map().unwrap_or_default() {
        // What a client claims is checked where it is decoded.
        if !matches!(part.key.text.as_str(), "auth" | "client_capabilities") {
            scope.check(&part.value, found);
        }
    }
}

/// A server as a file describes it, with its variables replaced.
pub(crate) struct Described<'n> {
    /// Its key and value.
    pub(crate) entry: &'n Entry,
    /// The kind of the file.
    pub(crate) kind: FileKind,
    /// The `auth` of remote servers that have none of their own.
    pub(crate) default_auth: Option<&'n Node>,
}

/// Decodes a server.
pub(crate) fn decode<'n>(
    described: &'n Described<'n>,
    reader: &mut Reader<'_, '_>,
    found: &mut Diagnostics<'_>,
) -> Option<ServerSpec> {
    Decoder { described, node: &described.entry.value, reader, found }.decode()
}

/// A server that is being decoded.
struct Decoder<'d, 'c, 's, 'f> {
    described: &'d Described<'d>,
    node: &'d Node,
    reader: &'d mut Reader<'c, 's>,
    found: &'d mut Diagnostics<'f>,
}

/// Where a server is, and how it is reached.
struct Reached {
    target: Target,
    auth: Option<Auth>,
    /// The server that a recording is made anew from.
    refresh: Option<Target>,
}

impl<'d> Decoder<'d, '_, '_, '_> {
    fn decode(&mut self) -> Option<ServerSpec> {
        let (kind, name) = (self.described.kind, &self.described.entry.key.text);
        let what = match kind {
            FileKind::Assertion => "`server`".to_owned(),
            FileKind::Suite => format!("the server `{name}`"),
        };
        self.found.map(self.node, &what)?;
        self.found.known_keys(self.node, &what, &keys::names(kind));
        let scope = Scope::new(self.reader.context.fixture.is_some());
        let client = self.value("client_capabilities");
        let client = client.map(|client| client_capabilities::decode(client, &scope, self.found));
        let protocol = self.value("protocol").and_then(|protocol| decode_protocol(protocol, self.found));
        let sandbox = self.sandbox();
        let http = self.part("http").map(|part| http::decode(part, self.reader.context, self.found));
        let Reached { target, auth, refresh } = self.target()?;
        let ready = self.part("wait_for_ready").and_then(|part| decode_ready(part, &target, self.found));
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

    fn parts(&self) -> impl Iterator<Item = (&'d Entry, &'static Key)> + use<'d> {
        let kind = self.described.kind;
        let key = move |part: &Entry| KEYS.iter().find(|key| key.name == part.key.text && key.schema(kind).is_some());
        let parts = self.node.as_map().unwrap_or_default().iter();
        parts.filter(|part| !part.value.is_null()).filter_map(move |part| Some((part, key(part)?)))
    }

    /// A key with a value. One that only the other kind of file has is reported, and not read.
    fn part(&self, name: &str) -> Option<&'d Entry> {
        self.parts().find(|(_, key)| key.name == name).map(|(part, _)| part)
    }

    fn value(&self, name: &str) -> Option<&'d Node> {
        self.part(name).map(|part| &part.value)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let text = self.found.text(self.value(name)?, &format!("`{name}`"))?;
        Some(text.to_owned())
    }

    /// `sandbox: true` confines the server, which is then not started on systems without a sandbox.
    fn sandbox(&mut self) -> Option<Sandbox> {
        let is_wanted = self.found.boolean(self.value("sandbox")?, "`sandbox`")?;
        if let (true, Some(docker)) = (is_wanted, self.value("docker")) {
            let message = "`docker` and `sandbox` are mutually exclusive";
            self.found.error_with_help(
                "wrong-key",
                docker.span,
                message,
                "a container is a wall of its own; remove one",
            );
        }
        is_wanted.then(|| Sandbox { required: true, ..Sandbox::default() })
    }

    fn target(&mut self) -> Option<Reached> {
        let places: Vec<&Entry> =
            self.parts().filter(|(_, key)| WHERE.contains(&key.name)).map(|(part, _)| part).collect();
        let is_played = |part: &&&Entry| matches!(part.key.text.as_str(), "cassette" | "mock");
        let played = places.iter().find(is_played).copied();
        // The server that a recording is refreshed from may be next to it.
        let is_refreshed = places.len() == 2
            && played.is_some_and(|played| played.key.text == "cassette")
            && places.iter().filter(is_played).count() == 1;
        if let (FileKind::Suite, [first, second, ..], false) = (self.described.kind, &places[..], is_refreshed) {
            let (first, second_key) = (&first.key.text, &second.key.text);
            let message = format!("`{second_key}` and `{first}` are mutually exclusive: a server is in one place");
            self.found.error_with_help("two-places", second.key.span, message, "keep one of the two");
            return None;
        }
        let Some(played) = played else {
            let (target, auth) = self.live()?;
            return Some(Reached { target, auth, refresh: None });
        };
        let target = self.played(played);
        if let Some(given) = ServerOverride::replacing(self.reader.context.server) {
            return Some(Reached { target: given.target(), auth: None, refresh: None });
        }
        let live = is_refreshed.then(|| self.live()).flatten();
        let (refresh, auth) = live.unzip();
        target.map(|target| Reached { target, auth: auth.flatten(), refresh })
    }

    /// A server that is started, or reached at a URL.
    fn live(&mut self) -> Option<(Target, Option<Auth>)> {
        for (part, key) in self.parts().filter(|(_, key)| key.of == Of::Mock) {
            let message = format!("`{}` is for mocks", key.name);
            let help = "remove it, or play a manifest with `mock:`";
            self.found.error_with_help("wrong-key", part.key.span, message, help);
        }
        let headers = self.headers(self.node);
        let env = self.value("env").map_or_else(Vec::new, |env| {
            let texts = texts::map(env, "`env`", self.found);
            texts.into_iter().map(|(entry, text)| (entry.key.text.to_string(), text.to_owned())).collect()
        });
        let (cwd, docker) = (self.text("cwd"), self.text("docker"));
        let args = self.value("args").map(|args| texts::list(args, "`args`", self.found)).unwrap_or_default();
        let given = ServerOverride::replacing(self.reader.context.server);
        let transport = self.transport(given.is_some());
        // Mistakes in a command are reported even if the transport is wrong.
        let command = match (given, transport) {
            (Some(given), _) => Some((given.command.clone(), given.args.clone())),
            (None, Some(Transport::Stdio)) => self.command(args),
            (None, None) if self.part("url").is_none() => self.command(args),
            (None, Some(Transport::Remote(_)) | None) => None,
        };
        let Transport::Remote(remote) = transport? else {
            let (command, args) = command?;
            self.report_unused(Transport::Stdio);
            return Some((Target::Stdio { command, args, env, cwd, docker }, None));
        };
        self.report_unused(Transport::Remote(remote));
        let url = self.url()?;
        let (headers, auth) = self.auth(headers);
        Some((Target::Remote { transport: remote, url, headers }, auth))
    }

    /// A mock or a recording; its path is relative to the folder of the suite.
    fn played(&mut self, part: &Entry) -> Option<Target> {
        let name = part.key.text.as_str();
        // A recording may name the server it was made from.
        let is_refreshed = name == "cassette" && ["command", "url"].iter().any(|key| self.part(key).is_some());
        for other in self.node.as_map().unwrap_or_default() {
            let Some(key) = KEYS.iter().find(|key| key.name == other.key.text) else { continue };
            let is_fit = match key.of {
                Of::Any => true,
                Of::Mock => name == "mock",
                Of::Live | Of::Process | Of::Remote => is_refreshed && !NOT_REFRESHED.contains(&key.name),
            };
            if !is_fit {
                let message = format!("`{}` has no effect with `{name}`, which starts no process", key.name);
                self.found.error_with_help("wrong-key", other.key.span, message, "remove it");
            }
        }
        let path = self.found.text(&part.value, &format!("`{name}`"))?;
        if path.trim().is_empty() {
            let message = format!("`{name}` is empty");
            self.found.error_with_help("missing-key", part.value.span, message, "write the path of a file");
            return None;
        }
        let path = self.reader.context.path(path);
        if name == "cassette" {
            return Some(Target::Cassette { path });
        }
        let (virtual_time, keep_state) = (self.flag("virtual_time"), self.flag("keep_state"));
        Some(Target::Mock { manifest: path, virtual_time, keep_state })
    }

    fn flag(&mut self, name: &str) -> bool {
        self.value(name).is_some_and(|flag| self.found.boolean(flag, &format!("`{name}`")) == Some(true))
    }

    /// The program and its arguments. In a suite, it is a list, or a text that is split as a shell would; `args` come after.
    fn command(&mut self, args: Vec<String>) -> Option<(String, Vec<String>)> {
        let Some(command) = self.value("command") else {
            self.report_no_command();
            return None;
        };
        let words = if self.described.kind == FileKind::Assertion {
            vec![self.found.text(command, "`command`")?.to_owned()]
        } else if command.as_list().is_some() {
            texts::list(command, "`command`", self.found)
        } else {
            match shell_words::split(self.found.text(command, "`command`")?) {
                Ok(words) => words,
                Err(error) => {
                    let message = format!("`command` cannot be split into words: {error}");
                    let help = "close the quote, or write a list";
                    self.found.error_with_help("bad-command", command.span, message, help);
                    return None;
                }
            }
        };
        let mut words = words.into_iter();
        let Some(program) = words.next().filter(|program| !program.trim().is_empty()) else {
            let message = "`command` names no program";
            self.found.error_with_help("no-command", command.span, message, "write the program to start");
            return None;
        };
        Some((program, words.chain(args).collect()))
    }

    fn report_no_command(&mut self) {
        let parts = self.node.as_map().unwrap_or_default();
        if texts::is_misspelt(parts, "command", &keys::names(self.described.kind)) {
            return;
        }
        let (message, help) = if self.part("url").is_some() {
            ("a stdio server needs a `command`", "write `transport: http` to reach the `url`")
        } else {
            ("the server has neither a `command` nor a `url`", "add the `command` that starts it")
        };
        self.found.error_with_help("no-command", self.described.entry.key.span, message, help);
    }

    /// The address of a remote server; its absence is reported.
    fn url(&mut self) -> Option<String> {
        let Some(node) = self.value("url") else {
            let (span, help) = (self.described.entry.key.span, "add the `url` it answers at");
            self.found.error_with_help("no-url", span, "a remote server needs a `url`", help);
            return None;
        };
        let text = self.found.text(node, "`url`")?;
        let lower = text.to_ascii_lowercase();
        // A variable that is not set has its own finding, or the case is skipped because of it.
        if !text.contains(SECRET) && !lower.starts_with("http://") && !lower.starts_with("https://") {
            let message = format!("`{text}` is not the URL of a remote server");
            self.found.error_with_help("bad-url", node.span, message, "begin it with http:// or https://");
            return None;
        }
        Some(text.to_owned())
    }

    /// Headers: a text, or in suites `{env: NAME}` for a value that must be set and is never shown.
    fn headers(&mut self, owner: &Node) -> Vec<(String, String)> {
        let Some(map) = owner.get("headers").filter(|map| !map.is_null()) else { return Vec::new() };
        let mut headers = Vec::new();
        for entry in self.found.map(map, "`headers`").unwrap_or_default() {
            let what = format!("the header `{}`", entry.key.text);
            let value = if entry.value.is_null() {
                Some(String::new())
            } else if entry.value.as_map().is_some() && self.described.kind == FileKind::Suite {
                self.found.known_keys(&entry.value, &what, &["env"]);
                let Some(name) = entry.value.get("env") else { continue };
                self.reader.required_secret(name, "`env`", self.found)
            } else {
                self.found.text(&entry.value, &what).map(str::to_owned)
            };
            headers.extend(value.map(|value| (entry.key.text.to_string(), value)));
        }
        headers
    }

    /// The transport as named; without a name, a `url` means HTTP and a command a process.
    fn transport(&mut self, is_overridden: bool) -> Option<Transport> {
        let Some(named) = self.value("transport") else {
            let is_remote = self.part("url").is_some() && self.part("command").is_none() && !is_overridden;
            return Some(if is_remote { Transport::Remote(Remote::Http) } else { Transport::Stdio });
        };
        let text = self.found.text(named, "`transport`")?;
        if text.is_empty() {
            return Some(Transport::Stdio);
        }
        let known = Transport::all().find(|transport| transport.name().eq_ignore_ascii_case(text));
        if known.is_none() {
            let help = match nearest(text, Transport::all().map(Transport::name)) {
                Some(near) => format!("did you mean `{near}`? transports are stdio, sse and http"),
                None => "transports are stdio, sse and http".to_owned(),
            };
            self.found.error_with_help("unknown-transport", named.span, format!("unknown transport `{text}`"), help);
        }
        known
    }

    /// A key that cannot matter is worth a word, though older files may carry one.
    fn report_unused(&mut self, transport: Transport) {
        let (unused, owner) = match transport {
            Transport::Stdio => (Of::Remote, "a stdio server".to_owned()),
            Transport::Remote(remote) => (Of::Process, format!("an {} server", remote.name())),
        };
        for (part, key) in self.parts().filter(|(_, key)| key.of == unused) {
            let message = format!("`{}` means nothing to {owner}", key.name);
            let instead = match (self.described.kind, key.name) {
                (FileKind::Suite, "auth") => Some("give it what it needs in `env`"),
                (FileKind::Suite, "http") => Some("the deadline of a test is `timeout_ms`"),
                _ => None,
            };
            if let Some(help) = instead {
                self.found.error_with_help("wrong-key", part.key.span, message, help);
            } else {
                let help = "remove it, or change `transport`".to_owned();
                self.found.warning("unused-key", part.key.span, message, Some(help));
            }
        }
    }
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
        let message = format!("`wait_for_ready: {text}` is not understood");
        let help = "write a duration such as `30s`, a URL, or a path of the server such as `/health`";
        found.error_with_help("wrong-type", part.value.span, message, help);
    }
    probe.map(|probe| Ready { within: READY_WITHIN, probe: Some(probe) })
}

/// The revision to speak.
pub(crate) fn decode_protocol(node: &Node, found: &mut Diagnostics<'_>) -> Option<Protocol> {
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

/// Transport of a server.
#[derive(Clone, Copy, PartialEq)]
enum Transport {
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
