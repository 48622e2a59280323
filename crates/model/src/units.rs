//! Numbers with units, as reports show them.

/// A duration in microseconds, in the unit that suits it.
pub fn duration_text(us: f64) -> String {
    if us < 1e3 {
        format!("{us:.0} µs")
    } else if us < 1e6 {
        format!("{} ms", number_text(us / 1e3))
    } else {
        format!("{} s", number_text(us / 1e6))
    }
}

/// A size in bytes, in the unit that suits it.
pub fn size_text(size: f64) -> String {
    let positive = size.abs();
    if positive < 0.5 {
        "0 B".to_owned()
    } else if positive < 1e3 {
        format!("{size:.0} B")
    } else if positive < 1e6 {
        format!("{} kB", number_text(size / 1e3))
    } else {
        format!("{} MB", number_text(size / 1e6))
    }
}

/// A number with about three digits.
pub fn number_text(value: f64) -> String {
    let positive = value.abs();
    if positive >= 100.0 || value == 0.0 {
        format!("{value:.0}")
    } else if positive >= 10.0 {
        format!("{value:.1}")
    } else if positive >= 0.01 {
        format!("{value:.2}")
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_suit_their_numbers() {
        assert_eq!([12.0, 1_500.0, 2_340_000.0].map(duration_text), ["12 µs", "1.50 ms", "2.34 s"]);
        assert_eq!([12.0, -1_500.0, 234_000_000.0].map(size_text), ["12 B", "-1.50 kB", "234 MB"]);
        assert_eq!([0.0, 0.001, 0.5, 12.34, 1234.5].map(number_text), ["0", "0.0010", "0.50", "12.3", "1234"]);
    }
}
