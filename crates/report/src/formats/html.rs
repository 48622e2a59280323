//! One HTML file that shows a whole run, needs no network and works from `file://`.
//!
//! The report is embedded as JSON in a script element that browsers do not run, with every `<` escaped, and the page's own
//! script builds what is seen through `textContent` only. So nothing a server said can become markup. The content security
//! policy forbids every connection.

use mcprove_model::Report;

use super::json::Whole;
use super::{Format, Shows};
use crate::json_text;

/// See the module.
pub(super) const FORMAT: Format = Format {
    name: "html",
    extension: "html",
    summary: "one self-contained page with every frame",
    shows: Shows::Frames,
    render,
};

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

fn render(report: &Report) -> String {
    let data = json_text::for_script(&Whole::with_frames(report));
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    // The parts are put in from left to right, so that a marker inside the data is never looked for.
    let mut rest = PAGE;
    for (marker, part) in [("/*style*/", STYLE), ("/*data*/", data.as_str()), ("/*script*/", SCRIPT)] {
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
    use super::*;

    #[test]
    fn the_page_is_whole_and_small() {
        let page = render(&Report::default());
        assert!(page.contains("\"schema\":1") && page.trim_end().ends_with("</html>"));
        assert!(!page.contains("/*data*/") && !page.contains("/*script*/") && !page.contains("/*style*/"));
        assert!(page.len() < 100_000, "{} bytes without data", page.len());
    }

    #[test]
    fn the_script_writes_text_and_never_markup() {
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http"] {
            let known = SCRIPT.replace("http://www.w3.org/2000/svg", "").replace("http_", "");
            assert!(!known.contains(forbidden), "{forbidden}");
        }
    }
}
