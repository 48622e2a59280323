//! The server a command is pointed at: one function and one help text for all commands.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mcprove_model::{
    NewServer, Origin, OriginPart, Override, Protocol, Redactor, Remote, Revision, ServerSpec, Target, passwords,
    without_password,
};

use crate::client_config::{self, Surroundings};
use crate::completing_parser::CompletingParser;
use crate::context::Context;
use crate::failure::Failure;

/// The server under test. The heading is set on each option: one for all of them would also be the heading of the
/// options that follow.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Subject {
    /// A command that starts a server, in place of those of suites.
    #[arg(long, value_name = "CMD ARGS", help_heading = "Server")]
    server: Option<String>,
    /// The URL of a running server, in place of those of suites.
    #[arg(long, value_name = "URL", conflicts_with = "server", help_heading = "Server")]
    url: Option<String>,
    /// A header for the URL; may be repeated.
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url", help_heading = "Server")]
    headers: Vec<String>,
    /// The transport of the URL: http or sse.
    #[arg(long, value_name = "http|sse", requires = "url", help_heading = "Server")]
    transport: Option<String>,
    /// Take the server from a client's configuration file (`.mcp.json`, `claude_desktop_config.json`, …).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["server", "url"], help_heading = "Server")]
    client_config: Option<PathBuf>,
    /// The server of the configuration file.
    #[arg(long, value_name = "NAME", requires = "client_config", help_heading = "Server")]
    name: Option<String>,
    /// The protocol revision to speak: legacy (before 2026-07-28), modern, auto or a date [default: the suite's, or legacy].
    #[arg(long, value_name = "REVISION", value_parser = PROTOCOL, hide_possible_values = true, help_heading = "Server")]
    protocol: Option<Protocol>,
    /// A variable for the environment of a server that is named here; may be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", conflicts_with = "url", value_parser = variable, help_heading = "Server")]
    env: Vec<(String, String)>,
    /// The folder in which a server that is named here is started.
    #[arg(long, value_name = "DIR", conflicts_with = "url", help_heading = "Server")]
    cwd: Option<PathBuf>,
    /// The command and its arguments, after `--`.
    #[arg(last = true, value_name = "CMD", help_heading = "Server", conflicts_with_all = ["server", "url", "client_config"])]
    command: Vec<String>,
}

/// The values of `--protocol`.
const PROTOCOL: CompletingParser<Protocol> = CompletingParser {
    names: || ["legacy", "modern", "auto"].into_iter().chain(Revision::ALL.map(Revision::as_str)).collect(),
    parse: protocol,
};

/// Reads a choice of revision.
pub(crate) fn protocol(text: &str) -> Result<Protocol, String> {
    match text {
        "legacy" => Ok(Protocol::Legacy),
        "modern" => Ok(Protocol::Modern),
        "auto" => Ok(Protocol::Auto),
        other => Revision::parse(other).map(Protocol::Exactly).ok_or_else(|| {
            format!("give `legacy`, `modern`, `auto` or one of {}", Revision::ALL.map(Revision::as_str).join(", "))
        }),
    }
}

/// Splits a command line as a shell would; nothing is run by a shell.
pub(crate) fn words(option: &str, text: &str) -> Result<Vec<String>, Failure> {
    let line = if cfg!(windows) { with_paths_of_windows(text) } else { text.to_owned() };
    let words = shell_words::split(&line).map_err(|error| {
        // Arguments may be secrets; the command is enough to find it.
        let command = text.split_whitespace().next().unwrap_or_default();
        Failure::new(format!("`{option} {command} …` cannot be split into words: {error}"), "close the quote")
    })?;
    if words.is_empty() { Err(Failure::new(format!("`{option}` is empty"), "give a command")) } else { Ok(words) }
}

/// The command line with each backslash doubled that is part of a path, as in `C:\tools\server.exe`; one before a quote is not.
fn with_paths_of_windows(line: &str) -> String {
    let mut written = String::with_capacity(line.len());
    let mut is_single_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        written.push(letter);
        match (letter, letters.peek()) {
            ('\'', _) => is_single_quoted = !is_single_quoted,
            ('\\', Some('"' | '\'')) if !is_single_quoted => written.extend(letters.next()),
            ('\\', _) if !is_single_quoted => written.push('\\'),
            _ => {}
        }
    }
    written
}

impl Subject {
    /// True if a server was named at all.
    pub(crate) fn is_named(&self) -> bool {
        self.server.is_some() || self.url.is_some() || self.client_config.is_some() || !self.command.is_empty()
    }

    /// The revision that was asked for.
    pub(crate) fn protocol(&self) -> Option<Protocol> {
        self.protocol
    }

    /// The server of a client's configuration file.
    pub(crate) fn of_client_config(path: PathBuf, name: Option<String>) -> Self {
        Self { client_config: Some(path), name, ..Self::default() }
    }

