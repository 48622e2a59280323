//! A tool that does not exist.

use super::{Probe, ProbeRequest};

/// No server has a tool of this name.
const UNKNOWN: &str = "__mcprove_nonexistent_tool__";

pub(super) const PROBE: Probe = Probe {
    name: "unknown_tool",
    taxonomy: "FAULT-PROTO-UNKNOWN-METHOD",
    paper: "arXiv:2606.05339",
    sends: "a call of a tool that does not exist",
    contract: "method not found",
    may_accept: false,
    requests: |subject| {
        let what = format!("the tool `{UNKNOWN}` does not exist");
        Ok(vec![ProbeRequest { tool: UNKNOWN.to_owned(), arguments: subject.base.clone(), what, has_default: false }])
    },
};
