//! What all tests of a suite file have: a name, a server, steps around, and reasons not to run.

use std::path::Path;
use std::sync::Arc;

use mcprove_judge::checks;
use mcprove_model::{Capture, Case, Diagnostics, Entry, Key, Kind, Node, ServerSpec, Span, nearest};
use serde_json::{Value, json};

use super::list::List;
use super::performance::milliseconds;
use super::{Suite, agents, outside, steps};
use crate::assertion_file::templates::Scope;
use crate::assertion_file::{self, mask, skip, texts, time};
use crate::schema::fragment;

/// The keys that all tests have, sorted.
const KEYS: &[&str] = &[
    "capture",
    "mask",
    "name",
    "only",
    "server",
    "setup",
    "skip",
    "skip_unless_env",
    "tags",
    "teardown",
    "threshold",
    "timeout",
    "timeout_ms",
    "verify",
];

/// A test that was decoded.
pub(super) struct Test {
    pub(super) name: String,
    pub(super) name_span: Span,
    /// Where it says that only tests like it are to run.
    pub(super) only: Option<Span>,
    /// The case; `None` when a finding stands in its way.
    pub(super) case: Option<Arc<Case>>,
}

/// Decodes an item of a list of tests.
pub(super) fn decode(list: List, node: &Node, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<Test> {
    let what = format!("a test of `{}`", list.key());
    let entries = found.map(node, &what)?;
    // A caret under the first key reads better than one under the whole test.
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    let stripped = strip(list, entries, &what, found);
    let (name, name_span) = decode_name(node, list, place, found);
    let only = node.get("only").filter(|only| !only.is_null());
    let only = only.filter(|only| found.boolean(only, "`only`") == Some(true)).map(|only| only.span);

    let skip = skip::decode(node, &suite.context.environment, found);
    let timeout = milliseconds(node, "timeout_ms", found).or_else(|| time::optional(node, "timeout", found));
    let tags = node.get("tags").map(|tags| decode_tags(tags, found)).unwrap_or_default();
    let masks = mask::decode(node, found);
    let server = server_of(list, node, (place, skip.is_some()), suite, found);
    let mut scope = Scope::new(suite.context.fixture.is_some());
    let setup = steps::decode(node, "setup", (&mut scope, suite), found);
    let test = with_defaults(list, Node { span: node.span, kind: Kind::Map(stripped) }, place, suite);
    let asked = list.decode(&test, (&scope, suite), found);
    let capture: Vec<Capture> =
        node.get("capture").map(|capture| assertion_file::steps::decode_captures(capture, found)).unwrap_or_default();
    for capture in &capture {
        scope.add_capture(&capture.name);
    }
    let verify = steps::decode(node, "verify", (&mut scope, suite), found);
    let teardown = steps::decode(node, "teardown", (&mut scope, suite), found);
    let threshold = node.get("threshold").filter(|share| !share.is_null());
    let threshold = threshold.and_then(|share| checks::decode_threshold(share, found));

    let timeout = timeout.or(suite.default_timeout);
    let case = asked.and_then(|mut asked| {
        assertion_file::assert_tool::report_late_cancel(&asked.act, node, timeout, found);
        let server = server.filter(|_| list.needs_server());
        let server = match (server, asked.script.take()) {
            (Some(server), Some(script)) => {
                let scripted = assertion_file::with_script(ServerSpec::clone(&server), Some(script), found);
                Some(Arc::new(scripted))
            }
            (server, _) => server,
        };
        if list.needs_server() && server.is_none() && skip.is_none() {
            return None;
        }
        let mut expect = asked.expect;
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
            suite: Some(Arc::clone(&suite.options)),
        }))
    });
    Some(Test { name, name_span, only, case })
}

