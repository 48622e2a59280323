//! `SEC-060`: what one server said, handed to another server as it is.
//!
//! A flow is found when a later call to a different server carries what a result said, unmodified: the whole text of a
//! content block, a whole string or object of structured content or of JSON text, or 64 characters of one in a row. It
//! must carry enough that is new (`min_length` characters that were neither in the prompt nor in arguments sent before
//! that result), and it is a finding unless every declared clause of the boundary holds. The hop into a required
//! sanitizer and the hop of its output onwards are the intended route; they do not count as flows.

use std::collections::{BTreeMap, HashMap};

use mcprove_model::{Boundary, Finding};
use serde_json::Value;

use super::candidates::{Candidate, What, candidates};
use super::flow::{Carried, Flow, Hop, Unmet};
use super::haystack::{self, Haystack, SentCall};
use super::parts::{self, ValuePart, Want};
use super::prior_text::{self, Moments, Origin, PriorText};
use super::routing::{Piece, Question, Routing, Sanitizing, routings};
use super::trace::{Call, TraceEvent};

/// A trace, sorted by what happened.
#[derive(Debug, Default)]
pub(super) struct Record<'t> {
    pub(super) calls: Vec<&'t Call>,
    pub(super) asked: Vec<SentCall<'t>>,
    pub(super) replies: Vec<Reply<'t>>,
    prompts: Vec<(usize, &'t str)>,
    servers: HashMap<&'t str, usize>,
}

/// A result with its place in the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply<'t> {
    pub(super) position: usize,
    pub(super) call: usize,
    pub(super) result: &'t Value,
}

/// A carried piece with the clauses that do not hold for it; there is at least one.
#[derive(Debug)]
struct Judged {
    candidate: Candidate,
    unmet: Vec<Unmet>,
}

/// The findings of `SEC-060` in a trace: in the order of the calls that carry something, one for each pair of calls.
pub fn flows(trace: &[TraceEvent], boundary: Option<&Boundary>) -> Vec<Finding> {
    flows_masked(trace, boundary, &str::to_owned)
}

/// Like [`flows`]; `mask` takes secrets out of the pieces that are shown.
pub fn flows_masked(trace: &[TraceEvent], boundary: Option<&Boundary>, mask: &dyn Fn(&str) -> String) -> Vec<Finding> {
    carried(trace, boundary).iter().map(|flow| flow.finding(mask)).collect()
}

/// The flows in a trace that nothing declares safe, as data.
pub fn carried(trace: &[TraceEvent], boundary: Option<&Boundary>) -> Vec<Flow> {
    let strict = Boundary::default();
    let boundary = boundary.unwrap_or(&strict);
    let record = Record::read(trace);
    if record.servers.len() < 2 {
        return Vec::new();
    }
    let nested = haystack::nested(&record.asked);
    let haystack = haystack::gather(&record.asked, &nested);
    let mut found = candidates(&record, &haystack, boundary);
    found.retain(|candidate| !allowed_alone(&record, candidate, boundary));
    keep_strange(&mut found, &record, &haystack, boundary.min_length.max(1));
    let judged = unsafe_ones(found, &record, &haystack, boundary);
    tell(judged, &record, &haystack)
}

impl<'t> Record<'t> {
    fn read(trace: &'t [TraceEvent]) -> Self {
        let mut record = Self::default();
        for (position, event) in trace.iter().enumerate() {
            match event {
                TraceEvent::Prompt(text) => record.prompts.push((position, text)),
                TraceEvent::Call(call) => {
                    let next = record.servers.len();
                    let server = *record.servers.entry(&call.server).or_insert(next);
                    record.calls.push(call);
                    record.asked.push(SentCall { position, server, arguments: &call.arguments });
                }
                TraceEvent::Result { call, result } if *call < record.calls.len() => {
                    record.replies.push(Reply { position, call: *call, result });
                }
                // The answer to a call that was never made says nothing about any server.
                TraceEvent::Result { .. } => {}
            }
        }
        record
    }

    pub(super) fn is_sanitizer(&self, call: usize, boundary: &Boundary) -> bool {
        boundary.required_sanitizers.contains(&self.calls[call].tool)
    }

    fn hop(&self, call: usize) -> Hop {
        Hop { call, server: self.calls[call].server.clone(), tool: self.calls[call].tool.clone() }
    }
}

/// True if the pair is listed and nothing else is asked for.
fn allowed_alone(record: &Record<'_>, candidate: &Candidate, boundary: &Boundary) -> bool {
    boundary.required_sanitizers.is_empty() && is_listed(record, candidate.producer, candidate.consumer, boundary)
}

