//! Conformance probes: conversations with a server that make the evidence which `mcprove_judge::conformance` judges.

mod client;
mod link;
mod probe_auth;
mod probe_full;
mod probe_hints;
mod probe_hostile;
mod probe_http;
mod probe_lists;
mod probe_main;
mod probe_modern;
mod probe_second;
mod probe_tokens;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use mcprove_judge::conformance::{CallOptions, CallPlan, Channel, Evidence, ListDigest, Recording, ReplyMemory, calls};
use mcprove_judge::generate::Places;
use mcprove_judge::tool_effect::Consent;
use mcprove_model::{Era, Revision};
use serde_json::{Value, json};
use tokio::time::Instant;

pub use link::{Endpoint, Pace};
pub use probe_tokens::{TokenProbe, authorized};

use link::Link;

impl Default for Pace {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(10),
            timeout: Duration::from_secs(5),
            quiet: Duration::from_millis(150),
            grace: Duration::from_secs(2),
        }
    }
}

/// Options of a conformance run.
#[derive(Clone, Debug)]
pub struct ProbeOptions {
    /// Which tools may be called.
    pub consent: Consent,
    /// Timeouts.
    pub pace: Pace,
    /// Seed of generated inputs.
    pub seed: u64,
    /// The folder that made-up paths are in.
    pub scratch: String,
    /// Paths of the fixture.
    pub places: Option<Places>,
    /// Where tokens come from, if they are tested.
    pub tokens: Option<TokenProbe>,
    /// Memory for what the server sends.
    pub memory: Arc<ReplyMemory>,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self {
            consent: Consent::default(),
            pace: Pace::default(),
            seed: 0,
            scratch: "/nonexistent/mcprove-scratch".to_owned(),
            places: None,
            tokens: None,
            memory: Arc::default(),
        }
    }
}

/// Revisions that a server was found to speak.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The revisions it serves, oldest first.
    pub served: Vec<Revision>,
    /// The recordings of the offers.
    pub recordings: Vec<Recording>,
    /// The pace for the rest, by the time that the server took to start.
    pub pace: Pace,
}

impl Survey {
    /// True if it serves both eras.
    pub fn is_dual_era(&self) -> bool {
        let eras: BTreeSet<bool> = self.served.iter().map(|revision| revision.era() == Era::Modern).collect();
        eras.len() == 2
    }
}

/// The longest time that a server may take to exit.
const LONGEST_GRACE: Duration = Duration::from_secs(15);

/// Why a server is not judged that sends more than can be kept.
pub(crate) const FLOODED: &str = "the server flooded mcprove with messages of more than 80 MiB; the rest was not read";

/// Versions that no server knows.
const JUNK: [&str; 2] = ["1999-01-01", "2099-12-31"];

/// Offers a server every revision, each on a connection of its own. The first shows how long the server takes to start; the
/// others are made two at a time on processes.
pub async fn survey(endpoint: &Endpoint, options: &ProbeOptions) -> Result<Survey, String> {
    let mut served = Vec::new();
    let mut recordings = Vec::new();
    let mut pace = options.pace;
    let versions: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).chain(JUNK).collect();
    let began = Instant::now();
    let first = offer(endpoint, versions[0], pace, &options.memory).await?;
    if first.answered {
        // A silent server is not waited for much longer than a talkative one.
        pace.start = pace.start.min(pace.timeout.max(began.elapsed() * 4));
        // On a busy machine, a server that starts slowly ends slowly.
        pace.grace = pace.grace.max(began.elapsed() * 2).min(LONGEST_GRACE);
    }
    let mut offers = vec![first];
    // A URL is one server for all; a process is started for each.
    let at_once = if endpoint.channel() == Channel::Stdio { 2 } else { 1 };
    for pair in versions[1..].chunks(at_once) {
        // A server that does not answer one offer does not answer the next.
        if offers.iter().any(|offer| !offer.answered) {
            break;
        }
        let second = async {
            match pair.get(1) {
                Some(version) => offer(endpoint, version, pace, &options.memory).await.map(Some),
                None => Ok(None),
            }
        };
        let (first, second) = tokio::join!(offer(endpoint, pair[0], pace, &options.memory), second);
        offers.push(first?);
        offers.extend(second?);
    }
    for offer in offers {
        served.extend(offer.served);
        recordings.push(offer.recording);
    }
    let mut link = Link::open(endpoint, "survey", Revision::NEWEST, pace, &options.memory)?;
    let reply = link.request("first-discover", "server/discover", json!({})).await;
    if reply.is_some_and(|reply| reply["result"]["capabilities"].is_object() || reply["error"]["code"] == -32022) {
        served.push(Revision::NEWEST);
    }
    link.close().await;
    Ok(Survey { served, recordings, pace })
}

/// A version that was offered with `initialize`.
struct Offer {
    answered: bool,
    served: Option<Revision>,
    recording: Recording,
}

