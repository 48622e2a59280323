//! `mcprove complete`: completions of an argument, by hand.

use std::fmt::Write as _;

use mcprove_model::{ExitStatus, Observation, Outcome};
use mcprove_report::escape_terminal_line;
use serde_json::{Value, json};

use crate::context::Context;
use crate::explore::{
    Attempt, Request, RequestOptions, SavedTest, Shown, Subject, arguments, attempt, pairs, save, tell,
};
use crate::failure::Failure;

/// Complete an argument of a prompt or a resource template.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The last `key=value` is completed; those before it are the arguments known so far.\n\nExamples:\n  \
                        mcprove complete review language=ru --server 'npx -y my-server'\n  \
                        mcprove complete 'file:///{path}' path=src/ --server 'npx -y my-server'"
)]
pub(crate) struct Args {
    /// The name of a prompt, or a resource template.
    #[arg(value_name = "PROMPT|TEMPLATE")]
    reference: String,
    /// Arguments: `key=value`; the last one is completed.
    #[arg(value_name = "KEY=VALUE", required = true)]
    words: Vec<String>,
    #[command(flatten)]
    request_options: RequestOptions,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let typed = pairs(&args.words)?;
    let (last, known) = typed.split_last().ok_or_else(|| Failure::new("no argument was given", "write `key=value`"))?;
    let one = arguments(serde_json::Map::new(), std::slice::from_ref(last), &Value::Null)?;
    let (name, value) = one.iter().next().map(|(name, value)| (name.clone(), value.clone())).unwrap_or_default();
    let reference = if args.reference.contains("://") {
        json!({"type": "ref/resource", "uri": args.reference})
    } else {
        json!({"type": "ref/prompt", "name": args.reference})
    };
    let mut params = json!({"ref": reference, "argument": {"name": name, "value": value}});
    if !known.is_empty() {
        params["context"] = json!({"arguments": arguments(serde_json::Map::new(), known, &Value::Null)?});
    }
    let subject = Subject { list: None, name: &args.reference };
    let tried = attempt(&args.request_options, &subject, context, async |_, _| {
        Ok(Request { method: "completion/complete", params: params.clone(), warnings: Vec::new() })
    })?;
    let Attempt { facts, server, answers, .. } = tried;
    let text = match &facts.exchange.outcome {
        Outcome::Result(result) => values(result),
        _ => String::new(),
    };
    let saved = match (&args.request_options.save, &facts.exchange.outcome) {
        (Some(path), Outcome::Result(result)) => {
            let reply = Observation::new(facts.exchange.outcome.clone(), result.to_string());
            let (name, block) = (format!("completion of {name} of {}", args.reference), "assert_completion");
            let content = params.clone();
            let test = SavedTest { name, block, content, tool: &Value::Null, arguments: &params, reply: &reply };
            Some(save(path, test, &server, &answers)?)
        }
        _ => None,
    };
    tell(&facts, &Shown { text, saved }, &args.request_options, context)
}

fn values(result: &Value) -> String {
    let completion = result.get("completion").unwrap_or(&Value::Null);
    let values = completion.get("values").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut text = String::new();
    for value in values {
        let _ = writeln!(text, "{}", escape_terminal_line(value.as_str().unwrap_or_default()));
    }
    let total = completion.get("total").and_then(Value::as_u64);
    if let Some(total) = total.filter(|total| *total > values.len() as u64) {
        let _ = writeln!(text, "({} of {total})", values.len());
    } else if completion.get("hasMore") == Some(&Value::Bool(true)) {
        let _ = writeln!(text, "({}, and there are more)", values.len());
    }
    text
}
