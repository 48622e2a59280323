//! The keys of mcptest suites and how mcprove treats each, for the page of formats.
//!
//! Which keys are known and which are refused is read from the tables that decode them; `differences.txt` has what differs
//! in keys that both tools know.

use super::list::List;
use super::{agents, compliance, compositions, evals, hooks, known_keys, run_options, security, unsupported_keys};
use super::{lifecycle, scenarios, stepwise, test};

use crate::context::FileKind;
use crate::field;
use crate::server;

const TEXTS: &str = include_str!("differences.txt");

/// The keys of a map of mcptest's format, sorted.
struct Theirs {
    map: &'static str,
    keys: &'static str,
    ours: fn() -> Vec<&'static str>,
    refused: &'static [(&'static str, &'static str)],
}

const MAPS: &[Theirs] = &[
    Theirs {
        map: "a suite file",
        keys: "agents auth budget calibration compliance compositions conformance corpus coverage defaultTest default_server \
               evals faults fixtures hooks imports input_responder mock_server model_compat model_compatibility performance \
               prompts providers resources rubrics run_options scenarios scorers security server servers setup setup_per_test \
               stepwise target_versions teardown tool_quality tools variables",
        ours: known_keys,
        refused: unsupported_keys::OF_SUITE,
    },
    Theirs {
        map: "a server",
        keys: "auth cassette command env headers http url wait_for_ready",
        ours: || server::keys::names(FileKind::Suite),
        refused: &[],
    },
    Theirs {
        map: "`auth`",
        keys: "aws_sigv4 bearer_token_env headers oauth web_bot_auth",
        ours: || server::auth::names(FileKind::Suite),
        refused: server::auth::OUTSIDE,
    },
    Theirs {
        map: "a test",
        keys: "args cache derivedMetrics effects expect fuzz hooks inject_error input_responder input_responses metamorphic \
               name negative_path only server server_version skip tags threshold timeout_ms tool transform",
        ours: || of_list("tools"),
        refused: unsupported_keys::OF_TEST,
    },
    Theirs {
        map: "a test of `agents`",
        keys: "context_rot_probe discovery distractors equal_function_sets eval golden_path inject matrix_assert max_tokens \
               max_tool_calls max_turns model models narrative orchestration prompt recovery runs servers stability \
               system_prompt time_budget token_budget token_efficiency tool_edges tool_selection trajectory trajectory_axes \
               turns",
        ours: || of_list("agents"),
        refused: agents::OUTSIDE,
    },
    Theirs {
        map: "a composition",
        keys: "budget cases description eval expect name nodes output",
        ours: || of_list(compositions::KEY),
        refused: &[],
    },
    Theirs {
        map: "a node of a composition",
        keys: "args for_each id max_concurrency max_cost_per_call_usd max_iterations max_tokens_per_call mock needs server \
               tool transform when",
        ours: || field::keys(compositions::NODE),
        refused: compositions::OUTSIDE_NODE,
    },
    Theirs {
        map: "`budget` of a composition",
        keys: "max_cost_usd max_duration_ms max_tokens",
        ours: || field::keys(compositions::BUDGET),
        refused: compositions::OUTSIDE_BUDGET,
    },
    Theirs {
        map: "`compliance`",
        keys: "baseline grade_delta spec_version spec_version_check tests",
        ours: || field::keys(compliance::MAP),
        refused: compliance::OUTSIDE,
    },
    Theirs {
        map: "an eval",
        keys: "judge matrix name prompt response rubric server threshold",
        ours: || of_list(evals::KEY),
        refused: evals::OUTSIDE,
    },
    Theirs {
        map: "a scorer",
        keys: "command cwd env name timeout_ms type",
        ours: || field::keys(evals::SCORER),
        refused: &[],
    },
    Theirs {
        map: "a scenario",
        keys: "cassette escalation expect expect_state forbidden golden name refusal rubric seed skip tags transitions",
        ours: || of_list(scenarios::KIND.key),
        refused: scenarios::OUTSIDE,
    },
    Theirs { map: "a stepwise test", keys: "default_server name steps", ours: || of_list(stepwise::KEY), refused: &[] },
    Theirs {
        map: "a step of `setup`, `setup_per_test` or `teardown`",
        keys: "always background call capture_failure run timeout wait_for",
        ours: || field::keys(lifecycle::FIELDS),
        refused: &[],
    },
    Theirs { map: "a hook", keys: "command mode", ours: || field::keys(hooks::COMMAND), refused: hooks::OUTSIDE },
    Theirs {
        map: "`run_options`",
        keys: "failure_policy inconclusive parallel restart_policy",
        ours: run_options::keys,
        refused: run_options::OUTSIDE,
    },
    Theirs {
        map: "`security`",
        keys: "capability_negotiation scan trust_boundary",
        ours: security::keys,
        refused: &[],
    },
];

