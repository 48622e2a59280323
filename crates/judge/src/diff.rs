//! Unified diffs that stay readable: bounded in lines and in width, with the first difference in view.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::excerpt;

/// Unchanged lines shown around a change; longer stretches are folded.
const CONTEXT: usize = 3;
/// Lines compared from the first difference on. A later difference would not be shown anyway, and the bound keeps
/// the comparison of two huge, unlike texts cheap.
const COMPARED: usize = 200;
/// Lines shown of one run of removed or of added lines.
const RUN: usize = 10;
/// Lines of the whole diff.
const LINES: usize = 40;
/// Characters of a line.
const WIDTH: usize = 160;

/// Names of the two sides of a diff.
#[derive(Clone, Copy)]
pub(crate) struct Sides {
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
}

/// A unified diff of two texts that differ, under these names.
pub fn text_diff(old_name: &'static str, new_name: &'static str, old: &str, new: &str) -> String {
    unified(Sides { old: old_name, new: new_name }, old, new)
}

/// A unified diff from `old` to `new`, which differ.
pub(crate) fn unified(sides: Sides, old: &str, new: &str) -> String {
    // Split at line feeds only: a carriage return that is in one text and not in the other is a difference to show.
    let old: Vec<&str> = old.split('\n').collect();
    let new: Vec<&str> = new.split('\n').collect();
    let first = old.iter().zip(&new).take_while(|(a, b)| a == b).count().saturating_sub(CONTEXT);
    let part = |lines: &[&'_ str]| first..lines.len().min(first + COMPARED);
    let ops = capture_diff_slices(Algorithm::Myers, &old[part(&old)], &new[part(&new)]);

    let mut lines = Vec::new();
    for group in group_diff_ops(ops, CONTEXT) {
        lines.push(hunk_header(&group, first));
        for op in &group {
            let (from, to) = (op.old_range(), op.new_range());
            let old = &old[first + from.start..first + from.end];
            let new = &new[first + to.start..first + to.end];
            if matches!(op, DiffOp::Equal { .. }) {
                lines.extend(old.iter().map(|line| format!(" {}", excerpt::head(line, WIDTH))));
            } else {
                push_run(&mut lines, '-', old, new);
                push_run(&mut lines, '+', new, old);
            }
        }
    }
    if lines.len() > LINES {
        let more = lines.len() - LINES;
        lines.truncate(LINES);
        lines.push(format!("… {more} more lines of difference"));
    } else if old.len().max(new.len()) > first + COMPARED {
        lines.push(format!("… compared up to line {}", first + COMPARED));
    }
    format!("--- {}\n+++ {}\n{}", sides.old, sides.new, lines.join("\n"))
}

/// Number of bytes that two strings share at their beginning; a character boundary of both.
pub(crate) fn common_prefix(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.floor_char_boundary(same).min(other.floor_char_boundary(same))
}

fn hunk_header(group: &[DiffOp], first: usize) -> String {
    let (Some(begin), Some(end)) = (group.first(), group.last()) else { return String::new() };
    let (old, new) = (begin.old_range().start..end.old_range().end, begin.new_range().start..end.new_range().end);
    // By convention an empty side is placed after the line before it.
    let line = |range: &Range<usize>| first + range.start + usize::from(!range.is_empty());
    format!("@@ -{},{} +{},{} @@", line(&old), old.len(), line(&new), new.len())
}

/// The lines of one side of a change, each shortened around the place where it leaves its counterpart.
fn push_run(lines: &mut Vec<String>, sign: char, side: &[&str], other: &[&str]) {
    for (index, line) in side.iter().take(RUN).enumerate() {
        let focus = other.get(index).map_or(0, |counterpart| common_prefix(line, counterpart));
        lines.push(format!("{sign}{}", excerpt::window(line, focus..focus, WIDTH)));
    }
    if side.len() > RUN {
        lines.push(format!("… {} more `{sign}` lines", side.len() - RUN));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIDES: Sides = Sides { old: "expected", new: "actual" };

    #[test]
    fn changes_are_shown_with_their_lines() {
        let diff = unified(SIDES, "a\nb\nc\nd\ne\nf", "a\nb\nc\nd\nE\nf");
        assert_eq!(diff, "--- expected\n+++ actual\n@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+E\n f");
    }

    #[test]
    fn unchanged_stretches_are_folded() {
        let old: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let mut new = old.clone();
        new[5] = "x".to_owned();
        new[90] = "y".to_owned();
        let diff = unified(SIDES, &old.join("\n"), &new.join("\n"));
        assert_eq!(diff.matches("@@ -").count(), 2);
        assert!(diff.contains("@@ -88,7 +88,7 @@") && !diff.contains("\n 50\n"), "{diff}");
    }

    #[test]
    fn long_lines_show_where_they_begin_to_differ() {
        let (old, new) = (format!("{}old{}", "a".repeat(900), "b".repeat(900)), format!("{}new", "a".repeat(900)));
        let diff = unified(SIDES, &old, &new);
        assert!(diff.contains("aold") && diff.contains("anew"), "{diff}");
    }

    #[test]
    fn a_carriage_return_is_a_difference() {
        assert!(unified(SIDES, "a\nb", "a\r\nb").contains("-a\n+a\r\n"));
    }

    proptest! {
        #[test]
        fn a_diff_is_bounded(old in "([ab\nä]{0,9}x{0,300}){0,80}", new in "([ab\nä]{0,9}x{0,300}){0,80}") {
            let diff = unified(SIDES, &old, &new);
            prop_assert!(diff.split('\n').count() <= LINES + 3);
            prop_assert!(diff.split('\n').all(|line| line.chars().count() <= WIDTH + 1));
        }
    }
}
