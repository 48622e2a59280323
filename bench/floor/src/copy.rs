//! What copying a folder and removing the copy costs when nothing else is done.

use std::{fs, path::Path};

use crate::Outcome;

pub(crate) fn there_and_away(folders: &[String]) -> Outcome<()> {
    let [from, to] = folders else { return Err("`copy` wants two folders".into()) };
    copy(Path::new(from), Path::new(to))?;
    Ok(fs::remove_dir_all(to)?)
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let there = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &there)?;
        } else {
            fs::copy(entry.path(), there)?;
        }
    }
    Ok(())
}
