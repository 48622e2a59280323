//! Keys of a map: none twice, and `<<` brings in the entries of other maps.

use std::collections::{HashMap, HashSet};

use mcprove_model::{Diagnostics, Entry, Key, Kind, Node};

/// The entries that a `<<` adds, at its place among the others.
pub(super) struct Merge {
    pub(super) position: usize,
    pub(super) entries: Vec<Entry>,
}

/// The entries behind a `<<`: of a map, or of a list of maps where earlier ones win.
pub(super) fn merged_entries(key: &Key, value: Node, found: &mut Diagnostics<'_>) -> Vec<Entry> {
    let span = value.span;
    let maps = match value.kind {
        Kind::Map(entries) => return entries,
        Kind::List(items) => items,
        Kind::Scalar(_) => Vec::new(),
    };
    let mut all = Vec::new();
    let mut proper = !maps.is_empty();
    for map in maps {
        match map.kind {
            Kind::Map(entries) => all.extend(entries),
            Kind::Scalar(_) | Kind::List(_) => proper = false,
        }
    }
    if !proper {
        found.error_with_help(
            "bad-merge",
            span,
            format!("`{}` must bring in a map, or a list of maps", key.text),
            "write `<<: *name`, where `&name` marks a map",
        );
    }
    all
}

/// The entries of a finished map: written ones first to win, each key once.
pub(super) fn finish(entries: Vec<Entry>, merges: Vec<Merge>, found: &mut Diagnostics<'_>) -> Vec<Entry> {
    let mut entries = without_duplicates(entries, found);
    if merges.is_empty() {
        return entries;
    }
    let mut taken: HashSet<_> = entries.iter().map(|entry| entry.key.text.clone()).collect();
    let position = merges.iter().map(|merge| merge.position).min().unwrap_or_default().min(entries.len());
    let brought: Vec<Entry> = merges
        .into_iter()
        .flat_map(|merge| merge.entries)
        .filter(|entry| taken.insert(entry.key.text.clone()))
        .collect();
    entries.splice(position..position, brought);
    entries
}

/// Small maps are compared pairwise, which needs no allocation; large ones through a table.
const PAIRWISE: usize = 16;

fn without_duplicates(entries: Vec<Entry>, found: &mut Diagnostics<'_>) -> Vec<Entry> {
    let repeats = if entries.len() <= PAIRWISE { repeats_pairwise(&entries) } else { repeats_by_table(&entries) };
    if repeats.is_empty() {
        return entries;
    }
    for (first, again) in &repeats {
        let line = found.source().position(entries[*first].key.span.start).line;
        let key = &entries[*again].key;
        found.error_with_help(
            "duplicate-key",
            key.span,
            format!("key `{}` is already there on line {line}", key.text),
            "keep one of the two",
        );
    }
    let dropped: HashSet<usize> = repeats.into_iter().map(|(_, again)| again).collect();
    entries.into_iter().enumerate().filter(|(index, _)| !dropped.contains(index)).map(|(_, entry)| entry).collect()
}

fn repeats_pairwise(entries: &[Entry]) -> Vec<(usize, usize)> {
    let mut repeats = Vec::new();
    for (again, entry) in entries.iter().enumerate() {
        if let Some(first) = entries[..again].iter().position(|earlier| earlier.key.text == entry.key.text) {
            repeats.push((first, again));
        }
    }
    repeats
}

fn repeats_by_table(entries: &[Entry]) -> Vec<(usize, usize)> {
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(entries.len());
    let mut repeats = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match seen.get(entry.key.text.as_str()) {
            Some(first) => repeats.push((*first, index)),
            None => {
                seen.insert(&entry.key.text, index);
            }
        }
    }
    repeats
}
