//! Lists that come in pages.

use std::collections::HashSet;

use mcprove_model::{Exchange, Finding, Outcome, bounded_json, json_kind};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::Session;

/// A whole list, or as much of it as came.
#[derive(Debug, Default)]
pub struct Listing {
    /// The items of all pages.
    pub items: Vec<Value>,
    /// The request of each page; the last one has the outcome.
    pub exchanges: Vec<Exchange>,
    /// Findings about the paging.
    pub findings: Vec<Finding>,
}

impl Listing {
    /// The outcome of the last page.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.exchanges.last().map(|exchange| &exchange.outcome)
    }
}

impl Session {
    /// Follows a list to its end: `tools/list` with `key` `tools`, and so on.
    pub async fn list(&mut self, method: &str, key: &str, deadline: Instant) -> Listing {
        let mut listing = Listing::default();
        let (mut bytes, mut memory) = (0, 0);
        let mut seen = HashSet::new();
        let mut params = Value::Null;
        loop {
            let mut exchange = self.request(method, std::mem::take(&mut params), deadline).await;
            bytes += exchange.reply.as_ref().map_or(0, bytes::Bytes::len);
            let next = match &mut exchange.outcome {
                Outcome::Result(result) => {
                    listing.findings.extend(shape_fault(method, key, result, listing.items.len()));
                    if let Some(items) = result.get_mut(key).and_then(Value::as_array_mut) {
                        memory += items.iter().map(bounded_json::memory_of).sum::<usize>();
                        // Moved, not copied: a list may be large, and its text is in the reply.
                        listing.items.append(items);
                    }
                    result.get("nextCursor").and_then(Value::as_str).map(str::to_owned)
                }
                Outcome::Error(_)
                | Outcome::Malformed(_)
                | Outcome::Refused(_)
                | Outcome::TimedOut { .. }
                | Outcome::Closed { .. }
                | Outcome::Cancelled => None,
            };
            if let (Outcome::TimedOut { .. }, 1..) = (&exchange.outcome, listing.exchanges.len()) {
                let pages = listing.exchanges.len();
                let text = format!("`{method}` had not ended after {pages} pages when the time was up");
                listing.findings.push(Finding::error("endless-pages", text));
                return listing;
            }
            listing.exchanges.push(exchange);
            let Some(cursor) = next else { return listing };
            if !seen.insert(cursor.clone()) {
                listing.findings.push(
                    Finding::warning("repeated-cursor", format!("`{method}` answers with the same cursor again"))
                        .help("every page must lead on; leave `nextCursor` out on the last one"),
                );
                return listing;
            }
            if bytes.max(memory) > self.limits.list_bytes {
                let text = format!("`{method}` has more than {} MiB and no end", self.limits.list_bytes >> 20);
                let finding = Finding::error("endless-pages", text);
                listing.findings.push(finding.help("send smaller pages, or raise the bound: `--limit list-bytes=…`"));
                return listing;
            }
            if listing.exchanges.len() >= self.limits.pages {
                listing.findings.push(Finding::warning(
                    "endless-pages",
                    format!("`{method}` has no end after {} pages", listing.exchanges.len()),
                ));
                return listing;
            }
            params = Value::Object(Map::from_iter([("cursor".to_owned(), json!(cursor))]));
        }
    }
}

/// The finding about a page that cannot be read as one: items would be missing without a word.
fn shape_fault(method: &str, key: &str, page: &Value, before: usize) -> Option<Finding> {
    let fault = match page.get(key) {
        None => format!("has no `{key}`"),
        Some(Value::Array(items)) => {
            if let Some(at) = items.iter().position(|item| !item.is_object()) {
                format!("has {} as item {} of `{key}`, not an object", json_kind(&items[at]), before + at + 1)
            } else {
                match page.get("nextCursor") {
                    None | Some(Value::Null | Value::String(_)) => return None,
                    Some(cursor) => {
                        format!("has {} as `nextCursor`, not a string, so no further page was read", json_kind(cursor))
                    }
                }
            }
        }
        Some(other) => format!("has {} as `{key}`, not a list", json_kind(other)),
    };
    let finding = Finding::error("reply-shape", format!("the reply to `{method}` {fault}"));
    Some(finding.help("answer as the protocol defines it; official SDK clients refuse this reply"))
}
