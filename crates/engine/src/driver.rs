//! A session that another program drives: one request at a time, each run and judged as the act of a case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcprove_model::{
    Act, Case, Event, Finding, Node, Observation, PlannedCase, ServerSpec, Snapshot, SnapshotKind, StoredValues,
};
use mcprove_suite::template::Variables;
use mcprove_wire::{Limits, Negotiated, OpenFailure, Tokens};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::case_run::{CaseContext, accepts, run_case};
use crate::discover::{Catalog, discover, tool_name};
use crate::grading::Judges;
use crate::hooks::Hooks;
use crate::lane_state::LaneState;
use crate::server::Opener;
use crate::stop::Stopper;
use crate::stored_replies::{self, Storing, snapshot_path};
use crate::{calls, expectations};

/// Options of a driven session.
#[derive(Clone, Debug)]
pub struct DriverOptions {
    /// The running program, which may be named as a server.
    pub own_program: PathBuf,
    /// Bounds on the session.
    pub limits: Limits,
    /// The deadline of the handshake, and of each request that has none of its own.
    pub timeout: Duration,
    /// Mode of stored values.
    pub storing: Storing,
    /// Values of the environment that no reply should hold.
    pub environment: Arc<[String]>,
    /// Tokens of servers behind a login.
    pub tokens: Tokens,
}

/// An open session, driven request by request. A server that went away is started again by the next request, which has
/// a note about it.
#[derive(Debug)]
pub struct Driver {
    context: CaseContext,
    shared: LaneState,
    negotiated: Negotiated,
    performed: usize,
}

/// The outcome of a request.
#[derive(Debug)]
pub struct Driven {
    /// The events of the request, as those of a case in a run.
    pub events: Vec<Event>,
    /// The observed reply; `None` if no request was made.
    pub seen: Option<Observation>,
}

/// The verdict on an earlier reply.
#[derive(Debug, Default)]
pub struct JudgedReply {
    /// Findings about it.
    pub findings: Vec<Finding>,
    /// The values that are to be stored.
    pub snapshots: Vec<Snapshot>,
}

impl Driver {
    /// Opens a session.
    pub async fn open(server: &ServerSpec, options: &DriverOptions) -> Result<Self, Box<OpenFailure>> {
        let context = context(options);
        let deadline = Instant::now() + options.timeout;
        let session = context.opener.open(server, &Variables::default(), deadline).await?;
        let negotiated = session.negotiated().clone();
        let shared = LaneState { session: Some(Box::new(session)), goes_on: true, ..LaneState::default() };
        Ok(Self { context, shared, negotiated, performed: 0 })
    }

    /// The outcome of the handshake.
    pub fn negotiated(&self) -> &Negotiated {
        &self.negotiated
    }

    /// The tools, resources and prompts of the server; `None` if it is gone.
    pub async fn catalog(&mut self) -> Option<Catalog> {
        let deadline = Instant::now() + self.context.default_timeout;
        let session = self.shared.session.as_mut()?;
        Some(discover(session, deadline).await)
    }

    /// Runs a case on the session.
    pub async fn perform(&mut self, case: Arc<Case>) -> Driven {
        let planned = PlannedCase { index: self.performed, case, trial: 1, variant: None };
        self.performed += 1;
        self.shared.goes_on = true;
        let mut run = run_case(&planned, &self.context, &mut self.shared).await;
        let seen = run.seen.take();
        let mut events = Vec::new();
        run.report(|event| events.push(event));
        Driven { events, seen }
    }

    /// Judges an earlier reply by the expectation of a case. The case must be the one that was performed, but for its
    /// expectation.
    pub async fn judge(&mut self, case: &Case, seen: &mut Observation) -> JudgedReply {
        let mut judged = JudgedReply::default();
        let checks = &case.expect.checks;
        for planned in checks.iter().filter(|planned| !planned.check.files().is_empty()) {
            let text = format!("`{}` judges files, which are read before and after a request", planned.name);
            judged.findings.push(Finding::error("late-expectation", text).help("give it with the request itself"));
        }
        if !judged.findings.is_empty() {
            return judged;
        }
        if checks.iter().any(|planned| planned.check.wants_tool()) {
            seen.tool = self.listed_tool(case).await;
        }
        self.supply(case, seen, &mut judged);
        if accepts(checks, &seen.outcome) {
            judged.findings.extend(expectations::judge(&case.source, &case.expect, seen));
        } else {
            judged.findings.extend(calls::no_result("the request", &seen.outcome, None));
        }
        judged
    }

    /// Ends the session.
    pub async fn close(mut self) {
        self.shared.end().await;
    }

    /// Gives the checks the stored values they compare with, or takes down what they would store.
    fn supply(&self, case: &Case, seen: &mut Observation, judged: &mut JudgedReply) {
        let checks = &case.expect.checks;
        if !checks.iter().any(|planned| planned.check.wants_stored()) {
            return;
        }
        seen.stored = StoredValues { masks: stored_replies::masks_of(case), ..StoredValues::default() };
        if self.context.storing == Storing::Update {
            judged.snapshots = checks.iter().flat_map(|planned| planned.check.to_store(seen)).collect();
            seen.stored.texts = judged
                .snapshots
                .iter()
                .map(|value| (value.name.clone(), value.text.clone()))
                .collect::<BTreeMap<_, _>>();
            return;
        }
        match stored_replies::read(&snapshot_path(Path::new(case.source.path()))) {
            Ok(file) => {
                let values = file.sections.into_iter().filter(|section| section.kind == SnapshotKind::Value);
                seen.stored.texts = values.map(|section| (section.name, section.text)).collect();
            }
            Err(reason) => seen.stored.unreadable = Some(reason),
        }
    }

    async fn listed_tool(&mut self, case: &Case) -> Option<serde_json::Value> {
        let Act::CallTool(call) = &case.act else { return None };
        let name = Node::as_text(&call.tool)?;
        let catalog = self.catalog().await?;
        catalog.tools.into_iter().find(|tool| tool_name(tool) == name)
    }
}

/// The time a server may take to say its era.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

fn context(options: &DriverOptions) -> CaseContext {
    // A driven session ends only when it is closed; with its sender dropped, this stop never fires.
    let (_, stop) = Stopper::pair();
    let (_, enough) = Stopper::pair();
    CaseContext {
        opener: Arc::new(Opener {
            tokens: options.tokens.clone(),
            ..Opener::new(&options.own_program, options.limits, PROBE_TIMEOUT)
        }),
        default_timeout: options.timeout,
        strict: false,
        keep_frames: false,
        keep_seen: true,
        acting: Arc::new(Semaphore::new(1)),
        may_send_ahead: false,
        has_own_thread: false,
        turn: crate::prestart::ActTurn::default(),
        fix: false,
        storing: options.storing,
        record: false,
        no_model: false,
        judges: Judges::default(),
        hooks: Hooks::default(),
        environment: Arc::clone(&options.environment),
        calls: Arc::default(),
        load: Arc::default(),
        stop,
        enough,
        halt: None,
    }
}
