//! Common sub-plans: what is the same up to the names of variables, and what is not.

use crate::shop::{NS, shop};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::{Plan, PlanNode, PlanOp, PlanOptions, parse_query, plan_query, validate};

fn plan(query: &str, spools_always: bool) -> Plan {
    let query = parse_query(&format!("PREFIX : <{NS}>\n{query}"), None).expect("a query");
    let options = PlanOptions { spools_always, ..PlanOptions::default() };
    let plan = plan_query(&query, &DatasetOverride::default(), &options, shop()).expect("a plan");
    validate::validate(&plan).expect("a valid plan");
    plan
}

/// How many readers each common sub-plan has.
fn readers(query: &str) -> Vec<usize> {
    fn visit(node: &PlanNode, found: &mut Vec<usize>) {
        if let PlanOp::Spool { number, .. } = &node.op {
            let number = *number as usize;
            if found.len() <= number {
                found.resize(number + 1, 0);
            }
            found[number] += 1;
        }
        node.children().into_iter().for_each(|child| visit(child, found));
    }
    let mut found = Vec::new();
    visit(&plan(query, true).root, &mut found);
    found
}

const ONCE: [usize; 0] = [];

#[test]
fn names_of_variables_do_not_matter() {
    let query = "SELECT ?v ?n ?m {
        { SELECT ?v (COUNT(*) AS ?n) { ?o :vendor ?v ; :product ?p . ?p :type :Type4 } GROUP BY ?v }
        { SELECT ?v (MAX(?b) AS ?m) { ?a :product ?c . ?c :type :Type4 ; :rank ?b . ?a :vendor ?v } GROUP BY ?v } }";
    assert_eq!(readers(query), [2]);
}

#[test]
fn constants_and_conditions_do() {
    let pair = |other: &str| {
        format!(
            "SELECT ?v ?n ?m {{
            {{ SELECT ?v (COUNT(*) AS ?n) {{ ?o :vendor ?v ; :price ?p FILTER(?p < 9) }} GROUP BY ?v }}
            {{ SELECT ?v (COUNT(*) AS ?m) {{ {other} }} GROUP BY ?v }} }}"
        )
    };
    assert_eq!(readers(&pair("?a :price ?b FILTER(?b < 9) ?a :vendor ?v")), [2]);
    // What only one has is checked where it has it.
    assert_eq!(readers(&pair("?a :price ?b FILTER(?b < 8) ?a :vendor ?v")), [2]);
    assert_eq!(readers(&pair("?a :price ?b FILTER(?b < 9) ?v :vendor ?a")), ONCE);
    assert_eq!(readers(&pair("?a :price ?b FILTER(?b < 9) ?a :vendor :vendor3 . ?v :rank ?b")), ONCE);
}

#[test]
fn conditions_on_what_may_be_unbound_stay_outside() {
    // In the common part ?x is bound in half of the rows, in each place in all.
    let common =
        "{ ?p :rank ?x } UNION { ?p :note ?y } ?p :producer ?m ; :type ?t FILTER(COALESCE(?x > 3, true))";
    let (offer, review) = ("?o :product ?p ; :price ?x", "?o :reviewFor ?p ; :rating ?x");
    let query = format!("SELECT * {{ {{ {common} {offer} }} UNION {{ {common} {review} }} }}");
    assert_eq!(readers(&query), [2]);
    let is_coalesce = |node: &&PlanNode| matches!(&node.op, PlanOp::Filter { exprs, .. } if format!("{exprs:?}").contains("Coalesce"));
    fn all(node: &PlanNode) -> Vec<&PlanNode> {
        std::iter::once(node).chain(node.children().into_iter().flat_map(all)).collect()
    }
    let plan = plan(&query, true);
    assert_eq!(all(&plan.root).iter().filter(|node| is_coalesce(node)).count(), 2);
}

#[test]
fn what_is_joined_stays_joined() {
    // Here the price is one variable, there two: neither is the other.
    let query = "SELECT ?n ?m {
        { SELECT (COUNT(*) AS ?n) { ?o :price ?x . ?p :rank ?x } }
        { SELECT (COUNT(*) AS ?m) { ?o :price ?x . ?o :rank ?y } } }";
    assert_eq!(readers(query), ONCE);
}

#[test]
fn chance_and_new_nodes_are_made_anew() {
    for made in ["RAND()", "UUID()", "STRUUID()", "BNODE()"] {
        let query = format!(
            "SELECT * {{
            {{ SELECT DISTINCT ?a ?x {{ ?o :vendor ?a ; :price ?p . BIND({made} AS ?x) }} }}
            {{ SELECT DISTINCT ?b ?y {{ ?o :vendor ?b ; :price ?p . BIND({made} AS ?y) }} }} }}"
        );
        let found = plan(&query, true);
        fn below(node: &PlanNode, in_spool: bool) -> bool {
            let inside = in_spool || matches!(node.op, PlanOp::Spool { .. });
            let own = in_spool && matches!(node.op, PlanOp::Extend { .. });
            own || node.children().into_iter().any(|child| below(child, inside))
        }
        assert!(!below(&found.root, false), "{made}");
    }
    let now = "SELECT * {
        { SELECT DISTINCT ?a ?x { ?o :vendor ?a ; :price ?p . BIND(YEAR(NOW()) AS ?x) } }
        { SELECT DISTINCT ?b ?y { ?o :vendor ?b ; :price ?p . BIND(YEAR(NOW()) AS ?y) } } }";
    assert_eq!(readers(now), [2]);
}

#[test]
fn not_where_a_few_rows_are_wanted() {
    let both = "{ ?o :vendor ?v ; :price ?p } UNION { ?a :vendor ?b ; :price ?c }";
    assert_eq!(readers(&format!("SELECT * {{ {both} }} LIMIT 3")), ONCE);
    assert_eq!(readers(&format!("ASK {{ {both} }}")), ONCE);
    assert_eq!(readers(&format!("SELECT * {{ {both} }} ORDER BY ?p LIMIT 3")), [2]);
}

#[test]
fn a_common_part_of_common_parts() {
    let query = "SELECT * {
        { SELECT ?v (COUNT(*) AS ?n) { ?o :vendor ?v ; :product ?p ; :price ?x } GROUP BY ?v }
        { SELECT ?p (AVG(?x) AS ?m) { ?o :vendor ?v ; :product ?p ; :price ?x } GROUP BY ?p }
        { SELECT ?v (MIN(?p) AS ?l) { ?o :vendor ?v ; :product ?p } GROUP BY ?v } }";
    let found = readers(query);
    assert_eq!(found.iter().sum::<usize>(), 4, "{found:?}");
}

#[test]
fn cheap_queries_stay_as_they_are() {
    let query = "SELECT * { { ?p :type :Type4 ; :rank ?r } UNION { ?p :type :Type4 ; :rank ?r } }";
    let found = plan(query, false);
    assert!(!format!("{:?}", found.root).contains("Spool"));
}

#[test]
fn the_order_of_the_query_is_kept() {
    let rows = "SELECT DISTINCT ?v ?p { ?o :vendor ?v ; :price ?p } ORDER BY ?p";
    let query = format!("{} {{ {{ {rows} }} UNION {{ {rows} }} }}", "SELECT DISTINCT ?v ?p");
    let found = plan(&format!("{query} ORDER BY ?p"), true);
    fn sorted_above(node: &PlanNode) -> bool {
        match &node.op {
            PlanOp::Sort { .. } => true,
            PlanOp::Spool { .. } => false,
            _ => node.children().first().is_some_and(|child| sorted_above(child)),
        }
    }
    assert!(sorted_above(&found.root));
}
