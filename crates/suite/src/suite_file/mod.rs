//! The file kind with many tests: servers by name, what holds for all tests, and lists of tests.
//!
//! Every list of tests has a row in `list::KINDS` or is a block of assertion files; every other key has a file of its
//! own. What the other tool knows and we do not is in `outside`.

mod agents;
mod budget;
mod calibration;
mod claims;
mod compliance;
mod compositions;
mod conformance;
mod coverage;
mod default_test;
pub mod differences;
mod evals;
mod faults;
mod fixtures;
mod fuzz;
mod general;
mod hooks;
mod imports;
mod lifecycle;
mod list;
pub(crate) mod metamorphic;
mod negative_path;
mod performance;
mod prompts;
mod providers;
mod resources;
mod run_options;
mod scenarios;
mod security;
mod servers;
mod short_forms;
mod steps;
mod stepwise;
mod test;
mod tool_quality;
mod tools;
mod transform;
pub(crate) mod unsupported_keys;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcprove_model::{
    Case, Diagnostics, Entry, Finding, Isolation, Kind, Matrix, Node, Provider, Scorer, ServerSpec, SourceFile, Span,
    SuiteOptions, TextPlace,
};
use serde_json::Value;

use crate::assertion_file::templates::Scope;
use crate::assertion_file::{aliases, block, cases, implicit, matrix, redact, skip};
use crate::context::{Context, FileKind, Reader};
use crate::environment::Unset;
use crate::field::{self, Field};
use crate::interpolate::{Interpolation, Syntax};
use crate::schema::fragment;
use crate::server::{self, ServerOverride, keys};
use crate::variables::{self, Variables};
use default_test::DefaultTest;
use faults::Faults;
use fixtures::NamedError;
use general::{General, Setting, decode_models};
use lifecycle::When;
use list::List;
use servers::Servers;

pub use imports::imports;
pub use providers::provider_of_model;
pub use short_forms::is_settings;

/// The keys of a suite file besides its lists of tests, sorted.
const FIELDS: &[Field] = &[
    Field::optional("auth", || server::auth::schema(FileKind::Suite)),
    Field::optional("budget", budget::schema),
    Field::preview("coverage", coverage::schema),
    Field::optional("defaultTest", default_test::schema),
    Field::optional("default_server", short_forms::default_server_schema),
    Field::preview("faults", faults::schema),
    Field::preview("fixtures", fixtures::schema),
    Field::preview("fuzz", fuzz::schema),
    Field::preview("hooks", hooks::schema),
    Field::optional("implicit", implicit::schema),
    Field::optional("imports", || {
        fragment::list("Files whose keys and tests are added to these.", fragment::text("A path."))
    }),
    Field::preview("judge", mcprove_judge::matchers::graded::judge_schema),
    Field::optional("matrix", || matrix::schema(true)),
    Field::optional("model_compatibility", || {
        fragment::texts("Models that the suite is for; each is a tag `model:NAME` of all tests.")
    }),
    Field::optional("performance", performance::schema),
    Field::preview("providers", providers::schema),
    Field::optional("redact", redact::schema),
    Field::preview("rubrics", evals::rubrics_schema),
    Field::optional("run_options", run_options::schema),
    Field::preview("scorers", evals::scorers_schema),
    Field::preview("security", security::schema),
    Field::optional("server", || servers::one_schema(false)),
    Field::optional("servers", servers::schema),
    Field::preview("setup", || lifecycle::schema(When::Setup)),
    Field::preview("setup_per_test", || lifecycle::schema(When::PerTest)),
    Field::preview("target_versions", short_forms::target_versions_schema),
    Field::preview("teardown", || lifecycle::schema(When::Teardown)),
    Field::optional("variables", variables::schema),
];

