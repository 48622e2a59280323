//! The servers of a scenario, and everything that goes over the wire to them.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mcprove_judge::conformance::Channel;
use mcprove_judge::host::{HostServer, HostStrike};
use mcprove_mock::{MUTATIONS, Mock, MockOptions, Offer, from_node, load};
use mcprove_model::{FaultId, Finding, canary, nearest};
use mcprove_suite::scenario_file::{Offers, Scenario, ScenarioServer, ScenarioTransport};
use mcprove_wire::{HttpRelay, Limits, Listener, Tap, Upstream, accept_pipe, relay_lines};
use tokio::io::DuplexStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::config::{ClientServer, Place};
use super::observed::Observed;

/// The command that a client starts as its server, without the address and the key.
pub(super) type PipeCommand = Vec<String>;

/// The servers of a scenario at work.
pub(super) struct HostServers {
    began: Instant,
    servers: Vec<RunningServer>,
    observed: Arc<Mutex<Observed>>,
    tasks: JoinSet<()>,
    seed: u64,
}

struct RunningServer {
    name: String,
    transport: ScenarioTransport,
    mock: Mock,
    tools: Vec<String>,
    rules: Vec<mcprove_model::FaultRule>,
    token: Option<String>,
    tap: Tap,
    sessions: Arc<AtomicU32>,
    relay: Option<Arc<HttpRelay>>,
}

