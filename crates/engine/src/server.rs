//! From a server as it was described to an open session.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcprove_model::oauth::{LoginObstacle, OauthSettings};
use mcprove_model::{Auth, ClientCapabilities, HttpSettings, Node, Sandbox, ServerSpec, Span, Target};
use mcprove_suite::template::{FIXTURE, Variables, substitute, substitute_text};
use mcprove_wire::{
    AwsSigner, Closing, Endpoint, HttpClient, HttpRoute, Limits, OpenFailure, Program, Refusal, SandboxPolicy,
    SandboxSupport, Session, SessionOptions, Stage, TEMPORARY, TokenSource, Tokens, refusal_in, sandbox_support,
    wait_until_reachable, writable_paths,
};
use serde_json::Value;
use tokio::time::Instant;

use crate::container::{DOCKER, VariablesFile, contain};
use crate::mock_files::{MockFiles, PlayOptions};

/// The least time that a server which refused to start confined may take to start unconfined. One that was too slow has the same
/// time again.
const FREE_START: Duration = Duration::from_secs(10);

/// The time that a person has to log in.
const FOR_A_PERSON: Duration = Duration::from_mins(5);

/// The pause between two tries to open a session with a server that may still be starting.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// Everything that opening a session needs besides the server's description.
#[derive(Clone, Debug)]
pub(crate) struct Opener {
    /// The running program, which a suite may name as a server.
    pub(crate) own_program: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) http: HttpClient,
    /// Clients of servers whose requests are made in another way; servers with the same settings share one.
    pub(crate) configured: Arc<Mutex<Vec<(HttpSettings, HttpClient)>>>,
    pub(crate) probe_timeout: Duration,
    /// The tokens that were given out to clients with credentials.
    pub(crate) tokens: Tokens,
    /// The files that are played as servers.
    pub(crate) played: MockFiles,
    /// True if recordings are made anew, from the servers that they name.
    pub(crate) refreshes: bool,
}

impl Opener {
    pub(crate) fn new(own_program: &Path, limits: Limits, probe_timeout: Duration) -> Self {
        Self {
            own_program: own_program.to_owned(),
            limits,
            http: HttpClient::default(),
            configured: Arc::default(),
            probe_timeout,
            tokens: Tokens::default(),
            played: MockFiles::default(),
            refreshes: false,
        }
    }

    /// The same, with connections of its own.
    pub(crate) fn for_thread(&self) -> Self {
        Self { http: HttpClient::default(), configured: Arc::default(), ..self.clone() }
    }

    /// Opens a session; a server that may still be starting is waited for.
    pub(crate) async fn open(
        &self,
        server: &ServerSpec,
        variables: &Variables,
        deadline: Instant,
    ) -> Result<Session, Box<OpenFailure>> {
        let Some(ready) = &server.ready else { return self.open_once(server, variables, deadline).await };
        let until = (Instant::now() + ready.within).min(deadline);
        if let Some(probe) = &ready.probe
            && let Err(reason) = wait_until_reachable(probe, &self.http, until - Instant::now()).await
        {
            return Err(not_opened(reason, "start the server, or raise `wait_for_ready`"));
        }
        loop {
            let opened = Box::pin(self.open_once(server, variables, deadline)).await;
            if opened.is_ok() || ready.probe.is_some() || Instant::now() + BETWEEN_TRIES >= until {
                return opened;
            }
            tokio::time::sleep(BETWEEN_TRIES).await;
        }
    }

