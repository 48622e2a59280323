//! SARIF 2.1.0: every finding as a result, at the line of the suite that asked and the place of the message that answered.
//!
//! Code scanning shows a result only at a line of a file, so a finding about what a server sent also points to its case.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcprove_model::{
    CaseReport, FNV_START, Finding, Fix, Place, Report, RuleText, Severity, TextPlace, fnv1a, is_unreserved,
    percent_encoded, utc_timestamp,
};
use serde::Serialize;

use super::{Format, Shows};
use crate::json_text;
use crate::reliability::{Reliability, Trials};

/// See the module.
pub(super) const FORMAT: Format = Format {
    name: "sarif",
    extension: "sarif",
    summary: "SARIF 2.1.0 for code scanning",
    shows: Shows::Verdicts,
    render,
};

fn render(report: &Report) -> String {
    let rules = rules(report);
    let strict = report.strict();
    let mut results: Vec<_> = report.findings.iter().map(|finding| result(finding, None, &rules, strict)).collect();
    for case in &report.cases {
        let findings = case.finished.iter().flat_map(|finished| &finished.findings);
        results.extend(findings.map(|finding| result(finding, Some(case), &rules, strict)));
    }
    let results = merged(results);
    let head = report.head();
    let started = head.as_ref();
    json_text::pretty(&Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool { driver: driver(started.map(|started| started.program.as_str()), rules) },
            invocations: [Invocation {
                execution_successful: report.summary().errors == 0
                    && report.summary().unfinished == 0
                    && report.is_complete(),
                start_time_utc: started.map(|started| utc_timestamp(started.started_unix_ms)),
            }],
            column_kind: "unicodeCodePoints",
            results,
            properties: reliability(report),
        }],
    })
}

/// Statistics of repeated trials, if there were any.
fn reliability(report: &Report) -> Option<RunProperties> {
    let trials = Reliability::of(report);
    let judged = trials.judged();
    trials.repeated().then(|| RunProperties {
        pass_at_k: format!("{}/{judged}", trials.capable()),
        pass_up_k: format!("{}/{judged}", trials.reliable()),
        flaky: trials.flaky().filter(|row| !row.shared).map(Trials::flaky_line).collect(),
        shared_state: trials.flaky().filter(|row| row.shared).map(Trials::flaky_line).collect(),
    })
}

/// Every rule that speaks, with the worst it said.
type Rules<'a> = BTreeMap<&'a str, (usize, Severity)>;

fn rules(report: &Report) -> Rules<'_> {
    let of_cases =
        report.cases.iter().filter_map(|case| case.finished.as_ref()).flat_map(|finished| &finished.findings);
    let mut rules = Rules::new();
    for finding in report.findings.iter().chain(of_cases) {
        let (_, worst) = rules.entry(&finding.rule).or_insert((0, finding.severity));
        *worst = (*worst).max(finding.severity);
    }
    rules.values_mut().enumerate().for_each(|(index, rule)| rule.0 = index);
    rules
}

fn driver<'a>(program: Option<&'a str>, rules: Rules<'a>) -> Driver<'a> {
    Driver {
        name: "mcprove",
        version: program.and_then(|program| program.strip_prefix("mcprove ")),
        information_uri: "https://github.com/mcprove/mcprove",
        rules: rules.into_iter().map(|(id, (_, severity))| rule(id, severity)).collect(),
    }
}

fn rule(id: &str, severity: Severity) -> Rule<'_> {
    // Code scanning ranks security findings by a score, which only the two worst severities deserve.
    let (security, tags) = match severity {
        Severity::Note | Severity::Warning | Severity::Error => (None, ["mcp"].as_slice()),
        Severity::High => (Some("8.0"), ["mcp", "security"].as_slice()),
        Severity::Critical => (Some("9.5"), ["mcp", "security"].as_slice()),
    };
    let text = RuleText::find(id);
    let message = |part: fn(&RuleText) -> &'static str| text.as_ref().map(|text| Message { text: literal(part(text)) });
    Rule {
        id,
        name: text.as_ref().map(|text| pascal_case(text.name)).filter(|name| name != id),
        short_description: message(|text| first_sentence(text.summary))
            .unwrap_or_else(|| Message { text: id.replace(['-', '_'], " ") }),
        full_description: message(|text| text.summary),
        help: message(|text| text.help),
        help_uri: text.as_ref().map(|text| text.url.clone()),
        default_configuration: Configuration { level: level(severity) },
        properties: RuleProperties { tags, security_severity: security },
    }
}

