//! One HTML file that shows a whole run, needs no network and works from `file://`.
//!
//! The report is embedded as JSON in a script element that browsers do not run, with every `<` escaped. The page's own script,
//! which is built from `ui/` and the same as that of `mcprove ui`, shows it through text nodes only. The content security
//! policy allows that one script and style by their hashes, forbids every connection, and with trusted types also every string
//! that would become markup.

use mcprove_model::Report;

use super::json::Whole;
use super::{Format, Shows};
use crate::{json_text, load};

/// See the module.
pub(super) const FORMAT: Format = Format {
    name: "html",
    extension: "html",
    summary: "one self-contained page with every frame",
    shows: Shows::Frames,
    render,
};

const PAGE: &str = include_str!("html/page.html");

/// The style of the page, built from `ui/`.
pub const PAGE_STYLE: &str = include_str!("html/page.css");

/// The script of the page, built from `ui/`.
pub const PAGE_SCRIPT: &str = include_str!("html/page.js");

/// The report as the page takes it: JSON without `<`.
pub fn page_data(report: &Report) -> String {
    json_text::for_script(&Whole::with_frames(report))
}

fn render(report: &Report) -> String {
    // A load is plots over time rather than calls.
    if let Some(page) = load::page(report) {
        return page;
    }
    let data = page_data(report);
    let mut page = String::with_capacity(PAGE.len() + PAGE_STYLE.len() + PAGE_SCRIPT.len() + data.len());
    // The parts are added from left to right, so that a marker inside the data is never looked for.
    let mut rest = PAGE;
    for (marker, part) in [("/*style*/", PAGE_STYLE), ("/*data*/", data.as_str()), ("/*script*/", PAGE_SCRIPT)] {
        if let Some((before, after)) = rest.split_once(marker) {
            page.push_str(before);
            page.push_str(part);
            rest = after;
        }
    }
    page.push_str(rest);
    page
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;
    use std::path::{Path, PathBuf};

    use mcprove_model::{FNV_START, fnv1a};

    use super::*;

    fn ui() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui")
    }

    /// Names below `ui/` and contents of everything that the page is built from, sorted.
    fn sources() -> Vec<(String, Vec<u8>)> {
        fn collect(folder: &Path, name: &str, found: &mut Vec<(String, Vec<u8>)>) {
            for entry in fs::read_dir(folder).expect("the sources").map(|entry| entry.expect("an entry")) {
                let path = entry.path();
                let name = format!("{name}/{}", entry.file_name().to_string_lossy());
                if path.is_dir() {
                    collect(&path, &name, found);
                } else if ["ts", "tsx", "css", "html"].iter().any(|kind| path.extension().is_some_and(|e| e == *kind)) {
                    found.push((name, fs::read(&path).expect("readable")));
                }
            }
        }
        let mut found =
            vec![("package-lock.json".to_owned(), fs::read(ui().join("package-lock.json")).expect("readable"))];
        collect(&ui().join("src"), "src", &mut found);
        found.sort();
        found
    }

    #[test]
    fn the_built_page_matches_its_sources() {
        let bytes = |(name, content): (String, Vec<u8>)| [name.into_bytes(), content].join(&0).into_iter().chain([0]);
        let hash = fnv1a(FNV_START, sources().into_iter().flat_map(bytes));
        let expected = format!("sources {hash:016x}.");
        let head = PAGE_SCRIPT.lines().next().unwrap_or_default();
        assert!(head.contains(&expected), "{head}\nui/ has changed ({expected}): cd ui && npm ci && npm run build");
    }

    #[test]
    fn the_page_is_whole_and_small() {
        let page = render(&Report::default());
        assert!(page.contains("\"schema\":1") && page.trim_end().ends_with("</html>"));
        assert!(!page.contains("/*data*/") && !page.contains("/*script*/") && !page.contains("/*style*/"));
        assert!(page.len() < 250_000, "{} bytes without data", page.len());
        assert!(!PAGE_SCRIPT.contains("</script") && !PAGE_STYLE.contains("</style"));
    }

    #[test]
    fn a_load_is_a_table_on_the_page() {
        let log = include_str!("../../tests/logs/load.ndjson");
        let mut report = Report::default();
        for event in crate::read_events(log.as_bytes()).expect("a log") {
            report.add(event);
        }
        let data: serde_json::Value = serde_json::from_str(&page_data(&report)).expect("JSON");
        let table = &data["cases"][0]["load_table"];
        assert_eq!(table["facts"][0][0], "load", "{table}");
        let (head, rows) = (&table["head"], &table["rows"]);
        assert_eq!(rows[0].as_array().map(Vec::len), head.as_array().map(Vec::len), "{table}");
        assert!(data["cases"][0]["load"].is_null(), "the page draws no histograms");
    }

    /// 40 tests like those of `negative_path`, which send a megabyte and get a rejection: an event log of 85 MB.
    #[test]
    fn passing_tests_with_long_frames_make_a_small_page() {
        let mut log =
            r#"{"event":"run_started","format":1,"program":"mcprove","started_unix_ms":0,"total":40,"jobs":1}"#
                .to_owned();
        let listed = "l".repeat(50_000);
        for index in 0..40 {
            let _ = write!(
                log,
                "\n{{\"event\":\"case_started\",\"index\":{index},\"name\":\"case {index}\",\"file\":\"a.yaml\",\"line\":1,\"trial\":1}}"
            );
            let long = format!("{index}{}", "x".repeat(1 << 20));
            for text in [listed.as_str(), long.as_str(), long.as_str()] {
                let _ = write!(
                    log,
                    "\n{{\"event\":\"frame\",\"index\":{index},\"session\":0,\"frame\":{{\"at_us\":1,\"direction\":\"sent\",\"kind\":\"request\",\"text\":\"{text}\"}}}}"
                );
            }
            let _ = write!(
                log,
                "\n{{\"event\":\"case_finished\",\"index\":{index},\"verdict\":\"passed\",\"duration_us\":1,\"calls\":[]}}"
            );
        }
        let (mut report, mut trimmed) = (Report::default(), Report::default());
        for event in crate::read_events(log.as_bytes()).expect("a log") {
            report.add(event.clone());
            trimmed.add(event);
            crate::Shows::Frames.trim(&mut trimmed);
        }
        let page = render(&report);
        let kept: usize = trimmed.cases.iter().flat_map(|case| &case.frames).map(|(_, frame)| frame.body.len()).sum();
        assert!(kept < 10 << 20, "{kept} bytes of frames are kept");
        assert!(render(&trimmed) == page, "what is not shown is not kept");
        assert!(page.len() <= 1_000_000, "{} bytes", page.len());
        assert_eq!(page.matches(&listed).count(), 1, "a text is stored once");
        assert!(page.contains("\"cut\":"), "long frames are cut, and say so");
    }

    #[test]
    fn the_sources_write_text_and_never_markup() {
        for (name, content) in sources().into_iter().filter(|(name, _)| name.starts_with("src/")) {
            let text = String::from_utf8(content).expect("text");
            let known = text.replace("http://www.w3.org/2000/svg", "");
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "InnerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "srcdoc",
                "new Function",
            ] {
                assert!(!known.contains(forbidden), "{name}: {forbidden}");
            }
        }
    }
}
