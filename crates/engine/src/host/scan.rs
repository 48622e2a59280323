//! A scenario as a case of the one run path.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcprove_judge::host::{ClientRuleVerdict, HostEvidence, Reaction, judge_client, judge_host};
use mcprove_model::{Case, Connected, Direction, Finding, Frame, FrameKind, ServerSpec, Severity, Target, WirePart};
use mcprove_suite::scenario_file::Scenario;
use mcprove_wire::{Program, classify};
use serde_json::Value;

use super::play::{HostOptions, Player, ScenarioFault, play};
use crate::fuzz::connection::ConnectionLog;
use crate::scan::{Connections, Scan, ScanCase, ScanEnd, ScanFuture, ScanResult, ScanSubject};

/// Options for playing scenarios.
#[derive(Clone, Debug)]
pub struct HostScanOptions {
    /// The client; the program is that of the case's server if absent.
    pub scripted: Option<Player>,
    /// Options of a program.
    pub host: HostOptions,
}

/// Result of a scenario besides its events.
#[derive(Clone, Debug)]
pub struct HostPlayed {
    /// The reactions to faults.
    pub reactions: Vec<Reaction>,
    /// Client rules that were put to the test, and those that were broken.
    pub rules: (usize, usize),
    /// Requests of the client.
    pub requests: usize,
}

/// A case for each scenario; the "server" of a case is the client that is tested.
pub fn plan_host(scenarios: &[Scenario], client: &Arc<ServerSpec>, options: &HostScanOptions) -> Vec<Arc<Case>> {
    let made = scenarios.iter().map(|scenario| {
        let subject = ScanSubject {
            name: &scenario.name,
            server: client,
            fixture: None,
            skip: None,
            tags: scenario.tags.clone(),
            start: scenario.timeout + Duration::from_secs(10),
        };
        let case = subject.case("host", HostScan { scenario: scenario.clone(), options: options.clone() });
        Arc::new(Case { source: Arc::clone(&scenario.source), span: scenario.span, ..Arc::unwrap_or_clone(case) })
    });
    made.collect()
}

/// A scenario that is played to a client.
struct HostScan {
    scenario: Scenario,
    options: HostScanOptions,
}

impl Scan for HostScan {
    fn connections(&self) -> Connections {
        Connections::Own
    }

    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(self.play(case))
    }
}

impl HostScan {
    async fn play(&self, case: ScanCase<'_>) -> ScanEnd {
        let player = match (&self.options.scripted, &case.server.target) {
            (Some(player), _) => player.clone(),
            (None, Target::Stdio { command, args, env, cwd, docker: _ }) => Player::Program(Program {
                command: command.clone(),
                args: args.clone(),
                env: env.clone(),
                cwd: cwd.clone(),
                sandbox: None,
            }),
            (None, _) => return ScanEnd::Skipped("a client is a command".to_owned()),
        };
        let mut stop = case.context.stop.clone();
        let played = tokio::select! {
            biased;
            () = stop.stopped() => return ScanEnd::Interrupted,
            played = play(&self.scenario, &player, &self.options.host) => played,
        };
        case.record.mark(|timings| &mut timings.call);
        let (evidence, stderr) = match played {
            Ok(played) => played,
            Err(fault) => {
                case.record.is_unreachable = true;
                case.record.findings.extend(findings_of(fault));
                return ScanEnd::Judged;
            }
        };
        let judged = judge_host(&evidence, &self.scenario.expect);
        let place = || self.scenario.source.place(self.scenario.span);
        let at = |finding: Finding| if finding.place.is_none() { finding.at(place()) } else { finding };
        case.record.findings.extend(judged.findings.into_iter().map(at));
        let rules = judge_client(&evidence);
        let count = |verdict: ClientRuleVerdict| rules.iter().filter(|rule| rule.verdict == verdict).count();
        let counts = (count(ClientRuleVerdict::Pass), count(ClientRuleVerdict::Broken));
        for rule in rules {
            case.record.findings.extend(rule.findings.into_iter().map(at));
        }
        let reactions = judged.reactions;
        let notes = reactions.iter().map(|reaction| Finding::new("host-reaction", Severity::Note, reaction.line()));
        case.record.findings.extend(notes);
        let requests = evidence.frames.iter().filter(|frame| frame.is_request()).count();
        case.record.take_said(log(evidence, stderr));
        case.record.scanned = Some(ScanResult::Host(HostPlayed { reactions, rules: counts, requests }));
        ScanEnd::Judged
    }
}

fn findings_of(fault: ScenarioFault) -> Vec<Finding> {
    match fault {
        ScenarioFault::Scenario(findings) => findings,
        ScenarioFault::Client(message, help) => vec![Finding::error("host-not-started", message).help(help)],
        ScenarioFault::Machine(message) => {
            let text = format!("the servers of the scenario could not be started: {message}");
            vec![Finding::error("host-not-started", text)]
        }
    }
}

/// The conversations for the event log: a session for each connection or HTTP session of each server.
fn log(evidence: HostEvidence, stderr: String) -> ConnectionLog {
    let mut log = ConnectionLog { stderr, ..ConnectionLog::default() };
    let mut numbers: BTreeMap<(usize, u32), u32> = BTreeMap::new();
    for frame in evidence.frames.into_iter().filter(|frame| !frame.in_batch) {
        let server = &evidence.servers[frame.server];
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let number = *numbers.entry((frame.server, frame.session)).or_insert_with(|| {
            log.connected.push(Connected {
                index: 0,
                session: next,
                server: Some(server.name.clone()),
                began_us: 0,
                transport: server.channel.as_str().to_owned(),
                protocol: String::new(),
                server_name: server.name.clone(),
                server_version: String::new(),
            });
            next
        });
        let is_result = frame.direction == Direction::Received;
        if let Some(agreed) = frame.json.as_ref().filter(|_| is_result).and_then(agreed)
            && let Some(connected) = log.connected.get_mut(number as usize)
            && connected.protocol.is_empty()
        {
            agreed.clone_into(&mut connected.protocol);
        }
        let kind = if frame.part == WirePart::Message { classify(&frame.body).kind() } else { FrameKind::Transport };
        let frame = Frame { at_us: frame.at_us, direction: frame.direction, part: frame.part, kind, body: frame.body };
        log.frames.push((number, frame));
    }
    log
}

fn agreed(message: &Value) -> Option<&str> {
    message.get("result")?.get("protocolVersion")?.as_str()
}
