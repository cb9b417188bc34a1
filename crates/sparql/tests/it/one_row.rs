//! Patterns of one row each that a condition compares with each other and with a pattern of more rows: there is a plan, however they are
//! joined.

use crate::fake::Quads;
use lode_rdf::{NamedNode, Term};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::{PlanOptions, explain, parse_query, plan_query, validate};

fn iri(name: &str) -> Term {
    NamedNode::new_unchecked(format!("http://g/{name}")).into()
}

/// `FILTER` over the objects of `ones` patterns of one row and of one with two rows.
fn plan(ones: usize, joins_multiway: bool) -> String {
    let mut quads: Vec<_> =
        (0..ones).map(|n| (iri(&format!("s{n}")), iri(&format!("p{n}")), iri("o"), None)).collect();
    quads.push((iri("s"), iri("two"), iri("o"), None));
    quads.push((iri("t"), iri("two"), iri("o"), None));
    let stats = Quads::new(&quads);
    let patterns: String = (0..ones).map(|n| format!("?s{n} <http://g/p{n}> ?o{n} . ")).collect();
    let names: Vec<String> = (0..ones).map(|n| format!("STR(?o{n})")).collect();
    let text = format!(
        "SELECT * {{ {patterns} ?s <http://g/two> ?o FILTER(CONCAT({}, STR(?o)) != '') }}",
        names.join(", ")
    );
    let query = parse_query(&text, None).expect("a query");
    let options = PlanOptions { joins_multiway, ..PlanOptions::default() };
    let plan = plan_query(&query, &DatasetOverride::default(), &options, &stats).expect("a plan");
    validate::validate(&plan).expect("a valid plan");
    explain(&plan, &|id| stats.text(id)).to_text(&|_| String::new())
}

#[test]
fn several_of_them_are_joined_with_more_rows() {
    // Few are joined by search, many each time where the join is smallest.
    for ones in [2, 3, 7, 11, 14, 40] {
        for joins_multiway in [false, true] {
            let found = plan(ones, joins_multiway);
            assert_eq!(found.matches("<http://g/p").count(), ones, "{found}");
            assert_eq!(found.matches("<http://g/two>").count(), 1, "{found}");
            assert_eq!(found.matches("Filter").count(), 1, "{found}");
        }
    }
}
