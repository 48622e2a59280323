//! From what a server lists to the cases of a scan: pure.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcprove_judge::harm::HarmGuard;
use mcprove_judge::listed_values::ListingTools;
use mcprove_judge::negative::Probe;
use mcprove_judge::sequences::{SequenceModel, SequenceTool};
use mcprove_judge::too_complex;
use mcprove_judge::tool_effect::{Consent, ScanPlan, ToolEffect};
use mcprove_model::{Case, Finding, OFFER_TAG, ServerSpec};
use mcprove_suite::template::FIXTURE;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::ScanSubject;
use super::audit::{AuditTool, PlannedCall};
use super::fuzz::{FuzzPlan, FuzzTarget, FuzzTool};
use super::offer::offered_items;
use super::probe::ProbeTool;
use super::sequences::{SequencePlan, SequenceScan, plan_sequences, surroundings};
use crate::discover::{Catalog, nameless, repeated_names, tool_name};
use crate::fixture_guard::{SCRATCH, written};

/// A scan of the tools of a server.
#[derive(Clone, Debug)]
pub struct ScanOptions {
    /// Kind of the scan.
    pub kind: ScanKind,
    /// Which tools may be called.
    pub consent: Consent,
    /// Only these tools; all when empty.
    pub tools: Vec<String>,
    /// Arguments that the user gave, by tool.
    pub given: BTreeMap<String, Vec<Value>>,
    /// A folder that is copied for the scan; `{{fixture}}` in the server's description is the copy.
    pub fixture: Option<PathBuf>,
    /// The time the server may take to start.
    pub start: Duration,
    /// The time a call may take.
    pub timeout: Duration,
    /// Fixes the generated inputs.
    pub seed: u64,
}

/// Kinds of scans.
#[derive(Clone, Debug)]
pub enum ScanKind {
    /// It is called once with a valid input.
    Audit {
        /// True if each tool that answers is called again on a fresh server, to see what stays the same.
        repeat: bool,
    },
    /// It is sent what it must reject.
    Probe {
        /// The probes.
        probes: Vec<&'static Probe>,
        /// The size of an oversized argument in bytes.
        oversized: usize,
    },
    /// It is called with inputs that break programs.
    Fuzz(FuzzScan),
    /// Sequences of calls of all tools.
    Sequences(SequenceScan),
}

/// Options of fuzzing.
#[derive(Clone, Debug)]
pub struct FuzzScan {
    /// The number of calls for each tool.
    pub runs: usize,
    /// The time after which everything ends, whatever is left to do.
    pub time: Option<Duration>,
    /// True if success on an input that the schema refuses is a failure.
    pub strict_input: bool,
    /// The number of fresh servers that may be started to shrink one failure.
    pub attempts: usize,
    /// The command line that repeats all of this, without `--tool`, `--runs` and `--seed`.
    pub command: String,
    /// The beginning of a command line that calls one tool of the same server.
    pub call: String,
}

/// A scan that was planned.
#[derive(Debug)]
pub struct PlannedScan {
    /// A case for each tool, in listed order.
    pub cases: Vec<Arc<Case>>,
    /// Findings about the server's lists, and notes before the first call.
    pub findings: Vec<Finding>,
    /// Which tools are called, and why not.
    pub tools: ScanPlan,
    /// Each tool with the input that was made for it, and no answers yet.
    pub called: Vec<PlannedCall>,
}