    /// The server that one argument names: a URL, or a command.
    pub(crate) fn of_text(text: &str) -> Self {
        let text = text.to_owned();
        let is_url = text.starts_with("http://") || text.starts_with("https://");
        if is_url {
            Self { url: Some(text), ..Self::default() }
        } else {
            Self { server: Some(text), ..Self::default() }
        }
    }

    /// Takes a server that was named later.
    pub(crate) fn set_server(&mut self, command: String) {
        self.server = Some(command);
    }

    /// The server that was named, in whatever way.
    pub(crate) fn spec(&self) -> Result<ServerSpec, Failure> {
        let (mut target, origins) = self.target()?;
        if let Target::Stdio { env, cwd, .. } = &mut target {
            env.retain(|(name, _)| !self.env.iter().any(|(given, _)| given == name));
            env.extend(self.env.iter().cloned());
            if let Some(folder) = &self.cwd {
                *cwd = Some(existing(folder)?);
            }
        }
        let mut secrets: Vec<String> = target.credentials().iter().map(|found| found.value.to_owned()).collect();
        secrets.extend(origins.iter().flat_map(|origin| &origin.parts).filter_map(|part| match part {
            OriginPart::Variable { name: _, value, default: _ } => value.clone(),
            OriginPart::Text(_) => None,
        }));
        if self.url.is_some() || self.client_config.is_some() || !self.env.is_empty() {
            secrets.extend(secrets_of(&target));
        }
        Ok(ServerSpec {
            // It appears in all output; values that a configuration took from the environment must not.
            name: Redactor::new(secrets.iter().map(String::as_str)).text(&target.label()).into_owned(),
            target,
            protocol: self.protocol.unwrap_or_default(),
            secrets,
            origins,
            ..ServerSpec::default()
        })
    }

    /// Replacement for the servers of a suite, which keep their headers, environment and client.
    pub(crate) fn replacement(&self) -> Result<Override, Failure> {
        let server = if self.is_named() {
            let ServerSpec { target, secrets, .. } = self.spec()?;
            Some(NewServer::Target { target, is_transport_named: self.transport.is_some(), secrets })
        } else if !self.env.is_empty() || self.cwd.is_some() {
            let message = "`--env` and `--cwd` are of a server that the command line names";
            return Err(Failure::new(
                message,
                "name it with `--server` or `--`, or write `env` and `cwd` in the suite",
            ));
        } else {
            None
        };
        Ok(Override { server, protocol: self.protocol, ..Override::default() })
    }

    /// The arguments that name it again, without secrets: values of headers are left to the environment.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        let command = (!self.command.is_empty()).then(|| shell_words::join(&self.command));
        option("--server", self.server.clone().or(command));
        option("--url", self.url.as_ref().map(|url| without_password(url).into_owned()));
        for name in self.headers.iter().filter_map(|text| header(text).ok()).map(|(name, _)| name) {
            option("--header", Some(format!("{name}: ${}", variable_of(&name))));
        }
        option("--transport", self.transport.clone());
        option("--client-config", self.client_config.as_ref().map(|path| path.display().to_string()));
        option("--name", self.name.clone());
        for (name, _) in &self.env {
            option("--env", Some(format!("{name}=${name}")));
        }
        option("--cwd", self.cwd.as_ref().map(|path| path.display().to_string()));
        option("--protocol", self.protocol.map(|protocol| protocol.as_str().to_owned()));
        words
    }

    /// The flags that name it again; values of headers are left to the environment.
    pub(crate) fn command_line(&self) -> String {
        let quoted = |text: &str| shell_words::quote(text).into_owned();
        let mut line = if let Some(text) = &self.server {
            format!("--server {}", quoted(text))
        } else if let Some(url) = &self.url {
            let mut line = format!("--url {}", quoted(url));
            for name in self.headers.iter().filter_map(|text| header(text).ok()).map(|(name, _)| name) {
                let _ = write!(line, " --header \"{name}: ${}\"", variable_of(&name));
            }
            if let Some(transport) = &self.transport {
                let _ = write!(line, " --transport {transport}");
            }
            line
        } else if let Some(path) = &self.client_config {
            let name = self.name.as_deref().map(|name| format!(" --name {}", quoted(name))).unwrap_or_default();
            format!("--client-config {}{name}", quoted(&path.to_string_lossy()))
        } else {
            format!("--server {}", quoted(&shell_words::join(&self.command)))
        };
        for (name, _) in &self.env {
            let _ = write!(line, " --env {name}=\"${name}\"");
        }
        if let Some(folder) = &self.cwd {
            let _ = write!(line, " --cwd {}", quoted(&folder.to_string_lossy()));
        }
        if let Some(protocol) = self.protocol.filter(|protocol| *protocol != Protocol::Legacy) {
            let _ = write!(line, " --protocol {}", protocol.as_str());
        }
        line
    }

    /// The server, and what variables of a configuration file gave it.
    fn target(&self) -> Result<(Target, Vec<Origin>), Failure> {
        let plain = |target| (target, Vec::new());
        if let Some(text) = &self.server {
            return Ok(plain(stdio(words("--server", text)?, Vec::new(), None)));
        }
        if let Some(url) = &self.url {
            return self.address(url).map(plain);
        }
        if let Some(path) = &self.client_config {
            let surroundings = Surroundings::of(path, &Context::variable);
            let configured = client_config::read(path, self.name.as_deref(), &surroundings)?;
            return Ok((configured.target, configured.origins));
        }
        if self.command.is_empty() {
            return Err(Failure::new(
                "no server was named",
                "give `--server \"CMD ARGS\"`, `-- CMD ARGS`, `--url URL` or `--client-config FILE`",
            ));
        }
        Ok(plain(stdio(self.command.clone(), Vec::new(), None)))
    }

    fn address(&self, url: &str) -> Result<Target, Failure> {
        let named = self.headers.iter().map(|text| header(text)).collect::<Result<Vec<_>, _>>()?;
        let mut target = address(url, self.transport.as_deref())?;
        if let Target::Remote { headers, .. } = &mut target {
            *headers = named;
        }
        Ok(target)
    }
}

