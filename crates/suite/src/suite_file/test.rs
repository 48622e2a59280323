//! Common parts of all tests of a suite file: a name, a server, steps around, and reasons not to run.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use mcprove_judge::checks;
use mcprove_model::{
    Act, Capture, Case, Diagnostics, ElicitationAction, ElicitationReply, Entry, Era, MODEL_GRADED_TAG, Node, Protocol,
    ServerSpec, Span, nearest,
};
use serde_json::{Value, json};

use super::list::List;
use super::performance::{MILLISECONDS, milliseconds};
use super::{
    Suite, agents, compliance, compositions, conformance, default_test, evals, scenarios, steps, unsupported_keys,
};
use crate::assertion_file::block::Input;
use crate::assertion_file::templates::Scope;
use crate::assertion_file::{self, aliases, cases, mask, skip, tags, texts, time};
use crate::field::{self, Field};
use crate::schema::fragment;
use crate::server::client_capabilities;

/// The keys that all tests have, sorted.
const FIELDS: &[Field] = &[
    Field::optional(
        "cache",
        || json!({"enum": ["auto", "never"], "description": "Nothing is cached, so both mean the same."}),
    ),
    Field::optional("capture", assertion_file::capture_schema),
    Field::optional("cases", cases::schema),
    Field::optional(checks::DERIVED_METRICS, checks::derived_metrics_schema),
    Field::optional("effects", || {
        let effects = json!({"type": "array", "items": {"enum": EFFECTS}});
        json!({"anyOf": [effects], "description": "What it changes; each is a tag `effect:NAME`."})
    }),
    Field::optional("elicitation", client_capabilities::elicitation_schema),
    Field::optional("known", assertion_file::known_schema),
    Field::optional("mask", mask::schema),
    Field::required("name", || fragment::text("Name of the test; unique in its file.")),
    Field::optional("only", || fragment::flag("Run this test and others like it, and no other; refused in CI.")),
    Field::optional("server", || fragment::text("The server it is for; may be left out when there is one.")),
    Field::optional("server_version", || {
        fragment::scalar("The version of the server it was written for; a tag `server_version:VALUE`.")
    }),
    Field::optional("setup", || steps::schema("Calls made before.")),
    Field::optional("skip", assertion_file::skip_schema),
    Field::optional("skip_unless_env", assertion_file::skip_unless_env_schema),
    Field::optional("tags", tags::schema),
    Field::optional("teardown", || steps::schema("Calls made at the end, also after a failure.")),
    Field::optional("threshold", checks::threshold_schema),
    Field::optional("timeout", || fragment::duration("Its time limit, for example `30s`.")),
    Field::optional("timeout_ms", || fragment::count_within("Its time limit in milliseconds.", &MILLISECONDS)),
    Field::optional("verify", || steps::schema("Calls made after, to look at the state it left.")),
];

/// Effects that a test may declare.
const EFFECTS: &[&str] = &["external", "filesystem", "local"];

/// A test that was decoded.
pub(super) struct Test {
    pub(super) name: String,
    pub(super) name_span: Span,
    /// Where it says that only tests like it are to run.
    pub(super) only: Option<Span>,
    /// The case; `None` if a finding prevents it.
    pub(super) case: Option<Arc<Case>>,
}

/// The keys of the tests of a list.
pub(super) fn keys(list: List) -> Vec<&'static str> {
    field::keys(FIELDS.iter().chain(list.fields()))
}

