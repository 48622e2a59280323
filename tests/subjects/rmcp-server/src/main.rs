//! A well-behaved stdio server on rmcp, in both eras of the protocol: an implementation that is not ours, so that
//! our client is not only tested against our own reading of the specification.

#![expect(deprecated, reason = "what the newest revision has left behind, all others still have")]

mod asking;
mod offer;

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{process::ExitCode, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ContentBlock,
        GetPromptRequestParams, GetPromptResponse, Implementation, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
        LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
        ReadResourceResponse, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext},
    transport::stdio,
};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Ok(running) = Subject::default().serve(stdio()).await else {
        return ExitCode::FAILURE;
    };
    if running.waiting().await.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What changes while the server runs.
#[derive(Default)]
struct Desk {
    notes: String,
    /// How often the resource that counts its readings was read.
    readings: u32,
    /// The least severe messages that are sent; all of them before a client says which.
    level: Option<LoggingLevel>,
    subscribed: BTreeSet<String>,
    /// How often the client said that its folders changed.
    moves: u32,
}

#[derive(Default)]
struct Subject(Mutex<Desk>);

impl Subject {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to the notes, and tells whoever subscribed to them.
    async fn note(&self, line: &str, context: &RequestContext<RoleServer>) -> CallToolResult {
        {
            let mut desk = self.desk();
            desk.notes.push_str(line);
            desk.notes.push('\n');
        }
        self.announce(offer::NOTES, context).await;
        CallToolResult::success(text("noted"))
    }

    /// Tells whoever subscribed to a resource that it changed.
    async fn announce(&self, uri: &str, context: &RequestContext<RoleServer>) {
        if self.desk().subscribed.contains(uri) {
            let _ = context.peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
        }
    }

    /// Sends a message of every level from `info` to `error` that the client wants to hear.
    async fn report(&self, context: &RequestContext<RoleServer>) -> CallToolResult {
        let least = self.desk().level.map_or(0, severity);
        for (level, data) in [
            (LoggingLevel::Info, json!("begun")),
            (LoggingLevel::Warning, json!({ "left": 3 })),
            (LoggingLevel::Error, json!("out of paper")),
        ] {
            if severity(level) >= least {
                let message = LoggingMessageNotificationParam::new(level, data).with_logger("desk");
                let _ = context.peer.notify_logging_message(message).await;
            }
        }
        CallToolResult::success(text("reported"))
    }
}

fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

impl ServerHandler for Subject {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("rmcp-server", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(offer::resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(offer::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != offer::READINGS {
            return offer::read(&request.uri, &self.desk().notes).map(Into::into);
        }
        // Reading it changes it.
        let readings = {
            let mut desk = self.desk();
            desk.readings += 1;
            desk.readings
        };
        self.announce(offer::READINGS, &context).await;
        offer::read(&request.uri, &readings.to_string()).map(Into::into)
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.desk().subscribed.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.desk().subscribed.remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(offer::prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        offer::prompt(&request).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        offer::complete(&request)
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.desk().level = Some(request.level);
        Ok(())
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.desk().moves += 1;
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Arguments(request.arguments.unwrap_or_default());
        let result = match &*request.name {
            "add" => CallToolResult::structured(json!({ "sum": arguments.integer("a")? + arguments.integer("b")? })),
            "append" => append(&arguments)?,
            "book" => asking::book(&context.peer).await?,
            "echo" => CallToolResult::success(text(arguments.string("text")?)),
            "fail" => CallToolResult::error(text(arguments.string("reason")?)),
            "folders" => asking::folders(&context.peer).await,
            "moves" => CallToolResult::success(text(&format!("the folders changed {} times", self.desk().moves))),
            "note" => self.note(arguments.string("text")?, &context).await,
            "read" => read(&arguments)?,
            "report" => self.report(&context).await,
            "slow" => slow(&arguments, context).await?,
            "summarise" => asking::summarise(arguments.string("text")?, &context.peer).await?,
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
        Tool::new("book", "Asks the user how many seats to book", object(&json!({}))),
        Tool::new("echo", "Returns the text it is given", object(&json!({ "text": string() }))),
        Tool::new("fail", "Fails with the reason it is given", object(&json!({ "reason": string() }))),
        Tool::new("folders", "Asks for the folders of the client", object(&json!({}))),
        Tool::new("moves", "Says how often the folders of the client changed", object(&json!({}))),
        Tool::new("note", "Adds a line to the notes", object(&json!({ "text": string() }))),
        Tool::new("read", "Reads a file", object(&json!({ "path": string() }))),
        Tool::new("report", "Logs messages of three levels", object(&json!({}))),
        Tool::new(
            "slow",
            "Takes some steps of some milliseconds, with progress",
            object(&json!({ "steps": integer(), "millis": integer() })),
        ),
        Tool::new(
            "summarise",
            "Asks a model for a summary, and what it thinks of it",
            object(&json!({ "text": string() })),
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
