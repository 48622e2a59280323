//! `mcprove prompt`: one prompt, by hand.

use mcprove_model::{ExitStatus, Observation, Outcome, nearest, text_of_prompt};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::explore::{
    Attempt, Blobs, Request, RequestOptions, SavedTest, Shown, Subject, arguments, attempt, missing, of_prompt, pairs,
    save, tell,
};
use crate::failure::Failure;

/// Get a prompt of a server.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Required arguments that are missing are asked for on a terminal.\n\nExamples:\n  mcprove prompt review language=rust --server 'npx -y my-server'"
)]
pub(crate) struct Args {
    /// The prompt.
    #[arg(value_name = "NAME")]
    prompt: String,
    /// Arguments: `key=value`.
    #[arg(value_name = "KEY=VALUE")]
    words: Vec<String>,
    #[command(flatten)]
    request_options: RequestOptions,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let typed = pairs(&args.words)?;
    let subject = Subject { list: Some(("prompts/list", "prompts")), name: &args.prompt };
    let tried = attempt(&args.request_options, &subject, context, async |prompt, prompts| {
        let prompt = prompt.ok_or_else(|| unknown(&args.prompt, prompts))?;
        let schema = schema_of(prompt);
        let mut given = arguments(Map::new(), &typed, &schema)?;
        missing(&mut given, &schema).await;
        let mut params = json!({"name": args.prompt});
        if !given.is_empty() {
            params["arguments"] = Value::Object(given);
        }
        Ok(Request { method: "prompts/get", params, warnings: Vec::new() })
    })?;
    let Attempt { facts, server, answers, .. } = tried;
    let mut blobs = Blobs::new(args.request_options.media.as_deref(), &args.prompt);
    let text = match &facts.exchange.outcome {
        Outcome::Result(result) => of_prompt(result, &mut blobs)?,
        _ => String::new(),
    };
    let saved = match (&args.request_options.save, &facts.exchange.outcome) {
        (Some(path), Outcome::Result(result)) => {
            let reply = Observation::new(facts.exchange.outcome.clone(), text_of_prompt(result));
            let name = format!("prompt {}", args.prompt);
            let mut get = facts.params.clone();
            get.as_object_mut().map(|get| get.shift_remove("_meta"));
            let content = json!({"get": get});
            let sent = facts.params.get("arguments").cloned().unwrap_or_default();
            let (block, tool) = ("assert_prompts", &Value::Null);
            let test = SavedTest { name, block, content, tool, arguments: &sent, reply: &reply };
            Some(save(path, test, &server, &answers)?)
        }
        _ => None,
    };
    tell(&facts, &Shown { text, saved }, &args.request_options, context)
}

/// The arguments of a prompt as a schema: all of them are strings.
fn schema_of(prompt: &Value) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in prompt.get("arguments").and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = argument.get("name").and_then(Value::as_str) else { continue };
        let description = argument.get("description").cloned().unwrap_or_default();
        properties.insert(name.to_owned(), json!({"type": "string", "description": description}));
        if argument.get("required") == Some(&Value::Bool(true)) {
            required.push(name);
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn unknown(name: &str, prompts: &[Value]) -> Failure {
    let names = prompts.iter().filter_map(|prompt| prompt.get("name").and_then(Value::as_str));
    let help = nearest(name, names)
        .map_or_else(|| "`mcprove list prompts` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
    Failure::new(format!("the server has no prompt `{name}`"), help)
}
