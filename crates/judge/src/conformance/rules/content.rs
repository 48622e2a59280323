//! Content: binary data, embedded resources, annotations, icons, `_meta` keys.

use mcprove_model::bounded_json;
use serde_json::Value;

use super::meta::is_legal_key;
use super::{B, BASE, C, D, E};
use crate::conformance::evidence::Spot;
use crate::conformance::rule::{Rule, Ruling};

/// Every content block of every result, with its place.
fn blocks<'e>(ruling: &Ruling<'e>) -> Vec<(Spot, &'e Value, bool)> {
    let evidence = ruling.evidence;
    let mut found = Vec::new();
    for step in evidence.all_steps() {
        let (Some(spot), Some(result)) = (step.reply_spot(), step.answer().result()) else { continue };
        match step.method() {
            "tools/call" => {
                found.extend(result["content"].as_array().into_iter().flatten().map(|block| (spot, block, false)));
            }
            "prompts/get" => {
                let messages = result["messages"].as_array().into_iter().flatten();
                found.extend(messages.filter_map(|message| message.get("content")).map(|block| (spot, block, true)));
            }
            "resources/read" => {
                found.extend(result["contents"].as_array().into_iter().flatten().map(|block| (spot, block, false)));
            }
            _ => {}
        }
    }
    found
}

pub(super) const BINARY: Rule = Rule {
    id: "mcp-binary-content",
    title: "encodes binary content in base64 and completes embedded resources",
    clauses: &["TOOL-15", "TOOL-16", "PROMPT-04", "PROMPT-05"],
    section: "server/prompts#image-content, #embedded-resources; server/tools#embedded-resources; server/resources#security-considerations",
    why: "Hosts pass images on to a model API, which refuses data it cannot decode or whose type it cannot read.",
    bad: r#"{"type":"image","data":"89504e47","mimeType":"png"}"#,
    good: r#"{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}"#,
    judge: binary,
    ..BASE
};

