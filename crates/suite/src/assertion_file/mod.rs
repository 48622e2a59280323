//! The file kind with one assertion per document: a server, optional steps, and one block that says what to do.
//!
//! Every block lives in a file of its own and has a row in `block::BLOCKS`; the parts that blocks share (server,
//! steps, skip, expectation) have a file each.

pub(crate) mod aliases;
mod assert_completion;
mod assert_logging;
mod assert_notifications;
mod assert_prompts;
mod assert_raw;
mod assert_resources;
mod assert_sampling;
pub(crate) mod assert_tool;
pub(crate) mod block;
pub(crate) mod cases;
mod concurrent_calls;
pub(crate) mod defaults;
pub(crate) mod expectation;
mod fuzz;
pub(crate) mod implicit;
mod listing;
pub(crate) mod mask;
pub(crate) mod matrix;
pub(crate) mod redact;
mod server;
pub(crate) mod skip;
pub(crate) mod steps;
pub(crate) mod tags;
pub(crate) mod templates;
pub(crate) mod texts;
pub(crate) mod time;
mod trajectory;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcprove_model::{
    Case, Diagnostics, Entry, Finding, Isolation, Matrix, Node, ServerSpec, Severity, SourceFile, Span,
};
use serde_json::{Value, json};

use crate::context::Context;
use crate::environment::Unset;
use crate::field::{self, Field};
use crate::interpolate::{Interpolation, Syntax};
use crate::schema::fragment;
use crate::server::{ServerOverride, client_capabilities, keys};
use crate::variables::Variables;
use block::BLOCKS;
use steps::NoFurtherKeys;
use templates::Scope;

/// The keys of a document besides those of its block, sorted.
const FIELDS: &[Field] = &[
    Field::optional("cases", cases::schema),
    Field::optional("implicit", implicit::schema),
    Field::optional("known", known_schema),
    Field::optional("mask", mask::schema),
    Field::optional("matrix", || matrix::schema(false)),
    Field::optional("name", || fragment::scalar("Name of the test; the file's name when left out.")),
    Field::optional("redact", redact::schema),
    Field::optional("server", keys::schema),
    Field::optional("setup", || steps_schema("Calls made before the block.")),
    Field::optional("skip", skip_schema),
    Field::optional("skip_unless_env", skip_unless_env_schema),
    Field::optional("tags", tags::schema),
    Field::optional("teardown", || steps_schema("Calls made at the end, also after a failure.")),
    Field::optional("timeout", || fragment::duration("The time limit, for example `30s`.")),
    Field::optional("verify", || steps_schema("Calls made after the block, to look at the state it left.")),
];

/// The keys of a document that hold steps.
pub(crate) const STEPS: &[&str] = &["setup", "verify", "teardown"];

/// One document of a file.
#[derive(Clone, Copy)]
pub struct Document<'n> {
    /// Its tree.
    pub node: &'n Node,
    /// Its number in the file, from 1.
    pub number: usize,
    /// Number of documents in the file.
    pub of: usize,
}

/// A decoded document.
#[derive(Debug)]
pub struct Decoded {
    /// The name of its case; also known when the case itself could not be made.
    pub name: String,
    /// Where the name is written, or else the document.
    pub name_span: Span,
    /// The case; `None` if a finding prevents it.
    pub case: Option<Case>,
    /// Findings about the document.
    pub findings: Vec<Finding>,
    /// Texts that are not to be shown.
    pub secrets: Vec<String>,
}

/// Decodes one document; everything that is wrong with it is found in one go.
pub fn decode(source: &Arc<SourceFile>, document: Document<'_>, context: &Context<'_>) -> Decoded {
    let mut found = Diagnostics::new(source);
    let node = document.node;
    let (name, name_span) = name(source, document, &mut found);
    let mut parts = if node.is_null() {
        let what = if document.of > 1 { "this document is empty" } else { "the file is empty" };
        found.error_with_help("empty-document", node.span, what, "write an assertion, or remove it");
        None
    } else {
        decode_parts(node, context, &mut found)
    };
    let secrets = parts.as_mut().map(|parts| std::mem::take(&mut parts.redacted)).unwrap_or_default();
    let findings = found.into_findings();
    let is_usable = !findings.iter().any(|finding| finding.severity >= Severity::Error);
    let case = parts.filter(|_| is_usable).map(|parts| Case {
        name: name.clone(),
        source: Arc::clone(source),
        span: node.span,
        server: parts.server.map(Arc::new),
        setup: parts.setup,
        capture: Vec::new(),
        verify: parts.verify,
        teardown: parts.teardown,
        act: parts.asked.act,
        expect: parts.asked.expect,
        fixture: context.fixture.map(Path::to_path_buf),
        matrix: parts.matrix,
        isolation: Isolation::Case,
        masks: parts.masks,
        tags: parts.tags,
        timeout: parts.timeout,
        skip: parts.skip,
        known: parts.known,
        suite: None,
    });
    Decoded { name, name_span, case, findings, secrets }
}

