//! Confinement of servers: they read what they like and write only where it does no harm.
//!
//! On Linux the server is started through mcprove itself (`mcprove __confined PATH… -- CMD ARGS`), which gives up the right
//! to write anywhere else ([Landlock](https://landlock.io)) and then becomes the server. On macOS `sandbox-exec` does the
//! same. Elsewhere, and on kernels without Landlock, nothing is confined, and [`sandbox_support`] says why.

mod caches;
mod helper;
#[cfg(target_os = "linux")]
mod landlock_rules;
mod refusal;
mod scratch;
#[cfg(any(test, target_os = "macos"))]
mod seatbelt;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use caches::Caches;
pub use helper::{CONFINED, run_confined};
pub use refusal::{Refusal, refusal_in};

pub(crate) use helper::failure_of_start;
pub(crate) use scratch::Scratch;

use crate::Program;

/// The confinement of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxPolicy {
    /// Files and folders that it may write to, besides its scratch folder, the caches and devices like `/dev/null`.
    pub writable: Vec<PathBuf>,
    /// True if the server must not be started without a sandbox.
    pub required: bool,
}

/// Facts about the process that confinement needs.
#[derive(Clone, Debug, Default)]
pub struct SandboxSetup {
    /// The running program, which is started again to confine a server.
    pub program: PathBuf,
    /// Caches that package runners write to.
    pub caches: Caches,
    /// Treat the system as one that cannot confine, for tests.
    pub pretend_unsupported: bool,
}

/// The degree to which this system can confine servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxSupport {
    /// Writes and signals are confined.
    Full,
    /// Writes are confined; what is listed is not.
    Partial(Vec<&'static str>),
    /// Nothing is confined, for this reason.
    Unsupported(&'static str),
}

static SETUP: OnceLock<SandboxSetup> = OnceLock::new();
static SUPPORT: OnceLock<SandboxSupport> = OnceLock::new();

/// Prepares confinement; until then, no server is confined.
pub fn prepare_sandbox(setup: SandboxSetup) {
    // The first setup is as good as any other.
    let _ = SETUP.set(setup);
}

/// Confinement that this system supports.
pub fn sandbox_support() -> &'static SandboxSupport {
    SUPPORT.get_or_init(|| match SETUP.get() {
        None => SandboxSupport::Unsupported("it was not prepared"),
        Some(setup) if setup.pretend_unsupported => {
            SandboxSupport::Unsupported("this kernel has no Landlock (simulated)")
        }
        Some(_) => system_support(),
    })
}

/// A server's command line once it is confined.
#[derive(Debug)]
pub(crate) struct Confined {
    pub(crate) command: OsString,
    /// Arguments that precede the server's command; that and its arguments follow.
    pub(crate) prefix: Vec<OsString>,
    /// Variables added to the server's.
    pub(crate) env: Vec<(&'static str, PathBuf)>,
    pub(crate) scratch: Scratch,
}

/// Confines a program, if it is to be and the system can.
pub(crate) fn confine(program: &Program) -> io::Result<Option<Confined>> {
    let Some(policy) = &program.sandbox else { return Ok(None) };
    let (SandboxSupport::Full | SandboxSupport::Partial(_), Some(setup)) = (sandbox_support(), SETUP.get()) else {
        return match sandbox_support() {
            SandboxSupport::Unsupported(why) if policy.required => Err(io::Error::other(*why)),
            _ => Ok(None),
        };
    };
    let scratch = Scratch::make()?;
    let mut writable = vec![scratch.path().to_owned()];
    writable.extend(policy.writable.iter().filter_map(|path| absolute(path)));
    writable.extend(setup.caches.folders.iter().cloned());
    // A folder for temporary files that the program is given, and may write to, stays.
    let is_given = |name: &str| {
        let given = program.env.iter().find(|(known, _)| known == name);
        given.is_some_and(|(_, folder)| policy.writable.iter().any(|path| path == Path::new(folder)))
    };
    let temporary = ["TMPDIR", "TMP", "TEMP"].into_iter().filter(|name| !is_given(name));
    let mut env: Vec<_> = temporary.map(|name| (name, scratch.path().to_owned())).collect();
    for (name, folder) in &setup.caches.redirected {
        env.push((name, scratch.path().join(folder)));
    }
    let (command, prefix) = wrapper(&setup.program, &writable);
    Ok(Some(Confined { command, prefix, env, scratch }))
}

/// Paths that a confined program may write to, for telling a refusal of the sandbox from others.
pub fn writable_paths(policy: &SandboxPolicy) -> Vec<PathBuf> {
    let caches = SETUP.get().map(|setup| setup.caches.folders.clone()).unwrap_or_default();
    policy.writable.iter().filter_map(|path| absolute(path)).chain(caches).collect()
}

/// A path as the system names it; rules name what exists.
fn absolute(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

#[cfg(target_os = "linux")]
fn system_support() -> SandboxSupport {
    landlock_rules::support()
}

#[cfg(target_os = "macos")]
fn system_support() -> SandboxSupport {
    if Path::new(seatbelt::SANDBOX_EXEC).exists() {
        SandboxSupport::Full
    } else {
        SandboxSupport::Unsupported("this system has no `sandbox-exec`")
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn system_support() -> SandboxSupport {
    SandboxSupport::Unsupported("mcprove has no sandbox for this system")
}

#[cfg(not(target_os = "macos"))]
fn wrapper(program: &Path, writable: &[PathBuf]) -> (OsString, Vec<OsString>) {
    let paths = writable.iter().map(|path| path.clone().into_os_string());
    let prefix = std::iter::once(OsString::from(CONFINED)).chain(paths).chain([OsString::from("--")]);
    (program.as_os_str().to_owned(), prefix.collect())
}

#[cfg(target_os = "macos")]
fn wrapper(_program: &Path, writable: &[PathBuf]) -> (OsString, Vec<OsString>) {
    (seatbelt::SANDBOX_EXEC.into(), vec!["-p".into(), seatbelt::profile(writable).into()])
}
