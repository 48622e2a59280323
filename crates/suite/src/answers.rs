//! Files with answers for a server that asks its client: the keys of `client_capabilities`. Pure: text in, answers out.

use mcprove_model::{ClientCapabilities, Diagnostics, Finding, SourceFile};

use crate::assertion_file::templates::Scope;
use crate::server::client_capabilities;
use crate::yaml;

/// The answers of a file, and the problems it has.
pub fn parse(source: &SourceFile) -> (ClientCapabilities, Vec<Finding>) {
    let (documents, mut findings) = yaml::parse(source);
    let mut found = Diagnostics::new(source);
    let client = documents.first().map(|node| client_capabilities::decode(node, &Scope::new(false), &mut found));
    findings.extend(found.into_findings());
    (client.unwrap_or_default(), findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_unknown_keys_are_found() {
        let (client, findings) = parse(&SourceFile::new("a.yml", "elicitation: {name: Ada}\nsampling: {text: hi}\n"));
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(client.sampling[0].text, "hi");
        assert_eq!(client.elicitation.expect("an answer").content, serde_json::json!({"name": "Ada"}));
        let (_, findings) = parse(&SourceFile::new("a.yml", "elicitaton: {name: Ada}\n"));
        assert_eq!(findings[0].help.as_deref(), Some("did you mean `elicitation`?"));
    }
}
