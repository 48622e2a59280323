//! Secrets, kept out of everything that is shown or written.
//!
//! A value that came from the environment is masked wherever it is in an event, before any listener sees it. Masking works
//! on bytes: in every form a server sends a secret in (`redact/forms.rs`), below every layer of escapes (`redact/view.rs`),
//! in linear time (`redact/search.rs`). Texts that were shortened (`…`) are masked where the cut went through a secret.

mod forms;
mod parts;
mod search;
mod view;

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;

use crate::{
    AgentRecord, CallRecord, CaseFinished, CaseStarted, Connected, Edit, Event, Evidence, Finding, Fix, Frame,
    LoadRecord, Place, RunContext, RunFinished, RunStarted, SharedHeaders, Snapshot, TextPlace, Verdict, WirePart,
    WirePlace,
};
use search::Search;

/// Replacement for a secret.
const MASK: &str = "***";

/// Secrets with more bytes than this in all are not looked for in rare encodings and in what is encoded twice, which triples the
/// memory.
const THOROUGH: usize = 32 << 10;

/// Maximum number of searches of a string, since a mask and its neighbours may spell a secret.
const ROUNDS: usize = 8;

/// Keys that stay although a secret is called the same, such as the value of a variable that names an environment: of the
/// protocol, of JSON Schema and of our own output. Ascending.
const WORDS: &[&str] = &[
    "additionalProperties",
    "annotations",
    "arguments",
    "boolean",
    "capabilities",
    "content",
    "default",
    "description",
    "evidence",
    "examples",
    "failed",
    "finding",
    "findings",
    "format",
    "inputSchema",
    "instructions",
    "integer",
    "message",
    "messages",
    "method",
    "number",
    "object",
    "outcome",
    "output",
    "outputSchema",
    "params",
    "passed",
    "pattern",
    "progress",
    "prompts",
    "properties",
    "protocol",
    "protocolVersion",
    "request",
    "required",
    "resources",
    "result",
    "results",
    "server",
    "serverInfo",
    "servers",
    "severity",
    "skipped",
    "status",
    "string",
    "structuredContent",
    "summary",
    "templates",
    "transport",
    "verdict",
    "version",
    "warning",
    "warnings",
];

/// Masks secrets.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    search: Option<Search>,
    /// True if a mask may be a part of a secret.
    has_asterisks: bool,
}

impl Redactor {
    /// Values of fewer characters are words, numbers and flags that are everywhere; they are not masked.
    pub const SHORTEST: usize = 6;

