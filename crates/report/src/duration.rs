//! Durations as people say them.

/// A duration in microseconds, as short as it can be without hiding a difference that matters.
pub(crate) fn human(us: u64) -> String {
    let ms = us / 1_000;
    let seconds = ms / 1_000;
    match ms {
        0 => "<1ms".to_owned(),
        1..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{seconds}.{}s", ms % 1_000 / 100),
        _ => format!("{}m {:02}s", seconds / 60, seconds % 60),
    }
}

/// A duration in whole milliseconds, rounded to the nearest.
pub(crate) fn whole_ms(us: u64) -> u64 {
    us.saturating_add(500) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_naturally() {
        let said: Vec<_> =
            [0, 999, 1_000, 999_999, 1_250_000, 59_999_999, 60_000_000, 3_723_000_000].into_iter().map(human).collect();
        assert_eq!(said, ["<1ms", "<1ms", "1ms", "999ms", "1.2s", "59.9s", "1m 00s", "62m 03s"]);
        assert_eq!(whole_ms(1_499), 1);
        assert_eq!(whole_ms(1_500), 2);
    }
}
