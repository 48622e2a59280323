//! A request of the page, kept as a test: checks are proposed, and the file is shown before it is written.

use std::path::Path;

use mcprove_judge::first_expectation::first_expectation_of_call;
use mcprove_model::{
    ClientCapabilities, ElicitationAction, ElicitationReply, Observation, Outcome, RpcError, SamplingReply, ServerSpec,
    text_of_contents, text_of_prompt,
};
use mcprove_suite::starter::{FileNames, Starter};
use serde_json::{Value, json};

use crate::atomic_write;
use crate::starter_files::{self, Described, MachineValues};

/// The checks that a `result` of a `tool` suggests, and a path for the file.
pub(super) fn propose(method: &str, params: &Value, given: &Value, server: &ServerSpec) -> Value {
    let nothing = Value::Null;
    let part = |key: &str| given.get(key).unwrap_or(&nothing);
    let result = part("result");
    let outcome = match result.get("code").and_then(Value::as_i64) {
        Some(code) if result.get("message").is_some() && result.get("content").is_none() => {
            Outcome::Error(RpcError { code, message: String::new(), data: None })
        }
        _ => Outcome::Result(result.clone()),
    };
    let reply = match method {
        "resources/read" => Observation::new(outcome, text_of_contents(result)),
        "prompts/get" => Observation::new(outcome, text_of_prompt(result)),
        _ => Observation::of_tool_call(outcome),
    };
    let machine = MachineValues::of(server).shown_by(&[&reply]);
    let arguments = params.get("arguments").unwrap_or(&nothing);
    let expect = first_expectation_of_call(part("tool"), arguments, &reply, &machine);
    let subject = params.get("name").or(params.get("uri")).and_then(Value::as_str).unwrap_or("request");
    json!({"expect": expect, "path": free_path(&FileNames::default().stem(subject))})
}

/// The path of a file that is not there yet.
fn free_path(stem: &str) -> String {
    let mut path = format!("evals/{stem}.yaml");
    let mut number = 2;
    while Path::new(&path).exists() {
        path = format!("evals/{stem}-{number}.yaml");
        number += 1;
    }
    path
}

/// The file that a test becomes; `None` for a request that no test can make.
pub(super) fn text_of(method: &str, params: &Value, expect: &Value, server: &ServerSpec) -> Option<String> {
    let nothing = json!({});
    let arguments = params.get("arguments").unwrap_or(&nothing);
    let subject = |key: &str| params.get(key).and_then(Value::as_str).map(str::to_owned);
    let (name, block, content) = match method {
        "tools/call" => {
            let tool = subject("name")?;
            let content = starter_files::call(&tool, arguments, expect);
            (tool, "assert", content)
        }
        "resources/read" => {
            let uri = subject("uri")?;
            let content = json!({"read": uri, "expect": expect});
            (format!("resource {uri}"), "assert_resources", content)
        }
        "prompts/get" => {
            let prompt = subject("name")?;
            (format!("prompt {prompt}"), "assert_prompts", json!({"get": params, "expect": expect}))
        }
        _ => return None,
    };
    let described = Described::new(server, None);
    let written = described.written.answering(&server.client, &server.secrets);
    let mut remarks = vec!["Kept from `mcprove ui`. Change `expect` to what you really want.".to_owned()];
    remarks.extend(written.remark());
    let starter = Starter { remarks, ..Starter::new(name, &written, block, content) };
    Some(starter.text())
}

/// Adds the answers that a person gave, so that the test runs unattended: `{"elicitation": {…}, "sampling": [{…}]}`.
pub(super) fn give_answers(client: &mut ClientCapabilities, answers: &Value) {
    if let Some(answer) = answers.get("elicitation").filter(|answer| answer.is_object()) {
        let action = match answer.get("action").and_then(Value::as_str) {
            Some("accept") => ElicitationAction::Accept,
            Some("decline") => ElicitationAction::Decline,
            Some(_) | None => ElicitationAction::Cancel,
        };
        let content = answer.get("content").cloned().unwrap_or_else(|| json!({}));
        client.elicitation = Some(ElicitationReply { action, content, url: false });
    }
    for answer in answers.get("sampling").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let said = answer.get("content").and_then(|content| content.get("text")).and_then(Value::as_str);
        client.sampling.push(SamplingReply {
            text: said.unwrap_or_default().to_owned(),
            model: text("model"),
            stop_reason: text("stopReason"),
        });
    }
}

/// Writes a test to a new file below the current folder; the error says why not.
pub(super) fn write(path: &str, text: &str) -> Result<String, String> {
    let relative = Path::new(path);
    let is_below = relative.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let is_yaml = relative.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    if !is_below || !is_yaml {
        return Err(format!("`{path}` is not the path of a YAML file below the current folder"));
    }
    if relative.exists() {
        return Err(format!("`{path}` exists already, and was not changed"));
    }
    atomic_write::write_within(Path::new("."), relative, text.as_bytes())
        .map_err(|error| format!("`{path}` could not be written: {error}"))?;
    Ok(format!("mcprove run {}", shell_words::quote(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_yaml_files_below_the_folder_are_written() {
        for path in ["/etc/x.yaml", "../x.yaml", "a/../../x.yaml", "x.sh", "", "./x.yaml/.."] {
            assert!(write(path, "x").is_err(), "{path}");
        }
    }
}