/// The variable that the value of a header is taken from.
fn variable_of(header: &str) -> String {
    header.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

/// Values that a command line or a client's configuration gives only to a server: headers and variables.
fn secrets_of(target: &Target) -> Vec<String> {
    let pairs = match target {
        Target::Stdio { env, .. } => env,
        Target::Remote { headers, .. } => headers,
        Target::Mock { .. } | Target::Cassette { .. } => return Vec::new(),
    };
    let values = pairs.iter().map(|(_, value)| value.as_str());
    // A token is a secret also without the word before it.
    let tokens = values.clone().filter_map(|value| value.split_once(' ').map(|(_, token)| token.trim()));
    let passwords = values.clone().flat_map(|value| passwords(value).into_iter().map(|range| &value[range]));
    values.chain(tokens).chain(passwords).map(str::to_owned).collect()
}

/// A server that runs already.
pub(crate) fn address(url: &str, transport: Option<&str>) -> Result<Target, Failure> {
    let Some(transport) = transport.map_or(Some(Remote::Http), Remote::of_name) else {
        let message = format!("`--transport {}` is not known", transport.unwrap_or_default());
        return Err(Failure::new(message, "give `http` or `sse`"));
    };
    Ok(Target::Remote { transport, url: url.to_owned(), headers: Vec::new() })
}

/// Reads a variable.
fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err("write `NAME=VALUE`".to_owned()),
    }
}

/// A folder that is there, as an absolute path.
fn existing(folder: &Path) -> Result<String, Failure> {
    match folder.canonicalize() {
        Ok(path) if path.is_dir() => Ok(path.to_string_lossy().into_owned()),
        Ok(_) | Err(_) => Err(Failure::new(
            format!("the folder `{}` does not exist", folder.display()),
            "give `--cwd` an existing folder",
        )),
    }
}

/// A server that is started.
pub(crate) fn stdio(words: Vec<String>, env: Vec<(String, String)>, cwd: Option<String>) -> Target {
    let mut words = words.into_iter();
    Target::Stdio { command: words.next().unwrap_or_default(), args: words.collect(), env, cwd, docker: None }
}

fn header(text: &str) -> Result<(String, String), Failure> {
    let split = text.split_once(':').or_else(|| text.split_once('='));
    let (name, value) = split
        .ok_or_else(|| Failure::new("a `--header` has no colon, so no value", "write `--header \"Name: value\"`"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_windows_keep_their_backslashes() {
        for (line, words) in [
            (r"C:\tools\server.exe --dir D:\data\", &[r"C:\tools\server.exe", "--dir", r"D:\data\"][..]),
            (r#""C:\Program Files\server.exe" -v"#, &[r"C:\Program Files\server.exe", "-v"]),
            (r"'C:\Program Files\server.exe' -v", &[r"C:\Program Files\server.exe", "-v"]),
            (r#"\\host\share\a.cmd "say \"hi\"""#, &[r"\\host\share\a.cmd", "say \"hi\""]),
            ("node server.js --port 1", &["node", "server.js", "--port", "1"]),
        ] {
            assert_eq!(shell_words::split(&with_paths_of_windows(line)).expect("words"), words, "{line}");
        }
    }

    #[test]
    fn headers_are_split_at_the_first_colon() {
        assert_eq!(header("Authorization: Bearer a:b").expect("fine"), ("Authorization".into(), "Bearer a:b".into()));
        assert!(header("nothing").is_err());
    }
}
