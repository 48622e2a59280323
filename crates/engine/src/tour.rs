//! A tour of a server's tools, without any suite: each tool is a case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Clock};

use mcprove_judge::harm::argument_schema;
use mcprove_judge::negative::{Probe, Subject};
use mcprove_judge::tool_effect::{Consent, ScanPlan, ToolEffect};
use mcprove_model::{CaseStarted, Event, Finding, Observation, RunFinished, RunStarted, ServerSpec, Verdict};
use mcprove_wire::{Closing, HttpClient, Limits, OpenFailure, Session, Stage, Tokens};
use serde_json::Value;
use tokio::time::Instant;

use crate::discover::{Catalog, discover, nameless, tool_name};
use crate::played::Played;
use crate::probing::Probing;
use crate::record::{CaseRecord, CaseRun};
use crate::restart::Restartable;
use crate::run::{Progress, Sink};
use crate::server::Opener;
use crate::stop::Stop;
use crate::workplace::Workplace;
use crate::{audit, probing};

/// How a tour is made.
#[derive(Clone, Debug)]
pub struct TourOptions {
    /// What is done with each tool.
    pub visit: Visit,
    /// Which tools may be called.
    pub consent: Consent,
    /// Arguments that the user gave, by tool.
    pub given: BTreeMap<String, Vec<Value>>,
    /// Only this tool.
    pub tool: Option<String>,
    /// A folder that is copied for the tour; `{{fixture}}` in the server's description is the copy.
    pub fixture: Option<PathBuf>,
    /// How long the server may take to start.
    pub start: Duration,
    /// How long a call may take.
    pub timeout: Duration,
    /// What generated inputs are made from.
    pub seed: u64,
    /// Whether warnings fail cases.
    pub strict: bool,
    /// The running program, which may be named as a server.
    pub own_program: PathBuf,
    /// Name and version of the program, for the log.
    pub program: String,
    /// Wall-clock start, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// Bounds on sessions.
    pub limits: Limits,
}

/// What is done with each tool.
#[derive(Clone, Debug)]
pub enum Visit {
    /// It is called once with a valid input.
    Audit {
        /// Whether each tool that answers is called once more on a fresh server, to see what stays the same.
        rehearse: bool,
    },
    /// It is asked what it must reject.
    Probe {
        /// The probes.
        probes: Vec<&'static Probe>,
        /// How many bytes an oversized argument has.
        oversized: usize,
    },
}

/// What a tour brings home beside its events.
#[derive(Debug)]
pub struct Toured {
    /// What the server offers.
    pub catalog: Catalog,
    /// The names of all tools that it lists, also of those that nobody asked for.
    pub listed: Vec<String>,
    /// What was called, in the order of the catalog; the path of the fixture copy is `{{fixture}}` again.
    pub called: Vec<Called>,
}

/// A tool with the input that was made for it.
#[derive(Debug)]
pub struct Called {
    /// The tool's name.
    pub tool: String,
    /// Its input; `None` when none could be made.
    pub input: Option<Value>,
    /// How it answered, each time on its own; empty when it was not called.
    pub replies: Vec<Observation>,
    /// Why it was not called, if so.
    pub skipped: Option<String>,
}

/// A tool on a tour.
#[derive(Debug)]
pub(crate) struct Stopover<'t> {
    pub(crate) name: &'t str,
    pub(crate) tool: &'t Value,
    pub(crate) input: Value,
    pub(crate) session: &'t mut Session,
    pub(crate) record: &'t mut CaseRecord,
    pub(crate) timeout: Duration,
}

