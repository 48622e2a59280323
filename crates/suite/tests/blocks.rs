//! What every block of `tests/data/good-blocks.yaml` is decoded to. `SNAPSHOTS=overwrite` writes it anew.

use std::fmt::Write as _;
use std::path::PathBuf;

use mcprove_model::{
    Act, CallTool, Case, Expectation, Node, Prompts, Raw, ResourceAsk, ServerSpec, Step, StepCall, Trajectory,
};
use mcprove_suite::load::{LoadOptions, load};

#[test]
fn every_block_is_decoded_to_what_it_says() {
    let options = LoadOptions { environment: &|_| None, known_variables: &[], fixture: None, server: None, ci: false };
    let loaded = load(&[PathBuf::from("tests/data/good-blocks.yaml")], &options);
    assert_eq!(loaded.findings, []);
    let mut text = String::new();
    for case in &loaded.cases {
        show(case, &mut text);
    }
    let expected = snapbox::Data::read_from(&PathBuf::from("tests/data/good-blocks.decoded"), None).raw();
    snapbox::Assert::new().action_env("SNAPSHOTS").eq(text, expected);
}

fn show(case: &Case, text: &mut String) {
    writeln!(text, "{}", case.name).expect("text grows");
    let mut line = |what: &str, value: String| {
        if !value.is_empty() {
            writeln!(text, "    {what}: {value}").expect("text grows");
        }
    };
    line("server", if case.server.is_some() { String::new() } else { "none".to_owned() });
    line("client", case.server.as_deref().map(client).unwrap_or_default());
    for (what, steps) in [("setup", &case.setup), ("verify", &case.verify), ("teardown", &case.teardown)] {
        for step in steps {
            line(what, step_of(step));
        }
    }
    line("act", act(&case.act));
    line("expect", expectation(&case.expect));
}

fn client(server: &ServerSpec) -> String {
    let mut parts = Vec::new();
    for reply in &server.client.sampling {
        parts.push(format!("sampling {:?} by {} until {}", reply.text, reply.model, reply.stop_reason));
    }
    if let Some(reply) = &server.client.elicitation {
        parts.push(format!("elicitation {:?} {}, links: {}", reply.action, reply.content, reply.url));
    }
    parts.join("; ")
}

fn step_of(step: &Step) -> String {
    let call = match &step.call {
        StepCall::Tool { tool, args } => format!("call {} {}", json(tool), json(args)),
        StepCall::Resource { uri } => format!("read {}", json(uri)),
        StepCall::Restart { .. } => "restart".to_owned(),
    };
    let expect = expectation(&step.expect);
    let captures: Vec<String> = step.capture.iter().map(|c| format!("{} = {:?}", c.name, c.path)).collect();
    let allow = if step.allow_error { ", errors allowed" } else { "" };
    format!("{call}{allow}, expects {expect:?}, captures {captures:?}")
}

fn act(act: &Act) -> String {
    match act {
        Act::CallTool(tool) => call(tool),
        Act::Notifications(tool) => format!("notifications of {}", call(tool)),
        Act::Logging(logging) => {
            format!(
                "level {}, {}",
                optional(logging.level.as_ref()),
                logging.call.as_deref().map_or("no call".to_owned(), call)
            )
        }
        Act::Resources(resources) => {
            let ask = match &resources.ask {
                ResourceAsk::List { cursor } => format!("list at {}", optional(cursor.as_ref())),
                ResourceAsk::Templates { cursor } => format!("templates at {}", optional(cursor.as_ref())),
                ResourceAsk::Read { uri } => format!("read {}", json(uri)),
                ResourceAsk::Nothing => "nothing".to_owned(),
            };
            let (subscribe, unsubscribe) =
                (optional(resources.subscribe.as_ref()), optional(resources.unsubscribe.as_ref()));
            let (expected, settle) = (resources.expect_notification, resources.settle);
            format!("subscribe {subscribe}, {ask}, notification {expected:?} in {settle:?}, unsubscribe {unsubscribe}")
        }
        Act::Prompts(Prompts::List { cursor }) => format!("list at {}", optional(cursor.as_ref())),
        Act::Prompts(Prompts::Get { name, arguments }) => format!("get {} {}", json(name), json(arguments)),
        Act::Complete(completion) => {
            let context = optional(completion.context.as_ref());
            format!("complete {} {} {context}", json(&completion.reference), json(&completion.argument))
        }
        Act::Trajectory(Trajectory::Trace(trace)) => format!("trace {}", json(trace)),
        Act::Trajectory(Trajectory::AuditLog(path)) => format!("log {}", json(path)),
        Act::Agent(agent) => format!("agent {}", agent.model.name()),
        Act::Raw(Raw::Message { method, params, notification }) => {
            format!("message {} {}, notification: {notification}", json(method), optional(params.as_ref()))
        }
        Act::Raw(Raw::Text(text)) => format!("text {}", json(text)),
        Act::Compose(_) | Act::Offline(_) | Act::Score(_) => unreachable!("only suite files have them"),
        Act::Raw(Raw::Handshake(_)) => "handshake".to_owned(),
        Act::ToolQuality => "tool quality".to_owned(),
        Act::Scan(_) => unreachable!("no file asks for a scan"),
    }
}

fn call(call: &CallTool) -> String {
    let cancel = call.cancel_after.map(|after| format!(", cancelled after {after:?}")).unwrap_or_default();
    let lose = if call.lose_response { ", its first reply lost" } else { "" };
    format!("call {} {}{cancel}{lose}", json(&call.tool), json(&call.args))
}

fn expectation(expect: &Expectation) -> String {
    let names: Vec<&str> = expect.checks.iter().map(|planned| planned.name).collect();
    let later = expect.templated.as_deref().map(|block| format!(" = {}", json(block))).unwrap_or_default();
    format!("{:?} {}{later}", expect.vocabulary, names.join(" "))
}

fn optional(node: Option<&Node>) -> String {
    node.map_or("-".to_owned(), json)
}

fn json(node: &Node) -> String {
    node.to_json().to_string()
}
