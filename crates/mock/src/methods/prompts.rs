//! `prompts/get`.

use std::fmt::Write as _;

use mcprove_model::nearest;
use serde_json::{Value, json};

use super::Call;
use super::input::ClientAnswers;
use crate::placeholders::fill;
use crate::rpc::{Ended, INTERNAL_ERROR, Refusal};

impl Call<'_> {
    pub(super) async fn get_prompt(&self) -> Result<Value, Ended> {
        let name = self.text("name")?;
        let prompts = &self.manifest.prompts;
        let Some(prompt) = prompts.iter().find(|prompt| prompt.name == name) else {
            let mut message = format!("unknown prompt `{name}` (at /name)");
            if let Some(near) = nearest(name, prompts.iter().map(|prompt| prompt.name.as_str())) {
                let _ = write!(message, "; did you mean `{near}`?");
            }
            return Err(Refusal::params(message).into());
        };
        let arguments = self.object("arguments")?;
        for argument in &prompt.arguments {
            match arguments.get(&argument.name) {
                Some(Value::String(_)) => {}
                Some(_) => {
                    let message = format!("`{0}` must be text (at /arguments/{0})", argument.name);
                    return Err(Refusal::params(message).into());
                }
                None if argument.required => {
                    let message = format!("the argument `{}` of `{name}` is missing (at /arguments)", argument.name);
                    return Err(Refusal::params(message).into());
                }
                None => {}
            }
        }
        let mut scope = json!({"args": arguments});
        match self.ask_client(&prompt.rounds, &mut scope).await? {
            ClientAnswers::All => {}
            ClientAnswers::Asks(result) => return Ok(result),
            ClientAnswers::Failed(why) => return Err(Refusal::new(INTERNAL_ERROR, why).into()),
        }
        let mut result = json!({});
        if let Some(description) = &prompt.description {
            result["description"] = json!(description);
        }
        result["messages"] = fill(&prompt.messages, &scope);
        Ok(result)
    }
}
