//! Sequences that showed something new, as files: reply shapes, error classes and the time a call takes are the feedback
//! that instrumentation gives elsewhere.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use mcprove_judge::sequences::{Bind, Reply, SequenceModel, Step, StepTarget};
use mcprove_model::bounded_json;
use serde_json::{Value, json};

use super::failure::name_of;

/// A sequence of the corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusEntry {
    /// The name of its file, by its content.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// A number for what a call showed: the tool, the shape of the reply, its class and the order of magnitude of its time.
pub(crate) fn shape(step: &Step, reply: &Reply, elapsed_us: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    step.target.hash(&mut hasher);
    (reply.is_fine, reply.is_broken).hash(&mut hasher);
    if let Some(doc) = &reply.doc {
        of_value(doc, 0, &mut hasher);
    } else {
        // The words of an error without the values in it.
        let word = |word: &str| word.chars().all(char::is_alphabetic) && word.len() < 20;
        reply.text.split_whitespace().filter(|text| word(text)).take(12).for_each(|text| text.hash(&mut hasher));
    }
    // Only a call that takes far longer than others is something new; small differences are noise.
    (elapsed_us / 1_000_000).min(3).hash(&mut hasher);
    hasher.finish()
}

fn of_value(value: &Value, depth: usize, hasher: &mut DefaultHasher) {
    if depth > 6 {
        return;
    }
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(_) => 1_u8.hash(hasher),
        Value::Number(_) => 2_u8.hash(hasher),
        Value::String(text) => (3_u8, text.is_empty()).hash(hasher),
        Value::Array(items) => {
            // None, one or several: that is what programs distinguish.
            (4_u8, items.len().min(2)).hash(hasher);
            items.iter().take(2).for_each(|item| of_value(item, depth + 1, hasher));
        }
        Value::Object(map) => {
            (5_u8, map.len().min(20)).hash(hasher);
            for (key, value) in map.iter().take(20) {
                if key.chars().all(|c| c.is_alphabetic() || c == '_') {
                    key.hash(hasher);
                }
                of_value(value, depth + 1, hasher);
            }
        }
    }
}

/// A sequence as a file of the corpus.
pub fn written_entry(model: &SequenceModel, steps: &[Step]) -> CorpusEntry {
    let shown = steps.iter().map(|step| {
        let mut shown = json!({"step": step.id, "call": name_of(model, step.target), "args": step.args});
        if !step.binds.is_empty() {
            let bind = |bind: &Bind| json!({"at": bind.at, "step": bind.step, "path": bind.path});
            shown["from"] = step.binds.iter().map(bind).collect();
        }
        shown
    });
    let lines: Vec<String> = shown.map(|line| line.to_string()).collect();
    let text = lines.join("\n") + "\n";
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    CorpusEntry { name: format!("{:016x}.ndjson", hasher.finish()), text }
}

/// Reads a file of the corpus; steps with tools that the server does not have are left out, with what depends on them.
/// The error says which line is wrong.
pub fn read_entry(model: &SequenceModel, text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value = bounded_json::value(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        let wrong = |what: &str| format!("line {}: `{what}` is missing or has another type", at + 1);
        let id = value["step"].as_u64().and_then(|id| u32::try_from(id).ok()).ok_or_else(|| wrong("step"))?;
        let call = value["call"].as_str().ok_or_else(|| wrong("call"))?;
        let target = match call {
            "resources/list" => StepTarget::Resources,
            "resources/read" => StepTarget::Resource,
            "(restart)" => StepTarget::Restart,
            name => match model.tools.iter().position(|tool| tool.name == name) {
                Some(at) => StepTarget::Tool(at),
                None => continue,
            },
        };
        let mut binds = Vec::new();
        for bind in value["from"].as_array().into_iter().flatten() {
            let text = |key: &str| bind[key].as_str().map(str::to_owned).ok_or_else(|| wrong(key));
            let step = bind["step"].as_u64().and_then(|id| u32::try_from(id).ok()).ok_or_else(|| wrong("from"))?;
            binds.push(Bind { at: text("at")?, step, path: text("path")? });
        }
        if binds.iter().all(|bind| steps.iter().any(|step| step.id == bind.step)) {
            steps.push(Step { id, target, args: value["args"].clone(), binds });
        }
    }
    Ok(steps)
}