/// Tours the tools of a server and tells it to `sink`; the error says why the server could not be reached.
pub async fn tour(
    server: &ServerSpec,
    options: &TourOptions,
    stop: &Stop,
    sink: &mut dyn Sink,
) -> Result<Toured, Box<OpenFailure>> {
    let began = Clock::now();
    let workplace = Workplace::new(options.fixture.as_deref()).map_err(|error| not_copied(&error))?;
    let server = workplace.writable_for(server);
    let mut guide = Guide {
        opener: opener(&options.own_program, options.limits),
        server: &server,
        options,
        workplace,
        plan: ScanPlan::default(),
        called: Vec::new(),
    };
    let mut stopping = stop.clone();
    let opened = tokio::select! {
        biased;
        () = stopping.stopped() => None,
        opened = guide.open() => Some(opened?),
    };
    let Some(mut session) = opened else {
        return Ok(Toured { catalog: Catalog::default(), listed: Vec::new(), called: Vec::new() });
    };
    let mut catalog = tokio::select! {
        biased;
        () = stopping.stopped() => Catalog::default(),
        catalog = discover(&mut session, Instant::now() + options.timeout) => catalog,
    };
    // What it printed while it started is nobody's fault but its own.
    catalog.findings.append(&mut session.end_chapter().oddities);
    catalog.findings.extend(nameless(&catalog.tools));
    let listed = catalog.tools.iter().map(|tool| tool_name(tool).to_owned()).collect();
    catalog.tools.retain(|tool| options.tool.as_ref().is_none_or(|only| tool_name(tool) == only));
    let named: Vec<String> = options.tool.iter().cloned().collect();
    guide.plan = ScanPlan::new(&catalog.tools, catalog.instructions.as_deref(), options.consent, &named);
    if !sink.approve(&guide.plan) {
        session.close().await;
        return Ok(Toured { catalog: Catalog::default(), listed, called: Vec::new() });
    }
    sink.event(Event::RunStarted(RunStarted {
        format: RunStarted::FORMAT,
        program: options.program.clone(),
        started_unix_ms: options.started_unix_ms,
        total: catalog.tools.len(),
        jobs: 1,
        strict: options.strict,
        shard: None,
        again: Vec::new(),
    }));
    for finding in catalog.findings.iter().cloned().chain(on_own_data(&guide.plan, options)) {
        sink.event(Event::Finding { finding });
    }
    let mut current = Some(session);
    for (index, tool) in catalog.tools.iter().enumerate() {
        sink.progress(&Progress { done: index, total: catalog.tools.len(), next: Some(tool_name(tool)), running: 1 });
        let visited = tokio::select! {
            biased;
            () = stopping.stopped() => None,
            run = Box::pin(guide.visit(index, tool, &mut current)) => Some(run),
        };
        let interrupted = || Verdict::Skipped { reason: "interrupted".to_owned() };
        let run = visited.unwrap_or_else(|| guide.record(index, tool).finish(interrupted()));
        run.into_events().for_each(|event| sink.event(event));
    }
    let Guide { called, workplace, .. } = guide;
    if let Some(session) = current {
        session.close().await;
    }
    drop(workplace);
    sink.event(Event::RunFinished(RunFinished {
        duration_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        interrupted: stop.is_stopped(),
        hint: None,
    }));
    Ok(Toured { catalog, listed, called })
}

/// How a server is asked what it offers.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// A folder that the server works on a copy of.
    pub fixture: Option<&'a Path>,
    /// The running program, which may be named as a server.
    pub own_program: &'a Path,
    /// How long everything may take together.
    pub timeout: Duration,
    /// Bounds on the session.
    pub limits: Limits,
}

/// What a server offers, without calling anything.
pub async fn catalog_of(server: &ServerSpec, asking: &Asking<'_>) -> Result<Catalog, Box<OpenFailure>> {
    let deadline = Instant::now() + asking.timeout;
    let workplace = Workplace::new(asking.fixture).map_err(|error| not_copied(&error))?;
    let mut session = opener(asking.own_program, asking.limits).open(server, workplace.variables(), deadline).await?;
    let catalog = discover(&mut session, deadline).await;
    session.close().await;
    Ok(catalog)
}

/// A fixture that cannot be copied keeps the server from being started.
pub(crate) fn not_copied(error: &std::io::Error) -> Box<OpenFailure> {
    Box::new(OpenFailure {
        stage: Stage::Start,
        message: format!("the fixture folder could not be copied: {error}"),
        help: Some("give `--fixture` a folder that can be read".to_owned()),
        evidence: None,
        status: None,
        again: None,
        closing: Closing::default(),
    })
}

pub(crate) fn opener(own_program: &Path, limits: Limits) -> Opener {
    Opener {
        own_program: own_program.to_owned(),
        limits,
        http: HttpClient::default(),
        probe_timeout: Duration::from_secs(2),
        tokens: Tokens::default(),
        played: Played::default(),
    }
}

/// Tools that write work on whatever the server has; people should know how to keep that safe.
fn on_own_data(plan: &ScanPlan, options: &TourOptions) -> Option<Finding> {
    let writes = plan.tools.iter().any(|tool| matches!(tool.effect, ToolEffect::Writes { .. }));
    (writes && options.consent == Consent::IncludeWrites && options.fixture.is_none()).then(|| {
        Finding::note("own-data", "tools that write are called, and work on the server's own data")
            .help("`--fixture DIR` gives the server a copy of a folder: `{{fixture}}` in its arguments")
    })
}

/// What every stop of a tour needs.
struct Guide<'t> {
    opener: Opener,
    server: &'t ServerSpec,
    options: &'t TourOptions,
    workplace: Workplace,
    plan: ScanPlan,
    called: Vec<Called>,
}