/// Decodes an item of a list of tests; the keys are those of the list.
pub(super) fn decode(
    list: List,
    keys: &[&'static str],
    node: &Node,
    suite: &Suite<'_>,
    found: &mut Diagnostics<'_>,
) -> Option<Test> {
    let what = format!("a test of `{}`", list.key());
    let entries = found.map(node, &what)?;
    // A caret under the first key reads better than one under the whole test.
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    report_unknown(list, keys, entries, &what, found);
    if list.key() == conformance::KEY {
        for entry in entries.iter().filter(|entry| conformance::NOT_HERE.contains(&entry.key.text.as_str())) {
            let message = format!("`{}` means nothing in {what}", entry.key.text);
            found.error_with_help("wrong-key", entry.key.span, message, "remove it");
        }
    }
    let (name, name_span) = decode_name(node, list, place, found);
    let only = node.get("only").filter(|only| !only.is_null());
    let only = only.filter(|only| found.boolean(only, "`only`") == Some(true)).map(|only| only.span);

    let skip = skip::decode(node, &suite.context.environment, found);
    let known = skip::known(node, found);
    let ungraded = if list.key() == evals::KEY { evals::skip_reason(node, suite) } else { None };
    let skip = skip.or(ungraded);
    let timeout = milliseconds(node, "timeout_ms", found).or_else(|| time::optional(node, "timeout", found));
    let mut tags = tags::decode(node, found);
    tags.extend(decode_effects(node, found));
    tags.extend(suite.models.iter().cloned());
    tags.extend(texts::optional(node, "server_version", found).map(|version| format!("server_version:{version}")));
    report_cache(node, found);
    let masks = mask::decode(node, found);
    let owner = Owner { list, node, place, is_skipped: skip.is_some() };
    let server = server_of(&owner, suite, found);
    let mut scope = Scope::new(suite.context.fixture.is_some());
    let further = steps::OfTest { suite, server: server.as_ref() };
    let decode_steps = |key, scope: &mut Scope, found: &mut Diagnostics<'_>| {
        assertion_file::steps::decode(node, key, &further, scope, found)
    };
    let setup = decode_steps("setup", &mut scope, found);
    let expect = expectation(list, node, place, suite);
    let expect = expect.as_deref();
    let input = Input { node, key: list.key(), what: &what, keys, place, expect, scope: &scope };
    let asked = list.decode(&input, suite, found);
    let capture: Vec<Capture> =
        node.get("capture").map(|capture| assertion_file::steps::decode_captures(capture, found)).unwrap_or_default();
    for capture in &capture {
        scope.add_capture(&capture.name);
    }
    let verify = decode_steps("verify", &mut scope, found);
    let teardown = decode_steps("teardown", &mut scope, found);
    let threshold = node.get("threshold").filter(|share| !share.is_null());
    let threshold = threshold.and_then(|share| checks::decode_threshold(share, found));

    let timeout = timeout.or(suite.default_timeout);
    let case = asked.and_then(|mut asked| {
        assertion_file::assert_tool::report_late_cancel(&asked.act, node, timeout, found);
        let needs_server = list.needs_server() && asked.act.needs_server();
        let server = server.filter(|_| needs_server);
        let server = match (server, asked.script.take()) {
            (Some(server), Some(script)) => {
                let scripted = assertion_file::with_script(ServerSpec::clone(&server), Some(script), found);
                Some(Arc::new(scripted))
            }
            (server, _) => server,
        };
        let server = server.map(|server| own_client(server, node, &asked.act, found));
        let protocol = compliance::protocol(node, found);
        let server = server.map(|server| match protocol {
            Some(protocol) => Arc::new(ServerSpec { protocol, ..ServerSpec::clone(&server) }),
            None => server,
        });
        if needs_server && server.is_none() && skip.is_none() {
            return None;
        }
        let mut expect = asked.expect;
        if expect.is_model_graded() {
            tags.push(MODEL_GRADED_TAG.to_owned());
        }
        expect.threshold = threshold.or(expect.threshold).or(suite.defaults.threshold);
        Some(Arc::new(Case {
            name: name.clone(),
            source: Arc::clone(&suite.source),
            span: node.span,
            server,
            setup,
            act: asked.act,
            capture,
            verify,
            teardown,
            expect,
            fixture: suite.context.fixture.map(Path::to_path_buf),
            matrix: suite.matrix.clone(),
            isolation: suite.isolation,
            masks,
            tags,
            timeout,
            skip,
            known,
            suite: Some(Arc::clone(&suite.options)),
        }))
    });
    Some(Test { name, name_span, only, case })
}

