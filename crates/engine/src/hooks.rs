//! Commands that a suite runs, and tools that it calls, around its cases.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcprove_model::{Finding, Hook, HookCall, Outcome, Plan, SuiteOptions, shorten, text_of_tool_result};
use mcprove_suite::template::Variables;
use mcprove_wire::{Background, HttpClient, run_command, wait_until_reachable};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::calls;
use crate::server::Opener;
use crate::stop::Stop;

/// Time a cleanup command may still take after the run was stopped.
const GRACE: Duration = Duration::from_secs(3);

/// Result of `beforeAll` of one suite: `None` if fine, or the reason its cases cannot run.
type Begun = OnceCell<Option<Finding>>;

/// Results of `beforeAll` of each suite; it is run once, by its first case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks {
    begun: Arc<Mutex<HashMap<usize, Arc<Begun>>>>,
    /// The runtime that commands are awaited on, when it is not the current one.
    runtime: Option<Handle>,
    /// Commands that run until the last case has ended.
    background: Arc<Mutex<Vec<Background>>>,
    /// Ends commands with the run.
    stop: Option<Stop>,
    /// Opens sessions for calls.
    opener: Option<Arc<Opener>>,
}

impl Hooks {
    /// Hooks that end when the run is stopped.
    pub(crate) fn of_run(stop: &Stop, opener: &Arc<Opener>) -> Self {
        Self { stop: Some(stop.clone()), opener: Some(Arc::clone(opener)), ..Self::default() }
    }

    /// The same, with commands awaited on this runtime.
    pub(crate) fn run_on(self, runtime: Handle) -> Self {
        Self { runtime: Some(runtime), ..self }
    }

    /// Runs the hooks before a case; a finding means that the case cannot be run.
    pub(crate) async fn before(&self, suite: &Arc<SuiteOptions>) -> Option<Finding> {
        let cell = {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(begun.entry(identity(suite)).or_default())
        };
        let all = cell.get_or_init(|| self.run(&suite.hooks.before_all, "beforeAll", suite)).await;
        match all {
            Some(finding) => Some(finding.clone()),
            None => self.run(&suite.hooks.before_each, "beforeEach", suite).await,
        }
    }

    /// Runs the hooks after a case; failures are warnings.
    pub(crate) async fn after(&self, suite: &Arc<SuiteOptions>) -> Option<Finding> {
        self.run(&suite.hooks.after_each, "afterEach", suite).await.map(as_warning)
    }

    /// Runs `afterAll` of every suite that has begun.
    pub(crate) async fn end(&self, plan: &Plan) -> Vec<Finding> {
        let mut ended = Vec::new();
        let mut findings = Vec::new();
        for suite in plan.cases.iter().filter_map(|planned| planned.case.suite.as_ref()) {
            let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&identity(suite));
            if !begun || ended.contains(&identity(suite)) {
                continue;
            }
            ended.push(identity(suite));
            findings.extend(self.run(&suite.hooks.after_all, "afterAll", suite).await.map(as_warning));
        }
        self.background.lock().unwrap_or_else(PoisonError::into_inner).clear();
        findings
    }

    async fn run(&self, hooks: &[Hook], when: &'static str, suite: &Arc<SuiteOptions>) -> Option<Finding> {
        let context = HookContext {
            background: Arc::clone(&self.background),
            opener: self.opener.clone(),
            stop: self.stop.clone(),
        };
        let Some(runtime) = &self.runtime else { return run(hooks, when, suite, &context).await };
        let (hooks, suite) = (hooks.to_vec(), Arc::clone(suite));
        let running = runtime.spawn(async move { run(&hooks, when, &suite, &context).await });
        running.await.unwrap_or_else(|error| {
            Some(Finding::error("hook", format!("the `{when}` hook could not be awaited: {error}")))
        })
    }
}

/// Context of commands and calls.
struct HookContext {
    background: Arc<Mutex<Vec<Background>>>,
    opener: Option<Arc<Opener>>,
    stop: Option<Stop>,
}

fn identity(suite: &Arc<SuiteOptions>) -> usize {
    Arc::as_ptr(suite) as usize
}

async fn run(hooks: &[Hook], when: &str, suite: &SuiteOptions, context: &HookContext) -> Option<Finding> {
    let mut stop = context.stop.clone();
    // What cleans up is given a moment; what prepares has nothing to prepare for any more.
    let grace = if when.starts_with("after") { GRACE } else { Duration::ZERO };
    for hook in hooks {
        let stopped = async {
            match &mut stop {
                Some(stop) => stop.stopped().await,
                None => std::future::pending().await,
            }
            tokio::time::sleep(grace).await;
        };
        // A command that is no longer awaited is ended.
        let ended = tokio::select! {
            ended = run_one(hook, context) => ended,
            () = stopped => Err("the run was stopped".to_owned()),
        };
        if let Err(reason) = ended {
            let text = match &hook.message {
                Some(message) => format!("{message} (the `{when}` command failed: {reason})"),
                None => format!("the `{when}` hook failed: {reason}"),
            };
            return Some(Finding::error("hook", text).at(suite.source.place(hook.span)));
        }
    }
    None
}

async fn run_one(hook: &Hook, context: &HookContext) -> Result<(), String> {
    if let Some(call) = &hook.call {
        return Box::pin(call_tool(call, hook.timeout, context)).await;
    }
    if hook.background {
        let started = Background::start(&hook.words)?;
        context.background.lock().unwrap_or_else(PoisonError::into_inner).push(started);
    } else {
        run_command(&hook.words, hook.timeout).await?;
    }
    match &hook.wait_for {
        Some(target) => wait_until_reachable(target, &HttpClient::default(), hook.timeout).await,
        None => Ok(()),
    }
}

/// Calls a tool on a session of its own; an error of any kind is a failure.
async fn call_tool(call: &HookCall, timeout: Duration, context: &HookContext) -> Result<(), String> {
    let Some(opener) = &context.opener else { return Err("no session can be opened here".to_owned()) };
    let deadline = Instant::now() + timeout;
    let opened = opener.open(&call.server, &Variables::default(), deadline).await;
    let mut session = opened.map_err(|failure| format!("`{}`: {}", call.server.name, failure.message))?;
    let exchange = session.call_tool(&call.tool, &call.args, deadline).await;
    session.close().await;
    let what = format!("the call of `{}`", call.tool);
    match &exchange.outcome {
        Outcome::Result(result) if result.get("isError").and_then(Value::as_bool) == Some(true) => {
            Err(format!("{what} was answered with an error: {}", shorten(&text_of_tool_result(result), 200)))
        }
        outcome => match calls::no_result(&what, outcome, None) {
            Some(finding) => Err(finding.message),
            None => Ok(()),
        },
    }
}

fn as_warning(mut finding: Finding) -> Finding {
    finding.severity = mcprove_model::Severity::Warning;
    finding
}
