//! Passwords in URLs: `http://user:password@host/`, or `http://token@host/` where the user name is as long as a token.

use std::borrow::Cow;
use std::ops::Range;

/// Names of users that are as long as this are tokens, if no password follows them.
const TOKEN: usize = 16;

/// A URL for display: with `***` in place of a password.
pub fn without_password(url: &str) -> Cow<'_, str> {
    match password(url) {
        Some(Range { start, end }) => Cow::Owned(format!("{}***{}", &url[..start], &url[end..])),
        None => Cow::Borrowed(url),
    }
}

/// The password in a URL, as it is written there.
pub fn password_in(url: &str) -> Option<&str> {
    password(url).map(|range| &url[range])
}

/// Positions of passwords in a string that may contain several URLs.
pub fn passwords(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices("://").map(|(at, sign)| at + sign.len());
    starts.filter_map(|start| of_authority(text, start, Name::MayBeToken)).collect()
}

/// Position of the password. An authority alone will do too.
fn password(url: &str) -> Option<Range<usize>> {
    match url.find("://") {
        Some(at) => of_authority(url, at + 3, Name::MayBeToken),
        // In a string that is not a URL, anything may precede the `@`.
        None => of_authority(url, 0, Name::IsName),
    }
}

/// Form of a user name.
#[derive(Clone, Copy, PartialEq)]
enum Name {
    IsName,
    MayBeToken,
}

/// The password in the authority that begins at `start`: after the first colon of what is before its last `@`.
fn of_authority(url: &str, start: usize, name: Name) -> Option<Range<usize>> {
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let user_end = start + url[start..end].rfind('@')?;
    let name_end = url[start..user_end].find(':').map_or(user_end, |at| start + at);
    if name_end + 1 < user_end {
        return Some(name_end + 1..user_end);
    }
    let user = &url[start..name_end];
    let is_token = name == Name::MayBeToken && user.chars().count() >= TOKEN && !user.contains(char::is_whitespace);
    is_token.then_some(start..name_end)
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
            ("http://ghp_0123456789ab@host/", "http://***@host/"),
            ("http://ghp_0123456789ab:@host/", "http://***:@host/"),
            ("http://ghp_0123456789ab:x@host/", "http://ghp_0123456789ab:***@host/"),
            ("a-package-with-a-long-name@1.2.3", "a-package-with-a-long-name@1.2.3"),
            ("http://host:8080/a:b@c", "http://host:8080/a:b@c"),
            ("http://host?x=a:b@c", "http://host?x=a:b@c"),
            ("", ""),
        ] {
            assert_eq!(without_password(url), wanted);
        }
        assert_eq!(password_in("http://me:s3cret@host/"), Some("s3cret"));
    }
}
