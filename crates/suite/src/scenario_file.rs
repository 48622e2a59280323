//! Scenario files of `mcprove host`: bad servers, what is expected of a client, and a scripted client to try it with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcprove_judge::host::HostExpectation;
use mcprove_model::{Diagnostics, Entry, FaultRule, Finding, Node, SourceFile, Span, nearest};
use serde_json::{Value, json};

use crate::field::{self, Field};
use crate::schema::fragment;
use crate::{duration, yaml};

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Its source.
    pub source: Arc<SourceFile>,
    /// The place of its name.
    pub span: Span,
    /// Words it can be chosen by.
    pub tags: Vec<String>,
    /// Decides what chance does, and the canaries.
    pub seed: u64,
    /// The time of the whole scenario.
    pub timeout: Duration,
    /// The format of the client's configuration.
    pub config: ConfigFormat,
    /// The servers, in order.
    pub servers: Vec<ScenarioServer>,
    /// Expectations of the client.
    pub expect: HostExpectation,
    /// The tools that the expectations name, with their places.
    pub named: Vec<(String, Span)>,
    /// A scripted client.
    pub scripted: Scripted,
}

/// A server of a scenario.
#[derive(Clone, Debug)]
pub struct ScenarioServer {
    /// Its name.
    pub name: String,
    /// The transport that the client is given.
    pub transport: ScenarioTransport,
    /// Its manifest, as `mcprove mock` takes it.
    pub offers: Offers,
    /// Its faults.
    pub faults: Vec<FaultRule>,
    /// The places of the faults.
    pub fault_spans: Vec<Span>,
    /// The mutation that breaks a rule of the protocol; empty for none.
    pub mutation: String,
    /// A token that the client is given for this server.
    pub token: Option<String>,
}

/// The manifest of a server.
#[derive(Clone, Debug)]
pub enum Offers {
    /// In the scenario.
    Inline(Node),
    /// In a file next to it.
    File(PathBuf, Span),
}

/// Transport of a server in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioTransport {
    /// A command that the client starts.
    Stdio,
    /// A URL.
    Http,
}

/// Format of a client's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFormat {
    /// `mcpServers` in JSON.
    Plain,
    /// `claude_desktop_config.json`.
    ClaudeDesktop,
    /// `.vscode/mcp.json`.
    VsCode,
    /// `.cursor/mcp.json`.
    Cursor,
    /// `config.toml` of Codex.
    Codex,
    /// `settings.json` of Gemini.
    Gemini,
}

impl ConfigFormat {
    /// All formats by name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("plain", Self::Plain),
        ("claude-desktop", Self::ClaudeDesktop),
        ("vscode", Self::VsCode),
        ("cursor", Self::Cursor),
        ("codex", Self::Codex),
        ("gemini", Self::Gemini),
    ];

    /// The format of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }
}

/// A client of mcprove's own that plays a scenario, well or badly.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    /// True if it speaks 2026-07-28.
    pub modern: bool,
    /// Client capabilities that it declares.
    pub declares: Vec<String>,
    /// The calls it makes.
    pub calls: Vec<ScriptedCall>,
    /// Deviations of the bad client.
    pub bad: Vec<String>,
    /// Ids of findings that the bad client must have.
    pub finds: Vec<String>,
}

/// A call of a scripted client.
#[derive(Clone, Debug)]
pub struct ScriptedCall {
    /// The server; the first when absent.
    pub server: Option<String>,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The time it waits before.
    pub after: Duration,
}

/// Names of what a bad scripted client does differently, with what it does.
pub const DEVIATIONS: &[(&str, &str)] = &[
    ("waits-forever", "has no deadline"),
    ("no-cancel", "gives a call up without cancelling it"),
    ("slow-to-notice", "waits for two minutes"),
    ("retry-storm", "repeats a failed call at once, up to 50 times"),
    ("ignores-retry-after", "repeats a refused call at once"),
    ("ignores-list-changes", "never lists the tools again"),
    ("lists-every-time", "lists the tools for every notification"),
    ("answers-undeclared", "answers requests for capabilities it does not have"),
    ("obeys-injection", "sends canaries that it reads in the arguments of later calls"),
    ("crashes", "ends with a signal at the first failure"),
    ("hangs-when-closed", "waits forever when a connection ends"),
    ("leaks-token", "sends the token of one server to the others"),
];