/// Plans a scan of the tools that a server lists.
pub fn plan_scan(server: &Arc<ServerSpec>, catalog: &Catalog, options: &ScanOptions) -> PlannedScan {
    let tools = chosen_tools(catalog, options);
    let plan = ScanPlan::new(&tools, catalog.instructions.as_deref(), options.consent, &options.tools);
    let called: Vec<PlannedCall> =
        tools.iter().enumerate().map(|(at, tool)| input_of(tool, &plan, at, catalog, options)).collect();
    if let ScanKind::Sequences(sequences) = &options.kind {
        return of_sequences(server, catalog, (options, sequences), (&tools, plan, called));
    }
    let works = works(&tools, &plan, &called, options);
    let cases = tools.iter().zip(&called).zip(works).enumerate().map(|(at, ((tool, called), work))| {
        let subject = ScanSubject {
            name: tool_name(tool),
            server,
            fixture: options.fixture.clone(),
            skip: called.skipped.clone(),
            tags: vec![tag(plan.effect(at)).to_owned()],
            start: options.start,
        };
        match work {
            Work::Audit(audit) => subject.case("audit", audit),
            Work::Probe(probe) => subject.case("probe", probe),
            Work::Fuzz(fuzz) => subject.case("fuzz", fuzz),
        }
    });
    let mut findings = catalog.findings.clone();
    findings.extend(nameless(&tools).into_iter().chain(repeated_names(&tools)));
    findings.extend(tools.iter().flat_map(complex_schemas));
    findings.extend(on_own_data(&plan, options));
    if matches!(options.kind, ScanKind::Fuzz(_)) {
        findings.push(Finding::note("seed", format!("seed {}", options.seed)));
    }
    let mut cases: Vec<Arc<Case>> = cases.collect();
    if matches!(options.kind, ScanKind::Audit { .. }) && options.tools.is_empty() {
        cases.extend(offered_items(catalog, options.timeout).into_iter().map(|item| {
            let subject = ScanSubject {
                name: &item.name.clone(),
                server,
                fixture: options.fixture.clone(),
                skip: None,
                tags: vec![OFFER_TAG.to_owned()],
                start: options.start,
            };
            subject.case("audit", item)
        }));
    }
    let called = called.into_iter().map(|called| PlannedCall { input: called.input.as_ref().map(written), ..called });
    PlannedScan { cases, findings, called: called.collect(), tools: plan }
}

/// Length of a name from which on a tool is not called: sequences name their tools in every line.
const LONG_NAME: usize = 1 << 10;

/// The plan of the work on sequences: the tools that may be called are one model.
fn of_sequences(
    server: &Arc<ServerSpec>,
    catalog: &Catalog,
    (options, sequences): (&ScanOptions, &SequenceScan),
    (tools, plan, called): (&[Value], ScanPlan, Vec<PlannedCall>),
) -> PlannedScan {
    let is_long = |at: &usize| tool_name(&tools[*at]).len() > LONG_NAME;
    let callable: Vec<usize> = (0..tools.len()).filter(|at| called[*at].skipped.is_none() && !is_long(at)).collect();
    let long = (0..tools.len()).filter(is_long).count();
    let chosen: Vec<Value> = callable.iter().map(|at| tools[*at].clone()).collect();
    let guards = callable.iter().map(|at| guard_of(&tools[*at], plan.effect(*at), options)).collect();
    let given = chosen.iter().map(|tool| options.given.get(tool_name(tool)).cloned().unwrap_or_default()).collect();
    let has_resources = !catalog.resources.is_empty() || !catalog.templates.is_empty();
    let model = SequenceModel::new(&chosen, catalog.instructions.as_deref(), has_resources, &sequences.dictionary);
    let has_writes = model.tools.iter().any(SequenceTool::writes);
    let (cases, learned) = plan_sequences(
        server,
        SequencePlan {
            model,
            tools: chosen,
            around: surroundings(guards, given, catalog.places.clone()),
            options: sequences.clone(),
            corpus: Vec::new(),
            fixture: options.fixture.clone(),
            start: options.start,
            timeout: options.timeout,
            seed: options.seed,
            begun: OnceLock::new(),
        },
        has_writes,
    );
    let mut findings = catalog.findings.clone();
    findings.extend(nameless(tools).into_iter().chain(repeated_names(tools)));
    findings.extend(on_own_data(&plan, options));
    findings.extend(learned);
    if long > 0 {
        let text = format!("{long} of the tools have names of more than {LONG_NAME} bytes and are not called");
        findings.push(Finding::note("learned", text));
    }
    findings.push(Finding::note("seed", format!("seed {}", options.seed)));
    PlannedScan { cases, findings, called, tools: plan }
}

