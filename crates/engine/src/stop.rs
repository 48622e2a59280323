//! The stop signal of a run.

use tokio::sync::watch;

/// The sender of the stop signal.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// The receiver of the stop signal.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stopper {
    /// A pair of both sides.
    pub fn pair() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(receiver))
    }

    /// Sends the stop signal.
    pub fn stop(&self) {
        // The receivers are gone if the run is over, which is fine.
        let _ = self.0.send(true);
    }
}

impl Stop {
    /// True if the stop signal was sent.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for the stop signal; for ever if the sender is dropped.
    pub async fn stopped(&mut self) {
        if self.0.wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