const TOP: &[Field] = &[
    Field::required("scenario", || fragment::text("Its name.")),
    Field::optional("description", || fragment::text("What it is about.")),
    Field::optional("tags", || fragment::texts("Words it can be chosen by.")),
    Field::optional("seed", || fragment::count("Decides what chance does, and the canaries.", 0)),
    Field::optional("timeout", || fragment::duration("The time of the whole scenario; 60s when left out.")),
    Field::optional("config", || {
        json!({
            "enum": ConfigFormat::ALL.map(|(name, _)| name),
            "description": "The format of the client's configuration file.",
        })
    }),
    Field::required("servers", || {
        json!({
            "type": "object", "minProperties": 1, "description": "The servers by name.",
            "additionalProperties": field::map("A server.", SERVER),
        })
    }),
    Field::optional("expect", || field::map("What is expected of the client.", EXPECT)),
    Field::optional("scripted", || field::map("A client of mcprove's own, for `--scripted`.", SCRIPTED)),
];

const SERVER: &[Field] = &[
    Field::optional("transport", || json!({"enum": ["stdio", "http"], "description": "What the client is given."})),
    Field::optional("offers", || fragment::any_map("A manifest, as in `mcprove mock`.")),
    Field::optional("manifest", || fragment::text("A file with the manifest, next to the scenario.")),
    Field::optional("faults", || fragment::texts("Faults, as in `mcprove mock --fault`.")),
    Field::optional("mutation", || fragment::text("A broken rule, as in `mcprove mock --mutation`.")),
    Field::optional("token", || fragment::text("A token that the client is given for this server.")),
];

const EXPECT: &[Field] = &[
    Field::optional("detected", || fragment::duration("A call that is not answered is given up within this time.")),
    Field::optional("recovered", || fragment::duration("After a fault, the client is well again within this time.")),
    Field::optional("retries", || fragment::count("The most repetitions of a call that failed; 3 by default.", 0)),
    Field::optional("rate", || fragment::count("The most equal requests in a second; 20 by default.", 1)),
    Field::optional("lists", || fragment::count("The most lists of the tools; all pages of a list count once.", 0)),
    Field::optional("called", || fragment::texts("Tools that must be called, as `server.tool`.")),
    Field::optional("not_called", || fragment::texts("Tools that must not be called, as `server.tool`.")),
    Field::optional("ends", || fragment::flag("The client ends by itself; true by default.")),
    Field::optional("allow_unhit", || fragment::flag("No fault has to be met.")),
];

const SCRIPTED: &[Field] = &[
    Field::optional("protocol", || json!({"enum": ["legacy", "modern"], "description": "The era it speaks."})),
    Field::optional("declares", || fragment::texts("Client capabilities that it declares.")),
    Field::optional("calls", || fragment::list("The calls it makes.", field::map("A call.", CALL))),
    Field::optional("bad", || {
        json!({
            "type": "array", "description": "What the bad client does differently.",
            "items": {"enum": DEVIATIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>()},
        })
    }),
    Field::optional("finds", || fragment::texts("Ids of findings that the bad client must have.")),
];

const CALL: &[Field] = &[
    Field::optional("server", || fragment::text("The server; the first when left out.")),
    Field::required("tool", || fragment::text("The tool.")),
    Field::optional("args", || fragment::any_map("Its arguments.")),
    Field::optional("after", || fragment::duration("The time it waits before.")),
];

/// The JSON Schema of scenario files.
pub(crate) fn schema() -> Value {
    field::map("A scenario for `mcprove host`.", TOP)
}

