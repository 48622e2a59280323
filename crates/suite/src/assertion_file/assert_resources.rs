//! `assert_resources`: list, read or subscribe to resources, and judge what comes.

use std::time::Duration;

use mcprove_model::{Act, Diagnostics, Entry, Node, ResourceAsk, Resources, Vocabulary};
use serde_json::{Value, json};

use super::block::{self, Asked, Block, Input};
use super::{expectation, listing, texts, time};
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "assert_resources",
    summary: "List, read or subscribe to resources, and judge what comes.",
    keys: KEYS,
    required: &[],
    properties,
    companions: &[],
    needs_server: true,
    decode,
};

const KEYS: &[&str] =
    &["expect", "expect_notification", "list", "read", "settle", "subscribe", "templates", "unsubscribe"];

/// Keys that are a request; at most one of them.
const REQUESTS: &[&str] = &["list", "read", "templates"];

/// How long silence is awaited by default.
const SETTLE: Duration = Duration::from_millis(250);

fn properties() -> Value {
    json!({
        "expect": fragment::expect(Vocabulary::Resources),
        "expect_notification": fragment::flag("Whether an update must be announced."),
        "list": fragment::listing("List the resources."),
        "read": fragment::text("The address of a resource to read."),
        "settle": fragment::duration("How long silence is awaited where no update may be announced."),
        "subscribe": fragment::text("The address to subscribe to first."),
        "templates": fragment::listing("List the templates."),
        "unsubscribe": fragment::text("The address to unsubscribe from in the end."),
    })
}

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Asked> {
    let node = &input.entry.value;
    let entries = found.map(node, "`assert_resources`")?;
    found.known_keys(node, "`assert_resources`", KEYS);
    let subscribe = block::text(node, "subscribe", found);
    let unsubscribe = block::text(node, "unsubscribe", found);
    let requests: Vec<&Entry> = entries.iter().filter(|entry| REQUESTS.contains(&entry.key.text.as_str())).collect();
    let ask = match requests.as_slice() {
        [] => {
            let is_meant = |key: &&str| node.get(key).is_some() || texts::is_misspelt(entries, key, KEYS);
            if !["subscribe", "unsubscribe"].iter().chain(REQUESTS).any(is_meant) {
                let help = "add `list:`, `read:`, `templates:`, `subscribe:` or `unsubscribe:`";
                let message = "`assert_resources` asks for nothing";
                found.error_with_help("nothing-done", input.entry.key.span, message, help);
            }
            Some(ResourceAsk::Nothing)
        }
        [only] => request(only, input, found),
        [first, second, ..] => {
            block::report_second(first, second, found);
            None
        }
    };
    let flag = node.get("expect_notification").filter(|flag| !flag.is_null());
    if let (Some(flag), None) = (flag, node.get("subscribe")) {
        let message = "`expect_notification` without `subscribe`: nothing asks the server to announce updates";
        found.warning("no-subscription", flag.span, message, Some("add `subscribe:` with the URI".to_owned()));
    }
    let settle = time::optional(node, "settle", found).unwrap_or(SETTLE);
    report_unused_settle(entries, flag, found);
    let parts = expectation::parts(node, &["expect", "expect_notification", "subscribe"])
        .filter(|parts| parts.get("expect").is_some() || parts.get("expect_notification").is_some());
    // The address of the subscription is part of what is expected, where templates are checked too.
    let unchecked = subscribe.as_ref().filter(|_| parts.is_none());
    for uri in unchecked.into_iter().chain(&unsubscribe) {
        input.scope.check(uri, found);
    }
    let expect = expectation::decode(parts.as_ref(), Vocabulary::Resources, input.scope, found);
    let expect_notification = flag.and_then(Node::as_bool);
    let resources = Resources { subscribe, ask: ask?, expect_notification, settle, unsubscribe };
    Some(Asked::new(Act::Resources(resources), expect))
}

/// Silence is awaited only where no update may be announced.
fn report_unused_settle(entries: &[Entry], flag: Option<&Node>, found: &mut Diagnostics<'_>) {
    let Some(settle) = entries.iter().find(|entry| entry.key.text == "settle" && !entry.value.is_null()) else {
        return;
    };
    let message = match flag.map(Node::as_bool) {
        None => "`settle` is not used: nothing says that no update may be announced",
        Some(Some(true)) => "`settle` is not used: an update that must be announced is awaited until the timeout",
        Some(Some(false) | None) => return,
    };
    let help = "add `expect_notification: false`, or remove `settle`".to_owned();
    found.warning("unused-key", settle.key.span, message, Some(help));
}

fn request(entry: &Entry, input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<ResourceAsk> {
    match entry.key.text.as_str() {
        "list" => Some(ResourceAsk::List { cursor: listing::cursor(entry, input.scope, found) }),
        "templates" => Some(ResourceAsk::Templates { cursor: listing::cursor(entry, input.scope, found) }),
        _ => {
            let uri = block::required_text(&input.entry.value, entry, found)?;
            input.scope.check(&uri, found);
            Some(ResourceAsk::Read { uri })
        }
    }
}
