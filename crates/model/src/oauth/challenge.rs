//! `WWW-Authenticate`: the challenges of a response (RFC 9110 section 11.6.1), read leniently.

/// One challenge: a scheme and its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// The scheme as it was written.
    pub scheme: String,
    /// The parameters, with names in lower case.
    pub parameters: Vec<(String, String)>,
    /// Names of parameters whose values should have been quoted.
    pub unquoted: Vec<String>,
}

impl Challenge {
    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// True if it asks for more scopes than the token has.
    pub fn wants_scope(&self) -> bool {
        self.parameter("error") == Some("insufficient_scope")
    }

    /// Number of parameters that a client of this protocol can use.
    fn usable(&self) -> usize {
        ["resource_metadata", "scope", "error"].into_iter().filter(|name| self.parameter(name).is_some()).count()
    }
}

/// The challenge for bearer tokens among the `WWW-Authenticate` headers of a response; one for DPoP tokens otherwise. A
/// proxy may add one without parameters, so the first of those with most parameters counts.
pub fn bearer_challenge<'h>(headers: impl IntoIterator<Item = &'h str>) -> Option<Challenge> {
    let all: Vec<Challenge> = headers.into_iter().flat_map(parse_challenges).collect();
    let of = |scheme: &str| {
        let known = all.iter().filter(|challenge| challenge.scheme.eq_ignore_ascii_case(scheme));
        known.rev().max_by_key(|challenge| challenge.usable()).cloned()
    };
    of("bearer").or_else(|| of("dpop"))
}

/// True if a challenge among the `WWW-Authenticate` headers wants a proof with a nonce (RFC 9449 section 9).
pub fn wants_dpop_nonce<'h>(headers: impl IntoIterator<Item = &'h str>) -> bool {
    let mut all = headers.into_iter().flat_map(parse_challenges);
    all.any(|challenge| challenge.parameter("error") == Some("use_dpop_nonce"))
}

/// All challenges of one header.
pub fn parse_challenges(header: &str) -> Vec<Challenge> {
    let mut challenges: Vec<Challenge> = Vec::new();
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return challenges;
        }
        let end = rest.find([' ', '\t', ',', '=', '"']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if end == 0 {
            // Not a token: passed over.
            rest = &rest[rest.chars().next().map_or(1, char::len_utf8)..];
            continue;
        }
        let Some(value) = after.trim_start().strip_prefix('=') else {
            challenges.push(Challenge { scheme: word.to_owned(), ..Challenge::default() });
            rest = after;
            continue;
        };
        let name = word.to_ascii_lowercase();
        let (value, is_quoted, remaining) = read_value(value.trim_start());
        rest = remaining;
        let Some(challenge) = challenges.last_mut() else { continue };
        if !is_quoted && value.contains([':', '/']) {
            challenge.unquoted.push(name.clone());
        }
        challenge.parameters.push((name, value));
    }
}

/// A value, true if it was quoted, and what follows it.
fn read_value(text: &str) -> (String, bool, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), false, &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, true, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, true, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_with_their_parameters() {
        let header = r#"Basic realm="a, b", Bearer error="insufficient_scope", scope="files:read files:write",resource_metadata="https://x/.well-known/oauth-protected-resource", error_description="say \"please\"""#;
        let all = parse_challenges(header);
        assert_eq!(all.iter().map(|one| one.scheme.as_str()).collect::<Vec<_>>(), ["Basic", "Bearer"]);
        assert_eq!(all[0].parameter("realm"), Some("a, b"));
        let bearer = bearer_challenge([header]).expect("there");
        assert!(bearer.wants_scope() && bearer.unquoted.is_empty());
        assert_eq!(bearer.parameter("scope"), Some("files:read files:write"));
        assert_eq!(bearer.parameter("error_description"), Some("say \"please\""));
    }

    #[test]
    fn odd_headers_are_read_as_far_as_they_go() {
        let bearer =
            bearer_challenge(["Negotiate", "bearer Resource_Metadata=https://x/y?a=b, scope=one"]).expect("there");
        assert_eq!(bearer.parameter("resource_metadata"), Some("https://x/y?a=b"));
        assert_eq!(bearer.parameter("scope"), Some("one"));
        assert_eq!(bearer.unquoted, ["resource_metadata"]);
        for (header, schemes) in
            [("", 0), (",,,", 0), ("=\"", 0), ("Bearer", 1), ("Bearer realm=\"open", 1), ("a=b Bearer", 1)]
        {
            assert_eq!(parse_challenges(header).len(), schemes, "{header}");
        }
        assert_eq!(bearer_challenge(["Basic realm=\"x\""]), None);
    }

    #[test]
    fn of_several_challenges_the_most_useful_one_counts() {
        let metadata = |headers: &[&str]| {
            let found = bearer_challenge(headers.iter().copied()).expect("there");
            (found.scheme.clone(), found.parameter("resource_metadata").map(str::to_owned))
        };
        let of = |scheme: &str, url: Option<&str>| (scheme.to_owned(), url.map(str::to_owned));
        let full = "Bearer resource_metadata=\"https://x/y\"";
        assert_eq!(metadata(&["Bearer realm=\"proxy\"", full]), of("Bearer", Some("https://x/y")));
        assert_eq!(
            metadata(&["Bearer, DPoP algs=\"ES256\", Bearer resource_metadata=\"https://x/y\""]),
            of("Bearer", Some("https://x/y"))
        );
        assert_eq!(metadata(&[full, "Bearer resource_metadata=\"https://x/z\""]), of("Bearer", Some("https://x/y")));
        assert_eq!(metadata(&["Negotiate YII==, DPoP algs=\"ES256\""]), of("DPoP", None));
        let both = [full, "DPoP error=\"use_dpop_nonce\""];
        assert!(wants_dpop_nonce(both) && !bearer_challenge(both).expect("there").wants_scope());
        assert!(!wants_dpop_nonce([full]));
    }
}
