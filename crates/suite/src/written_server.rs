//! A server as files name it that are written for people: what may be secret is not written down, the environment gives it.
//! A variable is called as the user's own configuration calls it; where nothing did, after what it is for. Pure.

mod client;

use std::cmp::Reverse;
use std::ops::Range;

use mcprove_model::{
    ClientCapabilities, Credential, CredentialKind, Origin, OriginPart, Protocol, Redactor, ServerSpec, Target,
    escape_line, is_credential, is_scheme,
};
use serde_json::{Map, Value, json};

use crate::convert;
use crate::environment::{SECRET, is_name, with_doubled_dollars};
use crate::template::literal_text;

/// Variable for the password in a URL.
const PASSWORD: &str = "MCP_PASSWORD";

/// Variable for any other secret.
const ANY_SECRET: &str = "MCP_SECRET";

pub use crate::context::FileKind;

/// A server with its texts as a file holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenServer {
    /// Where it is.
    pub target: Target,
    /// The protocol revision to speak.
    pub protocol: Protocol,
    /// The variables that its texts need from the environment, with the values that they replace.
    pub variables: Vec<(String, String)>,
    /// Those that the configuration calls otherwise than a file can, with what it calls them.
    renamed: Vec<(String, String)>,
    /// The `client_capabilities` of the server.
    client: Map<String, Value>,
}

impl WrittenServer {
    /// Writes a server; `{{name}}` is a reference for `templates` only, all other braces mean themselves.
    pub fn of(server: &ServerSpec, kind: FileKind, templates: &[&str]) -> Self {
        let mut writer = Writer {
            server,
            kind,
            templates,
            known: known(server),
            reserved: reserved(server),
            variables: Vec::new(),
            renamed: Vec::new(),
        };
        let target = writer.target(&server.target);
        Self {
            target,
            protocol: server.protocol,
            variables: writer.variables,
            renamed: writer.renamed,
            client: Map::new(),
        }
    }

    /// The same server, asked by a client that gives these answers; secrets in them are not written.
    #[must_use]
    pub fn answering(self, client: &ClientCapabilities, secrets: &[String]) -> Self {
        let redactor = Redactor::new(secrets.iter().map(String::as_str));
        Self { client: client::written(client, &redactor), ..self }
    }

    /// The names of its variables.
    pub fn names(&self) -> Vec<String> {
        self.variables.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Says which variables it needs.
    pub fn remark(&self) -> Option<String> {
        let named = self.variables.iter().map(|(name, _)| {
            let other = self.renamed.iter().find(|(renamed, _)| renamed == name);
            other.map_or_else(
                || name.clone(),
                |(_, other)| format!("{name} (`{}` of the configuration)", escape_line(other)),
            )
        });
        let names: Vec<String> = named.collect();
        (!names.is_empty()).then(|| format!("The server takes from the environment: {}.", names.join(", ")))
    }

    /// The `server` of an assertion file.
    pub fn block(&self) -> Value {
        let mut block = Map::new();
        let mut put = |key: &str, value: Value| {
            let is_empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
            if !value.is_null() && !is_empty {
                block.insert(key.to_owned(), value);
            }
        };
        let map = |pairs: &[(String, String)]| -> Value {
            pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
        };
        match &self.target {
            Target::Stdio { command, args, env, cwd, docker } => {
                put("command", json!(command));
                put("args", json!(args));
                put("env", map(env));
                put("cwd", json!(cwd));
                put("docker", json!(docker));
            }
            Target::Remote { transport: _, url, headers } => {
                put("url", json!(url));
                put("transport", json!(self.target.transport()));
                put("headers", map(headers));
            }
            // Assertion files know processes and addresses; the program itself plays what is in a file.
            Target::Mock { manifest: file, .. } | Target::Cassette { path: file } => {
                put("command", json!("mcprove"));
                put("args", json!(["mock", "--tools-from", file]));
            }
        }
        match self.protocol {
            Protocol::Legacy => {}
            Protocol::Modern | Protocol::Auto | Protocol::Exactly(_) => put("protocol", json!(self.protocol.as_str())),
        }
        put("client_capabilities", Value::Object(self.client.clone()));
        Value::Object(block)
    }
}

/// A value that is not written to the file, and the preferred name of its variable.
struct Known {
    value: String,
    variable: String,
}

/// Known secrets of a server, the best name first.
fn known(server: &ServerSpec) -> Vec<Known> {
    let mut known: Vec<Known> = Vec::new();
    let mut add = |value: &str, variable: String| {
        let is_telling = value.chars().count() >= Redactor::SHORTEST && !value.trim().is_empty();
        if is_telling && known.iter().all(|known| known.value != value) {
            known.push(Known { value: value.to_owned(), variable });
        }
    };
    for (name, value) in set_variables(server) {
        add(value, name.to_owned());
    }
    match &server.target {
        Target::Stdio { env, .. } => {
            for (name, value) in env {
                add(value, name.clone());
            }
        }
        Target::Remote { headers, .. } => {
            for (name, value) in headers {
                add(value, header_variable(name));
            }
        }
        Target::Mock { .. } | Target::Cassette { .. } => {}
    }
    for credential in server.target.credentials() {
        add(credential.value, credential_variable(credential.kind));
    }
    for secret in &server.secrets {
        add(secret, ANY_SECRET.to_owned());
    }
    known
}

/// The variables that a configuration took values from.
fn set_variables(server: &ServerSpec) -> impl Iterator<Item = (&str, &str)> {
    server.origins.iter().flat_map(|origin| &origin.parts).filter_map(|part| match part {
        OriginPart::Variable { name, value: Some(value), default: _ } => Some((name.as_str(), value.as_str())),
        OriginPart::Variable { .. } | OriginPart::Text(_) => None,
    })
}

/// The names that belong to values already: those of a configuration's variables, and those of the variables that the
/// server is given.
fn reserved(server: &ServerSpec) -> Vec<(String, String)> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut reserved: Vec<(String, String)> = set_variables(server).map(owned).collect();
    if let Target::Stdio { env, .. } = &server.target {
        // Of two of one name the later is meant.
        for (name, value) in env.iter().rev() {
            if reserved.iter().all(|(other, _)| other != name) {
                reserved.push((name.clone(), value.clone()));
            }
        }
    }
    reserved
}

