//! Replies that are stored to be compared with later ones.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Grades;

/// A text that is stored, or was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Its subject.
    pub kind: SnapshotKind,
    /// The case's name, or the one that the author gave it.
    pub name: String,
    /// The text, with everything masked that changes from run to run.
    pub text: String,
}

/// Subject of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotKind {
    /// The whole reply of a case.
    Case,
    /// A value that an assertion names.
    Value,
}

/// Inputs of a check besides the reply: stored values and grades, which are fetched before it judges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredValues {
    /// The texts by name.
    pub texts: BTreeMap<String, String>,
    /// Error when reading them, if any.
    pub unreadable: Option<String>,
    /// The folder whose path is masked.
    pub fixture: Option<String>,
    /// Further patterns that are masked.
    pub masks: Vec<String>,
    /// Grades that judges gave.
    pub grades: Grades,
}
