//! The same cases on several servers or protocol revisions: a table with a row for each case and a column for each.

use std::collections::BTreeMap;

use crate::reliability::{Reliability, Trials};
use crate::style::Role;

/// Cases by variants; empty if the run has no matrix.
#[derive(Debug)]
pub(crate) struct Matrix<'a> {
    /// The columns, in the order they first appeared.
    pub(crate) columns: Vec<&'a str>,
    /// The cases, in the order they first appeared.
    pub(crate) rows: Vec<Row<'a>>,
}

/// A case with its result for each variant.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// The case's name.
    pub(crate) name: &'a str,
    /// Its results, one per variant; `None` where it was not planned.
    pub(crate) cells: Vec<Option<&'a Trials>>,
}

impl<'a> Matrix<'a> {
    /// The matrix of a run.
    pub(crate) fn of(reliability: &'a Reliability) -> Self {
        let mut matrix = Self { columns: Vec::new(), rows: Vec::new() };
        let mut columns: BTreeMap<&str, usize> = BTreeMap::new();
        let mut rows: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for trials in reliability.rows() {
            let Some(variant) = &trials.variant else { continue };
            let column = *columns.entry(variant).or_insert_with(|| {
                matrix.columns.push(variant);
                matrix.columns.len() - 1
            });
            let row = *rows.entry((&trials.file, &trials.name)).or_insert_with(|| {
                matrix.rows.push(Row { name: &trials.name, cells: Vec::new() });
                matrix.rows.len() - 1
            });
            let cells = &mut matrix.rows[row].cells;
            cells.resize(cells.len().max(column + 1), None);
            cells[column] = Some(trials);
        }
        let width = matrix.columns.len();
        matrix.rows.iter_mut().for_each(|row| row.cells.resize(width, None));
        matrix
    }
}

impl Row<'_> {
    /// True if it passed, every time, in every column where it was not skipped.
    pub(crate) fn is_good(&self) -> bool {
        self.cells.iter().flatten().all(|trials| trials.run == 0 || trials.reliable())
    }
}

/// Result of a case for one variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// It was not planned there.
    Absent,
    Skipped,
    Passed,
    /// It passed that often of so many trials.
    Sometimes(u32, u32),
    Failed,
    Error,
}

impl Cell {
    pub(crate) fn of(trials: Option<&Trials>) -> Self {
        match trials {
            None => Self::Absent,
            Some(trials) if trials.run == 0 => Self::Skipped,
            Some(trials) if trials.reliable() => Self::Passed,
            Some(trials) if trials.flaky() => Self::Sometimes(trials.passed, trials.run),
            Some(trials) if trials.errors == trials.run => Self::Error,
            Some(_) => Self::Failed,
        }
    }

    /// One short word.
    pub(crate) fn word(self) -> String {
        match self {
            Self::Absent => "-".to_owned(),
            Self::Skipped => "skip".to_owned(),
            Self::Passed => "pass".to_owned(),
            Self::Sometimes(passed, run) => format!("{passed}/{run}"),
            Self::Failed => "FAIL".to_owned(),
            Self::Error => "ERROR".to_owned(),
        }
    }

    pub(crate) fn role(self) -> Role {
        match self {
            Self::Absent => Role::Faint,
            Self::Skipped => Role::Skipped,
            Self::Passed => Role::Good,
            Self::Sometimes(..) => Role::Warning,
            Self::Failed | Self::Error => Role::Bad,
        }
    }

    /// A sign before the word, where pictures are welcome.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Absent => "",
            Self::Skipped => "⚪ ",
            Self::Passed => "✅ ",
            Self::Sometimes(..) => "⚠️ ",
            Self::Failed => "❌ ",
            Self::Error => "💥 ",
        }
    }
}