/// The variable that holds the value of a header.
fn header_variable(header: &str) -> String {
    format!("MCP_{}", header.to_ascii_uppercase())
}

/// The variable that holds a credential: its own name, if that says whose it is.
fn credential_variable(kind: CredentialKind<'_>) -> String {
    let name = match kind {
        CredentialKind::Named(name) => name.to_ascii_uppercase(),
        CredentialKind::Header(name) => return header_variable(name),
        CredentialKind::Password => return PASSWORD.to_owned(),
    };
    let is_anybodys = matches!(name.replace(['-', '_', '.'], "").as_str(), "APIKEY" | "ACCESSTOKEN" | "AUTHTOKEN")
        || !name.contains(['-', '_', '.']);
    if is_anybodys { format!("MCP_{name}") } else { name }
}

/// Field of a text.
#[derive(Clone, Copy, PartialEq)]
enum Field {
    /// The command with its arguments, or a URL.
    Words,
    /// In `env` or `headers`.
    Pairs,
}

/// The part after a text.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Text,
    /// A variable, which a dollar sign before it would change.
    Reference,
}

impl Next {
    fn of(after: &str) -> Self {
        if after.starts_with("${") { Self::Reference } else { Self::Text }
    }
}

struct Writer<'w> {
    server: &'w ServerSpec,
    kind: FileKind,
    templates: &'w [&'w str],
    known: Vec<Known>,
    reserved: Vec<(String, String)>,
    variables: Vec<(String, String)>,
    renamed: Vec<(String, String)>,
}

