//! The time a mock lives in: real time, or virtual time that passes only while all tasks wait.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;

/// A wait.
pub type Sleep<'c> = Pin<Box<dyn Future<Output = ()> + Send + 'c>>;

/// Time source of a mock.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Milliseconds since the Unix epoch.
    fn unix_ms(&self) -> u64;

    /// Ends when so much time has passed.
    fn sleep(&self, duration: Duration) -> Sleep<'_>;
}

/// The time of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealClock;

impl Clock for RealClock {
    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Time that jumps from one waiter to the next, so that ten minutes take no time at all.
///
/// A mock's waits move it ([`Clock::sleep`]), the earliest first; a client's deadlines are reached on the way
/// ([`VirtualClock::deadline`]) and never move it by themselves. So a deadline ends exactly when a mock wants to wait
/// beyond it, however long the mock really takes, and time is paused until its owner has dealt with it. Clones share
/// one time.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    moved: Notify,
}

#[derive(Debug, Default)]
struct State {
    now: Duration,
    next: u64,
    sleepers: BTreeSet<(Duration, u64)>,
    deadlines: BTreeSet<(Duration, u64)>,
    /// Number of guards that pause time.
    holds: usize,
}

/// 2026-01-01T00:00:00Z, so that what virtual time dates is the same in every run.
const BEGIN_UNIX_MS: u64 = 1_767_225_600_000;
/// Number of yields to other tasks before time moves, so that waits that begin together are put in order.
const YIELDS: usize = 16;

impl VirtualClock {
    /// Time that begins now.
    pub fn new() -> Self {
        Self::default()
    }

    /// Virtual time since the start.
    pub fn elapsed(&self) -> Duration {
        self.state().now
    }

    /// Ends when time reaches `after`, counted from this call, which it does only if a mock waits that long. Time is
    /// paused while its output is kept: long enough to cancel the work that did not finish in time.
    pub fn deadline(&self, after: Duration) -> impl Future<Output = Standstill> + Send + '_ {
        // The place in the queue is taken at once: a mock may be asked before this is first looked at.
        let waiter = Waiter::new(self, after, Kind::Deadline);
        async move {
            // All of it is taken along, not just the moment: it is given up when this is.
            let waiter = waiter;
            loop {
                let moved = self.shared.moved.notified();
                {
                    let mut state = self.state();
                    if state.now >= waiter.at.0 {
                        state.holds += 1;
                        break;
                    }
                }
                moved.await;
            }
            Standstill { clock: self.clone() }
        }
    }

    async fn wait(&self, duration: Duration) {
        let mut waiter = Waiter::new(self, duration, Kind::Sleeper);
        loop {
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
            let moved = self.shared.moved.notified();
            match self.advance(waiter.at) {
                Advance::Arrived => {
                    waiter.leave();
                    return;
                }
                Advance::ReachedDeadline => {}
                Advance::NotYet => moved.await,
            }
        }
    }

    /// Moves time towards a sleeper, if it is the earliest; deadlines on the way come first.
    fn advance(&self, at: (Duration, u64)) -> Advance {
        let mut state = self.state();
        let now = state.now;
        let is_held = state.holds > 0 || state.deadlines.first().is_some_and(|(when, _)| *when <= now);
        if is_held || state.sleepers.first() != Some(&at) {
            return Advance::NotYet;
        }
        let deadline = state.deadlines.iter().map(|(when, _)| *when).find(|when| *when <= at.0);
        let advance = if let Some(when) = deadline {
            state.now = when;
            Advance::ReachedDeadline
        } else {
            state.now = now.max(at.0);
            Advance::Arrived
        };
        drop(state);
        self.shared.moved.notify_waiters();
        advance
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualClock {
    fn unix_ms(&self) -> u64 {
        BEGIN_UNIX_MS + u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX - BEGIN_UNIX_MS)
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(self.wait(duration))
    }
}

enum Advance {
    Arrived,
    ReachedDeadline,
    NotYet,
}

/// While it is kept, no time passes.
#[derive(Debug)]
#[must_use = "time goes on when it is dropped"]
pub struct Standstill {
    clock: VirtualClock,
}

