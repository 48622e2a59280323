//! `mcprove intercept`: between a client and a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mcprove_engine::{Interception, InterceptionEnd, InterceptionOptions, ObservedClient};
use mcprove_model::{
    ClientCapabilities, ElicitationAction, ElicitationReply, ExitStatus, FaultRule, ProcessEnd, Protocol, Redactor,
    Remote, SamplingReply, ServerSpec, Target,
};
use mcprove_report::Verbosity;
use mcprove_suite::recorded::{Recorded, RecordedCall, RecordedRequest, WrittenSuite, suite_of};
use mcprove_suite::trajectories::{WantedTrajectory, trajectories};
use mcprove_suite::{duration, load};
use mcprove_wire::{
    ClientEnds, HttpRelay, Injector, Order, Program, RelayEnd, Tap, TappedMessages, Upstream, Why, pass_readable,
    relay_stdio,
};
use serde_json::{Value, json};
use tokio::io::AsyncRead;
use tokio::sync::mpsc;

use crate::atomic_write;
use crate::context::Context;
use crate::execution::runtime;
use crate::failure::Failure;
use crate::interception_log::{InterceptionLog, LiveCalls};
use crate::subject::Subject;

/// Pass on the traffic of a client and a server, and record it.
#[derive(Debug, clap::Args)]
#[command(mut_arg("protocol", |protocol| protocol.hide(true)))]
#[command(
    after_help = "Put it in front of the server's command in the client's configuration, or give the client the \
                  address it prints. Every byte is passed on as it came, except with \
                  `--strict` and `--fault`. When one side closes, the other is closed. \
                  Without `--events`, `--as-suite` or `--trajectory` nothing is \
                  recorded.\n\nExamples:\n  mcprove intercept --events run.ndjson -- npx -y my-server\n  mcprove intercept --trajectory \
                  calls.yaml --events run.ndjson -- npx -y my-server\n  mcprove intercept --as-suite recorded.yaml -- \
                  npx -y my-server\n  mcprove intercept --fault search=hang --fault flaky:30 -- npx -y my-server\n  mcprove intercept --http 127.0.0.1:8080 --url https://example.com/mcp"
)]
pub(crate) struct Args {
    /// Listen address for the clients of a `--url`; port 0 takes a free one [default: 127.0.0.1:0].
    #[arg(long, value_name = "HOST:PORT", requires = "url")]
    http: Option<String>,
    /// Judge the calls at the end by the `trajectory` of this file; may be repeated.
    #[arg(long, value_name = "FILE")]
    trajectory: Vec<PathBuf>,
    /// Record the whole conversation in a log file.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Write a suite that makes the same requests and expects the same answers.
    #[arg(long, value_name = "FILE")]
    as_suite: Option<PathBuf>,
    /// Do not forward client messages that cannot be parsed (stdio only).
    #[arg(long, conflicts_with = "url")]
    strict: bool,
    /// Inject a fault, for every tool or for one: `mcprove explain faults` lists them; may be repeated.
    #[arg(long, value_name = "[TOOL=]KIND")]
    fault: Vec<FaultRule>,
    /// Seed of faults that depend on chance, and of canaries.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "fault")]
    seed: u64,
    /// End the conversation after this time.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,
    #[command(flatten)]
    subject: Subject,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let server = args.subject.spec()?;
    if server.protocol != Protocol::Legacy {
        return Err(Failure::new("`--protocol` has no effect here", "the client chooses the revision; leave it out"));
    }
    let wanted = wanted(&args.trajectory)?;
    let redactor = redactor_of(&server);
    let log = InterceptionLog::new(args.events.as_deref(), redactor.clone(), context)?;
    let listening = InterceptRun { args, context, server: &server, redactor, log };
    let runtime = runtime(2)?;
    let code = match server.target.clone() {
        Target::Stdio { command, args: words, env, cwd, docker: _ } => {
            let program = Program { command, args: words, env, cwd, sandbox: None };
            runtime.block_on(listening.stdio(program, wanted))
        }
        Target::Remote { transport: Remote::Http, url, headers } => {
            runtime.block_on(listening.http(&url, headers, wanted))
        }
        Target::Remote { .. } | Target::Mock { .. } | Target::Cassette { .. } => {
            Err(Failure::new("only stdio and Streamable HTTP can be intercepted", "leave `--transport sse` out"))
        }
    };
    // A pending read of standard input would keep the runtime from ending.
    runtime.shutdown_background();
    code
}

