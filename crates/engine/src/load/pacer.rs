//! The pacer of an open loop: it hands each call to a client when it is to start.
//!
//! The runtime's timers are a millisecond coarse, which would be the largest part of a fast server's latency. In real time
//! the pacer is therefore a thread that sleeps until shortly before a start and yields until it has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcprove_judge::load::Schedule;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

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
    /// The clients, which take turns: each is an agent of its own.
    pub(super) clients: Vec<mpsc::UnboundedSender<Arrival>>,
    /// True once no more calls are wanted.
    pub(super) is_over: Arc<AtomicBool>,
    /// The number of calls after which it ends.
    pub(super) calls: u64,
}

/// A sleeping thread is woken this much later than it asked for.
const WAKE: Duration = Duration::from_micros(70);
/// The longest sleep, after which it is seen whether the load is over.
const NAP: Duration = Duration::from_millis(20);

impl Pacer {
    /// Paces in the time of the runtime, which may be virtual.
    pub(super) async fn run(self) {
        for (number, start) in (0..self.calls).zip(self.schedule.clone()) {
            tokio::time::sleep_until(self.begin + start).await;
            if !self.send(number, start) {
                return;
            }
        }
    }

    /// Paces on a thread of its own; the receiver gets an end when it is done.
    pub(super) fn run_on_thread(self) -> oneshot::Receiver<()> {
        let (done, over) = oneshot::channel();
        let pace = move || {
            let begin = self.begin.into_std();
            for (number, start) in (0..self.calls).zip(self.schedule.clone()) {
                loop {
                    let left = (begin + start).saturating_duration_since(std::time::Instant::now());
                    if left.is_zero() || self.is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    match left.checked_sub(WAKE) {
                        Some(sleep) if !sleep.is_zero() => std::thread::sleep(sleep.min(NAP)),
                        Some(_) | None => std::thread::yield_now(),
                    }
                }
                if !self.send(number, start) {
                    break;
                }
            }
            drop(self);
            let _ = done.send(());
        };
        // Where no thread can be started, the end comes at once and no call was made, which is reported.
        let _ = std::thread::Builder::new().name("pacer".to_owned()).spawn(pace);
        over
    }

    /// Hands a call to the next client; false once the load is over.
    fn send(&self, number: u64, start: Duration) -> bool {
        let arrival = Arrival { number, intended: self.begin + start };
        let at = usize::try_from(number % self.clients.len().max(1) as u64).unwrap_or(0);
        !self.is_over.load(Ordering::Relaxed) && self.clients.get(at).is_some_and(|client| client.send(arrival).is_ok())
    }
}
