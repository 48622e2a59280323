//! Credentials in command arguments and URLs, recognised by name and position: `--api-key VALUE`, `GITHUB_TOKEN=VALUE`,
//! `Authorization: Bearer VALUE`, `?token=VALUE`, `//user:VALUE@`.

use std::ops::Range;

use crate::{Redactor, Target, passwords};

/// Suffixes of the names of credentials, without separators.
const ENDINGS: &[&str] = &["accesskey", "apikey", "passwd", "password", "secret", "secretkey", "token"];

/// Last words of the names of credentials; they must match as whole words.
const LAST_WORDS: &[&str] = &["auth", "bearer", "pass", "passphrase", "pat", "pwd"];

/// First words of flags that take no value, so that what follows them is something else.
const SWITCHES: &[&str] = &["allow", "disable", "enable", "no", "require", "skip", "use", "without"];

/// Names of URL parameters that are also credentials; on a command line they may mean anything.
const PARAMETERS: &[&str] = &["code", "key", "sig", "signature"];

/// Names of headers that are also credentials.
const HEADERS: &[&str] = &["authorization", "proxyauthorization", "cookie", "setcookie"];

/// Words before a credential that say of which kind it is.
const SCHEMES: &[&str] = &["basic", "bearer", "token"];

/// A value with the name or the position of a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential<'t> {
    /// Its kind, with its name.
    pub kind: CredentialKind<'t>,
    /// The string that contains it: the number of a command argument, 0 for a URL.
    pub word: usize,
    /// Its position in that string.
    pub range: Range<usize>,
    /// The value as written there.
    pub value: &'t str,
}

/// Evidence for a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind<'t> {
    /// A name before it, without dashes.
    Named(&'t str),
    /// The header whose value it is, without its scheme.
    Header(&'t str),
    /// Its place in a URL, however short it is.
    Password,
}

impl Target {
    /// The credentials in its command arguments or its URL, without overlaps.
    pub fn credentials(&self) -> Vec<Credential<'_>> {
        match self {
            Self::Stdio { args, .. } => in_words(args),
            Self::Remote { url, .. } => kept(in_address(url, 0)),
            Self::Mock { .. } | Self::Cassette { .. } => Vec::new(),
        }
    }
}

/// True if a string consists only of words that name the kind of the credential next to it.
pub fn is_scheme(text: &str) -> bool {
    SCHEMES.contains(&text.trim().to_ascii_lowercase().as_str())
}

fn in_words(words: &[String]) -> Vec<Credential<'_>> {
    let mut all = Vec::new();
    let mut is_value = false;
    for (at, word) in words.iter().enumerate() {
        let mut found = Vec::new();
        let name = without_dashes(word);
        // The flag before it says what it is.
        if is_value && !word.starts_with('-') {
            found.push(credential(CredentialKind::Named(without_dashes(&words[at - 1])), at, word, word));
        }
        is_value =
            variable_at_once(word).is_none() && name.len() < word.len() && is_credential(name) && !is_switch(name);
        found.extend(in_pair(name, at, word));
        found.extend(in_header(word, at));
        if word.contains("://") {
            found.extend(in_address(word, at));
        }
        all.extend(kept(found));
    }
    all
}

fn without_dashes(word: &str) -> &str {
    variable_at_once(word).unwrap_or_else(|| word.trim_start_matches('-'))
}

/// The variable that follows `-e` at once.
fn variable_at_once(word: &str) -> Option<&str> {
    word.strip_prefix("-e").filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_'))
}

/// `NAME=VALUE`, and `--env=NAME=VALUE`.
fn in_pair<'t>(text: &'t str, at: usize, word: &'t str) -> Option<Credential<'t>> {
    let (name, value) = text.split_once('=')?;
    if is_credential(name) {
        return Some(credential(CredentialKind::Named(name), at, word, value));
    }
    is_name(name).then(|| in_pair(value, at, word))?
}

/// `NAME: VALUE`, alone or after a flag.
fn in_header(word: &str, at: usize) -> Option<Credential<'_>> {
    let flag = word
        .strip_prefix("-H")
        .or_else(|| word.split_once('=').filter(|_| word.starts_with('-')).map(|(_, rest)| rest));
    let (name, value) = flag.unwrap_or(word).split_once(':')?;
    let plain_name = plain(name);
    let is_wanted =
        is_name(name) && (HEADERS.contains(&plain_name.as_str()) || last_word(name) == "key" || is_credential(name));
    // The name before `//` is that of a scheme.
    if !is_wanted || value.starts_with("//") {
        return None;
    }
    let value = value.trim();
    let value = value.split_once(' ').filter(|(scheme, _)| is_scheme(scheme)).map_or(value, |(_, token)| token.trim());
    Some(credential(CredentialKind::Header(name), at, word, value))
}

fn in_address(text: &str, at: usize) -> Vec<Credential<'_>> {
    let passwords = passwords(text).into_iter();
    let mut found: Vec<Credential<'_>> =
        passwords.map(|range| credential(CredentialKind::Password, at, text, &text[range])).collect();
    let Some((_, query)) = text.split_once('?') else { return found };
    let query = query.split_once('#').map_or(query, |(query, _)| query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let is_wanted = |name: &str| is_credential(name) || PARAMETERS.contains(&plain(name).as_str());
    let wanted = pairs.filter(|(name, _)| is_wanted(name));
    found.extend(wanted.map(|(name, value)| credential(CredentialKind::Named(name), at, text, value)));
    found
}

/// `value` is a part of `text`.
fn credential<'t>(kind: CredentialKind<'t>, word: usize, text: &'t str, value: &'t str) -> Credential<'t> {
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    Credential { kind, word, range: start..start + value.len(), value }
}

