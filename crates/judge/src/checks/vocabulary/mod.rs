//! The checks of each block, and the decoding of a block.

mod target_roots;

use mcprove_model::{Diagnostics, Entry, Key, Node, PlannedCheck, Vocabulary, nearest};
use serde_json::{Map, Value, json};

use self::target_roots::{FUZZ_TARGETS, NEGATIVE_TARGETS, QUALITY_TARGETS, roots};
use super::trajectory::{decode_trajectory, trajectory_schema};
use super::{
    CHECKS, CheckKind, agent_trajectory, decode_threshold, derived_metrics, expect_notification, logging,
    notifications, raw, sampling, threshold_schema, trajectory,
};
use crate::matchers;
use crate::target::Target;

/// Every table of checks, by its key.
pub const TABLES: &[Table] = &[
    Table { key: "expect", of: "any block with a result", kinds: CHECKS },
    Table { key: "expect", of: "`assert_logging`", kinds: logging::CHECKS },
    Table { key: "expect", of: "`assert_notifications`", kinds: notifications::CHECKS },
    Table { key: "expect", of: "`assert_raw`", kinds: raw::CHECKS },
    Table { key: "expect_notification", of: "`assert_resources`", kinds: &[expect_notification::KIND] },
    Table { key: "expect_sampling", of: "`assert_sampling`", kinds: sampling::CHECKS },
    Table { key: "trajectory", of: "a document with `trace` or `audit_log`", kinds: trajectory::CHECKS },
];

/// A table of checks.
pub struct Table {
    /// The key of its checks.
    pub key: &'static str,
    /// The parent of that key.
    pub of: &'static str,
    /// The checks, in the order failures are reported.
    pub kinds: &'static [CheckKind],
}

/// Checks of a result that mean something in some blocks only; all others mean something in every block that has a
/// result.
const LIMITED: &[(&str, &[Vocabulary])] = &[
    ("cancelled", &[Vocabulary::Tool]),
    (
        // It judges what tools answer.
        "handled",
        &[
            Vocabulary::Tool,
            Vocabulary::ToolStep,
            Vocabulary::Sampling,
            Vocabulary::Logging,
            Vocabulary::Notifications,
            Vocabulary::Raw,
        ],
    ),
    (
        "is_error",
        &[
            Vocabulary::Tool,
            Vocabulary::ToolStep,
            Vocabulary::Sampling,
            Vocabulary::Logging,
            Vocabulary::Notifications,
            Vocabulary::Raw,
        ],
    ),
    // Elsewhere, notifications are not awaited or are judged by the block itself.
    ("logging", &[Vocabulary::Tool]),
    (
        // Elsewhere the time of a request is not taken.
        "max_duration_ms",
        &[
            Vocabulary::Tool,
            Vocabulary::Resources,
            Vocabulary::Prompts,
            Vocabulary::Completion,
            Vocabulary::Sampling,
            Vocabulary::Notifications,
        ],
    ),
    (
        "min_progress",
        &[Vocabulary::Tool, Vocabulary::Sampling, Vocabulary::Logging, Vocabulary::Notifications, Vocabulary::Raw],
    ),
    // Elsewhere, the answer is not that of one request.
    ("response_headers", &[Vocabulary::Tool, Vocabulary::Resources, Vocabulary::Prompts, Vocabulary::Completion]),
    (
        "response_headers_absent",
        &[Vocabulary::Tool, Vocabulary::Resources, Vocabulary::Prompts, Vocabulary::Completion],
    ),
    (
        // What a tool of an agent answers goes to its model; the agent itself has an answer or none.
        "protocol_error",
        &[
            Vocabulary::Tool,
            Vocabulary::ToolStep,
            Vocabulary::ReadStep,
            Vocabulary::Resources,
            Vocabulary::Prompts,
            Vocabulary::Completion,
            Vocabulary::Sampling,
            Vocabulary::Logging,
            Vocabulary::Notifications,
            Vocabulary::Raw,
        ],
    ),
];

/// Keys of a map of checks that are not checks: the other form of `expect`, and the share of it that must hold.
const AROUND: &[&str] = &["assertions", derived_metrics::KEY, SNAPSHOT, "threshold"];