impl HostServers {
    /// Makes the servers; nothing listens yet.
    pub(super) fn new(scenario: &Scenario) -> Result<Self, Vec<Finding>> {
        let began = Instant::now();
        let observed = Arc::new(Mutex::new(Observed::default()));
        let mut tasks = JoinSet::new();
        let mut servers = Vec::new();
        for (number, server) in scenario.servers.iter().enumerate() {
            let offer = offer(scenario, server)?;
            let tools = match &offer {
                Offer::Manifest(manifest) => manifest.tool_names().map(str::to_owned).collect(),
                Offer::Recording(_) => Vec::new(),
            };
            let mutation = mutation(scenario, server)?;
            let options =
                MockOptions { faults: server.faults.clone(), seed: scenario.seed, mutation, ..MockOptions::default() };
            let (tap, mut messages) = Tap::pair();
            let kept = Arc::clone(&observed);
            tasks.spawn(async move {
                while let Some(message) = messages.recv().await {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).add(number, message);
                }
            });
            servers.push(RunningServer {
                name: server.name.clone(),
                transport: server.transport,
                mock: Mock::new(offer, options),
                tools,
                rules: server.faults.clone(),
                token: server.token.clone(),
                tap: tap.revealing_since(began),
                sessions: Arc::default(),
                relay: None,
            });
        }
        unknown_tool(scenario, &servers)?;
        Ok(Self { began, servers, observed, tasks, seed: scenario.seed })
    }

    /// Microseconds since the beginning.
    pub(super) fn now_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Listens for clients in other processes, and says how they reach the servers.
    pub(super) async fn listen(&mut self, pipe: &PipeCommand, key: &str) -> std::io::Result<Vec<ClientServer>> {
        let mut places = Vec::new();
        for server in &mut self.servers {
            let limits = Limits::default();
            let place = match server.transport {
                ScenarioTransport::Http => {
                    let upstream = Upstream::local(server.mock.http_connections());
                    let relay = HttpRelay::listen("127.0.0.1:0", upstream, server.tap.clone(), limits).await?;
                    let url = relay.url();
                    self.tasks.spawn(async move { relay.run(std::future::pending(), |_| {}).await });
                    Place::Url(url)
                }
                ScenarioTransport::Stdio => {
                    let listener = Listener::bind("127.0.0.1:0").await?;
                    let mut words = pipe.clone();
                    words.extend([listener.address().to_string(), key.to_owned()]);
                    let (mock, tap, sessions) = (server.mock.clone(), server.tap.clone(), Arc::clone(&server.sessions));
                    let key = key.to_owned();
                    self.tasks.spawn(async move {
                        let mut connections = JoinSet::new();
                        while let Ok(stream) = accept_pipe(&listener, &key).await {
                            let session = sessions.fetch_add(1, Ordering::Relaxed);
                            let (mock, tap) = (mock.clone(), tap.clone());
                            connections.spawn(async move {
                                let near = served(&mock);
                                relay_lines(stream, near, &tap, session, limits).await;
                            });
                        }
                    });
                    Place::Command(words)
                }
            };
            places.push(ClientServer { name: server.name.clone(), place, token: server.token.clone() });
        }
        Ok(places)
    }

    /// Connects a client in this program to a server over pipes.
    pub(super) fn connect_lines(&self, number: usize) -> DuplexStream {
        let server = &self.servers[number];
        let session = server.sessions.fetch_add(1, Ordering::Relaxed);
        let (near, far) = tokio::io::duplex(64 << 10);
        let (mock, tap) = (server.mock.clone(), server.tap.clone());
        tokio::spawn(async move { relay_lines(far, served(&mock), &tap, session, Limits::default()).await });
        near
    }

    /// Connections of a client in this program to a server over HTTP.
    pub(super) fn connect_http(&mut self, number: usize) -> Arc<HttpRelay> {
        let server = &mut self.servers[number];
        let relay = server.relay.get_or_insert_with(|| {
            let upstream = Upstream::local(server.mock.http_connections());
            Arc::new(HttpRelay::local("localhost", upstream, server.tap.clone(), Limits::default()))
        });
        Arc::clone(relay)
    }

    /// The servers, as the judge knows them.
    pub(super) fn described(&self) -> Vec<HostServer> {
        let describe = |server: &RunningServer| HostServer {
            name: server.name.clone(),
            channel: match server.transport {
                ScenarioTransport::Stdio => Channel::Stdio,
                ScenarioTransport::Http => Channel::Http,
            },
            canaries: self.canaries(server),
            token: server.token.clone(),
        };
        self.servers.iter().map(describe).collect()
    }

    fn canaries(&self, server: &RunningServer) -> Vec<String> {
        let injects = |id: FaultId| matches!(id, FaultId::InjectedResult | FaultId::InjectedDescription);
        let mut canaries = Vec::new();
        for rule in server.rules.iter().filter(|rule| injects(rule.fault.id)) {
            match &rule.tool {
                Some(tool) => canaries.push(canary(self.seed, tool)),
                None => canaries.extend(server.tools.iter().map(|tool| canary(self.seed, tool))),
            }
        }
        canaries
    }

    /// The calls that met faults, in order.
    pub(super) fn strikes(&self) -> Vec<HostStrike> {
        let mut strikes = Vec::new();
        for (number, server) in self.servers.iter().enumerate() {
            for strike in server.mock.strikes() {
                let at = strike.at.saturating_duration_since(self.began);
                strikes.push(HostStrike {
                    at_us: u64::try_from(at.as_micros()).unwrap_or(u64::MAX),
                    server: number,
                    id: strike.id,
                    tool: strike.tool,
                    fault: strike.fault,
                });
            }
        }
        strikes.sort_by_key(|strike| strike.at_us);
        strikes
    }

    /// Ends the servers; everything that was observed.
    pub(super) fn end(mut self) -> Observed {
        self.tasks.abort_all();
        let mut observed = std::mem::take(&mut *self.observed.lock().unwrap_or_else(PoisonError::into_inner));
        observed.frames.sort_by_key(|frame| frame.at_us);
        observed
    }
}

/// A connection to a mock in this program.
fn served(mock: &Mock) -> DuplexStream {
    let (near, far) = tokio::io::duplex(64 << 10);
    let mock = mock.clone();
    tokio::spawn(async move {
        let (reader, writer) = tokio::io::split(far);
        // A disconnection is not an error.
        let _ = mock.serve(reader, writer).await;
    });
    near
}

