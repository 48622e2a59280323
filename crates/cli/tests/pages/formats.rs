//! The part of `docs/formats.md` that is made from tables: every key of mcptest's format, and what becomes of it.

use std::fmt::Write as _;

use mcprove_suite::suite_file::differences::{Here, differences, maps};

use super::cell;

const BEGIN: &str = "<!-- Keys, made from the tables of the decoders by `SNAPSHOTS=overwrite cargo test -p mcprove --test cli generated_pages`. -->\n";
const END: &str = "<!-- End of keys. -->\n";

/// The page with its keys as the tables have them.
pub(crate) fn page() -> String {
    let page = include_str!("../../../../docs/formats.md");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a part for keys");
    let (_, after) = rest.split_once(END).expect("the part for keys ends");
    format!("{before}{BEGIN}{}{END}{after}", keys())
}

fn keys() -> String {
    let all = differences();
    let mut page = String::new();
    for map in maps() {
        let rows: Vec<_> = all.iter().filter(|row| row.map == map).collect();
        let _ = write!(page, "\n### Keys of {map}\n");
        let same: Vec<String> =
            rows.iter().filter(|row| row.here == Here::Same).map(|row| format!("`{}`", row.key)).collect();
        if !same.is_empty() {
            let _ = write!(page, "\nThe same in both: {}.\n", same.join(", "));
        }
        if same.len() == rows.len() {
            continue;
        }
        page.push_str("\n| key | mcptest | mcprove |\n|---|---|---|\n");
        for row in rows {
            let (there, here) = match row.here {
                Here::Same | Here::Unknown => continue,
                Here::Differs { there, here } => (cell(there), cell(here)),
                Here::Refused(help) => ("yes".to_owned(), format!("refused: {}", cell(help))),
            };
            let _ = writeln!(page, "| `{}` | {there} | {here} |", row.key);
        }
    }
    page.push('\n');
    page
}

/// What help lines of refused keys name in backticks and no page lists.
pub(crate) fn unknown_advice() -> Vec<String> {
    let known = [super::commands::page(), super::keys::page(), super::checks::page()].concat();
    let mut unknown = Vec::new();
    for row in differences() {
        let Here::Refused(help) = row.here else { continue };
        let quoted: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
        for name in &quoted {
            // A flag of a command, a command, a key, or the key of a key.
            let words: Vec<&str> = name.split([' ', '.', ':']).filter(|word| !word.is_empty()).collect();
            let is_known =
                |word: &&str| *word == "mcprove" || word.chars().all(|c| !c.is_lowercase()) || known.contains(*word);
            if !words.iter().all(is_known) {
                unknown.push(format!("{} of {}: `{name}`", row.key, row.map));
            }
        }
        if quoted.is_empty() && !help.contains("remove it") {
            unknown.push(format!("{} of {}: nothing is named", row.key, row.map));
        }
    }
    unknown
}
