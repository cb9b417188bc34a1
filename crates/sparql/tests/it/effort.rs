//! Queries whose plans could be many: planning ends.

use crate::shop::{NS, shop};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::{PlanOptions, parse_query, plan_query};

#[test]
fn nested_groups_are_planned_once_each() {
    let mut query = "SELECT (COUNT(DISTINCT ?p) AS ?n0) { ?x :producer ?p }".to_owned();
    for depth in 1..28 {
        query =
            format!("SELECT (COUNT(DISTINCT ?n{}) AS ?n{depth}) {{ {{ {query} }} ?y :label ?l }}", depth - 1);
    }
    let query = parse_query(&format!("PREFIX : <{NS}>\n{query}"), None).expect("a query");
    plan_query(&query, &DatasetOverride::default(), &PlanOptions::default(), shop()).expect("a plan");
}
