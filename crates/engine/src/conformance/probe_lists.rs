//! Lists: walked to their end, read again, asked with a wrong cursor.

use mcprove_judge::conformance::ListDigest;
use serde_json::{Value, json};

use super::Catalog;
use super::link::Link;

/// Kinds of lists with their methods and members.
pub(super) const KINDS: [(&str, &str, &str); 4] = [
    ("tools", "tools/list", "tools"),
    ("prompts", "prompts/list", "prompts"),
    ("resources", "resources/list", "resources"),
    ("templates", "resources/templates/list", "resourceTemplates"),
];

/// Maximum number of pages followed.
const MOST_PAGES: usize = 20;

/// Walks a list that was walked before. Of a large one, only names and what has changed are recorded.
pub(super) async fn walk_again(link: &mut Link, label: &str, kind: (&str, &str, &str), known: &ListDigest) {
    let from = link.recording.entries.len();
    walk(link, label, kind).await;
    link.recording.shorten_repeats(from, kind.0, known);
}

/// Walks a list; its items and the first cursor.
pub(super) async fn walk(link: &mut Link, label: &str, kind: (&str, &str, &str)) -> (Vec<Value>, Option<String>) {
    let (name, method, member) = kind;
    let mut items = Vec::new();
    let mut first = None;
    let mut params = Value::Null;
    let mut seen = Vec::new();
    for _ in 0..MOST_PAGES {
        let Some(mut reply) = link.request(format!("{label}:{name}"), method, params).await else { break };
        let list = reply.get_mut("result").and_then(|result| result.get_mut(member)).map(Value::take);
        if let Some(Value::Array(mut list)) = list {
            items.append(&mut list);
        }
        let result = &reply["result"];
        let Some(cursor) = result["nextCursor"].as_str().map(str::to_owned) else { break };
        first = first.or_else(|| Some(cursor.clone()));
        if seen.contains(&cursor) {
            break;
        }
        seen.push(cursor.clone());
        params = json!({"cursor": cursor});
    }
    (items, first)
}

/// Reads all lists.
pub(super) async fn read(link: &mut Link, catalog: &mut Catalog) {
    for kind in KINDS {
        let (name, method, _) = kind;
        let (items, cursor) = walk(link, "list", kind).await;
        catalog.digests.insert(name, ListDigest::new(name, &items));
        let is_declared = catalog.capabilities.get(if name == "templates" { "resources" } else { name }).is_some();
        if items.is_empty() && is_declared && !link.is_modern() && name != "templates" {
            link.request(format!("list-with-params:{name}"), method, json!({})).await;
        }
        if let Some(cursor) = cursor {
            link.request(format!("cursor-again:{name}"), method, json!({"cursor": cursor})).await;
            let name = KINDS.iter().find(|(kind, _, _)| *kind == name).map_or("", |(kind, _, _)| *kind);
            catalog.cursors.push((name, cursor));
        }
        if is_declared && (name != "templates" || !items.is_empty()) {
            // A server that ignores cursors answers with the list.
            let from = link.recording.entries.len();
            link.request(format!("bad-cursor:{name}"), method, json!({"cursor": "no-such-cursor"})).await;
            link.recording.shorten_repeats(from, name, &catalog.digests[name]);
            walk_again(link, "list-2", kind, &catalog.digests[name]).await;
        }
        match name {
            "tools" => catalog.tools = items,
            "prompts" => catalog.prompts = items,
            "resources" => catalog.resources = items,
            _ => catalog.templates = items,
        }
    }
    walk_again(link, "list-3", KINDS[0], &catalog.digests["tools"]).await;
}
