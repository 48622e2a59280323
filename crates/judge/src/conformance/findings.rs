//! Verdicts as findings, for reports.

use mcprove_model::{Evidence, Finding};

use super::verdict::Graded;

/// The findings of a rule: one for each thing that breaks it.
pub fn findings(graded: &Graded) -> Vec<Finding> {
    let rule = graded.rule;
    let made = graded.violations.iter().map(|violation| {
        let mut finding = if violation.fails {
            Finding::error(rule.id, violation.message.clone())
        } else {
            Finding::warning(rule.id, violation.message.clone())
        };
        // A rule may hold clauses of several levels; what only warns is not the strictest of them.
        let level = if violation.fails { format!(", {}", rule.level.as_str()) } else { String::new() };
        finding.expected = Some(format!("{}{level}: {}", violation.clause, rule.section));
        match violation.request.clone() {
            Some(request) => finding.evidence = Some(Evidence { request, reply: violation.reply.clone() }),
            None => finding.actual.clone_from(&violation.reply),
        }
        finding.help(rule.why)
    });
    made.collect()
}