    async fn open_once(
        &self,
        server: &ServerSpec,
        variables: &Variables,
        deadline: Instant,
    ) -> Result<Session, Box<OpenFailure>> {
        let options = SessionOptions {
            limits: self.limits,
            client: filled_in(&server.client, variables),
            protocol: server.protocol,
            probe_timeout: self.probe_timeout,
            accepts_any_handshake: server.accepts_any_shape,
            request_timeout: server.http.as_ref().map(|http| http.timeout),
        };
        // The docker client reads the variables while it starts.
        let (mut endpoint, _variables) = match self.place(server, variables)? {
            Place::Elsewhere(endpoint, variables) => (endpoint, variables),
            Place::Here { file, play } => {
                let transport = self.played.connect(&file, play, &self.limits)?;
                return Box::pin(Session::open(transport, &options, deadline)).await;
            }
        };
        let http = &self.client_for(server, variables)?;
        // Opening is by far the largest future; boxing keeps its size out of its callers.
        let begun = Instant::now();
        let mut opened = Box::pin(Session::connect(&endpoint, http, &options, deadline)).await;
        if let Err(failure) = &mut opened
            && failure.status == Some(401)
            && let Some(TokenSource::Login(login)) = http.tokens()
            && login.can_ask()
        {
            // The time that the person takes is not that of the server.
            let left = deadline.saturating_duration_since(begun);
            opened = match Box::pin(login.log_in(http, FOR_A_PERSON)).await {
                Ok(()) => Box::pin(Session::connect(&endpoint, http, &options, Instant::now() + left)).await,
                Err(obstacle) => Err(not_logged_in(&obstacle)),
            };
        }
        if let Err(failure) = &mut opened
            && let Some(TokenSource::Login(login)) = http.tokens()
            && login.was_interrupted()
        {
            failure.message = format!("no user signed in within {:.0} s", begun.elapsed().as_secs_f64());
            failure.help = Some("raise `--timeout`, or log in before: `mcprove login URL`".to_owned());
        }
        if let (Err(failure), Endpoint::Stdio(program)) = (&mut opened, &mut endpoint)
            && failure.stage != Stage::Start
            && let Some(policy) = program.sandbox.take()
            && !matches!(sandbox_support(), SandboxSupport::Unsupported(_))
        {
            // A start and a handshake, no more: what `doctor` and every host do.
            let (tried, is_late) = (Instant::now(), Instant::now() >= deadline);
            let until = tried + if is_late { begun.elapsed() } else { FREE_START.max(begun.elapsed() * 3) };
            let free = Box::pin(Session::connect(&endpoint, http, &options, until)).await;
            let refusal = refusal_at_start(failure, &policy);
            match free {
                Ok(session) if is_late && refusal.is_none() => {
                    // A second start is faster than the first in any case.
                    let took = tried.elapsed().as_secs_f64();
                    session.close().await;
                    let help = "raise `--timeout`, or add `--no-sandbox` (it may then write as you may)";
                    failure.help = Some(format!("it started without the sandbox in {took:.1} s: {help}"));
                }
                Ok(session) => {
                    session.close().await;
                    explain_confinement(failure, refusal, "it starts without the sandbox");
                }
                // It does not start without the sandbox either, and that is the cause.
                Err(free) if Instant::now() < until && !free.closing.stderr.trim().is_empty() => *failure = free,
                Err(_) if refusal.is_some() => {
                    explain_confinement(failure, refusal, "it may start without the sandbox");
                }
                Err(_) => {}
            }
        }
        let in_docker = matches!(&endpoint, Endpoint::Stdio(program) if program.command == DOCKER);
        opened.map_err(|failure| if in_docker { explain_docker(failure) } else { failure })
    }

    /// The client that requests of a server are made with.
    fn client_for(&self, server: &ServerSpec, variables: &Variables) -> Result<HttpClient, Box<OpenFailure>> {
        let client = match &server.http {
            Some(settings) => self.configured_client(settings, variables),
            None => self.http.clone(),
        };
        match &server.auth {
            None => Ok(self.with_login(client, server, variables, &OauthSettings::default())),
            Some(Auth::Oauth(settings)) => Ok(self.with_login(client, server, variables, settings)),
            Some(Auth::ClientCredentials(credentials)) => Ok(client.with_tokens(self.tokens.source(credentials))),
            Some(Auth::AwsSigV4(scope)) => match AwsSigner::new(scope) {
                Ok(signer) => Ok(client.with_signer(Arc::new(signer))),
                Err(message) => Err(not_opened(message, "fix `aws_sigv4.credentials`, or write the file")),
            },
        }
    }

