//! `distractors`: tools that do not help, offered to the model besides the real ones.

use std::sync::Arc;

use mcprove_model::{AgentMeasure, ChatTool, Diagnostics, Node, Observation, Targets};
use serde_json::{Value, json};

use super::{MeasureKind, calls, percent, some_texts, texts_schema};

static TARGETS: Targets = Targets {
    name: "distractors",
    block: "`distractors`",
    known: &["distractors.accuracy", "distractors.chose_distractor", "distractors.complexity"],
};

pub(super) const KIND: MeasureKind = MeasureKind {
    key: "distractors",
    summary: "Offer the model tools that do not help, and judge which it calls. A call of such a tool is answered with an error.",
    targets: &TARGETS,
    default: r#"[{"target": "distractors.accuracy", "matcher": {"gte": 50}}]"#,
    decode: |node, _, found| decode(node, found),
    schema: || {
        let source = json!({
            "type": "object",
            "required": ["from"],
            "additionalProperties": false,
            "properties": {
                "from": {"enum": ["catalog", "near_duplicate"], "description": "Tools of other trades, or names close to real ones."},
                "of": texts_schema("The real tools, for `near_duplicate`."),
            },
            "description": "Where they come from.",
        });
        let properties = json!({
            "complexity": {"enum": ["parallel", "serial"], "description": "A label, which is a target, too."},
            "correct": texts_schema("The tools that help."),
            "count": {"type": "integer", "minimum": 0, "description": "How many are offered."},
            "source": source,
        });
        (properties, &["count", "source", "correct"])
    },
};

/// Tools of other trades: a name, and what they are said to do.
const CATALOG: &[(&str, &str)] = &[
    ("book_flight", "Book a flight between two airports."),
    ("convert_currency", "Convert an amount from one currency to another."),
    ("translate_text", "Translate a text into another language."),
    ("create_invoice", "Create an invoice for a customer."),
    ("resize_image", "Change the size of an image."),
    ("track_parcel", "Look up where a parcel is."),
    ("schedule_meeting", "Find a time for a meeting and invite people."),
    ("get_stock_price", "Get the latest price of a share."),
    ("reserve_table", "Reserve a table at a restaurant."),
    ("send_fax", "Send a document by fax."),
    ("measure_latency", "Measure the time to a host."),
    ("compress_archive", "Pack files into an archive."),
];

/// Suffixes that turn a name into one that is almost real.
const VARIANTS: &[&str] = &["_v2", "_legacy", "_beta", "_internal", "_old", "_batch", "_async", "_draft"];

#[derive(Debug)]
struct Distractors {
    count: usize,
    /// The real tools whose names are varied; tools of other trades when empty.
    of: Vec<String>,
    correct: Vec<String>,
    complexity: Option<String>,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Option<Arc<dyn AgentMeasure>> {
    let Some(count) = node.get("count").and_then(Node::as_count).and_then(|count| usize::try_from(count).ok()) else {
        found.error_with_help("missing-key", node.span, "`distractors` has no `count`", "add `count: 10`");
        return None;
    };
    let source = node.get("source").cloned().unwrap_or_else(|| Node::from_json(node.span, Value::Null));
    found.known_keys(&source, "`source`", &["from", "of"]);
    let of = match source.get("from").and_then(Node::as_text) {
        Some("catalog") => Vec::new(),
        Some("near_duplicate") => some_texts(&source, "of", found)?,
        Some(_) | None => {
            found.wrong_kind(&source, "`source`", "`{from: catalog}`, or `{from: near_duplicate, of: [TOOL]}`");
            return None;
        }
    };
    let complexity = node.get("complexity").and_then(Node::as_text).map(str::to_owned);
    Some(Arc::new(Distractors { count, of, correct: some_texts(node, "correct", found)?, complexity }))
}

impl Distractors {
    fn names(&self) -> Vec<(String, String)> {
        let numbered =
            |name: &str, round: usize| if round == 0 { name.to_owned() } else { format!("{name}_{}", round + 1) };
        if self.of.is_empty() {
            let tool = |at: usize| {
                let (name, description) = CATALOG[at % CATALOG.len()];
                (numbered(name, at / CATALOG.len()), description.to_owned())
            };
            return (0..self.count).map(tool).collect();
        }
        let tool = |at: usize| {
            let (real, variant) = (&self.of[at % self.of.len()], at / self.of.len());
            let name = format!("{real}{}", VARIANTS[variant % VARIANTS.len()]);
            (numbered(&name, variant / VARIANTS.len()), String::new())
        };
        (0..self.count).map(tool).collect()
    }
}

impl AgentMeasure for Distractors {
    fn name(&self) -> &'static str {
        "distractors"
    }

    fn measure(&self, seen: &Observation) -> Value {
        let calls = calls(seen);
        let right = calls.iter().filter(|call| self.correct.iter().any(|tool| call.is(tool))).count();
        let accuracy = if calls.is_empty() { 0.0 } else { percent(right, calls.len()) };
        let names = self.names();
        let chose = calls.iter().any(|call| call.server.is_empty() && names.iter().any(|(name, _)| name == call.tool));
        let mut values = json!({"accuracy": accuracy, "chose_distractor": u8::from(chose)});
        if let Some(complexity) = &self.complexity {
            values["complexity"] = json!(complexity);
        }
        values
    }

    fn distractors(&self, offered: &[ChatTool]) -> Vec<ChatTool> {
        let near = |name: &str| self.of.iter().find(|real| name.starts_with(real.as_str()));
        let real =
            |name: &str| offered.iter().find(|tool| tool.name == name || tool.name.ends_with(&format!("__{name}")));
        let tool = |(name, description): (String, String)| {
            let like = near(&name).and_then(|name| real(name));
            ChatTool {
                description: like.map_or(description, |tool| tool.description.clone()),
                input_schema: like.map_or_else(
                    || json!({"type": "object", "properties": {"input": {"type": "string"}}}),
                    |tool| tool.input_schema.clone(),
                ),
                name,
            }
        };
        let is_free = |tool: &ChatTool| offered.iter().all(|other| other.name != tool.name);
        self.names().into_iter().map(tool).filter(is_free).collect()
    }
}