/// The JSON Schema of a list of tests.
pub(super) fn schema(list: List) -> Value {
    let mut properties = json!({
        "capture": assertion_file::capture_schema(),
        "mask": mask::schema(),
        "name": fragment::text("What the test is called; unique in its file."),
        "only": fragment::flag("Run this test and others like it, and no other; refused in CI."),
        "server": fragment::text("The server it is for; may be left out when there is one."),
        "setup": steps::schema("Calls made before."),
        "skip": assertion_file::skip_schema(),
        "skip_unless_env": assertion_file::skip_unless_env_schema(),
        "tags": {
            "anyOf": [fragment::text("One tag."), fragment::texts("Several tags.")],
            "description": "Words it can be chosen by.",
        },
        "teardown": steps::schema("Calls made in the end, also after a failure."),
        "threshold": checks::threshold_schema(),
        "timeout": fragment::duration("Its deadline, for example `30s`."),
        "timeout_ms": fragment::count("Its deadline in milliseconds.", 1),
        "verify": steps::schema("Calls made after, to look at the state it left."),
    });
    if let (Value::Object(all), Value::Object(own)) = (&mut properties, list.properties()) {
        all.extend(own);
        all.sort_keys();
    }
    let required: Vec<&str> = std::iter::once("name").chain(list.required().iter().copied()).collect();
    fragment::list(list.summary(), fragment::map("A test.", properties, &required))
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
        None if texts::is_misspelt(node.as_map().unwrap_or_default(), "name", KEYS) => {}
        Some(_) | None => {
            let message = format!("this test of `{}` has no `name`", list.key());
            found.error_with_help("missing-key", place, message, "add `name:`, unique in the file");
        }
    }
    // Two tests without a name do not clash: what is wrong with them is told already.
    (format!("{}@{}", list.key(), node.span.start), place)
}

fn decode_tags(node: &Node, found: &mut Diagnostics<'_>) -> Vec<String> {
    if node.is_null() {
        return Vec::new();
    }
    let tags = found.one_or_many(node).iter();
    tags.filter_map(|tag| found.text(tag, "a tag")).map(str::to_owned).collect()
}

/// The server a test names, or the only one there is; a test that is not run may do without.
fn server_of(
    list: List,
    node: &Node,
    (place, is_skipped): (Span, bool),
    suite: &Suite<'_>,
    found: &mut Diagnostics<'_>,
) -> Option<Arc<ServerSpec>> {
    if list.names_servers() {
        return agents::server_of_steps(node, suite, found);
    }
    if let Some(named) = node.get("server").filter(|named| !named.is_null()) {
        return server_named(named, suite, found);
    }
    if !list.needs_server() {
        return None;
    }
    match suite.servers {
        [(_, only)] => only.clone(),
        [_, ..] if suite.has_columns() => suite.given.clone(),
        [] if suite.given.is_some() => suite.given.clone(),
        [] if suite.has_servers || is_skipped => None,
        _ if texts::is_misspelt(node.as_map().unwrap_or_default(), "server", KEYS) => None,
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

/// The server of a name; one that could not be decoded is told already.
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
    found.error_with_help("unknown-server", named.span, format!("there is no server `{text}`"), help);
    None
}

/// The keys of a test that are for its kind, and those that only its kind may know what to say about.
fn strip(list: List, entries: &[Entry], what: &str, found: &mut Diagnostics<'_>) -> Vec<Entry> {
    let known: Vec<&str> = KEYS.iter().chain(list.keys()).copied().collect();
    let mut kept = Vec::new();
    for entry in entries {
        let key = entry.key.text.as_str();
        if KEYS.contains(&key) {
            continue;
        }
        if list.keys().contains(&key) {
            kept.push(entry.clone());
        } else if !outside::is_told(&entry.key, what, outside::OF_TEST, found) {
            match nearest(key, known.iter().copied()) {
                Some(near) if KEYS.contains(&near) => found.unknown_key(&entry.key, what, &known),
                Some(_) | None => kept.push(entry.clone()),
            }
        }
    }
    kept
}

/// The test with what every test expects.
fn with_defaults(list: List, mut node: Node, place: Span, suite: &Suite<'_>) -> Entry {
    let defaults = if suite.has_own_defaults { None } else { Some(suite.defaults.placed_at(place)) };
    let defaults = defaults.as_ref().unwrap_or(suite.defaults);
    if let Kind::Map(entries) = &mut node.kind
        && !defaults.is_empty()
        && list.takes_defaults()
    {
        if let Some(entry) = entries.iter_mut().find(|entry| entry.key.text == "expect") {
            entry.value = defaults.merged(&entry.value);
        } else {
            let key = Key { text: "expect".into(), span: place };
            entries.push(Entry { key, value: defaults.merged(&Node::from_json(place, Value::Null)) });
        }
    }
    Entry { key: Key { text: list.key().into(), span: place }, value: node }
}