/// Options of `snapshot` matchers.
const SNAPSHOT: &str = "snapshot";

/// Decodes what a block expects; unknown keys, keys of other blocks and wrong values are reported, the rest is kept.
///
/// Each [`Vocabulary`] documents the form of its block. The checks come in the order of their table, whatever the order
/// in the file; those of a trajectory in written order. A block that was left empty asks for nothing. A list of
/// `{target, matcher}` may replace a map of checks; in the map, such a list is under `assertions`.
pub fn decode(vocabulary: Vocabulary, block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    match vocabulary {
        Vocabulary::Tool
        | Vocabulary::ToolStep
        | Vocabulary::ReadStep
        | Vocabulary::Prompts
        | Vocabulary::Completion
        | Vocabulary::Agent => decode_result(vocabulary, block, found),
        Vocabulary::Resources => decode_resources(block, found),
        Vocabulary::Sampling => {
            let mut checks = part(block, "expect", |expect| decode_result(vocabulary, expect, found));
            checks.extend(part(block, "expect_sampling", |expect| decode_sampling(expect, found)));
            checks
        }
        Vocabulary::Logging => decode_logging(block, found),
        Vocabulary::Notifications => decode_notifications(block, found),
        Vocabulary::Trajectory => decode_trajectory(block, found),
        Vocabulary::Raw => decode_raw(block, found),
        Vocabulary::AgentTrajectory => agent_trajectory::decode(block, found),
        Vocabulary::ToolQuality => decode_targets(vocabulary, block, QUALITY_TARGETS, found),
        Vocabulary::NegativePath => decode_targets(vocabulary, block, NEGATIVE_TARGETS, found),
        Vocabulary::Fuzz => decode_targets(vocabulary, block, FUZZ_TARGETS, found),
        Vocabulary::Targets(targets) => decode_targets(vocabulary, block, targets.known, found),
    }
}

/// Decodes the `expect` of `assert_logging`: its own checks, and those of the tool's result.
pub fn decode_logging(block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    decode_result(Vocabulary::Logging, block, found)
}

/// Decodes the `expect` of `assert_notifications`: its own checks, and those of the tool's result.
pub fn decode_notifications(block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    decode_result(Vocabulary::Notifications, block, found)
}

/// Decodes the `expect` of `assert_raw`: its own checks, and those of any result.
pub fn decode_raw(block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    decode_result(Vocabulary::Raw, block, found)
}

/// Decodes the `expect_sampling` of `assert_sampling`.
pub fn decode_sampling(block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    sampling_words().decode(block, found)
}

/// The JSON Schema of what a block expects: of its `expect`, or of the whole `trajectory`.
pub fn schema(vocabulary: Vocabulary) -> Value {
    match vocabulary {
        Vocabulary::Tool
        | Vocabulary::ToolStep
        | Vocabulary::ReadStep
        | Vocabulary::Resources
        | Vocabulary::Prompts
        | Vocabulary::Completion
        | Vocabulary::Sampling
        | Vocabulary::Logging
        | Vocabulary::Notifications
        | Vocabulary::Raw
        | Vocabulary::ToolQuality
        | Vocabulary::NegativePath
        | Vocabulary::Fuzz
        | Vocabulary::Targets(_)
        | Vocabulary::Agent => result_words(vocabulary).schema(),
        Vocabulary::Trajectory => trajectory_schema(),
        Vocabulary::AgentTrajectory => agent_trajectory::schema(),
    }
}

/// The JSON Schema of `expect_sampling`.
pub fn sampling_schema() -> Value {
    let mut schema = sampling_words().schema();
    schema["description"] = "What the server must ask a model for.".into();
    schema
}

fn decode_result(vocabulary: Vocabulary, block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    if !applies("is_error", vocabulary)
        && let Some(flag) = block.get("not_error").filter(|flag| flag.as_bool() == Some(false))
    {
        let message = format!("`not_error: false` can never hold in {}: only tools mark errors", vocabulary.block());
        found.error_with_help("never-holds", flag.span, message, "`protocol_error: true` asks for a JSON-RPC error");
        return Vec::new();
    }
    words_for(block, vocabulary).decode(block, found)
}

