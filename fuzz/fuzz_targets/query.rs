//! Texts of queries and updates: each parses and plans, optimised or not, or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_packed::Order;
use lode_rdf::{Kind, Term, ValueId};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::planner::PlanOptions;
use lode_sparql::update::Operation;
use lode_sparql::{Statistics, parse_query, parse_update, plan_query};

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

    fn star(&self, _: &[lode_packed::StarMember]) -> Option<std::sync::Arc<lode_packed::Star>> {
        None
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
    let base = Some("http://example.org/");
    let mut queries: Vec<_> = parse_query(text, base).into_iter().collect();
    for operation in parse_update(text, base).into_iter().flat_map(|update| update.operations) {
        if let Operation::Modify(modify) = operation {
            queries.push(modify.query);
        }
    }
    for query in &queries {
        for optimize in [false, true] {
            let options = PlanOptions { optimize, ..PlanOptions::default() };
            let _ = plan_query(query, &DatasetOverride::default(), &options, &Anything);
        }
    }
});
