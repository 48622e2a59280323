//! `mcprove call`: one call of a tool, by hand.

use mcprove_judge::argument_errors;
use mcprove_judge::output_schema::{NO_STRUCTURED_CONTENT, lacks_structured_content, violates_output_schema};
use mcprove_model::{ExitStatus, Observation, Outcome, nearest};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::explore::{
    Attempt, Blobs, Request, RequestOptions, SavedTest, Shown, Subject, arguments, attempt, missing, object,
    of_tool_result, pairs, save, tell,
};
use crate::failure::Failure;
use crate::starter_files;

/// Call a tool of a server.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "`key=value` gets the type that the tool's schema says; a key of an array may be repeated, and `a.b=1` \
                        is a field of `a`. `key:=json` is sent as it is. `key=@FILE` and `key:=@FILE` read a file. \
                        Required arguments that are missing are asked for on a terminal. The tool is called without a question, even if it writes, and the server has no sandbox.\n\nExamples:\n  \
                        mcprove call search query=rust limit=3 --server 'npx -y my-server'\n  \
                        mcprove call search --args query.json --save evals/search.yaml --url http://localhost:3000/mcp"
)]
pub(crate) struct Args {
    /// The tool.
    #[arg(value_name = "TOOL")]
    tool: String,
    /// Arguments: `key=value` or `key:=json`.
    #[arg(value_name = "KEY=VALUE")]
    words: Vec<String>,
    /// Take the arguments from a JSON object: a file with one, `-` for standard input, or the object itself.
    #[arg(long = "args", value_name = "FILE|-|JSON")]
    file: Option<String>,
    #[command(flatten)]
    request_options: RequestOptions,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let typed = pairs(&args.words)?;
    let base = args.file.as_deref().map(object).transpose()?.unwrap_or_default();
    let subject = Subject { list: Some(("tools/list", "tools")), name: &args.tool };
    let tried = attempt(&args.request_options, &subject, context, async |tool, tools| {
        let tool = tool.ok_or_else(|| unknown(&args.tool, tools))?;
        let nothing = Value::Null;
        let schema = tool.get("inputSchema").unwrap_or(&nothing);
        let mut given = arguments(base, &typed, schema)?;
        missing(&mut given, schema).await;
        let warnings = warnings(schema, &given);
        Ok(Request { method: "tools/call", params: json!({"name": args.tool, "arguments": given}), warnings })
    })?;
    finish(args, tried, context)
}

/// Warnings about arguments that the schema does not allow; the call is still made: its answer is the point.
fn warnings(schema: &Value, given: &Map<String, Value>) -> Vec<String> {
    let errors = argument_errors(schema, &Value::Object(given.clone())).unwrap_or_default();
    let warning = |error: String| format!("the arguments do not match the input schema: {error}");
    errors.into_iter().take(5).map(warning).collect()
}

fn unknown(name: &str, tools: &[Value]) -> Failure {
    let names = tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str));
    let help = nearest(name, names)
        .map_or_else(|| "`mcprove list tools` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
    Failure::new(format!("the server has no tool `{name}`"), help)
}

fn finish(args: &Args, tried: Attempt, context: &Context) -> Result<ExitStatus, Failure> {
    let Attempt { mut facts, item, server, answers } = tried;
    let mut blobs = Blobs::new(args.request_options.media.as_deref(), &args.tool);
    let mut text = String::new();
    if let Outcome::Result(result) = &facts.exchange.outcome {
        text = of_tool_result(result, &mut blobs)?;
        facts.problems.extend(output_problem(&item, result));
    }
    let reply = Observation::of_tool_call(facts.exchange.outcome.clone());
    let sent = facts.params["arguments"].clone();
    let saved = match &args.request_options.save {
        Some(path) if matches!(reply.outcome, Outcome::Result(_) | Outcome::Error(_)) => {
            let mut content = starter_files::call(&args.tool, &sent, &Value::Null);
            content.as_object_mut().map(|content| content.shift_remove("expect"));
            let name = args.tool.clone();
            let test = SavedTest { name, block: "assert", content, tool: &item, arguments: &sent, reply: &reply };
            Some(save(path, test, &server, &answers)?)
        }
        Some(_) | None => None,
    };
    tell(&facts, &Shown { text, saved }, &args.request_options, context)
}

/// The violation of a tool's own output schema, if there is one.
fn output_problem(tool: &Value, result: &Value) -> Option<String> {
    let schema = tool.get("outputSchema")?;
    if lacks_structured_content(result) {
        return Some(NO_STRUCTURED_CONTENT.to_owned());
    }
    let structured = result.get("structuredContent").filter(|_| result.get("isError") != Some(&Value::Bool(true)))?;
    let violation = violates_output_schema(schema, structured).ok()??;
    Some(format!("the structured content violates the output schema: {violation}"))
}