/// The default time of a scenario.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Reads the scenarios of a file: each document is one.
pub fn read(source: &Arc<SourceFile>) -> (Vec<Scenario>, Vec<Finding>) {
    let (documents, mut findings) = yaml::parse(source);
    let mut scenarios = Vec::new();
    let mut found = Diagnostics::new(source);
    for document in documents.iter().filter(|document| !document.is_null()) {
        scenarios.extend(decode(document, source, &mut found));
    }
    if documents.iter().all(Node::is_null) && findings.is_empty() {
        let message = format!("`{}` has no scenario", source.path());
        found.error_with_help("empty-file", Span::default(), message, "write `scenario:` and `servers:`");
    }
    findings.extend(found.into_findings());
    (scenarios, findings)
}

fn decode(node: &Node, source: &Arc<SourceFile>, found: &mut Diagnostics<'_>) -> Option<Scenario> {
    let block = Block::open(node, "a scenario", TOP, found)?;
    let (name, span) = if let Some(name) = block.get("scenario") {
        (found.text(name, "`scenario`")?.to_owned(), name.span)
    } else {
        found.error_with_help("missing-key", node.span, "this scenario has no name", "add `scenario: NAME`");
        return None;
    };
    let before = found.error_count();
    let servers = servers(&block, found);
    let config = match block.word("config", &ConfigFormat::ALL.map(|(name, _)| name), found) {
        Some(name) => ConfigFormat::parse(&name).unwrap_or(ConfigFormat::Plain),
        None => ConfigFormat::Plain,
    };
    let scenario = Scenario {
        name,
        source: Arc::clone(source),
        span,
        tags: block.texts("tags", found),
        seed: block.count("seed", found).unwrap_or(0),
        timeout: block.duration("timeout", found).unwrap_or(TIMEOUT),
        config,
        expect: expectation(&block, found),
        named: named(&block),
        scripted: scripted(&block, &servers, found),
        servers,
    };
    (found.error_count() == before).then_some(scenario)
}

fn servers(block: &Block<'_>, found: &mut Diagnostics<'_>) -> Vec<ScenarioServer> {
    let Some(node) = block.get("servers") else {
        found.error_with_help("missing-key", block.node.span, "this scenario has no `servers`", "add `servers:`");
        return Vec::new();
    };
    let Some(entries) = found.map(node, "`servers`") else { return Vec::new() };
    if entries.is_empty() {
        found.error_with_help("missing-key", node.span, "`servers` is empty", "name one server at least");
    }
    if entries.len() > MOST_SERVERS {
        let message = format!("`servers` has {} servers, more than {MOST_SERVERS}", entries.len());
        found.error_with_help("too-large", node.span, message, "divide the scenario into several");
        return Vec::new();
    }
    entries.iter().filter_map(|entry| server(entry, found)).collect()
}

/// The most servers of a scenario: all of them are started, each with pipes of its own.
const MOST_SERVERS: usize = 500;

fn server(entry: &Entry, found: &mut Diagnostics<'_>) -> Option<ScenarioServer> {
    let block = Block::open(&entry.value, "a server", SERVER, found)?;
    let transport = match block.word("transport", &["stdio", "http"], found).as_deref() {
        Some("http") => ScenarioTransport::Http,
        Some(_) | None => ScenarioTransport::Stdio,
    };
    let offers = match (block.get("offers"), block.get("manifest")) {
        (Some(node), None) => Offers::Inline(node.clone()),
        (None, Some(node)) => Offers::File(PathBuf::from(found.text(node, "`manifest`")?), node.span),
        (Some(_), Some(node)) => {
            let message = "`offers` and `manifest` are mutually exclusive";
            found.error_with_help("two-manifests", node.span, message, "remove one of them");
            return None;
        }
        (None, None) => {
            let message = format!("the server `{}` offers nothing", entry.key.text);
            found.error_with_help(
                "missing-key",
                entry.key.span,
                message,
                "add `offers:` with `tools:`, or `manifest:`",
            );
            return None;
        }
    };
    let (mut faults, mut fault_spans) = (Vec::new(), Vec::new());
    for node in block.get("faults").map(|node| found.one_or_many(node)).unwrap_or_default() {
        let Some(text) = found.text(node, "a fault") else { continue };
        match text.parse::<FaultRule>() {
            Ok(rule) => {
                faults.push(rule);
                fault_spans.push(node.span);
            }
            Err(message) => {
                let (what, help) = message.split_once(": ").unwrap_or((&message, ""));
                found.error_with_help("bad-fault", node.span, what, help.to_owned());
            }
        }
    }
    Some(ScenarioServer {
        name: entry.key.text.to_string(),
        transport,
        offers,
        faults,
        fault_spans,
        mutation: block.text("mutation", found).unwrap_or_default(),
        token: block.text("token", found),
    })
}

