//! Scopes: which occurrences of a name are one variable, where filters may go, how EXISTS and GRAPH are planned.

use crate::fake::Quads;
use crate::shop::{NS, shop};
use lode_rdf::{NamedNode, Term};
use lode_sparql::plan::{DatasetOverride, SubPattern};
use lode_sparql::{
    Expr, Plan, PlanNode, PlanOp, PlanOptions, VarId, explain, parse_query, plan_dependent, plan_query,
    plan_sub, validate,
};
use std::sync::Arc;

fn plan(text: &str, optimize: bool, stats: &Quads) -> Plan {
    let query = parse_query(&format!("PREFIX : <{NS}>\n{text}"), None).expect("a query");
    let options = PlanOptions { optimize, ..PlanOptions::default() };
    let plan = plan_query(&query, &DatasetOverride::default(), &options, stats).expect("a plan");
    validate::validate(&plan).expect("a valid plan");
    plan
}

fn text(plan: &Plan, stats: &Quads) -> String {
    explain(plan, &|id| stats.text(id)).to_text(&|_| String::new()).replace(NS, ":")
}

fn both(query: &str) -> [String; 2] {
    let stats = shop();
    [true, false].map(|optimize| text(&plan(query, optimize, stats), stats))
}

fn find<'a>(node: &'a PlanNode, wanted: &dyn Fn(&PlanOp) -> bool) -> Option<&'a PlanNode> {
    if wanted(&node.op) {
        return Some(node);
    }
    node.children().into_iter().find_map(|c| find(c, wanted))
}

fn iri(name: &str) -> Term {
    NamedNode::new_unchecked(format!("{NS}{name}")).into()
}

#[test]
fn a_hidden_variable_is_another_one() {
    // ?k inside is not ?k outside: nothing to join on.
    for text in both("SELECT * { ?y :rank ?k { SELECT ?x { ?x :price ?k } } }") {
        assert!(text.contains("LoopJoin inner"), "{text}");
    }
    for text in both("SELECT * { ?x :rank ?k { SELECT ?x ?k { ?x :price ?k } } }") {
        assert!(text.contains("on ?x ?k") || text.contains("on ?k ?x"), "{text}");
    }
}

#[test]
fn aggregated_variables_are_not_visible() {
    for text in both("SELECT (COUNT(?x) AS ?n) { ?x :rank ?k } ORDER BY ?k") {
        assert!(text.contains("Sort error"), "{text}");
    }
}

#[test]
fn a_filter_sees_its_group_only() {
    for text in both("SELECT * { ?x :rank ?k { ?x :note ?n FILTER(?k = 1) } }") {
        assert!(text.contains("Empty") || text.contains("Filter error"), "{text}");
    }
}

#[test]
fn an_optional_condition_sees_both_sides() {
    for text in both("SELECT * { ?x :rank ?k OPTIONAL { ?x :note ?n FILTER(?k > 1) } }") {
        assert!(text.contains("left on ?x where ?k >"), "{text}");
    }
}

#[test]
fn a_filter_stays_above_the_optional_that_binds_its_variable() {
    let [text, _] =
        both("SELECT * { ?x :rank ?k OPTIONAL { ?x :note ?n } FILTER(!BOUND(?n) || ?n = \"a\") }");
    assert!(text.find("Filter") < text.find("left on ?x"), "{text}");
}

#[test]
fn a_filter_that_needs_a_value_makes_an_optional_a_join() {
    let [text, _] = both("SELECT * { ?x :rank ?k OPTIONAL { ?x :note ?n } FILTER(?n > \"a\") }");
    assert!(!text.contains("left on"), "{text}");
}

#[test]
fn possibly_unbound_variables_are_joined_by_compatibility() {
    for text in both("SELECT * { ?x :rank ?k OPTIONAL { ?x :note ?n } ?y :label ?n }") {
        assert!(text.contains("maybe ?n"), "{text}");
    }
}

#[test]
fn exists_of_a_limited_sub_query_is_evaluated_by_substitution() {
    let stats = shop();
    let plan =
        plan("SELECT ?x { ?x :rank ?k FILTER EXISTS { SELECT ?x { ?x :note ?k } LIMIT 1 } }", true, stats);
    let filter = find(&plan.root, &|op| matches!(op, PlanOp::Filter { .. })).expect("a filter");
    let PlanOp::Filter { exprs, .. } = &filter.op else { panic!("no filter") };
    let Some(Expr::Exists(sub)) = exprs.first() else { panic!("{exprs:?}") };
    let x = *sub.scope.get("x").expect("?x is shared");
    let inner =
        plan_sub(sub, &[(x, iri("product3"))], &plan.vars, &PlanOptions::default(), stats).expect("a plan");
    validate::validate(&inner).expect("valid");
    let shown = text(&inner, stats);
    assert!(shown.contains(":product3"), "{shown}");
    // Hidden by the projection: not replaced, whatever its binding outside.
    let k = sub.scope.get("k").copied();
    let bindings: Vec<(VarId, Term)> = k.into_iter().map(|k| (k, iri("nothing"))).collect();
    let inner = plan_sub(sub, &bindings, &plan.vars, &PlanOptions::default(), stats).expect("a plan");
    assert!(!text(&inner, stats).contains("Empty"));
}