fn wanted(paths: &[PathBuf]) -> Result<Vec<WantedTrajectory>, Failure> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let (files, mut findings) = load::parse(paths);
    let (wanted, problems) = trajectories(&files);
    findings.extend(problems);
    if findings.iter().any(|finding| finding.fails(false)) {
        return Err(Failure::Suite(findings));
    }
    Ok(wanted)
}

/// Header fields that the user adds are the only secrets we know of.
fn redactor_of(server: &ServerSpec) -> Redactor {
    let headers = match &server.target {
        Target::Remote { headers, .. } => headers.as_slice(),
        Target::Stdio { .. } | Target::Mock { .. } | Target::Cassette { .. } => &[],
    };
    let values = headers.iter().flat_map(|(_, value)| [value.as_str(), value.rsplit(' ').next().unwrap_or_default()]);
    let credentials = server.target.credentials();
    let credentials = credentials.iter().map(|credential| credential.value);
    Redactor::new(values.chain(server.secrets.iter().map(String::as_str)).chain(credentials))
}

struct InterceptRun<'a> {
    args: &'a Args,
    context: &'a Context,
    server: &'a ServerSpec,
    redactor: Redactor,
    log: InterceptionLog,
}

/// End of a conversation.
enum Ending {
    Stdio(RelayEnd),
    Http,
}

