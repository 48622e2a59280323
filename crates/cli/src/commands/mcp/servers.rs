//! The servers that may be started: those that a suite, a client's configuration or the command line names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcprove_model::{ServerSpec, Target, nearest};
use serde_json::{Map, Value, json};

use super::folder::Folder;
use crate::client_config;
use crate::failure::Failure;
use crate::subject::{Subject, stdio, words};
use crate::suites::{DEFAULT_SUITES, load_as_written};

/// Configuration files of clients that belong to a folder.
const CONFIGS: &[&str] = &[".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"];

/// A server that may be started.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) name: String,
    /// The file that names it.
    pub(super) source: String,
    pub(super) spec: Arc<ServerSpec>,
}

/// Where servers are named. They are looked up for each request, because files change.
#[derive(Debug)]
pub(super) struct Servers {
    root: PathBuf,
    configs: Vec<PathBuf>,
    allowed: Vec<Known>,
    /// A server that comes with mcprove, for a folder that names none.
    example: Known,
}

impl Servers {
    pub(super) fn new(
        folder: &Folder,
        configs: &[PathBuf],
        allowed: &[String],
        own_program: &Path,
    ) -> Result<Self, Failure> {
        if let Some(missing) = configs.iter().find(|path| !path.is_file()) {
            let message = format!("the configuration `{}` is not a file", missing.display());
            return Err(Failure::new(
                message,
                "name a file such as `.mcp.json`; the path is taken from the current folder",
            ));
        }
        if let Some(empty) = configs.iter().find(|path| client_config::names(path).is_empty()) {
            let message = format!("the configuration `{}` names no server", empty.display());
            return Err(Failure::new(message, "name a file with `mcpServers`, such as `.mcp.json`"));
        }
        let of_folder = CONFIGS.iter().map(|name| folder.root().join(name)).filter(|path| path.is_file());
        let configs = configs.iter().cloned().chain(of_folder).collect();
        let allowed = allowed.iter().map(|text| allowed_server(text)).collect::<Result<_, _>>()?;
        Ok(Self { root: folder.root().to_owned(), configs, allowed, example: example(own_program) })
    }

    /// All of them, each name once: the command line wins over configurations, and those over suites.
    pub(super) fn all(&self) -> Vec<Known> {
        let mut known = self.allowed.clone();
        for path in &self.configs {
            known.extend(configured(path));
        }
        known.extend(self.of_suites());
        let mut unique: Vec<Known> = Vec::new();
        for server in known {
            if unique.iter().all(|other| other.name != server.name) {
                unique.push(server);
            }
        }
        if unique.is_empty() {
            unique.push(self.example.clone());
        }
        unique
    }

    /// The server of a name.
    pub(super) fn find(&self, name: &str) -> Result<Known, String> {
        let known = self.all();
        if let Some(server) = known.iter().find(|server| server.name == name) {
            return Ok(server.clone());
        }
        let names: Vec<&str> = known.iter().map(|server| server.name.as_str()).collect();
        Err(match nearest(name, names.iter().copied()) {
            Some(near) => format!("unknown server `{name}`; did you mean `{near}`?"),
            None if names == [EXAMPLE] => format!(
                "unknown server `{name}`: no suite and no configuration names one; `mcprove mcp --add-server NAME=CMD` does, \
                 and `{EXAMPLE}` is a server to try the tools on"
            ),
            None => format!("unknown server `{name}`; the servers are {}", names.join(", ")),
        })
    }

    /// The reason why the server of a test is none of those that may be started.
    pub(super) fn refusal(&self, spec: &ServerSpec) -> Option<Refusal> {
        let known: Vec<Known> = self.of_suites().into_iter().chain(self.all()).collect();
        let mut same = known.iter().filter(|known| same(&known.spec.target, &spec.target)).peekable();
        if same.peek().is_none() {
            let mut added = known.iter().filter_map(|known| added(&known.spec.target, &spec.target));
            return Some(added.next().map_or(Refusal::Unknown, |name| Refusal::Variable(name.to_owned())));
        }
        let mut settings: Vec<Option<&'static str>> = same.map(|known| changed(&known.spec, spec)).collect();
        settings.sort_unstable();
        settings.first().copied().flatten().map(Refusal::Setting)
    }

