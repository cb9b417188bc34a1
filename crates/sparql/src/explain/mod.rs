//! Plans in words: as a tree of [`Explained`] nodes, and as indented text.

mod details;
mod expr_text;
#[cfg(test)]
mod tests;

use crate::plan::{Plan, PlanNode, PlanOp};
use crate::steps::PlanStep;
use lode_rdf::ValueId;
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(crate) use details::Names;

/// A plan node in words. `id` is the node's number, under which a profile has its measured rows and times.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The node's number.
    pub id: u32,
    /// The operator's name.
    pub operator: &'static str,
    /// What it works on: a pattern, a condition, keys.
    pub detail: String,
    /// Output columns, with `?`.
    pub columns: Vec<String>,
    /// Columns by which the rows are sorted, with `?`.
    pub sorted_by: Vec<String>,
    /// Estimated rows.
    pub rows: f64,
    /// Estimated cost with all below, in nanoseconds.
    pub cost: f64,
    /// Inputs, left before right.
    pub inputs: Vec<Explained>,
}

/// Explains a plan; `term` gives the text of a constant's id.
pub fn explain(plan: &Plan, term: &dyn Fn(ValueId) -> String) -> Explained {
    let mut readers = BTreeMap::new();
    count_readers(&plan.root, &mut readers);
    let names = Names { vars: &plan.vars, term, readers };
    explain_node(&plan.root, &names)
}

fn count_readers(node: &PlanNode, readers: &mut BTreeMap<u32, usize>) {
    if let PlanOp::Spool { number, .. } = &node.op {
        *readers.entry(*number).or_default() += 1;
    }
    node.children().into_iter().for_each(|child| count_readers(child, readers));
}

fn explain_node(node: &PlanNode, names: &Names<'_>) -> Explained {
    Explained {
        id: node.id,
        operator: node.op.name(),
        detail: details::detail(node, names),
        columns: node.vars.iter().map(|v| names.var(*v)).collect(),
        sorted_by: node.sorted_by.iter().map(|v| names.var(*v)).collect(),
        rows: node.rows,
        cost: node.cost,
        inputs: node.children().into_iter().map(|c| explain_node(c, names)).collect(),
    }
}

impl Explained {
    /// One line per node, inputs indented below it. `extra` may add something to a node's line, such as measured rows.
    pub fn to_text(&self, extra: &dyn Fn(&Self) -> String) -> String {
        let mut text = String::new();
        self.write_text(&mut text, 0, extra);
        text
    }

    fn write_text(&self, text: &mut String, depth: usize, extra: &dyn Fn(&Self) -> String) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{:indent$}{}", "", self.operator, indent = depth * 2);
        if !self.detail.is_empty() {
            let _ = write!(text, " {}", self.detail);
        }
        let _ = write!(text, "  [{} rows, {}", short_count(self.rows), short_time(self.cost));
        if !self.sorted_by.is_empty() {
            let _ = write!(text, ", sorted by {}", self.sorted_by.join(" "));
        }
        let _ = writeln!(text, "]{}", extra(self));
        for input in &self.inputs {
            input.write_text(text, depth + 1, extra);
        }
    }
}

/// The steps of planning, one line each: how long each took, and how many operators there were before and after.
pub fn steps_text(steps: &[PlanStep]) -> String {
    let line = |PlanStep { name, time, nodes_before, nodes_after }: &PlanStep| {
        let time = short_time(time.as_secs_f64() * 1e9);
        format!("{name:<12}  {time:>9}  {nodes_before:>5} -> {nodes_after}\n")
    };
    let head = "planning           time  nodes\n".to_owned();
    steps.iter().fold(head, |text, step| text + &line(step))
}

/// A number of rows, with three digits.
pub fn short_count(count: f64) -> String {
    match count {
        c if c < 0.05 => "0".to_owned(),
        c if c < 9.95 => format!("{c:.1}"),
        c if c < 9_999.5 => format!("{c:.0}"),
        c if c < 9_999_500.0 => format!("{:.0}k", c / 1e3),
        c if c < 9_999_500_000.0 => format!("{:.0}M", c / 1e6),
        c => format!("{c:.1e}"),
    }
}

/// A time given in nanoseconds.
pub fn short_time(nanoseconds: f64) -> String {
    match nanoseconds {
        t if t < 999.5 => format!("{t:.0} ns"),
        t if t < 999_500.0 => format!("{:.1} us", t / 1e3),
        t if t < 999_500_000.0 => format!("{:.1} ms", t / 1e6),
        t => format!("{:.1} s", t / 1e9),
    }
}
