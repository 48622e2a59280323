//! `SEC-061`: requests that claim more than was negotiated.
//!
//! Since revision 2026-07-28 every request carries the client's capabilities in its `_meta`; a claim is a top-level key
//! of them. The agreement is what the suite declares, else what the handshake said, else what the first request of the
//! session claimed.

use std::collections::{BTreeMap, BTreeSet};

use mcprove_model::{Era, Finding, Revision, Severity, escape_line, shorten};
use serde_json::Value;

use super::rules::WIDENING;

/// Key of the client's capabilities in a request of revision 2026-07-28.
const META_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Claim of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestClaim {
    /// The session it belongs to: claims of one session say nothing about another's.
    pub session: String,
    /// Its position among the requests of the trace, from 0.
    pub position: usize,
    /// The request as people would name it, e.g. `tools/call search`.
    pub request: String,
    /// True if it is the handshake, which is where the agreement is made.
    pub handshake: bool,
    /// The capabilities it claims; `None` when it carries none at all.
    pub capabilities: Option<Vec<String>>,
}

/// Amount of input for the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The target is from before requests restate capabilities.
    NotApplicable,
    /// There was nothing to compare, and why.
    Nothing(&'static str),
    /// So many requests were compared with an agreement.
    Checked(usize),
}

impl RequestClaim {
    /// Claim of a request, read from the message: for `initialize` the handshake's capabilities, for any other request
    /// those in its `_meta`.
    pub fn of_message(session: impl Into<String>, position: usize, message: &Value) -> Self {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = message.get("params");
        let field = |key: &str| params.and_then(|params| params.get(key));
        let handshake = method == "initialize";
        let claimed =
            if handshake { field("capabilities") } else { field("_meta").and_then(|meta| meta.get(META_KEY)) };
        let subject = ["name", "uri"].into_iter().find_map(|key| field(key).and_then(Value::as_str));
        Self {
            session: session.into(),
            position,
            request: [Some(method), subject].into_iter().flatten().collect::<Vec<_>>().join(" "),
            handshake,
            capabilities: claimed.and_then(Value::as_object).map(|keys| keys.keys().cloned().collect()),
        }
    }
}

/// The findings of `SEC-061`: one for each request that claims more than was negotiated. None for earlier targets.
pub fn widenings(target: &str, negotiated: Option<&[String]>, claims: &[RequestClaim]) -> Vec<Finding> {
    if !restates(target) {
        return Vec::new();
    }
    compared(negotiated, claims).filter_map(|(claim, agreement)| widening(claim, agreement)).collect()
}

/// Amount of input, so that a report can say where nothing could be checked.
pub fn coverage(target: &str, negotiated: Option<&[String]>, claims: &[RequestClaim]) -> Coverage {
    if !restates(target) {
        return Coverage::NotApplicable;
    }
    // What a handshake says is the agreement, not a request that could widen it.
    match compared(negotiated, claims).filter(|(claim, _)| !claim.handshake).count() {
        0 if claims.is_empty() => Coverage::Nothing("no request was made"),
        0 if claims.iter().all(|claim| claim.capabilities.is_none() || claim.handshake) => Coverage::Nothing(
            "no request restated the client's capabilities, so the sessions were not of that revision",
        ),
        0 => Coverage::Nothing("only one request of each session claimed anything, and it is the agreement itself"),
        count => Coverage::Checked(count),
    }
}

impl Coverage {
    /// A note for the report where nothing could be checked.
    pub fn note(&self) -> Option<Finding> {
        let Self::Nothing(why) = self else { return None };
        let note = Finding::note(WIDENING.id, format!("claimed capabilities could not be checked: {why}"));
        Some(note.help(
            "run against a server of revision 2026-07-28, or give a test its own `client_capabilities:`; declare \
             `security.capability_negotiation.negotiated` to have an agreement to compare with",
        ))
    }
}