impl InterceptRun<'_> {
    async fn stdio(mut self, program: Program, wanted: Vec<WantedTrajectory>) -> Result<u8, Failure> {
        let (tap, mut heard) = Tap::pair();
        let mut orders = orders(self.args.timeout)?;
        let limits = self.context.limits;
        let input = self.input();
        let ends = ClientEnds { input, output: tokio::io::stdout(), stderr: tokio::io::stderr() };
        let faults = self.faults();
        let relay =
            tokio::spawn(
                async move { relay_stdio(&program, ends, (&tap, faults.as_ref()), &mut orders, limits).await },
            );
        let interception = self.begin("stdio", wanted);
        let (interception, live) = self.listen(interception, &mut heard).await;
        let end = match relay.await {
            Ok(Ok(end)) => end,
            Ok(Err(error)) => return Err(Failure::new(error.to_string(), error.help())),
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        };
        self.end(interception, live, Ending::Stdio(end)).await
    }

    /// The faults that are injected, if any.
    fn faults(&self) -> Option<Injector> {
        (!self.args.fault.is_empty()).then(|| Injector::new(self.args.fault.clone(), self.args.seed))
    }

    /// The client's input; with `--strict`, only the part that can be parsed.
    fn input(&self) -> Box<dyn AsyncRead + Send + Unpin> {
        if !self.args.strict {
            return Box::new(tokio::io::stdin());
        }
        let (readable, input) = tokio::io::duplex(64 << 10);
        let (context, limits) = (self.context.clone(), self.context.limits);
        tokio::spawn(async move {
            pass_readable(tokio::io::stdin(), readable, limits, |_| {
                context.write_stderr("mcprove: a message of the client cannot be read and was not passed on\n");
            })
            .await;
        });
        Box::new(input)
    }

    async fn http(
        mut self,
        url: &str,
        headers: Vec<(String, String)>,
        wanted: Vec<WantedTrajectory>,
    ) -> Result<u8, Failure> {
        let upstream = Upstream::new(url, headers).map_err(|error| Failure::new(error, "fix the URL"))?;
        let upstream = match self.faults() {
            Some(faults) => upstream.with_faults(faults),
            None => upstream,
        };
        let (tap, mut heard) = Tap::pair();
        let mut orders = orders(self.args.timeout)?;
        let address = self.args.http.as_deref().unwrap_or("127.0.0.1:0");
        let relay = HttpRelay::listen(address, upstream, tap, self.context.limits).await.map_err(|error| {
            Failure::new(
                format!("`{address}` cannot be listened on: {error}"),
                "give `--http` an address of this machine and a free port, as in 127.0.0.1:0",
            )
        })?;
        self.context.write_stderr(&format!("listening on {}\n", self.redactor.text(&relay.url())));
        let (complaints, mut complained) = mpsc::unbounded_channel();
        let running = tokio::spawn(async move {
            let stopped = async move {
                orders.recv().await;
            };
            // The receiver is gone once the relay is over.
            relay.run(stopped, |complaint| drop(complaints.send(complaint.to_owned()))).await;
        });
        let interception = self.begin("http", wanted);
        let context = self.context;
        let tell = async {
            while let Some(complaint) = complained.recv().await {
                context.write_stderr(&format!("mcprove: {complaint}\n"));
            }
        };
        let ((interception, live), ()) = tokio::join!(self.listen(interception, &mut heard), tell);
        if let Err(panic) = running.await {
            std::panic::resume_unwind(panic.into_panic());
        }
        self.end(interception, live, Ending::Http).await
    }

    fn begin(&mut self, transport: &'static str, wanted: Vec<WantedTrajectory>) -> Interception {
        let about = InterceptionOptions {
            program: concat!("mcprove ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix_ms: Context::unix_ms(),
            server: self.server.name.clone(),
            transport,
            wanted,
            keep_answers: self.args.as_suite.is_some(),
        };
        Interception::begin(about, &mut self.log)
    }

    /// Listens until all clients have left.
    async fn listen(
        &mut self,
        mut interception: Interception,
        heard: &mut TappedMessages,
    ) -> (Interception, LiveCalls) {
        let live = LiveCalls::begin();
        let is_told = self.context.verbosity != Verbosity::Quiet;
        while let Some(said) = heard.recv().await {
            let news = interception.observe(said, &mut self.log);
            for news in news.iter().filter(|_| is_told) {
                live.print_call(news, &self.redactor);
            }
        }
        (interception, live)
    }

    async fn end(mut self, interception: Interception, live: LiveCalls, ending: Ending) -> Result<u8, Failure> {
        let calls = interception.calls.len();
        let is_empty = calls + interception.requests.len() == 0;
        if let Some(path) = &self.args.as_suite {
            self.write_suite(path, &interception, &live);
        }
        let (stderr, process_end) = match &ending {
            Ending::Stdio(end) => (end.stderr.clone(), Some(end.end)),
            Ending::Http => (String::new(), None),
        };
        interception.end(InterceptionEnd { stderr, process_end }, &mut self.log);
        if self.context.verbosity != Verbosity::Quiet {
            live.print_line(&summary(calls, &ending));
        }
        live.end().await;
        let is_wrong = self.log.report.exit_status() != ExitStatus::Good;
        for complaint in &self.log.complaints {
            self.context.write_stderr(&format!("error: {complaint}\n"));
        }
        let is_written = self.log.complaints.is_empty();
        let verdicts = self.log.verdicts();
        self.context.write_stderr(&verdicts);
        let nothing_recorded = self.args.as_suite.is_some() && is_empty;
        Ok(match (is_wrong, is_written, passed_on(&ending)) {
            (true, _, _) => ExitStatus::Wrong.code(),
            (false, false, _) => ExitStatus::NotDone.code(),
            (false, true, 0) if nothing_recorded => ExitStatus::NothingSelected.code(),
            (false, true, code) => code,
        })
    }

    fn write_suite(&mut self, path: &Path, interception: &Interception, live: &LiveCalls) {
        let shown = path.display();
        let Interception { calls, requests, client, other_requests, .. } = interception;
        let recorded = Recorded {
            other_requests: other_requests.clone(),
            server: self.server.clone(),
            client: capabilities(client),
            modern: !client.initialized,
            calls: calls
                .iter()
                .map(|call| RecordedCall {
                    tool: call.tool.clone(),
                    args: call.args.clone(),
                    outcome: call.outcome.clone(),
                    elapsed_us: call.elapsed_us,
                })
                .collect(),
            requests: requests
                .iter()
                .map(|request| RecordedRequest {
                    method: request.method.clone(),
                    params: request.params.clone(),
                    outcome: request.outcome.clone(),
                    after_calls: request.after_calls,
                })
                .collect(),
            secrets: self.redactor.clone(),
        };
        if !other_requests.is_empty() {
            live.print_line(&format!("no test repeats some requests; left out: {}", recorded.left_out()));
        }
        let total = calls.len() + requests.len();
        if total == 0 {
            live.print_line(&format!("nothing that a test can repeat was requested, so `{shown}` was not written"));
            return;
        }
        let WrittenSuite { text, requests } = suite_of(&recorded);
        match atomic_write::write_report(path, text.as_bytes()) {
            Ok(()) => live.print_line(&format!("wrote {requests} of {total} requests to `{shown}`")),
            Err(error) => self.log.complaints.push(format!("the suite `{shown}` could not be written: {error}")),
        }
    }
}

