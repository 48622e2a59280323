//! A tool: what it shows of itself, how it answers, and what it does on the way.

use std::time::Duration;

use mcprove_judge::argument_errors;
use mcprove_model::{Diagnostics, FaultKind, Node, Span, nearest};
use serde_json::{Value, json};

use super::answer::{self, Answers};
use super::ask::{self, Ask, Round};
use super::block::Block;

/// A tool.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) span: Span,
    /// What `tools/list` shows.
    pub(crate) entry: Value,
    /// The schema its arguments are checked against.
    pub(crate) input_schema: Value,
    pub(crate) answers: Answers,
    /// Requests to its client while it works: during its task if it has one, else before it answers.
    pub(crate) asks: Vec<Ask>,
    /// Requests to its client before it begins.
    pub(crate) rounds: Vec<Round>,
    pub(crate) task: Option<Task>,
    /// The message of each step, and how long a step takes.
    pub(crate) progress: Vec<Option<String>>,
    pub(crate) step_time: Duration,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) notifies: Vec<Change>,
    pub(crate) fault: Option<FaultKind>,
}

/// Settings of a tool that runs as a task (2026-07-28, the tasks extension).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// Number of polls that are answered with "working".
    pub(crate) poll_count: u64,
    pub(crate) poll_interval_ms: Option<u64>,
    pub(crate) ttl_ms: Option<u64>,
    /// Clients without the extension are refused rather than answered at once.
    pub(crate) required: bool,
}

/// A log message a tool sends while it works.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LogLine {
    pub(crate) level: Level,
    pub(crate) logger: Option<String>,
    pub(crate) data: Value,
}

/// Something a call changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    /// The content of a resource.
    Resource(String),
}

/// Severity of a log message (RFC 5424).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Tool {
    /// All its requests, in order, for a call without a task.
    pub(crate) fn all_rounds(&self) -> Vec<Round> {
        let own = Round { asks: self.asks.clone(), state: None, description: None };
        self.rounds.iter().cloned().chain((!own.asks.is_empty()).then_some(own)).collect()
    }
}

impl Level {
    pub(crate) const ALL: [(&'static str, Self); 8] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
        ("critical", Self::Critical),
        ("alert", Self::Alert),
        ("emergency", Self::Emergency),
    ];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, level)| *level)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, level)| *level == self).map_or("info", |(name, _)| name)
    }
}

pub(super) const KEYS: &[&str] = &[
    "name",
    "title",
    "description",
    "input_schema",
    "output_schema",
    "annotations",
    "icons",
    "_meta",
    "response",
    "responses",
    "sampling",
    "elicitation",
    "roots_list",
    "input_required",
    "task",
    "progress",
    "logs",
    "notifies",
    "fault",
];

pub(super) const TASK_KEYS: &[&str] = &["poll_count", "poll_interval_ms", "ttl_ms", "required", "requests"];
pub(super) const PROGRESS_KEYS: &[&str] = &["steps", "interval_ms"];
pub(super) const LOG_KEYS: &[&str] = &["level", "data", "logger"];

/// Upper limit for progress steps.
const MOST_STEPS: u64 = 10_000;

pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Option<Tool> {
    let block = Block::open(node, "a tool", KEYS, found)?;
    let name = block.required_text("name", found)?;
    let input_schema = schema(&block, "input_schema", found).unwrap_or_else(|| json!({"type": "object"}));
    let mut entry = json!({"name": name});
    block.copy_into(&mut entry, &["title", "description"]);
    entry["inputSchema"] = input_schema.clone();
    if let Some(output_schema) = schema(&block, "output_schema", found) {
        entry["outputSchema"] = output_schema;
    }
    for key in ["annotations", "_meta"] {
        block.object(key, found);
    }
    block.copy_into(&mut entry, &["annotations", "icons", "_meta"]);
    let (progress, step_time) = progress(&block, found);
    let mut asks = ask::decode(&block, found);
    let task = task(&block, &mut asks, found);
    Some(Tool {
        span: block.get("name").map_or(node.span, |name| name.span),
        entry,
        input_schema,
        answers: answer::decode(&block, &name, found),
        asks,
        rounds: ask::rounds_of(&block, found),
        task,
        progress,
        step_time,
        logs: block.list("logs", found).iter().filter_map(|node| log_line(node, found)).collect(),
        notifies: notifies(&block, found),
        fault: super::fault(&block, found),
        name,
    })
}

