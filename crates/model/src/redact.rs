//! Secrets, kept out of everything that is told.
//!
//! A value that came from the environment is masked wherever it stands in an event, before anyone listens, so that no
//! output has to remember it. What is masked is the value itself and the value as JSON writes it, once and twice: a token
//! with a quote in it looks different inside a frame, and different again in JSON that is text inside a frame. Texts that
//! were shortened (`…`) are masked where the cut went through a secret.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};
use bytes::Bytes;
use memchr::memmem;

use crate::{
    AgentRecord, CallRecord, CaseFinished, CaseStarted, Connected, Edit, Event, Finding, Fix, Frame, Part, Place,
    RunContext, RunFinished, RunStarted, Snapshot, TextPlace, Verdict, WirePlace,
};

/// What stands where a secret stood.
const MASK: &str = "***";

/// Masks secrets.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    search: Option<AhoCorasick>,
    /// What is searched for, sorted; for the parts of it that stand beside a cut.
    patterns: Vec<String>,
}

/// What stands for a part of a text that was left out.
const CUT: &str = "…";

/// Fewer bytes of a secret than this beside a cut tell nothing.
const TELLING: usize = 3;

impl Redactor {
    /// Values of fewer characters are words, numbers and flags that stand everywhere; they are known again nowhere.
    pub const SHORTEST: usize = 6;

    /// Knows these secrets; values of fewer than six characters are left alone.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut patterns: Vec<String> = Vec::new();
        for secret in secrets {
            // The line break at the end of a file's content is no part of a key.
            for value in [secret, secret.trim()] {
                if value.chars().count() >= Self::SHORTEST && !value.trim().is_empty() {
                    let once = as_in_json(value);
                    let ascii = as_in_ascii_json(&once);
                    patterns.extend([value.to_owned(), as_in_json(&once), once, as_in_json(&ascii), ascii]);
                }
            }
        }
        patterns.sort_unstable();
        patterns.dedup();
        if patterns.is_empty() {
            return Self::default();
        }
        // Building fails only beyond four billion states, which no environment can hold.
        Self { search: AhoCorasick::builder().match_kind(MatchKind::Standard).build(&patterns).ok(), patterns }
    }

    /// A text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.masked(text.as_bytes()) {
            // Secrets are whole characters, so what is left is too.
            Some(masked) => Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
            None => Cow::Borrowed(text),
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
        self.string(stderr);
        for Snapshot { kind: _, name, text } in snapshots {
            self.strings([name, text]);
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
        } = agent;
        self.string(model);
        for prompt in prompts {
            self.string(prompt);
        }
        self.optionals([answer, recovery]);
    }

    fn finding(&self, finding: &mut Finding) {
        let Finding { rule, severity: _, message, place, expected, actual, diff, help, fix } = finding;
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
        self.optionals([expected, actual, diff, help]);
        if let Some(Fix { title, edits }) = fix {
            self.string(title);
            for Edit { start: _, end: _, text } in edits {
                self.string(text);
            }
        }
    }

    fn frame(&self, frame: &mut Frame) {
        let Frame { at_us: _, direction: _, part, kind: _, body } = frame;
        match part {
            Part::Message => {}
            Part::HttpRequest { exchange: _, method, url, headers } => {
                self.strings([method, url]);
                self.headers(headers);
            }
            Part::HttpResponse { exchange: _, status: _, headers } => self.headers(headers),
            Part::StreamEvent { exchange: _, event } => self.string(event),
        }
        if let Some(masked) = self.masked(body) {
            *body = Bytes::from(masked);
        }
    }

    fn headers(&self, headers: &mut [(String, String)]) {
        for (name, value) in headers {
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
        let mut masked = self.mask_beside_cuts(bytes);
        // A mask and its neighbours may spell a secret that has asterisks in it. Every round makes the text shorter.
        while let Some(again) = mask_once(search, masked.as_deref().unwrap_or(bytes)) {
            masked = Some(again);
        }
        masked
    }

    /// Masks the beginning of a secret before a cut, and the end of one after it; `None` when there is neither.
    fn mask_beside_cuts(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut masked: Option<Vec<u8>> = None;
        let mut done = 0;
        for cut in memmem::find_iter(bytes, CUT) {
            let before = self.patterns.iter().map(|secret| beginning_at_end(&bytes[done..cut], secret)).max();
            let after = &bytes[cut + CUT.len()..];
            let after = self.patterns.iter().map(|secret| end_at_beginning(after, secret)).max();
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            if before == 0 && after == 0 {
                continue;
            }
            let text = masked.get_or_insert_default();
            text.extend_from_slice(&bytes[done..cut - before]);
            text.extend_from_slice(if before > 0 { MASK.as_bytes() } else { b"" });
            text.extend_from_slice(CUT.as_bytes());
            text.extend_from_slice(if after > 0 { MASK.as_bytes() } else { b"" });
            done = cut + CUT.len() + after;
        }
        if let Some(text) = &mut masked {
            text.extend_from_slice(&bytes[done..]);
        }
        masked
    }
}

/// How many bytes at the end of a text are the beginning of a secret.
fn beginning_at_end(text: &[u8], secret: &str) -> usize {
    let lengths = telling_lengths(secret.char_indices().map(|(at, _)| at), secret);
    lengths.rev().find(|length| text.ends_with(&secret.as_bytes()[..*length])).unwrap_or_default()
}

/// How many bytes at the beginning of a text are the end of a secret.
fn end_at_beginning(text: &[u8], secret: &str) -> usize {
    let lengths = telling_lengths(secret.char_indices().rev().map(|(at, _)| secret.len() - at), secret);
    lengths.rev().find(|length| text.starts_with(&secret.as_bytes()[secret.len() - *length..])).unwrap_or_default()
}

/// The lengths of parts of a secret that tell something of it, ascending.
fn telling_lengths(lengths: impl Iterator<Item = usize>, secret: &str) -> std::vec::IntoIter<usize> {
    let all: Vec<usize> = lengths.filter(|length| *length >= TELLING && *length <= secret.len()).collect();
    all.into_iter()
}

/// Masks each stretch that secrets cover, also where they overlap.
fn mask_once(search: &AhoCorasick, bytes: &[u8]) -> Option<Vec<u8>> {
    // Almost no text has a secret in it, and whether it has one is found faster than where they overlap.
    if !search.is_match(bytes) {
        return None;
    }
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    // Matches come in the order of their ends, so a later one may begin before several earlier ones.
    for found in search.find_overlapping_iter(bytes) {
        let mut stretch = (found.start(), found.end());
        while let Some(last) = stretches.pop_if(|last| last.1 > stretch.0) {
            stretch.0 = stretch.0.min(last.0);
        }
        stretches.push(stretch);
    }
    let mut masked = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for (start, end) in stretches {
        masked.extend_from_slice(&bytes[done..start]);
        masked.extend_from_slice(MASK.as_bytes());
        done = end;
    }
    masked.extend_from_slice(&bytes[done..]);
    Some(masked)
}

/// How many JSON writers put a text that is not plain ASCII.
fn as_in_ascii_json(escaped: &str) -> String {
    let mut ascii = String::with_capacity(escaped.len());
    for c in escaped.chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            let mut units = [0; 2];
            ascii.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    ascii
}

/// A text as it stands between the quotes of a JSON string.
fn as_in_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
