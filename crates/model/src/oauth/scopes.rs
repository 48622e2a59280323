//! The scopes that a client asks for (2026-07-28, "Scope Selection Strategy" and "Step-Up Authorization Flow").

use super::challenge::Challenge;
use super::metadata::{ResourceMetadata, ServerMetadata};

/// The scope that asks for a refresh token.
const OFFLINE: &str = "offline_access";

/// The scopes in a parameter.
pub fn split_scopes(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// The scopes of the first login: those that the user wants, the challenge names, or the resource lists.
pub fn choose_scopes(
    wanted: Option<&[String]>,
    challenge: Option<&Challenge>,
    resource: &ResourceMetadata,
    server: &ServerMetadata,
) -> Vec<String> {
    if let Some(wanted) = wanted {
        return wanted.to_vec();
    }
    let challenged = challenge.and_then(|challenge| challenge.parameter("scope")).map(split_scopes);
    let listed = || resource.scopes_supported.clone().unwrap_or_default();
    let mut scopes = challenged.filter(|scopes| !scopes.is_empty()).unwrap_or_else(listed);
    let has_offline = server.scopes_supported.as_ref().is_some_and(|all| all.iter().any(|scope| scope == OFFLINE));
    // Alone it would replace the scopes that the server grants when none are asked for.
    if has_offline && !scopes.is_empty() && !scopes.iter().any(|scope| scope == OFFLINE) {
        scopes.push(OFFLINE.to_owned());
    }
    scopes
}

/// The scopes to ask for after a refusal; `None` if all of them were asked for before, so that asking again is useless.
pub fn step_up_scopes(asked: &[String], challenge: &Challenge) -> Option<Vec<String>> {
    let wanted = split_scopes(challenge.parameter("scope")?);
    let all = union_of_scopes(asked, &wanted);
    (all.len() > asked.len()).then_some(all)
}

/// Both, in order, without repetition.
pub fn union_of_scopes(first: &[String], second: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in first.iter().chain(second) {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oauth::parse_challenges;

    fn list(text: &str) -> Vec<String> {
        split_scopes(text)
    }

    #[test]
    fn the_challenge_goes_before_the_list() {
        let resource = ResourceMetadata { scopes_supported: Some(list("a b")), ..ResourceMetadata::default() };
        let server = ServerMetadata::default();
        let challenge = parse_challenges("Bearer scope=\"c\"").remove(0);
        let bare = parse_challenges("Bearer").remove(0);
        assert_eq!(choose_scopes(Some(&list("z")), Some(&challenge), &resource, &server), list("z"));
        assert_eq!(choose_scopes(None, Some(&challenge), &resource, &server), list("c"));
        assert_eq!(choose_scopes(None, Some(&bare), &resource, &server), list("a b"));
        assert!(choose_scopes(None, None, &ResourceMetadata::default(), &server).is_empty());
        let offline = ServerMetadata { scopes_supported: Some(list("a offline_access")), ..server };
        assert_eq!(choose_scopes(None, Some(&challenge), &resource, &offline), list("c offline_access"));
        assert!(choose_scopes(None, None, &ResourceMetadata::default(), &offline).is_empty());
    }

    #[test]
    fn a_step_up_adds_to_what_was_asked_for() {
        let challenge = parse_challenges("Bearer error=\"insufficient_scope\", scope=\"b c\"").remove(0);
        assert_eq!(step_up_scopes(&list("a b"), &challenge), Some(list("a b c")));
        assert_eq!(step_up_scopes(&list("c b"), &challenge), None);
        assert_eq!(step_up_scopes(&[], &parse_challenges("Bearer").remove(0)), None);
    }
}
