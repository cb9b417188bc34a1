//! How answers look: what prefixes they have, and how wide their tables are.

use crate::args::OutputArgs;
use crate::number;
use crate::screen;
use lode_assist::Prefix;
use lode_engine::TableOptions;
use lode_rdf::serialize::Prefixes;
use std::time::Duration;

/// How an answer looks.
#[derive(Debug, Clone)]
pub struct Look {
    pub table: TableOptions,
    /// Of Turtle.
    pub prefixes: Prefixes,
}

impl Look {
    /// That of the answer to a query: its own prefixes count most, then those that are kept, then the usual ones.
    pub fn new(query: &str, kept: &[Prefix], output: &OutputArgs) -> Self {
        let prefixes = prefixes(&lode_assist::declared_prefixes(query), kept);
        let width = output.width.map(usize::from).or_else(screen::width).filter(|_| !output.full);
        let bars = if width.is_some() { lode_assist::counting_variables(query) } else { Vec::new() };
        Self { table: TableOptions { width, prefixes: prefixes.clone(), bars }, prefixes }
    }
}

/// The usual prefixes, then those that are kept, then those of a text; the last count most.
pub fn prefixes(own: &[Prefix], kept: &[Prefix]) -> Prefixes {
    lode_assist::prefixes_over_usual(kept.iter().chain(own))
}

/// What is said below an answer on a terminal.
pub fn told(rows: u64, time: Duration) -> String {
    format!("{} in {}", number::of(rows, "row"), number::duration(time))
}