#[test]
fn nested_exists_keeps_what_the_outer_one_replaced() {
    let stats = shop();
    let query = "SELECT ?x { ?x :rank ?k FILTER EXISTS { ?r :reviewFor ?x OPTIONAL { ?r :rating ?g } FILTER(?g > 3 || EXISTS { ?x :note ?n }) } }";
    let plan = plan(query, false, stats);
    let filter = find(&plan.root, &|op| matches!(op, PlanOp::Filter { .. })).expect("a filter");
    let PlanOp::Filter { exprs, .. } = &filter.op else { panic!("no filter") };
    let Some(Expr::Exists(sub)) = exprs.first() else { panic!("{exprs:?}") };
    let x = *sub.scope.get("x").expect("?x is shared");
    let options = PlanOptions { optimize: false, ..PlanOptions::default() };
    let inner = plan_sub(sub, &[(x, iri("product3"))], &plan.vars, &options, stats).expect("a plan");
    let filter = find(&inner.root, &|op| matches!(op, PlanOp::Filter { .. })).expect("a filter");
    let PlanOp::Filter { exprs, .. } = &filter.op else { panic!("no filter") };
    let nested = exists_in(exprs).expect("an EXISTS");
    assert_eq!(nested.constants.get("x"), Some(&iri("product3")));
    let innermost = plan_sub(&nested, &[], &inner.vars, &options, stats).expect("a plan");
    assert!(text(&innermost, stats).contains(":product3"));
}

fn exists_in(exprs: &[Expr]) -> Option<Arc<SubPattern>> {
    exprs.iter().find_map(|e| match e {
        Expr::Exists(sub) => Some(Arc::clone(sub)),
        Expr::Or(parts) | Expr::And(parts) => exists_in(parts),
        _ => None,
    })
}

#[test]
fn a_graph_variable_goes_into_patterns_only_where_that_is_the_same() {
    for text in both("SELECT * { GRAPH ?g { ?a :link0 ?b OPTIONAL { ?b :link1 ?c } } }") {
        assert!(!text.contains("ForEachGraph"), "{text}");
        assert!(text.contains("left on ?b ?g") || text.contains("left on ?g ?b"), "{text}");
    }
    for text in both("SELECT * { GRAPH ?g { ?a :link0* ?b } }") {
        assert!(!text.contains("ForEachGraph") && text.contains("in graph ?g"), "{text}");
    }
    for text in both("SELECT * { GRAPH ?g { ?a :link0 ?b SERVICE :elsewhere { ?b :link1 ?c } } }") {
        assert!(text.contains("ForEachGraph"), "{text}");
    }
}

#[test]
fn a_graph_variable_is_a_key_of_what_does_not_distribute() {
    for (inner, shows) in [
        ("?a :link0 ?b FILTER(?g = :graphA)", ["Extend ?g := ?.graph", "error = <:graphA>"]),
        ("SELECT ?a { ?a :link0 ?b } LIMIT 1", ["LimitBy offset 0 limit 1 for each ?g", "in graph ?g"]),
        ("SELECT ?a { ?a :link0 ?b } ORDER BY ?b OFFSET 2", ["LimitBy offset 2 for each ?g", "Sort ?b"]),
        ("SELECT (COUNT(*) AS ?n) { ?a :link0 ?b }", ["Group by ?g", "GraphNames ?g"]),
        ("?a :link0 ?b MINUS { ?a :link1 ?d }", ["on ?g ?a", "in graph ?g"]),
        ("?a :link0 ?b FILTER EXISTS { ?b :link1 ?c }", ["in graph ?g", "?b"]),
        ("?a :link0 ?b BIND(?a AS ?g)", ["?.graph", "on ?g"]),
    ] {
        let query = format!("SELECT * {{ GRAPH ?g {{ {inner} }} }}");
        if parse_query(&format!("PREFIX : <{NS}> {query}"), None).is_err() {
            continue;
        }
        for text in both(&query) {
            assert!(!text.contains("ForEachGraph"), "{inner}\n{text}");
            assert!(shows.iter().all(|part| text.contains(part)), "{inner}\n{text}");
        }
    }
    for text in both("SELECT * { GRAPH ?g { ?a :link0 ?b MINUS { ?c :link1 ?d } } }") {
        assert!(!text.contains("anti") && !text.contains("minus"), "nothing in common but the graph: {text}");
    }
}