fn offer(scenario: &Scenario, server: &ScenarioServer) -> Result<Offer, Vec<Finding>> {
    let (offer, findings) = match &server.offers {
        Offers::Inline(node) => from_node(&scenario.source, node),
        Offers::File(file, span) => {
            let folder = Path::new(scenario.source.path()).parent().filter(|folder| *folder != Path::new(""));
            let folder = folder.unwrap_or_else(|| Path::new("."));
            let path = folder.join(file);
            if !path.is_file() {
                let text = format!("the manifest `{}` does not exist", path.display());
                let finding = Finding::error("unreadable-file", text).help("`manifest` is a file next to the scenario");
                return Err(vec![finding.at(scenario.source.place(*span))]);
            }
            let (offer, findings) = load(&path);
            let leads_out = match (path.canonicalize(), folder.canonicalize()) {
                (Ok(path), Ok(folder)) => !path.starts_with(folder),
                _ => false,
            };
            if leads_out && !findings.is_empty() {
                // It may be anything, and is not quoted.
                let count = findings.len();
                let text = format!(
                    "`{}` cannot be offered: it has {count} problems, and is outside the folder of the scenario",
                    file.display()
                );
                let finding = Finding::error("outside-folder", text).help("move it into the folder to see them");
                return Err(vec![finding.at(scenario.source.place(*span))]);
            }
            (offer, findings)
        }
    };
    let offer = offer.ok_or(findings)?;
    if let Offer::Manifest(manifest) = &offer {
        let known: Vec<&str> = manifest.tool_names().collect();
        let named = server.faults.iter().zip(&server.fault_spans);
        let mut targets = named.filter_map(|(rule, span)| Some((rule.tool.as_deref()?, *span)));
        if let Some((tool, span)) = targets.find(|(tool, _)| !known.contains(tool)) {
            let text = format!("a fault of `{}` is for the tool `{tool}`, which the server does not have", server.name);
            let finding = Finding::error("fault-target", text).help(format!("the tools are {}", known.join(", ")));
            return Err(vec![finding.at(scenario.source.place(span))]);
        }
    }
    Ok(offer)
}

/// An expectation about a tool that no server has proves nothing.
fn unknown_tool(scenario: &Scenario, servers: &[RunningServer]) -> Result<(), Vec<Finding>> {
    // The tools of a recording are not known before it is played.
    if servers.iter().any(|server| server.tools.is_empty()) {
        return Ok(());
    }
    let mut known: Vec<String> = Vec::new();
    for server in servers {
        for tool in &server.tools {
            known.push(format!("{}.{tool}", server.name));
            let renames = |rule: &mcprove_model::FaultRule| {
                rule.fault.id == FaultId::RenamedTool && rule.tool.as_ref().is_none_or(|own| own == tool)
            };
            if server.rules.iter().any(renames) {
                known.push(format!("{}.{tool}_v2", server.name));
            }
        }
    }
    let is_known = |name: &str| {
        let is_tool = |tool: &String| tool == name || tool.split_once('.').is_some_and(|(_, tool)| tool == name);
        known.iter().any(is_tool)
    };
    let Some((name, span)) = scenario.named.iter().find(|(name, _)| !is_known(name)) else { return Ok(()) };
    let text = format!("`expect` names the tool `{name}`, which no server of the scenario has");
    let help = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the tools are {}", known.join(", ")),
    };
    Err(vec![Finding::error("unknown-tool", text).help(help).at(scenario.source.place(*span))])
}

fn mutation(scenario: &Scenario, server: &ScenarioServer) -> Result<&'static str, Vec<Finding>> {
    if server.mutation.is_empty() {
        return Ok("");
    }
    let known = MUTATIONS.iter().find(|mutation| mutation.name == server.mutation);
    known.map(|mutation| mutation.name).ok_or_else(|| {
        let text = format!("no mutation is called `{}`", server.mutation);
        let finding = Finding::error("bad-value", text).help("`mcprove explain mutations` lists them");
        vec![finding.at(scenario.source.place(scenario.span))]
    })
}