/// The keys of which each sets options of all cases; if several files have one, the one that imports the others wins.
const SETTINGS: &[Setting] = &[
    Setting { key: "budget", decode: |node, options, found| options.budget = budget::decode(node, found) },
    Setting { key: "coverage", decode: |node, options, found| options.coverage = coverage::decode(node, found) },
    Setting {
        key: "fuzz",
        decode: |node, options, found| options.fuzz = fuzz::decode(node, &Scope::new(false), found),
    },
    Setting { key: "hooks", decode: |node, options, found| options.hooks = hooks::decode(node, found) },
    Setting { key: "judge", decode: |node, options, found| options.judge = general::decode_judge(node, found) },
    Setting { key: "security", decode: |node, options, found| options.security = security::decode(node, found) },
];

/// Keys that both file kinds have, so that they say nothing about the kind.
const SHARED: &[&str] = &["implicit", "matrix", "redact", "server", "setup", "teardown"];

/// A suite file, or one that it imports.
#[derive(Debug)]
pub struct Unit {
    /// The file.
    pub source: Arc<SourceFile>,
    /// Its document.
    pub node: Node,
}

/// A decoded suite file.
#[derive(Debug, Default)]
pub struct Decoded {
    /// Its tests, in file order, those of imported files after its own.
    pub tests: Vec<DecodedTest>,
    /// Findings about it and its imports.
    pub findings: Vec<Finding>,
    /// Values that are not to be shown.
    pub secrets: Vec<String>,
    /// The files that are played as servers.
    pub played: Vec<PlayedFile>,
}

/// A manifest or a recording that is played as a server.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedFile {
    /// Its path, as a person at the caller's folder would write it.
    pub path: PathBuf,
    /// Where a suite names it.
    pub place: TextPlace,
}

/// A test of a suite file.
#[derive(Debug)]
pub struct DecodedTest {
    /// Its name.
    pub name: String,
    /// The file that contains it.
    pub source: Arc<SourceFile>,
    /// Where its name is written.
    pub name_span: Span,
    /// Where it says that only tests like it are to run.
    pub only: Option<Span>,
    /// The case; `None` if a finding prevents it.
    pub case: Option<Arc<Case>>,
}

/// True if a document is a suite file: it has servers, or lists of tests and no block of an assertion file.
pub fn is_suite(document: &Node) -> bool {
    let entries = document.as_map().unwrap_or_default();
    // A block that is a list in an assertion file too says nothing about the kind of file.
    let is_list = |entry: &Entry| {
        let items = entry.value.as_list();
        items.is_some_and(|items| !block::is_spread(&entry.key.text) || items.iter().any(is_spread_test))
    };
    let has_block = entries.iter().any(|entry| block::is_key(&entry.key.text) && !is_list(entry));
    let is_ours = |entry: &Entry| {
        let key = entry.key.text.as_str();
        field::has(FIELDS, key) && !SHARED.contains(&key)
            || list::KINDS.iter().any(|kind| kind.key == key)
            || block::is_key(key) && is_list(entry)
    };
    let is_own_server = || document.get(short_forms::SERVER).is_some_and(server::is_of_suites);
    document.get("servers").is_some() || !has_block && (entries.iter().any(is_ours) || is_own_server())
}

/// True for a test whose block is spread over its keys, such as `trace` and `trajectory`.
fn is_spread_test(item: &Node) -> bool {
    item.as_map().unwrap_or_default().iter().any(|entry| block::is_spread(&entry.key.text))
}

/// True if a key of a suite file holds a list of tests.
pub(crate) fn is_list(key: &str) -> bool {
    List::find(key).is_some()
}

/// True if a document is the manifest of a mock, which may be in a folder of suites.
pub fn is_manifest(document: &Node) -> bool {
    if document.get("servers").is_some() {
        return false;
    }
    let tool = document.get("tools").and_then(Node::as_list).and_then(<[Node]>::first);
    let offers = |tool: &Node| {
        let keys = ["description", "inputSchema", "input_schema", "response", "responses"];
        tool.get("tool").is_none() && keys.iter().any(|key| tool.get(key).is_some())
    };
    document.get("mock_server").is_some() || tool.is_some_and(offers)
}