fn is_listed(record: &Record<'_>, from: usize, to: usize, boundary: &Boundary) -> bool {
    let (from, to) = (&record.calls[from].server, &record.calls[to].server);
    boundary.allowed_flows.iter().any(|pair| pair.from == *from && pair.to == *to)
}

/// Drops what carries too little that was not familiar before.
fn keep_strange(found: &mut Vec<Candidate>, record: &Record<'_>, haystack: &Haystack<'_>, min_length: usize) {
    if found.is_empty() {
        return;
    }
    let prompts = record.prompts.iter().map(|(position, text)| (Origin::Prompt, *position, *text));
    let arguments = haystack.texts.iter().map(|told| (Origin::Arguments, record.asked[told.call].position, told.text));
    let value = |(origin, position, text)| prior_text::Given { origin, position, text };
    let values: Vec<prior_text::Given<'_>> = prompts.chain(arguments).map(value).collect();
    let mut open: Vec<&mut Candidate> = found.iter_mut().collect();
    // The beginning of a long text nearly always says enough.
    for limit in [HEAD, usize::MAX] {
        let texts: Vec<Vec<Head<'_>>> = open.iter().map(|candidate| heads(candidate, haystack, limit)).collect();
        let moments =
            |candidate: &Candidate| Moments { said: candidate.said, told: record.asked[candidate.consumer].position };
        let asked: Vec<(&str, Moments)> = open
            .iter()
            .zip(&texts)
            .flat_map(|(candidate, texts)| texts.iter().map(|head| (head.text, moments(candidate))))
            .collect();
        let prior_text = PriorText::learn(&asked, &values);
        let mut unsure = Vec::new();
        for (candidate, texts) in open.into_iter().zip(texts) {
            let moments = moments(candidate);
            let strange: Vec<String> =
                texts.iter().map(|head| prior_text.strange(head.text, head.sure, moments, min_length)).collect();
            let count: usize = strange.iter().map(|text| text.trim().chars().count()).sum();
            candidate.is_strange = count >= min_length && !strange.iter().all(|text| is_ruler(text));
            if !candidate.is_strange && texts.iter().any(|head| head.sure < head.text.len()) {
                unsure.push(candidate);
            }
        }
        open = unsure;
    }
    found.retain(|candidate| candidate.is_strange);
}

/// Number of bytes of a long text that are looked at first.
const HEAD: usize = 1024;

/// The beginning of a text, and how much of it can be judged without the rest.
#[derive(Clone, Copy, Debug)]
struct Head<'t> {
    text: &'t str,
    sure: usize,
}

fn heads<'t>(candidate: &Candidate, haystack: &Haystack<'t>, limit: usize) -> Vec<Head<'t>> {
    let head = |text: &'t str| {
        let cut = &text[..text.floor_char_boundary(limit)];
        // What is familiar may go on over the cut: no further than a window, of at most four bytes a character.
        let sure = if cut.len() < text.len() { cut.len().saturating_sub(prior_text::WINDOW * 4) } else { cut.len() };
        Head { text: cut, sure }
    };
    candidate.texts(haystack).into_iter().map(head).collect()
}

/// Lines drawn with characters: they look alike everywhere and say nothing.
fn is_ruler(text: &str) -> bool {
    let mut drawn: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    if drawn.iter().any(|c| c.is_alphanumeric()) {
        return false;
    }
    drawn.sort_unstable();
    drawn.dedup();
    drawn.len() <= 4
}

/// The candidates for which a declared clause does not hold, with all such clauses.
fn unsafe_ones(
    found: Vec<Candidate>,
    record: &Record<'_>,
    haystack: &Haystack<'_>,
    boundary: &Boundary,
) -> Vec<Judged> {
    let sanitizings = sanitizings(record, haystack, boundary);
    let questions: Vec<Question<'_>> = found
        .iter()
        .map(|candidate| Question {
            piece: match &candidate.what {
                What::Text { told, core, .. } => Piece::Text(&haystack.texts[*told].text[core.clone()]),
                What::Object { told } => Piece::Object(haystack.objects[*told].hash),
            },
            within: match &candidate.what {
                What::Text { told, .. } => haystack.texts[*told].text,
                What::Object { .. } => "",
            },
            said: candidate.said,
            told: record.asked[candidate.consumer].position,
        })
        .collect();
    let routings = routings(&sanitizings, &questions);
    let judged = found.into_iter().zip(routings).map(|(candidate, routing)| {
        let unmet = unmet(record, &candidate, routing, boundary);
        Judged { candidate, unmet }
    });
    judged.filter(|judged| !judged.unmet.is_empty()).collect()
}

