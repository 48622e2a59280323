//! `mcprove explain`: what a rule, a check, a finding or an exit code means.

use std::fmt::Write as _;

use mcprove_judge::checks::{CheckKind, TABLES};
use mcprove_judge::conformance::{RULES as CONFORMANCE_RULES, Rule as ConformanceRule};
use mcprove_judge::matchers::{MATCHERS, MatcherKind};
use mcprove_judge::negative::Probe;
use mcprove_judge::trust::{self, TrustRule};
use mcprove_judge::{RULES, Rule, RuleExample};
use mcprove_mock::{MUTATIONS, Mutation};
use mcprove_model::{ExitStatus, FAULTS, FindingKind, finding_kinds, nearest};
use mcprove_suite::lint::{RULES as SUITE_RULES, Rule as SuiteRule};
use serde_json::{Value, json};

use crate::completing_parser::CompletingParser;
use crate::context::Context;
use crate::explanations::Topic;
use crate::failure::Failure;
use crate::stdout::print;

/// The name of a list, and how it is made.
type NamedList = (&'static str, fn() -> String);

/// Prefix of the ids of rules about trust.
const TRUST_GROUP: &str = "SEC";

/// Lists that can be asked for by name.
const LISTS: &[NamedList] = &[
    ("checks", checks),
    ("conformance", conformance_rules),
    ("exit-codes", exit_codes),
    ("faults", faults),
    ("findings", all_findings),
    ("matchers", matchers),
    ("issuer-faults", issuer_faults),
    ("mutations", mutations),
    ("rules", || list(RULES.iter()) + "\n" + &trust_list() + &suite_rules()),
    (TRUST_GROUP, trust_list),
];

const WIDTH: usize = 100;

/// Explain a rule, a check, a matcher, a finding, or the exit codes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove explain SCH-001\n  mcprove explain stdout-pollution\n  \
                        mcprove explain json_path\n  mcprove explain exit-codes")]
pub(crate) struct Args {
    /// An id or a name as findings show it, a group of rules (SCH, USE, VAL, POR, TXT, SEC), or one of the lists: checks,
    /// conformance, exit-codes, faults, findings, issuer-faults, matchers, mutations, rules; without it, all rules but those of conformance.
    #[arg(value_name = "NAME", value_parser = TOPIC, hide_possible_values = true)]
    topic: Option<String>,
    /// Print the explanation as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
}

/// Every name that can be explained.
const TOPIC: CompletingParser<String> = CompletingParser {
    names: || {
        let mut names = Topic::names();
        names.extend(LISTS.iter().map(|(name, _)| *name));
        names.sort_unstable();
        names.dedup();
        names
    },
    parse: |name| Ok(name.to_owned()),
};

pub(crate) fn run(args: &Args, _context: &Context) -> Result<ExitStatus, Failure> {
    let name = args.topic.as_deref().unwrap_or("rules");
    let text = explained(name)?;
    if args.json {
        print(&format!("{:#}\n", json!({"topic": name, "text": text, "facts": facts(name)})))?;
    } else {
        print(&text)?;
    }
    Ok(ExitStatus::Good)
}

/// The page about a name.
pub(crate) fn explained(name: &str) -> Result<String, Failure> {
    let topics = Topic::find(name);
    if !topics.is_empty() {
        return Ok(topics.iter().map(page).collect::<Vec<_>>().join("\n"));
    }
    if let Some((_, list)) = LISTS.iter().find(|(list, _)| list.eq_ignore_ascii_case(name)) {
        return Ok(list());
    }
    let names = Topic::names().into_iter().chain(LISTS.iter().map(|(name, _)| *name));
    let help = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`mcprove explain` lists all rules, `mcprove explain findings` everything else".to_owned(),
    };
    Err(Failure::new(format!("there is nothing called `{name}` to explain"), help))
}

fn page(topic: &Topic) -> String {
    match topic {
        Topic::Rule(rule) => rule_page(rule),
        Topic::Group(group) => list(RULES.iter().filter(|rule| rule.group() == *group)),
        Topic::Trust(rule) => trust_page(rule),
        Topic::Conformance(rule) => conformance_page(rule),
        Topic::Suite(rule) => suite_page(rule),
        Topic::Probe(probe) => probe_page(probe),
        Topic::Checks(checks) => {
            let pages = checks.iter().map(|(key, of, kind)| check_page(key, of, kind));
            pages.collect::<Vec<_>>().join("\n")
        }
        Topic::Matcher(kind) => matcher_page(kind),
        Topic::Finding(finding) => finding_page(finding),
    }
}