/// Decodes a suite file, which comes first, with the files it imports; everything that is wrong is found in one go.
pub fn decode(mut units: Vec<Unit>, context: &Context<'_>) -> Decoded {
    let mut decoded = Decoded::default();
    let mut variables = Variables::new(context.environment, context.folder);
    let sources: Vec<Arc<SourceFile>> = units.iter().map(|unit| Arc::clone(&unit.source)).collect();
    let mut found: Vec<Diagnostics<'_>> = sources.iter().map(|source| Diagnostics::new(source)).collect();
    for (unit, found) in units.iter_mut().zip(&mut found) {
        report_unknown(&unit.node, found);
        short_forms::expand(&mut unit.node, found);
        if let Some(node) = unit.node.get("variables") {
            variables.decode(node, &mut decoded.secrets, found);
        }
    }
    for (unit, found) in units.iter_mut().zip(&mut found) {
        let interpolation = Interpolation {
            variables: &variables,
            secrets: &mut decoded.secrets,
            syntax: Syntax::SUITE,
            unset: Unset::Reported,
        };
        interpolate(&mut unit.node, context, interpolation, found);
    }
    for (unit, found) in units.iter().zip(&mut found) {
        if let Some(redact) = unit.node.get("redact") {
            decoded.secrets.extend(redact::decode(redact, found));
        }
    }
    let mut accepts_any_shape = false;
    for (unit, found) in units.iter().zip(&mut found) {
        accepts_any_shape |= implicit::is_off(&unit.node, found);
    }
    let mut reader = Reader { context, secrets: &mut decoded.secrets };
    let mut servers = servers::decode(&units, &mut reader, &mut found);
    let providers = providers::decode(&units, &mut reader, &mut found);
    let faults = faults::decode(&units, &servers, &mut found);
    let scorers: Arc<[Scorer]> = evals::decode_scorers(&units, &mut found).into();
    let rubrics: Vec<(String, Node)> = units
        .iter()
        .flat_map(|unit| unit.node.get("rubrics").and_then(Node::as_map).unwrap_or_default())
        .map(|entry| (entry.key.text.to_string(), entry.value.clone()))
        .collect();
    let errors = fixtures::decode(&units, &mut found);
    let models = decode_models(&units, &mut found);
    for server in servers.iter_mut().filter_map(|(_, server)| server.as_mut()).filter_map(Arc::get_mut) {
        server.secrets.clone_from(&decoded.secrets);
        server.accepts_any_shape = accepts_any_shape;
    }
    decoded.played = servers::played_files(&units);
    let general = General::decode(&units, &providers, default_server(&units, &servers), &mut found);
    security::make_modern(&general.options.security, &units, &mut servers);
    for (unit, found) in units.iter().zip(&mut found) {
        security::report_unknown_servers(&unit.node, &servers, found);
    }
    let matrix = decode_matrix(&units, &servers, context, &mut found);
    let has_servers = units.iter().any(|unit| unit.node.get("servers").is_some());
    let default_server = units.iter().find_map(|unit| unit.node.get("default_server")).cloned();
    short_forms::report_unknown_default(default_server.as_ref(), &servers, &mut found[0]);
    for (index, unit) in units.into_iter().enumerate() {
        let suite = Suite {
            source: Arc::clone(&unit.source),
            context,
            servers: &servers,
            has_servers,
            default_server: default_server.as_ref(),
            steps: if general.steps_of == Some(index) {
                general.steps.clone()
            } else {
                lifecycle::placed_at(&general.steps, Span::default())
            },
            given: context
                .server
                .map(ServerOverride::alone)
                .or_else(|| matrix::any_server(matrix.as_ref()))
                .map(|server| Arc::new(ServerSpec { accepts_any_shape, ..server })),
            matrix: matrix.clone(),
            defaults: &general.defaults,
            has_own_defaults: general.defaults_of == Some(index),
            isolation: general.run.isolation,
            default_timeout: general.performance.default_timeout,
            options: Arc::clone(&general.options),
            faults: &faults,
            providers: &providers,
            scorers: Arc::clone(&scorers),
            rubrics: &rubrics,
            errors: &errors,
            models: &models,
        };
        decode_tests(unit, &suite, &mut found[index], &mut decoded.tests);
    }
    for found in found {
        let mut findings = found.into_findings();
        findings.sort_by_key(crate::load::place_in_file);
        // A mistake in what holds for all tests is found with each of them.
        findings.dedup();
        decoded.findings.append(&mut findings);
    }
    decoded
}

