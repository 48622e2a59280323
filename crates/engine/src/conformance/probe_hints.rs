//! Tools with hints, called twice, and what can be seen from outside before and after.

use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Read as _;
use std::path::Path;

use mcprove_judge::conformance::{HintTrial, Recording, StateView};
use serde_json::{Value, json};

use super::link::Link;
use super::{MOST_ITEMS, Scene, probe_lists};

/// The size up to which the content of a file is compared as text.
const SMALL: usize = 64 << 10;

/// Maximum number of bytes read of a file.
const LOOKED_AT: u64 = 16 << 20;

/// Maximum number of files read.
const MOST_FILES: usize = 5_000;

pub(super) async fn run(scene: &Scene<'_>) -> Result<(Recording, Vec<HintTrial>), String> {
    let mut link = scene.open("hints")?;
    let mut trials = Vec::new();
    if link.begin(json!({})).await.is_none() {
        return Ok((link.close().await, trials));
    }
    for plan in &scene.tools {
        let tool = scene.catalog.tools.iter().find(|tool| tool["name"] == plan.tool.as_str());
        let annotations = tool.map(|tool| tool["annotations"].clone()).unwrap_or_default();
        let claims = [("readOnlyHint", true), ("idempotentHint", true), ("destructiveHint", false)];
        if !claims.iter().any(|(hint, value)| annotations[hint] == *value) {
            continue;
        }
        let params = json!({"name": plan.tool, "arguments": plan.input});
        let label = format!("hint-call:{}", plan.tool);
        let before = [state(&mut link, scene).await, state(&mut link, scene).await];
        link.request(label.clone(), "tools/call", params.clone()).await;
        let once = state(&mut link, scene).await;
        link.request(label, "tools/call", params).await;
        let twice = state(&mut link, scene).await;
        trials.push(HintTrial { tool: plan.tool.clone(), annotations, before, once, twice });
    }
    Ok((link.close().await, trials))
}

/// Observable state: the files of the folders, the lists, and the contents of resources.
async fn state(link: &mut Link, scene: &Scene<'_>) -> StateView {
    let mut state = StateView::new();
    for folder in
        scene.options.places.iter().map(|places| places.folder.as_str()).chain([scene.options.scratch.as_str()])
    {
        read_folder(Path::new(folder), &mut state);
    }
    for kind in probe_lists::KINDS {
        let (name, _, _) = kind;
        let capability = if name == "templates" { "resources" } else { name };
        if scene.catalog.capabilities.get(capability).is_none() || scene.catalog.cut.contains_key(name) {
            continue;
        }
        let from = link.recording.entries.len();
        let walked = probe_lists::walk(link, "hint-list", kind).await;
        link.recording.shorten_repeats(from, name, &scene.catalog.digests[name]);
        for item in &walked.items {
            let key = ["uri", "uriTemplate", "name"].iter().find_map(|key| item[key].as_str()).unwrap_or_default();
            state.insert(format!("`{key}` of the {name}"), item.to_string());
        }
        if name == "resources" {
            for uri in walked.items.iter().filter_map(|item| item["uri"].as_str()).take(MOST_ITEMS) {
                let reply = link.request(format!("hint-read:{uri}"), "resources/read", json!({"uri": uri})).await;
                let contents = reply.map(|reply| texts_of(&reply["result"]["contents"])).unwrap_or_default();
                state.insert(format!("the content of `{uri}`"), contents);
            }
        }
    }
    state
}

/// The texts and data of contents, which a longer content contains.
fn texts_of(contents: &Value) -> String {
    let parts = contents.as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str().or_else(|| part["blob"].as_str())).collect::<Vec<_>>().join("\n")
}

/// Adds the files below a folder.
fn read_folder(folder: &Path, state: &mut StateView) {
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            if state.len() >= MOST_FILES {
                return;
            }
            let path = entry.path();
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(kind) if kind.is_file() => {
                    state.insert(format!("the file `{name}`"), content(&path));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// The content of a file: its text, or its size and a hash where it is large.
fn content(path: &Path) -> String {
    let size = fs::metadata(path).map_or(0, |about| about.len());
    let mut bytes = Vec::new();
    // A server can make a file of a terabyte with a single call.
    let read = fs::File::open(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut bytes));
    if read.is_err() {
        return "unreadable".to_owned();
    }
    if bytes.len() <= SMALL {
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    format!("{size} bytes, {:x}", hasher.finish())
}
