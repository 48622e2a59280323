//! Hosts under bad servers: the corpus of scenarios with a good and a bad client, and a mutant for every client rule.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mcprove_engine::{CLIENT_MUTATIONS, HostOptions, Player, play};
use mcprove_judge::host::{CLIENT_RULES, ClientRuleVerdict, HostEvidence, judge_client, judge_host};
use mcprove_model::{Era, FAULTS, FaultId, Finding, SourceFile};
use mcprove_suite::scenario_file::{Scenario, read};

fn corpus() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/host");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("the corpus").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "yaml"));
    files.sort();
    let mut scenarios = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let (read, findings) = read(&Arc::new(SourceFile::new(file.display().to_string(), text)));
        assert!(findings.is_empty(), "{}: {findings:?}", file.display());
        scenarios.extend(read);
    }
    scenarios
}

fn played(scenario: &Scenario, player: &Player) -> HostEvidence {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let options = HostOptions { pipe: Vec::new(), config: None, key: String::new() };
    runtime.block_on(play(scenario, player, &options)).expect("it is played").0
}

/// Everything that is wrong, apart from notes.
fn findings(scenario: &Scenario, player: &Player) -> Vec<Finding> {
    let evidence = played(scenario, player);
    let mut findings = judge_host(&evidence, &scenario.expect).findings;
    findings.extend(judge_client(&evidence).into_iter().flat_map(|rule| rule.findings));
    findings
}

fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {} {:?}", finding.rule, finding.message, finding.actual)).collect()
}

#[test]
fn the_corpus_has_forty_scenarios_and_every_fault() {
    let scenarios = corpus();
    assert!(scenarios.len() >= 40, "{}", scenarios.len());
    let names: BTreeSet<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    assert_eq!(names.len(), scenarios.len());
    let used: BTreeSet<FaultId> = scenarios
        .iter()
        .flat_map(|scenario| &scenario.servers)
        .flat_map(|server| server.faults.iter().map(|rule| rule.fault.id))
        .collect();
    for row in FAULTS.iter().filter(|row| row.id != FaultId::None) {
        assert!(used.contains(&row.id), "no scenario has the fault `{}`", row.name);
    }
}

#[test]
fn the_good_client_is_clean_in_every_scenario() {
    let mut wrong = Vec::new();
    for scenario in corpus() {
        let found = findings(&scenario, &Player::Good);
        if !found.is_empty() {
            wrong.push(format!("{}: {:#?}", scenario.name, shown(&found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_bad_client_is_found_in_every_scenario() {
    let mut wrong = Vec::new();
    for scenario in corpus() {
        assert!(!scenario.scripted.bad.is_empty() && !scenario.scripted.finds.is_empty(), "{}", scenario.name);
        let found = findings(&scenario, &Player::Bad);
        // A warning alone lets the run pass.
        if !found.iter().any(|finding| finding.fails(false)) {
            wrong.push(format!("{}: it passes: {:#?}", scenario.name, shown(&found)));
        }
        for id in &scenario.scripted.finds {
            if !found.iter().any(|finding| finding.rule == id.as_str()) {
                wrong.push(format!("{}: no {id}: {:#?}", scenario.name, shown(&found)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A scenario that puts every client rule to the test.
fn exercise(modern: bool, http: bool) -> Scenario {
    let text = format!(
        "scenario: exercise
servers:
  files:
    transport: {}
    token: token-of-the-exercise
    offers:
      page_size: 2
      tools:
        - {{ name: search }}
        - {{ name: read }}
        - {{ name: sampled }}
        - {{ name: placed, input_schema: {{ type: object, properties: {{ region: {{ type: string, x-mcp-header: Region }}, note: {{ type: string, x-mcp-header: Note }} }} }} }}
        - {{ name: asked, input_required: {{ requests: {{ who: {{ method: elicitation/create, params: {{ message: Who?, requestedSchema: {{ type: object, properties: {{}} }} }} }} }}, state: s1 }} }}
    faults: [sampled=unexpected-sampling]
scripted:
  protocol: {}
  declares: [elicitation]
  calls: [{{ tool: search }}, {{ tool: placed, args: {{ region: eu }} }}, {{ tool: sampled }}, {{ tool: read }}, {{ tool: search }}, {{ tool: asked }}, {{ tool: read }}]
",
        if http { "http" } else { "stdio" },
        if modern { "modern" } else { "legacy" },
    );
    let (scenarios, findings) = read(&Arc::new(SourceFile::new("exercise.yaml", text)));
    assert!(findings.is_empty(), "{findings:?}");
    scenarios.into_iter().next().expect("a scenario")
}

#[test]
fn every_client_rule_has_a_mutant_that_breaks_exactly_it() {
    let mut wrong = Vec::new();
    let mut killed = BTreeSet::new();
    for (modern, http) in [(false, false), (false, true), (true, false), (true, true)] {
        let scenario = exercise(modern, http);
        let good = judge_client(&played(&scenario, &Player::Good));
        for rule in good.iter().filter(|rule| rule.verdict == ClientRuleVerdict::Broken) {
            wrong.push(format!("good client, modern {modern}, http {http}: {:?}", shown(&rule.findings)));
        }
        let era = if modern { Era::Modern } else { Era::Legacy };
        for mutation in CLIENT_MUTATIONS {
            if mutation.era.is_some_and(|own| own != era) || mutation.http.is_some_and(|own| own != http) {
                continue;
            }
            let graded = judge_client(&played(&scenario, &Player::Mutant(mutation.name)));
            let broken: Vec<_> = graded.iter().filter(|rule| rule.verdict == ClientRuleVerdict::Broken).collect();
            match broken.as_slice() {
                [only] if only.rule.id == mutation.rule => {
                    killed.insert(mutation.rule);
                }
                others => {
                    let others: Vec<_> = others.iter().map(|rule| (rule.rule.id, shown(&rule.findings))).collect();
                    wrong.push(format!(
                        "{} (modern {modern}, http {http}): wanted {}, got {others:?}",
                        mutation.name, mutation.rule
                    ));
                }
            }
        }
    }
    for rule in CLIENT_RULES {
        if !killed.contains(rule.id) {
            wrong.push(format!("no mutant breaks {}", rule.id));
        }
        if rule.title().is_empty() {
            wrong.push(format!("{} has no text in the registry", rule.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "a measurement: run it with `--release --ignored --nocapture`"]
#[expect(clippy::print_stderr, reason = "the measured time")]
fn a_thousand_runs() {
    let scenarios = corpus();
    let began = Instant::now();
    for number in 0..1_000 {
        let scenario = &scenarios[number % scenarios.len()];
        let player = if number % 2 == 0 { Player::Good } else { Player::Bad };
        findings(scenario, &player);
    }
    eprintln!("1000 runs of {} scenarios in {:?}", scenarios.len(), began.elapsed());
}

#[test]
fn the_same_seed_gives_the_same_frames() {
    let scenario = corpus().into_iter().find(|scenario| scenario.name == "flaky").expect("it is there");
    let frames = || {
        let evidence = played(&scenario, &Player::Good);
        evidence.frames.iter().map(|frame| (frame.at_us, frame.body.clone())).collect::<Vec<_>>()
    };
    assert_eq!(frames(), frames());
}