/// A schema that can be used; one that cannot is reported here rather than at the first call.
fn schema(block: &Block<'_>, name: &str, found: &mut Diagnostics<'_>) -> Option<Value> {
    let schema = block.object(name, found)?;
    if let (Err(reason), Some(node)) = (argument_errors(&schema, &json!({})), block.get(name)) {
        found.error_with_help("bad-schema", node.span, format!("`{name}`: {reason}"), "fix the schema");
    }
    Some(schema)
}

/// `task`, and its requests to the client besides those of the tool.
fn task(block: &Block<'_>, asks: &mut Vec<Ask>, found: &mut Diagnostics<'_>) -> Option<Task> {
    let task = Block::open(block.get("task")?, "`task`", TASK_KEYS, found)?;
    asks.extend(task.get("requests").map(|node| ask::asks_of(node, found)).unwrap_or_default());
    Some(Task {
        poll_count: task.count("poll_count", found).unwrap_or_default(),
        poll_interval_ms: task.count("poll_interval_ms", found),
        ttl_ms: task.count("ttl_ms", found),
        required: task.flag("required", found),
    })
}

/// `progress: 3`, `progress: [first, second]`, or `progress: {steps: …, interval_ms: …}` with either as its steps.
fn progress(block: &Block<'_>, found: &mut Diagnostics<'_>) -> (Vec<Option<String>>, Duration) {
    let Some(node) = block.get("progress") else { return (Vec::new(), Duration::ZERO) };
    if node.as_map().is_none() {
        return (steps(node, found), Duration::ZERO);
    }
    let Some(block) = Block::open(node, "`progress`", PROGRESS_KEYS, found) else {
        return (Vec::new(), Duration::ZERO);
    };
    let interval = Duration::from_millis(block.count("interval_ms", found).unwrap_or_default());
    (block.get("steps").map(|node| steps(node, found)).unwrap_or_default(), interval)
}

fn steps(node: &Node, found: &mut Diagnostics<'_>) -> Vec<Option<String>> {
    if let Some(texts) = node.as_list() {
        return texts.iter().map(|text| found.text(text, "a step").map(str::to_owned)).collect();
    }
    match node.as_count() {
        Some(count) if count <= MOST_STEPS => (0..count).map(|_| None).collect(),
        Some(_) | None => {
            found.wrong_kind(node, "`progress`", "a number of steps up to 10000, or a list of messages");
            Vec::new()
        }
    }
}

/// `text`, which is of the level `info`, or `{level, data, logger}`.
fn log_line(node: &Node, found: &mut Diagnostics<'_>) -> Option<LogLine> {
    if let Some(text) = node.as_text() {
        return Some(LogLine { level: Level::Info, logger: None, data: json!(text) });
    }
    let block = Block::open(node, "a log message", LOG_KEYS, found)?;
    let level = match block.get("level") {
        None => Level::Info,
        Some(node) => {
            let name = found.text(node, "`level`")?;
            Level::parse(name).or_else(|| {
                let names = Level::ALL.map(|(name, _)| name);
                let help = match nearest(name, names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("give one of {}", names.join(", ")),
                };
                found.error_with_help("bad-value", node.span, format!("`{name}` is not a log level"), help);
                None
            })?
        }
    };
    let data = block.get("data").map_or(Value::Null, Node::to_json);
    Some(LogLine { level, logger: block.text("logger", found), data })
}

fn notifies(block: &Block<'_>, found: &mut Diagnostics<'_>) -> Vec<Change> {
    let Some(node) = block.get("notifies") else { return Vec::new() };
    let mut changes = Vec::new();
    for node in found.one_or_many(node) {
        let Some(text) = found.text(node, "`notifies`") else { continue };
        changes.push(match text {
            "tools" => Change::Tools,
            "prompts" => Change::Prompts,
            "resources" => Change::Resources,
            uri if uri.contains(':') => Change::Resource(uri.to_owned()),
            other => {
                let help = match nearest(other, ["tools", "prompts", "resources"]) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "give `tools`, `prompts`, `resources`, or the uri of a resource".to_owned(),
                };
                found.error_with_help("bad-value", node.span, format!("`{other}` cannot change"), help);
                continue;
            }
        });
    }
    changes
}
