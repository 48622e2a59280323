//! `tool_quality`: every tool is listed and judged by how it describes itself.

use mcprove_judge::{Catalog, Group, Selection, SelectionOptions, lint};
use mcprove_model::{Finding, Observation, Outcome, Severity};
use serde_json::json;

use super::Performed;
use crate::calls;
use crate::conversation::Conversation;

/// Maximum number of faults listed one by one; a server of ten thousand tools has tens of thousands.
const LISTED: usize = 50;

pub(super) async fn perform(talk: &mut Conversation<'_>) -> Performed {
    let case = talk.case;
    let what = "`tools/list`".to_owned();
    let listing = talk.session.list("tools/list", "tools", talk.deadline).await;
    for exchange in &listing.exchanges {
        talk.record.calls.push(calls::record(mcprove_model::CallRole::Act, None, exchange));
    }
    if let Some(failed) = listing.outcome().filter(|outcome| !matches!(outcome, Outcome::Result(_))) {
        return Performed { seen: Observation::new(failed.clone(), ""), what, at: case.span };
    }
    talk.record.findings.extend(listing.findings);
    if listing.items.is_empty() {
        let finding = Finding::error("no-tools", "the server lists no tools, so there is nothing to judge");
        talk.record.findings.push(finding.at(talk.place(case.span)));
    }
    let server = case.server.as_ref().map_or("", |server| server.name.as_str());
    let catalog = Catalog::of_server(server, &listing.items);
    let quality = catalog.quality();
    for tool in &quality.tools {
        let parts: Vec<String> = tool.parts().iter().map(|(name, part)| format!("{name} {part:.2}")).collect();
        let text = format!("tool `{}` scores {:.2}: {}", tool.name, tool.score(), parts.join(", "));
        talk.record.findings.push(Finding::note("tool-score", text));
    }
    if case.expect.checks.is_empty() && !listing.items.is_empty() {
        for failure in quality.default_gate() {
            let text = format!(
                "`{}` is {}, and the default gate asks for {}",
                failure.target, failure.actual, failure.expected
            );
            let finding = Finding::error("tool-quality", text).at(talk.place(case.span));
            let help = "fix the tools named in the notes, or relax the limits in `expect`";
            talk.record.findings.push(finding.compared(failure.expected, failure.actual).help(help));
        }
    }
    talk.record.findings.extend(faults(&catalog));
    let mut seen = Observation::new(Outcome::Result(json!({"tools": listing.items})), "");
    seen.extra = quality.targets();
    Performed { seen, what, at: case.span }
}

/// Findings of the rules behind the counts, as notes: the expectations about the counts decide.
fn faults(catalog: &Catalog) -> Vec<Finding> {
    let groups = [Group::Strictness, Group::Texts, Group::Usability].map(|group| group.prefix().to_owned());
    let Ok(rules) = Selection::new(SelectionOptions { all: false, select: &groups, allow: &[] }) else {
        return Vec::new();
    };
    let (mut told, mut more) = (Vec::new(), 0_usize);
    lint(catalog, &rules, &mut |fault| {
        if fault.severity() < Severity::Warning {
        } else if told.len() < LISTED {
            let mut finding = fault.finding();
            finding.message = format!("{} ({})", finding.message, finding.severity.word());
            finding.severity = Severity::Note;
            told.push(finding);
        } else {
            more += 1;
        }
    });
    if more > 0 {
        let text = format!("{more} more findings of the same rules are not listed");
        told.push(Finding::note("tool-quality", text).help("`mcprove schema-lint --select SCH,TXT,USE` lists them"));
    }
    told
}
