//! Signals by which a person or a system stops the program.
//!
//! One thread counts them for the whole program, so that a signal between two listeners is not lost: the next one sees it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use tokio::sync::watch;

/// Time the program may take to end by itself after the second signal. Its watchdog cleans up afterwards.
const PATIENCE: Duration = Duration::from_secs(3);

/// The number of signals so far; `None` where they cannot be received.
static RECEIVED: OnceLock<Option<watch::Receiver<u64>>> = OnceLock::new();
/// The number of signals that some listener has taken.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The signals that stop the program: those since the last one that any listener took.
#[derive(Debug)]
pub(crate) struct StopSignals {
    /// `None` where signals cannot be received.
    received: Option<watch::Receiver<u64>>,
    seen: u64,
}

impl StopSignals {
    /// Listens for an interrupt, a quit, termination, and a terminal that goes away.
    pub(crate) fn listen() -> Self {
        let received = RECEIVED.get_or_init(start_counting).clone();
        Self { received, seen: TAKEN.load(Ordering::Relaxed) }
    }

    /// Ends when the next signal comes, at once when it has come already, and never where signals cannot be received.
    pub(crate) async fn next(&mut self) {
        let Some(received) = &mut self.received else { return std::future::pending().await };
        let seen = self.seen;
        if received.wait_for(|count| *count > seen).await.is_err() {
            return std::future::pending().await;
        }
        self.seen += 1;
        TAKEN.fetch_max(self.seen, Ordering::Relaxed);
    }
}

/// Starts the thread that counts; it listens when this returns.
fn start_counting() -> Option<watch::Receiver<u64>> {
    let (count, received) = watch::channel(0);
    let (ready, listens) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || count_signals(&count, &ready)).ok()?;
    listens.recv().ok()?;
    Some(received)
}

/// Counts signals, and ends the program after the second one even if it is busy and listens to nothing.
fn count_signals(count: &watch::Sender<u64>, ready: &SyncSender<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let Some(mut signals) = Signals::listen() else { return };
        let _ = ready.send(());
        for _ in 0..2 {
            signals.next().await;
            count.send_modify(|count| *count += 1);
        }
        tokio::time::sleep(PATIENCE).await;
        #[expect(clippy::exit, reason = "the program was asked twice and does not answer")]
        std::process::exit(i32::from(mcprove_model::ExitStatus::Interrupted.code()));
    });
}

#[cfg(unix)]
struct Signals([tokio::signal::unix::Signal; 4]);

#[cfg(unix)]
impl Signals {
    fn listen() -> Option<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, quit, terminate, hang_up] = kinds.map(signal);
        Some(Self([interrupt.ok()?, quit.ok()?, terminate.ok()?, hang_up.ok()?]))
    }

    async fn next(&mut self) {
        let [interrupt, quit, terminate, hang_up] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = quit.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    fn listen() -> Option<Self> {
        Some(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
