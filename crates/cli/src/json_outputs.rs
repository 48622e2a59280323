//! What `--json` prints, command by command. A test runs each and holds what it prints against its schema.

/// The shape of what a command prints with `--json`.
#[derive(Clone, Copy, Debug)]
pub struct JsonOutput {
    /// The command.
    pub command: &'static str,
    /// The JSON Schema of the document; of each line, where a command prints a line for each run.
    pub schema: &'static str,
}

/// Every command that has `--json`, sorted.
pub const JSON_OUTPUTS: &[JsonOutput] = &[
    JsonOutput { command: "agents", schema: include_str!("../../../schema/json/agents.json") },
    JsonOutput { command: "audit", schema: include_str!("../../../schema/json/audit.json") },
    JsonOutput { command: "bench", schema: include_str!("../../../schema/json/bench.json") },
    JsonOutput { command: "call", schema: include_str!("../../../schema/json/request.json") },
    JsonOutput { command: "ci", schema: include_str!("../../../schema/json/results.json") },
    JsonOutput { command: "complete", schema: include_str!("../../../schema/json/request.json") },
    JsonOutput { command: "conformance", schema: include_str!("../../../schema/json/results.json") },
    JsonOutput { command: "convert", schema: include_str!("../../../schema/json/convert.json") },
    JsonOutput { command: "coverage", schema: include_str!("../../../schema/json/coverage.json") },
    JsonOutput { command: "diff", schema: include_str!("../../../schema/json/diff.json") },
    JsonOutput { command: "doctor", schema: include_str!("../../../schema/json/doctor.json") },
    JsonOutput { command: "explain", schema: include_str!("../../../schema/json/explain.json") },
    JsonOutput { command: "fuzz", schema: include_str!("../../../schema/json/fuzz.json") },
    JsonOutput { command: "generate", schema: include_str!("../../../schema/json/written.json") },
    JsonOutput { command: "host", schema: include_str!("../../../schema/json/results.json") },
    JsonOutput { command: "init", schema: include_str!("../../../schema/json/written.json") },
    JsonOutput { command: "lint", schema: include_str!("../../../schema/json/findings.json") },
    JsonOutput { command: "list", schema: include_str!("../../../schema/json/list.json") },
    JsonOutput { command: "lock", schema: include_str!("../../../schema/json/lock.json") },
    JsonOutput { command: "login", schema: include_str!("../../../schema/json/login.json") },
    JsonOutput { command: "matrix", schema: include_str!("../../../schema/json/results.json") },
    JsonOutput { command: "negative", schema: include_str!("../../../schema/json/results.json") },
    JsonOutput { command: "prompt", schema: include_str!("../../../schema/json/request.json") },
    JsonOutput { command: "read", schema: include_str!("../../../schema/json/request.json") },
    JsonOutput { command: "report", schema: include_str!("../../../schema/json/results.json") },
    JsonOutput { command: "run", schema: include_str!("../../../schema/json/results.json") },
    JsonOutput { command: "schema-lint", schema: include_str!("../../../schema/json/schema-lint.json") },
    JsonOutput { command: "snapshot", schema: include_str!("../../../schema/json/snapshot.json") },
    JsonOutput { command: "trust", schema: include_str!("../../../schema/json/results.json") },
    JsonOutput { command: "validate", schema: include_str!("../../../schema/json/findings.json") },
    JsonOutput { command: "watch", schema: include_str!("../../../schema/json/results.json") },
];

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn every_command_with_json_has_a_schema() {
        let command = crate::Arguments::command();
        let has_json = |command: &&clap::Command| command.get_arguments().any(|argument| argument.get_id() == "json");
        let mut with: Vec<&str> = command.get_subcommands().filter(has_json).map(clap::Command::get_name).collect();
        with.sort_unstable();
        assert_eq!(with, JSON_OUTPUTS.iter().map(|output| output.command).collect::<Vec<_>>());
    }

    #[test]
    fn commands_without_json_are_few() {
        // The output of these is not a report: a program's input, or a conversation.
        let excused = ["completions", "drive", "intercept", "logout", "man", "mcp", "mock", "schema", "ui"];
        for command in crate::Arguments::command().get_subcommands() {
            let has_json = JSON_OUTPUTS.iter().any(|output| output.command == command.get_name());
            assert!(has_json || excused.contains(&command.get_name()), "`{}` has no `--json`", command.get_name());
        }
    }
}
