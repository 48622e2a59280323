//! Resources, prompts and completions.

use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptRequestParams, GetPromptResult, Prompt,
    PromptArgument, PromptMessage, ReadResourceResult, Reference, Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::Value;

/// The resource that a tool changes.
pub(crate) const NOTES: &str = "desk://notes";

/// The resource that counts how often it is read.
pub(crate) const READINGS: &str = "desk://readings";

const CITIES: &[&str] = &["Osaka", "Oslo", "Rome"];

pub(crate) fn resources() -> Vec<Resource> {
    vec![Resource::new(NOTES, "notes"), Resource::new(READINGS, "readings"), Resource::new("desk://stamp", "stamp")]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![ResourceTemplate::new("desk://drawer/{number}", "drawer")]
}

/// A resource; `now` is what one that changes says at the moment.
pub(crate) fn read(uri: &str, now: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match (uri, uri.strip_prefix("desk://drawer/")) {
        (NOTES | READINGS, _) => ResourceContents::text(now, uri),
        ("desk://stamp", _) => ResourceContents::blob("AAECAw==", uri),
        (_, Some(number)) => ResourceContents::text(format!("drawer {number} is empty"), uri),
        (_, None) => return Err(ErrorData::resource_not_found(format!("there is no `{uri}`"), None)),
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

pub(crate) fn prompts() -> Vec<Prompt> {
    let city = PromptArgument::new("city").with_description("Where to").with_required(true);
    vec![Prompt::new("brief", Some("A briefing"), Some(vec![city]))]
}

pub(crate) fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    if request.name != "brief" {
        return Err(ErrorData::invalid_params(format!("no prompt is called `{}`", request.name), None));
    }
    let city = request.arguments.as_ref().and_then(|arguments| arguments.get("city"));
    let Some(city) = city.and_then(Value::as_str) else {
        return Err(ErrorData::invalid_params("`city` is missing", None));
    };
    let message = PromptMessage::new_text(Role::User, format!("Brief me on {city}."));
    Ok(GetPromptResult::new(vec![message]))
}

pub(crate) fn complete(request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let known = match &request.r#ref {
        Reference::Prompt(prompt) if prompt.name == "brief" => CITIES,
        _ => &[],
    };
    let begun = request.argument.value.to_lowercase();
    let fits = known.iter().filter(|city| city.to_lowercase().starts_with(&begun));
    let values = CompletionInfo::with_all_values(fits.map(|city| (*city).to_owned()).collect());
    values.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}