impl Writer<'_> {
    fn target(&mut self, target: &Target) -> Target {
        match target {
            Target::Stdio { command, args, env, cwd, docker } => {
                let credentials = target.credentials();
                let words = args.iter().enumerate();
                Target::Stdio {
                    command: self.text("command", command, Field::Words),
                    args: words.map(|(at, word)| self.word(at, word, &credentials)).collect(),
                    env: self.pairs("env", env, str::to_owned),
                    cwd: cwd.as_ref().map(|cwd| self.text("cwd", cwd, Field::Words)),
                    docker: docker.as_ref().map(|image| self.text("docker", image, Field::Words)),
                }
            }
            Target::Remote { transport, url, headers } => Target::Remote {
                transport: *transport,
                url: self.address(url, target),
                headers: self.pairs("headers", headers, header_variable),
            },
            Target::Mock { manifest, virtual_time, keep_state } => {
                let manifest = self.literal(manifest, Field::Words, Next::Text);
                Target::Mock { manifest, virtual_time: *virtual_time, keep_state: *keep_state }
            }
            Target::Cassette { path } => Target::Cassette { path: self.literal(path, Field::Words, Next::Text) },
        }
    }

    /// A text with the variables that its origin names.
    fn text(&mut self, place: &str, text: &str, field: Field) -> String {
        let parts = self.parts(place, text);
        self.joined(&parts, field)
    }

    /// An argument.
    fn word(&mut self, at: usize, word: &str, credentials: &[Credential<'_>]) -> String {
        let own = credentials.iter().filter(|credential| credential.word == at);
        self.with_credentials(&format!("args[{at}]"), word, own)
    }

    fn address(&mut self, url: &str, target: &Target) -> String {
        self.with_credentials("url", url, target.credentials().iter())
    }

    /// A text where credentials are known by their places, however short they are.
    fn with_credentials<'c>(
        &mut self,
        place: &str,
        text: &str,
        credentials: impl Iterator<Item = &'c Credential<'c>>,
    ) -> String {
        let mut parts = self.parts(place, text);
        for credential in credentials {
            let known = self.known.iter().find(|known| known.value == credential.value);
            let name = known.map_or_else(|| credential_variable(credential.kind), |known| known.variable.clone());
            parts = with_one_variable(parts, &credential.range, name);
        }
        self.joined(&parts, Field::Words)
    }

    /// Origin of a text; the text itself if its origin is unknown.
    fn parts(&self, place: &str, text: &str) -> Vec<OriginPart> {
        self.origin(place, text).map_or_else(|| vec![OriginPart::Text(text.to_owned())], |origin| origin.parts.clone())
    }

    /// Parts one after the other. Whether a dollar sign means itself depends on what follows it.
    fn joined(&mut self, parts: &[OriginPart], field: Field) -> String {
        parts.iter().rev().fold(String::new(), |after, part| {
            let next = Next::of(&after);
            self.part(part, field, next) + &after
        })
    }

    /// Variables or headers: whatever no variable is known for may be secret.
    fn pairs(
        &mut self,
        key: &str,
        pairs: &[(String, String)],
        variable: impl Fn(&str) -> String,
    ) -> Vec<(String, String)> {
        // Of two of one name the later is meant.
        let is_last = |at: usize, name: &String| pairs[at + 1..].iter().all(|(later, _)| later != name);
        let meant = pairs.iter().enumerate().filter(|(at, (name, _))| is_last(*at, name));
        let written = meant.map(|(_, (name, value))| {
            let place = format!("{key}.{name}");
            let parts = self.origin(&place, value).map(|origin| without_defaults(name, &origin.parts));
            let value = match parts.filter(|parts| tell_nothing(parts, Field::Pairs)) {
                Some(parts) => self.joined(&parts, Field::Pairs),
                None => self.reference(&variable(name), value, Field::Pairs),
            };
            (name.clone(), value)
        });
        written.collect()
    }

    /// Origin of a text, unless it was changed since.
    fn origin(&self, place: &str, text: &str) -> Option<&Origin> {
        self.server.origins.iter().find(|origin| origin.place == place && origin.text() == text)
    }

    fn part(&mut self, part: &OriginPart, field: Field, next: Next) -> String {
        let (name, value, default) = match part {
            OriginPart::Text(text) => return self.literal(text, field, next),
            OriginPart::Variable { name, value, default } => (name, value, default.as_deref()),
        };
        let default = default.filter(|default| field == Field::Pairs && is_written(name, default));
        match (value, default) {
            (Some(value), default) => {
                let reference = self.reference(name, value, field);
                match (default, reference.strip_suffix('}')) {
                    (Some(default), Some(open)) => format!("{open}:-{default}}}"),
                    _ => reference,
                }
            }
            (None, Some(default)) => format!("${{{name}:-{default}}}"),
            (None, None) => self.literal(part.text(), field, next),
        }
    }

    /// A text that means itself, but for what is secret in it.
    fn literal(&mut self, text: &str, field: Field, next: Next) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        loop {
            let places = self.known.iter().filter_map(|known| Some((rest.find(&known.value)?, known)));
            let Some((at, known)) = places.min_by_key(|(at, known)| (*at, Reverse(known.value.len()))) else { break };
            let (value, variable) = (known.value.clone(), known.variable.clone());
            result.push_str(&self.escaped(&rest[..at], field, Next::Reference));
            result.push_str(&self.reference(&variable, &value, field));
            rest = &rest[at + value.len()..];
        }
        result.push_str(&self.escaped(rest, field, next));
        result
    }

    fn escaped(&self, text: &str, field: Field, next: Next) -> String {
        with_doubled_dollars(&literal_text(text, self.templates), |count, after| {
            let is_at_reference = next == Next::Reference && after.is_empty();
            is_at_reference
                || match (self.kind, field) {
                    (FileKind::Suite, _) => convert::has_meaning(count, after),
                    (FileKind::Assertion, Field::Pairs) => true,
                    (FileKind::Assertion, Field::Words) => after.starts_with(&SECRET[1..]),
                }
        })
    }

    /// A reference to a variable; outside of `env` and `headers` only secrets are understood in every kind of file.
    fn reference(&mut self, wanted: &str, value: &str, field: Field) -> String {
        let name = self.variable(wanted, value);
        match field {
            Field::Words => format!("{SECRET}{name}}}"),
            Field::Pairs => format!("${{{name}}}"),
        }
    }

    /// The variable that holds a value: as it is wanted, with a number if another value is called so.
    fn variable(&mut self, wanted: &str, value: &str) -> String {
        let asked = wanted;
        let wanted: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let wanted = if is_name(&wanted) { wanted } else { format!("_{wanted}") };
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let is_free = |name: &String| {
            let mut taken = self.variables.iter().chain(&self.reserved);
            taken.all(|(other, of)| other != name || of == value)
        };
        // The numbers do not end.
        let name = std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or(wanted);
        if self.variables.iter().all(|(known, _)| *known != name) {
            self.variables.push((name.clone(), value.to_owned()));
            if name != asked && set_variables(self.server).any(|(set, _)| set == asked) {
                self.renamed.push((name.clone(), asked.to_owned()));
            }
        }
        name
    }
}