async fn offer(endpoint: &Endpoint, version: &str, pace: Pace, memory: &Arc<ReplyMemory>) -> Result<Offer, String> {
    let mut link = Link::open(endpoint, "negotiate", Revision::NEWEST_LEGACY, pace, memory)?;
    let info = json!({"name": "mcprove", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let reply = link.exchange(format!("offer:{version}"), &message, &[]).await;
    let answer = reply.as_ref().and_then(|reply| reply["result"]["protocolVersion"].as_str());
    let is_served = |revision: &Revision| answer == Some(version) && revision.era() == Era::Legacy;
    let served = Revision::parse(version).filter(is_served);
    Ok(Offer { answered: reply.is_some(), served, recording: link.close().await })
}

/// Makes the evidence of one revision.
pub async fn examine(
    endpoint: &Endpoint,
    revision: Revision,
    survey: &Survey,
    options: &ProbeOptions,
) -> Result<Evidence, String> {
    let channel = endpoint.channel();
    let mut evidence = Evidence {
        is_local: is_local(endpoint),
        is_dual_era: survey.is_dual_era(),
        ..Evidence::new(revision, channel, Vec::new())
    };
    let options = &ProbeOptions { pace: survey.pace, ..options.clone() };
    let mut scene =
        Scene { endpoint, revision, options, tools: Vec::new(), silent: BTreeSet::new(), catalog: Catalog::default() };
    if channel == Channel::Http {
        evidence.recordings.extend(probe_auth::run(&scene).await?);
        if let Some(tokens) = &options.tokens {
            evidence.recordings.extend(probe_tokens::run(&scene, tokens).await?);
        }
    }
    let (main, is_open) = probe_main::run(&mut scene, &mut evidence.uncalled).await?;
    evidence.recordings.push(main);
    if is_open {
        evidence.recordings.push(probe_full::run(&scene).await?);
        evidence.recordings.extend(probe_second::run(&scene, &evidence).await?);
        if options.consent == Consent::IncludeWrites {
            let (recording, trials) = probe_hints::run(&scene).await?;
            evidence.recordings.push(recording);
            evidence.hints = Some(trials);
        }
        if channel == Channel::Http {
            evidence.recordings.extend(probe_http::run(&scene).await?);
        }
        evidence.recordings.push(probe_hostile::run(&scene).await?);
    }
    if options.memory.is_used_up() {
        return Err(FLOODED.to_owned());
    }
    evidence.recordings.extend(survey.recordings.iter().cloned());
    evidence.notes.extend(scene.catalog.cut.values().cloned());
    evidence.notes.extend(options.memory.note());
    Ok(evidence)
}

fn is_local(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Process(_) | Endpoint::Memory(_) => true,
        Endpoint::Http { url, .. } => {
            let host = url.split_once("://").map_or("", |(_, rest)| rest);
            host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]")
        }
    }
}

/// State shared by the probes of one revision.
pub(crate) struct Scene<'s> {
    endpoint: &'s Endpoint,
    revision: Revision,
    options: &'s ProbeOptions,
    /// Tools that may be called, with their plans.
    tools: Vec<CallPlan>,
    /// Tools that did not answer in time.
    silent: BTreeSet<String>,
    catalog: Catalog,
}

/// The server's lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    capabilities: Value,
    instructions: Option<String>,
    tools: Vec<Value>,
    prompts: Vec<Value>,
    resources: Vec<Value>,
    templates: Vec<Value>,
    /// The items of each list, for reading it again.
    digests: HashMap<&'static str, ListDigest>,
    /// Lists that are too long to be read to their end, each with a note.
    cut: BTreeMap<&'static str, String>,
    /// A cursor of each list that has a second page.
    cursors: Vec<(&'static str, String)>,
}

impl Scene<'_> {
    /// The calls that were answered in time: what else is asked with them can be answered, too.
    fn answering(&self) -> impl Iterator<Item = &CallPlan> {
        self.tools.iter().filter(|plan| !self.silent.contains(&plan.tool))
    }

    fn open(&self, probe: &'static str) -> Result<Link, String> {
        let mut link = Link::open(self.endpoint, probe, self.revision, self.options.pace, &self.options.memory)?;
        self.give_schemas(&mut link);
        Ok(link)
    }

    /// Gives a link the schemas of the tools that are called.
    fn give_schemas(&self, link: &mut Link) {
        for tool in &self.catalog.tools {
            if let Some(plan) = self.tools.iter().find(|plan| tool["name"] == plan.tool.as_str()) {
                link.schemas.insert(plan.tool.clone(), tool["inputSchema"].clone());
            }
        }
    }

    /// Decides which of the listed tools are called.
    fn choose(&mut self, uncalled: &mut Vec<(String, String)>) {
        let instructions = self.catalog.instructions.as_deref();
        let ProbeOptions { consent, seed, scratch, places, .. } = self.options;
        let options =
            CallOptions { consent: *consent, seed: *seed, most: MOST_TOOLS, scratch, places: places.as_ref() };
        let mut plans = calls(&self.catalog.tools, instructions, options);
        uncalled.append(&mut plans.uncalled);
        self.tools = plans.calls;
        // Of a large catalog, only what is called is needed from here on.
        let is_called = |tool: &Value| self.tools.iter().any(|plan| tool["name"] == plan.tool.as_str());
        self.catalog.tools.retain(is_called);
    }
}

/// Maximum number of tools called.
const MOST_TOOLS: usize = 12;
/// Maximum number of resources read, and of prompts fetched.
const MOST_ITEMS: usize = 6;

/// The capabilities of a client that can do everything.
fn full_client(revision: Revision) -> Value {
    let mut client = json!({"roots": {"listChanged": true}, "sampling": {}});
    if revision >= Revision::V2025_06_18 {
        client["elicitation"] = json!({});
    }
    client
}