fn unmet(record: &Record<'_>, candidate: &Candidate, routing: Routing, boundary: &Boundary) -> Vec<Unmet> {
    let (from, to) = (candidate.producer, candidate.consumer);
    if boundary.allowed_flows.is_empty() && boundary.required_sanitizers.is_empty() {
        return vec![Unmet::Undeclared];
    }
    let mut unmet = Vec::new();
    if !boundary.allowed_flows.is_empty() && !is_listed(record, from, to, boundary) {
        unmet.push(Unmet::Unlisted { reverse_listed: is_listed(record, to, from, boundary) });
    }
    if !boundary.required_sanitizers.is_empty() && routing != Routing::Routed {
        unmet.push(Unmet::Unsanitized { required: boundary.required_sanitizers.clone(), routing });
    }
    unmet
}

/// The calls of required sanitizers, with what they were handed and what they returned.
fn sanitizings<'t>(record: &Record<'t>, haystack: &Haystack<'t>, boundary: &Boundary) -> Vec<Sanitizing<'t>> {
    let mut found: BTreeMap<usize, Sanitizing<'t>> = BTreeMap::new();
    for (call, asked) in record.asked.iter().enumerate() {
        if record.is_sanitizer(call, boundary) {
            let empty = Sanitizing {
                asked: asked.position,
                answered: None,
                texts: Vec::new(),
                objects: Vec::new(),
                result: None,
            };
            found.insert(call, empty);
        }
    }
    for told in &haystack.texts {
        if let Some(sanitizing) = found.get_mut(&told.call) {
            sanitizing.texts.push(told.text);
        }
    }
    for told in &haystack.objects {
        if let Some(sanitizing) = found.get_mut(&told.call) {
            sanitizing.objects.push(told.hash);
        }
    }
    for reply in &record.replies {
        if let Some(sanitizing) = found.get_mut(&reply.call)
            && sanitizing.answered.is_none()
        {
            sanitizing.answered = Some(reply.position);
            sanitizing.result = Some(reply.result);
        }
    }
    found.into_values().collect()
}

/// One flow for each pair of calls: the longest piece, and how many others there are.
fn tell(mut found: Vec<Judged>, record: &Record<'_>, haystack: &Haystack<'_>) -> Vec<Flow> {
    drop_covered(&mut found, record);
    let mut pairs: BTreeMap<(usize, usize), Vec<Judged>> = BTreeMap::new();
    for one in found {
        pairs.entry((one.candidate.consumer, one.candidate.producer)).or_default().push(one);
    }
    let told = pairs.into_iter().filter_map(|((consumer, producer), all)| {
        let by_length = |one: &&Judged| (usize::MAX - one.candidate.length(haystack), one.candidate.pointer(haystack));
        let Judged { candidate: longest, unmet } = all.iter().min_by_key(by_length)?;
        let (carried, piece) = longest.shown(haystack);
        Some(Flow {
            producer: record.hop(producer),
            consumer: record.hop(consumer),
            pointer: longest.pointer(haystack).to_owned(),
            carried,
            piece,
            others: all.iter().filter(|one| !one.candidate.lies_within(longest)).count(),
            unmet: unmet.clone(),
        })
    });
    told.collect()
}

/// Drops pieces that lie within a longer one from the same server: a title that an earlier result had too, the same
/// foot of every page.
fn drop_covered(found: &mut Vec<Judged>, record: &Record<'_>) {
    let server = |candidate: &Candidate| record.asked[candidate.producer].server;
    found.sort_by_key(|Judged { candidate, .. }| {
        let (told, range) = candidate.place();
        (told, server(candidate), range.start, usize::MAX - range.end)
    });
    let mut cover: Option<Candidate> = None;
    found.retain(|Judged { candidate, .. }| {
        let around = cover.as_ref().filter(|cover| candidate.lies_within(cover) && server(candidate) == server(cover));
        let Some(around) = around else {
            cover = Some(candidate.clone());
            return true;
        };
        candidate.producer == around.producer
    });
}

/// The texts of an object that count: its strings at any depth.
pub(super) fn leaf_texts(members: &serde_json::Map<String, Value>) -> Vec<&str> {
    let mut texts = Vec::new();
    for member in members.values() {
        parts::walk(member, Want::Texts, &mut |_, part| {
            if let ValuePart::Text(text) = part {
                texts.push(text.trim());
            }
        });
    }
    texts
}

impl Candidate {
    /// The piece as it is shown.
    fn shown(&self, haystack: &Haystack<'_>) -> (Carried, String) {
        match &self.what {
            What::Text { told, range, .. } => (Carried::Text, haystack.texts[*told].text[range.clone()].to_owned()),
            What::Object { told } => {
                let members = haystack.objects[*told].members;
                (Carried::Object, Value::Object(members.clone()).to_string())
            }
        }
    }
}