    /// A client that logs in if the server asks for it, unless the user says what it is asked with.
    fn with_login(
        &self,
        client: HttpClient,
        server: &ServerSpec,
        variables: &Variables,
        settings: &OauthSettings,
    ) -> HttpClient {
        let Target::Remote { url, headers, .. } = &server.target else { return client };
        if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            return client;
        }
        match self.tokens.login(&substitute_text(url, variables), settings) {
            Some(login) => client.with_tokens(login),
            None => client,
        }
    }

    fn configured_client(&self, settings: &HttpSettings, variables: &Variables) -> HttpClient {
        let mut settings = settings.clone();
        let tls = &mut settings.tls;
        let client = tls.client.iter_mut().flat_map(|client| [&mut client.certificate, &mut client.key]);
        for path in tls.ca_bundle.iter_mut().chain(client) {
            *path = substitute_text(path, variables);
        }
        let mut configured = self.configured.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = configured.iter().find(|(known, _)| *known == settings) {
            return client.clone();
        }
        let client = HttpClient::with_settings(settings.clone());
        configured.push((settings, client.clone()));
        client
    }

    /// Where a server is, for those who hold the conversation themselves; `None` where there is nothing to talk to.
    pub(crate) async fn raw_endpoint(
        &self,
        server: &ServerSpec,
        variables: &Variables,
    ) -> Option<crate::conformance::Endpoint> {
        match self.place(server, variables).ok()? {
            Place::Elsewhere(Endpoint::Stdio(program), None) => Some(crate::conformance::Endpoint::Process(program)),
            Place::Elsewhere(Endpoint::Http { url, mut headers }, _) => {
                let client = self.client_for(server, variables).ok()?;
                if let Some(token) = client.bearer_token().await {
                    headers.push(("authorization".to_owned(), format!("Bearer {token}")));
                }
                let route = HttpRoute::Network(client);
                Some(crate::conformance::Endpoint::Http { route, url, headers })
            }
            // A container whose variables are in a file needs that file for as long as it starts.
            Place::Elsewhere(Endpoint::Stdio(_), Some(_))
            | Place::Elsewhere(Endpoint::Sse { .. }, _)
            | Place::Here { .. } => None,
        }
    }

    fn place(&self, server: &ServerSpec, variables: &Variables) -> Result<Place, Box<OpenFailure>> {
        let target = server.refresh.as_deref().filter(|_| self.refreshes).unwrap_or(&server.target);
        let text = |text: &String| substitute_text(text, variables);
        let pairs = |pairs: &[(String, String)]| {
            pairs.iter().map(|(name, value)| (name.clone(), text(value))).collect::<Vec<_>>()
        };
        let mut file = None;
        let endpoint = match target {
            Target::Stdio { command, args, env, cwd, docker } => {
                let (command, args) = split_command(text(command), args.iter().map(text).collect(), cwd.as_deref());
                let program = Program {
                    command,
                    args,
                    env: pairs(env),
                    cwd: cwd.as_ref().map(text),
                    sandbox: server.sandbox.as_ref().map(|sandbox| policy(sandbox, variables)),
                };
                Endpoint::Stdio(match docker.as_ref().map(text) {
                    Some(image) => {
                        let container = contain(program, &image, variables)
                            .map_err(|message| not_opened(message, "fix `docker:` or `env:` of the server"))?;
                        file = container.variables;
                        container.program
                    }
                    None => self.own_or_named(program),
                })
            }
            Target::Remote { transport, url, headers } => Endpoint::remote(*transport, text(url), pairs(headers)),
            Target::Mock { manifest, virtual_time, keep_state } => {
                let play = PlayOptions { virtual_time: *virtual_time, keep_state: *keep_state };
                return Ok(Place::Here { file: text(manifest), play });
            }
            Target::Cassette { path } => return Ok(Place::Here { file: text(path), play: PlayOptions::default() }),
        };
        Ok(Place::Elsewhere(endpoint, file))
    }

    /// A command named `mcprove`, or the mock of a tool whose files we run, means the running program.
    fn own_or_named(&self, mut program: Program) -> Program {
        let is_mock = program.args.first().is_some_and(|arg| arg == "mock");
        let own = match program.command.as_str() {
            "mcprove" => true,
            "mcptest" | "mcp-assert" => is_mock,
            _ => false,
        };
        if own {
            program.command = self.own_program.to_string_lossy().into_owned();
        }
        program
    }
}

