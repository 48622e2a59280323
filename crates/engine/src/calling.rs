//! Which tools may be called when nobody wrote down what to call: three rules, the same for audit, fuzz and probes.

use serde_json::Value;

/// What the user allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calling {
    /// Tools that do not say that they write.
    #[default]
    Cautious,
    /// Every tool.
    IncludeWrites,
    /// Only tools that say that they read.
    ReadOnly,
}

/// What a tool says about writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// It only reads.
    Reads,
    /// It writes, or destroys.
    Writes,
    /// Nothing.
    Nothing,
}

/// Reads a tool's annotations.
pub fn says(tool: &Value) -> Says {
    let hint = |name: &str| tool.get("annotations").and_then(|hints| hints.get(name)).and_then(Value::as_bool);
    match (hint("readOnlyHint"), hint("destructiveHint")) {
        (_, Some(true)) | (Some(false), _) => Says::Writes,
        (Some(true), _) => Says::Reads,
        (None, Some(false) | None) => Says::Nothing,
    }
}

/// Why a tool may not be called; `None` when it may.
pub fn forbidden(tool: &Value, calling: Calling) -> Option<&'static str> {
    match (calling, says(tool)) {
        (Calling::IncludeWrites, _) | (_, Says::Reads) | (Calling::Cautious, Says::Nothing) => None,
        (_, Says::Writes) => Some("it says that it writes; `--include-writes` calls it"),
        (Calling::ReadOnly, Says::Nothing) => Some("it does not say that it only reads"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_three_rules() {
        let silent = json!({"name": "a"});
        let reads = json!({"annotations": {"readOnlyHint": true}});
        let writes = json!({"annotations": {"readOnlyHint": false}});
        let destroys = json!({"annotations": {"readOnlyHint": true, "destructiveHint": true}});
        let may = |tool: &Value, calling| forbidden(tool, calling).is_none();
        assert!(may(&silent, Calling::Cautious) && may(&reads, Calling::Cautious));
        assert!(!may(&writes, Calling::Cautious) && !may(&destroys, Calling::Cautious));
        assert!(may(&reads, Calling::ReadOnly) && !may(&silent, Calling::ReadOnly));
        assert!(may(&destroys, Calling::IncludeWrites));
    }
}
