//! Landlock: the rules, and what of them a kernel supports.

use std::path::{Path, PathBuf};

use landlock::{
    AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, make_bitflags,
};

use super::SandboxSupport;

/// Devices without content, terminals, and shared memory, which browsers and Python's `multiprocessing` need.
const DEVICES: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/random",
    "/dev/shm",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// Changes of files and folders that the first version of Landlock knows.
fn basic_writes() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{
        WriteFile | RemoveDir | RemoveFile | MakeChar | MakeDir | MakeReg | MakeSock | MakeFifo | MakeBlock | MakeSym
    })
}

/// All changes of files and folders. Requests to devices (`ioctl`) stay as they are.
fn writes() -> BitFlags<AccessFs> {
    basic_writes() | AccessFs::Refer | AccessFs::Truncate
}

/// Changes that a rule for a single file can allow.
fn file_writes() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{WriteFile | Truncate})
}

/// Signals and abstract sockets of processes outside.
fn scopes() -> BitFlags<Scope> {
    make_bitflags!(Scope::{Signal | AbstractUnixSocket})
}

/// Confinement that this kernel supports.
pub(super) fn support() -> SandboxSupport {
    let strictly = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let can = |access: BitFlags<AccessFs>| strictly().handle_access(access).and_then(Ruleset::create).is_ok();
    if !can(basic_writes()) {
        return SandboxSupport::Unsupported("this kernel has no Landlock");
    }
    let mut missing = Vec::new();
    if !can(basic_writes() | AccessFs::Truncate) {
        missing.push("truncation of files by name");
    }
    let scoped = strictly().handle_access(basic_writes()).and_then(|rules| rules.scope(scopes()));
    if scoped.and_then(Ruleset::create).is_err() {
        missing.push("signals to other processes");
    }
    if missing.is_empty() { SandboxSupport::Full } else { SandboxSupport::Partial(missing) }
}

/// Confines this process, and whatever it becomes and starts, for good.
pub(super) fn apply(writable: &[PathBuf]) -> Result<(), String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let mut rules = Ruleset::default()
        .handle_access(writes())
        .and_then(|rules| rules.scope(scopes()))
        .and_then(Ruleset::create)
        .map_err(|error| text(&error))?;
    let devices = DEVICES.iter().map(PathBuf::from);
    // A browser writes `/proc/self/uid_map` to build its own sandbox. For root, `/proc` holds switches of the machine.
    let own_processes = (!rustix::process::geteuid().is_root()).then(|| PathBuf::from("/proc"));
    for path in writable.iter().cloned().chain(devices).chain(own_processes) {
        // What does not exist needs no rule, and cannot be created.
        let Ok(place) = PathFd::new(&path) else { continue };
        let access = if is_folder(&path) && path != Path::new("/proc") { writes() } else { file_writes() };
        rules = rules.add_rule(PathBeneath::new(place, access)).map_err(|error| text(&error))?;
    }
    let status = rules.restrict_self().map_err(|error| text(&error))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err("this kernel has no Landlock".to_owned()),
    }
}

fn is_folder(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_dir())
}
