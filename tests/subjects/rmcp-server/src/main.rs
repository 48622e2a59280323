//! A well-behaved stdio server on rmcp, in both eras of the protocol: an implementation that is not ours, so that
//! our client is not only tested against our own reading of the specification.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::{process::ExitCode, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::stdio,
};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Ok(running) = Subject.serve(stdio()).await else {
        return ExitCode::FAILURE;
    };
    if running.waiting().await.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Subject;

impl ServerHandler for Subject {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("rmcp-server", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Arguments(request.arguments.unwrap_or_default());
        let result = match &*request.name {
            "add" => CallToolResult::structured(json!({ "sum": arguments.integer("a")? + arguments.integer("b")? })),
            "echo" => CallToolResult::success(text(arguments.string("text")?)),
            "fail" => CallToolResult::error(text(arguments.string("reason")?)),
            "slow" => slow(&arguments, context).await?,
            "append" => append(&arguments)?,
            "read" => read(&arguments)?,
            unknown => return Err(ErrorData::invalid_params(format!("no tool is called `{unknown}`"), None)),
        };
        Ok(result.into())
    }
}

/// Reports progress once a step, when the caller asked for it with a token.
async fn slow(arguments: &Arguments, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    let steps = u32::try_from(arguments.integer("steps")?)
        .map_err(|_| ErrorData::invalid_params("`steps` is not a small positive number", None))?;
    let pause = Duration::from_millis(arguments.integer("millis")?.unsigned_abs());
    for step in 1..=steps {
        tokio::time::sleep(pause).await;
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, step.into()).with_total(steps.into());
            // A client that has gone away is noticed by the reader; there is nobody to tell here.
            let _ = context.peer.notify_progress(progress).await;
        }
    }
    Ok(CallToolResult::success(text(&format!("done after {steps} steps"))))
}

/// Adds a line to a file: a tool that must not be called twice for one effect.
fn append(arguments: &Arguments) -> Result<CallToolResult, ErrorData> {
    let path = arguments.string("path")?;
    let line = format!("{}\n", arguments.string("text")?);
    let written =
        OpenOptions::new().create(true).append(true).open(path).and_then(|mut f| f.write_all(line.as_bytes()));
    written.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(CallToolResult::success(text("appended")))
}

fn read(arguments: &Arguments) -> Result<CallToolResult, ErrorData> {
    match fs::read_to_string(arguments.string("path")?) {
        Ok(content) => Ok(CallToolResult::success(text(&content))),
        Err(error) => Ok(CallToolResult::error(text(&error.to_string()))),
    }
}

fn tools() -> Vec<Tool> {
    let integer = || json!({ "type": "integer" });
    let string = || json!({ "type": "string" });
    vec![
        Tool::new("add", "Adds two integers", object(&json!({ "a": integer(), "b": integer() })))
            .with_raw_output_schema(object(&json!({ "sum": integer() }))),
        Tool::new("append", "Adds a line to a file", object(&json!({ "path": string(), "text": string() }))),
        Tool::new("echo", "Returns the text it is given", object(&json!({ "text": string() }))),
        Tool::new("fail", "Fails with the reason it is given", object(&json!({ "reason": string() }))),
        Tool::new("read", "Reads a file", object(&json!({ "path": string() }))),
        Tool::new(
            "slow",
            "Takes some steps of some milliseconds, with progress",
            object(&json!({ "steps": integer(), "millis": integer() })),
        ),
    ]
}

/// An object schema in which every property is required.
fn object(properties: &Value) -> Arc<JsonObject> {
    let required: Vec<_> = properties.as_object().into_iter().flat_map(JsonObject::keys).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

fn text(text: &str) -> Vec<ContentBlock> {
    vec![ContentBlock::text(text)]
}

struct Arguments(JsonObject);

impl Arguments {
    fn integer(&self, name: &str) -> Result<i64, ErrorData> {
        self.get(name, Value::as_i64, "an integer")
    }

    fn string(&self, name: &str) -> Result<&str, ErrorData> {
        self.get(name, Value::as_str, "a string")
    }

    fn get<'a, T>(&'a self, name: &str, read: fn(&'a Value) -> Option<T>, wanted: &str) -> Result<T, ErrorData> {
        let found = self.0.get(name).and_then(read);
        found.ok_or_else(|| ErrorData::invalid_params(format!("`{name}` is not {wanted}"), None))
    }
}
