//! The calls that a load is made of.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use mcprove_judge::tool_effect::ScanPlan;
use mcprove_model::{Act, Case, Expectation, Finding, Prompts, ResourceAsk, ServerSpec};
use mcprove_suite::template::{Variables, filled};
use serde_json::{Value, json};

use crate::Catalog;
use crate::conversation::text;
use crate::expectations;
use crate::fixture_guard::FixtureGuard;
use crate::scan::{ScanOptions, planned_inputs};

/// The calls that a load is made of.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    pub(super) calls: Vec<LoadCall>,
    /// The folder that is copied for the server.
    pub(super) fixture: Option<PathBuf>,
}

/// A kind of call.
#[derive(Clone, Debug)]
pub(super) struct LoadCall {
    /// Its name: that of the test or the tool.
    pub(super) name: String,
    /// Its share of all calls.
    pub(super) weight: u32,
    pub(super) request: LoadRequest,
    /// The expectation of a suite.
    pub(super) expect: Option<Arc<SuiteExpectation>>,
    /// True if a call that fails by itself is left out of the load, false if it is a defect.
    pub(super) is_generated: bool,
}

/// The request of a call.
#[derive(Clone, Debug)]
pub(super) enum LoadRequest {
    /// `tools/call`.
    Tool { name: String, arguments: Value },
    /// Any other request.
    Other { method: &'static str, params: Value },
}

/// The expectation of a test.
#[derive(Debug)]
pub(super) struct SuiteExpectation {
    pub(super) case: Arc<Case>,
    /// The expectation of the case, with its templates filled in.
    pub(super) expect: Expectation,
}

/// A workload from what a server lists.
#[derive(Debug)]
pub struct CatalogWorkload {
    /// The calls.
    pub workload: Workload,
    /// Which tools are called, and why not.
    pub tools: ScanPlan,
    /// Tools that are left out, and why.
    pub left_out: Vec<(String, String)>,
}

/// A workload from a suite.
#[derive(Debug)]
pub struct SuiteWorkload {
    /// The calls.
    pub workload: Workload,
    /// The server that they are for.
    pub server: Arc<ServerSpec>,
    /// Tests that are left out, and why.
    pub left_out: Vec<(String, String)>,
}

impl Workload {
    /// True if there is nothing to call.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The names of the calls and their weights.
    pub fn names(&self) -> impl Iterator<Item = (&str, u32)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.weight))
    }

    /// The tool calls with their arguments.
    pub fn tool_calls(&self) -> impl Iterator<Item = (&str, &Value, u32)> {
        self.calls.iter().filter_map(|call| match &call.request {
            LoadRequest::Tool { name, arguments } => Some((name.as_str(), arguments, call.weight)),
            LoadRequest::Other { .. } => None,
        })
    }

    /// The order of calls: each appears by its weight, spread evenly.
    pub(super) fn order(&self) -> Vec<usize> {
        let total: u32 = self.calls.iter().map(|call| call.weight).sum();
        let mut credit = vec![0_i64; self.calls.len()];
        let mut order = Vec::new();
        for _ in 0..total {
            credit.iter_mut().zip(&self.calls).for_each(|(credit, call)| *credit += i64::from(call.weight));
            let best = (0..credit.len()).max_by_key(|at| (credit[*at], std::cmp::Reverse(*at)));
            let Some(best) = best else { break };
            credit[best] -= i64::from(total);
            order.push(best);
        }
        order
    }
}

/// The calls of a catalog: every tool that may be called, with a valid input.
pub fn catalog_workload(catalog: &Catalog, options: &ScanOptions) -> CatalogWorkload {
    let (tools, inputs) = planned_inputs(catalog, options);
    let mut left_out = Vec::new();
    let mut calls = Vec::new();
    for call in inputs {
        match (call.skipped, call.input) {
            (Some(why), _) => left_out.push((call.tool, why)),
            (None, input) => calls.push(LoadCall {
                is_generated: !options.given.contains_key(&call.tool) && options.tools.is_empty(),
                name: call.tool.clone(),
                weight: 1,
                request: LoadRequest::Tool { name: call.tool, arguments: input.unwrap_or_else(|| json!({})) },
                expect: None,
            }),
        }
    }
    CatalogWorkload { workload: Workload { calls, fixture: options.fixture.clone() }, tools, left_out }
}

