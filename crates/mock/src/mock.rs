//! A mock: what it offers, the faults it has, and the time it lives in.

use std::fmt::Debug;
use std::hash::{BuildHasher as _, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcprove_model::FaultRule;
use mcprove_wire::{Injector, Limits, Room, Strike, Transport};
use serde_json::Value;

use crate::clock::{Clock, RealClock};
use crate::fault::Faults;
use crate::issuer::IssuerOptions;
use crate::manifest::Manifest;
use crate::mutation::{Mutant, issuer_fault};
use crate::recording::Recording;
use crate::session::OPEN_REQUESTS;

/// Source of a mock's answers. Clones share it.
#[derive(Clone, Debug)]
pub enum Offer {
    /// A manifest from a file.
    Manifest(Arc<Manifest>),
    /// A conversation that was recorded.
    Recording(Recording),
}

impl From<Manifest> for Offer {
    fn from(manifest: Manifest) -> Self {
        Self::Manifest(Arc::new(manifest))
    }
}

impl From<Recording> for Offer {
    fn from(recording: Recording) -> Self {
        Self::Recording(recording)
    }
}

/// Options of a mock besides its offer.
#[derive(Clone, Debug)]
pub struct MockOptions {
    /// Its time.
    pub clock: Arc<dyn Clock>,
    /// Additional faults; for the same tools they override those of the manifest.
    pub faults: Vec<FaultRule>,
    /// Decides what chance does in faults, and the canaries of injected text.
    pub seed: u64,
    /// Handler for calls of tools, in place of the manifest.
    pub handler: Option<Arc<dyn ToolHandler>>,
    /// The mutation that breaks a rule of the protocol, by its name; none if empty.
    pub mutation: &'static str,
    /// The authorization server next to it, which guards it over HTTP.
    pub issuer: Option<IssuerOptions>,
}

/// Answers calls of tools in place of the answers of a manifest.
pub trait ToolHandler: Debug + Send + Sync {
    /// The result of `tools/call`; the arguments fit the input schema of the tool.
    fn call(&self, tool: &str, arguments: Value) -> Pin<Box<dyn Future<Output = Value> + Send + '_>>;
}

impl Default for MockOptions {
    fn default() -> Self {
        Self { clock: Arc::new(RealClock), faults: Vec::new(), seed: 0, handler: None, mutation: "", issuer: None }
    }
}

/// A server made from a manifest or a recording. Clones are the same server.
#[derive(Clone, Debug)]
pub struct Mock {
    pub(crate) shared: Arc<Shared>,
}

/// State shared by all sessions of a mock.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) offer: Offer,
    pub(crate) faults: Faults,
    /// Faults between the mock and its clients.
    pub(crate) injector: Injector,
    pub(crate) connections: AtomicU64,
    /// Room for the requests of all clients that are not answered yet.
    pub(crate) open: Room,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) handler: Option<Arc<dyn ToolHandler>>,
    pub(crate) mutant: Mutant,
    pub(crate) issuer: Option<IssuerOptions>,
    secret: RandomState,
    serial: AtomicU64,
}

impl Mock {
    /// A mock that offers this.
    pub fn new(offer: impl Into<Offer>, options: MockOptions) -> Self {
        let offer = offer.into();
        let mut rules = Vec::new();
        if let Offer::Manifest(manifest) = &offer {
            rules.extend(manifest.fault.map(|fault| FaultRule { tool: None, fault }));
            for tool in manifest.tools.iter().chain(manifest.changed_tools.iter().flatten()) {
                rules.extend(tool.fault.map(|fault| FaultRule { tool: Some(tool.name.clone()), fault }));
            }
        }
        rules.extend(options.faults);
        let mut faults = Faults::default();
        for rule in &rules {
            faults.add(rule.clone());
        }
        let shared = Shared {
            offer,
            faults,
            injector: Injector::for_mock(rules, options.seed),
            connections: AtomicU64::new(0),
            open: Room::new(OPEN_REQUESTS),
            clock: options.clock,
            handler: options.handler,
            mutant: Mutant::new(options.mutation),
            // Mutations about tokens are faults of a guard.
            issuer: options.issuer.or_else(|| {
                let faults = vec![issuer_fault(options.mutation)?];
                Some(IssuerOptions { faults, ..IssuerOptions::default() })
            }),
            secret: RandomState::new(),
            serial: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// True if the mock ignores SIGTERM, because a mutation says so.
    pub fn ignores_sigterm(&self) -> bool {
        self.shared.mutant.ignores_sigterm()
    }

    /// The calls and lists that met a fault so far.
    pub fn strikes(&self) -> Vec<Strike> {
        self.shared.injector.strikes()
    }

    /// Connects to the mock without a process: it is served on the current runtime until the transport is closed.
    pub fn connect(&self, limits: &Limits) -> Transport {
        let (transport, peer) = Transport::memory(limits);
        let mock = self.clone();
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(peer.stream);
            // A disconnection is not an error.
            let _ = mock.serve(reader, writer).await;
        });
        transport
    }
}

/// Connects to a mock of its own, without a process.
pub fn connect(offer: impl Into<Offer>, clock: Arc<dyn Clock>) -> Transport {
    Mock::new(offer, MockOptions { clock, ..MockOptions::default() }).connect(&Limits::default())
}

impl Shared {
    /// A random id.
    pub(crate) fn fresh_id(&self) -> String {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        format!("{:016x}{:016x}", self.secret.hash_one((serial, 0)), self.secret.hash_one((serial, 1)))
    }

    /// A mark that only this mock can put on a text.
    pub(crate) fn seal(&self, text: &str) -> String {
        format!("{:016x}", self.secret.hash_one(text))
    }
}
