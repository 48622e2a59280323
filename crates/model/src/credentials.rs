//! Credentials among the words of a command and the parameters of an address, known by what they are called:
//! `--api-key VALUE`, `GITHUB_TOKEN=VALUE`, `?token=VALUE`.

use crate::Target;

/// What the names of credentials end with, without anything between their words.
const ENDINGS: &[&str] = &["accesskey", "apikey", "passwd", "password", "secret", "secretkey", "token"];

/// What parameters of addresses are called that are credentials, too; on a command line they may be anything.
const PARAMETERS: &[&str] = &["key", "sig", "signature"];

/// Values of fewer characters are words, numbers and flags.
const SHORTEST: usize = 6;

/// A value that is called as credentials are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credential<'t> {
    /// What it is called, without dashes before it.
    pub name: &'t str,
    /// The value, as it stands there.
    pub value: &'t str,
}

impl Target {
    /// What is called a credential among the words of its command, or in its address.
    pub fn credentials(&self) -> Vec<Credential<'_>> {
        let found = match self {
            Self::Stdio { args, .. } => in_words(args),
            Self::Http { url, .. } | Self::Sse { url, .. } => in_address(url),
            Self::Mock { .. } | Self::Cassette { .. } => Vec::new(),
        };
        found.into_iter().filter(|credential| credential.value.chars().count() >= SHORTEST).collect()
    }
}

fn in_words(words: &[String]) -> Vec<Credential<'_>> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let name = word.trim_start_matches('-');
        if let Some((name, value)) = name.split_once('=') {
            if is_credential(name) {
                found.push(Credential { name, value });
            }
        } else if name.len() < word.len()
            && is_credential(name)
            && let Some(value) = words.get(at + 1).filter(|value| !value.starts_with('-'))
        {
            found.push(Credential { name, value });
        }
    }
    found
}

fn in_address(url: &str) -> Vec<Credential<'_>> {
    let Some((_, query)) = url.split_once('?') else { return Vec::new() };
    let query = query.split_once('#').map_or(query, |(query, _)| query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let is_wanted = |name: &str| is_credential(name) || PARAMETERS.contains(&plain(name).as_str());
    pairs.filter(|(name, _)| is_wanted(name)).map(|(name, value)| Credential { name, value }).collect()
}

fn is_credential(name: &str) -> bool {
    // A name is a word or a few; what else stands before an equals sign is no name.
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let plain = plain(name);
    is_name && ENDINGS.iter().any(|ending| plain.ends_with(ending))
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(target: &Target) -> Vec<(&str, &str)> {
        target.credentials().iter().map(|credential| (credential.name, credential.value)).collect()
    }

    #[test]
    fn they_are_known_by_their_names() {
        let stdio = |words: &str| Target::Stdio {
            command: "run".to_owned(),
            args: words.split(' ').map(str::to_owned).collect(),
            env: Vec::new(),
            cwd: None,
            docker: None,
        };
        for (words, expected) in [
            ("--token hunter22 x", vec![("token", "hunter22")]),
            ("-token=hunter22", vec![("token", "hunter22")]),
            ("--figma-api-key=hunter22 --stdio", vec![("figma-api-key", "hunter22")]),
            ("-e GITHUB_TOKEN=hunter22 image", vec![("GITHUB_TOKEN", "hunter22")]),
            ("-e GITHUB_TOKEN image", vec![]),
            ("token hunter22", vec![]),
            ("--token --verbose", vec![]),
            ("--token short", vec![]),
            ("--max-tokens 1000000 --token-file secrets.txt --key server.pem", vec![]),
            ("select:a=password=hunter22", vec![]),
        ] {
            assert_eq!(found(&stdio(words)), expected, "{words}");
        }
        for (url, expected) in [
            ("http://x/mcp?a=b&api_key=hunter22#token=fragment", vec![("api_key", "hunter22")]),
            ("http://x?key=hunter22&SIG=abcdef1", vec![("key", "hunter22"), ("SIG", "abcdef1")]),
            ("http://x/token=hunter22?monkey=hunter22", vec![]),
        ] {
            assert_eq!(found(&Target::Http { url: url.to_owned(), headers: Vec::new() }), expected, "{url}");
        }
    }
}
