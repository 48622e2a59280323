//! The file of logins: readable by its user alone, replaced as a whole, locked while a login is renewed.
//!
//! `MCPROVE_CONFIG_DIR` names its folder; otherwise it is in the folder of the platform for settings.

use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use mcprove_model::oauth::{LoginRecord, RegisteredClient, canonical_resource};
use mcprove_report::to_stored_json;
use mcprove_suite::load::bounded_read;
use mcprove_wire::oauth::LoginLock;
use serde::{Deserialize, Serialize};

use crate::context::Context;

/// The version of the file's format.
const FORMAT: u32 = 1;

/// The logins of a user.
#[derive(Clone, Debug)]
pub(crate) struct LoginStore {
    /// The folder; none where the user has no home.
    folder: Option<PathBuf>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    format: u32,
    #[serde(default)]
    logins: Vec<LoginRecord>,
    #[serde(default)]
    clients: Vec<KnownClient>,
}

/// A client, and the issuer that it is registered with.
#[derive(Debug, Serialize, Deserialize)]
struct KnownClient {
    issuer: String,
    client: RegisteredClient,
}

impl LoginStore {
    /// The store of the user who runs this program.
    pub(crate) fn of_user() -> Self {
        Self { folder: folder(&Context::variable) }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join("logins.json"))
    }

    /// The login at a server.
    pub(crate) fn load(&self, server: &str) -> Result<Option<LoginRecord>, String> {
        let key = canonical_resource(server);
        let logins = self.read()?.logins;
        Ok(logins.into_iter().find(|record| canonical_resource(&record.server) == key))
    }

    /// The error is the reason for which no login can be kept.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.read()?;
        self.temporary_file().map(drop)
    }

    /// All logins.
    pub(crate) fn all(&self) -> Result<Vec<LoginRecord>, String> {
        self.read().map(|contents| contents.logins)
    }

    /// Takes the client that is registered with an issuer out of the file.
    pub(crate) fn take_registered(&self, issuer: &str) -> Option<RegisteredClient> {
        let _changing = self.changing();
        let mut contents = self.read().ok()?;
        let at = contents.clients.iter().position(|known| known.issuer == issuer)?;
        let taken = contents.clients.remove(at).client;
        // Where nothing can be written, it is taken again the next time.
        let _ = self.write(&contents);
        Some(taken)
    }

    /// Keeps a login in the place of the one at the same server, and its client.
    pub(crate) fn save(&self, record: &LoginRecord) -> Result<(), String> {
        let _changing = self.changing();
        let mut contents = self.read()?;
        let key = canonical_resource(&record.server);
        contents.logins.retain(|known| canonical_resource(&known.server) != key);
        contents.logins.push(record.clone());
        contents.logins.sort_by(|a, b| a.server.cmp(&b.server));
        // Clients that registered themselves have the port of their redirect; others come from the user.
        if record.client.redirect_port.is_some() {
            contents.clients.retain(|known| known.issuer != record.issuer);
            contents.clients.push(KnownClient { issuer: record.issuer.clone(), client: record.client.clone() });
        }
        self.write(&contents)
    }

    /// Forgets the login at a server, and returns it.
    pub(crate) fn remove(&self, server: &str) -> Result<Option<LoginRecord>, String> {
        let _changing = self.changing();
        let mut contents = self.read()?;
        let key = canonical_resource(server);
        let at = contents.logins.iter().position(|known| canonical_resource(&known.server) == key);
        let Some(at) = at else { return Ok(None) };
        let removed = contents.logins.remove(at);
        if !contents.logins.iter().any(|known| known.issuer == removed.issuer) {
            contents.clients.retain(|known| known.issuer != removed.issuer);
        }
        self.write(&contents)?;
        Ok(Some(removed))
    }

    /// Tries to get the lock that is held while a login is renewed.
    pub(crate) fn lock(&self) -> LoginLock {
        let Some(file) = self.lock_file("renewing.lock") else { return LoginLock::Absent };
        match file.try_lock() {
            Ok(()) => LoginLock::Held(file),
            Err(TryLockError::WouldBlock) => LoginLock::Busy,
            Err(TryLockError::Error(_)) => LoginLock::Absent,
        }
    }

    /// Waits for those who change the file, which takes no process long.
    fn changing(&self) -> Option<File> {
        let file = self.lock_file("logins.lock")?;
        file.lock().ok()?;
        Some(file)
    }

    fn lock_file(&self, name: &str) -> Option<File> {
        let folder = self.folder.as_ref()?;
        make_private(folder).ok()?;
        File::options().create(true).write(true).truncate(false).open(folder.join(name)).ok()
    }

    fn read(&self) -> Result<Contents, String> {
        let empty = Contents { format: FORMAT, ..Contents::default() };
        let Some(path) = self.path() else { return Ok(empty) };
        let bytes = match bounded_read::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(empty),
            Err(error) => return Err(format!("`{}` cannot be read: {error}", path.display())),
        };
        let read: Result<Contents, _> = serde_json::from_slice(&bytes);
        match read {
            Ok(contents) if contents.format == FORMAT => Ok(contents),
            Ok(contents) => Err(format!("`{}` has the format {}, which is newer", path.display(), contents.format)),
            Err(error) => Err(format!("`{}` is not a file of logins: {error}", path.display())),
        }
    }

    fn write(&self, contents: &Contents) -> Result<(), String> {
        let (mut file, path) = self.temporary_file()?;
        let failed = |error: std::io::Error| format!("`{}` cannot be written: {error}", path.display());
        let text = to_stored_json(contents);
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// A file that is readable by its user alone, as what it replaces, and the path of that.
    fn temporary_file(&self) -> Result<(tempfile::NamedTempFile, PathBuf), String> {
        let (Some(folder), Some(path)) = (&self.folder, self.path()) else {
            return Err("there is no folder for settings: set `MCPROVE_CONFIG_DIR`".to_owned());
        };
        let failed = |error: std::io::Error| format!("`{}` cannot be written: {error}", path.display());
        make_private(folder).map_err(failed)?;
        Ok((tempfile::NamedTempFile::new_in(folder).map_err(failed)?, path))
    }
}