impl Guide<'_> {
    async fn open(&self) -> Result<Session, Box<OpenFailure>> {
        self.opener.open(self.server, self.workplace.variables(), Instant::now() + self.options.start).await
    }

    /// Starts a server that is gone; what it prints while it starts was told when it was started first.
    async fn open_again(&self) -> Result<Session, Box<OpenFailure>> {
        let mut session = self.open().await?;
        session.end_chapter();
        Ok(session)
    }

    fn record(&self, index: usize, tool: &Value) -> CaseRecord {
        CaseRecord::begin(CaseStarted {
            index,
            name: tool_name(tool).to_owned(),
            file: String::new(),
            line: 0,
            trial: 1,
            server: Some(self.server.name.clone()),
            variant: None,
        })
    }

    /// Visits one tool; a server that died is started again, and only the tool that killed it is blamed.
    async fn visit(&mut self, index: usize, tool: &Value, current: &mut Option<Session>) -> Box<CaseRun> {
        let mut record = self.record(index, tool);
        let given = self.options.given.get(tool_name(tool)).map(Vec::as_slice).unwrap_or_default();
        let guard = self.workplace.guard(tool, self.plan.effect(index), given);
        let guard = if self.options.consent == Consent::IncludeWrites { guard.allowing_all() } else { guard };
        let schema = &argument_schema(tool);
        let made = match given.first() {
            Some(given) => Ok(given.clone()),
            None => guard.input(tool, self.options.seed, self.workplace.places().as_ref()),
        };
        let skipped = match (&made, self.plan.skipped(index)) {
            (_, _) if tool_name(tool).is_empty() => Some("it has no name to call it by".to_owned()),
            (_, Some(reason)) => Some(reason.to_owned()),
            (Err(why), None) => Some(format!("no valid input could be made for it: {why}")),
            (Ok(_), None) => None,
        };
        let input = made.ok();
        let called = Called {
            tool: tool_name(tool).to_owned(),
            input: input.as_ref().map(|input| self.workplace.as_template(input)),
            replies: Vec::new(),
            skipped: skipped.clone(),
        };
        self.called.push(called);
        if let Some(reason) = skipped {
            return record.finish(Verdict::Skipped { reason });
        }
        let session = match current.take() {
            Some(mut session) => {
                if session.is_sound() {
                    Ok(session)
                } else {
                    session.close().await;
                    self.open_again().await
                }
            }
            None => self.open_again().await,
        };
        let mut session = match session {
            Ok(session) => session,
            Err(failure) => {
                let verdict = record.not_opened(*failure);
                return record.finish(verdict);
            }
        };
        let mut number = record.opened(&session);
        let input = input.unwrap_or_default();
        match &self.options.visit {
            Visit::Audit { rehearse } => {
                let stopover = Stopover {
                    name: tool_name(tool),
                    tool,
                    input,
                    session: &mut session,
                    record: &mut record,
                    timeout: self.options.timeout,
                };
                self.audit(stopover, *rehearse, index).await;
            }
            Visit::Probe { probes, oversized } => {
                let mut probing = Probing {
                    subject: Subject { tool: tool_name(tool), schema, base: &input, oversized: *oversized },
                    server: Restartable {
                        session: &mut session,
                        number: &mut number,
                        opener: &self.opener,
                        server: self.server,
                        variables: self.workplace.variables(),
                        timeout: self.options.timeout,
                    },
                    record: &mut record,
                    timeout: self.options.timeout,
                    is_listed: true,
                    guard,
                };
                // Audits await this too, and would carry its size.
                Box::pin(probing::make(probes, &mut probing)).await;
            }
        }
        if session.is_sound() {
            record.closed_session(number, session.end_chapter());
            *current = Some(session);
        } else {
            record.closed_session(number, session.close().await);
        }
        let verdict = record.verdict(self.options.strict);
        record.finish(verdict)
    }

    /// Calls a tool, looks at what it did to the fixture, and perhaps calls it once more where nothing else was called.
    async fn audit(&mut self, stop: Stopover<'_>, rehearse: bool, index: usize) {
        let Stopover { name, tool, input, session, record, timeout } = stop;
        let again =
            Stopover { name, tool, input: input.clone(), session: &mut *session, record: &mut *record, timeout };
        let mut replies = vec![audit::visit(again).await];
        match self.workplace.restore() {
            Ok(changes) if *self.plan.effect(index) == ToolEffect::Reads => {
                record.findings.extend(audit::contradiction(&changes));
            }
            Ok(_) => {}
            Err(error) => {
                let text = format!("the fixture copy could not be put back as it was: {error}");
                record.findings.push(Finding::warning("fixture", text));
            }
        }
        if rehearse
            && audit::is_answered(&replies)
            && let Ok(mut fresh) = self.open().await
        {
            let exchange = fresh.call_tool(name, &input, Instant::now() + timeout).await;
            replies.push(Observation::of_tool_call(exchange.outcome));
            fresh.close().await;
            // What it changed is of no interest the second time; what cannot be put back was told above.
            let _ = self.workplace.restore();
        }
        if let Some(called) = self.called.last_mut() {
            called.replies = replies.into_iter().map(|seen| self.workplace.seen_as_template(seen)).collect();
        }
    }
}