impl Drop for Standstill {
    fn drop(&mut self) {
        self.clock.state().holds -= 1;
        self.clock.shared.moved.notify_waiters();
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Sleeper,
    Deadline,
}

/// A place in the queue, given up on drop.
struct Waiter<'c> {
    clock: &'c VirtualClock,
    kind: Kind,
    at: (Duration, u64),
    gone: bool,
}

impl<'c> Waiter<'c> {
    fn new(clock: &'c VirtualClock, after: Duration, kind: Kind) -> Self {
        let mut state = clock.state();
        state.next += 1;
        let at = (state.now.saturating_add(after), state.next);
        match kind {
            Kind::Sleeper => state.sleepers.insert(at),
            Kind::Deadline => state.deadlines.insert(at),
        };
        drop(state);
        Self { clock, kind, at, gone: false }
    }

    fn leave(&mut self) {
        if std::mem::replace(&mut self.gone, true) {
            return;
        }
        let mut state = self.clock.state();
        match self.kind {
            Kind::Sleeper => state.sleepers.remove(&self.at),
            Kind::Deadline => state.deadlines.remove(&self.at),
        };
        drop(state);
        self.clock.shared.moved.notify_waiters();
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
    }

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn waits_end_in_the_order_of_their_length() {
        block_on(async {
            let clock = VirtualClock::new();
            let order = Mutex::new(Vec::new());
            let note = |name: &'static str| order.lock().expect("no panic").push((name, clock.elapsed()));
            tokio::join!(
                async {
                    clock.sleep(ms(300_000)).await;
                    note("long");
                },
                async {
                    clock.sleep(ms(100)).await;
                    note("short");
                    clock.sleep(ms(100)).await;
                    note("again");
                },
            );
            let order = order.into_inner().expect("no panic");
            assert_eq!(order, [("short", ms(100)), ("again", ms(200)), ("long", ms(300_000))]);
        });
    }

    #[test]
    fn a_deadline_ends_when_somebody_waits_past_it_and_not_before() {
        block_on(async {
            let clock = VirtualClock::new();
            tokio::select! {
                () = clock.sleep(ms(600_000)) => panic!("the deadline is earlier"),
                _ = clock.deadline(ms(3_000)) => {}
            }
            assert_eq!(clock.elapsed(), ms(3_000));
            tokio::select! {
                biased;
                _ = clock.deadline(ms(10)) => panic!("the deadline was not cancelled"),
                () = tokio::time::sleep(ms(5)) => {}
            }
            assert_eq!(clock.elapsed(), ms(3_000));
        });
    }

    #[test]
    fn time_stands_still_while_a_deadline_is_dealt_with() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let clock = VirtualClock::new();
            let deadline = clock.deadline(ms(3_000));
            let sleeper = tokio::spawn({
                let clock = clock.clone();
                async move { clock.sleep(ms(600_000)).await }
            });
            let standstill = deadline.await;
            tokio::time::sleep(ms(20)).await;
            assert_eq!(clock.elapsed(), ms(3_000));
            drop(standstill);
            sleeper.await.expect("it ends");
            assert_eq!(clock.elapsed(), ms(600_000));
        });
    }

    #[test]
    fn who_goes_away_holds_nobody_up() {
        block_on(async {
            let clock = VirtualClock::new();
            tokio::select! {
                biased;
                () = clock.sleep(ms(1)) => panic!("it has no time to"),
                () = std::future::ready(()) => {}
            }
            clock.sleep(ms(5)).await;
            assert_eq!(clock.elapsed(), ms(5));
            assert_eq!(clock.unix_ms(), BEGIN_UNIX_MS + 5);
        });
    }

    #[test]
    fn it_holds_on_many_threads_too() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let clock = VirtualClock::new();
            let waits: Vec<_> = (0..50u64)
                .map(|n| {
                    let clock = clock.clone();
                    tokio::spawn(async move { clock.sleep(ms(n * 1_000)).await })
                })
                .collect();
            for wait in waits {
                wait.await.expect("it ends");
            }
            assert!(clock.elapsed() >= ms(49_000));
        });
    }
}