/// The JSON Schema of a suite file.
pub fn schema() -> Value {
    let mut properties = Value::Object(field::properties(FIELDS));
    for list in List::all() {
        properties[list.key()] = test::schema(list);
    }
    properties[compliance::KEY] = compliance::schema(&properties[compliance::KEY]);
    properties[conformance::KEY] = conformance::schema(&properties[conformance::KEY]);
    properties[agents::KIND.key]["x-mcprove-status"] = "preview".into();
    let mut schema = fragment::map("A suite file: servers, and lists of tests.", properties, &[]);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.sort_keys();
    }
    schema
}

/// Context for decoding the tests of a file.
struct Suite<'a> {
    source: Arc<SourceFile>,
    context: &'a Context<'a>,
    /// The servers by name; `None` for one that could not be decoded, which is already reported.
    servers: &'a [(String, Option<Arc<ServerSpec>>)],
    has_servers: bool,
    /// The server of tests that name none.
    default_server: Option<&'a Node>,
    /// Calls made before each test.
    steps: Vec<Node>,
    /// The server of the command line or of the matrix, for tests of files that have none.
    given: Option<Arc<ServerSpec>>,
    matrix: Option<Arc<Matrix>>,
    defaults: &'a DefaultTest,
    /// True if the defaults are in the same file.
    has_own_defaults: bool,
    isolation: Isolation,
    default_timeout: Option<Duration>,
    options: Arc<SuiteOptions>,
    /// Faults that agents may be given.
    faults: &'a Faults,
    /// Providers of language models: those of the suite, and the built-in ones.
    providers: &'a [Arc<Provider>],
    /// Commands that grade answers.
    scorers: Arc<[Scorer]>,
    /// Rubrics by name.
    rubrics: &'a [(String, Node)],
    /// Errors that stand in for answers.
    errors: &'a [NamedError],
    /// Tags of the models that the suite is for.
    models: &'a [String],
}

impl Suite<'_> {
    /// A default of all tests; for tests of other files than its own, every place in it becomes that of the test.
    fn default_at(&self, default: &Node, place: Span) -> Node {
        if self.has_own_defaults { default.clone() } else { Node::from_json(place, default.to_json()) }
    }

    /// True if a test need not say which server it is for: the columns of the matrix do, or the command line.
    fn has_columns(&self) -> bool {
        self.matrix.as_ref().is_some_and(|matrix| !matrix.servers.is_empty() || self.context.server.is_some())
    }
}

fn report_unknown(node: &Node, found: &mut Diagnostics<'_>) {
    let Some(entries) = found.map(node, "a suite file") else { return };
    let known = known_keys();
    unsupported_keys::known_keys(entries, "a suite file", &known, unsupported_keys::OF_SUITE, found);
}

/// Every key a suite file may have.
fn known_keys() -> Vec<&'static str> {
    field::keys(FIELDS).into_iter().chain(List::all().map(List::key)).collect()
}