/// Assertions about values that have names of their own; a target that is none of them can never lead anywhere.
fn decode_targets(
    vocabulary: Vocabulary,
    block: &Node,
    known: &[&'static str],
    found: &mut Diagnostics<'_>,
) -> Vec<PlannedCheck> {
    let list = block.get("assertions").unwrap_or(block);
    for target in list.as_list().unwrap_or_default().iter().filter_map(|assertion| assertion.get("target")) {
        let Some(text) = target.as_text() else { continue };
        let begins =
            |name: &&str| text.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if text.starts_with('$') || known.iter().any(begins) {
            continue;
        }
        let help = match nearest(text, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is {}", known.join(", ")),
        };
        let message = format!("{} has no target `{text}`", vocabulary.block());
        found.error_with_help("unknown-target", target.span, message, help);
    }
    words_for(block, vocabulary).decode(block, found)
}

fn decode_resources(block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let mut checks = part(block, "expect", |expect| decode_result(Vocabulary::Resources, expect, found));
    checks.extend(part(block, "expect_notification", |flag| {
        expect_notification::decode(flag, block.get("subscribe"), found)
    }));
    checks
}

fn part(block: &Node, key: &str, decode: impl FnOnce(&Node) -> Vec<PlannedCheck>) -> Vec<PlannedCheck> {
    block.get(key).filter(|node| !node.is_null()).map(decode).unwrap_or_default()
}

/// The checks that may be asked for under a key.
struct Words {
    /// Names of the key in messages.
    what: &'static str,
    vocabulary: Vocabulary,
    kinds: Vec<&'static CheckKind>,
}

/// The checks that a block may name; a list of assertions names none.
fn words_for(block: &Node, vocabulary: Vocabulary) -> Words {
    if block.as_list().is_some() {
        return Words { what: "`expect`", vocabulary, kinds: Vec::new() };
    }
    result_words(vocabulary)
}

/// The checks of a block with a result: its own, which win over others of the same name, and those of any result.
fn result_words(vocabulary: Vocabulary) -> Words {
    let own: &[CheckKind] = match vocabulary {
        Vocabulary::Logging => logging::CHECKS,
        Vocabulary::Notifications => notifications::CHECKS,
        Vocabulary::Raw => raw::CHECKS,
        Vocabulary::Tool
        | Vocabulary::ToolStep
        | Vocabulary::ReadStep
        | Vocabulary::Resources
        | Vocabulary::Prompts
        | Vocabulary::Completion
        | Vocabulary::Sampling
        | Vocabulary::Trajectory
        | Vocabulary::Agent
        | Vocabulary::AgentTrajectory => &[],
        // These have numbers at targets instead of a result.
        Vocabulary::ToolQuality | Vocabulary::NegativePath | Vocabulary::Fuzz | Vocabulary::Targets(_) => {
            return Words { what: "`expect`", vocabulary, kinds: Vec::new() };
        }
    };
    let is_own = |name: &str| own.iter().any(|kind| kind.name == name);
    let others = CHECKS.iter().filter(|kind| applies(kind.name, vocabulary) && !is_own(kind.name));
    Words { what: "`expect`", vocabulary, kinds: own.iter().chain(others).collect() }
}

fn sampling_words() -> Words {
    let (what, vocabulary) = ("`expect_sampling`", Vocabulary::Sampling);
    Words { what, vocabulary, kinds: sampling::CHECKS.iter().collect() }
}

impl Words {
    fn decode(&self, block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
        if block.is_null() {
            return Vec::new();
        }
        if self.takes_assertions() && block.as_list().is_some() {
            return self.decode_list(block, found);
        }
        let entries = found.map(block, self.what).unwrap_or_default();
        for entry in entries {
            let key = entry.key.text.as_str();
            let is_around = self.takes_assertions() && AROUND.contains(&key);
            if !is_around && !self.kinds.iter().any(|kind| kind.name == key) {
                self.report(&entry.key, found);
            }
        }
        let asked = |kind: &'static CheckKind| entries.iter().find(|entry| entry.key.text == kind.name);
        let asked: Vec<(&CheckKind, &Entry)> =
            self.kinds.iter().filter_map(|kind| Some((*kind, asked(kind)?))).collect();
        report_impossible_bounds(entries, found);
        let mut checks: Vec<PlannedCheck> =
            asked.into_iter().flat_map(|(kind, entry)| (kind.decode)(&entry.value, found)).collect();
        if self.takes_assertions() {
            checks.extend(part(block, "assertions", |list| self.decode_list(list, found)));
            if let Some(threshold) = block.get("threshold") {
                decode_threshold(threshold, found);
            }
            if let Some(snapshot) = block.get(SNAPSHOT).filter(|snapshot| !snapshot.is_null()) {
                report_snapshot(snapshot, &checks, found);
            }
            let metrics = part(block, derived_metrics::KEY, |metrics| derived_metrics::decode(metrics, &checks, found));
            checks.extend(metrics);
        }
        checks
    }

    /// A list of assertions; one without items asks for nothing.
    fn decode_list(&self, list: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
        if list.as_list().is_some_and(<[Node]>::is_empty) {
            let help = "remove it, or list what is expected, for example `- {target: result.isError, matcher: {exact: false}}`";
            found.warning("nothing-asked", list.span, "the list is empty, so it checks nothing", Some(help.to_owned()));
        }
        if !super::shape::is_of_bounded_length(list, found) {
            return Vec::new();
        }
        self.report_unknown_roots(list, found);
        matchers::decode_assertions(list, found)
    }

    /// A target that begins with no name of the block can never lead anywhere, and would hold under `not`.
    fn report_unknown_roots(&self, list: &Node, found: &mut Diagnostics<'_>) {
        let known = roots(self.vocabulary);
        if known.is_empty() {
            return;
        }
        let items = list.as_list().unwrap_or_default();
        let assertions = || items.iter().flat_map(|item| std::iter::once(item).chain(matchers::assertions_in(item)));
        let has_jury =
            |assertion: &&Node| assertion.get("matcher").is_some_and(|matcher| matcher.get("llm-jury").is_some());
        for target in assertions().filter_map(|assertion| assertion.get("target")) {
            let Some(text) = target.as_text() else { continue };
            if known.iter().any(|root| text.strip_prefix(*root).is_some_and(|rest| rest.starts_with('.'))) {
                continue;
            }
            // Invalid targets are reported where they are decoded.
            let Ok(parsed) = Target::parse(text) else { continue };
            // With two juries, the target would be ambiguous.
            let jury = (assertions().filter(has_jury).count() == 1).then_some(matchers::graded::JURY);
            let known: Vec<&str> = known.iter().copied().chain(jury).collect();
            let Some(root) = parsed.root().filter(|root| !known.contains(root)) else { continue };
            let help = match nearest(root, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("targets begin with {}", known.join(", ")),
            };
            let message = format!("{} has no target `{}`", self.vocabulary.block(), parsed.text());
            found.error_with_help("unknown-target", target.span, message, help);
        }
    }

    /// True if a list of assertions may replace it; requests to a model have no targets.
    fn takes_assertions(&self) -> bool {
        self.what == "`expect`"
    }

    /// A key that is unknown here: of another block, or of none.
    fn report(&self, key: &Key, found: &mut Diagnostics<'_>) {
        let around = if self.takes_assertions() { AROUND } else { &[] };
        let known: Vec<&str> = self.kinds.iter().map(|kind| kind.name).chain(around.iter().copied()).collect();
        let Some(home) = home_of(&key.text) else {
            // A key that is nearest to one of another block is most likely a typo of that one.
            let all = TABLES.iter().flat_map(|table| table.kinds).map(|kind| kind.name);
            match nearest(&key.text, known.iter().copied()).or_else(|| nearest(&key.text, all)) {
                Some(near) if !known.contains(&near) => {
                    let message = format!("unknown key `{}` in {}", key.text, self.what);
                    let home = home_of(near).unwrap_or_default();
                    found.error_with_help("unknown-key", key.span, message, format!("`{near}` is for {home}"));
                }
                Some(_) | None => found.unknown_key(key, self.what, &known),
            }
            return;
        };
        let message = format!("`{}` means nothing in {} of {}", key.text, self.what, self.vocabulary.block());
        let also = match key.text.as_str() {
            "is_error" => "; `protocol_error: true` asks for a JSON-RPC error",
            _ => "",
        };
        found.error_with_help("wrong-block", key.span, message, format!("it is for {home}{also}"));
    }

    fn schema(&self) -> Value {
        let mut properties = Map::new();
        for kind in &self.kinds {
            let mut schema = (kind.schema)();
            schema["description"] = kind.summary.into();
            properties.insert(kind.name.to_owned(), schema);
        }
        if !self.takes_assertions() {
            return json!({"type": "object", "additionalProperties": false, "properties": properties});
        }
        let mut assertions = matchers::assertions_schema();
        assertions["description"] = "Values at targets, each with what is expected of it.".into();
        properties.insert("assertions".to_owned(), assertions);
        properties.insert(derived_metrics::KEY.to_owned(), derived_metrics::schema());
        let update =
            json!({"type": "boolean", "description": "Store the values of `snapshot` matchers anew in every run."});
        properties.insert(
            SNAPSHOT.to_owned(),
            json!({
                "type": "object",
                "properties": {"update": update},
                "additionalProperties": false,
                "description": "Options of `snapshot` matchers.",
            }),
        );
        properties.insert("threshold".to_owned(), threshold_schema());
        let map = json!({"type": "object", "additionalProperties": false, "properties": properties});
        json!({"anyOf": [map, matchers::assertions_schema(), {"type": "null"}]})
    }
}

/// Reports what is wrong with `snapshot`, and that it changes nothing where no matcher stores a value.
fn report_snapshot(node: &Node, checks: &[PlannedCheck], found: &mut Diagnostics<'_>) {
    found.known_keys(node, "`snapshot`", &["update"]);
    let updates = node.get("update").and_then(|update| found.boolean(update, "`update`")).unwrap_or(false);
    if updates && !checks.iter().any(|planned| planned.check.wants_stored()) {
        let help = "add `{target: result, matcher: {snapshot: NAME}}`, or remove it";
        let message = "`snapshot` stores nothing, because no matcher compares with a stored value";
        found.warning("nothing-asked", node.span, message, Some(help.to_owned()));
    }
}

/// A lower bound above the upper one, such as `min_count: 3` with `max_count: 2`, can never hold.
fn report_impossible_bounds(entries: &[Entry], found: &mut Diagnostics<'_>) {
    for lower in entries {
        let Some(counted) = lower.key.text.strip_prefix("min_") else { continue };
        let upper = entries.iter().find(|entry| entry.key.text.strip_prefix("max_") == Some(counted));
        let (Some(least), Some(upper)) = (lower.value.as_count(), upper) else { continue };
        if upper.value.as_count().is_some_and(|most| least > most) {
            let message =
                format!("`{}` is more than `{}`, so the two never hold together", lower.key.text, upper.key.text);
            found.error_with_help("never-holds", lower.value.span, message, "swap them, or remove one");
        }
    }
}

fn applies(name: &str, vocabulary: Vocabulary) -> bool {
    LIMITED.iter().find(|(limited, _)| *limited == name).is_none_or(|(_, blocks)| blocks.contains(&vocabulary))
}

/// The block of a check, in words.
fn home_of(name: &str) -> Option<String> {
    if let Some((_, blocks)) = LIMITED.iter().find(|(limited, _)| *limited == name) {
        let blocks: Vec<&str> = blocks.iter().map(|vocabulary| vocabulary.block()).collect();
        return Some(blocks.join(", "));
    }
    let holds = |table: &&Table| table.kinds.iter().any(|kind| kind.name == name);
    let homes: Vec<String> =
        TABLES.iter().filter(holds).map(|table| format!("`{}` of {}", table.key, table.of)).collect();
    (!homes.is_empty()).then(|| homes.join(" and "))
}

#[cfg(test)]
mod tests;
