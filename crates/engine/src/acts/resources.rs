//! Resources: lists, reads, subscriptions.

use mcprove_model::{
    CallRole, Exchange, Node, Notification, Observation, Outcome, ResourceAsk, Resources, text_of_contents,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Performed, observed, observed_as_json};
use crate::calls;
use crate::conversation::Conversation;

const UPDATED: &str = "notifications/resources/updated";

pub(super) async fn perform(resources: &Resources, talk: &mut Conversation<'_>) -> Performed {
    let began = talk.session.notifications().len();
    if let Some(uri) = &resources.subscribe {
        let name = talk.text(uri);
        let exchange = talk.session.subscribe(&name, talk.deadline).await;
        if let Some(performed) = failed_or_recorded(exchange, &name, uri, talk) {
            return performed;
        }
    }
    let performed = match &resources.ask {
        ResourceAsk::List { cursor } => {
            list(&List { method: "resources/list", key: "resources", cursor: cursor.as_ref() }, talk).await
        }
        ResourceAsk::Templates { cursor } => {
            let method = "resources/templates/list";
            list(&List { method, key: "resourceTemplates", cursor: cursor.as_ref() }, talk).await
        }
        ResourceAsk::Read { uri } => read(uri, talk).await,
        ResourceAsk::Nothing => Performed {
            seen: Observation::new(Outcome::Result(json!({})), "{}"),
            what: "the subscription".to_owned(),
            at: resources.subscribe.as_ref().or(resources.unsubscribe.as_ref()).map_or(talk.case.span, |n| n.span),
        },
    };
    if resources.expect_notification.is_some() {
        await_update(began, resources, talk).await;
    }
    if let Some(uri) = &resources.unsubscribe {
        let name = talk.text(uri);
        let exchange = talk.session.unsubscribe(&name, talk.deadline).await;
        if let Some(performed) = failed_or_recorded(exchange, &name, uri, talk) {
            return performed;
        }
    }
    performed
}

async fn read(uri: &Node, talk: &mut Conversation<'_>) -> Performed {
    let name = talk.text(uri);
    let exchange = talk.session.request("resources/read", json!({"uri": name}), talk.deadline).await;
    talk.record.calls.push(calls::record(CallRole::Act, Some(&name), &exchange));
    Performed {
        seen: observed(exchange, text_of_contents),
        what: format!("`resources/read` of `{name}`"),
        at: uri.span,
    }
}

/// Gives an update time to come; whether it did is for the checks to judge.
async fn await_update(began: usize, resources: &Resources, talk: &mut Conversation<'_>) {
    let until = (Instant::now() + resources.settle).min(talk.deadline);
    let is_update = |n: &Notification| n.method == UPDATED;
    talk.session.listen_until(until, |s| s.notifications()[began..].iter().any(is_update)).await;
}

/// Records an exchange that goes with the act; one without a result takes the act's place.
fn failed_or_recorded(exchange: Exchange, name: &str, node: &Node, talk: &mut Conversation<'_>) -> Option<Performed> {
    talk.record.calls.push(calls::record(CallRole::Act, Some(name), &exchange));
    if matches!(exchange.outcome, Outcome::Result(_)) {
        return None;
    }
    let what = format!("`{}` of `{name}`", exchange.method);
    Some(Performed { seen: observed_as_json(exchange), what, at: node.span })
}

/// A list that may come in pages.
pub(super) struct List<'n> {
    pub(super) method: &'static str,
    pub(super) key: &'static str,
    pub(super) cursor: Option<&'n Node>,
}

/// Asks for a list: the page at a cursor, or all of them as if they were one.
pub(super) async fn list(list: &List<'_>, talk: &mut Conversation<'_>) -> Performed {
    let what = format!("`{}`", list.method);
    let at = list.cursor.map_or(talk.case.span, |node| node.span);
    if let Some(cursor) = list.cursor {
        let params = json!({"cursor": talk.json(cursor)});
        let exchange = talk.session.request(list.method, params, talk.deadline).await;
        talk.record.calls.push(calls::record(CallRole::Act, None, &exchange));
        return Performed { seen: observed_as_json(exchange), what, at };
    }
    let listing = talk.session.list(list.method, list.key, talk.deadline).await;
    for exchange in &listing.exchanges {
        talk.record.calls.push(calls::record(CallRole::Act, None, exchange));
    }
    talk.record.findings.extend(listing.findings);
    let pages = listing.exchanges.len();
    let Some(mut last) = listing.exchanges.into_iter().next_back() else {
        unreachable!("a list is asked for at least once");
    };
    if let Outcome::Result(result) = &mut last.outcome {
        if pages > 1 {
            *result = json!({});
        }
        // The items of all pages were moved to the listing.
        if pages > 1 || result.get(list.key).is_some_and(Value::is_array) {
            result[list.key] = Value::Array(listing.items);
        }
    }
    Performed { seen: observed_as_json(last), what, at }
}