/// A key of either tool, and how it is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDifference {
    /// The map that it is a key of.
    pub map: &'static str,
    /// The key.
    pub key: &'static str,
    /// The treatment by both tools.
    pub here: Here,
}

/// Treatment of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Here {
    /// It means the same.
    Same,
    /// It is known, and differs.
    Differs {
        /// Behaviour of mcptest.
        there: &'static str,
        /// Behaviour of mcprove.
        here: &'static str,
    },
    /// It is refused; the text says what to do instead.
    Refused(&'static str),
    /// It is neither known nor refused by name.
    Unknown,
}

/// The maps of the format, in the order of the page.
pub fn maps() -> impl Iterator<Item = &'static str> {
    MAPS.iter().map(|theirs| theirs.map)
}

/// Treatment of every key of mcptest, and of the other keys of `differences.txt`, map by map, sorted by key.
pub fn differences() -> Vec<KeyDifference> {
    let mut all = Vec::new();
    for theirs in MAPS {
        let mut keys: Vec<&'static str> = theirs.keys.split_whitespace().collect();
        keys.extend(texts().filter(|text| text.map == theirs.map).map(|text| text.key));
        keys.sort_unstable();
        keys.dedup();
        let ours = (theirs.ours)();
        for key in keys {
            let told = texts().find(|text| text.map == theirs.map && text.key == key).map(|text| text.here);
            let refused = theirs.refused.iter().find(|(name, _)| *name == key).map(|(_, help)| Here::Refused(help));
            let here = match (refused, told) {
                _ if ours.contains(&key) => told.unwrap_or(Here::Same),
                (Some(refused), _) => refused,
                (None, Some(told)) => told,
                (None, None) => Here::Unknown,
            };
            all.push(KeyDifference { map: theirs.map, key, here });
        }
    }
    all
}

/// The rows of `differences.txt`.
fn texts() -> impl Iterator<Item = KeyDifference> {
    TEXTS.lines().filter_map(|line| {
        let mut cells = line.splitn(4, " | ");
        let (map, key, there, here) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        Some(KeyDifference { map, key, here: Here::Differs { there, here } })
    })
}

fn of_list(key: &str) -> Vec<&'static str> {
    List::find(key).map(test::keys).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_other_tool_is_known_or_refused_by_name() {
        let unknown: Vec<_> = differences().into_iter().filter(|row| row.here == Here::Unknown).collect();
        assert_eq!(unknown, [], "add the key, or a row to the table of refused keys");
    }

    #[test]
    fn a_refused_key_is_not_known_and_every_text_has_a_map() {
        for theirs in MAPS {
            let ours = (theirs.ours)();
            let both: Vec<_> = theirs.refused.iter().filter(|(key, _)| ours.contains(key)).collect();
            assert!(both.is_empty() || theirs.map == "a test", "{}: {both:?}", theirs.map);
        }
        assert_eq!(TEXTS.lines().count(), texts().count(), "each line has four cells");
        let homeless: Vec<_> = texts().filter(|text| maps().all(|map| map != text.map)).collect();
        assert_eq!(homeless, []);
    }
}
