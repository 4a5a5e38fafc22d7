//! Line plots as SVG: panels side by side, with the name of each line at its end instead of a legend.
//!
//! The colors keep their distance for readers who do not see red and green apart, one line is thicker and one dashed, and the
//! picture brings its own background in the reader's scheme, so that it can be read on any page.

use std::fmt::Write as _;

use super::svg::{escaped, length};

/// Width of a picture in pixels. Source: own choice, the width of a page of a repository.
const WIDTH: f64 = 880.0;
/// Height of a picture in pixels. Source: own choice; three of its kind fill a screen.
const HEIGHT: f64 = 300.0;
/// Space above and below the lines of a panel, for its title and for the horizontal axis.
const VERTICAL: (f64, f64) = (58.0, 48.0);
/// Space at the left of the lines of a panel, for the numbers of the vertical axis.
const LEFT: f64 = 46.0;
/// Least distance of two names at the ends of lines.
const NAME_HEIGHT: f64 = 14.0;

const STYLE: &str = "\
text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;fill:#59636e}
.t{font-size:13px;font-weight:600;fill:#1f2328}.e{text-anchor:end}.c{text-anchor:middle}
.bg{fill:#fff;stroke:#d1d9e0}.g{stroke:#e3e7eb}
polyline{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}
circle{fill:currentColor}.n{fill:currentColor;font-weight:600}
.own polyline{stroke-width:3}.tail polyline{stroke-dasharray:5 4}
.own{color:#0068a8}.bm25,.lancedb{color:#b34700}.fts5{color:#59636e}.chroma{color:#007a5a}.context{color:#8a3f8a}
@media (prefers-color-scheme:dark){
text{fill:#9198a1}.t{fill:#f0f6fc}.bg{fill:#0d1117;stroke:#3d444d}.g{stroke:#262c36}.n{fill:currentColor}
.own{color:#58b4f0}.bm25,.lancedb{color:#f0a04b}.fts5{color:#a3acb8}.chroma{color:#35c496}.context{color:#d99ad9}
}
";

/// An axis with its marks.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// What it counts, with the unit.
    pub(super) name: &'static str,
    /// Its ends.
    pub(super) ends: (f64, f64),
    /// Whether equal distances are equal ratios.
    pub(super) is_log: bool,
    /// Values that have a mark, with its text.
    pub(super) marks: &'static [(f64, &'static str)],
}

/// One line.
#[derive(Debug, Clone)]
pub(super) struct Series {
    /// Classes of the stylesheet, which decide its color.
    pub(super) class: &'static str,
    /// The text at its end.
    pub(super) name: String,
    /// Its points, from left to right.
    pub(super) points: Vec<(f64, f64)>,
}

/// Lines over one pair of axes.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    /// Its title.
    pub(super) title: String,
    /// The horizontal axis.
    pub(super) x: Axis,
    /// The vertical axis.
    pub(super) y: Axis,
    /// Its lines.
    pub(super) series: Vec<Series>,
    /// Space at the right of the lines, for their names.
    pub(super) right: f64,
}

/// A rectangle of the picture in which the lines of a panel lie.
#[derive(Debug, Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Returns the picture of panels side by side; `title` names it for readers who do not see it.
pub(super) fn picture(title: &str, panels: &[Panel]) -> String {
    let title = escaped(title);
    let (inner_width, inner_height) = (WIDTH - 1.0, HEIGHT - 1.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         role=\"img\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"bg\" x=\".5\" y=\".5\" width=\"{inner_width}\" height=\"{inner_height}\" rx=\"6\"/>\n"
    );
    let share = WIDTH / panels.len().max(1) as f64;
    for (at, panel) in panels.iter().enumerate() {
        let start = at as f64 * share;
        let area = Area {
            left: start + LEFT,
            right: start + share - panel.right,
            top: VERTICAL.0,
            bottom: HEIGHT - VERTICAL.1,
        };
        axes(&mut out, panel, area);
        lines(&mut out, panel, area);
    }
    out.push_str("</svg>\n");
    out
}

impl Axis {
    /// Returns where a value lies between two pixels.
    fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        let scale = |value: f64| if self.is_log { value.ln() } else { value };
        let (low, high) = (scale(self.ends.0), scale(self.ends.1));
        ((scale(value) - low) / (high - low)).mul_add(to - from, from)
    }
}

impl Panel {
    /// Returns where a point lies, in pixels.
    fn place(&self, point: (f64, f64), area: Area) -> (f64, f64) {
        (self.x.place(point.0, area.left, area.right), self.y.place(point.1, area.bottom, area.top))
    }
}