/// The calls of a suite: every test that is one request, with its weight. All must be for one server.
pub fn suite_workload(cases: &[Arc<Case>], weights: &BTreeMap<String, u32>) -> Result<SuiteWorkload, String> {
    let mut left_out = Vec::new();
    let mut calls = Vec::new();
    let (mut server, mut fixture): (Option<Arc<ServerSpec>>, Option<PathBuf>) = (None, None);
    for case in cases {
        let request = match (&case.skip, request_of(case, &Variables::new())) {
            (Some(skip), _) => Err(skip.reason.clone()),
            (None, request) => request.map_err(str::to_owned),
        };
        let request = match request {
            Ok(request) => request,
            Err(why) => {
                left_out.push((case.name.clone(), why));
                continue;
            }
        };
        let Some(of_case) = &case.server else { continue };
        let known = server.get_or_insert_with(|| Arc::clone(of_case));
        if known.target != of_case.target {
            return Err(format!("the tests are for several servers: `{}` and `{}`", known.name, of_case.name));
        }
        fixture = fixture.or_else(|| case.fixture.clone());
        let expect = SuiteExpectation { case: Arc::clone(case), expect: case.expect.clone() };
        calls.push(LoadCall {
            name: case.name.clone(),
            weight: weights.get(&case.name).copied().unwrap_or(1),
            request,
            expect: Some(Arc::new(expect)),
            is_generated: false,
        });
    }
    calls.retain(|call| call.weight > 0);
    let Some(server) = server.filter(|_| !calls.is_empty()) else {
        return Err("no test of the suite is a single request".to_owned());
    };
    Ok(SuiteWorkload { workload: Workload { calls, fixture }, server, left_out })
}

/// The request of a test with its templates filled in, if it is nothing more; otherwise the reason.
fn request_of(case: &Case, variables: &Variables) -> Result<LoadRequest, &'static str> {
    if !case.setup.is_empty() || !case.verify.is_empty() || !case.capture.is_empty() || !case.teardown.is_empty() {
        return Err("it has more steps than one request");
    }
    if case.expect.is_model_graded() {
        return Err("a language model grades it");
    }
    match &case.act {
        Act::CallTool(call) | Act::Notifications(call) => {
            let is_plain = call.cancel_after.is_none()
                && !call.lose_response
                && call.negative_path.is_none()
                && call.beside.is_empty()
                && call.fuzz.is_none()
                && call.transform.is_none()
                && call.metamorphic.is_none()
                && call.injected.is_none()
                && call.claims.is_none();
            if !is_plain || matches!(case.act, Act::Notifications(_)) {
                return Err("it is more than a plain call");
            }
            let name = text(&call.tool, variables);
            Ok(LoadRequest::Tool { name, arguments: filled(&call.args, variables) })
        }
        Act::Resources(resources) => match &resources.ask {
            ResourceAsk::Read { uri } if resources.subscribe.is_none() && resources.expect_notification.is_none() => {
                Ok(LoadRequest::Other { method: "resources/read", params: json!({"uri": text(uri, variables)}) })
            }
            ResourceAsk::Read { .. }
            | ResourceAsk::List { .. }
            | ResourceAsk::Templates { .. }
            | ResourceAsk::Nothing => Err("it is more than one request"),
        },
        Act::Prompts(Prompts::Get { name, arguments }) => {
            let params = json!({"name": text(name, variables), "arguments": filled(arguments, variables)});
            Ok(LoadRequest::Other { method: "prompts/get", params })
        }
        Act::Prompts(Prompts::List { .. })
        | Act::Complete(_)
        | Act::Logging(_)
        | Act::Trajectory(_)
        | Act::Raw(_)
        | Act::Agent(_)
        | Act::ToolQuality
        | Act::Compose(_)
        | Act::Offline(_)
        | Act::Score(_)
        | Act::Scan(_) => Err("it is not a call of a tool, a resource or a prompt"),
    }
}

impl LoadCall {
    /// The call with the paths of this run, and mistakes of an expectation that show only then.
    pub(super) fn filled(self, guard: &FixtureGuard) -> (Self, Vec<Finding>) {
        let variables = guard.variables();
        let Some(of_suite) = &self.expect else {
            let request = match self.request {
                LoadRequest::Tool { name, arguments } => {
                    LoadRequest::Tool { name, arguments: guard.filled(&arguments) }
                }
                LoadRequest::Other { method, params } => LoadRequest::Other { method, params: guard.filled(&params) },
            };
            return (Self { request, ..self }, Vec::new());
        };
        let case = Arc::clone(&of_suite.case);
        let request = request_of(&case, variables).unwrap_or_else(|_| self.request.clone());
        let (expect, findings) = expectations::resolve(&case, &case.expect, variables);
        let expect = expect.into_owned();
        (Self { request, expect: Some(Arc::new(SuiteExpectation { case, expect })), ..self }, findings)
    }
}
