//! State shared by all work on a server.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use mcprove_judge::fuzz::{EnvironmentValues, Evidence, FuzzExchange, FuzzVerdict, signature, verdict};
use mcprove_judge::generate::Oracle;
use mcprove_judge::unhandled_exception::unhandled;
use mcprove_model::{Exchange, Observation, Outcome, ServerSpec, Target};
use mcprove_suite::template::Variables;
use mcprove_wire::{OpenFailure, Refusal, Session};
use serde_json::Value;
use tokio::time::Instant;

use crate::discover::tool_name;
use crate::fixture_guard::FixtureGuard;
use crate::sandbox_refusals::SandboxRules;
use crate::server::Opener;
use crate::stop::Stop;

/// Time a server may take to exit once its input is closed: there are many, and their exit status is not of interest.
const EXIT_GRACE: Duration = Duration::from_millis(100);

/// The shortest deadline that distinguishes a hang from a short delay.
const SHORTEST_WAIT: Duration = Duration::from_millis(250);

/// Start of the message about a crash that only shows on standard error.
pub(crate) const NO_ANSWER: &str = "no answer, and on standard error";

/// State shared by all work on a server.
#[derive(Debug)]
pub(crate) struct FuzzContext {
    opener: Opener,
    server: ServerSpec,
    variables: Variables,
    start: Duration,
    pub(crate) timeout: Duration,
    pub(crate) attempts: usize,
    pub(crate) strict_input: bool,
    pub(crate) keep_frames: bool,
    environment: Arc<EnvironmentValues>,
    pub(crate) stop: Stop,
    until: Option<Instant>,
    calls: AtomicUsize,
    counter: Arc<AtomicUsize>,
    /// The first refusal of the sandbox.
    refused: Arc<OnceLock<Refusal>>,
}

/// Parameters of a fuzz context.
pub(crate) struct FuzzSettings {
    pub(crate) opener: Opener,
    pub(crate) server: ServerSpec,
    pub(crate) variables: Variables,
    /// Time a server may take to start.
    pub(crate) start: Duration,
    /// Time a call may take.
    pub(crate) timeout: Duration,
    pub(crate) attempts: usize,
    pub(crate) strict_input: bool,
    pub(crate) keep_frames: bool,
    pub(crate) environment: Arc<[String]>,
    pub(crate) stop: Stop,
    pub(crate) until: Option<Instant>,
    /// Counts the calls of the whole run.
    pub(crate) counter: Arc<AtomicUsize>,
}

/// The values that no reply of a server should hold: secrets of the caller's environment, and those that it was given.
pub(crate) fn server_values(server: &ServerSpec, environment: &[String]) -> EnvironmentValues {
    let mut values = environment.to_vec();
    if let Target::Stdio { env, .. } = &server.target {
        values.extend(env.iter().map(|(_, value)| value.clone()));
    }
    EnvironmentValues::new(&values)
}

impl FuzzContext {
    pub(crate) fn new(mut tools: FuzzSettings) -> Self {
        tools.opener.limits.exit_grace = tools.opener.limits.exit_grace.min(EXIT_GRACE);
        let environment = Arc::new(server_values(&tools.server, &tools.environment));
        Self {
            opener: tools.opener,
            server: tools.server,
            variables: tools.variables,
            start: tools.start,
            timeout: tools.timeout,
            attempts: tools.attempts,
            strict_input: tools.strict_input,
            keep_frames: tools.keep_frames,
            environment,
            stop: tools.stop,
            until: tools.until,
            calls: AtomicUsize::new(0),
            counter: tools.counter,
            refused: Arc::default(),
        }
    }

    /// The first thing that the sandbox refused the server and that it died of.
    pub(crate) fn refused(&self) -> Option<&Refusal> {
        self.refused.get()
    }

    /// Starts a server.
    pub(crate) async fn open(&self) -> Result<Session, Box<OpenFailure>> {
        self.opener.open(&self.server, &self.variables, Instant::now() + self.start).await
    }

    /// Starts a server on a copy of the fixture, with a folder for its temporary files if one is given.
    pub(crate) async fn open_in(
        &self,
        guard: &FixtureGuard,
        temporary: Option<&Path>,
    ) -> Result<Session, Box<OpenFailure>> {
        let mut server = guard.writable_for(&self.server);
        if let (Some(folder), Target::Stdio { env, .. }) = (temporary, &mut server.target) {
            let folder = folder.to_string_lossy().into_owned();
            if let Some(sandbox) = &mut server.sandbox {
                sandbox.writable.push(folder.clone());
            }
            env.push(("TMPDIR".to_owned(), folder));
        }
        self.opener.open(&server, guard.variables(), Instant::now() + self.start).await
    }

