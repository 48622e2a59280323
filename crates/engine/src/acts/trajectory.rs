//! A recorded sequence of tool calls: from the file itself, or from a log.

use std::path::Path;

use mcprove_judge::trace;
use mcprove_model::{TracedCall, Trajectory};
use mcprove_suite::load::bounded_read;
use mcprove_suite::template::{Variables, substitute};

use crate::conversation::text;

/// The calls of a trajectory.
pub(crate) fn trace(trajectory: &Trajectory, variables: &Variables) -> Result<Vec<TracedCall>, String> {
    match trajectory {
        Trajectory::Trace(node) => Ok(trace::written(&substitute(node, variables).to_json())),
        Trajectory::AuditLog(node) => {
            let path = text(node, variables);
            let log = bounded_read::read_to_string(Path::new(&path))
                .map_err(|error| format!("`{path}` could not be read: {error}"))?;
            trace::logged(&log).map_err(|bad| format!("`{path}`: {bad}"))
        }
    }
}
