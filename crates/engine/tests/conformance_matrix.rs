//! The self-test of the conformance rules: the conforming mock is clean in every revision and transport, and each mutation
//! is flagged by its rule and by no other. Everything runs in memory and in virtual time.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use mcprove_engine::{Consent, Endpoint, Pace, ProbeOptions, TokenProbe, authorized, examine, survey};
use mcprove_judge::conformance::{Channel, Graded, RULES, Verdict, judge};
use mcprove_mock::{IssuerOptions, MUTATIONS, Mock, MockOptions, Mutation, conforming};
use mcprove_model::Revision;
use mcprove_wire::{HttpRoute, Program};

/// A mock behind a login that does everything right.
const GUARDED: &str = "token-";

/// The endpoint of a mock on one transport.
fn endpoint(mutation: &'static str, channel: Channel) -> Endpoint {
    let issuer = (mutation == GUARDED).then(IssuerOptions::default);
    let mutation = if issuer.is_some() { "" } else { mutation };
    let mock = Mock::new(conforming(), MockOptions { mutation, issuer, ..MockOptions::default() });
    match channel {
        Channel::Stdio => Endpoint::Memory(mock),
        Channel::Http => {
            let is_protected = mutation.starts_with("auth-");
            let token = ("authorization".to_owned(), "Bearer mcprove-good-token".to_owned());
            Endpoint::Http {
                route: HttpRoute::Memory(mock.http_connections()),
                url: "http://127.0.0.1/mcp".to_owned(),
                headers: if is_protected { vec![token] } else { Vec::new() },
            }
        }
    }
}

/// The verdicts on a mutation; hints are put to the test where the mutation is about one.
fn verdicts(mutation: &'static str, revision: Revision, channel: Channel) -> Vec<Graded> {
    let rule = MUTATIONS.iter().find(|known| known.name == mutation).map_or("", |known| known.rule);
    let consent = if rule.ends_with("-hint") { Consent::IncludeWrites } else { Consent::Cautious };
    verdicts_with(mutation, revision, channel, consent)
}

fn verdicts_with(mutation: &'static str, revision: Revision, channel: Channel, consent: Consent) -> Vec<Graded> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let endpoint = endpoint(mutation, channel);
        let issuer = Some("http://127.0.0.1".to_owned());
        let tokens = mutation.starts_with(GUARDED).then(|| TokenProbe { issuer, ..TokenProbe::default() });
        let options = ProbeOptions { consent, tokens, ..ProbeOptions::default() };
        let endpoint = authorized(endpoint, &options).await.expect("a token");
        let survey = survey(&endpoint, &options).await.expect("a survey");
        let evidence = examine(&endpoint, revision, &survey, &options).await.expect("evidence");
        judge(&evidence, |_| true)
    })
}

fn describe(graded: &[Graded]) -> String {
    let mut text = String::new();
    for one in graded.iter().filter(|one| matches!(one.verdict, Verdict::Fail | Verdict::Warn)) {
        let _ = writeln!(text, "    {} {}", one.verdict.word(), one.rule.id);
        for violation in &one.violations {
            let _ = writeln!(text, "      {} {}", violation.clause, violation.message);
            if std::env::var_os("MATRIX_DETAIL").is_some() {
                let _ = writeln!(text, "        > {:?}\n        < {:?}", violation.request, violation.reply);
            }
        }
    }
    text
}

/// A server that answers nothing for longer than a reply may take, and then everything.
const SLOW: &str = r#"
import json, sys, time
time.sleep(0.6)
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        v = m["params"]["protocolVersion"]
        known = v in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
        r = {"protocolVersion": v if known else "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
    elif "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
"#;

#[test]
fn a_server_that_starts_slowly_is_given_the_time() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let args = vec!["-c".to_owned(), SLOW.to_owned()];
    let program = Program { command: "python3".to_owned(), args, env: Vec::new(), cwd: None, sandbox: None };
    let pace = Pace { start: Duration::from_secs(30), timeout: Duration::from_millis(400), ..Pace::default() };
    let options = ProbeOptions { pace, ..ProbeOptions::default() };
    let survey = runtime.block_on(survey(&Endpoint::Process(program), &options)).expect("a survey");
    let legacy: Vec<Revision> = Revision::ALL.into_iter().filter(|revision| *revision < Revision::NEWEST).collect();
    assert_eq!(survey.served, legacy);
    assert!(survey.pace.start < pace.start, "the server is known to start sooner");
}

const CHANNELS: [Channel; 2] = [Channel::Stdio, Channel::Http];

