//! rmcp's client and our mock, over a pipe and over HTTP, in both eras.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcprove_mock::{HttpListener, Mock, MockOptions, load};
use mcprove_model::FaultRule;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, GetPromptRequestParams, ProtocolVersion, ReadResourceRequestParams,
    SubscriptionFilter,
};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use rmcp_client::Guest;
use serde_json::{Value, json};
use tokio::time::timeout;

type Client = RunningService<RoleClient, Guest>;

const PATIENCE: Duration = Duration::from_secs(20);

fn mock(faults: &[&str]) -> Mock {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/mock/conformance.yml");
    let (offer, findings) = load(&path);
    assert!(findings.is_empty(), "{findings:?}");
    let faults = faults.iter().map(|text| text.parse::<FaultRule>().expect("a fault")).collect();
    Mock::new(offer.expect("an offer"), MockOptions { faults, ..MockOptions::default() })
}

fn eras() -> [ClientLifecycleMode; 3] {
    let modern = vec![ProtocolVersion::V_2026_07_28];
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: modern.clone() },
        ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: Some(ProtocolVersion::V_2025_11_25) },
    ]
}

async fn over_pipe(mock: &Mock, era: ClientLifecycleMode) -> Client {
    let (near, far) = tokio::io::duplex(1 << 16);
    let mock = mock.clone();
    tokio::spawn(async move {
        let (reader, writer) = tokio::io::split(far);
        let _ = mock.serve(reader, writer).await;
    });
    Guest::default().serve_with_lifecycle(tokio::io::split(near), era).await.expect("a session")
}

async fn over_http(mock: &Mock, era: ClientLifecycleMode) -> Client {
    let door = HttpListener::open("127.0.0.1:0").await.expect("a free port");
    let transport = StreamableHttpClientTransport::from_uri(door.url());
    let mock = mock.clone();
    tokio::spawn(async move { mock.serve_http(door, std::future::pending()).await });
    Guest::default().serve_with_lifecycle(transport, era).await.expect("a session")
}

/// A client for every era and transport.
async fn clients(mock: &Mock) -> Vec<(String, Client)> {
    let mut clients = Vec::new();
    for era in eras() {
        clients.push((format!("{era:?} over a pipe"), over_pipe(mock, era.clone()).await));
        clients.push((format!("{era:?} over HTTP"), over_http(mock, era).await));
    }
    clients
}

fn call(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().unwrap_or_default())
}

fn text(result: &CallToolResult) -> String {
    let shown = serde_json::to_value(result).expect("JSON");
    shown["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn lists_calls_resources_and_prompts_work() {
    for (how, client) in clients(&mock(&[])).await {
        assert!(client.list_all_tools().await.expect(&how).len() > 20, "{how}");
        let greeted = client.call_tool(call("greet", &json!({"name": "Ada"}))).await.expect(&how);
        assert_eq!(text(&greeted), "Hello, Ada!", "{how}");
        let failed = client.call_tool(call("test_error_handling", &json!({}))).await.expect(&how);
        assert_eq!(failed.is_error, Some(true), "{how}");
        let Err(ServiceError::McpError(error)) = client.call_tool(call("greet", &json!({}))).await else {
            panic!("{how}: no error");
        };
        assert_eq!(error.code.0, -32602, "{how}");
        let read = client.read_resource(ReadResourceRequestParams::new("test://template/7/data")).await.expect(&how);
        assert!(format!("{read:?}").contains("Data for ID: 7"), "{how}: {read:?}");
        let prompt = client.get_prompt(GetPromptRequestParams::new("test_simple_prompt")).await.expect(&how);
        assert_eq!(prompt.messages.len(), 1, "{how}");
        assert_eq!(client.list_all_resources().await.expect(&how).len(), 3, "{how}");
        assert_eq!(client.list_all_prompts().await.expect(&how).len(), 5, "{how}");
        client.cancel().await.expect(&how);
    }
}

#[tokio::test]
async fn what_the_mock_asks_is_answered() {
    for (how, client) in clients(&mock(&[])).await {
        for (tool, arguments, expected) in [
            ("test_sampling", json!({"prompt": "capital?"}), "LLM response: Paris"),
            ("test_input_required_result_elicitation", json!({}), "Hello, Ada!"),
            ("test_input_required_result_list_roots", json!({}), "file:///guest"),
            ("test_input_required_result_multi_round", json!({}), "Ada likes blue"),
        ] {
            let result = client.call_tool(call(tool, &arguments)).await.expect(&how);
            assert_eq!(text(&result), expected, "{how}");
        }
        client.cancel().await.expect(&how);
    }
}

#[tokio::test]
async fn progress_and_changes_are_heard() {
    for (how, client) in clients(&mock(&[])).await {
        client.call_tool(call("test_tool_with_progress", &json!({}))).await.expect(&how);
        timeout(PATIENCE, async {
            while client.service().progress.load(Ordering::Relaxed) < 3 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect(&how);
        let is_modern = client.peer_info().is_some_and(|info| info.protocol_version == ProtocolVersion::V_2026_07_28);
        if is_modern {
            let mut subscription =
                client.listen(SubscriptionFilter::builder().tools_list_changed().build()).await.expect(&how);
            client.call_tool(call("test_trigger_tool_change", &json!({}))).await.expect(&how);
            let heard = timeout(PATIENCE, subscription.next()).await.expect(&how).expect(&how);
            assert!(heard.is_some(), "{how}");
        } else {
            client.call_tool(call("test_trigger_tool_change", &json!({}))).await.expect(&how);
            timeout(PATIENCE, async {
                while client.service().changes.load(Ordering::Relaxed) == 0 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            })
            .await
            .expect(&how);
        }
        client.cancel().await.expect(&how);
    }
}

#[tokio::test]
async fn every_fault_does_what_it_says() {
    let brief = Duration::from_millis(60);
    for (fault, answers) in [
        ("none", [true, true, true]),
        ("hang", [false, false, false]),
        ("wedged", [false, false, false]),
        ("slow:20", [true, true, true]),
        ("greet=recover-after:2", [false, false, true]),
    ] {
        for era in eras() {
            for http in [false, true] {
                let mock = mock(&[fault]);
                let client =
                    if http { over_http(&mock, era.clone()).await } else { over_pipe(&mock, era.clone()).await };
                let how = format!("{fault}, {era:?}, HTTP: {http}");
                for answers in answers {
                    // An answer may take its time on a busy machine; silence is believed soon.
                    let patience = if answers { PATIENCE } else { brief };
                    let called = timeout(patience, client.call_tool(call("greet", &json!({"name": "A"})))).await;
                    assert_eq!(called.is_ok(), answers, "{how}");
                    assert!(client.list_tools(None).await.is_ok(), "{how}: only calls are touched");
                }
            }
        }
    }
}
