//! Planning that nobody waits for any more: it ends soon, with a plan that is valid though of no use.

use crate::fake::Everything;
use lode_packed::{Order, Star, StarMember};
use lode_rdf::{Kind, Term, ValueId};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::{AggregateFunction, Function, PlanOptions, Statistics, parse_query, plan_query};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Says after so many questions of the planner whether to go on that it need not.
struct Stops {
    inner: Everything,
    after: usize,
    /// How often it was asked whether to go on.
    asked: Cell<usize>,
    /// What else was asked since it said no.
    late: Cell<usize>,
}

impl Stops {
    fn new(after: usize) -> Self {
        Self { inner: Everything::default(), after, asked: Cell::new(0), late: Cell::new(0) }
    }

    fn data(&self) -> &Everything {
        if self.asked.get() > self.after {
            self.late.set(self.late.get() + 1);
        }
        &self.inner
    }
}

impl Statistics for Stops {
    fn function(&self, name: &str) -> Option<&'static Function> {
        self.inner.function(name)
    }

    fn aggregate(&self, name: &str) -> Option<&'static AggregateFunction> {
        self.inner.aggregate(name)
    }

    fn id_of(&self, term: &Term) -> Option<ValueId> {
        self.data().id_of(term)
    }

    fn count(&self, order: Order, prefix: &[ValueId]) -> u64 {
        self.data().count(order, prefix)
    }

    fn count_between(&self, order: Order, prefix: &[ValueId], values: &Range<ValueId>) -> u64 {
        self.data().count_between(order, prefix, values)
    }

    fn ids_with_prefix(&self, kind: Kind, start: &str) -> Option<Range<ValueId>> {
        self.data().ids_with_prefix(kind, start)
    }

    fn distinct(&self, order: Order, prefix: &[ValueId]) -> u64 {
        self.data().distinct(order, prefix)
    }

    fn star(&self, members: &[StarMember]) -> Option<Arc<Star>> {
        self.data().star(members)
    }

    fn quad_count(&self) -> u64 {
        self.inner.quad_count()
    }

    fn has_named_graphs(&self) -> bool {
        self.inner.has_named_graphs()
    }

    fn is_cancelled(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.asked.get() > self.after
    }
}

fn queries() -> Vec<String> {
    let chain =
        |n: usize| (0..n).map(|i| format!("?v{i} <http://e/p{i}> ?v{} . ", i + 1)).collect::<String>();
    let star: String = (0..60).map(|i| format!("?s <http://e/p{}> ?o{i} . ", i % 5)).collect();
    let filters: String = (1..40).map(|i| format!("FILTER(?v{i} = <http://e/{i}>) ")).collect();
    let union: String = (0..20).map(|i| format!("{{ ?v0 <http://e/a{i}> ?w }} UNION ")).collect();
    let optionals: String = (0..100).map(|i| format!("OPTIONAL {{ ?v0 <http://e/o{i}> ?o{i} }} ")).collect();
    let list: String = (0..5_000).map(|i| format!(", {i}")).collect();
    vec![
        format!("SELECT * {{ {} }}", chain(200)),
        format!("SELECT * {{ {} }}", chain(900)),
        format!("SELECT * {{ {} {optionals} }}", chain(2)),
        format!("SELECT * {{ {} FILTER(?v1 IN (1{list})) }}", chain(20)),
        format!("SELECT ?v0 (COUNT(*) AS ?n) {{ {} }} GROUP BY ?v0", chain(12)),
        format!("SELECT * {{ {star} }}"),
        format!("SELECT * {{ {} {filters} }}", chain(60)),
        format!("SELECT * {{ {union} {{ {} OPTIONAL {{ {star} }} }} }}", chain(8)),
    ]
}

#[test]
fn planning_stops_when_asked_to() {
    for query in queries() {
        let parsed = parse_query(&query, None).expect("a query");
        let plan = |stops: &Stops| {
            plan_query(&parsed, &DatasetOverride::default(), &PlanOptions::default(), stops).expect("a plan")
        };
        let whole = Stops::new(usize::MAX);
        plan(&whole);
        let asked = whole.asked.get();
        assert!(asked > 10, "{query}");
        for after in (0..asked).step_by(asked.div_ceil(25)) {
            let stops = Stops::new(after);
            // The plan is checked where it is made.
            plan(&stops);
            // One more question for each part of the query at most, and none of the data for each pair or subset of them.
            let parts = query.matches("<http://e/").count().max(400);
            assert!(stops.asked.get() - after <= parts, "{after} of {asked}: {} {query}", stops.asked.get());
            assert!(stops.late.get() <= 2_000, "{after} of {asked}: {} {query}", stops.late.get());
        }
    }
}