#[test]
fn the_conforming_mock_is_clean_everywhere() {
    let mut wrong = String::new();
    let mut exercised: BTreeSet<&str> = BTreeSet::new();
    for revision in Revision::ALL {
        for channel in CHANNELS {
            for consent in [Consent::Cautious, Consent::IncludeWrites] {
                let graded = verdicts_with("", revision, channel, consent);
                exercised.extend(graded.iter().filter(|one| one.verdict == Verdict::Pass).map(|one| one.rule.id));
                let text = describe(&graded);
                if !text.is_empty() {
                    let _ = writeln!(wrong, "  {revision} {} {consent:?}:\n{text}", channel.as_str());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "findings about a conforming server:\n{wrong}");
    // A rule that is never put to the test would be clean for nothing. Protected servers and processes have tests below.
    let idle: Vec<&str> = RULES
        .iter()
        .map(|rule| rule.id)
        .filter(|id| !exercised.contains(id) && !id.starts_with("mcp-auth-") && !id.starts_with("mcp-token-"))
        .filter(|id| !matches!(*id, "mcp-no-orphans" | "mcp-event-ids" | "mcp-list-changed"))
        .collect();
    assert!(idle.is_empty(), "rules that no conforming server puts to the test: {idle:?}");
}

#[test]
fn a_mock_behind_a_login_is_clean_and_every_rule_about_it_is_put_to_the_test() {
    let mut exercised: BTreeSet<&str> = BTreeSet::new();
    for revision in Revision::ALL {
        let graded = verdicts(GUARDED, revision, Channel::Http);
        exercised.extend(graded.iter().filter(|one| one.verdict == Verdict::Pass).map(|one| one.rule.id));
        assert_eq!(describe(&graded), "", "{revision}");
    }
    let about = |id: &&str| id.starts_with("mcp-auth-") || id.starts_with("mcp-token-");
    let idle: Vec<&str> = RULES.iter().map(|rule| rule.id).filter(about).filter(|id| !exercised.contains(id)).collect();
    assert!(idle.is_empty(), "{idle:?}");
}

fn applies(mutation: &Mutation, revision: Revision, channel: Channel) -> bool {
    (mutation.revisions.0..=mutation.revisions.1).contains(&revision)
        && mutation.transport.is_none_or(|transport| transport == channel.as_str())
        && !mutation.needs_process
}

/// True for the first and the last revision of a mutation; `MATRIX=full` runs those between them, too.
fn is_end(mutation: &Mutation, revision: Revision) -> bool {
    revision == mutation.revisions.0 || revision == mutation.revisions.1
}

#[test]
fn each_mutation_is_flagged_by_its_rule_and_no_other() {
    let only = std::env::var("MUTATION").ok();
    let is_full = std::env::var_os("MATRIX").is_some();
    let mut wrong = String::new();
    let mut cells = 0;
    for mutation in MUTATIONS.iter().filter(|mutation| only.as_deref().is_none_or(|only| only == mutation.name)) {
        for revision in Revision::ALL {
            for channel in CHANNELS {
                if !applies(mutation, revision, channel) || !(is_full || is_end(mutation, revision)) {
                    continue;
                }
                cells += 1;
                let graded = verdicts(mutation.name, revision, channel);
                let flagged: Vec<&str> = graded
                    .iter()
                    .filter(|one| matches!(one.verdict, Verdict::Fail | Verdict::Warn))
                    .map(|one| one.rule.id)
                    .collect();
                if flagged != [mutation.rule] {
                    let _ = writeln!(
                        wrong,
                        "  {} in {revision} {} should be flagged by {}:\n{}",
                        mutation.name,
                        channel.as_str(),
                        mutation.rule,
                        describe(&graded)
                    );
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{cells} cells:\n{wrong}");
}

#[test]
fn each_rule_has_a_mutation_and_each_mutation_a_rule() {
    let rules: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    let killed: BTreeSet<&str> = MUTATIONS.iter().map(|mutation| mutation.rule).collect();
    assert_eq!(rules, killed);
    assert_eq!(rules.len(), RULES.len(), "ids are unique");
}

/// A server with very many tools, in one message or in pages.
const HUGE: &str = r#"
import json, sys
count, page = int(sys.argv[1]), int(sys.argv[2])
schema = {"type": "object", "properties": {"p": {"type": "string"}}}
tools = [{"name": f"tool_{n}", "annotations": {"readOnlyHint": True}, "inputSchema": schema} for n in range(count)]
for line in sys.stdin:
    try:
        m = json.loads(line)
    except ValueError:
        continue
    if not isinstance(m, dict) or "id" not in m:
        continue
    result = None
    if m.get("method") == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif m.get("method") == "tools/list":
        start = int((m.get("params") or {}).get("cursor", 0)) if str((m.get("params") or {}).get("cursor", 0)).isdigit() else 0
        result = {"tools": tools[start:start + page]}
        if start + page < count:
            result["nextCursor"] = str(start + page)
    reply = {"jsonrpc": "2.0", "id": m["id"]}
    reply.update({"result": result} if result else {"error": {"code": -32601, "message": "no"}})
    print(json.dumps(reply), flush=True)
"#;

#[test]
fn of_a_very_long_list_the_first_items_are_judged() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for (page, note) in [
        ("6000", "the server lists 6000 tools or more; the first 2000 were judged"),
        ("10", "the tools have more than 50 pages; the first 500 were judged"),
    ] {
        let args = ["-c", HUGE, "6000", page].map(str::to_owned).to_vec();
        let program = Program { command: "python3".to_owned(), args, env: Vec::new(), cwd: None, sandbox: None };
        let pace = Pace { start: Duration::from_secs(30), ..Pace::default() };
        let options = ProbeOptions { pace, ..ProbeOptions::default() };
        let endpoint = Endpoint::Process(program);
        let evidence = runtime.block_on(async {
            let survey = survey(&endpoint, &options).await.expect("a survey");
            examine(&endpoint, Revision::V2025_11_25, &survey, &options).await.expect("evidence")
        });
        assert_eq!(evidence.notes, [note]);
        assert!(evidence.listed("tools").len() <= 2_000);
        let lists = evidence.all_steps().filter(|step| step.method() == "tools/list").count();
        assert!(lists <= 50, "the list is not read again: {lists}");
    }
}
