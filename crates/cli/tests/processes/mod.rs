//! What is left running.

use std::fs;
use std::path::{Path, PathBuf};

/// The processes that live in a folder; servers and their children inherit it.
pub(crate) fn processes_in(folder: &Path) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let lives_here = |path: &PathBuf| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == folder);
    processes
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(lives_here)
        .map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default())
        .collect()
}
