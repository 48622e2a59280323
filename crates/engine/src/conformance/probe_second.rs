//! A second connection, for what must not depend on the first.

use mcprove_judge::conformance::{Channel, Evidence, Recording};
use mcprove_model::Era;
use serde_json::json;

use super::probe_full::{responses, retry};
use super::{Scene, full_client, probe_lists, probe_modern};

pub(super) async fn run(scene: &Scene<'_>, evidence: &Evidence) -> Result<Option<Recording>, String> {
    // On pipes, a second legacy process has nothing in common with the first.
    if scene.revision.era() == Era::Legacy && scene.endpoint.channel() == Channel::Stdio {
        return Ok(None);
    }
    let mut link = scene.open("second")?;
    if !link.is_modern() {
        // Another session, for rules about session ids.
        link.begin(json!({})).await;
        return Ok(Some(link.close().await));
    }
    link.recording.client = full_client(scene.revision);
    probe_modern::bad_version(&mut link, "first").await;
    for (kind, cursor) in &scene.catalog.cursors {
        let method = probe_lists::KINDS.iter().find(|(name, _, _)| name == kind).map_or("", |(_, method, _)| method);
        link.request(format!("cursor-elsewhere:{kind}"), method, json!({"cursor": cursor})).await;
    }
    let asked = evidence.steps("full", "call").into_iter().find_map(|step| {
        let result = step.answer().result().filter(|result| result["resultType"] == "input_required")?;
        let has_questions = result["inputRequests"].as_object().is_some_and(|map| !map.is_empty());
        let params = step.sent_member("/params").filter(|_| has_questions)?;
        Some((json!({"name": params["name"], "arguments": params["arguments"]}), result.clone()))
    });
    if let Some((params, result)) = asked {
        let params = retry(&params, &result, responses(&result));
        link.request("retry-elsewhere", "tools/call", params).await;
    }
    for label in ["list", "list-2", "list-late"] {
        for kind in probe_lists::KINDS {
            let is_declared =
                scene.catalog.capabilities.get(if kind.0 == "templates" { "resources" } else { kind.0 }).is_some();
            if is_declared {
                probe_lists::walk_again(&mut link, label, kind, &scene.catalog).await;
            }
        }
    }
    Ok(Some(link.close().await))
}
