//! One call against a server that does not answer: when it was noticed, when it was got over.

/// Times of the events around a call, in milliseconds of any one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryObservation {
    /// Time of the call.
    pub call_start_ms: u64,
    /// Time at which the agent noticed that the call would not return; absent if it never did.
    pub detected_ms: Option<u64>,
    /// Time at which the agent recovered: retried elsewhere, fell back, or surfaced a clean error; absent if it never
    /// did.
    pub recovered_ms: Option<u64>,
    /// The timeout the agent was configured to honour.
    pub timeout_budget_ms: u64,
}

/// Evaluation of the marks of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryReport {
    /// From the start of the call to detection; `None` when it was never detected.
    pub time_to_detection_ms: Option<u64>,
    /// From the start of the call to recovery; `None` when there was none.
    pub time_to_recovery_ms: Option<u64>,
    /// Time for which the user saw the call hang: until detection or recovery, whichever is first, else the timeout
    /// budget.
    pub user_visible_hang_ms: u64,
    /// True if the agent recovered.
    pub recovered: bool,
    /// True if the fault was detected at or before the timeout budget.
    pub clean_timeout: bool,
}

/// Folds the marks of a call into a report. Marks from before the call started did not happen.
pub fn score_recovery(seen: &RecoveryObservation) -> RecoveryReport {
    let since_start = |mark: u64| mark.checked_sub(seen.call_start_ms);
    let detection = seen.detected_ms.and_then(since_start);
    let recovery = seen.recovered_ms.and_then(since_start);
    RecoveryReport {
        time_to_detection_ms: detection,
        time_to_recovery_ms: recovery,
        user_visible_hang_ms: detection.into_iter().chain(recovery).min().unwrap_or(seen.timeout_budget_ms),
        recovered: recovery.is_some(),
        clean_timeout: detection.is_some_and(|detection| detection <= seen.timeout_budget_ms),
    }
}

/// True if the agent recovered within a budget.
pub fn meets_recovery_budget(report: &RecoveryReport, max_recovery_ms: u64) -> bool {
    report.time_to_recovery_ms.is_some_and(|recovery| recovery <= max_recovery_ms)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(detected_ms: Option<u64>, recovered_ms: Option<u64>) -> RecoveryObservation {
        RecoveryObservation { call_start_ms: 1_000, detected_ms, recovered_ms, timeout_budget_ms: 3_000 }
    }

    #[test]
    fn a_timeout_at_the_budget_is_clean_and_one_after_it_is_not() {
        assert!(score_recovery(&seen(Some(4_000), None)).clean_timeout);
        let late = score_recovery(&seen(Some(10_000), Some(10_100)));
        assert!(!late.clean_timeout && late.recovered);
        assert_eq!(late.user_visible_hang_ms, 9_000);
        assert!(!meets_recovery_budget(&late, 5_000));
        assert!(meets_recovery_budget(&late, 9_100));
    }

    #[test]
    fn the_hang_ends_with_whatever_comes_first_and_else_with_the_budget() {
        assert_eq!(score_recovery(&seen(Some(3_000), Some(2_000))).user_visible_hang_ms, 1_000);
        assert_eq!(score_recovery(&seen(None, Some(9_000))).user_visible_hang_ms, 8_000);
        assert_eq!(score_recovery(&seen(None, None)).user_visible_hang_ms, 3_000);
    }

    #[test]
    fn marks_from_before_the_call_did_not_happen() {
        let report = score_recovery(&seen(Some(999), Some(0)));
        assert_eq!(report, score_recovery(&seen(None, None)));
        assert!(!report.recovered && !report.clean_timeout && !meets_recovery_budget(&report, u64::MAX));
    }

    /// Numbers near each other and at the ends of what there is.
    fn mark() -> impl Strategy<Value = u64> {
        prop_oneof![0_u64..20, u64::MAX - 20..=u64::MAX, any::<u64>()]
    }

    proptest! {
        #[test]
        fn times_are_differences_of_marks_and_never_wrap(
            call_start_ms in mark(),
            detected_ms in prop::option::of(mark()),
            recovered_ms in prop::option::of(mark()),
            timeout_budget_ms in mark(),
            max_recovery_ms in mark(),
        ) {
            let seen = RecoveryObservation { call_start_ms, detected_ms, recovered_ms, timeout_budget_ms };
            let report = score_recovery(&seen);
            for (time, mark) in
                [(report.time_to_detection_ms, detected_ms), (report.time_to_recovery_ms, recovered_ms)]
            {
                match time {
                    Some(time) => prop_assert_eq!(call_start_ms.checked_add(time), mark),
                    None => prop_assert!(mark.is_none_or(|mark| mark < call_start_ms)),
                }
            }
            prop_assert_eq!(report.recovered, report.time_to_recovery_ms.is_some());
            for time in report.time_to_detection_ms.into_iter().chain(report.time_to_recovery_ms) {
                prop_assert!(report.user_visible_hang_ms <= time);
            }
            if report.time_to_detection_ms.is_none() && !report.recovered {
                prop_assert!(report.user_visible_hang_ms <= timeout_budget_ms);
            }
            if report.clean_timeout {
                prop_assert!(report.user_visible_hang_ms <= timeout_budget_ms);
            }
            if meets_recovery_budget(&report, max_recovery_ms) {
                prop_assert!(report.recovered);
                prop_assert!(meets_recovery_budget(&report, u64::MAX));
            }
        }
    }
}
