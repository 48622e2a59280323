//! Sessions with servers: opened, used and closed by the other program.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcprove_engine::{Driven, Driver, DriverOptions, Storing};
use mcprove_model::{
    Case, CaseFinished, CaseStarted, Event, Node, Observation, Outcome, Redactor, Report, Severity, SourceFile, Span,
    Verdict, bounded_json,
};
use mcprove_suite::assertion_file::{self, Document};
use mcprove_suite::environment::Environment;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use super::reply;
use crate::context::Context;
use crate::execution::runtime;
use crate::failure::Failure;
use crate::snapshots;
use crate::subject::words;

/// Replies of a session that are kept to be judged later, and the memory that they may take but for the last one.
const KEPT_REPLIES: usize = 100;
const KEPT_BYTES: usize = 64 << 20;
/// The deadline of the handshake and of each request when none is given.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The open sessions.
pub(super) struct Sessions<'c> {
    context: &'c Context,
    runtime: Runtime,
    open: BTreeMap<u64, Open>,
    opened: u64,
    replies: u64,
}

struct Open {
    driver: Driver,
    /// The server as it was described.
    server: Value,
    /// The file of the other program that snapshots are stored next to.
    source: Arc<SourceFile>,
    secrets: Redactor,
    /// The last replies, each with the block that asked for it.
    kept: VecDeque<Kept>,
}

struct Kept {
    number: u64,
    block: Block,
    seen: Observation,
    bytes: usize,
}

