//! What each operator of a query did, as a table whose last column is the tree of operators.

use crate::number;
use lode_engine::report::{Measured, PlanReport, PlanReportNode, WorkReport};
use serde_json::Value;
use std::time::Duration;

/// A column: its name, and what it says of an operator's work; nothing where there is nothing to say.
type Column = (&'static str, fn(&PlanReportNode, &Measured, f64) -> String);

const COLUMNS: [Column; 14] = [
    ("rows", |_, done, _| number::short(done.work.rows as f64)),
    ("expected", |node, _, _| number::short(node.estimated_rows.round())),
    ("off", |_, done, _| off(done.rows_per_expected)),
    ("time", |_, done, _| time(done.work.seconds)),
    ("%", |_, done, all| share(done.work.seconds, all)),
    ("held", |_, done, _| bytes(done.work.memory_bytes_max)),
    ("spilled", |_, done, _| bytes(done.work.spilled_bytes)),
    ("requests", |_, done, _| count(done.work.requests)),
    ("sent", |_, done, _| bytes(done.work.bytes_sent)),
    ("received", |_, done, _| bytes(done.work.bytes_received)),
    ("look-ups", |_, done, _| count(done.work.lookups)),
    ("rows read", |_, done, _| count(done.work.sequential_rows)),
    ("blocks", |_, done, _| count(done.work.blocks.touched)),
    ("from disk", |_, done, _| count(done.work.blocks.read)),
];

/// Operators that never began, or whose work another does.
const NOT_BEGUN: [String; COLUMNS.len()] = [const { String::new() }; COLUMNS.len()];

/// The table, and a few lines about all of it.
pub fn of(report: &PlanReport) -> String {
    let all = report.run.as_ref().map_or(0.0, |run| run.total.seconds);
    let (mut rows, mut trees) = (vec![COLUMNS.map(|(name, _)| name.to_owned())], vec!["operator".to_owned()]);
    report.plan.walk(&mut |depth, node| {
        rows.push(match &node.measured {
            Some(done) => COLUMNS.map(|(_, of)| of(node, done, all)),
            None => NOT_BEGUN,
        });
        trees.push(format!("{:indent$}{} {}", "", node.operator, node.detail, indent = depth * 2));
    });
    let is_empty = |column: usize| rows.iter().skip(1).all(|row| row[column].is_empty());
    let widths: Vec<usize> = (0..COLUMNS.len())
        .map(|column| match is_empty(column) {
            true => 0,
            false => rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0),
        })
        .collect();
    let mut text = String::new();
    for (row, tree) in rows.iter().zip(&trees) {
        for (cell, width) in row.iter().zip(&widths).filter(|(_, width)| **width > 0) {
            text.push_str(&format!("{cell:>width$}  "));
        }
        text.push_str(tree.trim_end());
        text.push('\n');
    }
    text + &summary(report) + &report.elsewhere.as_ref().map_or_else(String::new, elsewhere)
}

/// What workers did, by fragments and stages.
fn elsewhere(told: &Value) -> String {
    let (none, mut text) = (Vec::new(), String::new());
    let list = |value: &'static str, of: &Value| of[value].as_array().unwrap_or(&none).clone();
    for (number, fragment) in list("fragments", told).iter().enumerate() {
        for done in list("done", fragment) {
            let count = |name: &str| number::short(done[name].as_f64().unwrap_or(0.0));
            let size = |name: &str| number::bytes(done[name].as_u64().unwrap_or(0));
            let seconds = |name: &str| time(done[name].as_f64().unwrap_or(0.0));
            text += &format!(
                "fragment {number}, stage {} at {}: {} tasks, {} rows ({}), {} from other tasks, {} of processors, {} in operators above\n",
                done["stage"],
                done["worker"].as_str().unwrap_or_default(),
                count("tasks"),
                count("rows"),
                size("bytes"),
                size("bytes_received"),
                seconds("processor_seconds"),
                seconds("operator_seconds"),
            );
        }
    }
    text
}

fn summary(report: &PlanReport) -> String {
    let Some(run) = &report.run else { return String::new() };
    let WorkReport { seconds, blocks, .. } = run.answer;
    let (answer, all) = (time(seconds), run.total.blocks);
    let ahead = match all.read_ahead {
        0 => String::new(),
        blocks => format!(
            " with {} requests, {} of them ahead",
            number::grouped(all.requests),
            number::grouped(blocks)
        ),
    };
    format!(
        "terms of the answer: {answer}, {} blocks ({} from disk)\n\
         in all: {} blocks ({} from disk{ahead}, {} read; {} skipped), at most {} held, {} terms looked up, {} read\n",
        number::grouped(blocks.touched),
        number::grouped(blocks.read),
        number::grouped(all.touched),
        number::grouped(all.read),
        number::bytes(all.bytes_read),
        number::grouped(all.skipped),
        number::bytes(run.memory_bytes_max as u64),
        number::grouped(run.terms_looked_up),
        number::grouped(run.terms_read),
    )
}

/// How far the planner was off: `x3` for three times as many rows as expected, `/3` for a third.
fn off(rows_per_expected: f64) -> String {
    let (sign, factor) =
        if rows_per_expected < 1.0 { ('/', 1.0 / rows_per_expected) } else { ('x', rows_per_expected) };
    match factor {
        f if f < 1.05 => String::new(),
        f if f < 9.95 => format!("{sign}{f:.1}"),
        f => format!("{sign}{}", number::short(f)),
    }
}

fn share(part: f64, all: f64) -> String {
    if all > 0.0 { format!("{:.0}", 100.0 * part / all) } else { String::new() }
}

fn time(seconds: f64) -> String {
    format!("{:.1?}", Duration::from_secs_f64(seconds))
}

fn count(count: u64) -> String {
    if count == 0 { String::new() } else { number::short(count as f64) }
}

fn bytes(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { number::bytes(bytes) }
}

#[cfg(test)]
mod tests {
    //! Small formats; tables are tested with the command.
    use super::{elsewhere, off};
    use serde_json::json;

    #[test]
    fn what_workers_did() {
        let done = json!({ "stage": 1, "worker": "http://127.0.0.1:1/", "tasks": 3, "rows": 120_000, "bytes": 1 << 20,
            "bytes_received": 0, "processor_seconds": 0.25, "operator_seconds": 0.0 });
        let told = elsewhere(&json!({ "fragments": [{ "done": [] }, { "done": [done] }] }));
        assert_eq!(
            told,
            "fragment 1, stage 1 at http://127.0.0.1:1/: 3 tasks, 120 k rows (1.00 MiB), 0 B from other tasks, 250.0ms of processors, 0.0ns in operators above\n"
        );
        assert_eq!(elsewhere(&json!({})), "");
    }

    #[test]
    fn how_far_off() {
        assert_eq!([1.0, 1.04, 3.0, 0.25, 1234.0].map(off), ["", "", "x3.0", "/4.0", "x1234"]);
    }
}
