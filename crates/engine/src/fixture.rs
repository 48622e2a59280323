//! A copy of the fixture folder for each case, gone when the case is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mcprove_wire::{Guard, TEMPORARY, remove_folder};
use tempfile::TempDir;

/// A fixture copy; dropping it removes it.
#[derive(Debug)]
pub struct FixtureCopy {
    folder: TempDir,
    path: PathBuf,
    /// Removes the copy if we are killed before we can.
    _guard: Guard,
}

impl FixtureCopy {
    /// Copies a folder: permissions are kept, symbolic links stay links.
    pub fn make(original: &Path) -> io::Result<Self> {
        let folder = private_folder()?;
        let guard = Guard::folder(folder.path());
        // The copy keeps the folder's name, so that paths relative to its parent stay valid.
        let real = original.canonicalize()?;
        if ["/proc", "/sys", "/dev"].iter().any(|system| real.starts_with(system)) {
            let text = format!("{} is not a folder of files: the kernel makes them up", real.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let name = real.file_name().map_or_else(|| PathBuf::from("fixture"), PathBuf::from);
        // Servers that resolve links (on macOS the temporary folder is one) must see the path they were given.
        let copies = folder.path().canonicalize()?;
        if copies.starts_with(&real) {
            let text = format!("{} holds the folder for temporary files", original.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let copy = Self { path: copies.join(name), folder, _guard: guard };
        copy_folder(original, &copy.path)?;
        Ok(copy)
    }

    /// Makes the copy as it was at first, at the same path: for a server that several cases share.
    pub fn renew(&self, original: &Path) -> io::Result<()> {
        match remove_folder(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        copy_folder(original, &self.path)
    }

    /// The path that `{{fixture}}` stands for.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for FixtureCopy {
    fn drop(&mut self) {
        // Folders that were made unwritable must go as well; the temporary folder's own drop would leave them.
        let _ = remove_folder(self.folder.path());
    }
}

/// Copies a folder; an error names the one path it is about.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let found = find(from, to)?;
    copy_files(&found.files)?;
    // Last and from the inside out, so that a read-only folder can still be filled.
    for (from, to) in found.folders.iter().rev() {
        let permissions = fs::metadata(from).map_err(|error| named(&error, from))?.permissions();
        fs::set_permissions(to, permissions).map_err(|error| named(&error, to))?;
    }
    Ok(())
}

/// Files and folders with the places they are copied to, outer ones first.
#[derive(Default)]
struct FixtureEntries {
    folders: Vec<(PathBuf, PathBuf)>,
    files: Vec<(PathBuf, PathBuf)>,
}

/// Makes the folders and the links, and finds the files.
fn find(from: &Path, to: &Path) -> io::Result<FixtureEntries> {
    let mut found = FixtureEntries::default();
    let mut bytes = 0_u64;
    let mut open = vec![(from.to_owned(), to.to_owned(), 1)];
    while let Some((from, to, depth)) = open.pop() {
        if depth > DEEPEST {
            return Err(too_large(&from, &format!("it is nested more than {DEEPEST} folders deep")));
        }
        fs::create_dir(&to).map_err(|error| named(&error, &to))?;
        for entry in fs::read_dir(&from).map_err(|error| named(&error, &from))? {
            let entry = entry.map_err(|error| named(&error, &from))?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type().map_err(|error| named(&error, &source))?;
            if kind.is_dir() {
                open.push((source, target, depth + 1));
            } else if kind.is_symlink() {
                let linked = fs::read_link(&source).and_then(|link| make_link(&link, &target));
                linked.map_err(|error| named(&error, &source))?;
            } else if kind.is_file() {
                // Sockets, pipes and devices have no content to copy.
                bytes += entry.metadata().map_err(|error| named(&error, &source))?.len();
                if bytes > LARGEST {
                    return Err(too_large(&source, &format!("the fixture is larger than {} GiB", LARGEST >> 30)));
                }
                found.files.push((source, target));
            }
        }
        found.folders.push((from, to));
    }
    Ok(found)
}

/// The deepest folder of a fixture; paths of the system end at 4,096 bytes.
const DEEPEST: usize = 256;
/// The largest fixture.
const LARGEST: u64 = 16 << 30;

fn too_large(path: &Path, why: &str) -> io::Error {
    named(&io::Error::new(io::ErrorKind::FileTooLarge, why.to_owned()), path)
}

/// A temporary folder that only this user can look into.
fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    let prefix = format!("{TEMPORARY}fixture-");
    builder.prefix(&prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

/// From this many files on, several threads copy them.
const MANY: usize = 256;
/// Number of threads that copy; more would wait for the disk.
const COPIERS: usize = 4;

fn copy_files(files: &[(PathBuf, PathBuf)]) -> io::Result<()> {
    // The kernel copies, and shares the blocks where the file system can.
    let copy = |(from, to): &(PathBuf, PathBuf)| fs::copy(from, to).map(drop).map_err(|error| named(&error, from));
    if files.len() < MANY {
        return files.iter().try_for_each(copy);
    }
    std::thread::scope(|scope| {
        let share = |first: usize| move || files.iter().skip(first).step_by(COPIERS).try_for_each(copy);
        let copiers: Vec<_> = (0..COPIERS).map(|first| scope.spawn(share(first))).collect();
        // Every one is awaited; of several errors, the first is reported.
        let results: Vec<_> = copiers
            .into_iter()
            .map(|copier| copier.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        results.into_iter().collect()
    })
}

fn named(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(unix)]
fn make_link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn make_link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(to, at)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_copy_is_private_and_neither_endless_nor_too_deep() {
        let original = tempfile::tempdir().expect("a folder");
        let copy = FixtureCopy::make(original.path()).expect("copied");
        assert_eq!(fs::metadata(copy.folder.path()).expect("a folder").permissions().mode() & 0o777, 0o700);
        let link = original.path().join("kernel");
        std::os::unix::fs::symlink("/proc", &link).expect("linked");
        assert!(FixtureCopy::make(&link).expect_err("not files").to_string().contains("the kernel makes them up"));
        let mut deep = original.path().to_owned();
        for _ in 0..300 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).expect("folders");
        assert!(FixtureCopy::make(original.path()).expect_err("too deep").to_string().contains("256 folders deep"));
    }

    #[test]
    fn links_and_permissions_are_kept_and_everything_is_removed() {
        let original = tempfile::tempdir().expect("a folder");
        let root = original.path().join("data");
        fs::create_dir_all(root.join("sub")).expect("a subfolder");
        fs::write(root.join("sub/run.sh"), "echo").expect("a file");
        fs::set_permissions(root.join("sub/run.sh"), fs::Permissions::from_mode(0o754)).expect("permissions");
        std::os::unix::fs::symlink("sub/run.sh", root.join("link")).expect("a link");
        fs::set_permissions(root.join("sub"), fs::Permissions::from_mode(0o555)).expect("permissions");

        let copy = FixtureCopy::make(&root).expect("a copy");
        assert_eq!(fs::read_link(copy.path().join("link")).expect("still a link"), Path::new("sub/run.sh"));
        let mode = fs::metadata(copy.path().join("sub/run.sh")).expect("copied").permissions().mode();
        assert_eq!(mode & 0o777, 0o754);
        let path = copy.path().to_owned();
        fs::write(path.join("new.txt"), "made by a case").expect("a new file");
        copy.renew(&root).expect("as at first");
        assert!(!path.join("new.txt").exists() && path.join("sub/run.sh").exists());
        drop(copy);
        assert!(!path.exists());
        fs::set_permissions(root.join("sub"), fs::Permissions::from_mode(0o755)).expect("permissions");
    }

    #[test]
    fn many_files_are_all_copied_and_what_cannot_be_copied_is_named() {
        let original = tempfile::tempdir().expect("a folder");
        let root = original.path().join("data");
        for number in 0..MANY * 2 {
            let folder = root.join(format!("{}", number % 7));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(format!("{number}.txt")), number.to_string()).expect("a file");
        }
        let copy = FixtureCopy::make(&root).expect("a copy");
        for number in 0..MANY * 2 {
            let path = copy.path().join(format!("{}/{number}.txt", number % 7));
            assert_eq!(fs::read_to_string(path).expect("copied"), number.to_string());
        }
        let missing = [(root.join("gone"), copy.path().join("gone"))];
        let error = copy_files(&missing).expect_err("it is gone");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("gone"), "{error}");
        let one_of_many: Vec<_> = std::iter::repeat_n(missing[0].clone(), MANY).collect();
        assert!(copy_files(&one_of_many).is_err());
    }
}
