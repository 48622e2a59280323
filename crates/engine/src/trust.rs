//! Trust declarations of a suite, checked against the messages of a case.
//!
//! Every caller of tools adds to the trace of the record, steps and acts here, agents by themselves; the trace is
//! judged once, when the case is over.

use mcprove_judge::trust::{RequestClaim, TraceEvent, coverage, flows_masked, widenings};
use mcprove_model::{
    Case, Direction, FrameKind, Negotiation, Outcome, Redactor, Security, Verdict, WirePart, bounded_json,
};
use serde_json::Value;

use crate::conversation::Conversation;
use crate::record::CaseRecord;

/// Takes down a call and its result, where the suite declares a boundary.
pub(crate) fn trace(server: &str, tool: &str, args: &Value, outcome: &Outcome, talk: &mut Conversation<'_>) {
    if declared(talk.case).is_none_or(|security| security.trust_boundary.is_none()) {
        return;
    }
    let trace = &mut talk.record.trace;
    let call = trace.iter().filter(|event| matches!(event, TraceEvent::Call(_))).count();
    trace.push(TraceEvent::call(server, tool, args.clone()));
    if let Outcome::Result(result) = outcome {
        trace.push(TraceEvent::result(call, result.clone()));
    }
}

/// Judges the messages of a case against the declarations of its suite; a finding fails a case that passed.
pub(crate) fn judged(verdict: Verdict, case: &Case, record: &mut CaseRecord) -> Verdict {
    let Some(security) = declared(case) else { return verdict };
    let before = record.findings.len();
    if let Some(boundary) = &security.trust_boundary {
        let secrets = case.server.iter().flat_map(|server| server.secrets.iter().map(String::as_str));
        let redactor = Redactor::new(secrets);
        let mask = |text: &str| redactor.text(text).into_owned();
        record.findings.extend(flows_masked(&record.trace, Some(boundary), &mask));
    }
    if let Some(negotiation) = &security.capability_negotiation {
        add_widenings(negotiation, case, record);
    }
    let fails = record.findings[before..].iter().any(|finding| finding.severity.fails());
    if fails && verdict == Verdict::Passed { Verdict::Failed } else { verdict }
}

fn add_widenings(negotiation: &Negotiation, case: &Case, record: &mut CaseRecord) {
    let mut claims = claims(record);
    if negotiation.negotiated.is_none() && !claims.iter().any(|claim| claim.handshake) {
        claims.insert(0, offered(case));
    }
    let (target, negotiated) = (negotiation.target.as_str(), negotiation.negotiated.as_deref());
    let found = widenings(target, negotiated, &claims).into_iter().chain(coverage(target, negotiated, &claims).note());
    let place = case.suite.as_ref().map(|suite| suite.source.place(negotiation.span));
    let placed = found.map(|finding| match &place {
        Some(place) => finding.at(place.clone()),
        None => finding,
    });
    record.findings.extend(placed);
}

/// The claims of every request of the case, as it was sent.
fn claims(record: &CaseRecord) -> Vec<RequestClaim> {
    let sent = record.frames().iter().filter(|(_, frame)| {
        frame.direction == Direction::Sent && frame.kind == FrameKind::Request && frame.part == WirePart::Message
    });
    let messages = sent.filter_map(|(session, frame)| Some((session, bounded_json::parse(&frame.body)?)));
    messages
        .enumerate()
        .map(|(position, (session, message))| RequestClaim::of_message(session.to_string(), position, &message))
        .collect()
}

/// The client's real offer to the case's own server: the claims of the first request of its session, though another
/// case may have made it.
fn offered(case: &Case) -> RequestClaim {
    let client = case.server.as_ref().map(|server| &server.client);
    let keys = client.map_or_else(Vec::new, |client| {
        let offers = [
            ("elicitation", client.elicitation.is_some()),
            ("roots", client.roots.is_some()),
            ("sampling", !client.sampling.is_empty()),
        ];
        offers.into_iter().filter(|(_, is_offered)| *is_offered).map(|(name, _)| name.to_owned()).collect()
    });
    RequestClaim {
        session: "0".to_owned(),
        position: 0,
        request: "the first request".to_owned(),
        handshake: true,
        capabilities: Some(keys),
    }
}

fn declared(case: &Case) -> Option<&Security> {
    case.suite.as_ref().map(|suite| &suite.security)
}
