//! Small JSON Schemas that blocks are put together from.

use mcprove_judge::agent_measures::{MEASURES, STABILITY_TARGETS};
use mcprove_judge::{checks, target_sets};
use mcprove_model::Vocabulary;
use serde_json::{Value, json};

/// The key that marks a schema used in many places, which is kept once under the name that is its value.
pub(crate) const DEFINITION: &str = "x-definition";

/// A text; numbers and booleans are taken as written.
pub(crate) fn text(description: &str) -> Value {
    json!({"type": ["string", "number", "boolean"], "description": description})
}

/// A text that may be left empty.
pub(crate) fn scalar(description: &str) -> Value {
    json!({"type": ["string", "number", "boolean", "null"], "description": description})
}

/// A list of texts.
pub(crate) fn texts(description: &str) -> Value {
    json!({"type": ["array", "null"], "items": {"type": ["string", "number", "boolean"]}, "description": description})
}

/// A map of texts.
pub(crate) fn scalars(description: &str) -> Value {
    json!({
        "type": ["object", "null"],
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
        "description": description,
    })
}

/// `true` or `false`.
pub(crate) fn flag(description: &str) -> Value {
    json!({"type": ["boolean", "null"], "description": description})
}

/// A whole number from `least`.
pub(crate) fn count(description: &str, least: u64) -> Value {
    json!({"type": "integer", "minimum": least, "description": description})
}

/// A whole number within bounds.
pub(crate) fn count_within(description: &str, bounds: &std::ops::RangeInclusive<u64>) -> Value {
    json!({"type": "integer", "minimum": bounds.start(), "maximum": bounds.end(), "description": description})
}

/// A duration such as `500ms`.
pub(crate) fn duration(description: &str) -> Value {
    json!({"type": ["string", "number", "null"], "description": description})
}

/// A map with anything in it.
pub(crate) fn any_map(description: &str) -> Value {
    json!({"type": ["object", "null"], "description": description})
}

/// A map of these keys.
#[expect(clippy::needless_pass_by_value, reason = "callers make the schema in place")]
pub(crate) fn map(description: &str, properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": required,
        "description": description,
    })
}

/// A list of these.
#[expect(clippy::needless_pass_by_value, reason = "callers make the schema in place")]
pub(crate) fn list(description: &str, items: Value) -> Value {
    json!({"type": ["array", "null"], "items": items, "description": description})
}

/// A request for a list: nothing, `true`, or a map with a cursor.
pub(crate) fn listing(description: &str) -> Value {
    json!({
        "type": ["object", "null", "boolean"],
        "additionalProperties": false,
        "properties": {"cursor": text("The page at this cursor; all pages when left out.")},
        "description": description,
    })
}

/// Schema of the expectations of a block: its name and description. It is large, so [`definition`] makes it once.
pub(crate) fn expect(vocabulary: Vocabulary) -> Value {
    json!({
        DEFINITION: expect_name(vocabulary),
        "description": "What is expected: a map of checks, or a list of targets, each with a matcher.",
    })
}

/// The schema of a name that [`expect`] gave.
pub(super) fn definition(name: &str) -> Value {
    const OF_BLOCKS: [Vocabulary; 14] = [
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
        Vocabulary::Agent,
        Vocabulary::ToolQuality,
        Vocabulary::NegativePath,
        Vocabulary::Fuzz,
    ];
    let sets = MEASURES.iter().map(|kind| kind.targets).chain([
        &target_sets::CALIBRATION,
        &target_sets::COMPOSITION,
        &target_sets::METAMORPHIC,
        &target_sets::SCENARIO,
        &target_sets::SPEC_VERSION,
        &STABILITY_TARGETS,
    ]);
    let mut vocabularies = OF_BLOCKS.into_iter().chain(sets.map(Vocabulary::Targets));
    vocabularies.find(|vocabulary| expect_name(*vocabulary) == name).map(checks::schema).unwrap_or_default()
}

fn expect_name(vocabulary: Vocabulary) -> String {
    match vocabulary {
        Vocabulary::Targets(targets) => format!("expect-{}", targets.name),
        other => format!("expect-{other:?}").to_lowercase(),
    }
}
