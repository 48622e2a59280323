//! `subscriptions/listen`: a request that stays open and receives the events it subscribed to (2026-07-28,
//! "Subscriptions").

use serde_json::{Value, json};

use super::Call;
use crate::era::SUBSCRIPTION_ID;
use crate::manifest::Change;
use crate::rpc::{Ended, Refusal};
use crate::session::Wants;

impl Call<'_> {
    pub(super) async fn listen(&self) -> Result<Value, Ended> {
        let (wants, honoured) = self.wants()?;
        let listening = self.session.listen(self.request.id.clone(), wants, self.sink.clone());
        let acknowledged = json!({"_meta": {SUBSCRIPTION_ID: self.request.id}, "notifications": honoured});
        self.sink.notify("notifications/subscriptions/acknowledged", &acknowledged);
        self.session.closed().await;
        drop(listening);
        Err(Ended::Cut)
    }

    /// The requested subscriptions, and those of them that are supported.
    fn wants(&self) -> Result<(Wants, Value), Refusal> {
        let asked = match self.params().get("notifications") {
            Some(asked @ Value::Object(_)) => asked,
            Some(_) => return Err(Refusal::params("`notifications` must be an object (at /notifications)")),
            None => return Err(Refusal::params("`notifications` is missing (at the top)")),
        };
        let mut wants = Wants::default();
        let mut honoured = json!({});
        let lists = [
            ("toolsListChanged", Change::Tools),
            ("promptsListChanged", Change::Prompts),
            ("resourcesListChanged", Change::Resources),
        ];
        for (key, change) in lists {
            let is_asked = match asked.get(key) {
                None => false,
                Some(Value::Bool(is_asked)) => *is_asked,
                Some(_) => return Err(Refusal::params(format!("`{key}` must be a boolean (at /notifications/{key})"))),
            };
            if is_asked && self.manifest.can_change(&change) {
                honoured[key] = json!(true);
                wants.changes.push(change);
            }
        }
        let uris: Vec<&str> =
            texts(asked, "resourceSubscriptions")?.into_iter().filter(|uri| self.is_known(uri)).collect();
        if !uris.is_empty() {
            honoured["resourceSubscriptions"] = json!(uris);
            wants.changes.extend(uris.into_iter().map(|uri| Change::Resource(uri.to_owned())));
        }
        let tasks = texts(asked, "taskIds")?;
        if !tasks.is_empty() && self.caller.declares_tasks() {
            let state = self.session.state();
            let known: Vec<&str> = tasks.into_iter().filter(|id| state.tasks.knows(id)).collect();
            honoured["taskIds"] = json!(known);
            wants.tasks = known.into_iter().map(str::to_owned).collect();
        }
        Ok((wants, honoured))
    }
}

fn texts<'v>(asked: &'v Value, key: &str) -> Result<Vec<&'v str>, Refusal> {
    let wrong = || Refusal::params(format!("`{key}` must be a list of texts (at /notifications/{key})"));
    match asked.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().ok_or_else(wrong)).collect(),
        Some(_) => Err(wrong()),
    }
}
