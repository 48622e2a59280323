//! The targets of blocks that have no result.

use mcprove_model::Targets;

/// Of a graph of calls.
pub static COMPOSITION: Targets =
    Targets { name: "composition", block: "a composition", known: &["composition", "nodes", "output"] };

/// Of a recorded agent in a made-up world.
pub static SCENARIO: Targets = Targets {
    name: "scenario",
    block: "a scenario",
    known: &[
        "actions",
        "escalations",
        "forbidden_transitions",
        "golden",
        "invalid_actions",
        "recovery_attempts",
        "refusals",
        "state",
        "state_matched",
        "tool_names",
        "turns",
    ],
};

/// Of the labels of a judge.
pub static CALIBRATION: Targets = Targets {
    name: "calibration",
    block: "`calibration`",
    known: &["brier", "corrected_rate", "corrected_rate_high", "corrected_rate_low", "ece", "labels"],
};

/// Of two revisions of the protocol.
pub static SPEC_VERSION: Targets = Targets {
    name: "spec_version_check",
    block: "`spec_version_check`",
    known: &["spec_breaking_changes", "spec_clean"],
};

/// Of related calls.
pub static METAMORPHIC: Targets = Targets {
    name: "metamorphic",
    block: "`metamorphic`",
    known: &["metamorphic.gate_passed", "metamorphic.relations_checked", "metamorphic.violations"],
};
