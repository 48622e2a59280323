//! How a person or a system tells the program to stop.

/// Whoever may tell the program to stop; listening begins when it is made.
pub(crate) struct ToldToStop {
    #[cfg(unix)]
    signals: [tokio::signal::unix::Signal; 3],
}

#[cfg(unix)]
impl ToldToStop {
    /// Listens for an interrupt, for termination, and for a terminal that goes away; `None` when that cannot be done.
    pub(crate) fn listen() -> Option<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hang_up] = kinds.map(signal);
        Some(Self { signals: [interrupt.ok()?, terminate.ok()?, hang_up.ok()?] })
    }

    /// Ends when it is told once more.
    pub(crate) async fn again(&mut self) {
        let [interrupt, terminate, hang_up] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }
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
