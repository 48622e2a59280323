//! Malformed input, each followed by a good request; at the end SIGTERM.

use bytes::Bytes;
use mcprove_judge::conformance::Recording;
use serde_json::{Value, json};

use super::link::Send;
use super::{Scene, probe_main};

pub(super) async fn run(scene: &Scene<'_>) -> Result<Recording, String> {
    let mut link = scene.open("hostile")?;
    if link.begin(json!({})).await.is_none() {
        return Ok(link.close().await);
    }
    let method = probe_main::simple(&link);
    let good = |link: &super::link::Link| link.message(&json!("bad-1"), method, Value::Null);
    let mut no_version = good(&link);
    if let Some(map) = no_version.as_object_mut() {
        map.shift_remove("jsonrpc");
    }
    let mut strange = good(&link);
    strange["id"] = json!({});
    let mut fraction = good(&link);
    fraction["id"] = json!(1.5);
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let inputs: Vec<(&str, String)> = vec![
        ("not JSON", "{\"jsonrpc\":".to_owned()),
        ("plain text", "hello".to_owned()),
        ("an empty object", "{}".to_owned()),
        ("a number", "1".to_owned()),
        ("no jsonrpc", no_version.to_string()),
        ("an object as id", strange.to_string()),
        ("a fraction as id", fraction.to_string()),
        ("deep nesting", deep),
        ("a long line", format!("{{\"x\":\"{}\"", "x".repeat(1 << 20))),
    ];
    for (what, body) in inputs {
        let send = Send { label: format!("bad:{what}"), body: Bytes::from(body), headers: &[], id: None };
        link.send_and_wait(send).await;
        link.request(format!("alive:{what}"), method, Value::Null).await;
        if link.is_gone() {
            break;
        }
    }
    Ok(link.terminate().await)
}
