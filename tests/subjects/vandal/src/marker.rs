//! The only things that a vandal touches.

use std::env;
use std::path::{Path, PathBuf};

/// Folders of the system for temporary files; `TMPDIR` is not asked, because a sandbox moves it.
const TEMPORARY: &[&str] = &["/tmp/", "/private/tmp/", "/var/tmp/", "/private/var/folders/"];

/// The file in the marker folder by which a test allows everything.
const PERMISSION: &str = "vandal-may-act-here";

/// A folder and processes that a test made to be destroyed.
pub(crate) struct Marker {
    folder: PathBuf,
    pids: Vec<i32>,
    port: Option<u16>,
}

impl Marker {
    /// The marker that the environment names; the error says why there is none.
    pub(crate) fn of_this_process() -> Result<Self, String> {
        let folder = env::var("VANDAL_MARKER").map_err(|_| "VANDAL_MARKER is not set".to_owned())?;
        let folder = PathBuf::from(folder).canonicalize().map_err(|error| format!("VANDAL_MARKER: {error}"))?;
        let is_temporary = TEMPORARY.iter().any(|place| folder.starts_with(place) && folder != Path::new(place));
        if !is_temporary || !folder.join(PERMISSION).is_file() {
            return Err(format!("{} is not a marker folder", folder.display()));
        }
        let pids = env::var("VANDAL_PIDS").unwrap_or_default();
        let pids = pids.split(',').filter_map(|pid| pid.parse().ok()).filter(|pid| *pid > 1).collect();
        let port = env::var("VANDAL_PORT").ok().and_then(|port| port.parse().ok());
        Ok(Self { folder, pids, port })
    }

    /// A folder with files.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A folder in the place of a home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// A folder in the place of the folder that a user works in.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Processes that a test started.
    pub(crate) fn pids(&self) -> &[i32] {
        &self.pids
    }

    /// The port that a test listens at.
    pub(crate) fn port(&self) -> Option<u16> {
        self.port
    }
}
