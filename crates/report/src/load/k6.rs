//! A load as a script for k6, for people who already run it.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// A load over Streamable HTTP that k6 can run.
#[derive(Clone, Debug)]
pub struct K6Script {
    /// The URL of the server.
    pub url: String,
    /// The headers, by name; their values are left to the environment.
    pub headers: Vec<String>,
    /// The tool calls.
    pub calls: Vec<K6Call>,
    /// True if the stages are rates, false if they are numbers of clients.
    pub is_open: bool,
    /// The stages: the level at the start, the level at the end, and the length in milliseconds.
    pub stages: Vec<(f64, f64, u128)>,
    /// Number of sessions.
    pub clients: u32,
    /// Percentiles of the latency and their limits in milliseconds.
    pub percentiles: Vec<(f64, f64)>,
    /// The share of calls that may fail.
    pub errors: Option<f64>,
    /// The protocol revision.
    pub protocol: String,
}

/// A tool call.
#[derive(Clone, Debug)]
pub struct K6Call {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Its share of all calls.
    pub weight: u32,
}

impl K6Script {
    /// The script. A session is opened once per virtual user, as `--session-per client` does.
    pub fn render(&self) -> String {
        let mut out = String::from(
            "// Made by `mcprove bench --export-k6`. Run it with `k6 run FILE`.\n\
             import http from 'k6/http';\nimport { check } from 'k6';\n\n",
        );
        let _ = writeln!(out, "export const options = {};\n", pretty(&self.options()));
        let _ = writeln!(out, "const URL = {};", json!(self.url));
        let calls: Vec<Value> = self
            .calls
            .iter()
            .flat_map(|call| {
                let one = json!({"name": call.tool, "arguments": call.arguments});
                std::iter::repeat_n(one, call.weight as usize)
            })
            .collect();
        let _ = writeln!(out, "const CALLS = {};", pretty(&Value::Array(calls)));
        let _ = writeln!(out, "const PROTOCOL = {};", json!(self.protocol));
        let mut headers =
            String::from("{ 'content-type': 'application/json', accept: 'application/json, text/event-stream'");
        for name in &self.headers {
            let variable: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
            let _ = write!(headers, ", {}: __ENV.{variable}", json!(name));
        }
        headers.push_str(" }");
        let _ = writeln!(out, "const HEADERS = {headers};\n");
        out.push_str(SCRIPT);
        out
    }

    fn options(&self) -> Value {
        let mut thresholds = serde_json::Map::new();
        let limits: Vec<String> = self.percentiles.iter().map(|(percent, ms)| format!("p({percent}) < {ms}")).collect();
        if !limits.is_empty() {
            thresholds.insert("http_req_duration{kind:call}".to_owned(), json!(limits));
        }
        if let Some(share) = self.errors {
            thresholds.insert("checks".to_owned(), json!([format!("rate > {}", 1.0 - share)]));
        }
        let stages: Vec<Value> = self
            .stages
            .iter()
            .flat_map(|(from, to, ms)| {
                // A level that is held begins with a jump.
                let jump = json!({"duration": "0s", "target": from.round()});
                [jump, json!({"duration": format!("{ms}ms"), "target": to.round()})]
            })
            .collect();
        let first = self.stages.first().map_or(0.0, |(from, ..)| from.round());
        let scenario = if self.is_open {
            json!({
                "executor": "ramping-arrival-rate",
                "startRate": first,
                "timeUnit": "1s",
                "preAllocatedVUs": self.clients,
                "maxVUs": self.clients.saturating_mul(10),
                "stages": stages,
            })
        } else {
            json!({"executor": "ramping-vus", "startVUs": first, "stages": stages})
        };
        json!({"scenarios": {"load": scenario}, "thresholds": thresholds})
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

const SCRIPT: &str = "\
let session = null;
let next = 0;

function post(message, kind) {
  const headers = session && session.id ? Object.assign({ 'mcp-session-id': session.id }, HEADERS) : HEADERS;
  return http.post(URL, JSON.stringify(message), { headers, tags: { kind } });
}

function open() {
  const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'k6', version: '1' } };
  const reply = post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, 'handshake');
  session = { id: reply.headers['Mcp-Session-Id'] };
  post({ jsonrpc: '2.0', method: 'notifications/initialized' }, 'handshake');
}

function result(reply) {
  const line = String(reply.body).split('\\n').find((line) => line.startsWith('data:') && line.includes('\"jsonrpc\"'));
  try {
    return JSON.parse(line ? line.slice(5) : reply.body).result;
  } catch (error) {
    return undefined;
  }
}

export default function () {
  if (!session) open();
  const call = CALLS[next % CALLS.length];
  next += 1;
  const reply = post({ jsonrpc: '2.0', id: next, method: 'tools/call', params: call }, 'call');
  check(reply, { answered: (reply) => { const value = result(reply); return value !== undefined && !value.isError; } });
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_has_the_calls_the_stages_and_the_limits() {
        let script = K6Script {
            url: "http://127.0.0.1:3000/mcp".to_owned(),
            headers: vec!["Authorization".to_owned()],
            calls: vec![K6Call { tool: "echo".to_owned(), arguments: json!({"text": "</script>"}), weight: 2 }],
            is_open: true,
            stages: vec![(50.0, 50.0, 10_000)],
            clients: 4,
            percentiles: vec![(95.0, 200.0)],
            errors: Some(0.01),
            protocol: "2025-11-25".to_owned(),
        }
        .render();
        for part in
            ["\"ramping-arrival-rate\"", "\"p(95) < 200\"", "\"rate > 0.99\"", "__ENV.AUTHORIZATION", "tools/call"]
        {
            assert!(script.contains(part), "{part}\n{script}");
        }
        assert_eq!(script.matches("\"name\": \"echo\"").count(), 2);
    }
}
