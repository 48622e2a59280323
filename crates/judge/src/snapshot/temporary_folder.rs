//! Folders and files whose names were made up for one run.

use super::Normaliser;

pub(super) const NORMALISER: Normaliser = Normaliser {
    name: "temporary folder",
    summary: "A path below the system's folder for temporary files, up to its first part.",
    pattern: r#"(?:/private)?/(?:tmp|var/tmp|var/folders/[^/\s]+/[^/\s]+/T)/[^/\s"'`<>|,;:)\]}]+|[A-Za-z]:\\Users\\[^\\\s]+\\AppData\\Local\\Temp\\[^\\\s"'<>|]+"#,
    masked: &[
        "/tmp/tmpab12cd",
        "/private/var/folders/x1/y2/T/abc",
        "/var/tmp/x.txt",
        r"C:\Users\me\AppData\Local\Temp\x1",
    ],
    kept: &["/tmp", "/usr/tmp.txt", "/home/ada/tmp"],
};