/// True if requests of a target restate the client's capabilities; targets that are not known yet are later ones.
fn restates(target: &str) -> bool {
    match Revision::parse(target) {
        Some(revision) => revision.era() == Era::Modern,
        None => target > Revision::NEWEST.as_str() && target.starts_with(|c: char| c.is_ascii_digit()),
    }
}

/// Every claim that can be compared, with what was agreed for it.
fn compared<'c>(
    negotiated: Option<&'c [String]>,
    claims: &'c [RequestClaim],
) -> impl Iterator<Item = (&'c RequestClaim, &'c [String])> {
    let agreements = agreements(claims);
    claims.iter().filter_map(move |claim| {
        claim.capabilities.as_ref()?;
        if let Some(declared) = negotiated {
            return Some((claim, declared));
        }
        let first = *agreements.get(claim.session.as_str())?;
        let agreement = first.capabilities.as_deref()?;
        (!std::ptr::eq(first, claim)).then_some((claim, agreement))
    })
}

/// The claim of each session that is its agreement: the handshake, else the first request that claims anything.
fn agreements(claims: &[RequestClaim]) -> BTreeMap<&str, &RequestClaim> {
    let mut found: BTreeMap<&str, &RequestClaim> = BTreeMap::new();
    for claim in claims.iter().filter(|claim| claim.capabilities.is_some()) {
        let first = found.entry(&claim.session).or_insert(claim);
        if claim.handshake && !first.handshake {
            *first = claim;
        }
    }
    found
}

fn widening(claim: &RequestClaim, agreement: &[String]) -> Option<Finding> {
    let claimed = claim.capabilities.as_deref()?;
    let extra: BTreeSet<&str> =
        claimed.iter().map(String::as_str).filter(|name| !agreement.iter().any(|agreed| agreed == name)).collect();
    if extra.is_empty() {
        return None;
    }
    let shown: Vec<String> = extra.iter().map(|name| format!("`{}`", bounded(name))).collect();
    let (request, place) = (bounded(&claim.request), claim.position + 1);
    let verb = if extra.len() == 1 { "was" } else { "were" };
    let message = format!("request {place} (`{request}`) claims {}, which {verb} not negotiated", shown.join(" and "));
    let wider = agreement.iter().map(String::as_str).chain(extra);
    let help = format!(
        "do not claim it in this request, or, if it was agreed, write in the suite\n\
         security:\n  capability_negotiation:\n    target: \"2026-07-28\"\n    negotiated: {}\n\
         axis {}, {}",
        listed(wider),
        WIDENING.axis,
        WIDENING.source
    );
    let texts = |names: &'_ [String]| listed(names.iter().map(String::as_str));
    Some(
        Finding::new(WIDENING.id, Severity::High, message)
            .compared(format!("nothing beyond {}", texts(agreement)), texts(claimed))
            .help(help),
    )
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(bounded).collect();
    format!("[{}]", names.join(", "))
}