/// The plan of the EXISTS in the plan of a query, for bindings of these variables.
fn dependent(query: &str, params: &[&str]) -> Option<String> {
    let stats = shop();
    let outer = plan(query, true, stats);
    let filter = find(&outer.root, &|op| matches!(op, PlanOp::Filter { .. })).expect("a filter");
    let PlanOp::Filter { exprs, .. } = &filter.op else { panic!("no filter") };
    let sub = exists_in(exprs).expect("an EXISTS");
    let params: Vec<_> = params.iter().map(|name| *sub.scope.get(*name).expect("shared")).collect();
    let options = PlanOptions::default();
    let inner = plan_dependent(&sub, &params, 100, &outer.vars, &options, stats).expect("a plan")?;
    validate::validate(&inner).expect("valid");
    assert_eq!(inner.root.vars.len(), params.len());
    Some(text(&inner, stats))
}

#[test]
fn an_exists_with_a_path_in_each_graph_is_a_semi_join() {
    let stats = shop();
    for exists in ["EXISTS", "NOT EXISTS"] {
        let query = format!("SELECT * {{ GRAPH ?g {{ ?x :link0 ?y FILTER {exists} {{ ?y :link1+ ?z }} }} }}");
        let shown = text(&plan(&query, true, stats), stats);
        assert!(shown.contains(if exists == "EXISTS" { " semi " } else { " anti " }), "{shown}");
        assert!(!shown.contains("Filter"), "{shown}");
    }
}

#[test]
fn an_exists_is_planned_for_all_rows_at_once() {
    let outer = "SELECT ?x { ?x :rank ?k FILTER(?k > 9 || EXISTS ";
    for (inner, shows) in [
        ("{ ?r :reviewFor ?x }", vec!["Domain ?x", "semi on ?x"]),
        ("{ ?r :reviewFor ?x ; :rating ?g . FILTER(?g > ?k) }", vec!["Domain ?x ?k", "?g > ?k"]),
        ("{ ?r :reviewFor ?x { ?r :rating ?g FILTER(?g > ?k) } }", vec!["Domain ?x ?k", "?g > ?k"]),
        (
            "{ { SELECT ?x (COUNT(*) AS ?n) { ?r :reviewFor ?x } GROUP BY ?x } FILTER(?n > ?k) }",
            vec!["by ?x"],
        ),
        (
            "{ SELECT ?x { ?r :reviewFor ?x } ORDER BY ?r LIMIT 1 }",
            vec!["LimitBy offset 0 limit 1 for each ?x"],
        ),
        ("{ ?x :link0* ?y . ?y :note ?n }", vec!["Domain ?x", "?y := ?x", "<:link0>+"]),
        ("{ { ?r :reviewFor ?x } UNION { ?a :link0 ?k } }", vec!["Domain ?x ?k", "Union"]),
        (
            "{ ?r :reviewFor ?x OPTIONAL { ?r :rating ?g FILTER(?g > ?k) } FILTER(!BOUND(?g)) }",
            vec!["Domain ?x ?k", "left on ?r"],
        ),
        ("{ ?r :reviewFor ?x FILTER(?x = ?k || EXISTS { ?r :rating ?k }) }", vec!["EXISTS { dependent on"]),
        ("{ ?r :reviewFor ?x . ?a :link0 ?b }", vec!["semi on ?x", "limit 1"]),
    ] {
        let params: Vec<&str> = ["k", "x"].into_iter().filter(|v| inner.contains(&format!("?{v}"))).collect();
        let text = dependent(&format!("{outer} {inner}) }}"), &params).expect("one plan for all");
        assert!(shows.iter().all(|part| text.contains(part)), "{inner}\n{text}");
    }
    let remote = format!("{outer} {{ SERVICE <http://example.org/> {{ ?x ?p ?k }} }}) }}");
    assert_eq!(dependent(&remote, &["k", "x"]), None);
}

#[test]
fn datasets_follow_the_specification() {
    let [text, _] = both("SELECT * FROM NAMED :graphA { ?s :label ?o }");
    assert!(text.contains("Empty"), "no default graph: {text}");
    let [text, _] = both("SELECT * FROM :graphA { GRAPH ?g { ?s :link0 ?o } }");
    assert!(text.contains("Empty"), "no named graphs: {text}");
    let [text, _] = both("SELECT * FROM NAMED :graphA { GRAPH ?g { ?s :link0 ?o } }");
    assert!(text.contains("in graph ?g of 1"), "{text}");
    let [text, _] = both("SELECT * FROM :nowhere { ?s ?p ?o }");
    assert!(text.contains("Empty"), "{text}");
    let [text, _] = both("SELECT * { GRAPH :nowhere { BIND(1 AS ?x) } }");
    assert!(text.contains("Empty"), "a graph that is not there: {text}");
}

