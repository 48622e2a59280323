//! rmcp's client and our mock with `mcprove intercept` in between, which the client cannot tell.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mcprove_mock::{HttpListener, Mock, MockOptions, load};
use mcprove_model::Direction;
use mcprove_wire::{HttpRelay, Limits, Tap, Upstream};
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use rmcp_client::Guest;
use serde_json::{Value, json};

fn manifest() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/mock/conformance.yml")
}

fn eras() -> [ClientLifecycleMode; 2] {
    let modern = vec![ProtocolVersion::V_2026_07_28];
    [ClientLifecycleMode::Initialize, ClientLifecycleMode::Discover { preferred_versions: modern }]
}

/// Everything a client learns of a server, as it sees it.
async fn learnt(client: &RunningService<RoleClient, Guest>) -> Value {
    let tools = client.list_all_tools().await.expect("tools");
    let resources = client.list_all_resources().await.expect("resources");
    let prompts = client.list_all_prompts().await.expect("prompts");
    let mut answers = Vec::new();
    for tool in ["test_simple_text", "test_image_content", "test_tool_with_progress", "test_error_handling"] {
        let called = client.call_tool(CallToolRequestParams::new(tool)).await;
        answers
            .push(called.map(|result| serde_json::to_value(result).expect("JSON")).map_err(|error| error.to_string()));
    }
    json!({"tools": tools, "resources": resources, "prompts": prompts, "answers": format!("{answers:?}")})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_learns_the_same_over_http() {
    let (offer, _) = load(&manifest());
    let mock = Mock::new(offer.expect("an offer"), MockOptions::default());
    for era in eras() {
        let door = HttpListener::open("127.0.0.1:0").await.expect("a free port");
        let url = door.url();
        let serving = mock.clone();
        tokio::spawn(async move { serving.serve_http(door, std::future::pending()).await });
        let (tap, mut tapped) = Tap::pair();
        let upstream = Upstream::new(&url, Vec::new()).expect("an address");
        let relay = HttpRelay::listen("127.0.0.1:0", upstream, tap, Limits::default()).await.expect("a free port");
        let through = relay.url();
        tokio::spawn(relay.run(std::future::pending(), |complaint| panic!("{complaint}")));
        let overheard = tokio::spawn(async move {
            let mut calls = 0;
            while let Some(said) = tapped.recv().await {
                let is_call = memchr_like(&said.body, b"\"tools/call\"");
                calls += usize::from(is_call && said.direction == Direction::Sent);
                if calls == 4 {
                    break;
                }
            }
            calls
        });
        let mut both = Vec::new();
        for url in [url, through] {
            let transport = StreamableHttpClientTransport::from_uri(url);
            let client = Guest::default().serve_with_lifecycle(transport, era.clone()).await.expect("a session");
            both.push(learnt(&client).await);
        }
        assert_eq!(both[0], both[1], "{era:?}");
        assert_eq!(overheard.await.expect("it listens"), 4);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_learns_the_same_over_pipes() {
    let mcprove = build_mcprove();
    for era in eras() {
        let mut both = Vec::new();
        for through in [false, true] {
            let mut command = tokio::process::Command::new(&mcprove);
            if through {
                command.args(["intercept", "--quiet", "--"]).arg(&mcprove);
            }
            command.args(["mock", "--tools-from"]).arg(manifest());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
            let mut child = command.spawn().expect("mcprove starts");
            let pipes = (child.stdout.take().expect("a pipe"), child.stdin.take().expect("a pipe"));
            let client = Guest::default().serve_with_lifecycle(pipes, era.clone()).await.expect("a session");
            both.push(learnt(&client).await);
            client.cancel().await.expect("it closes");
            assert_eq!(child.wait().await.expect("an end").code(), Some(0));
        }
        assert_eq!(both[0], both[1], "{era:?}");
    }
}

fn memchr_like(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn build_mcprove() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "mcprove", "--message-format", "json"])
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let executable = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.unwrap_or_else(|| panic!("mcprove builds: {}", String::from_utf8_lossy(&output.stderr)))
}
