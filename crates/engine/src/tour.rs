//! A tour of a server's tools, without any suite: each tool is a case.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Clock};

use mcprove_judge::generate::valid_input;
use mcprove_judge::negative::{Probe, Subject};
use mcprove_model::{CaseStarted, Event, Finding, RunFinished, RunStarted, ServerSpec, Verdict};
use mcprove_suite::template::Variables;
use mcprove_wire::{HttpClient, Limits, OpenFailure, Session, Tokens};
use serde_json::Value;
use tokio::time::Instant;

use crate::calling::{Calling, Says, forbidden, says};
use crate::discover::{Catalog, discover, tool_name};
use crate::played::Played;
use crate::probing::Probing;
use crate::record::{CaseRecord, CaseRun};
use crate::restart::Restartable;
use crate::run::Sink;
use crate::server::Opener;
use crate::stop::Stop;
use crate::{audit, probing};

/// How a tour is made.
#[derive(Clone, Debug)]
pub struct TourOptions {
    /// What is done with each tool.
    pub visit: Visit,
    /// Which tools may be called.
    pub calling: Calling,
    /// Only this tool.
    pub tool: Option<String>,
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
    Audit,
    /// It is asked what it must reject.
    Probe {
        /// The probes.
        probes: Vec<&'static Probe>,
        /// How many bytes an oversized argument has.
        oversized: usize,
    },
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
) -> Result<Catalog, Box<OpenFailure>> {
    let began = Clock::now();
    let guide = Guide { opener: opener(&options.own_program, options.limits), server, options };
    let mut session = guide.open().await?;
    let mut catalog = discover(&mut session, Instant::now() + options.timeout).await;
    session.end_chapter();
    catalog.tools.retain(|tool| options.tool.as_ref().is_none_or(|only| tool_name(tool) == only));
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
    for finding in catalog.findings.iter().cloned().chain(unannotated(&catalog, options.calling)) {
        sink.event(Event::Finding { finding });
    }
    let mut current = Some(session);
    for (index, tool) in catalog.tools.iter().enumerate() {
        let run = if stop.is_stopped() {
            guide.record(index, tool).finish(Verdict::Skipped { reason: "interrupted".to_owned() })
        } else {
            Box::pin(guide.visit(index, tool, &mut current)).await
        };
        run.into_events().for_each(|event| sink.event(event));
    }
    if let Some(session) = current {
        session.close().await;
    }
    sink.event(Event::RunFinished(RunFinished {
        duration_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        interrupted: stop.is_stopped(),
        hint: None,
    }));
    Ok(catalog)
}

/// What a server offers, without calling anything.
pub async fn catalog_of(
    server: &ServerSpec,
    own_program: &Path,
    timeout: Duration,
) -> Result<Catalog, Box<OpenFailure>> {
    let deadline = Instant::now() + timeout;
    let mut session = opener(own_program, Limits::default()).open(server, &Variables::default(), deadline).await?;
    let catalog = discover(&mut session, deadline).await;
    session.close().await;
    Ok(catalog)
}

pub(crate) fn opener(own_program: &Path, limits: Limits) -> Opener {
    Opener {
        own_program: own_program.to_owned(),
        limits,
        http: HttpClient::default(),
        docker: None,
        protocol: None,
        probe_timeout: Duration::from_secs(2),
        tokens: Tokens::default(),
        played: Played::default(),
    }
}

/// Tools that say nothing about writing are called all the same; people should know which.
pub(crate) fn unannotated(catalog: &Catalog, calling: Calling) -> Option<Finding> {
    let silent: Vec<&str> = catalog
        .tools
        .iter()
        .filter(|tool| says(tool) == Says::Nothing && forbidden(tool, calling).is_none())
        .map(tool_name)
        .collect();
    if silent.is_empty() || calling == Calling::IncludeWrites {
        return None;
    }
    let count = if silent.len() == 1 { "1 tool says".to_owned() } else { format!("{} tools say", silent.len()) };
    let text = format!("{count} nothing about writing and will be called: {}", silent.join(", "));
    Some(Finding::note("unannotated-tools", text).help("`--read-only` calls only tools that say that they only read"))
}

/// What every stop of a tour needs.
struct Guide<'t> {
    opener: Opener,
    server: &'t ServerSpec,
    options: &'t TourOptions,
}

impl Guide<'_> {
    async fn open(&self) -> Result<Session, Box<OpenFailure>> {
        self.opener.open(self.server, &Variables::default(), Instant::now() + self.options.timeout).await
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
    async fn visit(&self, index: usize, tool: &Value, current: &mut Option<Session>) -> CaseRun {
        let mut record = self.record(index, tool);
        if let Some(reason) = forbidden(tool, self.options.calling) {
            return record.finish(Verdict::Skipped { reason: reason.to_owned() });
        }
        let nothing = Value::Null;
        let schema = tool.get("inputSchema").unwrap_or(&nothing);
        let input = match valid_input(schema, self.options.seed) {
            Ok(input) => input,
            Err(why) => {
                let reason = format!("no valid input could be made for it: {why}");
                return record.finish(Verdict::Skipped { reason });
            }
        };
        let session = match current.take() {
            Some(mut session) => {
                if session.is_sound().await {
                    Ok(session)
                } else {
                    session.close().await;
                    self.open().await
                }
            }
            None => self.open().await,
        };
        let mut session = match session {
            Ok(session) => session,
            Err(failure) => {
                let verdict = record.not_opened(*failure);
                return record.finish(verdict);
            }
        };
        let mut number = record.opened(&session);
        match &self.options.visit {
            Visit::Audit => {
                let stopover = Stopover {
                    name: tool_name(tool),
                    tool,
                    input,
                    session: &mut session,
                    record: &mut record,
                    timeout: self.options.timeout,
                };
                audit::visit(stopover).await;
            }
            Visit::Probe { probes, oversized } => {
                let variables = Variables::default();
                let mut probing = Probing {
                    subject: Subject { tool: tool_name(tool), schema, base: &input, oversized: *oversized },
                    server: Restartable {
                        session: &mut session,
                        number: &mut number,
                        opener: &self.opener,
                        server: self.server,
                        variables: &variables,
                        timeout: self.options.timeout,
                    },
                    record: &mut record,
                    timeout: self.options.timeout,
                };
                // Audits await this too, and would carry its size.
                Box::pin(probing::make(probes, &mut probing)).await;
            }
        }
        if session.is_sound().await {
            record.closed_session(number, session.end_chapter());
            *current = Some(session);
        } else {
            record.closed_session(number, session.close().await);
        }
        let verdict = record.verdict(self.options.strict);
        record.finish(verdict)
    }
}
