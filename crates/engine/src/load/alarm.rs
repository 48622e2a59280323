//! An alarm for the starts of calls, in real time precise to some microseconds.
//!
//! The runtime's timers are a millisecond coarse, which would be the largest part of a fast server's latency. The alarm sleeps
//! with a timer of the system until shortly before the moment, since a sleeping thread is woken late, and then lets other
//! tasks run until the moment has come.

use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

/// The end of a sleep before the moment that is waited for.
const EARLY: Duration = Duration::from_micros(150);

/// An alarm.
#[derive(Debug)]
pub(super) enum Alarm {
    /// In the time of the runtime, which may be virtual.
    Virtual,
    /// In real time.
    Real(timer::Timer),
}

impl Alarm {
    /// An alarm in real time; it belongs to the runtime that it is made in.
    pub(super) fn real() -> Self {
        Self::Real(timer::Timer::new())
    }

    /// Waits until a moment has come.
    pub(super) async fn wait_until(&self, at: Instant) {
        let Self::Real(timer) = self else { return sleep_until(at).await };
        let left = at.saturating_duration_since(Instant::now());
        if let Some(sleep) = left.checked_sub(EARLY).filter(|sleep| !sleep.is_zero()) {
            timer.sleep(sleep).await;
        }
        while Instant::now() < at {
            yield_now().await;
        }
    }
}

#[cfg(target_os = "linux")]
mod timer {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A timer of the system; `None` where there are no more file descriptors.
    #[derive(Debug)]
    pub(in super::super) struct Timer(Option<AsyncFd<OwnedFd>>);

    impl Timer {
        pub(super) fn new() -> Self {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let Ok(timer) = timerfd_create(TimerfdClockId::Monotonic, flags) else { return Self(None) };
            #[expect(deprecated, reason = "what replaces it is unsafe, and asks for no more than an `OwnedFd` gives")]
            let timer = AsyncFd::with_interest(timer, Interest::READABLE);
            Self(timer.ok())
        }

        /// Sleeps at most for a time.
        pub(super) async fn sleep(&self, time: Duration) {
            let Some(timer) = &self.0 else { return super::coarse_sleep(time).await };
            let nanoseconds = i64::from(time.subsec_nanos());
            let it_value = Timespec { tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: nanoseconds };
            let once = Itimerspec { it_interval: Timespec::default(), it_value };
            if timerfd_settime(timer.get_ref(), TimerfdTimerFlags::empty(), &once).is_err() {
                return super::coarse_sleep(time).await;
            }
            // The number of times it has fired is read, or the next sleep would end at once.
            let read = |timer: &OwnedFd| Ok(rustix::io::read(timer, &mut [0; 8])?);
            let _ = timer.async_io(Interest::READABLE, read).await;
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod timer {
    use std::time::Duration;

    /// The timer of the runtime.
    #[derive(Debug)]
    pub(in super::super) struct Timer;

    impl Timer {
        pub(super) fn new() -> Self {
            Self
        }

        /// Sleeps at most for a time.
        pub(super) async fn sleep(&self, time: Duration) {
            super::coarse_sleep(time).await;
        }
    }
}

/// Sleeps with a timer of the runtime, which may be up to two milliseconds late.
async fn coarse_sleep(time: Duration) {
    tokio::time::sleep(time.saturating_sub(Duration::from_millis(2))).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_alarm_does_not_ring_before_its_time() {
        let alarm = Alarm::real();
        for after in [0, 50, 400, 3_000] {
            let at = Instant::now() + Duration::from_micros(after);
            alarm.wait_until(at).await;
            assert!(Instant::now() >= at, "{after}");
        }
        // A moment that is over is not waited for.
        alarm.wait_until(Instant::now() - Duration::from_millis(1)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn virtual_time_jumps_to_the_alarm() {
        let at = Instant::now() + Duration::from_hours(1);
        Alarm::Virtual.wait_until(at).await;
        assert_eq!(Instant::now(), at);
    }
}