/// The tags of what a test says that it changes.
fn decode_effects(node: &Node, found: &mut Diagnostics<'_>) -> Vec<String> {
    let Some(effects) = node.get("effects").filter(|effects| !effects.is_null()) else { return Vec::new() };
    let mut tags = Vec::new();
    for effect in found.list(effects, "`effects`") {
        match found.text(effect, "an effect") {
            Some(name) if EFFECTS.contains(&name) => tags.push(format!("effect:{name}")),
            Some(name) => {
                let help = format!("write one of {}", EFFECTS.join(", "));
                found.error_with_help("wrong-type", effect.span, format!("unknown effect `{name}`"), help);
            }
            None => {}
        }
    }
    tags
}

/// `cache: always` asks for what is not done here.
fn report_cache(node: &Node, found: &mut Diagnostics<'_>) {
    let Some(cache) = node.get("cache").filter(|cache| !cache.is_null()) else { return };
    if !matches!(cache.as_text(), Some("auto" | "never")) {
        let message = "`cache` must be auto or never: nothing is cached";
        found.error_with_help("unsupported-key", cache.span, message, "remove it");
    }
}

/// The server with the answers and the claims of a test, which get a session of their own.
fn own_client(server: Arc<ServerSpec>, test: &Node, act: &Act, found: &mut Diagnostics<'_>) -> Arc<ServerSpec> {
    let answers = test.get("elicitation").filter(|answers| !answers.is_null());
    // Since 2026-07-28 each request states its claims; before, the handshake does.
    let is_modern = match server.protocol {
        Protocol::Modern => true,
        Protocol::Exactly(revision) => revision.era() == Era::Modern,
        Protocol::Legacy | Protocol::Auto => false,
    };
    let claims = if let Act::CallTool(call) = act { call.claims.as_deref().filter(|_| !is_modern) } else { None };
    let responses = test.get("input_responses").filter(|responses| !responses.is_null());
    if answers.is_none() && claims.is_none() && responses.is_none() {
        return server;
    }
    let mut own = ServerSpec::clone(&server);
    if let Some(answers) = answers {
        (own.client.elicitation, own.client.further_elicitations) = client_capabilities::elicitations(answers, found);
    }
    if let Some(responses) = responses {
        let entries = found.map(responses, "`input_responses`").unwrap_or_default();
        own.client.input_responses =
            entries.iter().map(|entry| (entry.key.text.to_string(), entry.value.to_json())).collect();
        // Before 2026-07-28, requests for input have no keys: the first answer is given.
        own.client.elicitation.get_or_insert_with(|| ElicitationReply {
            action: ElicitationAction::Accept,
            content: entries.first().map_or(Value::Null, |entry| entry.value.to_json()),
            url: false,
        });
    }
    own.client.claimed = claims.cloned();
    Arc::new(own)
}

/// The JSON Schema of a list of tests.
pub(super) fn schema(list: List) -> Value {
    let mut properties = field::properties(FIELDS.iter().chain(list.fields()));
    properties.sort_keys();
    let required = field::required(FIELDS.iter().chain(list.fields()));
    let mut test = fragment::map("A test.", Value::Object(properties), &required);
    aliases::of_list(list.key()).describe(&mut test);
    fragment::list(list.summary(), test)
}

fn decode_name(node: &Node, list: List, place: Span, found: &mut Diagnostics<'_>) -> (String, Span) {
    match node.get("name") {
        Some(name) if !name.is_null() => {
            let text = found.text(name, "`name`").unwrap_or_default();
            if !text.trim().is_empty() {
                return (text.to_owned(), name.span);
            }
            if name.as_text().is_some() {
                found.error_with_help("missing-key", name.span, "`name` is empty", "say what the test is about");
            }
        }
        None if texts::is_misspelt(node.as_map().unwrap_or_default(), "name", &field::keys(FIELDS)) => {}
        Some(_) | None => {
            let message = format!("this test of `{}` has no `name`", list.key());
            found.error_with_help("missing-key", place, message, "add `name:`, unique in the file");
        }
    }
    // Two tests without a name do not clash: their problems are already reported.
    (format!("{}@{}", list.key(), node.span.start), place)
}

/// A test whose server is looked for.
struct Owner<'n> {
    list: List,
    node: &'n Node,
    /// Where a missing server is reported.
    place: Span,
    is_skipped: bool,
}

