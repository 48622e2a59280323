//! An agent: a model in a loop with the tools of servers. Whatever happens is an outcome of its case.
//!
//! `agent_loop.rs` is the loop, `model_source.rs` the source of the model's answers, `dispatch.rs` makes the calls it
//! asks for; `injection.rs` decides which of them a fault answers; `judging.rs` turns what happened into findings.

mod agent_loop;
mod cassette;
mod dispatch;
mod envelope;
mod injection;
mod join_all;
mod judging;
mod keys;
mod live_model;
mod model_source;
mod price;
mod script;
mod toolbox;
mod transcript;

use mcprove_judge::trust::TraceEvent;
use mcprove_model::{Agent, Case, Finding, Node, Outcome, Verdict};
use mcprove_suite::template::Variables;
use mcprove_wire::Session;
use tokio::time::Instant;

use crate::case_run::{CaseContext, interrupted};
use crate::conversation::{self, Conversation, ExtraSessions};
use crate::pipelining::Pipeline;
use crate::record::CaseRecord;
use crate::{calls, expectations, steps};
pub(crate) use cassette::{FOLDER, write_cassette};
pub(crate) use judging::same_function;
pub use keys::{MissingKey, missing_keys};
pub(crate) use price::cost_usd_micros;

use injection::Injection;
use model_source::ModelSource;
use toolbox::Toolbox;
use transcript::Transcript;

/// Everything that a run of an agent works with.
pub(crate) struct AgentCase<'a> {
    pub(crate) case: &'a Case,
    pub(crate) agent: &'a Agent,
    /// Which repetition this is, from 1.
    pub(crate) trial: u32,
    pub(crate) variables: &'a mut Variables,
    pub(crate) record: &'a mut CaseRecord,
    pub(crate) context: &'a CaseContext,
    pub(crate) deadline: Instant,
    /// The numbers of its sessions in the record.
    pub(crate) numbers: Vec<usize>,
    /// Sessions of steps with servers that the agent is not given.
    pub(crate) others: ExtraSessions,
    /// Nothing: an agent shares its sessions with no other case.
    pub(crate) pipeline: Pipeline,
}

/// Runs an agent from its first session to its verdict.
pub(crate) async fn run(mut talk: AgentCase<'_>) -> Verdict {
    if let Some(budget) = talk.agent.budget.time_budget {
        talk.deadline = Instant::now() + budget;
    }
    let mut stop = talk.context.stop.clone();
    let mut sessions = Vec::new();
    let ended = tokio::select! {
        biased;
        () = stop.stopped() => None,
        ended = run_agent(&mut talk, &mut sessions) => Some(ended),
    };
    for (session, number) in sessions.into_iter().zip(std::mem::take(&mut talk.numbers)) {
        talk.record.closed_session(number, session.close().await);
    }
    std::mem::take(&mut talk.others).close(talk.record).await;
    talk.record.mark(|timings| &mut timings.teardown);
    match ended {
        Some(Ended::Judged) => talk.record.verdict(talk.context.strict),
        Some(Ended::Error) => Verdict::Error,
        None => interrupted(),
    }
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Its findings say whether it passed.
    Judged,
    /// It could not be run.
    Error,
}

async fn run_agent(talk: &mut AgentCase<'_>, sessions: &mut Vec<Session>) -> Ended {
    for server in &talk.agent.servers {
        match talk.context.opener.open(&server.spec, talk.variables, talk.deadline).await {
            Ok(session) => {
                talk.record.mark_opened(&session);
                talk.numbers.push(talk.record.opened_at(&session, Some(&server.name)));
                sessions.push(session);
            }
            Err(failure) => {
                talk.record.mark(|timings| &mut timings.handshake);
                talk.record.not_opened(*failure);
                return Ended::Error;
            }
        }
    }
    let ready_at = Instant::now();
    let Ok(_permit) = talk.context.acting.acquire().await else { return Ended::Error };
    talk.deadline += ready_at.elapsed();
    talk.record.mark(|timings| &mut timings.waiting);
    let case = talk.case;
    let ready = steps::set_up(&case.setup, &mut talk.steps(sessions)).await;
    talk.record.mark(|timings| &mut timings.setup);
    let ended = if ready { act(talk, sessions).await } else { Ended::Judged };
    steps::tear_down(&case.teardown, &mut talk.steps(sessions)).await;
    ended
}

