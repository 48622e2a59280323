//! A server as files name it that are written for people: what may be secret is not written down, the environment gives it.
//! A variable is called as the user's own configuration calls it; where nothing did, after what it is for. Pure.

use std::cmp::Reverse;

use mcprove_model::{Origin, OriginPart, Protocol, ServerSpec, Target, password_in};
use serde_json::{Map, Value, json};

use crate::convert;
use crate::environment::{SECRET, name_length, with_doubled_dollars};
use crate::template::literal_text;

/// Values of fewer characters are words, numbers and flags that stand everywhere.
const SHORTEST: usize = 6;

/// What the password of an address is taken from.
const PASSWORD: &str = "MCP_PASSWORD";

/// What any other secret is taken from.
const ANY_SECRET: &str = "MCP_SECRET";

/// The kind of file that a server is written into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// An assertion file, where dollar signs have a meaning in `env` and `headers` only.
    Assertion,
    /// A suite file, where they have one everywhere.
    Suite,
}

/// A server with its texts as a file holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenServer {
    /// Where it is.
    pub target: Target,
    /// The protocol revision to speak.
    pub protocol: Protocol,
    /// The variables that its texts ask the environment for, with the values that stood in their places.
    pub variables: Vec<(String, String)>,
}

impl WrittenServer {
    /// Writes a server; `{{name}}` is a reference for `templates` only, all other braces mean themselves.
    pub fn of(server: &ServerSpec, kind: FileKind, templates: &[&str]) -> Self {
        let mut writer = Writer { server, kind, templates, known: known(server), variables: Vec::new() };
        let target = writer.target(&server.target);
        Self { target, protocol: server.protocol, variables: writer.variables }
    }

    /// The names of its variables.
    pub fn names(&self) -> Vec<String> {
        self.variables.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Says which variables it needs.
    pub fn remark(&self) -> Option<String> {
        let names = self.names();
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
            Target::Http { url, headers } | Target::Sse { url, headers } => {
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
        Value::Object(block)
    }
}

/// A value that is not written down, and what its variable is called if nobody else is called so.
struct Known {
    value: String,
    variable: String,
}

/// What is known to be secret of a server, the best name first.
fn known(server: &ServerSpec) -> Vec<Known> {
    let mut known: Vec<Known> = Vec::new();
    let mut add = |value: &str, variable: String| {
        let is_telling = value.chars().count() >= SHORTEST && !value.trim().is_empty();
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
        Target::Http { headers, .. } | Target::Sse { headers, .. } => {
            for (name, value) in headers {
                add(value, header_variable(name));
            }
        }
        Target::Mock { .. } | Target::Cassette { .. } => {}
    }
    for credential in server.target.credentials() {
        add(credential.value, credential_variable(credential.name));
    }
    if let Some(password) = server.target.password() {
        add(password, PASSWORD.to_owned());
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

/// The variable that holds the value of a header field.
fn header_variable(header: &str) -> String {
    format!("MCP_{}", header.to_ascii_uppercase())
}

/// The variable that holds a credential: its own name, if that says whose it is.
fn credential_variable(name: &str) -> String {
    let name = name.to_ascii_uppercase();
    let is_anybodys = matches!(name.replace(['-', '_', '.'], "").as_str(), "APIKEY" | "ACCESSTOKEN" | "AUTHTOKEN")
        || !name.contains(['-', '_', '.']);
    if is_anybodys { format!("MCP_{name}") } else { name }
}

/// Where a text stands.
#[derive(Clone, Copy, PartialEq)]
enum Field {
    /// Among the words of a command, or an address.
    Words,
    /// In `env` or `headers`.
    Pairs,
}

/// What follows a text.
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
    variables: Vec<(String, String)>,
}

impl Writer<'_> {
    fn target(&mut self, target: &Target) -> Target {
        match target {
            Target::Stdio { command, args, env, cwd, docker } => {
                let words = args.iter().enumerate();
                Target::Stdio {
                    command: self.text("command", command, Field::Words),
                    args: words.map(|(at, word)| self.text(&format!("args[{at}]"), word, Field::Words)).collect(),
                    env: self.pairs("env", env, str::to_owned),
                    cwd: cwd.as_ref().map(|cwd| self.text("cwd", cwd, Field::Words)),
                    docker: docker.as_ref().map(|image| self.text("docker", image, Field::Words)),
                }
            }
            Target::Http { url, headers } => {
                Target::Http { url: self.address(url), headers: self.pairs("headers", headers, header_variable) }
            }
            Target::Sse { url, headers } => {
                Target::Sse { url: self.address(url), headers: self.pairs("headers", headers, header_variable) }
            }
            Target::Mock { manifest, virtual_time } => {
                Target::Mock { manifest: self.literal(manifest, Field::Words, Next::Text), virtual_time: *virtual_time }
            }
            Target::Cassette { path } => Target::Cassette { path: self.literal(path, Field::Words, Next::Text) },
        }
    }

    /// A text with the variables that its origin names.
    fn text(&mut self, place: &str, text: &str, field: Field) -> String {
        let parts = self.parts(place, text);
        self.joined(&parts, field)
    }

    /// An address, where a password is known by its place, however short it is.
    fn address(&mut self, url: &str) -> String {
        let mut parts = self.parts("url", url);
        let Some(password) = password_in(url) else { return self.joined(&parts, Field::Words) };
        let around = format!(":{password}@");
        let place = parts.iter().enumerate().find_map(|(index, part)| match part {
            OriginPart::Text(text) => text.find(&around).map(|at| (index, text.clone(), at + 1)),
            OriginPart::Variable { .. } => None,
        });
        if let Some((index, text, at)) = place {
            let (name, value) = (PASSWORD.to_owned(), Some(password.to_owned()));
            let before = OriginPart::Text(text[..at].to_owned());
            let after = OriginPart::Text(text[at + password.len()..].to_owned());
            parts.splice(index..=index, [before, OriginPart::Variable { name, value, default: None }, after]);
        }
        self.joined(&parts, Field::Words)
    }

    /// What a text came from; itself where nothing is known of that.
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

    /// Variables or header fields: whatever no variable is known for may be secret.
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
            let value = match self.origin(&place, value) {
                Some(_) => self.text(&place, value, Field::Pairs),
                None => self.reference(&variable(name), value, Field::Pairs),
            };
            (name.clone(), value)
        });
        written.collect()
    }

    /// What a text came from, unless it was changed since.
    fn origin(&self, place: &str, text: &str) -> Option<&Origin> {
        self.server.origins.iter().find(|origin| origin.place == place && origin.text() == text)
    }

    fn part(&mut self, part: &OriginPart, field: Field, next: Next) -> String {
        let (name, value, default) = match part {
            OriginPart::Text(text) => return self.literal(text, field, next),
            OriginPart::Variable { name, value, default } => (name, value, default.as_deref()),
        };
        let is_plain = |default: &&str| !default.contains(['$', '{', '}']);
        let default = default.filter(|default| field == Field::Pairs && is_plain(default) && is_name(name));
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
        let wanted: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let wanted = if is_name(&wanted) { wanted } else { format!("_{wanted}") };
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let is_free = |name: &String| {
            let taken = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            taken.chain(set_variables(self.server)).all(|(other, of)| other != name || of == value)
        };
        // The numbers do not end.
        let name = std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or(wanted);
        if self.variables.iter().all(|(known, _)| *known != name) {
            self.variables.push((name.clone(), value.to_owned()));
        }
        name
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}

#[cfg(test)]
mod tests;
