//! What queries took, as a table and as JSON.

use crate::number;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Duration;

/// The queries by name, and how often the last is asked at most.
pub const WINDOW: &str = "window";
pub const NEAREST: &str = "nearest 10";
pub const JOIN: &str = "join";
pub const JOINS: usize = 3;
/// Who answers with the index.
pub const WITH: &str = "lode, index";

/// What one kind of query took.
pub struct Row {
    pub query: &'static str,
    pub who: String,
    pub times: Vec<Duration>,
    /// Rows of a query, on average; of the join what it counts.
    pub rows: u64,
    /// Answers that are the same as with the index, of so many.
    pub same: Option<(usize, usize)>,
}

impl Row {
    fn least(&self) -> Duration {
        self.times.iter().min().copied().unwrap_or_default()
    }

    fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        json!({
            "query": self.query, "who": self.who, "index": self.who == WITH, "runs": self.times.len(), "rows": self.rows,
            "same": self.same.map(|(same, _)| same), "compared": self.same.map(|(_, of)| of),
            "least_seconds": self.least().as_secs_f64(), "median_seconds": self.median().as_secs_f64(),
        })
    }
}

pub fn write_table(rows: &[Row]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "| query | who | rows | runs | least ms | median ms | same answers |")?;
    writeln!(out, "|---|---|--:|--:|--:|--:|--:|")?;
    for row in rows {
        let [least, median] = [row.least(), row.median()].map(|time| time.as_secs_f64() * 1e3);
        let (query, who, count, runs) = (row.query, &row.who, number::grouped(row.rows), row.times.len());
        let same = row.same.map_or_else(String::new, |(same, of)| format!("{same} of {of}"));
        match runs {
            0 => writeln!(out, "| {query} | {who} | no answer | 0 | | | {same} |")?,
            _ => writeln!(out, "| {query} | {who} | {count} | {runs} | {least:.2} | {median:.2} | {same} |")?,
        }
    }
    Ok(())
}
