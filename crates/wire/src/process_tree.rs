//! A process and its children on Windows, which has no process groups: the system's own programs list and end them, because job objects
//! need unsafe code.

use std::process::{Command, Stdio};

/// A process with everything it started, as long as it runs itself.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    leader: u32,
}

impl ProcessTree {
    pub(crate) fn of(leader: u32) -> Self {
        Self { leader }
    }

    pub(crate) fn number(&self) -> u32 {
        self.leader
    }

    /// True if the leader runs.
    pub(crate) fn lives(&self) -> bool {
        let filter = format!("PID eq {}", self.leader);
        let mut command = Command::new("tasklist");
        command.args(["/FI", &filter, "/FO", "CSV", "/NH"]).stdin(Stdio::null()).stderr(Stdio::null());
        command.output().is_ok_and(|output| lists(&String::from_utf8_lossy(&output.stdout), self.leader))
    }

    /// Ends the leader and its children.
    pub(crate) fn end(&self) {
        let mut command = Command::new("taskkill");
        command.args(["/PID", &self.leader.to_string(), "/T", "/F"]);
        // They may be gone by now; that is what we want.
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// True if a list of `tasklist` has the process: its second column is the number.
fn lists(printed: &str, leader: u32) -> bool {
    printed.lines().any(|line| line.split("\",\"").nth(1) == Some(&leader.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_processes_is_read() {
        let printed = "\"node.exe\",\"4120\",\"Console\",\"1\",\"51,204 K\"\r\n";
        assert!(lists(printed, 4120));
        assert!(!lists(printed, 412));
        assert!(!lists(printed, 1));
        assert!(!lists("INFO: No tasks are running which match the specified criteria.\r\n", 4120));
    }
}
