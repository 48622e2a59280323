//! What would have made a run faster.

use std::time::Duration;

/// Runs shorter than this are not worth a hint.
const WORTHWHILE: Duration = Duration::from_secs(2);

/// Says what `--jobs auto` would have done for a run that went one case after the other; `durations` are of cases, or of
/// several that share a server.
pub(crate) fn parallel_hint(durations: &[Duration], jobs: usize, cores: usize) -> Option<String> {
    let total: Duration = durations.iter().sum();
    if jobs != 1 || cores < 2 || durations.len() < 2 || total < WORTHWHILE {
        return None;
    }
    let longest = durations.iter().max().copied().unwrap_or_default();
    let side_by_side = longest.max(total / u32::try_from(cores.min(durations.len())).unwrap_or(u32::MAX));
    if side_by_side > total.mul_f64(0.8) {
        return None;
    }
    Some(format!(
        "with `--jobs auto` ({cores} at a time) this would take about {:.1} s instead of {:.1} s",
        side_by_side.as_secs_f64(),
        total.as_secs_f64()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speaks_up_only_when_it_would_help() {
        let secs = |list: &[u64]| list.iter().map(|s| Duration::from_secs(*s)).collect::<Vec<_>>();
        let hint = parallel_hint(&secs(&[2, 2, 2, 2]), 1, 2).expect("it would help");
        assert!(hint.contains("about 4.0 s instead of 8.0 s"), "{hint}");
        assert_eq!(parallel_hint(&secs(&[8, 1]), 1, 2), None);
        assert_eq!(parallel_hint(&secs(&[2, 2]), 2, 2), None);
        assert_eq!(parallel_hint(&secs(&[2, 2]), 1, 1), None);
        assert_eq!(parallel_hint(&[], 1, 2), None);
    }
}