/// The server a test names, or the only one there is; a test that is not run may do without.
fn server_of(test: &Owner<'_>, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<Arc<ServerSpec>> {
    if test.list.names_servers() {
        return agents::server_of_steps(test.node, suite, found);
    }
    let chosen = |found: &mut Diagnostics<'_>| chosen_server(test, suite, found);
    if test.list.key() == compositions::KEY {
        compositions::server_of(test.node, chosen, suite, found)
    } else {
        chosen(found)
    }
}

/// The server that a test names, or the one that is meant where it names none.
fn chosen_server(test: &Owner<'_>, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<Arc<ServerSpec>> {
    let Owner { list, node, place, is_skipped } = *test;
    if let Some(named) = node.get("server").filter(|named| !named.is_null()) {
        return server_named(named, suite, found);
    }
    if !list.needs_server() {
        return None;
    }
    if let Some(default) = suite.default_server {
        return server_named(default, suite, found);
    }
    match suite.servers {
        [(_, only)] => only.clone(),
        [_, ..] if suite.has_columns() => suite.given.clone(),
        [] if suite.given.is_some() => suite.given.clone(),
        [] if suite.has_servers || is_skipped => None,
        _ if texts::is_misspelt(node.as_map().unwrap_or_default(), "server", &field::keys(FIELDS)) => None,
        [] => {
            let message = format!("this test of `{}` needs a server, and there is none", list.key());
            found.error_with_help("no-server", place, message, "add `servers:`, or give `--server`");
            None
        }
        _ if is_skipped => None,
        servers => {
            let message = "this test does not say which server it is for";
            let names: Vec<&str> = servers.iter().map(|(name, _)| name.as_str()).collect();
            let help = format!("add `server:` with one of {}", names.join(", "));
            found.error_with_help("no-server", place, message, help);
            None
        }
    }
}

/// The server of a name; one that could not be decoded is already reported.
pub(super) fn server_named(named: &Node, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<Arc<ServerSpec>> {
    let names = || suite.servers.iter().map(|(name, _)| name.as_str());
    let text = found.text(named, "`server`")?;
    if let Some((_, server)) = suite.servers.iter().find(|(name, _)| name == text) {
        return server.clone();
    }
    if suite.servers.is_empty() && suite.given.is_some() {
        return suite.given.clone();
    }
    let help = match nearest(text, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if suite.servers.is_empty() => "add it to `servers:`".to_owned(),
        None => format!("`servers` has {}", names().collect::<Vec<_>>().join(", ")),
    };
    found.error_with_help("unknown-server", named.span, format!("unknown server `{text}`"), help);
    None
}

/// Reports the keys that mean nothing in a test.
fn report_unknown(list: List, keys: &[&str], entries: &[Entry], what: &str, found: &mut Diagnostics<'_>) {
    for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.text.as_str())) {
        if !is_outside(list, entry, what, found) {
            found.unknown_key(&entry.key, what, keys);
        }
    }
}

/// Reports a key of the other tool that is not supported; false where it is none.
fn is_outside(list: List, entry: &Entry, what: &str, found: &mut Diagnostics<'_>) -> bool {
    let of_kind = match list.key() {
        evals::KEY => evals::OUTSIDE,
        key if key == agents::KIND.key => agents::OUTSIDE,
        key if key == scenarios::KIND.key => scenarios::OUTSIDE,
        _ => &[],
    };
    unsupported_keys::is_told(&entry.key, what, of_kind, found)
        || unsupported_keys::is_told(&entry.key, what, unsupported_keys::OF_TEST, found)
}

/// The expectation of a test, with its metrics and what every test expects.
fn expectation<'n>(list: List, node: &'n Node, place: Span, suite: &Suite<'_>) -> Option<Cow<'n, Node>> {
    let own = node.get("expect").map(Cow::Borrowed);
    let own = match node.get(checks::DERIVED_METRICS) {
        Some(metrics) => default_test::with_metrics(own.as_deref(), Some(metrics), place).map(Cow::Owned),
        None => own,
    };
    match &suite.defaults.expect {
        Some(default) if list.takes_defaults() => {
            Some(Cow::Owned(default_test::merged(suite.default_at(default, place), own.as_deref())))
        }
        Some(_) | None => own,
    }
}
