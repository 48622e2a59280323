//! `negative_path` of a case: invalid requests to the tool it called, whatever the result of that call.

use mcprove_judge::argument_errors;
use mcprove_judge::generate::valid_input;
use mcprove_judge::harm::HarmGuard;
use mcprove_judge::negative::{Probe, Subject};
use mcprove_model::{Act, Finding, NegativePath, Observation, Place, Severity};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::conversation::Conversation;
use crate::discover::tool_name;
use crate::probes::{self, Probed, Probing};
use crate::restart::Restartable;

/// The `negative_path` of a case, in addition to its own call.
pub(crate) fn of(act: &Act) -> Option<&NegativePath> {
    if let Act::CallTool(call) = act { call.negative_path.as_deref() } else { None }
}

/// Makes the probes, adds the result of each request, and offers the counts to targets.
pub(crate) async fn probe(path: &NegativePath, seen: &mut Observation, talk: &mut Conversation<'_>) {
    let (Act::CallTool(call), Some(server)) = (&talk.case.act, &talk.case.server) else { return };
    let (name, args) = (talk.text(&call.tool), talk.json(&call.args));
    let place = talk.place(call.tool.span);
    let told_before = talk.record.findings.len();
    let mut server = Restartable {
        session: &mut *talk.session,
        number: &mut *talk.number,
        opener: talk.opener,
        server,
        variables: &*talk.variables,
        timeout: path.timeout,
    };
    if !server.restore(talk.record).await {
        return;
    }
    let listing = server.session.list("tools/list", "tools", Instant::now() + path.timeout).await;
    let tool = listing.items.iter().find(|tool| tool_name(tool) == name);
    if tool.is_none() {
        let text = format!("the server does not list `{name}`, so what it accepts is not known");
        talk.record.findings.push(Finding::note("negative-path", text));
    }
    let nothing = Value::Null;
    let schema = tool.and_then(|tool| tool.get("inputSchema")).unwrap_or(&nothing);
    let base = base(schema, args);
    let probes: Vec<&'static Probe> = path.checks.iter().filter_map(|name| Probe::find(name)).collect();
    let subject = Subject { tool: &name, schema, base: &base, oversized: path.oversized_bytes };
    let is_listed = tool.is_some();
    // The author of a suite says what is called; nothing is guarded.
    let guard = HarmGuard::off();
    let mut probing =
        Probing { subject, server, record: &mut *talk.record, timeout: path.timeout, is_listed, guard, control: None };
    let probed = probes::make(&probes, &mut probing).await;
    if !path.default_gate {
        // The expectations about the counts decide; the result of each request is the evidence.
        talk.record.findings[told_before..].iter_mut().for_each(|finding| finding.severity = Severity::Note);
    }
    if path.default_gate || !path.counts_probes {
        talk.record.findings.extend(nothing_asked(&name, &probed, is_listed));
    }
    for finding in talk.record.findings[told_before..].iter_mut().filter(|finding| finding.severity.fails()) {
        finding.place.get_or_insert_with(|| Place::Text(place.clone()));
    }
    seen.extra["negative_path"] = json!({
        "checks_run": probed.run,
        "failures": probed.failed,
        "gate_passed": u8::from(probed.passed()),
    });
}

/// Arguments that the schema accepts, to be spoilt one at a time: those of the test if they are such.
fn base(schema: &Value, args: Value) -> Value {
    let is_given = args.as_object().is_some_and(|args| !args.is_empty());
    if is_given && argument_errors(schema, &args).is_ok_and(|errors| errors.is_empty()) {
        args
    } else {
        valid_input(schema, 0).unwrap_or(args)
    }
}

/// A contract of which nothing could be asked is not kept.
fn nothing_asked(name: &str, probed: &Probed, is_listed: bool) -> Option<Finding> {
    if probed.run > 0 {
        return None;
    }
    let text = format!("no probe of `{name}` could be made, so nothing was proved");
    let mut finding = Finding::error("negative-path", text);
    finding.actual = Some(probed.inapplicable.join("\n"));
    Some(finding.help(if is_listed {
        "ask for `unknown_tool`, which is always possible, or give the tool an input schema"
    } else {
        "check the name of the tool: the server does not list it"
    }))
}