/// Makes a folder that only its user can enter.
fn make_private(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn folder(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("MCPROVE_CONFIG_DIR") {
        return Some(folder);
    }
    if cfg!(windows) {
        return set("APPDATA").map(|folder| folder.join("mcprove"));
    }
    if cfg!(target_os = "macos") {
        return set("HOME").map(|home| home.join("Library/Application Support/mcprove"));
    }
    let config = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    config.or_else(|| set("HOME").map(|home| home.join(".config"))).map(|folder| folder.join("mcprove"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(server: &str, token: &str) -> LoginRecord {
        let client = RegisteredClient { id: "c".to_owned(), redirect_port: Some(1), ..RegisteredClient::default() };
        LoginRecord {
            server: server.to_owned(),
            issuer: "https://as".to_owned(),
            access_token: token.to_owned(),
            client,
            ..LoginRecord::default()
        }
    }

    #[test]
    fn logins_are_kept_for_their_user_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = LoginStore { folder: Some(folder.path().join("config")) };
        let token = |server: &str| store.load(server).expect("read").map(|record| record.access_token);
        assert_eq!(token("https://x/mcp"), None);
        store.save(&record("https://x/mcp", "one")).expect("saved");
        store.save(&record("https://X/mcp", "two")).expect("saved");
        store.save(&record("https://y", "three")).expect("saved");
        assert_eq!(token("https://x/mcp").as_deref(), Some("two"));
        assert_eq!(token("https://y/").as_deref(), Some("three"));
        assert_eq!(store.take_registered("https://as").map(|client| client.id).as_deref(), Some("c"));
        assert_eq!(store.take_registered("https://as"), None);
        store.save(&record("https://y", "three")).expect("saved");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
            assert_eq!(mode(&store.path().expect("a path")), 0o600);
            assert_eq!(mode(&folder.path().join("config")), 0o700);
        }
        assert!(store.remove("https://x/mcp").expect("read").is_some());
        assert!(store.remove("https://x/mcp").expect("read").is_none());
        assert_eq!(store.read().expect("read").clients.len(), 1);
        store.remove("https://y").expect("read");
        assert!(store.read().expect("read").clients.is_empty());
    }

    #[test]
    fn a_broken_file_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = LoginStore { folder: Some(folder.path().to_owned()) };
        fs::write(store.path().expect("a path"), "{").expect("written");
        assert!(store.save(&record("https://x", "one")).is_err());
        assert!(store.check().is_err() && store.load("https://x").is_err());
        assert!(store.all().expect_err("broken").contains("is not a file of logins"));
    }

    #[test]
    fn the_folder_is_that_of_the_platform() {
        let of = |pairs: &[(&str, &str)]| {
            folder(&|name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("MCPROVE_CONFIG_DIR", "/c"), ("HOME", "/h")]), Some(PathBuf::from("/c")));
        assert_eq!(of(&[]), None);
        if cfg!(target_os = "linux") {
            assert_eq!(of(&[("HOME", "/h")]), Some(PathBuf::from("/h/.config/mcprove")));
            assert_eq!(of(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]), Some(PathBuf::from("/x/mcprove")));
        }
    }
}