/// The tools that are chosen, in listed order.
fn chosen_tools(catalog: &Catalog, options: &ScanOptions) -> Vec<Value> {
    let is_chosen =
        |tool: &&Value| options.tools.is_empty() || options.tools.iter().any(|only| tool_name(tool) == only);
    catalog.tools.iter().filter(is_chosen).cloned().collect()
}

/// The chosen tools with the inputs that are made for them. Paths in the inputs are templates.
pub(crate) fn planned_inputs(catalog: &Catalog, options: &ScanOptions) -> (ScanPlan, Vec<PlannedCall>) {
    let tools = chosen_tools(catalog, options);
    let plan = ScanPlan::new(&tools, catalog.instructions.as_deref(), options.consent, &options.tools);
    let calls = tools.iter().enumerate().map(|(at, tool)| input_of(tool, &plan, at, catalog, options)).collect();
    (plan, calls)
}

/// Schemas of a tool that are too complex to judge.
fn complex_schemas(tool: &Value) -> impl Iterator<Item = Finding> {
    ["inputSchema", "outputSchema"].into_iter().filter_map(|key| {
        let problem = too_complex(tool.get(key)?)?;
        let text = format!("tool `{}`: `{key}`: {problem}", tool_name(tool));
        Some(Finding::warning("complex-schema", text).help("split the tool, or describe it with fewer schemas"))
    })
}

enum Work {
    Audit(AuditTool),
    Probe(ProbeTool),
    Fuzz(FuzzTool),
}

/// The work on each tool.
fn works(tools: &[Value], plan: &ScanPlan, called: &[PlannedCall], options: &ScanOptions) -> Vec<Work> {
    let allows_all = options.consent == Consent::IncludeWrites;
    let given = |tool: &Value| options.given.get(tool_name(tool)).cloned().unwrap_or_default();
    let input = |at: usize| called[at].input.clone().unwrap_or_default();
    let each = tools.iter().enumerate();
    // Tools that may be called as they are: what they list is what others can be asked for.
    let is_callable = |at: &usize| called[*at].skipped.is_none();
    let callable: Vec<&Value> = (0..tools.len()).filter(is_callable).map(|at| &tools[at]).collect();
    // Arguments that the user gave are not replaced.
    let is_given = |tool: &Value| options.given.contains_key(tool_name(tool));
    let listing_tools = ListingTools::among(&callable);
    let listing = |tool: &Value| {
        let listing = if is_given(tool) { Vec::new() } else { listing_tools.of(tool) };
        listing.into_iter().map(|tool| tool_name(tool).to_owned()).collect()
    };
    match &options.kind {
        ScanKind::Audit { repeat } => {
            let repeat = Arc::new(AtomicBool::new(*repeat));
            each.map(|(at, tool)| {
                Work::Audit(AuditTool {
                    tool: tool.clone(),
                    effect: plan.effect(at).clone(),
                    input: input(at),
                    fuller_seed: (!is_given(tool)).then_some(options.seed),
                    allows_all,
                    listing: listing(tool),
                    repeat: Arc::clone(&repeat),
                    timeout: options.timeout,
                })
            })
            .collect()
        }
        ScanKind::Probe { probes, oversized } => each
            .map(|(at, tool)| {
                Work::Probe(ProbeTool {
                    tool: tool.clone(),
                    effect: plan.effect(at).clone(),
                    input: input(at),
                    given: given(tool),
                    allows_all,
                    probes: probes.clone(),
                    oversized: *oversized,
                    timeout: options.timeout,
                })
            })
            .collect(),
        ScanKind::Sequences(_) => unreachable!("sequences have a plan of their own"),
        ScanKind::Fuzz(fuzz) => {
            let target = |at: usize| FuzzTarget {
                tool: tools[at].clone(),
                effect: plan.effect(at).clone(),
                given: given(&tools[at]),
            };
            let shared = Arc::new(FuzzPlan {
                tools: (0..tools.len()).filter(is_callable).map(target).collect(),
                seed: options.seed,
                runs: fuzz.runs,
                time: fuzz.time,
                start: options.start,
                timeout: options.timeout,
                strict_input: fuzz.strict_input,
                attempts: fuzz.attempts,
                allows_all,
                command: fuzz.command.clone(),
                call: fuzz.call.clone(),
                begun: OnceCell::new(),
            });
            // A tool that is skipped is never looked up.
            let at = |at: usize| (0..at).filter(is_callable).count();
            each.map(|(index, _)| Work::Fuzz(FuzzTool { plan: Arc::clone(&shared), at: at(index) })).collect()
        }
    }
}

