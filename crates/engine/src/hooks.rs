//! Commands that a suite runs around its cases.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcprove_model::{Finding, Hook, Plan, SuiteOptions};
use mcprove_wire::run_command;
use tokio::sync::OnceCell;

/// How long a command may take.
const DEADLINE: Duration = Duration::from_mins(1);

/// What became of `beforeAll` of one suite: nothing to say, or why its cases cannot be run.
type Begun = OnceCell<Option<Finding>>;

/// What became of `beforeAll` of each suite; it is run once, by whichever case comes first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks {
    begun: Arc<Mutex<HashMap<usize, Arc<Begun>>>>,
}

impl Hooks {
    /// Runs what comes before a case; a finding means that the case cannot be run.
    pub(crate) async fn before(&self, suite: &Arc<SuiteOptions>) -> Option<Finding> {
        let cell = {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(begun.entry(identity(suite)).or_default())
        };
        let all = cell.get_or_init(|| run(&suite.hooks.before_all, "beforeAll", suite)).await;
        match all {
            Some(finding) => Some(finding.clone()),
            None => run(&suite.hooks.before_each, "beforeEach", suite).await,
        }
    }

    /// Runs what comes after a case; what goes wrong is worth a warning.
    pub(crate) async fn after(&self, suite: &Arc<SuiteOptions>) -> Option<Finding> {
        run(&suite.hooks.after_each, "afterEach", suite).await.map(as_warning)
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
            findings.extend(run(&suite.hooks.after_all, "afterAll", suite).await.map(as_warning));
        }
        findings
    }
}

fn identity(suite: &Arc<SuiteOptions>) -> usize {
    Arc::as_ptr(suite) as usize
}

async fn run(hooks: &[Hook], when: &str, suite: &SuiteOptions) -> Option<Finding> {
    for hook in hooks {
        if let Err(reason) = run_command(&hook.words, DEADLINE).await {
            let text = format!("the `{when}` hook failed: {reason}");
            return Some(Finding::error("hook", text).at(suite.source.place(hook.span)));
        }
    }
    None
}

fn as_warning(mut finding: Finding) -> Finding {
    finding.severity = mcprove_model::Severity::Warning;
    finding
}
