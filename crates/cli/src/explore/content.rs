//! Results as text for people: binary content is a line with its kind and size, or a file.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcprove_model::bounded_json;
use mcprove_report::escape_terminal_line;
use mcprove_suite::starter::FileNames;
use serde_json::Value;

use crate::atomic_write;
use crate::failure::Failure;

/// The folder that binary content is saved to, if any.
pub(crate) struct Blobs<'b> {
    folder: Option<&'b Path>,
    /// The name that files begin with.
    stem: String,
    count: usize,
    /// The files that were written.
    pub(crate) saved: Vec<PathBuf>,
}

impl<'b> Blobs<'b> {
    pub(crate) fn new(folder: Option<&'b Path>, name: &str) -> Self {
        Self { folder, stem: FileNames::default().stem(name), count: 0, saved: Vec::new() }
    }

    /// The line that stands for binary content.
    fn line(&mut self, kind: &str, mime: &str, data: &str) -> Result<String, Failure> {
        self.count += 1;
        let Ok(bytes) = STANDARD.decode(data.trim_end()) else {
            return Ok(format!("[{kind}, {}: invalid base64]", escape_terminal_line(mime)));
        };
        let size = size(bytes.len());
        let Some(folder) = self.folder else { return Ok(format!("[{kind}, {}, {size}]", escape_terminal_line(mime))) };
        let path = self.write(folder, mime, &bytes).map_err(|(path, error)| {
            let message = format!("`{}` could not be written: {error}", path.display());
            Failure::new(message, "give `--media` a folder that can be written")
        })?;
        let line = format!("[{kind}, {}, {size}: saved to {}]", escape_terminal_line(mime), path.display());
        self.saved.push(path);
        Ok(line)
    }

    /// Writes a file under the next name that is free: what is there stays, and a link leads nowhere.
    fn write(&mut self, folder: &Path, mime: &str, bytes: &[u8]) -> Result<PathBuf, (PathBuf, std::io::Error)> {
        fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error))?;
        loop {
            let path = folder.join(format!("{}-{}.{}", self.stem, self.count, extension(mime)));
            match atomic_write::write_new(&path, bytes) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => self.count += 1,
                Err(error) => return Err((path, error)),
            }
        }
    }
}

/// The result of a tool, one item below the other. Structured content is shown where the text does not say the same.
pub(crate) fn of_tool_result(result: &Value, blobs: &mut Blobs<'_>) -> Result<String, Failure> {
    let items = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut text = String::new();
    for item in items {
        let _ = writeln!(text, "{}", of_item(item, blobs)?);
    }
    if let Some(structured) = result.get("structuredContent") {
        let said = items.iter().filter_map(|item| item.get("text").and_then(Value::as_str));
        let is_said = said.filter_map(bounded_json::parse).any(|value| value == *structured);
        if !is_said {
            let _ = writeln!(text, "{}", pretty(structured));
        }
    }
    Ok(text)
}

/// The contents of a resource.
pub(crate) fn of_contents(result: &Value, blobs: &mut Blobs<'_>) -> Result<String, Failure> {
    let mut text = String::new();
    for item in result.get("contents").and_then(Value::as_array).into_iter().flatten() {
        let _ = writeln!(text, "{}", of_resource(item, blobs)?);
    }
    Ok(text)
}

/// The messages of a prompt, each with its role.
pub(crate) fn of_prompt(result: &Value, blobs: &mut Blobs<'_>) -> Result<String, Failure> {
    let mut text = String::new();
    if let Some(description) = result.get("description").and_then(Value::as_str).filter(|text| !text.is_empty()) {
        let _ = writeln!(text, "# {}", escape_terminal_line(description));
    }
    for message in result.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or("?");
        let content = of_item(message.get("content").unwrap_or(&Value::Null), blobs)?;
        let _ = writeln!(text, "{}: {content}", escape_terminal_line(role));
    }
    Ok(text)
}

fn of_item(item: &Value, blobs: &mut Blobs<'_>) -> Result<String, Failure> {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => Ok(harmless(text("text"))),
        kind @ ("image" | "audio") => blobs.line(kind, text("mimeType"), text("data")),
        "resource" => of_resource(item.get("resource").unwrap_or(&Value::Null), blobs),
        "resource_link" => {
            Ok(format!("{} <{}>", escape_terminal_line(text("name")), escape_terminal_line(text("uri"))))
        }
        _ => Ok(pretty(item)),
    }
}

fn of_resource(item: &Value, blobs: &mut Blobs<'_>) -> Result<String, Failure> {
    let mime = item.get("mimeType").and_then(Value::as_str).unwrap_or("unknown type");
    match (item.get("text").and_then(Value::as_str), item.get("blob").and_then(Value::as_str)) {
        (Some(text), _) => Ok(harmless(text)),
        (None, Some(blob)) => blobs.line("blob", mime, blob),
        (None, None) => Ok(pretty(item)),
    }
}

fn pretty(value: &Value) -> String {
    harmless(&serde_json::to_string_pretty(value).unwrap_or_default())
}

/// Lines that no terminal and no CI system obeys.
fn harmless(text: &str) -> String {
    text.lines().map(escape_terminal_line).collect::<Vec<_>>().join("\n")
}

fn size(bytes: usize) -> String {
    match bytes {
        0..=999 => format!("{bytes} B"),
        1_000..=999_999 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

fn extension(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "text/plain" => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn binary_content_is_a_line_or_a_file() {
        let result = json!({"content": [
            {"type": "text", "text": "a\u{1b}[31m\nb"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource_link", "name": "n", "uri": "file:///x"},
            {"type": "resource", "resource": {"uri": "u", "text": "inside"}},
        ], "structuredContent": {"a": 1}});
        let text = of_tool_result(&result, &mut Blobs::new(None, "tool")).expect("shown");
        assert_eq!(text, "a\\x1b[31m\nb\n[image, image/png, 3 B]\nn <file:///x>\ninside\n{\n  \"a\": 1\n}\n");
        let folder = tempfile::tempdir().expect("a folder");
        let mut blobs = Blobs::new(Some(folder.path()), "../tool");
        of_tool_result(&result, &mut blobs).expect("saved");
        assert_eq!(blobs.saved, [folder.path().join("tool-1.png")]);
        assert_eq!(fs::read(&blobs.saved[0]).expect("read"), [0, 0, 0]);
    }

    #[cfg(unix)]
    #[test]
    fn binary_content_replaces_nothing_and_follows_no_link() {
        let (folder, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let (precious, own) = (outside.path().join("precious"), folder.path().join("tool-2.png"));
        fs::write(&precious, "precious").expect("written");
        fs::write(&own, "mine").expect("written");
        std::os::unix::fs::symlink(&precious, folder.path().join("tool-1.png")).expect("linked");
        let result = json!({"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA"}]});
        let mut blobs = Blobs::new(Some(folder.path()), "tool");
        of_tool_result(&result, &mut blobs).expect("saved");
        assert_eq!(blobs.saved, [folder.path().join("tool-3.png")]);
        assert_eq!(
            (fs::read(&precious).expect("there"), fs::read(&own).expect("there")),
            (b"precious".into(), b"mine".into())
        );
    }

    #[test]
    fn structured_content_that_the_text_repeats_is_shown_once() {
        let result = json!({"content": [{"type": "text", "text": "{\"a\": 1}"}], "structuredContent": {"a": 1}});
        assert_eq!(of_tool_result(&result, &mut Blobs::new(None, "t")).expect("shown"), "{\"a\": 1}\n");
    }
}
