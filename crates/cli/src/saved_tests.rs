//! Tests that are kept in a folder: nothing that is there is ever overwritten.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes a test to a file of its own and says which; a test that is there already, word for word, is left as it is.
pub(crate) fn write(folder: &Path, stem: &str, text: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let mut number = 1;
    loop {
        let name = if number == 1 { format!("{stem}.yaml") } else { format!("{stem}-{number}.yaml") };
        let path = folder.join(name);
        match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                // The test is called as its file is, so that no two in a folder share a name.
                let text = if number == 1 { text.to_owned() } else { renamed(text, stem, number) };
                file.write_all(text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if is_same(&fs::read_to_string(&path)?, text) {
                    return Ok(path);
                }
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn renamed(text: &str, stem: &str, number: usize) -> String {
    text.replacen(&format!("name: {stem}\n"), &format!("name: {stem}-{number}\n"), 1)
}

/// True if two tests are the same but for their comments and names: the seed that found them does not matter.
fn is_same(one: &str, other: &str) -> bool {
    let what = |text: &str| -> Vec<String> {
        let matters = |line: &&str| !line.starts_with('#') && !line.starts_with("name: ");
        text.lines().filter(matters).map(str::to_owned).collect()
    };
    what(one) == what(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten_and_nothing_is_kept_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("a/b");
        let first = write(&inner, "x", "# seed 1\nname: x\nassert: 1\n").expect("written");
        assert_eq!(write(&inner, "x", "# seed 2\nname: x\nassert: 1\n").expect("there"), first);
        let second = write(&inner, "x", "# seed 2\nname: x\nassert: 2\n").expect("written");
        assert_eq!(second, inner.join("x-2.yaml"));
        assert_eq!(fs::read_to_string(&first).expect("read"), "# seed 1\nname: x\nassert: 1\n");
        assert_eq!(fs::read_to_string(second).expect("read"), "# seed 2\nname: x-2\nassert: 2\n");
        assert_eq!(fs::read_dir(&inner).expect("a folder").count(), 2);
    }
}
