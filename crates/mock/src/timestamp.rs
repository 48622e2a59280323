//! Moments as the protocol writes them.

/// A moment as `2026-01-01T00:00:00.000Z`.
pub(crate) fn iso_8601(unix_ms: u64) -> String {
    let (seconds, ms) = (unix_ms / 1000, unix_ms % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z", second / 3600, second / 60 % 60, second % 60)
}

/// The Gregorian date of a day since 1970-01-01, counted in years that begin with March so that leap days come last.
fn date(days: u64) -> (u64, u64, u64) {
    let since_0000_03_01 = days + 719_468;
    let era = since_0000_03_01 / 146_097;
    let day_of_era = since_0000_03_01 % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc() {
        assert_eq!(iso_8601(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_8601(951_827_696_789), "2000-02-29T12:34:56.789Z");
        assert_eq!(iso_8601(1_767_225_600_000), "2026-01-01T00:00:00.000Z");
    }
}
