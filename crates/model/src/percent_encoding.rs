//! Percent-encoding of URLs and forms.

/// A text with every byte but the plain ones as `%2F`.
pub fn percent_encoded(text: &str, is_plain: fn(u8) -> bool) -> String {
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// True for the bytes that no part of a URL needs to encode.
pub fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}