fn expectation(block: &Block<'_>, found: &mut Diagnostics<'_>) -> HostExpectation {
    let mut expect = HostExpectation::default();
    let Some(block) = block.get("expect").and_then(|node| Block::open(node, "`expect`", EXPECT, found)) else {
        return expect;
    };
    let mut millis =
        |key: &str| block.duration(key, found).map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    expect.detected_ms = millis("detected");
    expect.recovered_ms = millis("recovered");
    expect.retries = block.count("retries", found).unwrap_or(expect.retries);
    expect.rate = block.count("rate", found).unwrap_or(expect.rate);
    expect.lists = block.count("lists", found);
    expect.called = block.texts("called", found);
    expect.not_called = block.texts("not_called", found);
    expect.ends = block.flag("ends", found).unwrap_or(true);
    expect.allow_unhit = block.flag("allow_unhit", found).unwrap_or(false);
    expect
}

/// The tools that `called` and `not_called` name, with their places.
fn named(block: &Block<'_>) -> Vec<(String, Span)> {
    let Some(expect) = block.get("expect") else { return Vec::new() };
    let nodes = ["called", "not_called"].into_iter().filter_map(|key| expect.get(key));
    let items = nodes.flat_map(|node| node.as_list().map_or_else(|| vec![node], |items| items.iter().collect()));
    items.filter_map(|node| Some((node.as_text()?.to_owned(), node.span))).collect()
}

fn scripted(block: &Block<'_>, servers: &[ScenarioServer], found: &mut Diagnostics<'_>) -> Scripted {
    let Some(block) = block.get("scripted").and_then(|node| Block::open(node, "`scripted`", SCRIPTED, found)) else {
        return Scripted::default();
    };
    let names: Vec<&str> = DEVIATIONS.iter().map(|(name, _)| *name).collect();
    let calls = block.get("calls").map(|node| found.list(node, "`calls`")).unwrap_or_default();
    Scripted {
        modern: block.word("protocol", &["legacy", "modern"], found).as_deref() == Some("modern"),
        declares: block.texts("declares", found),
        calls: calls.iter().filter_map(|node| call(node, servers, found)).collect(),
        bad: block.words("bad", &names, found),
        finds: block.texts("finds", found),
    }
}

fn call(node: &Node, servers: &[ScenarioServer], found: &mut Diagnostics<'_>) -> Option<ScriptedCall> {
    let block = Block::open(node, "a call", CALL, found)?;
    let tool = if let Some(tool) = block.get("tool") {
        found.text(tool, "`tool`")?.to_owned()
    } else {
        found.error_with_help("missing-key", node.span, "this call has no `tool`", "add `tool: NAME`");
        return None;
    };
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    let args = block.get("args").map_or_else(|| json!({}), Node::to_json);
    let after = block.duration("after", found).unwrap_or_default();
    Some(ScriptedCall { server: block.word("server", &names, found), tool, args, after })
}

/// A map with known keys.
struct Block<'n> {
    node: &'n Node,
}

impl<'n> Block<'n> {
    fn open(node: &'n Node, what: &str, fields: &'static [Field], found: &mut Diagnostics<'_>) -> Option<Self> {
        found.map(node, what)?;
        found.known_keys(node, what, &field::keys(fields));
        Some(Self { node })
    }

