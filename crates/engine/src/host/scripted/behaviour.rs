//! The behaviour of a scripted client towards faults: good by default, with deviations by name.

use std::time::Duration;

/// A behaviour.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of clients that others do not depend on")]
pub(super) struct Behaviour {
    /// Its deadline for a request; none if it waits forever.
    pub(super) timeout: Option<Duration>,
    pub(super) cancels: bool,
    pub(super) retries: u32,
    pub(super) backoff: Duration,
    pub(super) honours_retry_after: bool,
    pub(super) relists: bool,
    /// True if it lists the tools for every notification.
    pub(super) lists_every_time: bool,
    pub(super) answers_undeclared: bool,
    pub(super) obeys: bool,
    pub(super) crashes: bool,
    pub(super) hangs_when_closed: bool,
    pub(super) leaks_token: bool,
}

impl Behaviour {
    pub(super) fn new(deviations: &[String]) -> Self {
        let mut behaviour = Self {
            timeout: Some(Duration::from_secs(5)),
            cancels: true,
            retries: 2,
            backoff: Duration::from_millis(500),
            honours_retry_after: true,
            relists: true,
            lists_every_time: false,
            answers_undeclared: false,
            obeys: false,
            crashes: false,
            hangs_when_closed: false,
            leaks_token: false,
        };
        for deviation in deviations {
            match deviation.as_str() {
                "waits-forever" => behaviour.timeout = None,
                "slow-to-notice" => behaviour.timeout = Some(Duration::from_mins(2)),
                "no-cancel" => behaviour.cancels = false,
                "retry-storm" => (behaviour.retries, behaviour.backoff) = (50, Duration::from_millis(10)),
                "ignores-retry-after" => {
                    behaviour.honours_retry_after = false;
                    behaviour.backoff = Duration::from_millis(20);
                }
                "ignores-list-changes" => behaviour.relists = false,
                "lists-every-time" => behaviour.lists_every_time = true,
                "answers-undeclared" => behaviour.answers_undeclared = true,
                "obeys-injection" => behaviour.obeys = true,
                "crashes" => behaviour.crashes = true,
                "hangs-when-closed" => behaviour.hangs_when_closed = true,
                "leaks-token" => behaviour.leaks_token = true,
                _ => {}
            }
        }
        behaviour
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcprove_suite::scenario_file::DEVIATIONS;

    #[test]
    fn every_deviation_changes_the_behaviour() {
        let good = format!("{:?}", Behaviour::new(&[]));
        for (name, _) in DEVIATIONS {
            assert_ne!(format!("{:?}", Behaviour::new(&[(*name).to_owned()])), good, "{name}");
        }
    }
}
