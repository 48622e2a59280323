//! Signals by which a person or a system stops the program.

/// The signals that stop the program; listening begins when it is made.
pub(crate) struct ToldToStop {
    #[cfg(unix)]
    signals: Signals,
}

/// How long the program may take to end by itself after the second signal. Its watchdog cleans up what is left.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);

#[cfg(unix)]
impl ToldToStop {
    /// Listens for an interrupt, a quit, termination, and a terminal that goes away; `None` when that is impossible.
    pub(crate) fn listen() -> Option<Self> {
        static INSISTENCE: std::sync::Once = std::sync::Once::new();
        INSISTENCE.call_once(|| drop(std::thread::Builder::new().name("signals".to_owned()).spawn(end_when_blocked)));
        Some(Self { signals: Signals::listen()? })
    }

    /// Ends when the next signal comes.
    pub(crate) async fn again(&mut self) {
        self.signals.next().await;
    }
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

/// Ends the program after the second signal even if it is busy and listens to nothing: on a thread of its own.
#[cfg(unix)]
fn end_when_blocked() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let Some(mut signals) = Signals::listen() else { return };
        signals.next().await;
        signals.next().await;
        tokio::time::sleep(PATIENCE).await;
        #[expect(clippy::exit, reason = "the program was asked twice and does not answer")]
        std::process::exit(i32::from(mcprove_model::ExitStatus::Interrupted.code()));
    });
}

#[cfg(not(unix))]
impl ToldToStop {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    pub(crate) fn listen() -> Option<Self> {
        Some(Self {})
    }

    pub(crate) async fn again(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
