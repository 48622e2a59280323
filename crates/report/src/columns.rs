//! Columns that text takes in a terminal.

use unicode_width::UnicodeWidthChar as _;

/// Display width of a line, in terminal columns.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The line in at most `room` columns; what is cut off ends with `…`.
pub(crate) fn fit(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut fitted = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        fitted.push(c);
    }
    if room > 0 {
        fitted.push('…');
    }
    fitted
}