/// The program and its arguments: a text with spaces that names no program is split as a shell would.
fn split_command(command: String, args: Vec<String>, cwd: Option<&str>) -> (String, Vec<String>) {
    let is_file = |path: &std::path::Path| path.is_file();
    let named = std::path::Path::new(&command);
    let is_there = is_file(named) || cwd.is_some_and(|cwd| is_file(&std::path::Path::new(cwd).join(named)));
    if is_there || !command.trim().contains(char::is_whitespace) {
        return (command, args);
    }
    match shell_words::split(&command) {
        Ok(words) if !words.is_empty() => {
            let mut words = words.into_iter();
            let program = words.next().unwrap_or_default();
            (program, words.chain(args).collect())
        }
        Ok(_) | Err(_) => (command, args),
    }
}

/// Where a server is, once its templates are filled in.
enum Place {
    /// In a process or at a URL, with the file that a container takes its variables from.
    Elsewhere(Endpoint, Option<VariablesFile>),
    /// In this process: a file says what it answers.
    Here { file: String, play: PlayOptions },
}

/// Paths that a server may write to: its fixture copy and what is listed.
pub(crate) fn policy(sandbox: &Sandbox, variables: &Variables) -> SandboxPolicy {
    let mut writable: Vec<PathBuf> =
        sandbox.writable.iter().map(|path| PathBuf::from(substitute_text(path, variables))).collect();
    if let Some(Value::String(fixture)) = variables.get(FIXTURE) {
        // The folder around the copy: the copy itself may be made anew while the server runs.
        writable.extend(Path::new(fixture).parent().filter(|folder| is_own(folder)).map(Path::to_owned));
    }
    SandboxPolicy { writable, required: sandbox.required }
}

/// True for a temporary folder that mcprove made.
fn is_own(folder: &Path) -> bool {
    folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(TEMPORARY))
}

/// A refusal of the sandbox in what a server wrote before it ended.
fn refusal_at_start(failure: &OpenFailure, policy: &SandboxPolicy) -> Option<Refusal> {
    let folder = std::env::current_dir().unwrap_or_default();
    refusal_in(&failure.closing.stderr, &folder, &writable_paths(policy))
}

/// Says of a server that starts only without the sandbox what it was refused, and the way out.
fn explain_confinement(failure: &mut OpenFailure, refusal: Option<Refusal>, hope: &str) {
    let why = refusal.map(|refusal| format!(": {refusal}")).unwrap_or_default();
    failure.message = format!("the server does not start in mcprove's sandbox{why}; {}", failure.message);
    failure.help = Some(format!("{hope}: add `--no-sandbox` (it may then write as you may)"));
}

/// A server that no connection is made to.
fn not_opened(message: String, help: &str) -> Box<OpenFailure> {
    Box::new(OpenFailure {
        stage: Stage::Start,
        message,
        help: Some(help.to_owned()),
        evidence: None,
        status: None,
        again: None,
        closing: Closing::default(),
    })
}

/// A server without a login.
fn not_logged_in(obstacle: &LoginObstacle) -> Box<OpenFailure> {
    let failure = not_opened(obstacle.message(), &obstacle.help);
    Box::new(OpenFailure { stage: Stage::Handshake, status: Some(401), ..*failure })
}

/// Says what docker itself lacks; its own last line is only a pointer to its help.
fn explain_docker(mut failure: Box<OpenFailure>) -> Box<OpenFailure> {
    if failure.stage == Stage::Start {
        "the docker client was not found".clone_into(&mut failure.message);
        failure.help = Some("install it, or leave out `docker`".to_owned());
    } else if failure.closing.stderr.contains("Cannot connect to the Docker daemon") {
        "the docker engine cannot be reached".clone_into(&mut failure.message);
        failure.help = Some("start it (try `docker info`), or leave out `docker`".to_owned());
    } else if let Some(line) = failure.closing.stderr.lines().find(|line| line.starts_with("docker: ")) {
        line.clone_into(&mut failure.message);
    }
    failure
}

/// The client's side with its templates filled in.
fn filled_in(client: &ClientCapabilities, variables: &Variables) -> ClientCapabilities {
    let mut client = client.clone();
    for root in client.roots.iter_mut().chain(&mut client.roots_changed).flatten() {
        *root = substitute_text(root, variables);
    }
    for reply in &mut client.sampling {
        reply.text = substitute_text(&reply.text, variables);
    }
    for reply in client.elicitation.iter_mut().chain(&mut client.further_elicitations) {
        let content = Node::from_json(Span::default(), std::mem::take(&mut reply.content));
        reply.content = substitute(&content, variables).to_json();
    }
    client
}
