//! The cause of a worded error: most are not defects of the server.

use std::sync::LazyLock;

use mcprove_model::FailureCause;
use regex::{Regex, RegexSet};

/// The cause of an error by its words.
pub fn failure_cause(text: &str) -> FailureCause {
    let head = &text[..text.floor_char_boundary(4_000)];
    let Some(set) = COMPILED.as_ref() else { return FailureCause::Other };
    // A wrong key is reported over the network; a missing host says nothing about keys.
    let found = set.matches(head);
    let cause = found.iter().next().map_or(FailureCause::Other, |at| PATTERNS[at].0);
    // `Sheet 'x' not found` names the missing input; a handler or a method that is not found is not an input.
    let is_method = NO_INPUT.as_ref().is_some_and(|pattern| pattern.is_match(head));
    if cause == FailureCause::InputNotFound && is_method { FailureCause::Other } else { cause }
}

/// Things that are not found and are not inputs.
static NO_INPUT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:method|tool|handler|module|function) (?:'[^']*' |`[^`]*` )?not found").ok());

/// Patterns that reveal a cause; the first match counts.
const PATTERNS: &[(FailureCause, &str)] = &[
    (
        FailureCause::NetworkUnreachable,
        r"\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ENETDOWN|ETIMEDOUT|EPIPE|UND_ERR_CONNECT_TIMEOUT|ERR_NAME_NOT_RESOLVED|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_NETWORK|ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY_CONNECTION_FAILED|ERR_ADDRESS_UNREACHABLE|WSAECONNREFUSED)\b",
    ),
    (
        FailureCause::NetworkUnreachable,
        r"(?i)getaddrinfo|name or service not known|nodename nor servname|temporary failure in name resolution|failed to resolve|could not resolve|no such host|dns (?:error|lookup|resolution)|failed to lookup address|unknownhostexception|name resolution|no address associated with hostname|host not found|resolve host",
    ),
    (
        FailureCause::NetworkUnreachable,
        r"(?i)connection (?:refused|reset|aborted|timed out)|connect(?:ion)? timeout|network (?:is |was )?(?:unreachable|down)|network error|no route to host|failed to establish a new connection|max retries exceeded|cannot connect to host|all connection attempts failed|error sending request for url|error trying to connect|tcp connect error|fetch failed|failed to fetch\b.{0,40}(?:network|connect)|connecttimeout|connecterror|connection (?:issue|problem|failed|failure)|(?:could not|couldn't|failed to|unable to|cannot) (?:fetch|download|reach)\b|i/o timeout|socket hang up|(?:cannot|can't|could not) connect to (?:the |your )?(?:[\w.-]+ ){0,3}(?:api|backend|broker|cluster|database|endpoint|host|instance|server|service)\b|(?:temporarily|currently) unavailable|service unavailable|bad gateway|gateway time-?out|connect: |server is not reachable|connection error\b|unable to connect to|failed to connect to|couldn't connect to|proxy (?:error|authentication|connect)|tunneling socket|certificate (?:verify|has expired)|self[- ]signed certificate|ssl: |tls handshake|circuit breaker\b.{0,80}\bopen",
    ),
    (
        FailureCause::CredentialsMissing,
        r"(?i)\b(?:api[ _-]?key|apikey|access[ _-]?token|auth[ _-]?token|bearer token|secret[ _-]?key|client[ _-]?secret|credentials?|api[ _-]?token|personal access token|app password|oauth token|refresh token|subscription key|licen[sc]e key|[A-Z0-9_]*(?:API_KEY|_TOKEN|_SECRET|_PASSWORD|ACCESS_KEY))\b.{0,60}(?:not (?:set|provided|configured|found|defined|valid|specified|available|supplied)|is (?:missing|required|invalid|empty|not)|are (?:missing|required|invalid|not)|missing|required|invalid|must be (?:set|provided)|expired|rejected|incorrect|undefined|environment variable)",
    ),
    (
        FailureCause::CredentialsMissing,
        r"(?i)(?:missing|invalid|no|not set|provide|set|set the|need|needs|requires?|required|without|incorrect|bad|expired|unable to (?:locate|load)|could not (?:load|find|automatically determine|locate)|couldn't find)\b.{0,40}\b(?:api[ _-]?key|apikey|access[ _-]?token|auth[ _-]?token|bearer token|credentials?|api[ _-]?token|secret key|[A-Z0-9_]+(?:API_KEY|_TOKEN|_SECRET|_PASSWORD)|authentication token|authorization header|login|sign[ -]?in)\b",
    ),
    (
        FailureCause::CredentialsMissing,
        r"(?i)\bunauthorized\b|\bunauthorised\b|\bunauthenticated\b|not authenticated|authentication (?:failed|required|error|is required|needed)|auth(?:orization)? (?:failed|required)|\b401\b|\b403\b|\bforbidden\b|not logged in|please (?:log|sign) in|(?:login|sign[ -]?in) required|requires authentication|must be authenticated|bad credentials|permission_denied|invalid_grant|invalid_client|insufficient (?:scope|permissions)|password authentication failed|access denied for user|no valid (?:session|credential)|token has expired|jwt expired|not authorized|InvalidClientTokenId|ExpiredToken|SignatureDoesNotMatch|NoCredentialProviders|CredentialsProviderError",
    ),
    (
        FailureCause::NotConfigured,
        r"(?i)\b(?:requires?|needs?|set|define|provide) (?:the )?`?(?-i:[A-Z][A-Z0-9]+_[A-Z0-9_]+)|environment variables? .{0,60}(?:not|missing|required|must be)|missing (?:required )?(?:environment|env)\b|(?:[A-Z][A-Z0-9]+_[A-Z0-9_]+) .{0,20}(?:not set|is not (?:set|defined|configured)|must be set|is required|missing)|not configured|is not configured|no .{0,40}configured|configuration (?:is )?(?:missing|required|error|not found|file not found)|config(?:uration)? file .{0,40}(?:not found|missing|does not exist)|not initiali[sz]ed|has not been (?:initiali[sz]ed|set up|configured)|please (?:configure|set up|run .{0,40}(?:setup|init|install|login))|not (?:been )?installed|command not found|executable (?:file )?not found|executable doesn't exist|no such (?:command|program)|spawn .{1,80} ENOENT|not recognized as an internal|browser .{0,40}not (?:found|installed)|run .{0,30}playwright install|chromium.{0,40}not|no module named|cannot find (?:module|package)|is docker running|cannot connect to the docker daemon|no active \w+|no (?:workspace|project|connection|database|session|page|window|device|browser)s? (?:is |are )?(?:open|selected|active|configured|connected|found|available|set)|not connected\b|no connection to (?:the |a |an )?\w|must first (?:be )?connect|(?:path|project|workspace|directory|folder|database|repository|account) (?:is |was )?not (?:been )?set\b|(?:could not|couldn't|cannot|can't|unable to) (?:find|locate) .{0,60}(?:executable|browser|binary|database|installation|program)|dependency (?:is )?missing|missing dependency|no (?:\w+ ){1,4}(?:is )?set\b|no default .{0,30}(?:set|configured)",
    ),
    (
        FailureCause::InputNotFound,
        r"(?i)\bENOENT\b|\bENOTDIR\b|\bEISDIR\b|no such file or directory|no such file|cannot find the (?:file|path)|\bfile not found\b|\bpath not found\b|filenotfounderror|nosuchfileexception|(?:does not|doesn't|do not) exist|\bnot found\b|\bnotfound\b|\b404\b|no such (?:table|column|key|bucket|object|container|image|process|user|resource|entity|entry|element|item|page|project|repository|branch|ref|revision|sheet|record|index|id)|unknown (?:revision|table|column|sheet|branch|ref|user|project|resource|id|entity|city|location|symbol|ticker|language|currency|time ?zone|timezone|airport|collection|document|package|library)|could not find|couldn't find|cannot find|unable to find|no (?:[\w-]+ ){0,3}(?:results?|matches|records?|entries|items|documents?|data|rows|issues?|nodes?|entity|entities|process|files?|folders?|directories|paths?) (?:found|match|matching|matched|with|for|named|were found)|not a git repository|invalid repository|outside (?:of )?(?:the )?(?:allowed|permitted|workspace|root|sandbox|project)|not (?:within|in|inside) (?:the )?(?:allowed|permitted|workspace|root)|path .{0,80}not allowed|not an? (?:existing|valid) (?:directory|file|path|repository)|is not a (?:directory|file|git)|invalid (?:path|file path|directory|repo|repository|id|uuid|object ?id)|bad revision|ESRCH|no process with|is not (?:a )?known|(?:invalid|unknown|unsupported|unrecogni[sz]ed|malformed) (?:\w+ ){0,3}(?:format|identifier|range|reference|address|url|uri|name|value|type|key|date|token|syntax|query|expression|symbol|code)s?\b|is not (?:a|one of the) (?:valid|supported|known)|must be (?:one of|from|absolute|a valid|a non-empty)|known types:|out of bounds|index out of range|nothing (?:found|matched)|there (?:is|are) no \S|no longer exists|isn't a (?:file|directory)",
    ),
];

static COMPILED: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(PATTERNS.iter().map(|(_, pattern)| *pattern)).ok());

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of SDKs and servers with their causes, a line each: `cause | message`.
    const MESSAGES: &str = include_str!("messages.txt");

    #[test]
    fn messages_of_real_servers_have_their_causes() {
        assert!(COMPILED.is_some(), "every pattern compiles");
        let mut wrong = Vec::new();
        let mut count = 0;
        for line in MESSAGES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (expected, message) = line.split_once(" | ").expect("a cause and a message");
            count += 1;
            let found = failure_cause(message).word();
            if found != expected {
                wrong.push(format!("{found} instead of {expected}: {message}"));
            }
        }
        assert!(count >= 150, "{count} messages");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