/// The act itself: tools, faults, the loop, and what is made of it.
async fn act(talk: &mut AgentCase<'_>, sessions: &mut [Session]) -> Ended {
    let Some(mut toolbox) = list_tools(talk, sessions).await else { return Ended::Judged };
    let mut injection = Injection::new(talk.agent);
    injection.describe(&mut toolbox);
    for gate in &talk.agent.gates {
        let further = gate.measure.distractors(toolbox.shown());
        toolbox.offer(further);
    }
    let misplaced = injection.misplaced(&toolbox);
    if !misplaced.is_empty() {
        let place = talk.case.source.place(talk.case.span);
        talk.record.findings.extend(misplaced.into_iter().map(|finding| finding.at(place.clone())));
        return Ended::Error;
    }
    let (expect, problems) = expectations::resolve(talk.case, &talk.case.expect, talk.variables);
    talk.record.findings.extend(problems);
    let files = crate::observe::FilesBefore::read(&expect.checks);
    let mut model_source = match ModelSource::of(talk, &toolbox) {
        Ok(model_source) => model_source,
        Err(finding) => {
            talk.record.findings.push(*finding);
            return Ended::Error;
        }
    };
    let transcript = agent_loop::take(talk, &mut model_source, &toolbox, &mut injection, sessions).await;
    talk.record.mark(|timings| &mut timings.call);
    talk.record.findings.extend(model_source.finish(&transcript));
    let earlier = talk.record.trace.iter().filter(|event| matches!(event, TraceEvent::Call(_))).count();
    talk.record.trace.extend(trace(&transcript, earlier));
    let seen = judging::judge(talk, &transcript, &injection, &expect, files.and_after()).await;
    let Some(seen) = seen else { return Ended::Error };
    let case = talk.case;
    let mut around = talk.steps(sessions);
    steps::capture(&case.capture, "the answer", &seen, &mut around);
    steps::verify(&case.verify, &mut around).await;
    talk.record.mark(|timings| &mut timings.checks);
    Ended::Judged
}

/// The tools of every server; a server that does not list any it says it has is the failure.
async fn list_tools(talk: &mut AgentCase<'_>, sessions: &mut [Session]) -> Option<Toolbox> {
    let mut listed = Vec::new();
    for (server, session) in talk.agent.servers.iter().zip(sessions) {
        let listing = session.list("tools/list", "tools", talk.deadline).await;
        talk.record.findings.extend(listing.findings.iter().cloned());
        let what = format!("`tools/list` of `{}`", server.name);
        let outcome = listing.outcome().cloned().unwrap_or(Outcome::Cancelled);
        if let Some(finding) = calls::no_result(&what, &outcome, None) {
            talk.record.findings.push(finding);
            return None;
        }
        listed.push((server.name.clone(), listing.items));
    }
    Some(Toolbox::new(listed))
}

/// Messages, calls and results as a trace for data-flow checks; `earlier` calls were made before.
fn trace(transcript: &Transcript, earlier: usize) -> Vec<TraceEvent> {
    let mut events: Vec<TraceEvent> = transcript.system.iter().cloned().map(TraceEvent::Prompt).collect();
    for (turn, said) in transcript.turns.iter().enumerate() {
        events.push(TraceEvent::Prompt(said.user.clone()));
        let of_turn =
            |hop: u64| transcript.calls.iter().enumerate().filter(move |(_, c)| c.turn == turn && c.hop == hop);
        let mut hops: Vec<u64> =
            transcript.calls.iter().filter(|call| call.turn == turn).map(|call| call.hop).collect();
        hops.dedup();
        for hop in hops {
            for (_, call) in of_turn(hop) {
                let server = call.server.clone().unwrap_or_default();
                events.push(TraceEvent::call(server, call.tool.clone(), call.args.clone()));
            }
            for (index, call) in of_turn(hop) {
                events.push(TraceEvent::result(earlier + index, call.result.clone()));
            }
        }
    }
    events
}

impl AgentCase<'_> {
    /// The conversation that the steps around the act have, with the server they are for.
    fn steps<'t>(&'t mut self, sessions: &'t mut [Session]) -> Conversation<'t> {
        Conversation {
            case: self.case,
            session: &mut sessions[self.agent.steps_at],
            number: &mut self.numbers[self.agent.steps_at],
            others: &mut self.others,
            opener: &self.context.opener,
            variables: self.variables,
            record: self.record,
            deadline: self.deadline,
            storing: self.context.storing,
            pipeline: &mut self.pipeline,
        }
    }

    /// A text with its templates filled in.
    fn text(&self, node: &Node) -> String {
        conversation::text(node, self.variables)
    }

    fn add(&mut self, finding: Finding) {
        self.record.findings.push(finding);
    }
}
