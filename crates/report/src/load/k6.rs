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
    /// The number of calls after which it ends, of clients that wait for their replies.
    pub calls_in_all: Option<u64>,
    /// The number of calls after which a client opens a new session.
    pub session_calls: Option<u64>,
    /// Limits of the latency as k6 writes them, such as `p(95) < 200`.
    pub latency_limits: Vec<String>,
    /// The limit of the share of calls that succeed, such as `rate > 0.99`.
    pub success_limit: Option<String>,
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
    /// The script. Each virtual user has a session.
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
        let _ = writeln!(out, "// A session is left after this number of calls; 0 is never.");
        let _ = writeln!(out, "const SESSION_CALLS = {};", self.session_calls.unwrap_or(0));
        let mut headers =
            String::from("{ 'content-type': 'application/json', accept: 'application/json, text/event-stream'");
        for name in &self.headers {
            let variable: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
            // A name in JavaScript does not begin with a digit.
            let prefix = if variable.starts_with(|c: char| c.is_ascii_digit()) { "HEADER_" } else { "" };
            let _ = write!(headers, ", {}: __ENV.{prefix}{variable} || ''", json!(name));
        }
        headers.push_str(" }");
        let _ = writeln!(out, "const HEADERS = {headers};\n");
        out.push_str(SCRIPT);
        out
    }

    fn options(&self) -> Value {
        let mut thresholds = serde_json::Map::new();
        if !self.latency_limits.is_empty() {
            thresholds.insert("http_req_duration{kind:call}".to_owned(), json!(self.latency_limits));
        }
        if let Some(limit) = &self.success_limit {
            thresholds.insert("checks".to_owned(), json!([limit]));
        }
        let (unit, per_unit) = if self.is_open { self.time_unit() } else { ("1s", 1.0) };
        let level = |level: f64| (level * per_unit).round();
        let stages: Vec<Value> = self
            .stages
            .iter()
            .flat_map(|(from, to, ms)| {
                // A level that is held begins with a jump.
                let jump = json!({"duration": "0s", "target": level(*from)});
                [jump, json!({"duration": format!("{ms}ms"), "target": level(*to)})]
            })
            .collect();
        let first = self.stages.first().map_or(0.0, |(from, ..)| level(*from));
        let scenario = if let Some(calls) = self.calls_in_all {
            json!({"executor": "shared-iterations", "vus": self.clients, "iterations": calls, "maxDuration": "24h"})
        } else if self.is_open {
            json!({
                "executor": "ramping-arrival-rate",
                "startRate": first,
                "timeUnit": unit,
                "preAllocatedVUs": self.clients,
                "maxVUs": self.clients.saturating_mul(10),
                "stages": stages,
            })
        } else {
            json!({"executor": "ramping-vus", "startVUs": first, "stages": stages})
        };
        json!({"scenarios": {"load": scenario}, "thresholds": thresholds})
    }

    /// The shortest unit of time in which all rates are whole numbers, as k6 wants them; and its seconds.
    fn time_unit(&self) -> (&'static str, f64) {
        let levels = || self.stages.iter().flat_map(|(from, to, _)| [from, to]);
        let is_whole = |seconds: f64| levels().all(|level| (level * seconds - (level * seconds).round()).abs() < 1e-6);
        let units = [("1s", 1.0), ("1m", 60.0), ("1h", 3600.0)];
        units.into_iter().find(|(_, seconds)| is_whole(*seconds)).unwrap_or(("1h", 3600.0))
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

const SCRIPT: &str = "\
let session = null;
let next = 0;

function headers() {
  if (!session) return HEADERS;
  const known = Object.assign({ 'mcp-protocol-version': session.protocol }, HEADERS);
  return session.id ? Object.assign(known, { 'mcp-session-id': session.id }) : known;
}

function post(message, kind) {
  return http.post(URL, JSON.stringify(message), { headers: headers(), tags: { kind } });
}

function open() {
  const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'k6', version: '1' } };
  const reply = post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, 'handshake');
  const value = result(reply);
  session = { id: reply.headers['Mcp-Session-Id'], protocol: (value && value.protocolVersion) || PROTOCOL, calls: 0 };
  post({ jsonrpc: '2.0', method: 'notifications/initialized' }, 'handshake');
}

function close() {
  if (session.id) http.del(URL, null, { headers: headers(), tags: { kind: 'close' } });
  session = null;
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
  if (session && SESSION_CALLS && session.calls >= SESSION_CALLS) close();
  if (!session) open();
  session.calls += 1;
  const call = CALLS[next % CALLS.length];
  next += 1;
  const reply = post({ jsonrpc: '2.0', id: next, method: 'tools/call', params: call }, 'call');
  check(reply, { answered: (reply) => { const value = result(reply); return value !== undefined && !value.isError; } });
}
";

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> K6Script {
        K6Script {
            url: "http://127.0.0.1:3000/mcp".to_owned(),
            headers: vec!["Authorization".to_owned()],
            calls: vec![K6Call { tool: "echo".to_owned(), arguments: json!({"text": "</script>"}), weight: 2 }],
            is_open: true,
            stages: vec![(50.0, 50.0, 10_000)],
            clients: 4,
            calls_in_all: None,
            session_calls: None,
            latency_limits: vec!["p(95) < 200".to_owned()],
            success_limit: Some("rate > 0.99".to_owned()),
            protocol: "2025-11-25".to_owned(),
        }
    }

    #[test]
    fn the_script_has_the_calls_the_stages_and_the_limits() {
        let script = script().render();
        for part in
            ["\"ramping-arrival-rate\"", "\"p(95) < 200\"", "\"rate > 0.99\"", "__ENV.AUTHORIZATION", "tools/call"]
        {
            assert!(script.contains(part), "{part}\n{script}");
        }
        assert_eq!(script.matches("\"name\": \"echo\"").count(), 2);
        let numbered = K6Script { headers: vec!["2fa-token".to_owned()], ..self::script() }.render();
        assert!(numbered.contains("\"2fa-token\": __ENV.HEADER_2FA_TOKEN || ''"), "{numbered}");
    }

    #[test]
    fn slow_rates_and_numbers_of_calls_are_kept() {
        let options = |script: K6Script| script.options()["scenarios"]["load"].clone();
        let slow = options(K6Script { stages: vec![(0.5, 0.5, 10_000)], ..script() });
        assert_eq!((&slow["timeUnit"], &slow["startRate"]), (&json!("1m"), &json!(30.0)));
        let bounded = options(K6Script { is_open: false, calls_in_all: Some(100), ..script() });
        assert_eq!((&bounded["executor"], &bounded["iterations"]), (&json!("shared-iterations"), &json!(100)));
        let renewed = K6Script { session_calls: Some(1), ..script() }.render();
        assert!(renewed.contains("const SESSION_CALLS = 1;"), "{renewed}");
    }
}
