//! Wall-clock time as files and the protocol write it.

/// Milliseconds since the Unix epoch as `2026-11-15T07:43:55.120Z`.
pub fn utc_timestamp(unix_ms: u64) -> String {
    let (days, ms) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1_000)
}

/// The date of a day since 1970-01-01, counted in eras of 400 years that begin in March, so that leap days come last.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (unix_ms, wanted) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_827_696_789, "2000-02-29T12:34:56.789Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_767_225_600_000, "2026-01-01T00:00:00.000Z"),
            (1_790_000_000_000, "2026-09-21T14:13:20.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(utc_timestamp(unix_ms), wanted);
        }
    }
}
