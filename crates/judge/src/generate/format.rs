//! Texts of the formats that JSON Schema names.

/// Texts of each format, the plainest first, in the order of their names.
const FORMATS: &[(&str, &[&str])] = &[
    ("base64", &["aGVsbG8=", "d29ybGQ="]),
    ("binary", &["hello", "world"]),
    ("byte", &["aGVsbG8=", "d29ybGQ="]),
    ("color", &["#336699", "#ffffff"]),
    ("cron", &["0 9 * * 1", "*/5 * * * *"]),
    ("date", &["2024-01-15", "2024-02-29", "1999-12-31"]),
    ("date-time", &["2024-01-15T09:30:00Z", "2024-02-29T23:59:59Z", "1999-12-31T12:00:00+02:00"]),
    ("datetime", &["2024-01-15T09:30:00Z", "2024-02-29T23:59:59Z"]),
    ("directory-path", &["docs", "src"]),
    ("duration", &["PT1H", "P1D", "P1Y2M3DT4H5M6S", "P2W"]),
    ("email", &["user@example.com", "a@b.co", "first.last@example.org"]),
    ("file-path", &["notes.txt", "README.md"]),
    ("hostname", &["example.com", "localhost", "a", "www.example.org"]),
    ("idn-email", &["user@example.com", "a@b.co"]),
    ("idn-hostname", &["example.com", "localhost", "a"]),
    ("ip", &["192.0.2.1", "10.0.0.1"]),
    ("ipv4", &["192.0.2.1", "10.0.0.1", "1.1.1.1", "127.0.0.1", "203.0.113.250", "198.51.100.100"]),
    ("ipv6", &["2001:db8::1", "::1", "::", "fe80::1", "2001:db8:0:0:0:0:0:2"]),
    ("iri", &["https://example.com/", "a:b", "https://example.com/a"]),
    ("iri-reference", &["https://example.com/", "a", "docs/a"]),
    ("json", &["{}", "[]"]),
    ("json-pointer", &["/name", "", "/a/0", "/items/0/name"]),
    ("multi-line", &["first\nsecond"]),
    ("password", &["Correct-horse-7", "Another-pass-8"]),
    ("path", &["notes.txt", "docs/readme.md"]),
    ("phone", &["+1 555 0100", "+49 30 1234567"]),
    ("regex", &["^[a-z]+$", "a", ".*"]),
    ("relative-json-pointer", &["1/name", "0", "2#"]),
    ("semver", &["1.0.0", "2.1.3"]),
    ("slug", &["example", "another-one"]),
    ("time", &["09:30:00Z", "23:59:59Z", "12:00:00+02:00"]),
    ("uri", &["https://example.com/", "a:b", "https://example.com/docs?q=1#top"]),
    ("uri-reference", &["https://example.com/", "a", "", "docs/a?q=1"]),
    ("uri-template", &["https://example.com/{id}", "a", "", "{path}"]),
    ("url", &["https://example.com/", "http://a.co"]),
    ("uuid", &["f81d4fae-7dec-41d0-8765-00a0c91e6bf6", "123e4567-e89b-42d3-a456-426614174000"]),
];

/// Texts of a format; none when the format is not known.
pub(crate) fn texts(format: &str) -> Option<&'static [&'static str]> {
    let at = FORMATS.binary_search_by_key(&format, |(name, _)| name).ok()?;
    Some(FORMATS[at].1)
}

/// A text of a format with room for many: the nth of them, and one of a given length where the format can grow.
pub(crate) fn nth(format: &str, nth: u32, length: usize) -> Option<String> {
    let day = nth % 28 + 1;
    Some(match format {
        "date" => format!("2024-{:02}-{day:02}", nth / 28 % 12 + 1),
        "date-time" | "datetime" => {
            let text = format!("2024-01-{day:02}T{:02}:30:00", nth / 28 % 24);
            if length > 21 { format!("{text}.{}Z", "0".repeat(length - 21)) } else { format!("{text}Z") }
        }
        "time" => {
            let text = format!("{:02}:{:02}:00", nth / 60 % 24, nth % 60);
            if length > 10 { format!("{text}.{}Z", "0".repeat(length - 10)) } else { format!("{text}Z") }
        }
        "duration" => format!("PT{}H", padded(nth + 1, length.saturating_sub(3))),
        "uuid" => format!("f81d4fae-7dec-41d0-8765-{nth:012x}"),
        "ipv4" => format!("10.0.{}.{}", nth / 256 % 256, nth % 256),
        "ipv6" => format!("2001:db8::{:x}", nth % 65_536),
        "email" | "idn-email" => format!("user{}@{}", nth + 1, host(length.saturating_sub(16))),
        "hostname" | "idn-hostname" => format!("h{}.{}", nth + 1, host(length.saturating_sub(13))),
        "uri" | "iri" | "url" | "uri-reference" | "iri-reference" | "uri-template" => {
            let text = format!("https://example.com/{}", nth + 1);
            let more = length.saturating_sub(text.len());
            if more > 1 { format!("{text}/{}", "a".repeat(more - 1)) } else { text }
        }
        "json-pointer" => format!("/a{}{nth}", "a".repeat(length.saturating_sub(4))),
        "relative-json-pointer" => format!("{nth}/a{}", "a".repeat(length.saturating_sub(4))),
        "regex" => format!("a{}{nth}", "a".repeat(length.saturating_sub(4))),
        _ => return None,
    })
}

/// `example.com`, made longer with labels of at most 63 characters.
fn host(more: usize) -> String {
    let mut labels = String::new();
    let mut left = more.min(180);
    while left > 1 {
        let label = (left - 1).min(50);
        labels.push_str(&"a".repeat(label));
        labels.push('.');
        left -= label + 1;
    }
    format!("{labels}example.com")
}

fn padded(number: u32, digits: usize) -> String {
    format!("{number}{}", "0".repeat(digits.saturating_sub(number.to_string().len()).min(9)))
}

#[cfg(test)]
mod tests {
    use super::super::checked::Checked;
    use super::*;

    #[test]
    fn the_table_is_sorted_and_true() {
        assert!(FORMATS.is_sorted_by_key(|(name, _)| *name));
        let checked = Checked::default();
        for (format, texts) in FORMATS {
            for text in *texts {
                assert!(checked.has_format(format, text), "{text} is no {format}");
            }
        }
    }

    #[test]
    fn there_are_many_of_each_standard_format_and_long_ones() {
        let checked = Checked::default();
        for (format, _) in FORMATS.iter().filter(|(format, _)| nth(format, 0, 0).is_some()) {
            let many: std::collections::BTreeSet<String> =
                (0..40).filter_map(|number| nth(format, number, 0)).collect();
            assert_eq!(many.len(), 40, "{format}");
            for text in many.iter().chain(&nth(format, 3, 40)).chain(&nth(format, 3, 100)) {
                assert!(checked.has_format(format, text), "{text} is no {format}");
            }
        }
        assert!(nth("uri", 0, 200).is_some_and(|text| text.len() == 200));
        assert_eq!(texts("colour"), None);
    }
}
