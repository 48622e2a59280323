//! Resources: reading and subscriptions.

use mcprove_model::Era;
use serde_json::{Value, json};

use super::Call;
use super::input::ClientAnswers;
use crate::placeholders::fill;
use crate::rpc::{Ended, INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, Refusal};
use crate::uri_template::matches;

impl Call<'_> {
    pub(super) async fn read_resource(&self) -> Result<Value, Ended> {
        let uri = self.text("uri")?;
        let mut scope = json!({"uri": uri, "args": {}});
        let content = if let Some(resource) = self.manifest.resources.iter().find(|resource| resource.uri == uri) {
            match self.ask_client(&resource.rounds, &mut scope).await? {
                ClientAnswers::All => {}
                ClientAnswers::Asks(result) => return Ok(result),
                ClientAnswers::Failed(why) => return Err(Refusal::new(INTERNAL_ERROR, why).into()),
            }
            &resource.content
        } else {
            let found = self.manifest.templates.iter().find_map(|t| Some((t, matches(&t.pattern, uri)?)));
            let Some((template, variables)) = found else { return Err(self.unknown_resource(uri).into()) };
            scope["args"] = Value::Object(variables);
            &template.content
        };
        let mut item = json!({"uri": uri});
        if let (Some(item), Value::Object(content)) = (item.as_object_mut(), fill(content, &scope)) {
            item.extend(content);
        }
        Ok(json!({"contents": [item]}))
    }

    pub(super) fn subscribe(&self) -> Result<Value, Refusal> {
        let uri = self.known_uri()?;
        self.session.state().subscribed.insert(uri);
        Ok(json!({}))
    }

    pub(super) fn unsubscribe(&self) -> Result<Value, Refusal> {
        let uri = self.known_uri()?;
        self.session.state().subscribed.remove(&uri);
        Ok(json!({}))
    }

    fn known_uri(&self) -> Result<String, Refusal> {
        let uri = self.text("uri")?;
        if self.is_known(uri) { Ok(uri.to_owned()) } else { Err(self.unknown_resource(uri)) }
    }

    pub(super) fn is_known(&self, uri: &str) -> bool {
        self.manifest.resources.iter().any(|resource| resource.uri == uri)
            || self.manifest.templates.iter().any(|template| matches(&template.pattern, uri).is_some())
    }

    /// 2026-07-28 took the code of its own away from this error.
    fn unknown_resource(&self, uri: &str) -> Refusal {
        let code = match self.caller.era() {
            Era::Legacy => RESOURCE_NOT_FOUND,
            Era::Modern => INVALID_PARAMS,
        };
        Refusal::new(code, format!("unknown resource `{uri}` (at /uri)")).with(json!({"uri": uri}))
    }
}
