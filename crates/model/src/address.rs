//! Passwords in addresses: `http://user:password@host/`.

use std::borrow::Cow;
use std::ops::Range;

/// An address as it may be shown: with `***` in the place of a password.
pub fn without_password(url: &str) -> Cow<'_, str> {
    match password(url) {
        Some(Range { start, end }) => Cow::Owned(format!("{}***{}", &url[..start], &url[end..])),
        None => Cow::Borrowed(url),
    }
}

/// The password in an address, as it is written there.
pub fn password_in(url: &str) -> Option<&str> {
    password(url).map(|range| &url[range])
}

/// Where the password stands: after the first colon of what is before the last `@` of the authority. An authority alone
/// will do too.
fn password(url: &str) -> Option<Range<usize>> {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let user_end = start + url[start..end].rfind('@')?;
    let colon = start + url[start..user_end].find(':')?;
    (colon + 1 < user_end).then_some(colon + 1..user_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_password_is_left_out() {
        for (url, wanted) in [
            ("http://me:s3cret@host:80/mcp?a=b:c@d", "http://me:***@host:80/mcp?a=b:c@d"),
            ("https://:s3cret@host", "https://:***@host"),
            ("http://me:p@ss:w@host/x", "http://me:***@host/x"),
            ("me:s3cret@host:80", "me:***@host:80"),
            ("http://me@host/", "http://me@host/"),
            ("http://me:@host/", "http://me:@host/"),
            ("http://host:8080/a:b@c", "http://host:8080/a:b@c"),
            ("http://host?x=a:b@c", "http://host?x=a:b@c"),
            ("", ""),
        ] {
            assert_eq!(without_password(url), wanted);
        }
        assert_eq!(password_in("http://me:s3cret@host/"), Some("s3cret"));
    }
}