/// `no-required-list` as SARIF writes names: `NoRequiredList`.
fn pascal_case(name: &str) -> String {
    let words = name.split(['-', '_', ' ', '.']).filter(|word| !word.is_empty());
    words.flat_map(|word| word[..1].to_uppercase().chars().chain(word[1..].chars()).collect::<Vec<_>>()).collect()
}

fn first_sentence(text: &'static str) -> &'static str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// Results of the same defect, in the order of the first of each: trials of a case find the same again.
fn merged(results: Vec<Outcome<'_>>) -> Vec<Outcome<'_>> {
    let mut kept: Vec<Outcome<'_>> = Vec::with_capacity(results.len());
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for result in results {
        if let Some(at) = known.get(&result.partial_fingerprints.defect) {
            kept[*at].occurrence_count += 1;
        } else {
            known.insert(result.partial_fingerprints.defect.clone(), kept.len());
            kept.push(result);
        }
    }
    kept
}

/// The identity of a defect from run to run: its rule, its case, its place without line numbers, and what is wrong. Values
/// that a server sent are left out, because they may change with every run.
fn fingerprint(finding: &Finding, case: Option<&CaseReport>) -> String {
    let (file, name, variant) = case.map_or(("", "", ""), |case| {
        (case.started.file.as_str(), case.started.name.as_str(), case.started.variant.as_deref().unwrap_or_default())
    });
    let place = match &finding.place {
        Some(Place::Text(place)) => [place.file.as_str(), place.excerpt.trim()],
        Some(Place::Wire(place)) => [place.server.as_str(), place.pointer.as_str()],
        None => ["", ""],
    };
    let message = if finding.place.is_some() { "" } else { finding.message.as_str() };
    let parts = [&*finding.rule, file, name, variant, place[0], place[1], message];
    // The parts are short, and a collision would only show a finding once.
    format!("{:016x}", fnv1a(FNV_START, parts.into_iter().flat_map(|part| part.bytes().chain([0]))))
}

fn result<'a>(finding: &'a Finding, case: Option<&'a CaseReport>, rules: &Rules<'a>, strict: bool) -> Outcome<'a> {
    let is_raised = strict && finding.severity == Severity::Warning;
    Outcome {
        partial_fingerprints: Fingerprints { defect: fingerprint(finding, case) },
        occurrence_count: 1,
        rule_id: &finding.rule,
        rule_index: rules.get(&*finding.rule).map_or(0, |(index, _)| *index),
        level: level(if is_raised { Severity::Error } else { finding.severity }),
        message: Message { text: message(finding) },
        locations: location(finding, case).into_iter().collect(),
        fixes: match (&finding.fix, &finding.place) {
            (Some(fix), Some(Place::Text(place))) if is_whole(fix) => vec![change(fix, &place.file)],
            (Some(_) | None, _) => Vec::new(),
        },
        properties: case.map(|case| CaseProperties {
            case: &case.started.name,
            variant: case.started.variant.as_deref(),
            trial: case.started.trial,
        }),
    }
}

/// False for a fix with a text so long that it would be cut.
fn is_whole(fix: &Fix) -> bool {
    fix.edits.iter().all(|edit| edit.text.len() <= json_text::STRING_BYTES)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error | Severity::High | Severity::Critical => "error",
    }
}

fn message(finding: &Finding) -> String {
    let mut text = finding.message.clone();
    for (label, part) in finding.parts() {
        let _ = write!(text, "\n{label}: {part}");
    }
    literal(&text)
}

/// SARIF reads `[…](…)` as a link and `{0}` as a placeholder (§3.11.5 and §3.11.6); other brackets and braces stay as they
/// are, because viewers show the escapes too.
fn literal(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find([']', '{']) {
        let (head, tail) = rest.split_at(at);
        safe.push_str(head);
        let digits = tail[1..].bytes().take_while(u8::is_ascii_digit).count();
        let taken = if tail.starts_with("](") {
            safe.push_str("\\]");
            1
        } else if tail.starts_with('{') && digits > 0 && tail[1 + digits..].starts_with('}') {
            let _ = write!(safe, "{{{}}}", &tail[..digits + 2]);
            digits + 2
        } else {
            safe.push_str(&tail[..1]);
            1
        };
        rest = &tail[taken..];
    }
    safe.push_str(rest);
    safe
}

