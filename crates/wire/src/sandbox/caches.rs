//! Folders that package runners keep their downloads in: `npx`, `uvx` and their like write there before the server starts.

use std::path::{Path, PathBuf};

/// The caches of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// Those that exist.
    pub folders: Vec<PathBuf>,
    /// Variables that move a missing cache to a folder of this name in the scratch folder.
    pub redirected: Vec<(&'static str, &'static str)>,
}

/// Caches with the variables that move them and their usual places below the home folder. The last field is the variable
/// that is set where there is no such folder yet, because a confined program cannot create it.
const CACHES: &[(&[&str], &str, Option<&str>)] = &[
    (&["XDG_CACHE_HOME"], ".cache", Some("XDG_CACHE_HOME")),
    (&["npm_config_cache", "NPM_CONFIG_CACHE"], ".npm", Some("npm_config_cache")),
    (&["UV_CACHE_DIR"], ".cache/uv", None),
    (&["PIP_CACHE_DIR"], ".cache/pip", None),
    (&["UV_PYTHON_INSTALL_DIR"], ".local/share/uv", None),
    (&["BUN_INSTALL_CACHE_DIR"], ".bun/install/cache", None),
    (&["DENO_DIR"], ".cache/deno", None),
    (&[], ".local/share/pnpm/store", None),
    (&[], "Library/Caches", None),
];

impl Caches {
    /// Finds the caches by the variables of an environment.
    pub fn find(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut found = Self::default();
        let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        for (names, usual, redirect) in CACHES {
            let set = names.iter().find_map(|name| variable(name)).filter(|value| !value.is_empty()).map(PathBuf::from);
            let Some(folder) = set.clone().or_else(|| home.as_ref().map(|home| home.join(usual))) else { continue };
            match folder.canonicalize() {
                Ok(folder) if is_narrow(&folder, home.as_deref()) => found.folders.push(folder),
                Ok(_) => {}
                Err(_) => found.redirected.extend(redirect.map(|name| (name, *usual))),
            }
        }
        found.folders.sort();
        found.folders.dedup();
        found
    }
}

/// False for a folder that holds the home folder, whatever a variable says: that cannot be a cache.
fn is_narrow(folder: &Path, home: Option<&Path>) -> bool {
    let home = home.and_then(|home| home.canonicalize().ok());
    folder.parent().is_some() && home.is_none_or(|home| !home.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_found_and_missing_ones_are_moved() {
        let home = tempfile::tempdir().expect("a folder");
        let home = home.path().canonicalize().expect("a path");
        std::fs::create_dir(home.join(".npm")).expect("a folder");
        let text = home.to_string_lossy().into_owned();
        let found = Caches::find(&|name| (name == "HOME").then(|| text.clone()));
        assert_eq!(found.folders, [home.join(".npm")]);
        assert_eq!(found.redirected, [("XDG_CACHE_HOME", ".cache")]);
        let whole = Caches::find(&|name| matches!(name, "HOME" | "XDG_CACHE_HOME").then(|| text.clone()));
        assert_eq!(whole.folders, [home.join(".npm")], "the home folder is not a cache");
        assert_eq!(Caches::find(&|_| None), Caches::default());
    }
}
