//! The picture in the README is what the program prints: `SNAPSHOTS=overwrite cargo test -p mcprove --test cli picture`
//! draws it anew.

use std::process::Command;

use anstyle_svg::Term;
use regex::Regex;

#[test]
fn the_picture_shows_what_is_printed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/picture");
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["run", "evals", "--color", "always"])
        .current_dir(folder)
        .env("CI", "")
        .env("GITHUB_ACTIONS", "")
        .output()
        .expect("mcprove runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let shown = format!("\u{1b}[1m$\u{1b}[0m mcprove run evals\n{}", the_same_times(&printed));
    let svg =
        READABLE.iter().fold(Term::new().min_width_px(880).render_svg(&shown), |svg, (from, to)| svg.replace(from, to));
    snapbox::assert_data_eq!(svg, snapbox::file!["../../../docs/images/terminal.svg"].raw());
}

/// Colours of old screens, and colours that can be read on a dark ground.
const READABLE: &[(&str, &str)] = &[
    (".bg { fill: #000000 }", ".bg { fill: #0D1117 }"),
    (".fg { fill: #AAAAAA }", ".fg { fill: #C9D1D9 }"),
    (".fg-blue { fill: #0000AA }", ".fg-blue { fill: #79A8FF }"),
    (".fg-cyan { fill: #00AAAA }", ".fg-cyan { fill: #56D4DD }"),
    (".fg-green { fill: #00AA00 }", ".fg-green { fill: #56D364 }"),
    (".fg-red { fill: #AA0000 }", ".fg-red { fill: #FF7B72 }"),
    ("opacity: 0.4", "opacity: 0.65"),
];

/// Columns of the picture; longer lines are cut, as a narrow terminal would.
const WIDTH: usize = 110;

/// What is printed, without what differs from run to run: times, and advice that depends on them.
fn the_same_times(text: &str) -> String {
    let column = Regex::new("(\u{1b}\\[2m) *<?\\d+(\\.\\d+)?m?s\\b").expect("a pattern");
    let others = Regex::new(r"<?\b\d+(\.\d+)?m?s\b").expect("a pattern");
    let text = column.replace_all(text, "$1 <TIME>");
    let text = others.replace_all(&text, "<TIME>").replace("<TIME>", "12ms");
    text.lines().filter(|line| !line.starts_with("hint:")).map(narrow).collect::<Vec<_>>().join("\n")
}

/// A line of at most so many columns; codes for styles take none.
fn narrow(line: &str) -> String {
    let (mut short, mut columns, mut in_code) = (String::new(), 0, false);
    for letter in line.chars() {
        in_code = in_code || letter == '\u{1b}';
        if in_code || columns < WIDTH {
            short.push(letter);
        }
        columns += usize::from(!in_code);
        in_code = in_code && letter != 'm';
    }
    if columns > WIDTH { short + "…" } else { short }
}
