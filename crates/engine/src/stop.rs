//! Telling a run to stop.

use tokio::sync::watch;

/// The side that tells a run to stop.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// The side that is told.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stopper {
    /// A pair of both sides.
    pub fn pair() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(receiver))
    }

    /// Tells the run to stop.
    pub fn stop(&self) {
        // Nobody listens any more when the run is over, and that is fine.
        let _ = self.0.send(true);
    }
}

impl Stop {
    /// True if the run has been told to stop.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the run is told to stop; for ever when nobody can tell it any more.
    pub async fn stopped(&mut self) {
        if self.0.wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