/// The facts about a topic as JSON, one object for each thing of that name.
fn facts(name: &str) -> Vec<Value> {
    let fact = |topic: &Topic| match topic {
        Topic::Rule(rule) => {
            json!({"kind": "rule", "id": rule.id, "name": rule.name, "severity": rule.severity.word(),
                   "summary": rule.summary, "help": rule.help, "fixable": rule.is_fixable()})
        }
        Topic::Group(group) => json!({"kind": "group", "id": group.prefix(), "summary": group.title()}),
        Topic::Trust(rule) => {
            json!({"kind": "rule", "id": rule.id, "name": rule.axis, "severity": rule.severity.word(),
                   "summary": rule.summary, "help": rule.help})
        }
        Topic::Conformance(rule) => json!({"kind": "rule", "id": rule.id, "summary": rule.title, "help": rule.why}),
        Topic::Suite(rule) => json!({"kind": "rule", "id": rule.id, "summary": rule.summary}),
        Topic::Probe(probe) => json!({"kind": "probe", "id": probe.name, "summary": probe.sends,
                                      "taxonomy": probe.taxonomy}),
        Topic::Checks(checks) => json!({"kind": "check", "id": name, "summary": checks.first().map(|c| c.2.summary)}),
        Topic::Matcher(kind) => json!({"kind": "matcher", "id": kind.name, "summary": kind.summary}),
        Topic::Finding(finding) => {
            json!({"kind": "finding", "id": finding.id, "summary": finding.meaning, "help": finding.help})
        }
    };
    Topic::find(name).iter().map(fact).collect()
}

fn list(rules: impl Iterator<Item = &'static Rule>) -> String {
    let mut text = String::new();
    let mut group = None;
    for rule in rules {
        if group.replace(rule.group()) != Some(rule.group()) {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}: {}", rule.group().prefix(), rule.group().title());
        }
        let _ = writeln!(text, "  {}  {:8}  {} ({})", rule.id, rule.severity.word(), rule.summary, rule.name);
    }
    text
}

fn trust_list() -> String {
    let mut text = format!("{TRUST_GROUP}: trust between servers, and between a client and a server\n");
    for rule in trust::RULES {
        let _ = writeln!(text, "  {}  {:8}  {} ({})", rule.id, rule.severity.word(), rule.summary, rule.axis);
    }
    text
}

fn trust_page(rule: &TrustRule) -> String {
    let mut text = format!("{} {} ({})\n", rule.id, rule.axis, rule.severity.word());
    text.push_str(&paragraph(rule.summary));
    let _ = write!(text, "\n{}\nwhat to write in a suite:\n{}", paragraph(rule.why), indented(rule.help));
    let _ = write!(text, "\n{}", trust::mapping_table());
    text
}

/// What `mcprove lint` finds in suites.
fn suite_rules() -> String {
    let line = |rule: &SuiteRule| format!("  {:18}  {}\n", rule.id, rule.summary);
    SUITE_RULES.iter().fold("\nsuites (`mcprove lint`)\n".to_owned(), |all, rule| all + &line(rule))
}

/// What `mcprove conformance` checks.
fn conformance_rules() -> String {
    let line = |rule: &ConformanceRule| format!("  {:26}  {:7}  {}\n", rule.id, rule.level.as_str(), rule.title);
    CONFORMANCE_RULES.iter().fold("protocol (`mcprove conformance`)\n".to_owned(), |all, rule| all + &line(rule))
}

/// What `--fault` does.
fn faults() -> String {
    FAULTS.iter().fold(
        "faults (`--fault` of `mock` and `intercept`, `faults` of suites and scenarios)\n".to_owned(),
        |all, row| all + &format!("  {:22}  {}\n", row.example(), row.what),
    )
}

/// What `mcprove mock --issuer-fault` does.
fn issuer_faults() -> String {
    let mut text = "broken logins (`mcprove mock --issuer --issuer-fault`)\n".to_owned();
    for fault in mcprove_mock::ISSUER_FAULTS {
        let whose = if fault.of_endpoint { "the server" } else { "the authorization server" };
        let _ = writeln!(text, "  {:28}  {whose} {}", fault.name, fault.what);
    }
    text
}

/// What `mcprove mock --mutation` does.
fn mutations() -> String {
    let line = |mutation: &Mutation| format!("  {:28}  {} ({})\n", mutation.name, mutation.what, mutation.rule);
    MUTATIONS
        .iter()
        .fold("faulty servers (`mcprove mock --conforming --mutation`)\n".to_owned(), |all, one| all + &line(one))
}

