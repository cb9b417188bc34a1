//! A plan as a server tells it, as text: as that of a database in a folder is written.

use crate::number;
use serde_json::Value;
use std::time::Duration;

/// A plan's JSON as text: the warnings, the tree of operators, and how it was made. None where it is none.
pub fn plan_text(told: &str) -> Option<String> {
    let told: Value = serde_json::from_str(told).ok()?;
    let mut text = String::new();
    for warning in list(&told, "warnings").filter_map(Value::as_str) {
        text += &format!("warning: {warning}\n");
    }
    operator(told.get("plan")?, 0, &mut text);
    text += "\nplanning           time  nodes\n";
    for step in list(&told, "steps") {
        let count = |name: &str| step.get(name).and_then(Value::as_u64).unwrap_or(0);
        text += &format!(
            "{:<12}  {:>9}  {:>5} -> {}\n",
            string(step, "name"),
            time(step, "seconds"),
            count("nodes_before"),
            count("nodes_after")
        );
    }
    Some(text)
}

/// An operator, and those below it: not more than the parser lets in.
fn operator(node: &Value, depth: usize, text: &mut String) {
    let line =
        format!("{:indent$}{} {}", "", string(node, "operator"), string(node, "detail"), indent = 2 * depth);
    let rows = node.get("estimated_rows").and_then(Value::as_f64).unwrap_or(0.0);
    *text +=
        &format!("{}  [{} rows, {}", line.trim_end(), number::short(rows), time(node, "estimated_seconds"));
    let sorted: Vec<&str> = list(node, "sorted_by").filter_map(Value::as_str).collect();
    if !sorted.is_empty() {
        *text += &format!(", sorted by {}", sorted.join(" "));
    }
    *text += "]\n";
    list(node, "inputs").for_each(|input| operator(input, depth + 1, text));
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn string<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or("")
}

fn time(value: &Value, name: &str) -> String {
    let seconds = value.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    format!("{:.1?}", Duration::try_from_secs_f64(seconds).unwrap_or_default())
}