/// Guard for the inputs that may be sent to a tool.
fn guard_of(tool: &Value, effect: &ToolEffect, options: &ScanOptions) -> HarmGuard {
    let given = options.given.get(tool_name(tool)).map(Vec::as_slice).unwrap_or_default();
    let mut guard = HarmGuard::new(tool, effect, SCRATCH).with_given(given);
    if options.fixture.is_some() {
        guard = guard.with_fixture(&format!("{{{{{FIXTURE}}}}}"));
    }
    guard.allowing_all_if(options.consent == Consent::IncludeWrites)
}

/// A tool with the input that is made for it, or the reason why it is not called.
fn input_of(tool: &Value, plan: &ScanPlan, at: usize, catalog: &Catalog, options: &ScanOptions) -> PlannedCall {
    let given = options.given.get(tool_name(tool)).map(Vec::as_slice).unwrap_or_default();
    let guard = guard_of(tool, plan.effect(at), options);
    // Hundreds of inputs are made of it: what takes too long to judge takes too long, and too much memory, to make.
    let problem = tool.get("inputSchema").filter(|_| matches!(options.kind, ScanKind::Fuzz(_))).and_then(too_complex);
    let made = match (given.first(), &problem) {
        (_, Some(problem)) => Err(problem.to_string()),
        (Some(given), None) => Ok(given.clone()),
        (None, None) => guard.input(tool, options.seed, catalog.places.as_ref()).map_err(|why| why.to_string()),
    };
    let needs_input = problem.is_some() || !matches!(options.kind, ScanKind::Fuzz(_) | ScanKind::Sequences(_));
    let skipped = match (&made, plan.skipped(at)) {
        (_, _) if tool_name(tool).is_empty() => Some("it has no name to call it by".to_owned()),
        (_, Some(reason)) => Some(reason.to_owned()),
        (Err(why), None) if needs_input => Some(format!("no valid input could be made for it: {why}")),
        (Err(_) | Ok(_), None) => None,
    };
    let (tool, input) = (tool_name(tool).to_owned(), made.ok());
    PlannedCall { tool, input, judged: None, replies: Vec::new(), skipped, misses_file: false }
}

/// The tag of a case, by the effect of its tool.
fn tag(effect: &ToolEffect) -> &'static str {
    match effect {
        ToolEffect::Reads => "reads",
        ToolEffect::Writes { .. } | ToolEffect::LooksLikeWriting { .. } => "writes",
        ToolEffect::Unclear => "unclear",
    }
}

/// Tools that write work on whatever the server has; the user should know how to keep that safe.
fn on_own_data(plan: &ScanPlan, options: &ScanOptions) -> Option<Finding> {
    let writes = plan.tools.iter().any(|tool| matches!(tool.effect, ToolEffect::Writes { .. }));
    let is_fuzz = matches!(options.kind, ScanKind::Fuzz(_));
    (writes && !is_fuzz && options.consent == Consent::IncludeWrites && options.fixture.is_none()).then(|| {
        Finding::note("own-data", "tools that write are called, and work on the server's own data")
            .help("`--fixture DIR` gives the server a copy of a folder: `{{fixture}}` in its arguments")
    })
}
