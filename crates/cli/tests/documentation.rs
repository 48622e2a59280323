//! Everything a page tells the reader to type is tried.
//!
//! - `console`: every `mcprove` command line must be understood; where output is shown, the commands of a page are run in
//!   order in one folder that has the examples, and must print that (times may differ, `...` stands for any lines) and
//!   exit with 0, or with the code that an `echo $?` below shows. Marks after the word change that: `elsewhere` is not run,
//!   `servers` is run only where `tests/real/install` has been.
//! - `yaml`: an assertion, a suite or a manifest that the program loads; `file=NAME` puts it into the page's folder,
//!   and the files it names stand in the folder of `in=FOLDER`.
//!   `yaml ci` is a build server's file: it must be YAML, and the `mcprove` lines in it understood.
//! - `sh`, `groovy`, `dockerfile`: the `mcprove` lines in it must be understood.
//!
//! `SNAPSHOTS=overwrite cargo test -p mcprove --test cli documentation` writes what came into the pages.

mod blocks;
mod console;
mod yaml;

use std::sync::atomic::{AtomicUsize, Ordering};

use blocks::{Block, Page, pages};
use console::{Desk, Tried, agrees, commands, own_words, parse, place, rewritten, servers};

#[test]
fn every_command_line_is_understood() {
    let mut problems = Vec::new();
    let mut understood = 0;
    for page in pages() {
        for block in &page.blocks {
            for line in lines_with_commands(block) {
                let Some(words) = own_words(&line) else { continue };
                match parse(&words) {
                    Ok(()) => understood += 1,
                    Err(error) => problems.push(format!("{}: `{line}`\n{error}", place(&page, block))),
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(understood > 20, "pages have commands: {understood}");
}

/// The lines of a block that may be command lines of ours.
fn lines_with_commands(block: &Block) -> Vec<String> {
    let strip = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ").trim_start_matches("run: ").trim_start_matches("sh '");
        line.trim_start_matches("RUN ").trim_end_matches('\'').to_owned()
    };
    match block.language() {
        "console" => commands(block).into_iter().map(|shown| shown.command).collect(),
        "sh" | "groovy" | "dockerfile" => block.text.lines().map(strip).collect(),
        // `${{ … }}` is filled in by the build server.
        "yaml" if block.has("ci") => {
            let filled = regex::Regex::new(r"\$\{\{[^}]*\}\}|\$\w+").expect("a pattern");
            block.text.lines().map(|line| filled.replace_all(&strip(line), "1").into_owned()).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn what_is_shown_is_what_comes() {
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    let pages = pages();
    // Pages know nothing of each other, and most of their time is spent waiting for servers to start.
    let next = AtomicUsize::new(0);
    let try_pages = || {
        let (mut ran, mut problems) = (0, Vec::new());
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (count, text) = try_page(page, &mut problems);
            ran += count;
            if overwrite && text != page.text {
                std::fs::write(blocks::root().join(&page.path), text).expect("written");
            }
        }
        (ran, problems)
    };
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let (ran, problems) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(try_pages)).collect();
        threads.into_iter().fold((0, Vec::new()), |(ran, mut all), thread| {
            let (more, problems) = thread.join().expect("a worker");
            all.extend(problems);
            (ran + more, all)
        })
    });
    assert!(problems.is_empty() || overwrite, "{}", problems.join("\n"));
    assert!(ran > 10, "pages show output: {ran}");
}

/// Runs what a page shows; how many commands there were, and the page with what came.
fn try_page(page: &Page, problems: &mut Vec<String>) -> (usize, String) {
    let (mut text, mut ran, mut moved) = (page.text.clone(), 0, 0_isize);
    let desk = Desk::new();
    for block in &page.blocks {
        if let Some(name) = block.value("file") {
            desk.write(name, &block.text);
        }
        let Some(seen) = tried(page, block, &desk) else { continue };
        ran += seen.len();
        let at = place(page, block);
        for (shown, came) in &seen {
            match came {
                None => {
                    problems.push(format!("{at}: `{}` cannot be run here; mark the block `elsewhere`", shown.command));
                }
                Some((printed, code)) if *code != shown.code.unwrap_or(0) => {
                    problems.push(format!("{at}: `{}` ended with {code}:\n{printed}", shown.command));
                }
                Some((printed, _)) if !agrees(&shown.output, printed) => {
                    problems.push(format!("{at}: `{}` printed\n{printed}", shown.command));
                }
                Some(_) => {}
            }
        }
        let new = rewritten(&seen);
        let at = |offset: usize| offset.checked_add_signed(moved).expect("inside the page");
        text.replace_range(at(block.range.start)..at(block.range.end), &new);
        moved += isize::try_from(new.len()).expect("small") - isize::try_from(block.text.len()).expect("small");
    }
    (ran, text)
}

/// What came of the commands of a block, when they are to be run.
fn tried(page: &Page, block: &Block, desk: &Desk) -> Option<Vec<Tried>> {
    let wanted = block.language() == "console" && !block.has("elsewhere") && (!block.has("servers") || servers());
    let shown = if wanted { commands(block) } else { Vec::new() };
    // Without any output a block is a list of things to try; nothing is promised of them.
    if shown.iter().all(|shown| shown.output.is_empty() && shown.code.is_none()) {
        assert!(!block.has("servers") || !wanted, "{}: nothing is shown", place(page, block));
        return None;
    }
    Some(
        shown
            .into_iter()
            .map(|shown| {
                let came = desk.run(&shown.command);
                (shown, came)
            })
            .collect(),
    )
}

#[test]
fn every_yaml_block_loads() {
    let mut problems = Vec::new();
    let mut loaded = 0;
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.language() == "yaml") {
            let at = place(&page, block);
            if block.has("ci") {
                if let Err(message) = yaml::is_yaml(page.path.as_ref(), &block.text) {
                    problems.push(format!("{at}: {message}"));
                }
            } else if let Some(problem) = yaml::problem(&block.text, block.value("in")) {
                problems.push(format!("{at}:\n{problem}"));
            }
            loaded += 1;
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(loaded > 50, "pages have YAML: {loaded}");
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let link = regex::Regex::new(r"\]\(([^)#:\s]+)(#[^)]*)?\)").expect("a pattern");
    for page in pages() {
        let folder = blocks::root().join(&page.path);
        for found in link.captures_iter(&page.text) {
            let target = folder.parent().expect("a folder").join(&found[1]);
            // `docs/architecture.md` is a page of the book only by inclusion.
            assert!(target.exists(), "{} links to {}, which is not there", page.path, &found[1]);
        }
    }
}

#[test]
fn every_example_shows_a_command_that_runs_it() {
    for entry in std::fs::read_dir(blocks::root().join("examples")).expect("examples") {
        let entry = entry.expect("an entry");
        if entry.path().is_file() {
            // A suite that stands alone says in its first lines how it is run.
            let text = std::fs::read_to_string(entry.path()).expect("text");
            assert!(text.lines().take(6).any(|line| line.contains("mcprove run")), "{}", entry.path().display());
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("examples/{name}/README.md");
        let page = pages().into_iter().find(|page| page.path == path);
        let page = page.unwrap_or_else(|| panic!("{path} should say what the example shows"));
        let first = page.blocks.first().unwrap_or_else(|| panic!("{path} should begin with a command"));
        assert_eq!(first.language(), "console", "{path} should begin with a command");
        let shown = commands(first);
        assert!(own_words(&shown[0].command).is_some(), "{path}: `{}`", shown[0].command);
        assert!(!shown[0].output.is_empty(), "{path} should show what it prints");
    }
    let list = std::fs::read_to_string(blocks::root().join("examples/README.md")).expect("the list of examples");
    for entry in std::fs::read_dir(blocks::root().join("examples")).expect("examples") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(name == "README.md" || list.contains(&format!("[{name}](")), "examples/README.md does not list {name}");
    }
}

#[test]
fn every_page_is_in_the_book() {
    let summary = std::fs::read_to_string(blocks::root().join("docs/SUMMARY.md")).expect("the summary");
    for page in pages() {
        let Some(name) = page.path.strip_prefix("docs/").filter(|name| *name != "SUMMARY.md") else { continue };
        assert!(summary.contains(&format!("({name})")), "docs/SUMMARY.md does not list {name}");
    }
}
