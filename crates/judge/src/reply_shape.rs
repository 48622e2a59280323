//! The shape of replies, judged as the official SDK clients do.
//!
//! A host that is built on the TypeScript SDK (zod schemas) or the Python SDK (pydantic models) never sees a reply that
//! its client library cannot parse: the call fails in the host although the server answered. [`faults`] reports what the
//! clients of `@modelcontextprotocol/sdk` 1.32 and `mcp` 2.3 refuse, and what they accept although the protocol does not
//! allow it. Both were run on the replies of this file's tests.

mod content;
mod walk;

use mcprove_model::{Era, Revision};
use serde_json::Value;

use walk::{Clients, Walk};

/// A reply whose shape is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    /// The result of `tools/call`.
    CallTool,
    /// The result of `tools/list`.
    ListTools,
    /// The result of `resources/read`.
    ReadResource,
    /// The result of `resources/list`.
    ListResources,
    /// The result of `resources/templates/list`.
    ListResourceTemplates,
    /// The result of `prompts/get`.
    GetPrompt,
    /// The result of `prompts/list`.
    ListPrompts,
    /// The result of `completion/complete`.
    Complete,
}

/// A place of a reply that does not have the shape the protocol gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeFault {
    /// The JSON pointer of the place.
    pub pointer: String,
    /// The deviation, e.g. "`/content` must be a list, found a string".
    pub message: String,
    /// The official clients that refuse the reply, for people; empty where both accept it.
    pub refused_by: &'static str,
}

/// The first deviation for which official clients refuse a result.
pub fn refused_shape(kind: ReplyKind, revision: Revision, result: &Value) -> Option<String> {
    // An intermediate result of 2026-07-28 has no content yet.
    if result.get("resultType").and_then(Value::as_str).is_some_and(|kind| kind != "complete") {
        return None;
    }
    let refused = faults(kind, revision, result).into_iter().find(|fault| !fault.refused_by.is_empty())?;
    Some(format!("{} (refused by {})", refused.message, refused.refused_by))
}

/// The deviations of a result from the shape of its kind, in reading order, at most 20 of them.
pub fn faults(kind: ReplyKind, revision: Revision, result: &Value) -> Vec<ShapeFault> {
    let mut walk = Walk::new(revision.era() == Era::Modern);
    let Some(map) = walk.object(result, Clients::Both) else { return walk.into_faults() };
    walk.optional(map, "_meta", |walk, meta| {
        walk.object(meta, Clients::Both);
    });
    match kind {
        ReplyKind::CallTool => {
            walk.required(map, "content", Clients::Python, |walk, list| walk.each(list, content::block));
            walk.flag_never_null(map, "isError");
            // Any JSON value since 2026-07-28; an object before.
            if !walk.modern {
                walk.optional(map, "structuredContent", |walk, value| {
                    walk.object(value, Clients::TypeScript);
                });
            }
        }
        ReplyKind::ListTools => {
            walk.required(map, "tools", Clients::Both, |walk, list| walk.each(list, content::tool));
            walk.optional_text(map, "nextCursor");
        }
        ReplyKind::ReadResource => {
            walk.required(map, "contents", Clients::Both, |walk, list| walk.each(list, content::resource_contents));
        }
        ReplyKind::ListResources => {
            walk.required(map, "resources", Clients::Both, |walk, list| walk.each(list, content::resource));
            walk.optional_text(map, "nextCursor");
        }
        ReplyKind::ListResourceTemplates => {
            let key = "resourceTemplates";
            walk.required(map, key, Clients::Both, |walk, list| walk.each(list, content::resource_template));
            walk.optional_text(map, "nextCursor");
        }
        ReplyKind::GetPrompt => {
            walk.optional_text(map, "description");
            walk.required(map, "messages", Clients::Both, |walk, list| walk.each(list, content::prompt_message));
        }
        ReplyKind::ListPrompts => {
            walk.required(map, "prompts", Clients::Both, |walk, list| walk.each(list, content::prompt));
            walk.optional_text(map, "nextCursor");
        }
        ReplyKind::Complete => {
            walk.required(map, "completion", Clients::Both, content::completion);
        }
    }
    walk.into_faults()
}

#[cfg(test)]
mod tests;