/// Replaces references everywhere but in `variables`, which is decoded on its own.
fn interpolate(
    node: &mut Node,
    context: &Context<'_>,
    mut interpolation: Interpolation<'_>,
    found: &mut Diagnostics<'_>,
) {
    let Kind::Map(entries) = &mut node.kind else { return };
    for entry in entries.iter_mut().filter(|entry| entry.key.text != "variables") {
        match (entry.key.text.as_str(), &mut entry.value.kind) {
            ("servers", Kind::Map(servers)) => {
                for server in servers {
                    let Kind::Map(parts) = &mut server.value.kind else { continue };
                    for part in parts {
                        interpolation.syntax = keys::syntax(&part.key.text, FileKind::Suite).unwrap_or(Syntax::SUITE);
                        interpolation.apply(&mut part.value, found);
                    }
                }
                interpolation.syntax = Syntax::SUITE;
            }
            (key, Kind::List(tests)) if List::find(key).is_some() => {
                for test in tests {
                    // A test that is skipped because of a missing variable needs no warning about it.
                    let mut unheard = Diagnostics::new(found.source());
                    let is_skipped = skip::decode(test, &context.environment, &mut unheard).is_some();
                    interpolation.unset = if is_skipped { Unset::Ignored } else { Unset::Reported };
                    interpolation.apply(test, found);
                }
                interpolation.unset = Unset::Reported;
            }
            (_, Kind::Scalar(_) | Kind::List(_) | Kind::Map(_)) => interpolation.apply(&mut entry.value, found),
        }
    }
}

/// The matrix of all tests; where several files have one, that of the file that imports the others.
fn decode_matrix(
    units: &[Unit],
    servers: &Servers,
    context: &Context<'_>,
    found: &mut [Diagnostics<'_>],
) -> Option<Arc<Matrix>> {
    let scope = Scope::new(context.fixture.is_some());
    let around = matrix::Around { described: Some(servers), given: context.server, scope: &scope };
    let entry = |unit: &Unit| -> Option<Entry> {
        unit.node.as_map()?.iter().find(|entry| entry.key.text == "matrix" && !entry.value.is_null()).cloned()
    };
    let (of, entry) = units.iter().enumerate().find_map(|(of, unit)| Some((of, entry(unit)?)))?;
    matrix::decode(&entry, &around, &mut found[of])
}

/// The server of what names none: that of `default_server`, or the only one.
fn default_server<'s>(units: &[Unit], servers: &'s Servers) -> Option<&'s Arc<ServerSpec>> {
    let named = units.iter().find_map(|unit| unit.node.get("default_server")?.as_text());
    match (named, &servers[..]) {
        (Some(named), _) => servers.iter().find(|(name, _)| name == named).and_then(|(_, server)| server.as_ref()),
        (None, [(_, only)]) => only.as_ref(),
        (None, _) => None,
    }
}

/// Decodes the tests of a file. The tree goes as its cases come: of a large suite, it is the larger of the two.
fn decode_tests(unit: Unit, suite: &Suite<'_>, found: &mut Diagnostics<'_>, tests: &mut Vec<DecodedTest>) {
    let Kind::Map(entries) = unit.node.kind else { return };
    let mut room = cases::Room::new();
    for entry in entries.into_iter().filter(|entry| !entry.value.is_null()) {
        let Some(list) = List::find(&entry.key.text) else { continue };
        let keys = test::keys(list);
        found.list(&entry.value, &format!("`{}`", entry.key.text));
        let Kind::List(nodes) = entry.value.kind else { continue };
        let mut expanded = Vec::with_capacity(nodes.len());
        for node in nodes {
            if list.key() == compositions::KEY {
                expanded.extend(compositions::for_each_case(node, found));
                continue;
            }
            expanded.extend(
                cases::expand(node, &mut room, found).into_iter().flat_map(|node| agents::for_each_model(list, node)),
            );
        }
        for mut node in expanded {
            let (mut list, mut keys) = (list, Cow::Borrowed(&keys[..]));
            if list.key() == stepwise::KEY {
                let (Some(test), Some(tools)) = (stepwise::rewritten(node, found), List::find("tools")) else {
                    continue;
                };
                (list, node, keys) = (tools, test, Cow::Owned(test::keys(tools)));
            }
            if list.needs_server() {
                lifecycle::with_calls(&mut node, &suite.steps);
            }
            aliases::of_list(list.key()).rename(&mut node);
            let Some(test) = test::decode(list, &keys, &node, suite, found) else { continue };
            tests.push(DecodedTest {
                name: test.name,
                source: Arc::clone(&unit.source),
                name_span: test.name_span,
                only: test.only,
                case: test.case,
            });
        }
    }
}
