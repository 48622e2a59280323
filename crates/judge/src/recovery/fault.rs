//! Effect of an injected fault on a call, in virtual time.

use mcprove_model::FaultKind;

/// Fate of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEffect {
    /// The agent's deadline passes; the server is not called.
    TimesOut,
    /// The server answers, so much later.
    AnswersLate {
        /// The delay.
        delay_ms: u64,
    },
    /// The server answers as always.
    Answers,
}

/// The effect on a call that a fault matches, after `earlier` matching calls of the same case, when the agent waits for
/// `deadline_ms`.
pub fn effect(kind: FaultKind, earlier: u64, deadline_ms: u64) -> FaultEffect {
    match kind {
        FaultKind::Hang | FaultKind::Wedged => FaultEffect::TimesOut,
        FaultKind::Slow { delay_ms } if delay_ms >= deadline_ms => FaultEffect::TimesOut,
        FaultKind::Slow { delay_ms } => FaultEffect::AnswersLate { delay_ms },
        FaultKind::RecoverAfter { failures } if earlier < failures => FaultEffect::TimesOut,
        FaultKind::RecoverAfter { .. } => FaultEffect::Answers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_call_times_out_only_at_the_deadline() {
        let slow = FaultKind::Slow { delay_ms: 3_000 };
        assert_eq!(effect(slow, 0, 3_001), FaultEffect::AnswersLate { delay_ms: 3_000 });
        assert_eq!(effect(slow, 0, 3_000), FaultEffect::TimesOut);
    }

    #[test]
    fn failures_are_counted() {
        let fault = FaultKind::RecoverAfter { failures: 2 };
        let effects: Vec<FaultEffect> = (0..4).map(|earlier| effect(fault, earlier, 1)).collect();
        let (out, fine) = (FaultEffect::TimesOut, FaultEffect::Answers);
        assert_eq!(effects, [out, out, fine, fine]);
        assert_eq!(effect(FaultKind::Hang, 9, 1), effect(FaultKind::Wedged, 0, u64::MAX));
    }
}