/// Capabilities that a client declared, with the answers it gave.
fn capabilities(client: &ObservedClient) -> ClientCapabilities {
    let offers = |name: &str| client.capabilities.get(name).is_some();
    let answers = |method: &str| {
        let method = method.to_owned();
        client.answers.iter().filter(move |(asked, _)| *asked == method).map(|(_, answer)| answer)
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let roots = |answer: &Value| {
        let roots = answer.get("roots").and_then(Value::as_array).into_iter().flatten();
        roots.filter_map(|root| text(root.get("uri"))).collect::<Vec<_>>()
    };
    // One item of content, or a list of them.
    let sampled_text = |answer: &Value| {
        let content = answer.get("content");
        let items =
            content.and_then(Value::as_array).map_or(content.into_iter().collect(), |items| items.iter().collect());
        let texts: Vec<&str> = Vec::<&Value>::into_iter(items).filter_map(|item| item.get("text")?.as_str()).collect();
        texts.join("\n")
    };
    let sampled = |answer: &Value| SamplingReply {
        text: sampled_text(answer),
        model: text(answer.get("model")).unwrap_or_else(|| "recorded".to_owned()),
        stop_reason: text(answer.get("stopReason")).unwrap_or_else(|| "endTurn".to_owned()),
    };
    let mut sampling: Vec<SamplingReply> = answers("sampling/createMessage").map(sampled).collect();
    if sampling.is_empty() && offers("sampling") {
        let unused = json!({"content": {"type": "text", "text": "no reply to a sampling request was recorded"}});
        sampling.push(sampled(&unused));
    }
    let elicited = |answer: &Value| ElicitationReply {
        action: match answer.get("action").and_then(Value::as_str) {
            Some("accept") => ElicitationAction::Accept,
            Some("cancel") => ElicitationAction::Cancel,
            Some(_) | None => ElicitationAction::Decline,
        },
        content: answer.get("content").cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        url: false,
    };
    ClientCapabilities {
        roots: offers("roots").then(|| answers("roots/list").next_back().map(roots).unwrap_or_default()),
        roots_changed: None,
        sampling,
        elicitation: offers("elicitation")
            .then(|| elicited(answers("elicitation/create").next_back().unwrap_or(&Value::Null))),
        ..ClientCapabilities::default()
    }
}

/// The signals that we were sent go on to the server, and so does the end of its time.
fn orders(timeout: Option<Duration>) -> Result<mpsc::UnboundedReceiver<Order>, Failure> {
    let (order, orders) = mpsc::unbounded_channel();
    listen_to_signals(&order)?;
    if let Some(timeout) = timeout {
        tokio::spawn(async move {
            tokio::time::sleep(timeout).await;
            // If the order is not received, the relay is over already.
            let _ = order.send(Order::TimeUp);
        });
    }
    Ok(orders)
}

#[cfg(unix)]
fn listen_to_signals(order: &mpsc::UnboundedSender<Order>) -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [
        (SignalKind::hangup(), Order::HangUp),
        (SignalKind::interrupt(), Order::Interrupt),
        (SignalKind::terminate(), Order::Terminate),
    ];
    for (kind, what) in kinds {
        let mut signals = signal(kind).map_err(|error| Failure::Other {
            message: format!("signals cannot be listened to: {error}"),
            help: None,
        })?;
        let order = order.clone();
        tokio::spawn(async move { while signals.recv().await.is_some() && order.send(what).is_ok() {} });
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
fn listen_to_signals(order: &mpsc::UnboundedSender<Order>) -> Result<(), Failure> {
    let order = order.clone();
    tokio::spawn(async move { while tokio::signal::ctrl_c().await.is_ok() && order.send(Order::Interrupt).is_ok() {} });
    Ok(())
}

fn summary(calls: usize, ending: &Ending) -> String {
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    let how = match ending {
        Ending::Http => return calls,
        Ending::Stdio(end) => match (end.why, end.forced) {
            (Why::TimeUp, _) => "its time was up".to_owned(),
            (Why::ClientLeft, true) => "the client left; the server did not, and was ended".to_owned(),
            (Why::ClientLeft, false) => format!("the client left; the server {}", end.end),
            (Why::ServerLeft, _) => format!("the server {}", end.end),
            (Why::Signalled, true) => "the server did not heed the signal and was ended".to_owned(),
            (Why::Signalled, false) => format!("a signal came; the server {}", end.end),
        },
    };
    format!("{calls}; {how}")
}

/// The exit code that a server would have had without us. One that we had to end is not to blame for that.
fn passed_on(ending: &Ending) -> u8 {
    let Ending::Stdio(RelayEnd { why, end, forced, .. }) = ending else { return 0 };
    if *forced || *why == Why::TimeUp {
        return 0;
    }
    match end {
        ProcessEnd { code: Some(code), .. } => u8::try_from(code & 0xff).unwrap_or(1),
        // Same exit code as a shell.
        ProcessEnd { code: None, signal: Some(signal) } => u8::try_from(128 + signal).unwrap_or(255),
        ProcessEnd { code: None, signal: None } => 1,
    }
}
