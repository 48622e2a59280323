//! `docs/findings.md`: exit codes, and every id that a finding can carry.

use std::fmt::Write as _;

use mcprove_judge::negative::PROBES;
use mcprove_judge::trust::RULES as TRUST_RULES;
use mcprove_model::ExitStatus;
use mcprove_suite::lint::RULES as SUITE_RULES;

use super::cell;

pub(crate) fn page() -> String {
    let mut page = "# Exit codes and findings\n\n".to_owned();
    page.push_str(&super::made_from("the tables behind `mcprove explain`"));
    page.push_str(
        "\n`mcprove explain ID` prints any of these. Rules about the tools a server lists have a page of their own: \
         [Rules](rules.md). A failed check carries the name of the check: [Checks and matchers](checks.md).\n\n\
         ## Exit codes\n\n| code | meaning |\n|---|---|\n",
    );
    for status in ExitStatus::ALL {
        let _ = writeln!(page, "| {} | {} |", status.code(), cell(status.meaning()));
    }
    page.push_str("\nWhen several apply, 2 wins over 1: the run was not complete.\n");
    let mut home = "";
    for finding in mcprove_model::finding_kinds() {
        if finding.home != home {
            home = finding.home;
            let _ = write!(page, "\n## {home}\n\n| id | severity | what it means | what to do |\n|---|---|---|---|\n");
        }
        let (id, severity) = (finding.id, finding.severity.word());
        let (meaning, help) = (cell(finding.meaning), cell(finding.help));
        let _ = writeln!(page, "| <a id=\"{id}\"></a>`{id}` | {severity} | {meaning} | {help} |");
    }
    page.push_str("\n## Doubtful suites\n\n| id | what it means | why it matters |\n|---|---|---|\n");
    for rule in SUITE_RULES {
        let _ = writeln!(page, "| `{}` | {} | {} |", rule.id, cell(rule.summary), cell(rule.why));
    }
    page.push_str(
        "\n## Probes of the error contract\n\n| id | what is sent | what is expected | taxonomy |\n|---|---|---|---|\n",
    );
    for probe in PROBES {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} ({}) |",
            probe.name,
            cell(probe.sends),
            cell(probe.contract),
            probe.taxonomy,
            probe.paper
        );
    }
    page.push_str("\n## Trust between servers\n\n| id | what it finds | source |\n|---|---|---|\n");
    for rule in TRUST_RULES {
        let _ = writeln!(page, "| `{}` | {} | {} |", rule.id, cell(rule.summary), rule.source);
    }
    page
}
