//! Lists: walked to their end, read again, asked with a wrong cursor.

use mcprove_judge::conformance::{ListDigest, key_member};
use serde_json::{Value, json};

use super::Catalog;
use super::link::Link;

/// A kind of list with its method and member.
pub(super) type Kind = (&'static str, &'static str, &'static str);

/// Kinds of lists.
pub(super) const KINDS: [Kind; 4] = [
    ("tools", "tools/list", "tools"),
    ("prompts", "prompts/list", "prompts"),
    ("resources", "resources/list", "resources"),
    ("templates", "resources/templates/list", "resourceTemplates"),
];

/// Maximum number of pages followed.
const MOST_PAGES: usize = 50;

/// Maximum number of items of a list that are kept and judged.
const MOST_LISTED: usize = 2_000;

/// The longest name or URI of an item that is used: it is in every message about it.
const LONGEST_KEY: usize = 4 << 10;

/// A list that was walked.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) items: Vec<Value>,
    /// The first cursor.
    pub(super) cursor: Option<String>,
    /// Note about items left out, if the list is too long.
    pub(super) cut: Option<String>,
}

/// Walks a list that was walked before. Of a large one, only names and what has changed are recorded; one that is too long
/// is not read again.
pub(super) async fn walk_again(link: &mut Link, label: &str, kind: Kind, catalog: &Catalog) {
    if catalog.cut.contains_key(kind.0) {
        return;
    }
    let from = link.recording.entries.len();
    walk(link, label, kind).await;
    link.recording.shorten_repeats(from, kind.0, &catalog.digests[kind.0]);
}

/// Walks a list to its end, or as far as it is worth it.
pub(super) async fn walk(link: &mut Link, label: &str, kind: Kind) -> Walked {
    let (name, method, member) = kind;
    let mut walked = Walked::default();
    let mut params = Value::Null;
    let mut seen = Vec::new();
    for page in 1.. {
        let from = link.recording.entries.len();
        let Some(mut reply) = link.request(format!("{label}:{name}"), method, params).await else { break };
        if link.recording.has_shortened(from) {
            let count = walked.items.len();
            walked.cut = Some(format!("the {name} take too much memory; the first {count} were judged"));
            break;
        }
        let left = MOST_LISTED - walked.items.len();
        let list = reply.get_mut("result").and_then(|result| result.get_mut(member)).map(Value::take);
        if let Some(Value::Array(mut list)) = list {
            if list.len() > left {
                let count = walked.items.len() + list.len();
                walked.cut =
                    Some(format!("the server lists {count} {name} or more; the first {MOST_LISTED} were judged"));
                link.recording.cut_lists(from, name, left);
                list.truncate(left);
            }
            walked.items.append(&mut list);
        }
        let Some(cursor) = reply["result"]["nextCursor"].as_str().map(str::to_owned) else { break };
        walked.cursor = walked.cursor.or_else(|| Some(cursor.clone()));
        if seen.contains(&cursor) || walked.cut.is_some() {
            break;
        }
        if page == MOST_PAGES {
            let count = walked.items.len();
            walked.cut = Some(format!("the {name} have more than {MOST_PAGES} pages; the first {count} were judged"));
            break;
        }
        seen.push(cursor.clone());
        params = json!({"cursor": cursor});
    }
    walked
}

/// Reads all lists.
pub(super) async fn read(link: &mut Link, catalog: &mut Catalog) {
    for kind in KINDS {
        let (name, method, _) = kind;
        let Walked { items, cursor, cut } = walk(link, "list", kind).await;
        catalog.digests.insert(name, ListDigest::new(name, &items));
        let is_whole = cut.is_none();
        catalog.cut.extend(cut.map(|note| (name, note)));
        let is_declared = catalog.capabilities.get(if name == "templates" { "resources" } else { name }).is_some();
        if items.is_empty() && is_declared && !link.is_modern() && name != "templates" {
            link.request(format!("list-with-params:{name}"), method, json!({})).await;
        }
        if let Some(cursor) = cursor.filter(|_| is_whole) {
            link.request(format!("cursor-again:{name}"), method, json!({"cursor": cursor})).await;
            let name = KINDS.iter().find(|(kind, _, _)| *kind == name).map_or("", |(kind, _, _)| *kind);
            catalog.cursors.push((name, cursor));
        }
        if is_declared && is_whole && (name != "templates" || !items.is_empty()) {
            // A server that ignores cursors answers with the list.
            let from = link.recording.entries.len();
            link.request(format!("bad-cursor:{name}"), method, json!({"cursor": "no-such-cursor"})).await;
            link.recording.shorten_repeats(from, name, &catalog.digests[name]);
            walk_again(link, "list-2", kind, catalog).await;
        }
        let (items, long): (Vec<Value>, Vec<Value>) = items
            .into_iter()
            .partition(|item| item[key_member(name)].as_str().is_none_or(|key| key.len() <= LONGEST_KEY));
        if !long.is_empty() {
            let note =
                format!("{} of the {name} have names of more than {LONGEST_KEY} bytes and are not used", long.len());
            catalog.cut.insert(name, note);
        }
        match name {
            "tools" => catalog.tools = items,
            "prompts" => catalog.prompts = items,
            "resources" => catalog.resources = items,
            _ => catalog.templates = items,
        }
    }
    walk_again(link, "list-3", KINDS[0], catalog).await;
}
