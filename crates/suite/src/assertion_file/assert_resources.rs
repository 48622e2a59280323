//! `assert_resources`: list, read or subscribe to resources, and judge the replies.

use mcprove_model::{Act, Diagnostics, Entry, Node, ResourceAsk, Resources, Vocabulary};

use super::block::{self, Block, DecodedBlock, Input};
use super::{expectation, listing, time};
use crate::field::Field;
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "assert_resources",
    summary: "List, read or subscribe to resources, and judge the replies.",
    fields: FIELDS,
    companions: &[],
    needs_server: true,
    decode,
};

/// Keys that are a request; at most one of them.
const REQUESTS: &[&str] = &["list", "read", "templates"];

const FIELDS: &[Field] = &[
    Field::optional("expect", || fragment::expect(Vocabulary::Resources)),
    Field::optional("expect_notification", || fragment::flag("True if an update must be announced.")),
    Field::optional("list", || fragment::listing("List the resources.")),
    Field::optional("read", || fragment::text("The URI of a resource to read.")),
    Field::optional("settle", time::settle_schema),
    Field::optional("subscribe", || fragment::text("The URI to subscribe to first.")),
    Field::optional("templates", || fragment::listing("List the templates.")),
    Field::optional("unsubscribe", || fragment::text("The URI to unsubscribe from at the end.")),
];

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
    let node = input.node;
    let entries = node.as_map()?;
    let subscribe = block::text(node, "subscribe", found);
    let unsubscribe = block::text(node, "unsubscribe", found);
    let requests: Vec<&Entry> = entries.iter().filter(|entry| REQUESTS.contains(&entry.key.text.as_str())).collect();
    let ask = match requests.as_slice() {
        [] => {
            let is_meant = |key: &&str| node.get(key).is_some() || input.is_misspelt(key);
            if !["subscribe", "unsubscribe"].iter().chain(REQUESTS).any(is_meant) {
                let help = "add `list:`, `read:`, `templates:`, `subscribe:` or `unsubscribe:`";
                let message = "`assert_resources` asks for nothing";
                found.error_with_help("nothing-done", input.place, message, help);
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
    let settle = time::settle(node, found);
    report_unused_settle(entries, flag, found);
    let parts = input
        .expectations(&["expect", "expect_notification", "subscribe"])
        .filter(|parts| parts.get("expect").is_some() || parts.get("expect_notification").is_some());
    // The address of the subscription is part of what is expected, where templates are checked too.
    let unchecked = subscribe.as_ref().filter(|_| parts.is_none());
    for uri in unchecked.into_iter().chain(&unsubscribe) {
        input.scope.check(uri, found);
    }
    let expect = expectation::decode(parts.as_ref(), Vocabulary::Resources, input.scope, found);
    let expect_notification = flag.and_then(Node::as_bool);
    let resources = Resources { subscribe, ask: ask?, expect_notification, settle, unsubscribe };
    Some(DecodedBlock::new(Act::Resources(resources), expect))
}

/// An update is awaited only where something is expected of it.
fn report_unused_settle(entries: &[Entry], flag: Option<&Node>, found: &mut Diagnostics<'_>) {
    let Some(settle) = entries.iter().find(|entry| entry.key.text == "settle" && !entry.value.is_null()) else {
        return;
    };
    if flag.is_some() {
        return;
    }
    let message = "`settle` is not used: nothing is expected of updates";
    let help = "add `expect_notification:`, or remove `settle`".to_owned();
    found.warning("unused-key", settle.key.span, message, Some(help));
}

fn request(entry: &Entry, input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<ResourceAsk> {
    match entry.key.text.as_str() {
        "list" => Some(ResourceAsk::List { cursor: listing::cursor(entry, input.scope, found) }),
        "templates" => Some(ResourceAsk::Templates { cursor: listing::cursor(entry, input.scope, found) }),
        _ => {
            let uri = block::required_text(input.node, entry, found)?;
            input.scope.check(&uri, found);
            Some(ResourceAsk::Read { uri })
        }
    }
}