    /// The files that name servers: suites of the folder, and configurations.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.suites().into_iter().chain(self.configs.iter().cloned()).collect()
    }

    fn suites(&self) -> Vec<PathBuf> {
        DEFAULT_SUITES.iter().map(|name| self.root.join(name)).filter(|path| path.exists()).collect()
    }

    fn of_suites(&self) -> Vec<Known> {
        let paths = self.suites();
        let mut known: Vec<Known> = Vec::new();
        for case in load_as_written(&paths).cases {
            for spec in case.servers() {
                let repeats = |other: &Known| {
                    other.name == spec.name && other.spec.target == spec.target && changed(&other.spec, spec).is_none()
                };
                if known.iter().any(repeats) {
                    continue;
                }
                let source = Path::new(case.source.path());
                let source = source.strip_prefix(&self.root).unwrap_or(source).display().to_string();
                known.push(Known { name: spec.name.clone(), source, spec: Arc::clone(spec) });
            }
        }
        known
    }
}

impl Known {
    /// True if it can be started outside a run: nothing of it waits for a fixture.
    pub(super) fn is_whole(&self) -> bool {
        !format!("{:?}", self.spec.target).contains("{{")
    }

    /// The reason why a configuration of a client cannot name it.
    pub(super) fn only_in_suites(&self) -> Option<&'static str> {
        match (&self.spec.target, &self.spec.auth) {
            (Target::Stdio { docker: Some(_), .. }, _) => Some("is started in a container"),
            (_, Some(_)) => Some("needs the `auth` of its suite"),
            _ => None,
        }
    }

    /// As an entry of a list. Values of variables and headers may be secrets.
    pub(super) fn listed(&self) -> Value {
        let mut entry = json!({"name": self.name, "transport": self.spec.target.transport(), "source": self.source});
        if !self.is_whole() {
            entry["only_in"] = "run_suite, because it needs a fixture".into();
        }
        entry
    }

    /// The configuration of a client that names it, for another mcprove.
    pub(super) fn configuration(&self) -> Value {
        let pairs = |pairs: &[(String, String)]| -> Map<String, Value> {
            pairs.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect()
        };
        let entry = match &self.spec.target {
            Target::Stdio { command, args, env, cwd, .. } => {
                json!({"command": command, "args": args, "env": pairs(env), "cwd": cwd})
            }
            Target::Remote { transport, url, headers } => {
                json!({"type": transport.name(), "url": url, "headers": pairs(headers)})
            }
            Target::Mock { manifest, .. } => json!({"command": "mcprove", "args": ["mock", "--tools-from", manifest]}),
            Target::Cassette { path } => json!({"command": "mcprove", "args": ["mock", "--tools-from", path]}),
        };
        let Value::Object(mut entry) = entry else { return entry };
        entry.retain(|_, value| !value.is_null());
        json!({"mcpServers": {"server": entry}})
    }
}

/// The reason why a server of a test may not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No suite and no configuration names it.
    Unknown,
    /// It has this variable with a value that it has nowhere else.
    Variable(String),
    /// This key differs from where the server is named.
    Setting(&'static str),
}

/// Name of the server that comes with mcprove.
const EXAMPLE: &str = "example";

fn example(own_program: &Path) -> Known {
    let command = [own_program.display().to_string(), "mock".to_owned(), "--conforming".to_owned()];
    let spec = ServerSpec {
        name: EXAMPLE.to_owned(),
        target: stdio(command.into(), Vec::new(), None),
        ..ServerSpec::default()
    };
    Known { name: EXAMPLE.to_owned(), source: "built in".to_owned(), spec: Arc::new(spec) }
}

/// True if both start or reach the same. A test may leave variables out, but not add or change them: they decide what a program
/// loads and starts.
fn same(known: &Target, of_test: &Target) -> bool {
    match (known, of_test) {
        (Target::Stdio { .. }, Target::Stdio { .. }) => same_command(known, of_test) && added(known, of_test).is_none(),
        (Target::Remote { url, .. }, Target::Remote { url: url2, .. }) => url == url2,
        (one, other) => one == other,
    }
}

fn same_command(one: &Target, other: &Target) -> bool {
    let (
        Target::Stdio { command, args, cwd, docker, .. },
        Target::Stdio { command: command2, args: args2, cwd: cwd2, docker: docker2, .. },
    ) = (one, other)
    else {
        return false;
    };
    command == command2 && args == args2 && cwd == cwd2 && docker == docker2
}

/// The first setting of a test's server that the known one does not have: it could send secrets elsewhere, or lift a confinement.
fn changed(known: &ServerSpec, of_test: &ServerSpec) -> Option<&'static str> {
    let probe = |spec: &ServerSpec| spec.ready.as_ref().and_then(|ready| ready.probe.clone());
    let changes = [
        ("auth", of_test.auth.is_some() && of_test.auth != known.auth),
        ("http", of_test.http.is_some() && of_test.http != known.http),
        ("sandbox", known.sandbox.is_some() && of_test.sandbox != known.sandbox),
        ("wait_for_ready", probe(of_test).is_some() && probe(of_test) != probe(known)),
    ];
    changes.into_iter().find_map(|(key, is_changed)| is_changed.then_some(key))
}

