//! Bounds of the reading of an agent's test: files inside the folder, and variables that the suites of the folder use already.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use mcprove_model::{Entry, Kind, Node, SourceFile, Span};
use mcprove_suite::{load, yaml};
use serde_json::Value;

/// Keys with paths of files, also as the keys of a map.
const FILES: &[&str] = &[
    "auditlog",
    "cabundlepath",
    "cases",
    "cassette",
    "clientcertpath",
    "clientkeypath",
    "filecontains",
    "filenotcontains",
    "filenotexists",
    "fileunchanged",
    "imports",
    "labels",
    "mock",
];
/// Keys with arguments of tools and commands.
const ARGUMENTS: &[&str] = &["args", "arguments"];
/// Keys under which `$NAME` is a reference, too.
const PAIRS: &[&str] = &["env", "headers", "redact"];
/// The copy of the fixture, which each test has.
const COPY: &str = "{{fixture}}";

/// Files and variables that a test may name.
pub(super) struct Allowed<'a> {
    /// The folder of the server.
    pub(super) root: &'a Path,
    /// The folder of the test.
    pub(super) folder: &'a Path,
    /// Variables that are known; none where `${NAME}` is no reference.
    pub(super) variables: Option<&'a BTreeSet<String>>,
}

/// Refuses a test that reads what it may not. It is checked as it is written: to load it would be to read.
pub(super) fn of_file(path: &str, content: &str, allowed: &Allowed<'_>) -> Result<(), String> {
    let (documents, _) = yaml::parse(&SourceFile::new(path.to_owned(), content.to_owned()));
    let own: BTreeSet<String> = documents.iter().flat_map(own_variables).collect();
    documents.iter().try_for_each(|document| of_node(document, &own, allowed, false))
}

/// Refuses an expectation of a call that reads what it may not.
pub(super) fn of_value(value: &Value, allowed: &Allowed<'_>) -> Result<(), String> {
    let node = Node::from_json(Span::default(), value.clone());
    of_node(&node, &BTreeSet::new(), allowed, false)
}

/// The variables of the environment that files use.
pub(super) fn variables_of(paths: &[PathBuf]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for document in load::parse(paths).0.iter().flat_map(|parsed| &parsed.documents) {
        let own: BTreeSet<String> = own_variables(document).into_iter().collect();
        collect(document, false, &mut |name| {
            if !own.contains(name) {
                found.insert(name.to_owned());
            }
        });
    }
    found
}

/// The names that a suite gives values itself.
fn own_variables(document: &Node) -> Vec<String> {
    let entries = document.get("variables").and_then(Node::as_map).unwrap_or_default();
    entries.iter().map(|entry| entry.key.text.to_string()).collect()
}

fn collect(node: &Node, is_pair: bool, take: &mut dyn FnMut(&str)) {
    match &node.kind {
        Kind::Scalar(scalar) => references(&scalar.text, is_pair).for_each(take),
        Kind::List(items) => items.iter().for_each(|item| collect(item, is_pair, take)),
        Kind::Map(entries) => {
            for entry in entries {
                collect(&entry.value, is_pair || is_one_of(entry, PAIRS), take);
            }
        }
    }
}

fn of_node(node: &Node, own: &BTreeSet<String>, allowed: &Allowed<'_>, is_pair: bool) -> Result<(), String> {
    match &node.kind {
        Kind::Scalar(scalar) => of_text(&scalar.text, own, allowed, is_pair),
        Kind::List(items) => items.iter().try_for_each(|item| of_node(item, own, allowed, is_pair)),
        Kind::Map(entries) => entries.iter().try_for_each(|entry| {
            // Arguments are for a tool, whatever they are called.
            if is_one_of(entry, ARGUMENTS) {
                return of_arguments(&entry.value, own, allowed);
            }
            if is_one_of(entry, FILES) {
                of_paths(&entry.key.text, &entry.value, allowed)?;
            }
            of_node(&entry.value, own, allowed, is_pair || is_one_of(entry, PAIRS))
        }),
    }
}

fn of_text(text: &str, own: &BTreeSet<String>, allowed: &Allowed<'_>, is_pair: bool) -> Result<(), String> {
    let Some(known) = allowed.variables else { return Ok(()) };
    let mut names = references(text, is_pair);
    match names.find(|name| !own.contains(*name) && !known.contains(*name)) {
        Some(name) => Err(format!(
            "`{name}` is a variable of the environment that no suite here uses; ask a person to add a test with it"
        )),
        None => Ok(()),
    }
}

fn of_arguments(node: &Node, own: &BTreeSet<String>, allowed: &Allowed<'_>) -> Result<(), String> {
    match &node.kind {
        Kind::Scalar(scalar) => of_text(&scalar.text, own, allowed, false),
        Kind::List(items) => items.iter().try_for_each(|item| of_arguments(item, own, allowed)),
        Kind::Map(entries) => entries.iter().try_for_each(|entry| of_arguments(&entry.value, own, allowed)),
    }
}

/// Refuses paths that lead out of the folder, or that are known only when the test runs.
fn of_paths(key: &str, node: &Node, allowed: &Allowed<'_>) -> Result<(), String> {
    match &node.kind {
        Kind::Scalar(scalar) => of_path(key, &scalar.text, allowed),
        Kind::List(items) => items.iter().try_for_each(|item| of_paths(key, item, allowed)),
        // The values are the texts that the files are to contain, but for a path that is written out.
        Kind::Map(entries) => entries.iter().try_for_each(|entry| match entry.key.text.as_str() {
            "path" => of_paths(key, &entry.value, allowed),
            "text" => Ok(()),
            path => of_path(key, path, allowed),
        }),
    }
}

