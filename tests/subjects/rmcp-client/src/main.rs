//! A plain client on the official Rust SDK, with the SDK's defaults: lists the tools, calls `search` as often as CALLS says,
//! lists again if that is more than once, then calls `read`. ERA=modern speaks 2026-07-28. `TOOL_CALLS` names other
//! calls instead: a JSON list of `{"name", "arguments"}`, whose results are printed, one per line.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Instant;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, ListToolsResult,
    ProtocolVersion,
};
use rmcp::service::{QuitReason, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};

/// A client without capabilities.
#[derive(Clone, Debug, Default)]
struct Plain;

impl ClientHandler for Plain {
    fn get_info(&self) -> ClientConfig {
        // Left alone, rmcp offers a revision without a handshake in its handshake.
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("rmcp", "1.0.0"))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }
}

fn told(step: &Value) {
    let Ok(path) = std::env::var("OUTCOMES") else { return };
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path) {
        let _ = writeln!(file, "{step}");
    }
}

/// What a step adds to its outcome.
trait Outcome {
    fn is_error(&self) -> bool {
        false
    }

    fn described(&self) -> Option<Vec<String>> {
        None
    }
}

impl Outcome for RunningService<RoleClient, Plain> {}

impl Outcome for QuitReason {}

impl Outcome for ListToolsResult {
    fn described(&self) -> Option<Vec<String>> {
        let tools = self.tools.iter();
        Some(tools.map(|tool| format!("{}: {}", tool.name, tool.description.as_deref().unwrap_or_default())).collect())
    }
}

impl Outcome for CallToolResult {
    fn is_error(&self) -> bool {
        self.is_error == Some(true)
    }
}

async fn attempt<T: Outcome, E: Display>(name: &str, work: impl Future<Output = Result<T, E>>) -> Option<T> {
    let began = Instant::now();
    told(&json!({"step": name, "outcome": "begun"}));
    let ms = |began: Instant| u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    match work.await {
        Ok(value) => {
            let outcome = if value.is_error() { "isError" } else { "result" };
            told(&json!({"step": name, "outcome": outcome, "described": value.described(), "ms": ms(began)}));
            Some(value)
        }
        Err(error) => {
            told(&json!({"step": name, "outcome": "error", "message": error.to_string(), "ms": ms(began)}));
            None
        }
    }
}

async fn talk(client: RunningService<RoleClient, Plain>) {
    attempt("list", client.list_tools(None)).await;
    if let Ok(calls) = std::env::var("TOOL_CALLS") {
        let calls: Vec<CallToolRequestParams> = serde_json::from_str(&calls).expect("`TOOL_CALLS` is a list of calls");
        for call in calls {
            let name = call.name.to_string();
            print_result(&client.call_tool(call).await.map_err(|error| format!("{name}: {error}")));
        }
        attempt("close", client.cancel()).await;
        return;
    }
    let calls = std::env::var("CALLS").ok().and_then(|calls| calls.parse::<usize>().ok()).unwrap_or(1);
    for call in 1..=calls {
        attempt(&format!("search {call}"), client.call_tool(CallToolRequestParams::new("search"))).await;
    }
    if calls > 1 {
        attempt("list again", client.list_tools(None)).await;
    }
    attempt("read", client.call_tool(CallToolRequestParams::new("read"))).await;
    attempt("close", client.cancel()).await;
}

#[expect(clippy::print_stdout, reason = "the results are the output of this program")]
fn print_result(result: &Result<CallToolResult, String>) {
    println!("{}", json!(result));
}

fn lifecycle() -> ClientLifecycleMode {
    if std::env::var("ERA").as_deref() == Ok("modern") {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    } else {
        ClientLifecycleMode::Initialize
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let servers: Value =
        std::env::var("MCPROVE_SERVERS").ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let server = &servers[0];
    if let Some(url) = server["url"].as_str() {
        let transport = StreamableHttpClientTransport::from_uri(url.to_owned());
        if let Some(client) = attempt("connect", Plain.serve_with_lifecycle(transport, lifecycle())).await {
            talk(client).await;
        }
        return;
    }
    let words: Vec<&str> = server["command"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some((program, args)) = words.split_first() else { return };
    let mut command = tokio::process::Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let Ok(mut child) = command.spawn() else { return };
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { return };
    if let Some(client) = attempt("connect", Plain.serve_with_lifecycle((stdout, stdin), lifecycle())).await {
        talk(client).await;
    }
}
