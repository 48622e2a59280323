//! The program's own text.

use std::fs;
use std::path::{Path, PathBuf};

/// Every source file of every room.
pub(crate) fn sources() -> Vec<PathBuf> {
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    let mut open: Vec<PathBuf> =
        fs::read_dir(rooms).expect("rooms").map(|entry| entry.expect("a room").path().join("src")).collect();
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