fn of_path(key: &str, path: &str, allowed: &Allowed<'_>) -> Result<(), String> {
    let outside = || {
        Err(format!(
            "`{key}` names `{path}`, which may be outside of the folder of this server; write a path in it, or one that begins \
             with `{COPY}/`, without `..` and variables"
        ))
    };
    let (inside, is_copy) = match path.strip_prefix(COPY) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => (rest.trim_start_matches('/'), true),
        _ => (path, false),
    };
    let is_plain = Path::new(inside).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_plain || inside.starts_with('~') || inside.contains("{{") || inside.contains('$') || inside.contains('\\') {
        return outside();
    }
    // A path is relative to the test or to the folder that tests run in.
    let leads_out =
        |folder: &Path| folder.join(inside).canonicalize().is_ok_and(|real| !real.starts_with(allowed.root));
    if !is_copy && (leads_out(allowed.root) || leads_out(allowed.folder)) { outside() } else { Ok(()) }
}

fn is_one_of(entry: &Entry, names: &[&str]) -> bool {
    let plain: String = entry.key.text.chars().filter(char::is_ascii_alphanumeric).collect();
    names.contains(&plain.to_ascii_lowercase().as_str())
}

/// The names in `${NAME}`, `${env:NAME}` and `${secret:NAME}` of a text, with whatever follows them; of a pair also `$NAME`.
fn references(text: &str, is_pair: bool) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(move |(at, _)| {
        let after = &text[at + 1..];
        let (braced, inner) = match after.strip_prefix('{') {
            Some(inner) => (true, inner),
            None => (false, after),
        };
        let inner = if braced {
            ["env:", "secret:"].iter().find_map(|form| inner.strip_prefix(form)).unwrap_or(inner)
        } else {
            inner
        };
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        let name = &inner[..end];
        // `${args.x}` is for mocks, and `$1` for patterns.
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let is_whole = !braced || inner[end..].starts_with(['}', ':']);
        (is_name && is_whole && (braced || is_pair)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(content: &str) -> Option<String> {
        let root = tempfile::tempdir().expect("a folder");
        let real = root.path().canonicalize().expect("a path");
        std::fs::create_dir(real.join("evals")).expect("made");
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", real.join("out")).expect("linked");
        let variables = BTreeSet::from(["API_TOKEN".to_owned()]);
        let allowed = Allowed { root: &real, folder: &real.join("evals"), variables: Some(&variables) };
        of_file("evals/a.yaml", content, &allowed).err()
    }

    #[test]
    fn a_test_reads_no_files_outside_of_the_folder() {
        for inside in [
            "assert: {tool: a, args: {path: /etc/passwd}, expect: {contains: /etc/passwd}}",
            "assert: {expect: {file_contains: {'{{fixture}}/a.txt': /etc/passwd, data/b.txt: ['..']}}}",
            "audit_log: logs/run.ndjson\ncases: rows.csv",
            "cases: [{a: ../x}]",
            "assert: {expect: {file_contains: {path: a.txt, text: ../b}}}",
            "assert: {tool: a, args: {labels: ../x, mock: /y}}",
        ] {
            assert_eq!(refusal(inside), None, "{inside}");
        }
        for outside in [
            "assert: {expect: {file_contains: {/etc/passwd: NOPE}}}",
            "tools: [{expect: [{file_contains: {../../x: NOPE}}]}]",
            "assert: {expect: {fileContains: {/etc/passwd: NOPE}}}",
            "assert: {expect: {file_contains: {path: /etc/passwd, text: NOPE}}}",
            "assert: {expect: {file_contains: {'{{fixture}}/../../x': NOPE}}}",
            "assert: {expect: {file_contains: {'{{name}}/x': NOPE}}}",
            "assert: {expect: {file_unchanged: ['${DIR}/x']}}",
            "assert: {expect: {file_not_exists: ~/.ssh/id_rsa}}",
            "assert: {expect: {\"file\\x5fcontains\": {/etc/passwd: NOPE}}}",
            "audit_log: /etc/passwd",
            "audit_log: ../log.ndjson",
            "cases: /etc/rows.csv",
            "imports: [../x.yaml]",
            #[cfg(unix)]
            "audit_log: out/passwd",
        ] {
            assert!(refusal(outside).is_some_and(|why| why.contains("outside of the folder")), "{outside}");
        }
    }

    #[test]
    fn a_test_uses_no_other_variables_of_the_environment() {
        for known in [
            "tools: [{args: {a: '${API_TOKEN} ${secret:API_TOKEN:-x} costs $5'}}]",
            "variables: {V: {value: 1}}\ntools: [{args: {a: '${V}'}}]",
            "assert: {expect: {matches_regex: '^[a-z]+$', json_path: {$.a: 1}}}",
            "assert: {args: {a: '${args.x} $HOME'}}",
            "server: {env: {T: $API_TOKEN}}",
        ] {
            assert_eq!(refusal(known), None, "{known}");
        }
        for unknown in [
            "tools: [{args: {a: '${HOSTILE_SECRET}'}}]",
            "tools: [{args: {a: '${secret:HOSTILE_SECRET}'}}]",
            "tools: [{args: {a: '${env:HOSTILE_SECRET}'}}]",
            "tools: [{args: {a: '${API_TOKEN:-${HOSTILE_SECRET}}'}}]",
            "tools: [{timeout: \"\\x24{HOSTILE_SECRET}\"}]",
            "variables: {V: {value: '${HOSTILE_SECRET}'}}\ntools: [{args: {a: '${V}'}}]",
            "server: {env: {T: $HOSTILE_SECRET}}",
            "server: {headers: {T: '${HOSTILE_SECRET:?needed}'}}",
        ] {
            assert!(refusal(unknown).is_some_and(|why| why.contains("HOSTILE_SECRET")), "{unknown}");
        }
    }
}