fn axes(out: &mut String, panel: &Panel, area: Area) {
    let text = |out: &mut String, class: &str, place: (f64, f64), text: &str| {
        let (x, y) = (length(place.0), length(place.1));
        let _ = writeln!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(text));
    };
    let edge = area.left - 30.0;
    text(out, "t", (edge, 24.0), &panel.title);
    text(out, "", (edge, area.top - 14.0), panel.y.name);
    for &(value, mark) in panel.y.marks {
        let y = panel.y.place(value, area.bottom, area.top);
        let (left, right, height) = (length(area.left), length(area.right), length(y));
        let _ = writeln!(out, "<path class=\"g\" d=\"M{left} {height}H{right}\"/>");
        text(out, "e", (area.left - 7.0, y + 4.0), mark);
    }
    for &(value, mark) in panel.x.marks {
        let x = panel.x.place(value, area.left, area.right);
        text(out, "c", (x, area.bottom + 18.0), mark);
    }
    let middle = f64::midpoint(area.left, area.right);
    text(out, "c", (middle, area.bottom + 36.0), panel.x.name);
}

fn lines(out: &mut String, panel: &Panel, area: Area) {
    let ends = panel.series.iter().map(|series| {
        let end = series.points.last().copied().unwrap_or_default();
        panel.place(end, area).1
    });
    let heights = apart(&ends.collect::<Vec<_>>(), area.bottom);
    for (series, height) in panel.series.iter().zip(heights) {
        let places: Vec<_> = series.points.iter().map(|point| panel.place(*point, area)).collect();
        let pairs: Vec<_> = places.iter().map(|(x, y)| format!("{},{}", length(*x), length(*y))).collect();
        let _ = write!(out, "<g class=\"{}\"><polyline points=\"{}\"/>", series.class, pairs.join(" "));
        for (x, y) in &places {
            let _ = write!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"3\"/>", length(*x), length(*y));
        }
        let (x, y) = (length(area.right + 9.0), length(height + 4.0));
        let _ = writeln!(out, "<text class=\"n\" x=\"{x}\" y=\"{y}\">{}</text></g>", escaped(&series.name));
    }
}

/// Returns heights near the given ones, in their order, that are far enough from each other for names, and not below `bottom`.
fn apart(wanted: &[f64], bottom: f64) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = wanted.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut least = f64::NEG_INFINITY;
    for (_, height) in &mut order {
        *height = height.max(least);
        least = *height + NAME_HEIGHT;
    }
    let mut most = bottom;
    for (_, height) in order.iter_mut().rev() {
        *height = height.min(most);
        most = *height - NAME_HEIGHT;
    }
    order.sort_by_key(|(at, _)| *at);
    order.into_iter().map(|(_, height)| height).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Axis = Axis {
        name: "events",
        ends: (10.0, 1_000.0),
        is_log: true,
        marks: &[(10.0, "10"), (1_000.0, "1,000")],
    };
    const Y: Axis = Axis { name: "share", ends: (0.0, 1.0), is_log: false, marks: &[(0.5, ".5")] };

    #[test]
    fn equal_ratios_are_equal_distances_on_a_logarithmic_axis() {
        assert_eq!([10.0, 100.0, 1_000.0].map(|value| length(X.place(value, 0.0, 50.0))), ["0", "25", "50"]);
        assert_eq!([0.0, 0.25, 1.0].map(|value| length(Y.place(value, 100.0, 0.0))), ["100", "75", "0"]);
    }

    #[test]
    fn names_at_the_ends_do_not_overlap_and_keep_their_order() {
        let heights = |wanted: &[f64]| apart(wanted, 200.0).into_iter().map(length).collect::<Vec<_>>();
        assert_eq!(heights(&[100.0, 20.0, 104.0]), ["100", "20", "114"]);
        assert_eq!(heights(&[195.0, 198.0]), ["186", "200"]);
        assert!(heights(&[]).is_empty());
    }

    #[test]
    fn a_picture_has_axes_and_one_named_line_for_each_series() {
        let series =
            Series { class: "own", name: "a & b".to_owned(), points: vec![(10.0, 0.0), (1_000.0, 1.0)] };
        let panel = Panel { title: "T".to_owned(), x: X, y: Y, series: vec![series], right: 80.0 };
        let picture = picture("plot", &[panel]);
        let expected = [
            "<title>plot</title>",
            ">share</text>",
            ">1,000</text>",
            "<polyline points=\"46,252 800,58\"/>",
            ">a &amp; b</text></g>",
        ];
        for part in expected {
            assert!(picture.contains(part), "{part} in\n{picture}");
        }
    }
}