/// The first variable of a test that the known server does not have.
fn added<'t>(known: &Target, of_test: &'t Target) -> Option<&'t str> {
    if !same_command(known, of_test) {
        return None;
    }
    let (Target::Stdio { env: known, .. }, Target::Stdio { env, .. }) = (known, of_test) else { return None };
    env.iter().find(|pair| !known.contains(pair)).map(|(name, _)| name.as_str())
}

fn configured(path: &Path) -> Vec<Known> {
    let mut known = Vec::new();
    for name in client_config::names(path) {
        let Ok(spec) = Subject::of_client_config(path.to_owned(), Some(name.clone())).spec() else { continue };
        let spec = ServerSpec { name: name.clone(), ..spec };
        known.push(Known { name, source: path.display().to_string(), spec: Arc::new(spec) });
    }
    known
}

fn allowed_server(text: &str) -> Result<Known, Failure> {
    let Some((name, line)) = text.split_once('=').filter(|(name, line)| !name.is_empty() && !line.is_empty()) else {
        return Err(Failure::new("an `--add-server` has no name", "write `--add-server NAME=CMD ARGS`"));
    };
    let target = stdio(words("--add-server", line)?, Vec::new(), None);
    let secrets = target.credentials().iter().map(|found| found.value.to_owned()).collect();
    let spec = ServerSpec { name: name.to_owned(), target, secrets, ..ServerSpec::default() };
    Ok(Known { name: name.to_owned(), source: "--add-server".to_owned(), spec: Arc::new(spec) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(command: &str, env: &[(&str, &str)]) -> Target {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Target::Stdio { command: command.to_owned(), args: Vec::new(), env, cwd: None, docker: None }
    }

    #[test]
    fn the_secrets_of_a_configuration_and_of_a_command_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(".mcp.json");
        let text = r#"{"mcpServers": {"s": {"command": "server", "env": {"TOKEN": "t0ken-of-mine"}}}}"#;
        std::fs::write(&path, text).expect("written");
        let known = configured(&path);
        assert_eq!(known.iter().map(|known| known.spec.secrets.clone()).collect::<Vec<_>>(), [["t0ken-of-mine"]]);
        let allowed = allowed_server("s=server --token t0ken-of-mine").map(|known| known.spec.secrets.clone());
        assert_eq!(allowed.ok(), Some(vec!["t0ken-of-mine".to_owned()]));
    }

    #[test]
    fn a_test_does_not_change_what_is_sent_where_or_lift_a_sandbox() {
        use mcprove_model::{Auth, ClientCredentials, HttpSettings, Ready, Sandbox, WaitFor};
        let plain = ServerSpec { target: target("server", &[]), ..ServerSpec::default() };
        assert_eq!(changed(&plain, &plain), None);
        let login = ClientCredentials {
            token_endpoint: "https://elsewhere.example/token".to_owned(),
            client_id: "id".to_owned(),
            client_secret: "secret".to_owned(),
            scope: None,
        };
        let with_auth = ServerSpec { auth: Some(Auth::ClientCredentials(login)), ..plain.clone() };
        let with_http = ServerSpec { http: Some(HttpSettings::default()), ..plain.clone() };
        let confined = ServerSpec { sandbox: Some(Sandbox::default()), ..plain.clone() };
        let ready = Ready { within: std::time::Duration::ZERO, probe: WaitFor::parse("http://elsewhere.example/") };
        let probed = ServerSpec { ready: Some(ready), ..plain.clone() };
        for (key, spec) in [("auth", &with_auth), ("http", &with_http), ("wait_for_ready", &probed)] {
            assert_eq!(changed(&plain, spec), Some(key));
            assert_eq!(changed(spec, spec), None, "{key}");
            assert_eq!(changed(spec, &plain), None, "{key} may be left out");
        }
        assert_eq!(changed(&confined, &plain), Some("sandbox"));
        assert_eq!(changed(&plain, &confined), None);
    }

    #[test]
    fn a_test_repeats_or_leaves_out_variables() {
        let known = target("server", &[("MODE", "test"), ("EDITOR", "vi")]);
        assert!(same(&known, &target("server", &[])));
        assert!(same(&known, &target("server", &[("MODE", "test")])));
        assert!(!same(&known, &target("other", &[])));
        for (name, value) in
            [("EDITOR", "touch x"), ("DOTNET_STARTUP_HOOKS", "x"), ("GIT_SSH_COMMAND", "x"), ("PATH", "x")]
        {
            let changed = target("server", &[("MODE", "test"), (name, value)]);
            assert!(!same(&known, &changed), "{name}");
            assert_eq!(added(&known, &changed), Some(name));
        }
    }
}
