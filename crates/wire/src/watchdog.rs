//! Nothing is left behind even when we are killed.
//!
//! A process that is killed cannot clean up. So a second mcprove process waits at the other end of a pipe, receives the
//! process groups and temporary folders in use, and ends what is left of them when the pipe closes, which happens
//! however mcprove ends. It is started once, when there is first something to guard.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::process_group::{Ending, ProcessGroup};
use crate::remove_folder::remove_folder;

/// The argument that makes a watchdog of our program.
pub const WATCHDOG: &str = "__watchdog";

/// Time for the remaining processes to end by themselves.
const GRACE: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(10);

/// Interval at which it reads its pipe, so that writers do not wake it each time.
const PAUSE: Duration = Duration::from_millis(50);

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static LINE: Mutex<WatchdogPipe> = Mutex::new(WatchdogPipe::NotStarted);

/// The way to the watchdog.
#[derive(Debug)]
enum WatchdogPipe {
    NotStarted,
    Open(ChildStdin),
    /// It could not be started or has gone: nothing is guarded, and the run goes on.
    Gone,
}

/// Says which program is ours, so that it can be started once more. Without it, nothing is guarded.
pub fn arm(program: &Path) {
    // The first caller has set the same program.
    let _ = PROGRAM.set(program.to_owned());
}

/// Something that is ended or removed when we are killed; dropping this gives it free.
#[derive(Debug)]
pub struct Guard(Option<String>);

impl Guard {
    /// Guards a process group.
    pub(crate) fn group(group: Option<&ProcessGroup>) -> Self {
        Self::of(group.map(|group| format!("g{}", group.number())))
    }

    /// Guards a temporary folder.
    pub fn folder(path: &Path) -> Self {
        // A path that does not fit on a line is left to the system's cleaning of temporary folders.
        Self::of(path.to_str().filter(|path| !path.contains('\n')).map(|path| format!("f{path}")))
    }

    fn of(what: Option<String>) -> Self {
        let what = what.filter(|_| PROGRAM.get().is_some());
        if let Some(what) = &what {
            tell(&format!("+{what}\n"));
        }
        Self(what)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(what) = &self.0 {
            tell(&format!("-{what}\n"));
        }
    }
}

fn tell(what: &str) {
    let Some(program) = PROGRAM.get() else { return };
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if let WatchdogPipe::NotStarted = *line {
        *line = start(program).map_or(WatchdogPipe::Gone, WatchdogPipe::Open);
    }
    if let WatchdogPipe::Open(stdin) = &mut *line
        && stdin.write_all(what.as_bytes()).is_err()
    {
        *line = WatchdogPipe::Gone;
    }
}

/// Starts it. That takes a millisecond once, while the first server is starting as well; a run that is killed as it begins
/// is guarded too.
fn start(program: &Path) -> Option<ChildStdin> {
    let mut command = Command::new(program);
    // A group of its own, so that Ctrl-C does not reach it; a folder of its own, so that it keeps none busy.
    command.arg(WATCHDOG).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.current_dir("/");
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().ok()?.stdin.take()
}

/// The watchdog itself: waits for the end of its input, and cleans up.
pub fn watch_over(input: impl Read) {
    let mut groups = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for line in BufReader::with_capacity(64 << 10, Unhurried(input)).lines().map_while(Result::ok) {
        let mut letters = line.chars();
        let (sign, kind) = (letters.next(), letters.next());
        let what = letters.as_str();
        match (sign, kind) {
            (Some('+'), Some('g')) => drop(what.parse::<i32>().map(|group| groups.insert(group))),
            (Some('-'), Some('g')) => drop(what.parse::<i32>().map(|group| groups.remove(&group))),
            (Some('+'), Some('f')) => drop(folders.insert(PathBuf::from(what))),
            (Some('-'), Some('f')) => drop(folders.remove(Path::new(what))),
            (_, _) => {}
        }
    }
    end_groups(groups.into_iter().filter_map(ProcessGroup::numbered).collect());
    for folder in folders.iter().filter(|folder| is_temporary(folder)) {
        // It may be gone, and more cannot be done.
        let _ = remove_folder(folder);
    }
}

/// Input that is looked at now and then. A reader that waited for each line would take a turn of the processor for each
/// server that is started and ended.
struct Unhurried<R>(R);

impl<R: Read> Read for Unhurried<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(PAUSE);
        self.0.read(buffer)
    }
}

fn end_groups(mut groups: Vec<ProcessGroup>) {
    let tell = |groups: &[ProcessGroup], ending| {
        for group in groups {
            group.end(ending);
        }
    };
    groups.retain(ProcessGroup::lives);
    tell(&groups, Ending::Asked);
    let deadline = Instant::now() + GRACE;
    while !groups.is_empty() && Instant::now() < deadline {
        std::thread::sleep(POLL);
        groups.retain(ProcessGroup::lives);
    }
    tell(&groups, Ending::Forced);
}

/// Only folders made by mcprove are removed, whatever the pipe says.
fn is_temporary(folder: &Path) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    folder.is_absolute() && name.starts_with(TEMPORARY)
}

/// Prefix of the names of mcprove's temporary folders.
pub const TEMPORARY: &str = "mcprove-";

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::*;

    #[test]
    fn what_was_not_given_free_is_ended_and_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["mcprove-a", "mcprove-b", "precious"] {
            std::fs::create_dir(at(name)).expect("a folder");
        }
        let sleeper = || Command::new("sleep").arg("600").process_group(0).spawn().expect("sleep runs");
        let (mut left, mut free) = (sleeper(), sleeper());
        let lines = format!(
            "+g{}\n+g{}\n-g{}\n+f{}\n+f{}\n-f{}\n+f{}\nnonsense\n+g1\n+g-1\n+gx\n",
            left.id(),
            free.id(),
            free.id(),
            at("mcprove-a").display(),
            at("mcprove-b").display(),
            at("mcprove-b").display(),
            at("precious").display(),
        );
        let reaper = std::thread::spawn(move || left.wait().expect("an end"));
        watch_over(lines.as_bytes());
        assert!(!reaper.join().expect("no panic").success());
        assert!(free.try_wait().expect("a look").is_none(), "it was given free");
        free.kill().expect("it lives");
        free.wait().expect("an end");
        assert!(!at("mcprove-a").exists());
        assert!(at("mcprove-b").exists() && at("precious").exists());
    }
}