/// The credentials with a real value, in order, without those contained in others.
fn kept(mut found: Vec<Credential<'_>>) -> Vec<Credential<'_>> {
    found.retain(|credential| match credential.kind {
        CredentialKind::Password => true,
        // A reference to a variable reveals nothing.
        CredentialKind::Named(_) | CredentialKind::Header(_) => {
            let is_reference = credential.value.starts_with("${") && credential.value.ends_with('}');
            credential.value.chars().count() >= Redactor::SHORTEST && !is_reference
        }
    });
    found.sort_by_key(|credential| (credential.range.start, std::cmp::Reverse(credential.range.end)));
    let mut end = 0;
    found.retain(|credential| {
        let is_apart = credential.range.start >= end;
        end = end.max(credential.range.end);
        is_apart
    });
    found
}

/// True if values of that name are credentials.
pub fn is_credential(name: &str) -> bool {
    let plain = plain(name);
    let is_called_so = ENDINGS.iter().any(|ending| plain.ends_with(ending));
    is_name(name) && (is_called_so || LAST_WORDS.contains(&last_word(name).as_str()))
}

/// A name is one word or a few; anything else before an equals sign is not a name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || is_between_words(c))
}

fn is_switch(name: &str) -> bool {
    let first = name.split(is_between_words).next().unwrap_or_default();
    SWITCHES.contains(&first.to_ascii_lowercase().as_str())
}

fn last_word(name: &str) -> String {
    name.rsplit(is_between_words).next().unwrap_or_default().to_ascii_lowercase()
}

fn is_between_words(c: char) -> bool {
    matches!(c, '-' | '_' | '.')
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(target: &Target) -> Vec<(&str, &str)> {
        let name = |kind| match kind {
            CredentialKind::Named(name) | CredentialKind::Header(name) => name,
            CredentialKind::Password => "",
        };
        target.credentials().iter().map(|credential| (name(credential.kind), credential.value)).collect()
    }

    #[test]
    fn they_are_known_by_their_names() {
        let stdio = |words: &str| Target::Stdio {
            command: "run".to_owned(),
            args: words.split(' ').map(|word| word.replace('+', " ")).collect(),
            env: Vec::new(),
            cwd: None,
            docker: None,
        };
        for (words, expected) in [
            ("--token hunter22 x", vec![("token", "hunter22")]),
            ("-token=hunter22", vec![("token", "hunter22")]),
            ("--figma-api-key=hunter22 --stdio", vec![("figma-api-key", "hunter22")]),
            ("-e GITHUB_TOKEN=hunter22 image", vec![("GITHUB_TOKEN", "hunter22")]),
            ("-e GITHUB_TOKEN image -eGITHUB_TOKEN an-image", vec![]),
            ("token hunter22", vec![]),
            ("--token --verbose", vec![]),
            ("--token short", vec![]),
            ("--max-tokens 1000000 --token-file secrets.txt --key server.pem", vec![]),
            ("select:a=password=hunter22", vec![]),
            ("--env=BAR_TOKEN=hunter22", vec![("BAR_TOKEN", "hunter22")]),
            ("-eFOO_TOKEN=hunter22 -e DB_PASS=hunter33", vec![("FOO_TOKEN", "hunter22"), ("DB_PASS", "hunter33")]),
            ("--auth hunter22 --pat hunter33", vec![("auth", "hunter22"), ("pat", "hunter33")]),
            ("--bearer=hunter22 --github-pat hunter33", vec![("bearer", "hunter22"), ("github-pat", "hunter33")]),
            ("--no-auth server.js --bypass=firewall --path src/main.rs --oauth server.js", vec![]),
            ("-e TOKEN=${TOKEN} --header Authorization:${AUTH_HEADER}", vec![]),
            ("postgresql://user:hunter22@localhost/db", vec![("", "hunter22")]),
            ("--db=redis://:pw@a,redis://:word@b", vec![("", "pw"), ("", "word")]),
            ("https://x/mcp?api_key=hunter22", vec![("api_key", "hunter22")]),
            ("--token=http://a:b@c", vec![("token", "http://a:b@c")]),
            ("--header Authorization:+Bearer+hunter22", vec![("Authorization", "hunter22")]),
            ("--header=authorization:hunter22", vec![("authorization", "hunter22")]),
            ("-HCookie:+a=hunter22;+b=c", vec![("Cookie", "a=hunter22; b=c")]),
            (
                "X-API-Key:hunter22 X-Functions-Key:+hunter33",
                vec![("X-API-Key", "hunter22"), ("X-Functions-Key", "hunter33")],
            ),
            ("Accept:+application/json secret://vault/path", vec![]),
        ] {
            assert_eq!(found(&stdio(words)), expected, "{words}");
        }
        for (url, expected) in [
            ("http://x/mcp?a=b&api_key=hunter22#token=fragment", vec![("api_key", "hunter22")]),
            ("http://x?key=hunter22&SIG=abcdef1", vec![("key", "hunter22"), ("SIG", "abcdef1")]),
            ("http://x/token=hunter22?monkey=hunter22", vec![]),
            ("http://x?code=hunter22&auth=hunter33", vec![("code", "hunter22"), ("auth", "hunter33")]),
            ("http://me:p@x?token=hunter22", vec![("", "p"), ("token", "hunter22")]),
            ("http://ghp_0123456789ab@x http://me@x", vec![("", "ghp_0123456789ab")]),
        ] {
            assert_eq!(found(&Target::http(url, Vec::new())), expected, "{url}");
        }
    }
}
