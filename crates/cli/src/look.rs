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
    let mut usual: Vec<_> = lode_assist::usual_prefixes().collect();
    // Of several names for one namespace, the shortest.
    usual.sort_by_key(|(name, _)| (std::cmp::Reverse(name.len()), std::cmp::Reverse(*name)));
    let others = kept.iter().chain(own).map(|prefix| (prefix.name.as_str(), prefix.iri.as_str()));
    Prefixes::new(usual.into_iter().chain(others))
}

/// What is said below an answer on a terminal.
pub fn told(rows: u64, time: Duration) -> String {
    format!("{} in {}", number::of(rows, "row"), number::duration(time))
}