fn rule_page(rule: &Rule) -> String {
    let mut text = format!("{} {} ({})\n{}\n\n", rule.id, rule.name, rule.severity.word(), rule.summary);
    text.push_str(&paragraph(rule.why));
    let _ = writeln!(text, "\nwhat to do: {}", rule.help);
    if rule.is_fixable() {
        let _ = writeln!(text, "fix with: mcprove schema-lint SNAPSHOT --fix");
    }
    let _ = writeln!(text, "\nbad:\n{}", example(&rule.bad));
    let _ = write!(text, "good:\n{}", example(&rule.good));
    text
}

fn conformance_page(rule: &ConformanceRule) -> String {
    let level = rule.level.as_str();
    format!(
        "{}: a rule of the protocol ({level}, {} to {})\n{}\n{}\nsection: {}\nclauses: {}\n\nbad:\n{}\ngood:\n{}",
        rule.id,
        rule.revisions.0,
        rule.revisions.1,
        paragraph(&format!("A conforming server {}.", rule.title)),
        paragraph(rule.why),
        rule.section,
        rule.clauses.join(", "),
        indented(rule.bad),
        indented(rule.good)
    )
}

fn suite_page(rule: &SuiteRule) -> String {
    format!(
        "{}\n{}\n{}\nbad:\n{}\ngood:\n{}",
        rule.id,
        paragraph(rule.summary),
        paragraph(rule.why),
        indented(rule.bad),
        indented(rule.good)
    )
}

fn probe_page(probe: &Probe) -> String {
    let verdict = if probe.may_accept { "A result is as good as a rejection." } else { "A result is a failure." };
    format!(
        "{}: a probe of the error contract [{}, {}]\n{}\nexpected: {}. {verdict}\n",
        probe.name,
        probe.taxonomy,
        probe.paper,
        paragraph(&format!("mcprove sends {}.", probe.sends)),
        probe.contract
    )
}

fn check_page(key: &str, of: &str, kind: &CheckKind) -> String {
    let mut text = format!("{}: a check under `{key}` of {of}\n{}\n", kind.name, paragraph(kind.summary));
    for example in kind.examples {
        let verdict = if example.holds { "holds" } else { "fails" };
        let _ = writeln!(
            text,
            "  {verdict}  {}: {}  on {}",
            kind.name,
            example.value,
            in_one_line(&example.seen.to_string())
        );
    }
    text
}

fn matcher_page(kind: &MatcherKind) -> String {
    let mut text = format!("{}: a matcher of the value a `target` leads to\n{}\n", kind.name, paragraph(kind.summary));
    for example in kind.examples {
        let verdict = if example.holds { "holds" } else { "fails" };
        let _ = writeln!(text, "  {verdict}  {{{}: {}}}  on {}", kind.name, example.given, example.seen);
    }
    text
}

fn finding_page(finding: &FindingKind) -> String {
    let home = finding.home.to_lowercase();
    format!("{}: a finding {home}\n{}\nwhat to do: {}", finding.id, paragraph(finding.meaning), paragraph(finding.help))
}

fn checks() -> String {
    let mut text = String::new();
    for table in TABLES {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}under `{}` of {}:", table.key, table.of);
        for kind in table.kinds {
            let _ = writeln!(text, "  {:22}  {}", kind.name, kind.summary);
        }
    }
    text
}

fn matchers() -> String {
    MATCHERS.iter().fold(String::new(), |all, kind| all + &format!("{:20}  {}\n", kind.name, kind.summary))
}

fn all_findings() -> String {
    let mut text = String::new();
    let mut home = "";
    for finding in finding_kinds() {
        if home != finding.home {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}:", finding.home);
            home = finding.home;
        }
        let _ = writeln!(text, "  {:25}  {}", finding.id, finding.meaning);
    }
    text
}

fn exit_codes() -> String {
    ExitStatus::ALL.iter().fold(String::new(), |all, status| {
        let meaning = wrapped(status.meaning(), 90).join("\n      ");
        all + &format!("{:>4}  {meaning}\n", status.code())
    })
}

/// An example with line breaks, two spaces in.
fn example(example: &RuleExample) -> String {
    indented(&example.shown())
}

fn indented(text: &str) -> String {
    let lines =
        text.lines().flat_map(|line| if line.len() > WIDTH { wrapped(line, WIDTH) } else { vec![line.to_owned()] });
    lines.fold(String::new(), |all, line| if line.is_empty() { all + "\n" } else { all + "  " + &line + "\n" })
}

/// Text on one line, however it was broken.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn paragraph(text: &str) -> String {
    wrapped(text, WIDTH).join("\n") + "\n"
}

/// Lines of at most so many characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => word.clone_into(line),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}