/// Parts with one variable in place of a range of their text, unless the range consists of variables already.
fn with_one_variable(parts: Vec<OriginPart>, range: &Range<usize>, name: String) -> Vec<OriginPart> {
    let (mut before, mut inside, mut after) = (Vec::new(), Vec::new(), Vec::new());
    let mut start = 0;
    for part in parts {
        let end = start + part.text().len();
        let is_outside = end <= range.start || start >= range.end;
        match part {
            OriginPart::Text(text) if !is_outside => {
                let (first, last) = (range.start.saturating_sub(start), range.end.min(end) - start);
                before.extend((first > 0).then(|| OriginPart::Text(text[..first].to_owned())));
                inside.push(OriginPart::Text(text[first..last].to_owned()));
                after.extend((last < text.len()).then(|| OriginPart::Text(text[last..].to_owned())));
            }
            part if !is_outside => inside.push(part),
            part if start < range.end => before.push(part),
            part => after.push(part),
        }
        start = end;
    }
    if !tell_nothing(&inside, Field::Words) {
        let value = Some(inside.iter().map(OriginPart::text).collect());
        inside = vec![OriginPart::Variable { name, value, default: None }];
    }
    before.into_iter().chain(inside).chain(after).collect()
}

/// True if parts are variables, and around them nothing but schemes and what is put between two words.
fn tell_nothing(parts: &[OriginPart], field: Field) -> bool {
    let mut has_variable = false;
    let is_open = parts.iter().all(|part| match part {
        OriginPart::Text(text) => {
            let is_between = text.chars().count() < Redactor::SHORTEST && !text.contains(char::is_alphanumeric);
            is_between || is_scheme(text)
        }
        OriginPart::Variable { name, value, default } => {
            has_variable = true;
            let is_default = |default: &String| field == Field::Pairs && is_written(name, default);
            value.is_some() || default.as_ref().is_some_and(is_default)
        }
    });
    has_variable && is_open
}

/// The parts of the value of a variable or header; a default value may be a credential if its name says
/// so.
fn without_defaults(key: &str, parts: &[OriginPart]) -> Vec<OriginPart> {
    let without = |part: &OriginPart| match part {
        // One that is not set is its default.
        OriginPart::Variable { name, value, .. } if is_credential(key) => OriginPart::Variable {
            name: name.clone(),
            value: Some(value.clone().unwrap_or_else(|| part.text().to_owned())),
            default: None,
        },
        part => part.clone(),
    };
    parts.iter().map(without).collect()
}

/// True if the default of a variable can and may be written.
fn is_written(name: &str, default: &str) -> bool {
    !default.contains(['$', '{', '}']) && is_name(name) && !is_credential(name)
}

#[cfg(test)]
mod tests;