fn binary(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for (spot, block, is_prompt) in blocks(ruling) {
        let resource = &block["resource"];
        for data in [block.get("data"), block.get("blob"), resource.get("blob")].into_iter().flatten() {
            let Some(data) = data.as_str() else { continue };
            ruling.ok();
            match base64_kind(data) {
                Base64::Standard => {}
                Base64::Variant => ruling.at("TOOL-15", false, spot, "binary content is URL-safe or unpadded base64"),
                Base64::None => ruling.at("TOOL-15", true, spot, "binary content is not base64"),
            }
        }
        if is_prompt && matches!(block["type"].as_str(), Some("image" | "audio")) {
            ruling.ok();
            let kind = block["mimeType"].as_str().unwrap_or_default();
            if !is_media_type(kind) {
                ruling.at("PROMPT-04", true, spot, format!("the content of a prompt has the MIME type `{kind}`"));
            }
        }
        if block["type"] == "resource" {
            ruling.ok();
            if is_prompt && resource["mimeType"].as_str().is_none() {
                ruling.at("PROMPT-05", false, spot, "an embedded resource of a prompt has no MIME type");
            }
            if !is_prompt && evidence.revision >= C && !evidence.declares("resources") {
                ruling.at("TOOL-16", false, spot, "a result embeds a resource, but `resources` is not declared");
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_exercised("no binary content and no embedded resource came");
    }
}

enum Base64 {
    Standard,
    Variant,
    None,
}

fn base64_kind(data: &str) -> Base64 {
    let body = data.trim_end_matches('=');
    let padding = data.len() - body.len();
    let standard = body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    let url_safe = body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if padding > 2 || body.len() % 4 == 1 || !(standard || url_safe) {
        return Base64::None;
    }
    if standard && (body.len() + padding).is_multiple_of(4) { Base64::Standard } else { Base64::Variant }
}

fn is_media_type(kind: &str) -> bool {
    let Some((group, name)) = kind.split_once('/') else { return false };
    let is_token = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_token(group) && is_token(name.split(';').next().unwrap_or_default().trim())
}

pub(super) const ANNOTATIONS: Rule = Rule {
    id: "mcp-annotations",
    title: "sends legal annotations, icons, `_meta` keys, and structured content as text too",
    clauses: &["TOOL-08", "TOOL-17", "TOOL-20", "META-04", "META-05", "META-06"],
    section: "basic/index#meta, #icons; server/resources#annotations; server/tools#structured-content",
    why: "Hosts show, sort and filter by these; clients before 2025-06-18 see the text alone.",
    bad: r#""_meta":{"bad key":1}, "annotations":{"priority":5}"#,
    good: r#""_meta":{"com.example/key":1}, "annotations":{"priority":0.5}"#,
    judge: annotations,
    ..BASE
};

fn annotations(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    if evidence.revision >= B {
        for (spot, item) in ["tools", "prompts", "resources", "templates"].iter().flat_map(|kind| evidence.listed(kind))
        {
            ruling.ok();
            item_faults(ruling, spot, item);
        }
        for (spot, block, _) in blocks(ruling) {
            ruling.ok();
            annotation_faults(ruling, spot, &block["annotations"]);
        }
    }
    if evidence.revision >= C {
        for (spot, _, _, payload) in evidence.received() {
            let Some(json) = &payload.json else { continue };
            ruling.ok();
            meta_faults(ruling, spot, json, 0);
        }
        text_twins(ruling);
    }
}

fn item_faults(ruling: &mut Ruling<'_>, spot: Spot, item: &Value) {
    let name = item["name"].as_str().unwrap_or_default();
    annotation_faults(ruling, spot, &item["annotations"]);
    for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
        if item["annotations"].get(hint).is_some_and(|hint| !hint.is_boolean()) {
            ruling.at("TOOL-17", true, spot, format!("`{hint}` of `{name}` is not a boolean"));
        }
    }
    if ruling.evidence.revision < D {
        return;
    }
    for icon in item["icons"].as_array().into_iter().flatten() {
        let source = icon["src"].as_str().unwrap_or_default();
        if !["http://", "https://", "data:"].iter().any(|scheme| source.starts_with(scheme)) {
            ruling.at(
                "TOOL-20",
                false,
                spot,
                format!("an icon of `{name}` is at `{source}`, which hosts must not load"),
            );
        }
    }
}

fn annotation_faults(ruling: &mut Ruling<'_>, spot: Spot, annotations: &Value) {
    if let Some(priority) = annotations.get("priority")
        && !priority.as_f64().is_some_and(|priority| (0.0..=1.0).contains(&priority))
    {
        ruling.at("TOOL-17", true, spot, format!("`priority` is {priority}, not a number from 0 to 1"));
    }
    for role in annotations["audience"].as_array().into_iter().flatten() {
        if !matches!(role.as_str(), Some("user" | "assistant")) {
            ruling.at("TOOL-17", true, spot, format!("`audience` names {role}"));
        }
    }
    if let Some(date) = annotations.get("lastModified") {
        let is_date = date.as_str().is_some_and(|date| date.len() >= 10 && date.as_bytes()[4] == b'-');
        if !is_date {
            ruling.at("TOOL-17", false, spot, format!("`lastModified` is {date}, not an ISO 8601 date"));
        }
    }
}

/// Looks through a message for `_meta`, but not into data that is not the protocol's.
fn meta_faults(ruling: &mut Ruling<'_>, spot: Spot, value: &Value, depth: usize) {
    if depth > 8 {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                match key.as_str() {
                    "_meta" => {
                        for (key, value) in inner.as_object().into_iter().flatten() {
                            key_faults(ruling, spot, key, value);
                        }
                    }
                    "structuredContent" | "arguments" | "inputSchema" | "outputSchema" | "text" | "data" => {}
                    _ => meta_faults(ruling, spot, inner, depth + 1),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| meta_faults(ruling, spot, item, depth + 1)),
        _ => {}
    }
}

fn key_faults(ruling: &mut Ruling<'_>, spot: Spot, key: &str, value: &Value) {
    if !is_legal_key(key) {
        ruling.at("META-04", true, spot, format!("the `_meta` key `{key}` is not `[prefix/]name`"));
    }
    if ruling.evidence.revision >= E && key == "traceparent" {
        let parts: Vec<&str> = value.as_str().unwrap_or_default().split('-').collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        if lengths != [2, 32, 16, 2] {
            ruling.at("META-06", true, spot, format!("`traceparent` is {value}, not in W3C form"));
        }
    }
}

fn text_twins(ruling: &mut Ruling<'_>) {
    for step in ruling.evidence.all_steps().filter(|step| step.method() == "tools/call") {
        let Some(result) = step.answer().result() else { continue };
        let Some(structured) = result.get("structuredContent") else { continue };
        if step.answer().is_tool_failure() || step.is_shortened() {
            continue;
        }
        ruling.ok();
        let texts = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
        let has_twin =
            texts.filter_map(bounded_json::parse).any(|value| value == *structured || is_wrapped(structured, &value));
        if !has_twin {
            ruling.warn("TOOL-08", &step, "`structuredContent` is not repeated as JSON in a text block");
        }
    }
}

/// Some SDKs wrap a value that is not an object as `{"result": value}`.
fn is_wrapped(structured: &Value, text: &Value) -> bool {
    structured.as_object().is_some_and(|map| map.len() == 1 && map.get("result") == Some(text))
}
