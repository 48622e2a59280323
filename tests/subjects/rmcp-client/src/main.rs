//! A plain client on the official Rust SDK: lists the tools, calls `search`, then `read`, with the SDK's defaults. `CALLS` names
//! other calls: a JSON list of `{"name", "arguments"}`, whose results are printed, one per line.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Instant;

use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
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

async fn attempt<T, E: Display>(name: &str, work: impl Future<Output = Result<T, E>>) -> Option<T> {
    let began = Instant::now();
    told(&json!({"step": name, "outcome": "begun"}));
    let ms = |began: Instant| u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    match work.await {
        Ok(value) => {
            told(&json!({"step": name, "outcome": "result", "ms": ms(began)}));
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
    if let Ok(calls) = std::env::var("CALLS") {
        let calls: Vec<CallToolRequestParams> = serde_json::from_str(&calls).expect("`CALLS` is a list of calls");
        for call in calls {
            let name = call.name.to_string();
            print_result(&client.call_tool(call).await.map_err(|error| format!("{name}: {error}")));
        }
        attempt("close", client.cancel()).await;
        return;
    }
    attempt("search", client.call_tool(CallToolRequestParams::new("search"))).await;
    attempt("read", client.call_tool(CallToolRequestParams::new("read"))).await;
    attempt("close", client.cancel()).await;
}

#[expect(clippy::print_stdout, reason = "the results are the output of this program")]
fn print_result(result: &Result<rmcp::model::CallToolResult, String>) {
    println!("{}", json!(result));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let servers: Value =
        std::env::var("MCPROVE_SERVERS").ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let server = &servers[0];
    if let Some(url) = server["url"].as_str() {
        let transport = StreamableHttpClientTransport::from_uri(url.to_owned());
        if let Some(client) = attempt("connect", Plain.serve(transport)).await {
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
    if let Some(client) = attempt("connect", Plain.serve((stdout, stdin))).await {
        talk(client).await;
    }
}
