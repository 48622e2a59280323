//! A client of mcprove's own that plays scenarios: correct by default, with a deviation, or with one rule broken.

mod behaviour;
mod link;
mod mutation;
mod session;

use mcprove_model::Era;
use mcprove_suite::scenario_file::{Scenario, ScenarioTransport, ScriptedCall};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::play::Player;
use super::servers::HostServers;
use behaviour::Behaviour;
pub use mutation::{CLIENT_MUTATIONS, ClientMutation};
use session::{Called, ClientSession, Identity};

/// More retries than a sane client makes.
const MANY: u32 = 10;
/// The signal that a crash ends with.
const ABORTED: i32 = 6;

/// A scripted client.
pub(super) struct ScriptedClient {
    behaviour: Behaviour,
    identity: Identity,
    transports: Vec<(String, ScenarioTransport, Option<String>)>,
    calls: Vec<ScriptedCall>,
    /// Canaries that it has read.
    canaries: Vec<String>,
}

impl ScriptedClient {
    pub(super) fn new(scenario: &Scenario, player: &Player) -> Self {
        let scripted = &scenario.scripted;
        let deviations: &[String] = if matches!(player, Player::Bad) { &scripted.bad } else { &[] };
        let mutation = match player {
            Player::Mutant(name) => name,
            Player::Good | Player::Bad | Player::Program(_) => "",
        };
        let capabilities = scripted.declares.iter().map(|name| (name.clone(), json!({})));
        let identity = Identity {
            era: if scripted.modern { Era::Modern } else { Era::Legacy },
            capabilities: Value::Object(capabilities.collect()),
            mutation,
        };
        let servers = scenario.servers.iter();
        Self {
            behaviour: Behaviour::new(deviations),
            identity,
            transports: servers.map(|server| (server.name.clone(), server.transport, server.token.clone())).collect(),
            calls: scripted.calls.clone(),
            canaries: Vec::new(),
        }
    }

    /// Plays the scenario; the signal that ended it, if it crashed.
    pub(super) async fn run(mut self, servers: &mut HostServers) -> Option<i32> {
        let mut sessions = Vec::new();
        let leaked =
            self.transports.iter().find_map(|(.., token)| token.clone()).filter(|_| self.behaviour.leaks_token);
        for (number, (_, transport, token)) in self.transports.clone().into_iter().enumerate() {
            let token = leaked.clone().or(token);
            let mut session = ClientSession::new(number, transport, self.identity.clone(), token);
            session.open(servers, &self.behaviour).await;
            self.canaries.extend(session.take_canaries());
            sessions.push(session);
        }
        for call in self.calls.clone() {
            let wanted = call.server.as_deref();
            let at = self.transports.iter().position(|(name, ..)| Some(name.as_str()) == wanted).unwrap_or(0);
            if self.call(&mut sessions[at], servers, &call).await == Called::Crashed {
                return Some(ABORTED);
            }
        }
        for session in sessions {
            session.close().await;
        }
        None
    }

    /// Makes a call, with all that a failure asks for.
    async fn call(&mut self, session: &mut ClientSession, servers: &mut HostServers, call: &ScriptedCall) -> Called {
        let mut tool = call.tool.clone();
        let mut args = call.args.clone();
        if self.behaviour.obeys
            && let (Some(canary), Some(map)) = (self.canaries.first(), args.as_object_mut())
        {
            map.insert("note".to_owned(), json!(canary));
        }
        sleep(call.after).await;
        let mut left = self.behaviour.retries;
        loop {
            session.refresh_list(servers, &self.behaviour).await;
            let called = session.call_tool(servers, &tool, &args, &self.behaviour).await;
            self.canaries.extend(session.take_canaries());
            let wait = match called {
                Called::Done | Called::Crashed => return called,
                // Asking again does not bring a new token.
                Called::Refused if self.behaviour.retries <= MANY => return Called::Done,
                Called::Limited(wait) => {
                    if self.behaviour.honours_retry_after {
                        wait
                    } else {
                        self.behaviour.backoff
                    }
                }
                Called::Unsuitable => {
                    if self.behaviour.relists {
                        session.list(servers, &self.behaviour).await;
                        let Some((name, more)) = session.nearest_tool(&tool, &args) else { return Called::Done };
                        if name == tool && more == args {
                            return Called::Done;
                        }
                        (tool, args) = (name, more);
                        self.behaviour.backoff
                    } else {
                        self.behaviour.backoff
                    }
                }
                Called::Failed | Called::Silent | Called::Lost | Called::Refused => self.behaviour.backoff,
            };
            if self.behaviour.crashes {
                return Called::Crashed;
            }
            if left == 0 {
                return Called::Done;
            }
            left -= 1;
            sleep(wait).await;
        }
    }
}
