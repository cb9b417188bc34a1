//! Widths of columns, and rows that keep to them.

use super::cell::Cell;
use super::options::TableOptions;
use super::width::{push_cut, push_padded, width};
use std::io::Write;

/// Cells that are not cut are filled up to so many columns.
const FILLED_MAX: usize = 60;
/// A column gets so many at least, however narrow the terminal is.
const NARROW: usize = 6;
/// Columns of the longest bar.
const BAR: usize = 12;
/// Between two columns.
const GAP: &str = "  ";

/// A column.
struct Column {
    width: usize,
    /// Numbers stand on the right.
    to_the_right: bool,
    /// What the longest bar is worth, where there are bars.
    bar: Option<f64>,
}

/// How all rows are written.
pub(super) struct Layout {
    columns: Vec<Column>,
    cuts: bool,
}

impl Layout {
    /// For columns with these names and these first rows.
    pub fn new(names: &[String], rows: &[Vec<Cell>], options: &TableOptions) -> Self {
        let column = |(at, name): (usize, &String)| {
            let cells = || rows.iter().filter_map(move |row| row.get(at));
            let widest = cells().map(|cell| width(&cell.text)).max().unwrap_or(0);
            let filled = || cells().filter(|cell| !cell.text.is_empty());
            let is_number = filled().next().is_some() && filled().all(|cell| cell.number.is_some());
            let numbers = || filled().filter_map(|cell| cell.number);
            let largest = numbers().fold(0.0, f64::max);
            let has_bar = options.bars.contains(name) && is_number && rows.len() > 1;
            let bar = (has_bar && largest > 0.0 && numbers().all(|number| number >= 0.0)).then_some(largest);
            Column { width: widest.max(width(name) + 1), to_the_right: is_number, bar }
        };
        let mut columns: Vec<Column> = names.iter().enumerate().map(column).collect();
        match options.width {
            Some(all) => fit(&mut columns, all),
            None => {
                for column in &mut columns {
                    *column = Column { width: column.width.min(FILLED_MAX), to_the_right: false, bar: None };
                }
            }
        }
        Self { columns, cuts: options.width.is_some() }
    }

    /// Writes the names and a line below.
    pub fn write_head(&self, names: &[String], out: &mut dyn Write) -> std::io::Result<()> {
        let (mut line, mut rule) = (String::new(), String::new());
        for (at, (name, column)) in names.iter().zip(&self.columns).enumerate() {
            if at > 0 {
                line.push_str(GAP);
                rule.push_str(GAP);
            }
            self.push(&mut line, &format!("?{name}"), 0, column);
            rule.extend(std::iter::repeat_n('-', column.width));
            if column.bar.is_some() {
                line.extend(std::iter::repeat_n(' ', BAR + 1));
                rule.extend(std::iter::repeat_n(' ', BAR + 1));
            }
        }
        write_line(line, out)?;
        write_line(rule, out)
    }

    /// Writes a row.
    pub fn write_row(&self, row: &[Cell], out: &mut dyn Write) -> std::io::Result<()> {
        let mut line = String::new();
        for (at, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
            if at > 0 {
                line.push_str(GAP);
            }
            self.push(&mut line, &cell.text, cell.end, column);
            if let Some(longest) = column.bar {
                line.push(' ');
                push_padded(&mut line, &bar(cell.number.unwrap_or(0.0) / longest), BAR, false);
            }
        }
        write_line(line, out)
    }

    fn push(&self, line: &mut String, text: &str, end: usize, column: &Column) {
        if self.cuts {
            push_cut(line, text, end, column.width, column.to_the_right);
        } else {
            push_padded(line, text, column.width, column.to_the_right);
        }
    }
}

fn write_line(mut line: String, out: &mut dyn Write) -> std::io::Result<()> {
    line.truncate(line.trim_end_matches(' ').len());
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// A bar for a part of the longest one, in eighths of a column.
fn bar(part: f64) -> String {
    let eighths = (part.clamp(0.0, 1.0) * (BAR * 8) as f64).round() as usize;
    let last = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'].get(eighths % 8).copied().unwrap_or(' ');
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(last);
    }
    bar
}

/// Makes columns narrower until they fit: the widest first, and none below what a narrow one has. Bars go where there is no room for them.
fn fit(columns: &mut [Column], all: usize) {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    let natural: usize = columns.iter().map(|column| column.width).sum();
    let bars = columns.iter().filter(|column| column.bar.is_some()).count() * (BAR + 1);
    let room = all.saturating_sub(gaps);
    if natural.min(room * 2 / 3) + bars > room {
        columns.iter_mut().for_each(|column| column.bar = None);
    }
    let bars = columns.iter().filter(|column| column.bar.is_some()).count() * (BAR + 1);
    let room = room.saturating_sub(bars);
    let mut widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
    widths.sort_unstable();
    // The most that a column may have such that all have room: narrow ones leave theirs to others.
    let (mut left, mut share) = (room, usize::MAX);
    for (at, width) in widths.iter().enumerate() {
        let equal = left / (widths.len() - at);
        if *width > equal {
            share = equal;
            break;
        }
        left -= width;
    }
    for column in columns {
        column.width = column.width.min(share.max(NARROW));
    }
}
