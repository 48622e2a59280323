//! Retries of requests to a busy provider.

use std::time::Duration;

/// Retry policy for a provider that is busy (429, 5xx).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of attempts.
    pub attempts: u32,
    /// Length of the first wait; each later one is twice as long.
    pub first: Duration,
    /// Longest wait that the provider did not request itself.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 5, first: Duration::from_millis(500), longest: Duration::from_secs(8) }
    }
}

impl RetryPolicy {
    /// Time to wait after this many attempts; a wait that the provider requests is used as is. `None` when it is
    /// enough.
    pub(super) fn wait(&self, attempts: u32, asked_for: Option<Duration>) -> Option<Duration> {
        if attempts >= self.attempts {
            return None;
        }
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1)));
        Some(asked_for.unwrap_or_else(|| doubled.min(self.longest)))
    }
}

/// The wait that a provider asks for: in milliseconds, or in seconds (RFC 9110, "Retry-After"). A date is not
/// understood, and the wait is then our own.
pub(super) fn asked_for(milliseconds: Option<String>, seconds: Option<String>) -> Option<Duration> {
    let number = |text: Option<String>| text?.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let seconds = number(milliseconds).map(|ms| ms / 1e3).or_else(|| number(seconds))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_until_they_are_long_and_end() {
        let policy = RetryPolicy { attempts: 6, first: Duration::from_secs(1), longest: Duration::from_secs(5) };
        let waits: Vec<Option<u64>> =
            (1..=6).map(|attempts| policy.wait(attempts, None).map(|wait| wait.as_secs())).collect();
        assert_eq!(waits, [Some(1), Some(2), Some(4), Some(5), Some(5), None]);
    }

    #[test]
    fn what_the_provider_asks_for_is_honoured() {
        let text = |text: &str| Some(text.to_owned());
        let policy = RetryPolicy::default();
        assert_eq!(policy.wait(1, asked_for(None, text("17"))), Some(Duration::from_secs(17)));
        assert_eq!(policy.wait(1, asked_for(text("250"), text("17"))), Some(Duration::from_millis(250)));
        assert_eq!(asked_for(None, text("0")), Some(Duration::ZERO));
        for bad in ["-1", "NaN", "inf", "Wed, 21 Oct 2026 07:28:00 GMT", "", "1e300"] {
            assert_eq!(asked_for(None, text(bad)), None, "{bad}");
        }
        assert_eq!(policy.wait(9, asked_for(None, text("1"))), None);
    }
}
