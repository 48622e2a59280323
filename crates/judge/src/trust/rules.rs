//! Descriptions of the two rules about trust boundaries, for `explain` and for reports.

use std::fmt::Write as _;

use mcprove_model::Severity;

/// A rule about trust between servers.
#[derive(Clone, Copy, Debug)]
pub struct TrustRule {
    /// Its stable id.
    pub id: &'static str,
    /// Name of the check in the mapping table.
    pub check: &'static str,
    /// The axis of the taxonomy it belongs to.
    pub axis: &'static str,
    /// One sentence for lists.
    pub summary: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// Rationale, in whole sentences.
    pub why: &'static str,
    /// Advice on what to write in a suite.
    pub help: &'static str,
    /// True if it can be checked from outside the servers.
    pub black_box: bool,
    /// Its source.
    pub source: &'static str,
}

/// The paper both rules come from.
pub const PAPER: &str = "arXiv:2601.17549";

/// `SEC-060`: output of one server reaches another unmodified.
pub const CROSS_SERVER: TrustRule = TrustRule {
    id: "SEC-060",
    check: "Cross-server trust propagation",
    axis: "cross-server-trust-propagation",
    summary: "The output of one server's tool is in the input of another server's tool, unmodified, across a boundary \
              the suite does not declare safe.",
    severity: Severity::High,
    why: "Each server is a trust domain of its own. When what one returned is handed to another as it is, the second \
          trusts text the first made up, and anyone who can write a web page can write a query. The paper \"Breaking the \
          Protocol\" measured that this raises the success of attacks by 23 to 41 percent. The check compares values: a \
          whole text, string or object of a result, or 64 characters of one in a row, in the arguments of a later call \
          to another server. Pieces of fewer than 16 characters (`min_length`), and values that were in the prompt or \
          in arguments sent before that result, do not count.",
    help: "security:\n  trust_boundary:\n    allowed_flows:\n      - from: fetcher\n        to: database\n    \
           required_sanitizers:\n      - sanitize_text\n\nEvery clause that is declared must hold: the pair is listed, in \
           this direction, and the text went through one of the tools: it was in the tool's input, and what was sent \
           on is in the tool's output. An empty declaration makes no exception.",
    black_box: true,
    source: PAPER,
};

/// `SEC-061`: a request claims more than was agreed.
pub const WIDENING: TrustRule = TrustRule {
    id: "SEC-061",
    check: "Capability-negotiation widening",
    axis: "capability-negotiation-widening",
    summary: "A request claims a client capability that was not negotiated.",
    severity: Severity::High,
    why: "Revision 2026-07-28 has no session: every request says again which capabilities the client has. A request that \
          claims more than was agreed widens the agreement without anyone having agreed. AttestMCP cut the success of \
          attacks from 52.8 to 12.4 percent by checking that claims stay within what was negotiated. Earlier revisions \
          negotiate once and do not restate; there the check has nothing to do.",
    help: "security:\n  capability_negotiation:\n    target: \"2026-07-28\"\n    negotiated: [tools]\n\nWithout \
           `negotiated`, the handshake counts, else the first request of the session.",
    black_box: true,
    source: PAPER,
};

/// Both rules, sorted by id.
pub const RULES: &[TrustRule] = &[CROSS_SERVER, WIDENING];

impl TrustRule {
    /// The rule with an id or an axis, whatever its case.
    pub fn find(name: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(name) || rule.axis.eq_ignore_ascii_case(name))
    }
}

/// The table that maps the checks to rules, axes and their source, as Markdown.
pub fn mapping_table() -> String {
    const HEAD: [&str; 5] = ["Check", "Rule id", "Taxonomy axis", "Black-box probeable", "Source"];
    let cells =
        |rule: &TrustRule| [rule.check, rule.id, rule.axis, if rule.black_box { "yes" } else { "no" }, rule.source];
    let rows: Vec<[&str; 5]> = [HEAD].into_iter().chain(RULES.iter().map(cells)).collect();
    let widths: [usize; 5] = std::array::from_fn(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0));
    let mut table = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(table, "| {cell:width$} ");
        }
        table.push_str("|\n");
        if index == 0 {
            for width in widths {
                let _ = write!(table, "|{}", "-".repeat(width + 2));
            }
            table.push_str("|\n");
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted_and_found() {
        assert!(RULES.is_sorted_by_key(|rule| rule.id));
        assert_eq!(TrustRule::find("sec-060").map(|rule| rule.axis), Some("cross-server-trust-propagation"));
        assert_eq!(TrustRule::find("capability-negotiation-widening").map(|rule| rule.id), Some("SEC-061"));
        assert!(TrustRule::find("SEC-062").is_none());
    }

    #[test]
    fn the_table_maps_both_checks() {
        assert_eq!(
            mapping_table(),
            "\
| Check                           | Rule id | Taxonomy axis                   | Black-box probeable | Source           |
|---------------------------------|---------|---------------------------------|---------------------|------------------|
| Cross-server trust propagation  | SEC-060 | cross-server-trust-propagation  | yes                 | arXiv:2601.17549 |
| Capability-negotiation widening | SEC-061 | capability-negotiation-widening | yes                 | arXiv:2601.17549 |
"
        );
    }
}