    fn get(&self, key: &str) -> Option<&'n Node> {
        self.node.get(key).filter(|node| !node.is_null())
    }

    fn text(&self, key: &str, found: &mut Diagnostics<'_>) -> Option<String> {
        found.text(self.get(key)?, &format!("`{key}`")).map(str::to_owned)
    }

    fn count(&self, key: &str, found: &mut Diagnostics<'_>) -> Option<u64> {
        found.count_of(self.get(key)?, &format!("`{key}`"))
    }

    fn flag(&self, key: &str, found: &mut Diagnostics<'_>) -> Option<bool> {
        found.boolean(self.get(key)?, &format!("`{key}`"))
    }

    fn texts(&self, key: &str, found: &mut Diagnostics<'_>) -> Vec<String> {
        let nodes = self.get(key).map(|node| found.one_or_many(node)).unwrap_or_default();
        nodes.iter().filter_map(|node| found.text(node, &format!("`{key}`")).map(str::to_owned)).collect()
    }

    fn duration(&self, key: &str, found: &mut Diagnostics<'_>) -> Option<Duration> {
        let node = self.get(key)?;
        let text = found.text(node, &format!("`{key}`"))?;
        duration::parse(text)
            .map_err(|error| {
                found.error_with_help("bad-duration", node.span, error.to_string(), "write `5s` or `500ms`");
            })
            .ok()
    }

    fn word(&self, key: &str, known: &[&str], found: &mut Diagnostics<'_>) -> Option<String> {
        let node = self.get(key)?;
        known_word(node, key, known, found)
    }

    fn words(&self, key: &str, known: &[&str], found: &mut Diagnostics<'_>) -> Vec<String> {
        let nodes = self.get(key).map(|node| found.one_or_many(node)).unwrap_or_default();
        nodes.iter().filter_map(|node| known_word(node, key, known, found)).collect()
    }
}

fn known_word(node: &Node, key: &str, known: &[&str], found: &mut Diagnostics<'_>) -> Option<String> {
    let text = found.text(node, &format!("`{key}`"))?;
    if known.contains(&text) {
        return Some(text.to_owned());
    }
    let help = match nearest(text, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("give one of {}", known.join(", ")),
    };
    found.error_with_help("bad-value", node.span, format!("`{key}` has no value `{text}`"), help);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Vec<Scenario>, Vec<String>) {
        let (scenarios, findings) = read(&Arc::new(SourceFile::new("s.yaml", text)));
        let shown = |finding: &Finding| format!("{} {}", finding.message, finding.help.clone().unwrap_or_default());
        (scenarios, findings.iter().map(shown).collect())
    }

    #[test]
    fn a_scenario_is_read_with_its_defaults() {
        let text = "scenario: hung\nservers:\n  files:\n    offers: { tools: [{ name: search }] }\n    faults: [search=hang]\n";
        let (scenarios, problems) = read_text(text);
        assert!(problems.is_empty(), "{problems:?}");
        let [scenario] = scenarios.as_slice() else { panic!("one scenario") };
        assert_eq!((scenario.expect.retries, scenario.timeout), (3, TIMEOUT));
        assert_eq!(scenario.servers[0].faults[0].fault.to_string(), "hang");
        assert_eq!(scenario.servers[0].transport, ScenarioTransport::Stdio);
    }

    #[test]
    fn every_mistake_is_reported_with_what_to_write() {
        let text = "scenario: x\nconfig: cursr\nexpect: { detected: soon, retry: 3 }\nservers:\n  a: { faults: hnag, offers: {} }\n  b: {}\nscripted: { bad: [waits-for-ever], calls: [{ server: c, tool: t }, {}] }\n";
        let (scenarios, problems) = read_text(text);
        assert!(scenarios.is_empty());
        for part in [
            "`cursor`",
            "`hang`",
            "`waits-forever`",
            "known keys of `expect`",
            "offers nothing",
            "write `5s`",
            "no `tool`",
            "`server` has no value `c`",
        ] {
            assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:?}");
        }
    }
}
