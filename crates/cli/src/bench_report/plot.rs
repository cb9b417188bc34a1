//! A plot of a table as SVG: for each query, how many times as long as the first store each other one takes.
//!
//! Ratios are on a logarithmic axis, because they are from a tenth to thousands; left of the line at 1 the other store is faster. Those
//! without an answer are crosses at the right end.

use super::table::{Cell, Table, short};

/// Places in pixels.
const LABEL_WIDTH: f64 = 190.0;
const PLOT_WIDTH: f64 = 560.0;
const MARGIN: f64 = 20.0;
const HEAD_HEIGHT: f64 = 58.0;
const ROW_HEIGHT: f64 = 15.0;
const RADIUS: f64 = 4.0;

/// Colours that also those can tell apart who see few (Okabe and Ito), for the stores after the first.
pub const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// The document.
pub fn svg(table: &Table) -> String {
    let axis = Axis::of(table);
    let height = HEAD_HEIGHT + ROW_HEIGHT * table.rows.len() as f64 + MARGIN;
    let width = LABEL_WIDTH + PLOT_WIDTH + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    svg += &text(
        MARGIN,
        16.0,
        "start",
        &format!("{}: times as long as {}", table.title.trim_end_matches(", ms"), first(table)),
    );
    legend(&mut svg, table);
    grid(&mut svg, &axis, height - MARGIN);
    for (number, (label, cells)) in table.rows.iter().enumerate() {
        let y = HEAD_HEIGHT + ROW_HEIGHT * (number as f64 + 0.5);
        svg += &text(LABEL_WIDTH, y + 4.0, "end", label);
        for (at, cell) in cells.iter().enumerate().skip(1) {
            svg += &mark(table, &axis, cells, at, *cell, y);
        }
    }
    svg + "</svg>\n"
}

fn first(table: &Table) -> &str {
    table.stores.first().map_or("", String::as_str)
}

fn colour(at: usize) -> &'static str {
    COLOURS[at.saturating_sub(1) % COLOURS.len()]
}

/// Words at a place.
pub fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#222222\">{words}</text>\n")
}

fn legend(svg: &mut String, table: &Table) {
    let mut x = LABEL_WIDTH + MARGIN;
    for (at, store) in table.stores.iter().enumerate().skip(1) {
        *svg += &circle(x, 32.0, at);
        *svg += &text(x + 8.0, 36.0, "start", store);
        x += 30.0 + 7.0 * store.chars().count() as f64;
    }
    *svg += &cross(x, 32.0, "#222222");
    *svg += &text(x + 8.0, 36.0, "start", "no answer");
}

fn circle(x: f64, y: f64, at: usize) -> String {
    format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" fill=\"{}\" fill-opacity=\"0.85\"/>\n",
        colour(at)
    )
}

fn cross(x: f64, y: f64, colour: &str) -> String {
    let (l, r, t, b) = (x - RADIUS, x + RADIUS, y - RADIUS, y + RADIUS);
    format!(
        "<path d=\"M{l:.1} {t:.1}L{r:.1} {b:.1}M{l:.1} {b:.1}L{r:.1} {t:.1}\" stroke=\"{colour}\" stroke-width=\"1.6\"/>\n"
    )
}

/// A cross stands apart from those of other stores, so that all can be seen.
fn mark(table: &Table, axis: &Axis, cells: &[Cell], at: usize, cell: Cell, y: f64) -> String {
    match (table.ratio(cells, at), cell) {
        (Some(ratio), _) => circle(axis.x(ratio), y, at),
        (None, Cell::Failed) => {
            cross(LABEL_WIDTH + MARGIN + PLOT_WIDTH - 10.0 * (table.stores.len() - at) as f64, y, colour(at))
        }
        (None, _) => String::new(),
    }
}

fn grid(svg: &mut String, axis: &Axis, bottom: f64) {
    for power in axis.low..=axis.high {
        let x = axis.x(10_f64.powi(power));
        let (colour, width) = if power == 0 { ("#222222", 1.4) } else { ("#cccccc", 1.0) };
        *svg += &format!(
            "<line x1=\"{x:.1}\" y1=\"{HEAD_HEIGHT}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\n"
        );
        *svg += &text(x, HEAD_HEIGHT - 5.0, "middle", &tick(power));
    }
}

fn tick(power: i32) -> String {
    if power < -2 {
        format!("1e{power}")
    } else {
        short(10_f64.powi(power)).trim_end_matches(".00").trim_end_matches(".0").to_owned()
    }
}

/// Powers of ten that hold all ratios, and 1.
struct Axis {
    low: i32,
    high: i32,
}

impl Axis {
    fn of(table: &Table) -> Self {
        let stores = 1..table.stores.len();
        let ratios =
            table.rows.iter().flat_map(|(_, cells)| stores.clone().filter_map(|at| table.ratio(cells, at)));
        let logs: Vec<f64> = ratios.map(f64::log10).collect();
        let low = logs.iter().copied().fold(0.0, f64::min).floor() as i32;
        let high = logs.iter().copied().fold(0.0, f64::max).ceil() as i32;
        // A place at the right for those without an answer.
        Self { low: low.min(-1), high: high.max(1) }
    }

    fn x(&self, ratio: f64) -> f64 {
        let place = (ratio.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        LABEL_WIDTH + MARGIN + place * (PLOT_WIDTH - 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_report::results::Results;
    use crate::bench_report::table::tables;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn each_answer_has_its_place() {
        let run = |seconds: &[Option<f64>]| {
            let query = |(number, time): (usize, &Option<f64>)| json!({"name": format!("q<{number}>"), "median_seconds": time, "failure": time.is_none().then_some("no")});
            json!({"queries": seconds.iter().enumerate().map(query).collect::<Vec<_>>()})
        };
        let stores = ["ours", "near", "far"];
        let runs = [
            run(&[Some(1.0), Some(1.0), Some(1.0)]),
            run(&[Some(0.5), Some(1.0), None]),
            run(&[Some(1000.0), None, Some(30.0)]),
        ];
        let runs: BTreeMap<_, _> = stores.iter().map(|store| (*store).to_owned()).zip(runs).collect();
        let runs = BTreeMap::from([("paths".to_owned(), runs)]);
        let tables = tables(&Results { stores: stores.map(str::to_owned).to_vec(), runs });
        let svg = svg(&tables[0]);
        // Two in the legend, and four answers; one cross in the legend, and two without answer.
        assert_eq!((svg.matches("<circle").count(), svg.matches("<path").count()), (6, 3), "{svg}");
        assert!(
            svg.contains(">q&lt;0></text>") && svg.contains(">1,000</text>") && svg.contains(">0.1"),
            "{svg}"
        );
        let axis = Axis::of(&tables[0]);
        assert!(axis.x(0.5) < axis.x(1.0) && axis.x(1.0) < axis.x(1000.0));
        assert!(axis.x(1000.0) < LABEL_WIDTH + MARGIN + PLOT_WIDTH - 50.0);
    }
}
