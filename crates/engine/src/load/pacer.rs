//! The pacer of an open loop: it hands each call to a client when it is to start.

use mcprove_judge::load::Schedule;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::alarm::Alarm;

/// A call that is to start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Its number in this shard.
    pub(super) number: u64,
    /// When it is to start.
    pub(super) intended: Instant,
}

/// The work of a pacer.
pub(super) struct Pacer {
    pub(super) schedule: Schedule,
    pub(super) begin: Instant,
    /// The clients, which take turns: each is an agent of its own. `None` for those on other threads.
    pub(super) clients: Vec<Option<mpsc::UnboundedSender<Arrival>>>,
    /// True if the time of the runtime is virtual.
    pub(super) is_virtual: bool,
}

impl Pacer {
    /// Hands out all calls; a task on the thread of its clients, since waking another thread takes longer than a call.
    pub(super) async fn run(self) {
        let alarm = if self.is_virtual { Alarm::Virtual } else { Alarm::real() };
        for (number, start) in (0_u64..).zip(self.schedule.clone()) {
            let at = usize::try_from(number % self.clients.len().max(1) as u64).unwrap_or(0);
            let Some(Some(client)) = self.clients.get(at) else { continue };
            let intended = self.begin + start;
            alarm.wait_until(intended).await;
            if client.send(Arrival { number, intended }).is_err() {
                return;
            }
        }
    }
}
