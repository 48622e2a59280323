//! Everything a server started, where the system can name it by one number.
//!
//! On Unix that is a process group. On Windows it is the tree of a process, which is known only while its leader runs: children that
//! a leader leaves behind are not ended.

use std::process::ExitStatus;

use tokio::process::{Child, Command};

#[cfg(not(unix))]
use crate::process_tree::ProcessTree;

/// Signal that ends a group: polite or forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It may tidy up first.
    Asked,
    /// As by Ctrl-C.
    Interrupted,
    /// As by a terminal that goes away.
    HungUp,
    /// At once.
    Forced,
}

/// The group of a process that leads one.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    #[cfg(unix)]
    leader: rustix::process::Pid,
    #[cfg(not(unix))]
    tree: ProcessTree,
}

#[cfg(unix)]
impl ProcessGroup {
    /// True if it can be named when its leader has ended.
    pub(crate) const OUTLIVES_LEADER: bool = true;

    /// Lets a command lead a group of its own.
    pub(crate) fn lead(command: &mut Command) {
        command.process_group(0);
    }

    /// The group that a started process leads.
    pub(crate) fn of(child: &Child) -> Option<Self> {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        id.and_then(rustix::process::Pid::from_raw).map(|leader| Self { leader })
    }

    /// The group of this number; the first one is the system's.
    pub(crate) fn numbered(number: i32) -> Option<Self> {
        Some(number).filter(|number| *number > 1).and_then(rustix::process::Pid::from_raw).map(|leader| Self { leader })
    }

    /// The group's number in the operating system.
    pub(crate) fn number(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// True if anything of it is left.
    pub(crate) fn lives(&self) -> bool {
        rustix::process::test_kill_process_group(self.leader).is_ok()
    }

    /// Signals all its processes to end.
    pub(crate) fn end(&self, ending: Ending) {
        let signal = match ending {
            Ending::Asked => rustix::process::Signal::TERM,
            Ending::Interrupted => rustix::process::Signal::INT,
            Ending::HungUp => rustix::process::Signal::HUP,
            Ending::Forced => rustix::process::Signal::KILL,
        };
        // The group may be gone by now; that is what we want.
        let _ = rustix::process::kill_process_group(self.leader, signal);
    }
}

#[cfg(not(unix))]
impl ProcessGroup {
    /// True if it can be named when its leader has ended.
    pub(crate) const OUTLIVES_LEADER: bool = false;

    pub(crate) fn lead(_command: &mut Command) {}

    pub(crate) fn of(child: &Child) -> Option<Self> {
        child.id().map(|id| Self { tree: ProcessTree::of(id) })
    }

    pub(crate) fn numbered(number: i32) -> Option<Self> {
        u32::try_from(number).ok().filter(|number| *number > 1).map(|number| Self { tree: ProcessTree::of(number) })
    }

    pub(crate) fn number(&self) -> i32 {
        i32::try_from(self.tree.number()).unwrap_or_default()
    }

    pub(crate) fn lives(&self) -> bool {
        self.tree.lives()
    }

    /// There are no polite signals: a program that does not end with its input is ended at once.
    pub(crate) fn end(&self, ending: Ending) {
        match ending {
            Ending::Asked | Ending::Interrupted | Ending::HungUp => {}
            Ending::Forced => self.tree.end(),
        }
    }
}

/// The signal that ended a process, where there are signals.
#[cfg(unix)]
pub(crate) fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
pub(crate) fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}