fn location<'a>(finding: &'a Finding, case: Option<&'a CaseReport>) -> Option<Location<'a>> {
    let at_case = || {
        case.filter(|case| !case.started.file.is_empty()).map(|case| PhysicalLocation {
            artifact_location: Artifact { uri: uri(&case.started.file) },
            region: Region { start_line: Some(case.started.line.max(1)), ..Region::default() },
        })
    };
    let (physical_location, logical_locations) = match &finding.place {
        Some(Place::Text(place)) => (Some(at_text(place)), Vec::new()),
        Some(Place::Wire(place)) => {
            let name = place.pointer.rsplit('/').next().unwrap_or_default();
            let full = format!("{}#{}", place.server, place.pointer);
            (at_case(), vec![LogicalLocation { name, fully_qualified_name: full, kind: "member" }])
        }
        None => (at_case(), Vec::new()),
    };
    (physical_location.is_some() || !logical_locations.is_empty())
        .then_some(Location { physical_location, logical_locations })
}

fn at_text(place: &TextPlace) -> PhysicalLocation<'_> {
    PhysicalLocation {
        artifact_location: Artifact { uri: uri(&place.file) },
        region: Region {
            start_line: Some(place.line.max(1)),
            start_column: Some(place.column.max(1)),
            end_line: Some(place.end_line.max(place.line).max(1)),
            end_column: Some(place.end_column.max(1)),
            snippet: Some(Snippet { text: &place.excerpt }),
            ..Region::default()
        },
    }
}

fn change<'a>(fix: &'a Fix, file: &str) -> Change<'a> {
    let replacements = fix.edits.iter().map(|edit| Replacement {
        deleted_region: Region {
            byte_offset: Some(edit.start),
            byte_length: Some(edit.end.saturating_sub(edit.start)),
            ..Region::default()
        },
        inserted_content: Snippet { text: &edit.text },
    });
    Change {
        description: Message { text: fix.title.clone() },
        artifact_changes: [ArtifactChange {
            artifact_location: Artifact { uri: uri(file) },
            replacements: replacements.collect(),
        }],
    }
}

/// A path as a URI reference: relative to the checkout, or a `file:` URI.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{}", percent_encoded(path, |byte| byte == b'/' || is_unreserved(byte)))
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    invocations: [Invocation; 1],
    column_kind: &'static str,
    results: Vec<Outcome<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<RunProperties>,
}

#[derive(Serialize)]
struct RunProperties {
    pass_at_k: String,
    pass_up_k: String,
    flaky: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shared_state: Vec<String>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'a> {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    information_uri: &'static str,
    rules: Vec<Rule<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    short_description: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_description: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: &'static [&'static str],
    #[serde(rename = "security-severity", skip_serializing_if = "Option::is_none")]
    security_severity: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_time_utc: Option<String>,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

/// A SARIF `result`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    partial_fingerprints: Fingerprints,
    #[serde(skip_serializing_if = "is_one")]
    occurrence_count: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Change<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<CaseProperties<'a>>,
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "mcprove/v1")]
    defect: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

#[derive(Serialize)]
struct CaseProperties<'a> {
    case: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    trial: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<PhysicalLocation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation<'a> {
    artifact_location: Artifact,
    region: Region<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    name: &'a str,
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_offset: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<Snippet<'a>>,
}

#[derive(Serialize)]
struct Snippet<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change<'a> {
    description: Message,
    artifact_changes: [ArtifactChange<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange<'a> {
    artifact_location: Artifact,
    replacements: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement<'a> {
    deleted_region: Region<'a>,
    inserted_content: Snippet<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uri_references() {
        assert_eq!(uri("./evals/a b.yaml"), "evals/a%20b.yaml");
        assert_eq!(uri("/tmp/ü.yaml"), "file:///tmp/%C3%BC.yaml");
        assert_eq!(uri("a\\b.yaml"), "a/b.yaml");
    }

    #[test]
    fn a_message_is_neither_a_link_nor_a_placeholder() {
        assert_eq!(literal("[a](b) {0} {\"c\":[1]} {12"), "[a\\](b) {{0}} {\"c\":[1]} {12");
    }
}