fn bounded(name: &str) -> String {
    escape_line(&shorten(name, 80)).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn claim(position: usize, capabilities: &[&str]) -> RequestClaim {
        RequestClaim {
            session: "s".into(),
            position,
            request: "tools/call search".into(),
            handshake: false,
            capabilities: Some(capabilities.iter().map(|&name| name.to_owned()).collect()),
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_widening_request_is_named_with_what_it_adds() {
        let claims = [claim(0, &["tools"]), claim(1, &["tools", "elicitation"])];
        let findings = widenings("2026-07-28", Some(&names(&["tools"])), &claims);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].rule, "SEC-061");
        assert_eq!(findings[0].severity, Severity::High);
        assert_eq!(
            findings[0].message,
            "request 2 (`tools/call search`) claims `elicitation`, which was not negotiated"
        );
        let help = findings[0].help.as_deref().unwrap_or_default();
        assert!(help.contains("negotiated: [tools, elicitation]"), "{help}");
        assert!(help.contains("capability-negotiation-widening") && help.contains("arXiv:2601.17549"), "{help}");
    }

    #[test]
    fn earlier_targets_have_nothing_to_do() {
        let claims = [claim(0, &["tools"]), claim(1, &["tools", "elicitation"])];
        for target in ["2025-11-25", "2025-03-26", "2024-11-05", "", "draft"] {
            assert!(widenings(target, Some(&names(&["tools"])), &claims).is_empty(), "{target}");
            assert_eq!(coverage(target, None, &claims), Coverage::NotApplicable, "{target}");
        }
        assert_eq!(widenings("2027-03-01", None, &claims).len(), 1);
    }

    #[test]
    fn without_a_declaration_the_handshake_counts_and_else_the_first_request_of_each_session() {
        let other = RequestClaim { session: "t".into(), ..claim(2, &["roots"]) };
        let claims = [claim(0, &["tools"]), claim(1, &["tools"]), other.clone(), claim(3, &["roots"])];
        let findings = widenings("2026-07-28", None, &claims);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.starts_with("request 4 "), "{}", findings[0].message);
        assert_eq!(coverage("2026-07-28", None, &claims), Coverage::Checked(2));

        let handshake = RequestClaim { handshake: true, ..claim(5, &["roots", "tools"]) };
        assert!(widenings("2026-07-28", None, &[claim(0, &["tools"]), handshake, claim(6, &["roots"])]).is_empty());
    }

    #[test]
    fn what_could_not_be_checked_is_told() {
        let silent = RequestClaim { capabilities: None, ..claim(0, &[]) };
        for claims in [vec![], vec![silent], vec![claim(0, &["tools"])]] {
            let coverage = coverage("2026-07-28", None, &claims);
            assert!(matches!(coverage, Coverage::Nothing(_)), "{claims:?}");
            let note = coverage.note().expect("a note");
            assert_eq!(note.severity, Severity::Note);
            assert!(note.message.starts_with("claimed capabilities could not be checked: "));
        }
        assert_eq!(coverage("2026-07-28", Some(&[]), &[claim(0, &[])]), Coverage::Checked(1));
        let handshake = RequestClaim { handshake: true, ..claim(0, &[]) };
        let silent = RequestClaim { capabilities: None, ..claim(1, &[]) };
        let legacy = coverage("2026-07-28", Some(&names(&["tools"])), &[handshake, silent]);
        assert!(matches!(legacy, Coverage::Nothing(why) if why.contains("restated")), "{legacy:?}");
        assert_eq!(Coverage::Checked(1).note(), None);
    }

    #[test]
    fn claims_are_read_from_messages() {
        let meta = json!({"io.modelcontextprotocol/clientCapabilities": {"roots": {}, "sampling": {}}});
        let call = json!({"method": "tools/call", "params": {"name": "search", "_meta": meta}});
        let read = RequestClaim::of_message("s", 3, &call);
        assert_eq!(read.request, "tools/call search");
        assert_eq!(read.capabilities, Some(names(&["roots", "sampling"])));
        let plain = RequestClaim::of_message("s", 0, &json!({"method": "ping"}));
        assert_eq!((plain.request.as_str(), plain.capabilities), ("ping", None));
        let hello = json!({"method": "initialize", "params": {"capabilities": {"roots": {"listChanged": true}}}});
        let hello = RequestClaim::of_message("s", 0, &hello);
        assert!(hello.handshake);
        assert_eq!(hello.capabilities, Some(names(&["roots"])));
    }

    proptest! {
        #[test]
        fn a_claim_is_a_finding_exactly_when_it_is_not_a_subset(
            agreed in prop::collection::vec("[a-d]", 0..4), claimed in prop::collection::vec("[a-d]", 0..4),
        ) {
            let one = RequestClaim { capabilities: Some(claimed.clone()), ..claim(0, &[]) };
            let findings = widenings("2026-07-28", Some(&agreed), &[one]);
            prop_assert_eq!(findings.is_empty(), claimed.iter().all(|name| agreed.contains(name)));
        }
    }
}