    /// True if nothing more is to be done: the user, or the time, says so.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_stopped() || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Why nothing more is to be done, where that is so.
    pub(crate) fn why_over(&self) -> &'static str {
        if self.stop.is_stopped() { "the run was interrupted" } else { "the time was over" }
    }

    /// Time calls may take when a hang is only reproduced.
    pub(crate) fn short_wait(&self) -> Duration {
        (self.timeout / 10).max(SHORTEST_WAIT).min(self.timeout)
    }

    pub(crate) fn count_calls(&self, calls: usize) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
        self.counter.fetch_add(calls, Ordering::Relaxed);
    }

    /// Number of calls made so far.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Schemas and rules to judge a tool's replies.
    pub(crate) fn reply_judge(&self, tool: &Value) -> ReplyJudge {
        let oracle = |key: &str| tool.get(key).and_then(|schema| Oracle::new(schema).ok());
        ReplyJudge {
            name: tool_name(tool).to_owned(),
            input: oracle("inputSchema"),
            output: oracle("outputSchema"),
            environment: Arc::clone(&self.environment),
            rules: SandboxRules::of(&self.server, &self.variables),
            refused: Arc::clone(&self.refused),
        }
    }
}

/// Schemas and rules to judge a tool's replies, compiled once.
#[derive(Debug)]
pub(crate) struct ReplyJudge {
    pub(crate) name: String,
    input: Option<Oracle>,
    output: Option<Oracle>,
    environment: Arc<EnvironmentValues>,
    /// Rules of the sandbox; its refusals are not failures of the server.
    rules: Option<SandboxRules>,
    refused: Arc<OnceLock<Refusal>>,
}

/// A call that was made, and whether the server was still there afterwards, where that was asked.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) exchange: Exchange,
    pub(crate) alive_after: Option<bool>,
    /// Standard error of the server, if it did not answer.
    pub(crate) stderr: String,
}

impl Called {
    /// A call of which only its end is known.
    pub(crate) fn ended(outcome: Outcome) -> Self {
        let method = "tools/call".to_owned();
        let exchange = Exchange { method, request: Bytes::new(), reply: None, outcome, elapsed_us: 0 };
        Self { exchange, alive_after: None, stderr: String::new() }
    }

    /// True if nothing came.
    pub(crate) fn is_silence(&self) -> bool {
        matches!(self.exchange.outcome, Outcome::TimedOut { .. })
    }
}

impl ReplyJudge {
    /// True if the input schema accepts arguments.
    pub(crate) fn accepts(&self, arguments: &Value) -> bool {
        self.input.as_ref().is_none_or(|input| input.accepts(arguments))
    }

    /// Verdict on a call.
    pub(crate) fn verdict(&self, called: &Called, arguments: &Value, accepted: bool) -> FuzzVerdict {
        match (self.unexcused(called, arguments, accepted), &self.rules) {
            (FuzzVerdict::Crash(crash), Some(rules)) => {
                let seen = Observation::of_tool_call(called.exchange.outcome.clone());
                match rules.refusal(&seen, &called.stderr) {
                    Some(refusal) => {
                        self.refused.get_or_init(|| refusal);
                        FuzzVerdict::Handled
                    }
                    None => FuzzVerdict::Crash(crash),
                }
            }
            (verdict, _) => verdict,
        }
    }

    fn unexcused(&self, called: &Called, arguments: &Value, accepted: bool) -> FuzzVerdict {
        // A task that dies takes its answer with it, while the rest of the server lives on.
        if called.is_silence()
            && let Some(told) = unhandled(&called.stderr, arguments).and_then(|told| told.lines().next())
        {
            return FuzzVerdict::Crash(Evidence::new(&format!("{NO_ANSWER}: {}", told.trim())));
        }
        verdict(&FuzzExchange {
            outcome: &called.exchange.outcome,
            arguments,
            alive_after: called.alive_after,
            accepted,
            output_schema: self.output.as_ref(),
            environment_values: &self.environment,
        })
    }

    /// The key under which failures of the same cause are one.
    pub(crate) fn signature(&self, verdict: &FuzzVerdict) -> Option<String> {
        signature(&self.name, verdict)
    }
}

#[cfg(test)]
mod tests {
    use mcprove_judge::fuzz::leak_in;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_server_was_given_is_a_leak_in_its_replies() {
        let server = |env: Vec<(String, String)>| ServerSpec {
            target: Target::Stdio { command: "s".to_owned(), args: Vec::new(), env, cwd: None, docker: None },
            ..ServerSpec::default()
        };
        let reply = Outcome::Result(json!({"content": [{"type": "text", "text": "the token is Zx9Qwerty77zz"}]}));
        let leaks = |server: &ServerSpec| leak_in(&reply, &json!({}), &server_values(server, &[])).is_some();
        assert!(leaks(&server(vec![("TOK".to_owned(), "Zx9Qwerty77zz".to_owned())])));
        assert!(!leaks(&server(Vec::new())));
    }
}
