//! The programs that tests are made against.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Builds one and says where it is.
pub(crate) fn build(package: &str) -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", package, "--message-format", "json"])
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let executable = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.unwrap_or_else(|| panic!("{package} builds: {}", String::from_utf8_lossy(&output.stderr)))
}
