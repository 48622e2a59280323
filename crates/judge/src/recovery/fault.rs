//! What an injected fault does to a call, in virtual time.

/// A kind of unresponsiveness; the words are those of the mock's `--fault`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// No call ever returns.
    Hang,
    /// The same to an agent; another name to record what was meant.
    Wedged,
    /// Calls answer after a delay.
    Slow {
        /// The delay.
        delay_ms: u64,
    },
    /// The first calls hang, then the server is well again.
    RecoverAfter {
        /// How many.
        failures: u64,
    },
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEffect {
    /// The agent's deadline passes; the server is not called.
    TimesOut,
    /// The server answers, so much later.
    AnswersLate {
        /// How much later.
        delay_ms: u64,
    },
    /// The server answers as always.
    Answers,
}

impl FaultKind {
    /// What becomes of a call that the fault matches, after `earlier` matching calls of the same case, when the agent
    /// waits for `deadline_ms`.
    pub fn effect(self, earlier: u64, deadline_ms: u64) -> FaultEffect {
        match self {
            Self::Hang | Self::Wedged => FaultEffect::TimesOut,
            Self::Slow { delay_ms } if delay_ms >= deadline_ms => FaultEffect::TimesOut,
            Self::Slow { delay_ms } => FaultEffect::AnswersLate { delay_ms },
            Self::RecoverAfter { failures } if earlier < failures => FaultEffect::TimesOut,
            Self::RecoverAfter { .. } => FaultEffect::Answers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_call_times_out_only_at_the_deadline() {
        let slow = FaultKind::Slow { delay_ms: 3_000 };
        assert_eq!(slow.effect(0, 3_001), FaultEffect::AnswersLate { delay_ms: 3_000 });
        assert_eq!(slow.effect(0, 3_000), FaultEffect::TimesOut);
    }

    #[test]
    fn failures_are_counted() {
        let fault = FaultKind::RecoverAfter { failures: 2 };
        let effects: Vec<FaultEffect> = (0..4).map(|earlier| fault.effect(earlier, 1)).collect();
        let (out, fine) = (FaultEffect::TimesOut, FaultEffect::Answers);
        assert_eq!(effects, [out, out, fine, fine]);
        assert_eq!(FaultKind::Hang.effect(9, 1), FaultKind::Wedged.effect(0, u64::MAX));
    }
}