    /// Knows these secrets; values of fewer than six characters are left alone.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let secrets: Vec<&str> = secrets.into_iter().collect();
        let size: usize = secrets.iter().map(|secret| secret.len()).sum();
        let mut forms = BTreeMap::new();
        for secret in secrets {
            forms.append(&mut forms::forms(secret, size <= THOROUGH));
        }
        let has_asterisks = forms.keys().any(|form| form.contains(&b'*'));
        Self { search: Search::new(forms), has_asterisks }
    }

    /// A text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.masked(text.as_bytes()) {
            // Secrets are whole characters, so what is left is too.
            Some(masked) => Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
            None => Cow::Borrowed(text),
        }
    }

    /// True if a secret is in the bytes, in whatever form.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.search.as_ref().is_some_and(|search| !search.stretches(bytes).is_empty())
    }

    /// Bytes without secrets.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.masked(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned)
    }

    /// Masks every secret in every text, number and list of bytes of a JSON value, and in its keys but for the words of
    /// [`WORDS`], which are ours or the protocol's.
    pub fn json(&self, value: &mut Value) {
        if self.search.is_none() {
            return;
        }
        match value {
            Value::String(text) => self.string(text),
            Value::Number(_) => self.printed(value),
            Value::Array(items) if items.len() >= Self::SHORTEST && items.iter().all(is_byte) => self.printed(value),
            Value::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Value::Object(map) => {
                let entries = std::mem::take(map).into_iter().map(|(mut key, mut value)| {
                    if WORDS.binary_search(&key.as_str()).is_err() {
                        self.string(&mut key);
                    }
                    self.json(&mut value);
                    (key, value)
                });
                *map = entries.collect();
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Replaces a value that shows a secret where it is printed.
    fn printed(&self, value: &mut Value) {
        if self.search.as_ref().is_some_and(|search| !search.stretches(value.to_string().as_bytes()).is_empty()) {
            *value = Value::String(MASK.to_owned());
        }
    }

    /// Masks every secret in every text and every frame of an event.
    pub fn event(&self, event: &mut Event) {
        if self.search.is_none() {
            return;
        }
        match event {
            Event::RunStarted(started) => self.run_started(started),
            Event::Finding { finding } => self.finding(finding),
            Event::CaseStarted(started) => self.case_started(started),
            Event::Connected(connected) => self.connected(connected),
            Event::Frame { index: _, session: _, frame } => self.frame(frame),
            Event::CaseFinished(finished) => self.case_finished(finished),
            Event::RunFinished(finished) => {
                let RunFinished { duration_us: _, interrupted: _, hint } = finished;
                self.optional(hint);
            }
        }
    }

    // Everything is taken apart field by field, so that a new field cannot be forgotten here.

    fn run_started(&self, started: &mut RunStarted) {
        let RunStarted {
            format: _,
            program,
            started_unix_ms: _,
            total: _,
            jobs: _,
            strict: _,
            shard: _,
            again,
            context,
        } = started;
        self.string(program);
        if let Some(context) = context {
            let RunContext { command, commit, branch, ci_url, host } = context.as_mut();
            self.optionals([command, commit, branch, ci_url, host]);
        }
        for word in again {
            self.string(word);
        }
    }

    fn case_started(&self, started: &mut CaseStarted) {
        let CaseStarted { index: _, name, file, line: _, trial: _, server, variant, tags } = started;
        self.strings([name, file]);
        self.optionals([server, variant]);
        for tag in tags {
            self.string(tag);
        }
    }

    fn connected(&self, connected: &mut Connected) {
        let Connected { index: _, session: _, server, began_us: _, transport, protocol, server_name, server_version } =
            connected;
        self.strings([transport, protocol, server_name, server_version]);
        self.optionals([server]);
    }

    fn case_finished(&self, finished: &mut CaseFinished) {
        let CaseFinished {
            index: _,
            verdict,
            findings,
            duration_us: _,
            timings: _,
            calls,
            stderr,
            process_end: _,
            snapshots,
            agent,
            load,
        } = finished;
        match verdict {
            Verdict::Skipped { reason } => self.string(reason),
            Verdict::Passed | Verdict::Failed | Verdict::Error => {}
        }
        for finding in findings {
            self.finding(finding);
        }
        for CallRecord { role: _, method, subject, server, fault, request, reply, elapsed_us: _ } in calls {
            self.strings([method, request]);
            self.optionals([subject, server, fault, reply]);
        }
        if let Some(agent) = agent {
            self.agent(agent);
        }
        if let Some(load) = load {
            self.load(load);
        }
        self.string(stderr);
        for Snapshot { kind: _, name, text } in snapshots {
            self.strings([name, text]);
        }
    }

    /// Names of tools and messages of servers are the texts of a load that come from outside.
    fn load(&self, load: &mut LoadRecord) {
        let calls = std::mem::take(&mut load.calls).into_iter().map(|(mut name, mut stats)| {
            self.string(&mut name);
            for errors in stats.errors.values_mut() {
                self.string(&mut errors.example);
            }
            (name, stats)
        });
        load.calls = calls.collect();
        for step in load.limit.iter_mut().flat_map(|limit| &mut limit.steps) {
            self.optionals([&mut step.broken]);
        }
    }

    fn agent(&self, agent: &mut AgentRecord) {
        let AgentRecord {
            model,
            replayed: _,
            prompts,
            answer,
            stop_reason: _,
            turns: _,
            usage: _,
            cost_usd_micros: _,
            recovery,
            scores: _,
        } = agent;
        self.string(model);
        for prompt in prompts {
            self.string(prompt);
        }
        self.optionals([answer, recovery]);
    }

    /// Masks every secret in every text of a finding.
    pub fn finding(&self, finding: &mut Finding) {
        let Finding { rule, severity: _, message, place, expected, actual, seen, diff, evidence, help, fix } = finding;
        if let Some(masked) = self.replaced(rule) {
            *rule = Cow::Owned(masked);
        }
        self.string(message);
        match place {
            Some(Place::Text(TextPlace { file, line: _, column: _, end_line: _, end_column: _, excerpt })) => {
                self.strings([file, excerpt]);
            }
            Some(Place::Wire(WirePlace { server, pointer })) => {
                self.strings([server, pointer]);
            }
            None => {}
        }
        self.optionals([expected, actual, seen, help]);
        if let Some(diff) = diff {
            self.diff(diff);
        }
        if let Some(Evidence { request, reply }) = evidence {
            self.string(request);
            self.optionals([reply]);
        }
        if let Some(Fix { title, edits }) = fix {
            self.string(title);
            for Edit { start: _, end: _, text } in edits {
                self.string(text);
            }
        }
    }

    /// A diff, whose lines begin with a mark each: a secret in several lines is found only without them.
    fn diff(&self, diff: &mut String) {
        self.string(diff);
        let is_of = |mark: char| move |line: &&str| line.starts_with([mark, ' ']);
        let shows = |mark| {
            let lines: Vec<&str> = diff.lines().filter(is_of(mark)).map(|line| &line[1..]).collect();
            lines.len() > 1 && self.finds(lines.join("\n").as_bytes())
        };
        if shows('+') || shows('-') {
            MASK.clone_into(diff);
        }
    }

    fn frame(&self, frame: &mut Frame) {
        let Frame { at_us: _, direction: _, part, kind: _, body } = frame;
        match part {
            WirePart::Message | WirePart::Closed => {}
            WirePart::HttpRequest { exchange: _, method, url, headers } => {
                self.strings([method, url]);
                self.headers(headers);
            }
            WirePart::HttpResponse { exchange: _, status: _, headers } => self.headers(headers),
            WirePart::StreamEvent { exchange: _, event } => self.string(event),
        }
        if let Some(masked) = self.masked(body) {
            *body = Bytes::from(masked);
        }
    }

    fn headers(&self, headers: &mut SharedHeaders) {
        let is_clean = |text: &str| self.replaced(text).is_none();
        // Headers without a secret stay shared.
        if headers.iter().all(|(name, value)| is_clean(name) && is_clean(value)) {
            return;
        }
        for (name, value) in headers.to_mut() {
            self.string(name);
            self.string(value);
        }
    }

    fn strings<const N: usize>(&self, texts: [&mut String; N]) {
        for text in texts {
            self.string(text);
        }
    }

    fn optionals<const N: usize>(&self, texts: [&mut Option<String>; N]) {
        for text in texts {
            self.optional(text);
        }
    }

    fn optional(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.string(text);
        }
    }

    fn string(&self, text: &mut String) {
        if let Some(masked) = self.replaced(text) {
            *text = masked;
        }
    }

    fn replaced(&self, text: &str) -> Option<String> {
        match self.text(text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(masked) => Some(masked),
        }
    }

    /// The bytes with every secret masked; `None` when there is none in them.
    fn masked(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let search = self.search.as_ref()?;
        let mut masked = mask(bytes, &search.stretches(bytes))?;
        if !self.has_asterisks {
            return Some(masked);
        }
        for _ in 0..ROUNDS {
            match mask(&masked, &search.stretches(&masked)) {
                Some(again) => masked = again,
                None => return Some(masked),
            }
        }
        // What cannot be masked is withheld.
        Some(MASK.into())
    }
}

fn is_byte(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| u8::try_from(number).is_ok())
}

fn mask(bytes: &[u8], stretches: &[search::Stretch]) -> Option<Vec<u8>> {
    if stretches.is_empty() {
        return None;
    }
    let mut masked = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for (start, end) in stretches {
        masked.extend_from_slice(&bytes[done..*start]);
        masked.extend_from_slice(MASK.as_bytes());
        done = *end;
    }
    masked.extend_from_slice(&bytes[done..]);
    Some(masked)
}

#[cfg(test)]
mod encodings;
#[cfg(test)]
mod tests;
