//! Figures with their ranges, as an SVG that needs nothing else.

use super::stats::Rate;
use std::fmt::Write as _;

/// What the axis shows.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

/// A figure, the range around it, and the words beside it.
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) at: f64,
    pub(crate) range: (f64, f64),
    pub(crate) words: String,
}

const LABELS: f64 = 230.0;
const AXIS: f64 = 380.0;
const FIGURES: f64 = 190.0;
const ROW: f64 = 18.0;
const TOP: f64 = 34.0;

/// Rates in per cent with their intervals.
pub(crate) fn rates(title: &str, rates: &[(String, Rate)], scale: Scale) -> String {
    let row = |(label, rate): &(String, Rate)| {
        let (low, high) = rate.interval();
        Row {
            label: label.clone(),
            at: rate.percent().unwrap_or(0.0),
            range: (low, high),
            words: format!("{} of {} [{low:.1}, {high:.1}]", rate.hits, rate.of),
        }
    };
    chart(title, &rates.iter().map(row).collect::<Vec<_>>(), scale)
}

/// A dot for each figure, its range as a line, and the words.
pub(crate) fn chart(title: &str, rows: &[Row], scale: Scale) -> String {
    let width = LABELS + AXIS + FIGURES;
    let bottom = TOP + ROW * f64::from(u32::try_from(rows.len()).unwrap_or(u32::MAX));
    let x = |figure: f64| {
        let share = (figure - scale.from) / (scale.to - scale.from);
        LABELS + AXIS * share.clamp(0.0, 1.0)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{0}\" viewBox=\"0 0 {width} {0}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"8\" y=\"16\" font-size=\"13\" font-weight=\"bold\">{1}</text>\n",
        bottom + 26.0,
        escape(title),
    );
    for tick in 0..=4 {
        let figure = scale.from + (scale.to - scale.from) * f64::from(tick) / 4.0;
        let at = x(figure);
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{figure}</text>",
            bottom + 14.0,
        );
    }
    let mut y = TOP + ROW / 2.0;
    for row in rows {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text><line x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#4682b4\" stroke-width=\"3\"/><circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#1f3a5f\"/><text x=\"{:.1}\" y=\"{:.1}\" fill=\"#555\">{}</text>",
            LABELS - 8.0,
            y + 4.0,
            escape(&row.label),
            x(row.range.0),
            x(row.range.1),
            x(row.at),
            LABELS + AXIS + 8.0,
            y + 4.0,
            escape(&row.words),
        );
        y += ROW;
    }
    svg.push_str("</svg>\n");
    svg
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_stand_where_the_axis_says() {
        let rows = [("a < b".to_owned(), Rate { hits: 5, of: 10 })];
        let svg = rates(
            "t",
            &rows,
            Scale {
                from: 0.0,
                to: 100.0,
            },
        );
        assert!(svg.contains("<circle cx=\"420.0\""), "{svg}");
        assert!(svg.contains("5 of 10 [18.7, 81.3]"), "{svg}");
        assert!(svg.contains("a &lt; b"), "{svg}");
    }
}
