//! Query texts: each parses and plans, optimised or not, or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_packed::Order;
use lode_rdf::{Kind, Term, ValueId};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::planner::PlanOptions;
use lode_sparql::{Statistics, parse_query, plan_query};

/// A store in which every term and pattern has some rows.
struct Anything;

impl Statistics for Anything {
    fn id_of(&self, _: &Term) -> Option<ValueId> {
        Some(ValueId::new(Kind::Iri, 7))
    }

    fn count(&self, _: Order, prefix: &[ValueId]) -> u64 {
        1_000_000 >> (4 * prefix.len())
    }

    fn distinct(&self, _: Order, prefix: &[ValueId]) -> u64 {
        100_000 >> (4 * prefix.len())
    }

    fn quad_count(&self) -> u64 {
        1_000_000
    }

    fn has_named_graphs(&self) -> bool {
        true
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(query) = parse_query(text, Some("http://example.org/")) else { return };
    for optimize in [false, true] {
        let options = PlanOptions { optimize, ..PlanOptions::default() };
        let _ = plan_query(&query, &DatasetOverride::default(), &options, &Anything);
    }
});
