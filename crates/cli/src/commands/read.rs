//! `mcprove read`: one resource, by hand.

use mcprove_model::{ExitStatus, Observation, Outcome, text_of_contents};
use serde_json::{Value, json};

use crate::context::Context;
use crate::explore::{
    Attempt, Blobs, Request, RequestOptions, SavedTest, Shown, Subject, attempt, of_contents, save, tell,
};
use crate::failure::Failure;

/// Read a resource of a server.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove read file:///tmp/notes.txt --server 'npx -y my-server'")]
pub(crate) struct Args {
    /// The URI of the resource.
    #[arg(value_name = "URI")]
    uri: String,
    #[command(flatten)]
    request_options: RequestOptions,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let subject = Subject { list: None, name: &args.uri };
    let tried = attempt(&args.request_options, &subject, context, async |_, _| {
        Ok(Request { method: "resources/read", params: json!({"uri": args.uri}), warnings: Vec::new() })
    })?;
    let Attempt { facts, server, answers, .. } = tried;
    let mut blobs = Blobs::new(args.request_options.media.as_deref(), &args.uri);
    let text = match &facts.exchange.outcome {
        Outcome::Result(result) => of_contents(result, &mut blobs)?,
        _ => String::new(),
    };
    let saved = match (&args.request_options.save, &facts.exchange.outcome) {
        (Some(path), Outcome::Result(result)) => {
            let reply = Observation::new(facts.exchange.outcome.clone(), text_of_contents(result));
            let name = format!("resource {}", args.uri);
            let content = json!({"read": args.uri});
            let nothing = &Value::Null;
            let block = "assert_resources";
            let test = SavedTest { name, block, content, tool: nothing, arguments: nothing, reply: &reply };
            Some(save(path, test, &server, &answers)?)
        }
        _ => None,
    };
    tell(&facts, &Shown { text, saved }, &args.request_options, context)
}
