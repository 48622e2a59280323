//! Settings for all tests of a suite.

use std::sync::Arc;

use mcprove_judge::matchers::graded;
use mcprove_model::{Diagnostics, Judge, Node, Provider, ServerSpec, SuiteOptions};

use super::default_test::DefaultTest;
use super::lifecycle::When;
use super::performance::Performance;
use super::run_options::RunOptions;
use super::{SETTINGS, Unit, default_test, lifecycle, performance, run_options, security};

/// A key of a suite file that sets options of all its cases.
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) decode: fn(&Node, &mut SuiteOptions, &mut Diagnostics<'_>),
}

/// Settings for all tests; if several files have the same setting, the one that imports the others wins.
pub(super) struct General {
    pub(super) run: RunOptions,
    pub(super) performance: Performance,
    pub(super) defaults: DefaultTest,
    pub(super) defaults_of: Option<usize>,
    pub(super) options: Arc<SuiteOptions>,
    /// Calls made before each test.
    pub(super) steps: Vec<Node>,
    pub(super) steps_of: Option<usize>,
}

impl General {
    pub(super) fn decode(
        units: &[Unit],
        providers: &[Arc<Provider>],
        server: Option<&Arc<ServerSpec>>,
        found: &mut [Diagnostics<'_>],
    ) -> Self {
        let first = |key: &str| {
            let node = |unit: &Unit| unit.node.get(key).filter(|node| !node.is_null()).cloned();
            units.iter().enumerate().find_map(|(index, unit)| Some((index, node(unit)?)))
        };
        for (unit, found) in units.iter().zip(found.iter_mut()) {
            security::report_empty(&unit.node, found);
        }
        let run = first("run_options").map(|(of, node)| run_options::decode(&node, &mut found[of])).unwrap_or_default();
        let performance =
            first("performance").map(|(of, node)| performance::decode(&node, &mut found[of])).unwrap_or_default();
        let mut options = SuiteOptions {
            providers: providers.to_vec(),
            parallel: run.parallel,
            prestart: run.prestart,
            p95_latency: performance.p95_latency,
            load: performance.load.clone(),
            ..SuiteOptions::new(Arc::clone(&units[0].source))
        };
        for setting in SETTINGS {
            if let Some((of, node)) = first(setting.key) {
                (setting.decode)(&node, &mut options, &mut found[of]);
            }
        }
        let (mut steps, mut steps_of) = (Vec::new(), None);
        for when in [When::Setup, When::PerTest, When::Teardown] {
            if let Some((of, node)) = first(when.key()) {
                let calls = lifecycle::decode(when, &node, &mut options.hooks, server, &mut found[of]);
                if !calls.is_empty() {
                    (steps, steps_of) = (calls, Some(of));
                }
            }
        }
        let defaults = first("defaultTest").map(|(of, node)| (of, default_test::decode(&node, &mut found[of])));
        let defaults_of = defaults.as_ref().map(|(of, _)| *of);
        let defaults = defaults.map(|(_, defaults)| defaults).unwrap_or_default();
        Self { run, performance, defaults, defaults_of, options: Arc::new(options), steps, steps_of }
    }
}

/// Decodes the default judge for checks that name none.
pub(super) fn decode_judge(node: &Node, found: &mut Diagnostics<'_>) -> Option<Judge> {
    found.map(node, "`judge`")?;
    found.known_keys(node, "`judge`", &["model", "script"]);
    if node.get("model").is_none_or(Node::is_null) {
        found.error_with_help("missing-key", node.span, "`judge` has no `model`", "add `model:`");
        return None;
    }
    graded::decode_judge(node, "`judge`", found)
}

/// The tags of the models that a suite is for.
pub(super) fn decode_models(units: &[Unit], found: &mut [Diagnostics<'_>]) -> Vec<String> {
    let mut tags = Vec::new();
    for (unit, found) in units.iter().zip(found) {
        let list = unit.node.get("model_compatibility").filter(|list| !list.is_null());
        for model in list.map(|list| found.list(list, "`model_compatibility`")).unwrap_or_default() {
            tags.extend(found.text(model, "a model").map(|name| format!("model:{name}")));
        }
    }
    tags
}
