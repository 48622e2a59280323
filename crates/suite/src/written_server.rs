//! A server as files name it that are written for people: what may be secret is not written down, the environment gives it.
//! A variable is called as the user's own configuration calls it; where nothing did, after what it is for. Pure.

use std::cmp::Reverse;

use mcprove_model::{Origin, OriginPart, Protocol, ServerSpec, Target, password_range};
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
        match self.origin(place, text) {
            // Whether a dollar sign means itself depends on what follows it.
            Some(origin) => origin.parts.iter().rev().fold(String::new(), |after, part| {
                let next = Next::of(&after);
                self.part(part, field, next) + &after
            }),
            None => self.literal(text, field, Next::Text),
        }
    }

    fn address(&mut self, url: &str) -> String {
        match password_range(url).filter(|_| self.origin("url", url).is_none()) {
            Some(range) => {
                let before = self.literal(&url[..range.start], Field::Words, Next::Reference);
                let password = self.reference(PASSWORD, &url[range.clone()], Field::Words);
                before + &password + &self.literal(&url[range.end..], Field::Words, Next::Text)
            }
            None => self.text("url", url, Field::Words),
        }
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
    fn origin(&self, place: &str, text: &str) -> Option<Origin> {
        self.server.origins.iter().find(|origin| origin.place == place && origin.text() == text).cloned()
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
mod tests {
    use super::*;
    use crate::template::FIXTURE;

    fn text(text: &str) -> OriginPart {
        OriginPart::Text(text.to_owned())
    }

    fn variable(name: &str, value: Option<&str>, default: Option<&str>) -> OriginPart {
        let (value, default) = (value.map(str::to_owned), default.map(str::to_owned));
        OriginPart::Variable { name: name.to_owned(), value, default }
    }

    /// A process whose texts were put together from these parts.
    fn configured(args: &[&[OriginPart]], env: &[(&str, &[OriginPart])]) -> ServerSpec {
        let origin = |place: String, parts: &[OriginPart]| Origin { place, parts: parts.to_vec() };
        let args: Vec<Origin> =
            args.iter().enumerate().map(|(at, parts)| origin(format!("args[{at}]"), parts)).collect();
        let env: Vec<(String, Origin)> =
            env.iter().map(|(name, parts)| ((*name).to_owned(), origin(format!("env.{name}"), parts))).collect();
        let target = Target::Stdio {
            command: "run".to_owned(),
            args: args.iter().map(Origin::text).collect(),
            env: env.iter().map(|(name, origin)| (name.clone(), origin.text())).collect(),
            cwd: None,
            docker: None,
        };
        let all = args.into_iter().chain(env.into_iter().map(|(_, origin)| origin));
        let is_templated =
            |origin: &Origin| origin.parts.iter().any(|part| matches!(part, OriginPart::Variable { .. }));
        ServerSpec { target, origins: all.filter(is_templated).collect(), ..ServerSpec::default() }
    }

    fn block(server: &ServerSpec) -> (Value, Vec<String>) {
        let written = WrittenServer::of(server, FileKind::Assertion, &[]);
        (written.block(), written.names())
    }

    #[test]
    fn variables_are_called_as_the_configuration_calls_them() {
        let tok = || variable("TOK", Some("t0ken-of-mine"), None);
        let server = configured(
            &[&[text("--key="), tok()], &[text("--plain")]],
            &[
                ("T", &[tok()]),
                ("H", &[text("Bearer $"), tok(), text(" {{x}}")]),
                ("D", &[variable("REGION", None, Some("eu"))]),
                ("S", &[variable("STAGE", Some("staging"), Some("prod"))]),
                ("L", &[text("literal")]),
            ],
        );
        let (block, names) = block(&server);
        assert_eq!(block["args"], json!(["--key=${secret:TOK}", "--plain"]));
        let env = json!({
            "T": "${TOK}", "H": "Bearer $$${TOK} {{'{{'}}x}}", "D": "${REGION:-eu}", "S": "${STAGE:-prod}", "L": "${L}",
        });
        assert_eq!(block["env"], env);
        assert_eq!(names, ["TOK", "STAGE", "L"]);
    }

    #[test]
    fn one_name_is_one_value() {
        let server = configured(
            &[],
            &[
                ("TOK", &[text("literal")]),
                ("T", &[variable("TOK", Some("t0ken-of-mine"), None)]),
                ("odd", &[variable("A(b)", Some("x"), None)]),
            ],
        );
        let (block, names) = block(&server);
        assert_eq!(block["env"], json!({"TOK": "${TOK_2}", "T": "${TOK}", "odd": "${A_b_}"}));
        assert_eq!(names, ["TOK_2", "TOK", "A_b_"]);
    }

    #[test]
    fn what_is_secret_stands_nowhere() {
        let target = Target::Http {
            url: "http://me:pass@host/mcp?a=hunter22&b=other-secret".to_owned(),
            headers: vec![("X-Key".to_owned(), "hunter22".to_owned())],
        };
        let secrets = vec!["other-secret".to_owned(), "host".to_owned()];
        let server = ServerSpec { target, secrets, protocol: Protocol::Modern, ..ServerSpec::default() };
        let (block, names) = block(&server);
        let expected = json!({
            "url": "http://me:${secret:MCP_PASSWORD}@host/mcp?a=${secret:MCP_X_KEY}&b=${secret:MCP_SECRET}",
            "transport": "http",
            "headers": {"X-Key": "${MCP_X_KEY}"},
            "protocol": "modern",
        });
        assert_eq!(block, expected);
        assert_eq!(names, ["MCP_PASSWORD", "MCP_X_KEY", "MCP_SECRET"]);
    }

    #[test]
    fn a_dollar_sign_before_a_variable_means_itself() {
        let parts = [text("$"), variable("TOK", Some("t0ken-of-mine"), None), text(" t0ken-of-mine$t0ken-of-mine$")];
        let server = configured(&[&parts], &[("E", &parts)]);
        let lookup = |name: &str| (name == "TOK").then(|| "t0ken-of-mine".to_owned());
        let (written, _) = block(&server);
        let word = "$$${secret:TOK} ${secret:TOK}$$${secret:TOK}$";
        assert_eq!(written["args"][0], word);
        let env = written["env"]["E"].as_str().expect("text");
        assert_eq!(env, "$$${TOK} ${TOK}$$${TOK}$$");
        assert_eq!(
            crate::environment::expand(env, &lookup).text,
            parts.iter().map(OriginPart::text).collect::<String>()
        );
        let Target::Stdio { args, .. } = WrittenServer::of(&server, FileKind::Suite, &[]).target else {
            panic!("a process")
        };
        assert_eq!(args, [word]);
    }

    #[test]
    fn credentials_become_variables_of_their_names() {
        let words = ["--token", "hunter22", "--figma-api-key=hunter33", "-e", "GITHUB_TOKEN=hunter44"].map(text);
        let words: Vec<&[OriginPart]> = words.iter().map(std::slice::from_ref).collect();
        let (written, names) = block(&configured(&words, &[]));
        let expected = [
            "--token",
            "${secret:MCP_TOKEN}",
            "--figma-api-key=${secret:FIGMA_API_KEY}",
            "-e",
            "GITHUB_TOKEN=${secret:GITHUB_TOKEN}",
        ];
        assert_eq!(written["args"], json!(expected));
        assert_eq!(names, ["MCP_TOKEN", "FIGMA_API_KEY", "GITHUB_TOKEN"]);
        let target = Target::Sse { url: "http://x?api_key=hunter22".to_owned(), headers: Vec::new() };
        let (written, _) = block(&ServerSpec { target, ..ServerSpec::default() });
        assert_eq!(written["url"], "http://x?api_key=${secret:MCP_API_KEY}");
    }

    #[test]
    fn what_stood_there_literally_is_read_as_it_was() {
        let server = configured(&[&[text("{{fixture}} {{x}} ${X} ${secret:X}")]], &[]);
        let args = |kind, templates: &[&str]| match WrittenServer::of(&server, kind, templates).target {
            Target::Stdio { args, .. } => args.join(" "),
            other => panic!("{other:?}"),
        };
        assert_eq!(args(FileKind::Assertion, &[]), "{{'{{'}}fixture}} {{'{{'}}x}} ${X} $${secret:X}");
        assert_eq!(args(FileKind::Assertion, &[FIXTURE]), "{{fixture}} {{'{{'}}x}} ${X} $${secret:X}");
        assert_eq!(args(FileKind::Suite, &[]), "{{'{{'}}fixture}} {{'{{'}}x}} $${X} $${secret:X}");
    }
}
