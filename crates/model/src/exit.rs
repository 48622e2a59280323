//! Exit codes of the program.

/// The exit codes, all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// All good.
    Good,
    /// Something about the subject is wrong.
    Wrong,
    /// The job could not be done.
    NotDone,
    /// Nothing was selected.
    NothingSelected,
    /// A bug of mcprove.
    Bug,
    /// Interrupted.
    Interrupted,
}

impl ExitStatus {
    /// Every status, in order of its code.
    pub const ALL: [Self; 6] =
        [Self::Good, Self::Wrong, Self::NotDone, Self::NothingSelected, Self::Bug, Self::Interrupted];

    /// The number the process exits with.
    pub fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Wrong => 1,
            Self::NotDone => 2,
            Self::NothingSelected => 4,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }

    /// Its meaning.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Good => "all good",
            Self::Wrong => {
                "something about the subject is wrong: failures, findings, regressions, a server that dies or hangs in a call"
            }
            Self::NotDone => {
                "the job could not be done: usage, suite file, unknown name, a server that cannot be started or reached, a missing key"
            }
            Self::NothingSelected => "nothing was selected",
            Self::Bug => "a bug of ours",
            Self::Interrupted => "interrupted",
        }
    }
}