#[test]
fn the_protocol_replaces_the_querys_dataset() {
    let stats = shop();
    let query =
        parse_query(&format!("PREFIX : <{NS}> SELECT * FROM :graphA {{ ?s ?p ?o }}"), None).expect("a query");
    let given = DatasetOverride {
        default: vec![NamedNode::new_unchecked(format!("{NS}graphB"))],
        named: Vec::new(),
        ..DatasetOverride::default()
    };
    let plan = plan_query(&query, &given, &PlanOptions::default(), stats).expect("a plan");
    assert!(text(&plan, stats).contains("in graph <:graphB>"));
}

#[test]
fn unneeded_columns_are_not_read() {
    let [text, _] = both("SELECT ?x { ?x :rank ?k . ?o :product ?x ; :price ?p }");
    assert!(text.contains("{ ?x <:rank> * }") && text.contains("{ ?o <:price> * }"), "{text}");
}

#[test]
fn deep_and_wide_patterns_are_planned() {
    let stats = shop();
    let deep = format!("SELECT * {{ ?x :rank ?k {} }}", "OPTIONAL { ?x :note ?n } ".repeat(500));
    let query = parse_query(&format!("PREFIX : <{NS}> {deep}"), None).expect("a query");
    assert!(plan_query(&query, &DatasetOverride::default(), &PlanOptions::default(), stats).is_ok());
    let patterns: Vec<String> = (0..400).map(|i| format!("?x{i} :knows ?x{}", i + 1)).collect();
    let wide = plan(&format!("SELECT * {{ {} }}", patterns.join(" . ")), true, stats);
    assert!(wide.node_count > 400);
    let branches = vec!["{ ?x :rank 1 }"; 1_000].join(" UNION ");
    plan(&format!("SELECT * {{ {branches} }}"), true, stats);
    let conditions: Vec<String> = (0..2_000).map(|i| format!("?k = {i}")).collect();
    plan(&format!("SELECT * {{ ?x :rank ?k FILTER({}) }}", conditions.join(" || ")), true, stats);
}

#[test]
fn nesting_up_to_the_limits_fits_the_stack() {
    let stats = shop();
    let nested = |open: &str, close: &str, n: usize| {
        format!("SELECT * {{ ?x :rank ?k {} {} }}", open.repeat(n), close.repeat(n))
    };
    let binds: String = (0..2_000).map(|i| format!("BIND(?k + {i} AS ?b{i}) ")).collect();
    for query in [
        format!("SELECT * {{ ?x :rank ?k {} }}", "OPTIONAL { ?x :note ?n } ".repeat(2_000)),
        format!("SELECT * {{ ?x :rank ?k {binds} }}"),
        nested("OPTIONAL { ?x :note ?n ", "}", 400),
        nested("FILTER EXISTS { ?x :note ?n ", "}", 400),
        nested("MINUS { ?x :note ?n FILTER(?n > 1) ", "}", 400),
        nested("{ SELECT ?x { ?x :note ?n ", "} }", 300),
        nested("{ SELECT ?x (COUNT(*) AS ?c) { ?x :note ?n ", "} GROUP BY ?x }", 300),
        format!("SELECT * {{ ?x :rank ?k FILTER({}?k) }}", "?k + ".repeat(2_000)),
    ] {
        for optimize in [true, false] {
            plan(&query, optimize, stats);
        }
    }
}

#[test]
fn too_many_patterns_in_one_join_are_refused() {
    let stats = shop();
    let error = |patterns: &str| {
        let query = parse_query(&format!("PREFIX : <{NS}> ASK {{ {patterns} }}"), None).expect("a query");
        let planned = plan_query(&query, &DatasetOverride::default(), &PlanOptions::default(), stats);
        planned.err().map(|error| error.to_string())
    };
    let each =
        |n: usize, from: usize| (0..n).map(|i| format!("?x{} :knows ?y . ", from + i)).collect::<String>();
    assert_eq!(error(&each(1_000, 0)), None);
    assert!(error(&each(1_001, 0)).expect("too many").contains("1001 patterns"));
    // Also where they come together only when the query is rewritten.
    let together = format!("{} {{ SELECT * {{ {} }} }}", each(600, 0), each(600, 600));
    assert!(error(&together).expect("too many").contains("1200 patterns"));
}
