//! `mcprove explain`: what a rule or an exit code means.

use std::fmt::Write as _;

use mcprove_judge::trust::{self, TrustRule};
use mcprove_judge::{Group, RULES, Rule, RuleExample};
use mcprove_model::{ExitStatus, nearest};
use mcprove_suite::lint::{self, RULES as SUITE_RULES};

use crate::context::Context;
use crate::failure::Failure;
use crate::stdout::print;

/// The topic that is not a rule.
const EXIT_CODES: &str = "exit-codes";

/// What the ids of rules about trust begin with.
const TRUST_GROUP: &str = "SEC";

/// Explain a rule, a group of rules, or the exit codes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove explain SCH-001\n  mcprove explain any-value\n  mcprove explain POR\n  \
                        mcprove explain always-holds\n  mcprove explain exit-codes")]
pub(crate) struct Args {
    /// A rule by id or name, a group (SCH, USE, VAL, POR, SEC), or `exit-codes`; without it, all rules are listed.
    #[arg(value_name = "RULE|exit-codes")]
    topic: Option<String>,
}

pub(crate) fn run(args: &Args, _context: &Context) -> Result<ExitStatus, Failure> {
    let text = match args.topic.as_deref() {
        None => list(RULES.iter()) + &trust_list() + &suite_rules(),
        Some(topic) => explained(topic)?,
    };
    print(&text)?;
    Ok(ExitStatus::Good)
}

fn explained(topic: &str) -> Result<String, Failure> {
    if let Some(rule) = Rule::find(topic) {
        return Ok(page(rule));
    }
    if let Some(rule) = TrustRule::find(topic) {
        return Ok(trust_page(rule));
    }
    if topic.eq_ignore_ascii_case(TRUST_GROUP) {
        return Ok(trust_list().trim_start().to_owned());
    }
    if let Some(group) = Group::ALL.into_iter().find(|group| group.prefix().eq_ignore_ascii_case(topic)) {
        return Ok(list(RULES.iter().filter(|rule| rule.group() == group)));
    }
    if let Some(rule) = SUITE_RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(topic)) {
        return Ok(suite_page(rule));
    }
    if topic.eq_ignore_ascii_case(EXIT_CODES) {
        return Ok(exit_codes());
    }
    let trust = trust::RULES.iter().flat_map(|rule| [rule.id, rule.axis]);
    let topics = RULES.iter().flat_map(|rule| [rule.id, rule.name]).chain(trust);
    let topics = topics.chain(SUITE_RULES.iter().map(|rule| rule.id)).chain([EXIT_CODES]);
    let help = match nearest(topic, topics) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`mcprove explain` without a name lists all rules".to_owned(),
    };
    Err(Failure::new(format!("there is nothing called `{topic}` to explain"), help))
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
    let mut text = format!("\n{TRUST_GROUP}: trust between servers, and between a client and a server\n");
    for rule in trust::RULES {
        let _ = writeln!(text, "  {}  {:8}  {} ({})", rule.id, rule.severity.word(), rule.summary, rule.axis);
    }
    text
}

fn trust_page(rule: &TrustRule) -> String {
    let mut text = format!("{} {} ({})\n", rule.id, rule.axis, rule.severity.word());
    for line in wrapped(rule.summary, 100).iter().chain(&[String::new()]).chain(&wrapped(rule.why, 100)) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "\nwhat to write in a suite:");
    for line in rule.help.lines() {
        // Lines of YAML are short, and their indent means something.
        let parts = if line.len() > 98 { wrapped(line, 98) } else { vec![line.to_owned()] };
        for part in parts {
            let _ = writeln!(text, "{}", format!("  {part}").trim_end());
        }
    }
    let _ = write!(text, "\n{}", trust::mapping_table());
    text
}

/// What `mcprove lint` finds in suites.
fn suite_rules() -> String {
    let line = |rule: &lint::Rule| format!("  {:18}  {}\n", rule.id, rule.summary);
    SUITE_RULES.iter().fold("\nsuites (`mcprove lint`)\n".to_owned(), |all, rule| all + &line(rule))
}

fn suite_page(rule: &lint::Rule) -> String {
    let shown = |text: &str| text.lines().fold(String::new(), |all, line| all + "  " + line + "\n");
    let why = wrapped(rule.why, 100).join("\n");
    format!("{}\n{}\n\n{why}\n\nbad:\n{}\ngood:\n{}", rule.id, rule.summary, shown(rule.bad), shown(rule.good))
}

fn page(rule: &Rule) -> String {
    let mut text = format!("{} {} ({})\n{}\n\n", rule.id, rule.name, rule.severity.word(), rule.summary);
    for line in wrapped(rule.why, 100) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "\nwhat to do: {}", rule.help);
    if rule.is_fixable() {
        let _ = writeln!(text, "mended by: mcprove schema-lint SNAPSHOT --fix");
    }
    let _ = writeln!(text, "\nbad:\n{}", indented(&rule.bad));
    let _ = write!(text, "good:\n{}", indented(&rule.good));
    text
}

/// An example with line breaks, two spaces in.
fn indented(example: &RuleExample) -> String {
    example.shown().lines().fold(String::new(), |all, line| all + "  " + line + "\n")
}

fn exit_codes() -> String {
    ExitStatus::ALL.iter().fold(String::new(), |all, status| {
        let meaning = wrapped(status.meaning(), 90).join("\n      ");
        all + &format!("{:>4}  {meaning}\n", status.code())
    })
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