/// A block of an assertion file: its key and its value.
#[derive(Clone)]
struct Block {
    key: String,
    value: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenParams {
    /// `server` of an assertion file, or a command line.
    server: Value,
    /// The file that snapshots are stored next to.
    #[serde(default = "unnamed")]
    file: String,
    /// True if values of `snapshot` matchers are stored instead of compared.
    #[serde(default)]
    update_snapshots: bool,
    timeout_ms: Option<u64>,
}

fn unnamed() -> String {
    "mcprove".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionParams {
    session: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallParams {
    session: u64,
    tool: String,
    #[serde(default)]
    args: Map<String, Value>,
    expect: Option<Value>,
    timeout_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadParams {
    session: u64,
    uri: String,
    expect: Option<Value>,
    timeout_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromptParams {
    session: u64,
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    expect: Option<Value>,
    timeout_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestParams {
    session: u64,
    /// The assertion without its server.
    test: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectParams {
    session: u64,
    reply: u64,
    expect: Value,
}

impl<'c> Sessions<'c> {
    pub(super) fn new(context: &'c Context) -> Result<Self, Failure> {
        Ok(Self { context, runtime: runtime(1)?, open: BTreeMap::new(), opened: 0, replies: 0 })
    }

    /// Starts or reaches a server.
    pub(super) fn open(&mut self, params: OpenParams) -> Result<Value, Failure> {
        let server = described(params.server)?;
        let source = Arc::new(SourceFile::new(params.file, String::new()));
        let block = Block { key: "assert".to_owned(), value: one("tool", "-") };
        let case = decode(document(&server, &block, None), &source)?;
        let Some(spec) = &case.server else {
            return Err(Failure::new("no server was described", "give `server` a `command` or a `url`"));
        };
        let options = DriverOptions {
            own_program: self.context.own_program.clone(),
            limits: self.context.limits,
            timeout: params.timeout_ms.map_or(TIMEOUT, Duration::from_millis),
            storing: if params.update_snapshots { Storing::Update } else { Storing::Compare },
            environment: Context::secret_values().into(),
            tokens: crate::logins::tokens().clone(),
        };
        let opened = self.runtime.block_on(Driver::open(spec, &options));
        let driver = opened.map_err(|failure| Failure::unreachable(&failure, spec))?;
        let secrets = crate::logins::redactor(spec.secrets.iter().map(String::as_str));
        let negotiated = driver.negotiated();
        self.opened += 1;
        let reply = json!({
            "session": self.opened,
            "server": {"name": negotiated.server_name, "version": negotiated.server_version},
            "protocol": negotiated.revision.to_string(),
            "capabilities": negotiated.capabilities,
        });
        self.open.insert(self.opened, Open { driver, server, source, secrets, kept: VecDeque::new() });
        Ok(reply)
    }

    /// Lists what the server offers.
    pub(super) fn list(&mut self, params: &SessionParams) -> Result<Value, Failure> {
        let (runtime, open) = self.session(params.session)?;
        let catalog = runtime.block_on(open.driver.catalog()).ok_or_else(|| {
            Failure::new("the server is gone", "open a session again; the reply before this one says why it went away")
        })?;
        // Lists of megabytes are moved, not copied.
        let lists = [
            ("tools", catalog.tools),
            ("resources", catalog.resources),
            ("resource_templates", catalog.templates),
            ("prompts", catalog.prompts),
        ];
        let mut listed: Map<String, Value> =
            lists.into_iter().map(|(key, items)| (key.to_owned(), Value::Array(items))).collect();
        listed.insert("findings".to_owned(), json!(catalog.findings));
        Ok(Value::Object(listed))
    }

    /// Calls a tool.
    pub(super) fn call(&mut self, params: CallParams) -> Result<Value, Failure> {
        let mut value = one("tool", params.tool);
        value.insert("args".to_owned(), Value::Object(params.args));
        self.request(params.session, "assert", value, params.expect, params.timeout_ms)
    }

    /// Reads a resource.
    pub(super) fn read(&mut self, params: ReadParams) -> Result<Value, Failure> {
        let value = one("read", params.uri);
        self.request(params.session, "assert_resources", value, params.expect, params.timeout_ms)
    }

    /// Gets a prompt.
    pub(super) fn prompt(&mut self, params: PromptParams) -> Result<Value, Failure> {
        let mut get = one("name", params.name);
        get.insert("arguments".to_owned(), Value::Object(params.arguments));
        let value = one("get", Value::Object(get));
        self.request(params.session, "assert_prompts", value, params.expect, params.timeout_ms)
    }

    /// Runs an assertion on the session.
    pub(super) fn test(&mut self, params: TestParams) -> Result<Value, Failure> {
        let (_, open) = self.session(params.session)?;
        if params.test.contains_key("server") {
            return Err(Failure::new("`server` is that of the session", "leave it out, or open another session"));
        }
        let mut document = params.test;
        document.insert("server".to_owned(), open.server.clone());
        let source = Arc::clone(&open.source);
        let case = decode(Value::Object(document), &source)?;
        self.perform(params.session, case, None)
    }

    /// Judges an earlier reply.
    pub(super) fn expect(&mut self, params: ExpectParams) -> Result<Value, Failure> {
        let (runtime, open) = self.session(params.session)?;
        let Some(kept) = open.kept.iter_mut().find(|kept| kept.number == params.reply) else {
            let most = KEPT_BYTES >> 20;
            let help = format!(
                "only the last {KEPT_REPLIES} replies of `call`, `read` and `prompt` are kept, and {most} MiB of them"
            );
            return Err(Failure::new(format!("reply {} is not known", params.reply), help));
        };
        let block = kept.block.with_expectation(Some(params.expect));
        let case = decode(document(&open.server, &block, None), &open.source)?;
        asks_for_something(&case)?;
        let judged = runtime.block_on(open.driver.judge(&case, &mut kept.seen));
        let is_wrong = judged.findings.iter().any(|finding| finding.fails(false));
        let verdict = if is_wrong { Verdict::Failed } else { Verdict::Passed };
        let mut object = Map::new();
        reply::add_verdict(&mut object, &verdict, judged.findings, &open.secrets);
        let (started, mut finished) = (started(&case), CaseFinished::new(0, verdict, Vec::new()));
        finished.snapshots = judged.snapshots;
        let stored =
            snapshots::store_values(&Report::fold([Event::CaseStarted(started), Event::CaseFinished(finished)]))?;
        object.insert("stored".to_owned(), stored.into());
        Ok(Value::Object(object))
    }

    /// Ends a session.
    pub(super) fn close(&mut self, params: &SessionParams) -> Result<Value, Failure> {
        self.session(params.session)?;
        if let Some(open) = self.open.remove(&params.session) {
            self.runtime.block_on(open.driver.close());
        }
        Ok(json!({}))
    }

    /// Ends all sessions.
    pub(super) fn close_all(mut self) {
        for open in std::mem::take(&mut self.open).into_values() {
            self.runtime.block_on(open.driver.close());
        }
    }

    fn session(&mut self, number: u64) -> Result<(&Runtime, &mut Open), Failure> {
        match self.open.get_mut(&number) {
            Some(open) => Ok((&self.runtime, open)),
            None => Err(Failure::new(format!("session {number} is not open"), "`open` a server first")),
        }
    }

    fn request(
        &mut self,
        session: u64,
        key: &str,
        value: Map<String, Value>,
        expect: Option<Value>,
        timeout_ms: Option<u64>,
    ) -> Result<Value, Failure> {
        let (_, open) = self.session(session)?;
        let block = Block { key: key.to_owned(), value };
        let is_judged = expect.is_some();
        let case = decode(document(&open.server, &block.with_expectation(expect), timeout_ms), &open.source)?;
        if is_judged {
            asks_for_something(&case)?;
        }
        self.perform(session, case, Some(block))
    }

    fn perform(&mut self, session: u64, case: Case, block: Option<Block>) -> Result<Value, Failure> {
        self.replies += 1;
        let number = self.replies;
        let (runtime, open) = self.session(session)?;
        let Driven { events, seen } = runtime.block_on(open.driver.perform(Arc::new(case)));
        let mut object = reply::of_server(seen.as_ref());
        let report = Report::fold(events);
        let finished = report.cases.into_iter().next().and_then(|case| case.finished.map(|end| (case.started, end)));
        let (started, finished) = finished.unwrap_or_else(|| unreachable!("a case that was performed is over"));
        reply::add_verdict(&mut object, &finished.verdict, finished.findings.clone(), &open.secrets);
        let stored =
            snapshots::store_values(&Report::fold([Event::CaseStarted(started), Event::CaseFinished(finished)]))?;
        object.insert("stored".to_owned(), stored.into());
        if let (Some(block), Some(seen)) = (block, seen) {
            object.insert("reply".to_owned(), number.into());
            let bytes = memory_of(&seen);
            open.kept.push_back(Kept { number, block, seen, bytes });
            let kept = |open: &Open| open.kept.iter().map(|kept| kept.bytes).sum::<usize>();
            while open.kept.len() > 1 && (open.kept.len() > KEPT_REPLIES || kept(open) > KEPT_BYTES) {
                open.kept.pop_front();
            }
        }
        Ok(Value::Object(object))
    }
}

/// About how many bytes of memory a reply takes.
fn memory_of(seen: &Observation) -> usize {
    let of_outcome = match &seen.outcome {
        Outcome::Result(result) => bounded_json::memory_of(result),
        Outcome::Error(error) => error.message.len() + error.data.as_ref().map_or(0, bounded_json::memory_of),
        Outcome::Malformed(malformed) => malformed.evidence.len(),
        Outcome::Refused(refused) => refused.evidence.len(),
        Outcome::TimedOut { .. } | Outcome::Closed { .. } | Outcome::Cancelled => 0,
    };
    let structured = seen.structured.as_ref().map_or(0, bounded_json::memory_of);
    let notifications = seen.notifications.iter().map(|notification| bounded_json::memory_of(&notification.params));
    of_outcome + structured + seen.text.len() + notifications.sum::<usize>()
}

impl Block {
    fn with_expectation(&self, expect: Option<Value>) -> Self {
        let mut block = self.clone();
        block.value.extend(expect.map(|expect| ("expect".to_owned(), expect)));
        block
    }
}

/// An expectation that checks nothing would hold for any reply.
fn asks_for_something(case: &Case) -> Result<(), Failure> {
    if case.expect.all().next().is_some() {
        return Ok(());
    }
    Err(Failure::new("`expect` checks nothing", "give it a check, such as `contains`; docs/checks.md lists them"))
}

/// The server as a map: a command line is split as a shell would.
fn described(server: Value) -> Result<Value, Failure> {
    let Value::String(line) = server else { return Ok(server) };
    let mut parts = words("server", &line)?.into_iter();
    Ok(json!({"command": parts.next(), "args": parts.collect::<Vec<_>>()}))
}

fn document(server: &Value, block: &Block, timeout_ms: Option<u64>) -> Value {
    let mut document = one("name", "request");
    document.insert("server".to_owned(), server.clone());
    document.insert(block.key.clone(), Value::Object(block.value.clone()));
    document.extend(timeout_ms.map(|ms| ("timeout".to_owned(), format!("{ms}ms").into())));
    Value::Object(document)
}

/// Decodes an assertion with the decoders of suites.
pub(in crate::commands) fn decode(document: Value, source: &Arc<SourceFile>) -> Result<Case, Failure> {
    let node = Node::from_json(Span::default(), document);
    let names = Context::variable_names();
    let context = mcprove_suite::context::Context {
        environment: Environment { lookup: &|name| Context::variable(name), names: &names },
        fixture: None,
        server: None,
        folder: None,
    };
    let decoded = assertion_file::decode(source, Document { node: &node, number: 1, of: 1 }, &context);
    let mut findings = decoded.findings;
    for finding in &mut findings {
        finding.place = None;
    }
    findings.retain(|finding| finding.severity >= Severity::Error);
    decoded.case.ok_or(Failure::Suite(findings))
}

fn one(key: &str, value: impl Into<Value>) -> Map<String, Value> {
    std::iter::once((key.to_owned(), value.into())).collect()
}

fn started(case: &Case) -> CaseStarted {
    CaseStarted {
        index: 0,
        name: case.name.clone(),
        file: case.source.path().to_owned(),
        line: 1,
        trial: 1,
        server: None,
        variant: None,
        tags: case.tags.clone(),
    }
}
