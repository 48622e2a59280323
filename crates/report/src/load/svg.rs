//! Plots as inline SVG.

use std::fmt::Write as _;

use mcprove_model::LoadRecord;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 22.0;
const TOP: f64 = 8.0;

/// A curve of a plot.
pub(super) struct Curve<'a> {
    pub(super) name: &'a str,
    pub(super) color: &'a str,
    /// Points: seconds and a value.
    pub(super) points: Vec<(f64, f64)>,
}

/// Curves over time, with an axis that begins at zero.
pub(super) fn curves(curves: &[Curve<'_>], seconds: f64, unit: impl Fn(f64) -> String) -> String {
    let most = curves.iter().flat_map(|curve| &curve.points).map(|(_, value)| *value).fold(0.0, f64::max);
    let most = if most > 0.0 { most * 1.05 } else { 1.0 };
    let mut svg = open();
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = y_of(part);
        let _ = write!(svg, "<line x1='{LEFT}' y1='{y:.1}' x2='{WIDTH}' y2='{y:.1}' class='grid'/>");
        let _ = write!(
            svg,
            "<text x='{:.1}' y='{:.1}' class='axis' text-anchor='end'>{}</text>",
            LEFT - 6.0,
            y + 4.0,
            escaped(&unit(most * part))
        );
    }
    time_axis(&mut svg, seconds);
    for (number, curve) in curves.iter().enumerate() {
        let points: Vec<String> = curve
            .points
            .iter()
            .map(|(at, value)| format!("{:.1},{:.1}", x_of(*at, seconds), y_of(value / most)))
            .collect();
        let _ = write!(
            svg,
            "<polyline points='{}' fill='none' stroke='{}' stroke-width='1.6'/>",
            points.join(" "),
            curve.color
        );
        #[expect(clippy::cast_precision_loss, reason = "a few curves")]
        let x = LEFT + 10.0 + number as f64 * 120.0;
        let _ = write!(
            svg,
            "<text x='{x:.1}' y='{:.1}' fill='{}' class='legend'>{}</text>",
            TOP + 12.0,
            curve.color,
            escaped(curve.name)
        );
    }
    svg.push_str("</svg>");
    svg
}

/// Rows of the heat map: a factor of two has this many.
const ROWS_PER_DOUBLE: f64 = 2.0;

/// Latency over time: the darker a cell, the more calls of its window took so long.
#[expect(clippy::cast_precision_loss, reason = "counts and durations are far below 2^52")]
pub(super) fn heat_map(load: &LoadRecord, unit: impl Fn(f64) -> String) -> String {
    let window = load.plan.window_us as f64 / 1e6;
    let seconds = window * load.windows.len() as f64;
    let row_of = |us: u64| ((us.max(1) as f64).log2() * ROWS_PER_DOUBLE).floor();
    let rows = load.windows.iter().flat_map(|window| window.latency.buckets()).map(|(us, _)| row_of(us));
    let (low, high) = rows.fold((f64::INFINITY, 0.0_f64), |(low, high), row| (low.min(row), high.max(row)));
    let mut svg = open();
    if low.is_finite() {
        let count = high - low + 1.0;
        let height = (HEIGHT - BOTTOM - TOP) / count;
        for (number, one) in load.windows.iter().enumerate() {
            let mut cells: Vec<(f64, u64)> = Vec::new();
            for (us, calls) in one.latency.buckets() {
                let row = row_of(us);
                match cells.iter_mut().find(|(known, _)| (*known - row).abs() < 0.5) {
                    Some((_, sum)) => *sum += calls,
                    None => cells.push((row, calls)),
                }
            }
            let most = one.latency.count().max(1) as f64;
            for (row, calls) in cells {
                let (x, next) = (x_of(number as f64 * window, seconds), x_of((number + 1) as f64 * window, seconds));
                let y = HEIGHT - BOTTOM - (row - low + 1.0) * height;
                let strength = 0.12 + 0.88 * (calls as f64 / most).sqrt();
                let _ = write!(
                    svg,
                    "<rect x='{x:.1}' y='{y:.1}' width='{:.1}' height='{height:.1}' class='heat' fill-opacity='{strength:.2}'/>",
                    (next - x).max(0.5)
                );
            }
        }
        for part in [0.0, 0.5, 1.0] {
            let us = ((low + (count * part)) / ROWS_PER_DOUBLE).exp2();
            let y = y_of(part);
            let _ = write!(
                svg,
                "<text x='{:.1}' y='{:.1}' class='axis' text-anchor='end'>{}</text>",
                LEFT - 6.0,
                y + 4.0,
                escaped(&unit(us))
            );
        }
    }
    time_axis(&mut svg, seconds);
    svg.push_str("</svg>");
    svg
}

fn open() -> String {
    format!("<svg viewBox='0 0 {WIDTH} {HEIGHT}' role='img' xmlns='http://www.w3.org/2000/svg'>")
}

fn time_axis(svg: &mut String, seconds: f64) {
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let x = x_of(seconds * part, seconds);
        let anchor = if part > 0.99 { "end" } else { "middle" };
        let _ = write!(
            svg,
            "<text x='{x:.1}' y='{:.1}' class='axis' text-anchor='{anchor}'>{:.1} s</text>",
            HEIGHT - 6.0,
            seconds * part
        );
    }
}

fn x_of(at: f64, seconds: f64) -> f64 {
    LEFT + (WIDTH - LEFT) * if seconds > 0.0 { at / seconds } else { 0.0 }
}

fn y_of(part: f64) -> f64 {
    HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * part
}

/// Text in HTML and SVG.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