struct Parts {
    server: Option<ServerSpec>,
    matrix: Option<Arc<Matrix>>,
    redacted: Vec<String>,
    setup: Vec<mcprove_model::Step>,
    verify: Vec<mcprove_model::Step>,
    teardown: Vec<mcprove_model::Step>,
    asked: block::DecodedBlock,
    timeout: Option<Duration>,
    skip: Option<mcprove_model::Skip>,
    known: Option<String>,
    tags: Vec<String>,
    masks: Vec<String>,
}

fn decode_parts(node: &Node, context: &Context<'_>, found: &mut Diagnostics<'_>) -> Option<Parts> {
    let known = known_keys();
    let entries = found.map(node, "an assertion file")?;
    for entry in entries {
        if !known.contains(&entry.key.text.as_str()) {
            found.unknown_key(&entry.key, "an assertion file", &known);
        }
    }
    let skip = skip::decode(node, &context.environment, found);
    let known_failure = skip::known(node, found);
    let timeout = time::optional(node, "timeout", found);
    let masks = mask::decode(node, found);
    let tags = tags::decode(node, found);
    let accepts_any_shape = implicit::is_off(node, found);

    let chosen = block::choose(entries, found);
    let unset = if skip.is_some() { Unset::Ignored } else { Unset::Reported };
    let mut scope = Scope::new(context.fixture.is_some());
    let server_entry = entries.iter().find(|entry| entry.key.text == "server");
    let around = matrix::Around { described: None, given: context.server, scope: &scope };
    let matrix_entry = entries.iter().find(|entry| entry.key.text == "matrix");
    let matrix = matrix_entry.and_then(|entry| matrix::decode(entry, &around, found));
    let stand_in = context.server.map(ServerOverride::alone).or_else(|| matrix::any_server(matrix.as_ref()));
    let server = match server_entry {
        Some(entry) => server::decode(entry, context, &scope, unset, found),
        None => stand_in.clone(),
    };
    if let (Some(chosen), None, None) = (&chosen, server_entry, stand_in)
        && chosen.block.needs_server
        // A case that is not run needs no server.
        && skip.is_none()
        && !texts::is_misspelt(entries, "server", &known)
    {
        found.error_with_help(
            "no-server",
            chosen.entry.key.span,
            format!("`{}` needs a server, and there is none", chosen.block.key),
            "add `server:` with a `command` or a `url`, or give `--server`",
        );
    }
    let setup = steps::decode(node, "setup", &NoFurtherKeys, &mut scope, found);
    let asked = chosen.as_ref().and_then(|chosen| chosen.decode(node, &scope, found));
    let verify = steps::decode(node, "verify", &NoFurtherKeys, &mut scope, found);
    let teardown = steps::decode(node, "teardown", &NoFurtherKeys, &mut scope, found);
    let chosen = chosen?;
    if !chosen.block.needs_server {
        report_unused_steps(entries, &chosen, found);
    }
    let mut asked = asked?;
    let matrix = matrix.filter(|_| chosen.block.needs_server);
    assert_tool::report_late_cancel(&asked.act, &chosen.entry.value, timeout, found);
    let server = server.filter(|_| chosen.block.needs_server);
    let server = server.map(|server| with_script(server, asked.script.take(), found));
    let server = server.map(|server| ServerSpec { accepts_any_shape, ..server });
    let redacted = node.get("redact").map_or_else(Vec::new, |redact| {
        let (mut redact, mut secrets) = (redact.clone(), Vec::new());
        let variables = &Variables::new(context.environment, None);
        Interpolation { variables, secrets: &mut secrets, syntax: Syntax::REDACTED, unset }.apply(&mut redact, found);
        redact::decode(&redact, found)
    });
    Some(Parts {
        server,
        matrix,
        redacted,
        setup,
        verify,
        teardown,
        asked,
        timeout,
        skip,
        known: known_failure,
        tags,
        masks,
    })
}

