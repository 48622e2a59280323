//! Removing a temporary folder, whatever was done to it.

use std::fs;
use std::io;
use std::path::Path;

/// Removes a folder with everything in it, also what was made unwritable.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    // Failures show when it is removed.
    let _ = flatten(folder);
    match fs::remove_dir_all(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        Err(_) => make_all_writable(folder).and_then(|()| fs::remove_dir_all(folder)),
    }
}

/// The deepest folder that is left in its place.
const DEEPEST: usize = 64;
/// The longest path that is left in its place; paths of the system end at 4,096 bytes.
const LONGEST: usize = 2_000;

/// Moves folders that are nested too deep for recursion and for paths to the top.
fn flatten(top: &Path) -> io::Result<()> {
    let mut moved = 0;
    let mut open = vec![(top.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                continue;
            }
            let path = entry.path();
            if depth < DEEPEST && path.as_os_str().len() < top.as_os_str().len() + LONGEST {
                open.push((path, depth + 1));
                continue;
            }
            moved += 1;
            let place = top.join(format!(".mcprove-deep-{moved}"));
            make_writable(&folder)?;
            fs::rename(&path, &place)?;
            open.push((place, 1));
        }
    }
    Ok(())
}

/// Lets a folder be emptied, whatever a case has done to it.
#[cfg(unix)]
fn make_writable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_writable(folder: &Path) -> io::Result<()> {
    let mut permissions = fs::metadata(folder)?.permissions();
    #[expect(clippy::permissions_set_readonly_false, reason = "here this is about the owner alone")]
    permissions.set_readonly(false);
    fs::set_permissions(folder, permissions)
}

fn make_all_writable(folder: &Path) -> io::Result<()> {
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        make_writable(&path)?;
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn folders_nested_beyond_every_path_are_removed() {
        let outer = tempfile::tempdir().expect("a folder");
        let top = outer.path().join("top");
        // Built from the inside out, because no path is long enough for the whole.
        let spare = outer.path().join("spare");
        fs::create_dir(&top).expect("a folder");
        for _ in 0..5_000 {
            fs::create_dir(&spare).expect("a folder");
            fs::rename(&top, spare.join("d")).expect("moved");
            fs::rename(&spare, &top).expect("moved");
        }
        remove_folder(&top).expect("removed");
        assert!(!top.exists());
    }

    #[test]
    fn what_was_made_unwritable_goes_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).expect("a folder");
        fs::write(inner.join("file"), "x").expect("a file");
        for path in [&inner, &folder.path().join("a")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o555)).expect("permissions");
        }
        remove_folder(&folder.path().join("a")).expect("removed");
        assert!(!folder.path().join("a").exists());
        let again = remove_folder(&folder.path().join("a")).expect_err("it is gone");
        assert_eq!(again.kind(), io::ErrorKind::NotFound);
    }
}