/// The server with the answers that the block gives in the place of a model.
pub(crate) fn with_script(
    mut server: ServerSpec,
    script: Option<block::Script>,
    found: &mut Diagnostics<'_>,
) -> ServerSpec {
    let Some(script) = script else { return server };
    match script.replies {
        Some(replies) => {
            if !server.client.sampling.is_empty() {
                let message = "the answers of this block take the place of `client_capabilities.sampling`";
                let help = "remove one of the two".to_owned();
                found.warning("two-scripts", script.span, message, Some(help));
            }
            server.client.sampling = replies;
        }
        None if server.client.sampling.is_empty() => {
            let message = "nothing says what the model answers, so it answers with an empty text";
            let help = "add `mock_text:`, or `responses:` with a list of texts";
            found.warning("no-script", script.span, message, Some(help.to_owned()));
            server.client.sampling = vec![client_capabilities::silent_model()];
        }
        None => {}
    }
    server
}

/// Steps need a server, so they mean nothing to a block that speaks to none.
fn report_unused_steps(entries: &[Entry], chosen: &block::Chosen<'_>, found: &mut Diagnostics<'_>) {
    let is_for_servers = |key: &str| STEPS.contains(&key) || key == "matrix";
    for entry in entries.iter().filter(|entry| is_for_servers(&entry.key.text) && !entry.value.is_null()) {
        let message = format!("`{}` is not used: `{}` speaks to no server", entry.key.text, chosen.block.key);
        found.warning("unused-key", entry.key.span, message, Some("remove it".to_owned()));
    }
}

/// The block of a document, whatever else is wrong with it.
pub(crate) fn block_of(document: &Node) -> Option<&Entry> {
    document.as_map()?.iter().find(|entry| block::is_key(&entry.key.text))
}

/// The JSON Schema of an assertion file.
pub fn schema() -> Value {
    let mut properties = Value::Object(field::properties(FIELDS));
    for block in BLOCKS {
        if block.companions.is_empty() {
            let mut schema = field::map(block.summary, block.fields);
            aliases::of_list(block.key).describe(&mut schema);
            properties[block.key] = schema;
        } else if let Value::Object(all) = &mut properties {
            all.extend(field::properties(block.fields));
        }
    }
    properties[defaults::KEY] = defaults::schema(&properties);
    let keys = BLOCKS.iter().map(|block| block.key).chain([defaults::KEY]);
    let choices: Vec<Value> = keys.map(|key| json!({"required": [key]})).collect();
    let mut schema = fragment::map("An assertion file: one test.", properties, &[]);
    schema["oneOf"] = choices.into();
    schema
}

/// The JSON Schema of a list of steps.
pub(crate) fn steps_schema(description: &str) -> Value {
    fragment::list(description, steps::schema(&[]))
}

/// The JSON Schema of `capture`.
pub(crate) fn capture_schema() -> Value {
    fragment::scalars("Values taken from the reply by JSON path, to be used as `{{name}}`.")
}

/// The JSON Schema of `skip`.
pub(crate) fn skip_schema() -> Value {
    json!({"type": ["string", "boolean", "null"], "description": "The reason to skip it."})
}

/// The JSON Schema of `known`.
pub(crate) fn known_schema() -> Value {
    json!({
        "type": ["string", "null"],
        "description": "The known defect for which the test fails: it is run, and its failure does not fail the run.",
    })
}

/// The JSON Schema of `skip_unless_env`.
pub(crate) fn skip_unless_env_schema() -> Value {
    let name = json!({"type": "string"});
    json!({
        "anyOf": [name, {"type": "array", "items": name}, {"type": "null"}],
        "description": "Environment variables that must be set; otherwise it is skipped.",
    })
}

/// Every key a document may have.
fn known_keys() -> Vec<&'static str> {
    field::keys(FIELDS).into_iter().chain(BLOCKS.iter().flat_map(block::Block::keys)).collect()
}

/// The written name, or the file's, so that every case can be spoken of.
fn name(source: &SourceFile, document: Document<'_>, found: &mut Diagnostics<'_>) -> (String, Span) {
    let written = document.node.get("name").filter(|name| !name.is_null());
    if let Some(name) = written
        && let Some(text) = found.text(name, "`name`")
        && !text.trim().is_empty()
    {
        return (text.to_owned(), name.span);
    }
    let path = source.path();
    let file = path.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or(path);
    let name = if document.of > 1 { format!("{file}#{}", document.number) } else { file.to_owned() };
    let span = document.node.span;
    (name, Span { end: span.start, ..span })
}
