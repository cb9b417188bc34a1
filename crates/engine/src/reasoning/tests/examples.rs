//! One case of each rule, and what it must not do.

use super::{by, database, rows};
use crate::{Database, GraphPattern, GraphRules, GraphSet, QueryOptions, Reasoning, UpdateOptions};

const DATA: &str = "INSERT DATA {
    :Cat rdfs:subClassOf :Mammal . :Mammal rdfs:subClassOf :Animal . :Animal owl:equivalentClass :Beast .
    :owns rdfs:subPropertyOf :has ; rdfs:domain :Person ; rdfs:range :Thing .
    :has owl:inverseOf :of . :near a owl:SymmetricProperty . :in a owl:TransitiveProperty .
    :Pet owl:intersectionOf (:Animal :Tame) .
    :tom a :Cat , :Animal . :rex a :Pet . :ann :owns :tom , 7 . :bob :has :house .
    :a :near :b . :x :in :y . :y :in :z .
}";

fn found(rules: &str, query: &str) -> String {
    rows(&database(DATA), query, &by(rules)).join(", ")
}

#[test]
fn classes() {
    assert_eq!(found("hierarchies", "SELECT ?x { ?x a :Animal }"), "<:rex>, <:tom>");
    assert_eq!(found("hierarchies", "SELECT ?x { ?x a :Beast }"), "<:rex>, <:tom>", "equivalent");
    assert_eq!(found("hierarchies", "SELECT ?x { ?x a :Tame }"), "<:rex>", "a member of an intersection");
    assert_eq!(
        found("hierarchies", "SELECT (COUNT(*) AS ?n) { :tom a :Mammal }"),
        r#""1"^^<http://www.w3.org/2001/XMLSchema#integer>"#
    );
    assert_eq!(
        found("hierarchies", "SELECT ?c { :tom a ?c }"),
        "<:Animal>, <:Beast>, <:Cat>, <:Mammal>",
        "what is stated and follows is there once"
    );
    assert_eq!(found("none", "SELECT ?x { ?x a :Mammal }"), "");
    assert_eq!(
        found("hierarchies", "SELECT ?c { :Cat rdfs:subClassOf ?c }"),
        "<:Animal>, <:Beast>, <:Mammal>"
    );
}

#[test]
fn properties() {
    assert_eq!(found("hierarchies", "SELECT ?y { ?x :has ?y }").matches("tom").count(), 1);
    assert_eq!(
        found("rdfs-plus", "SELECT ?x ?y { ?x :of ?y }"),
        "<:house> <:bob>, <:tom> <:ann>",
        "not of 7"
    );
    assert_eq!(found("rdfs", "SELECT ?x { ?x :of ?y }"), "", "only by the rules that are asked for");
    assert_eq!(found("symmetric", "SELECT ?x ?y { ?x :near ?y }"), "<:a> <:b>, <:b> <:a>");
    assert_eq!(found("transitive", "SELECT ?y { :x :in ?y }"), "<:y>, <:z>");
    assert_eq!(found("transitive", "SELECT ?x { ?x :in :z }"), "<:x>, <:y>");
    assert_eq!(found("subproperty", "SELECT ?p { :ann ?p :tom }"), "<:has>, <:owns>");
    assert_eq!(found("rdfs-plus", "SELECT ?p { :tom ?p :ann }"), "<:of>");
}

#[test]
fn domains_and_ranges() {
    assert_eq!(found("rdfs", "SELECT ?x { ?x a :Person }"), "<:ann>");
    assert_eq!(found("rdfs", "SELECT ?x { ?x a :Thing }"), "<:tom>", "literals are no subjects");
    for pattern in [
        "7 a ?c",
        "?c ^a 7",
        "7 a+ ?c",
        "7 ?p ?c",
        "7 !:p ?c",
        "7 ^!^:p ?c",
        "7 :of ?c",
        "?c ^:of 7",
        "7 a|:of ?c",
    ] {
        let told = format!("{pattern}: literals are no subjects where they are written, either");
        assert_eq!(found("rdfs-plus", &format!("SELECT ?c {{ {pattern} }}")), "", "{told}");
    }
    let none = found("rdfs-plus", "SELECT (COUNT(*) AS ?n) { { 7 a :Thing } UNION { 7 :of :ann } }");
    assert!(none.starts_with("\"0\""), "{none}");
    assert_eq!(
        found("rdfs-plus", "SELECT ?x { 7 ^:has ?x }"),
        "<:ann>",
        "what is stated is found from both ends"
    );
    assert_eq!(found("hierarchies", "SELECT ?x { ?x a :Person }"), "");
}

#[test]
fn in_every_part_of_a_query() {
    assert_eq!(found("rdfs", "SELECT ?x { ?x :owns ?y FILTER NOT EXISTS { ?y a :Animal } }"), "<:ann>");
    assert_eq!(found("rdfs", "SELECT ?x { ?x a :Tame FILTER EXISTS { ?x a :Beast } }"), "<:rex>");
    assert_eq!(
        found("rdfs", "SELECT ?x ?y { VALUES ?x { :ann :bob } OPTIONAL { ?x :has ?y . ?y a :Animal } }"),
        "<:ann> <:tom>, <:bob> -"
    );
    assert_eq!(found("rdfs", "SELECT ?y { :ann (:has|:none)+ ?y FILTER(isIRI(?y)) }"), "<:tom>");
    assert_eq!(
        found("rdfs", "SELECT ?y { :ann :has/a ?y }"),
        "<:Animal>, <:Beast>, <:Cat>, <:Mammal>, <:Thing>"
    );
    assert_eq!(found("rdfs", "SELECT ?x { { SELECT ?x { ?x a :Animal } ORDER BY ?x LIMIT 1 } }"), "<:rex>");
    assert_eq!(found("rdfs", "SELECT ?x { :ann !:owns ?x FILTER(isIRI(?x)) }"), "<:Person>, <:tom>");
}

#[test]
fn graphs_keep_what_follows_from_them_and_share_the_schema() {
    let database = database(
        "INSERT DATA { GRAPH :schema { :Cat rdfs:subClassOf :Animal } GRAPH :g { :tom a :Cat } GRAPH :h { :tom a :Animal } :kit a :Cat }",
    );
    let all = by("rdfs");
    assert_eq!(rows(&database, "SELECT ?x { ?x a :Animal }", &all), ["<:kit>"]);
    assert_eq!(
        rows(&database, "SELECT ?g ?x { GRAPH ?g { ?x a :Animal } }", &all),
        ["<:g> <:tom>", "<:h> <:tom>"]
    );
    assert_eq!(rows(&database, "SELECT ?x FROM :g FROM :h { ?x a :Animal }", &all), ["<:tom>"]);
    let elsewhere = lode_rdf::NamedNode::new("http://e/g").unwrap();
    let reasoning = Reasoning { graphs: vec![elsewhere], ..all.reasoning.clone().unwrap() };
    let options = QueryOptions { reasoning: Some(reasoning), ..QueryOptions::default() };
    assert_eq!(
        rows(&database, "SELECT ?x { ?x a :Animal }", &options).len(),
        0,
        "the schema is not in that graph"
    );
}

#[test]
fn a_schema_that_one_may_not_read_says_nothing() {
    let database =
        database("INSERT DATA { GRAPH :schema { :Cat rdfs:subClassOf :Animal } GRAPH :g { :tom a :Cat } }");
    let read = GraphSet::of([GraphPattern::Name("http://e/g".to_owned())]);
    let graphs = GraphRules { read, write: GraphSet::none() };
    let options = QueryOptions { graphs, ..by("rdfs") };
    assert_eq!(rows(&database, "SELECT ?g { GRAPH ?g { ?x a :Animal } }", &options).len(), 0);
    assert_eq!(rows(&database, "SELECT ?g { GRAPH ?g { ?x a :Animal } }", &by("rdfs")), ["<:g>"]);
}

#[test]
fn a_changed_schema_holds_for_the_next_query() {
    let database = database("INSERT DATA { :tom a :Cat }");
    let update = |text: &str| {
        let text = format!("{}{text}", super::PROLOGUE);
        database.update(&text, &UpdateOptions::default()).unwrap();
    };
    let ask = |database: &Database| rows(database, "SELECT ?x { ?x a :Animal }", &by("rdfs")).len();
    assert_eq!(ask(&database), 0);
    update("INSERT DATA { :Cat rdfs:subClassOf :Animal }");
    assert_eq!(ask(&database), 1);
    update("DELETE DATA { :Cat rdfs:subClassOf :Animal }");
    assert_eq!(ask(&database), 0);
}

#[test]
fn schemas_with_circles_and_nonsense_end() {
    let database = database(
        "INSERT DATA { :A rdfs:subClassOf :B . :B rdfs:subClassOf :A , :A , 7 , [] . :p rdfs:subPropertyOf :q , :p . :q rdfs:subPropertyOf :p .
         :p owl:inverseOf :p ; a owl:TransitiveProperty , owl:SymmetricProperty ; rdfs:domain :p , 1 .
         _:l rdf:first :A ; rdf:rest _:l . :C owl:intersectionOf _:l , :none . :x a :A ; :p :y . :y :q :z }",
    );
    let plus = by("rdfs-plus");
    assert_eq!(rows(&database, "SELECT ?x { ?x a :B }", &plus), ["<:x>"]);
    assert_eq!(rows(&database, "SELECT ?x { :z :p ?x }", &plus), ["<:x>", "<:y>", "<:z>"]);
    assert!(rows(&database, "SELECT * { ?s ?p ?o }", &plus).len() > 20);
}

#[test]
fn classes_that_only_a_property_below_type_states() {
    let database = database(
        "INSERT DATA { :isA rdfs:subPropertyOf rdf:type . :Cat rdfs:subClassOf :Animal . :tom :isA :Cat }",
    );
    let ask = |query: &str| rows(&database, query, &by("rdfs"));
    assert_eq!(ask("SELECT ?c { :tom a ?c }"), ["<:Animal>", "<:Cat>"]);
    assert_eq!(ask("SELECT ?c { VALUES ?c { :Animal } ?x a ?c }"), ["<:Animal>"]);
    assert_eq!(ask("SELECT ?x { ?x a :Animal }"), ["<:tom>"]);
}

#[test]
fn wide_hierarchies_are_refused_where_all_of_them_would_be_a_table() {
    let chain: String =
        (0..3000).map(|n| format!(":C{n} rdfs:subClassOf :C{} . :i{n} a :C{n} . ", n + 1)).collect();
    let database = database(&format!("INSERT DATA {{ {chain} }}"));
    assert_eq!(rows(&database, "SELECT ?x { ?x a :C3000 }", &by("rdfs")).len(), 3000);
    let text = format!("{}SELECT ?c {{ ?x a ?c }}", super::PROLOGUE);
    let error = database.prepare(&text, &by("rdfs")).map(drop).unwrap_err().to_string();
    assert!(error.contains("write the class in place of the variable"), "{error}");

    let small = QueryOptions { memory_bytes: 1 << 20, ..by("rdfs") };
    let error = database.prepare(&text, &small).map(drop).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
}

/// Seventy classes below one, each with an instance that another has as well, beside so many of a class that is not below it.
fn wide(others: usize) -> Database {
    let below = |i: usize| {
        format!(":W{i} rdfs:subClassOf :Top . :x{i} a :W{i} , :W{} . :x{i} :n {i} .", (i + 1) % 70)
    };
    let classes: String = (0..70).map(below).collect();
    let others: String = (0..others).map(|i| format!(":y{i} a :Other ; :n {i} .")).collect();
    database(&format!("INSERT DATA {{ {classes} {others} }}"))
}

#[test]
fn many_classes_are_tested_or_looked_up_and_give_the_same() {
    for others in [0, 20_000] {
        let database = wide(others);
        let count = |pattern: &str| {
            let query = format!("SELECT (COUNT(*) AS ?n) (SUM(?v) AS ?s) {{ {pattern} }}");
            let found = rows(&database, &query, &by("hierarchies")).join("");
            found.replace("^^<http://www.w3.org/2001/XMLSchema#integer>", "")
        };
        assert_eq!(count("?x a :Top ; :n ?v"), r#""70" "2415""#, "{others}");
        assert_eq!(count("?x :n ?v FILTER(?v < 7) ?x a :Top"), r#""7" "21""#, "{others}");
        assert_eq!(count("?x a :Top OPTIONAL { ?x a :Other ; :n ?v }"), r#""70" -"#, "{others}");
        assert_eq!(count(":x3 a :Top BIND(3 AS ?v)"), r#""1" "3""#, "{others}");
        let query = "PREFIX : <http://e/> SELECT ?x { ?x a :Top }";
        let plan = database.prepare(query, &by("hierarchies")).unwrap().explain();
        assert_eq!(plan.contains("AMONG"), others == 0, "{plan}");
    }
}

/// Edges of a term come in turns of several graphs, and of several edges each.
#[test]
fn paths_in_each_graph_are_those_in_one_and_the_next() {
    let first = "GRAPH :g0 { :n0 :p1 :n0, :n1 ; a :C1 . :n1 a :C1 } GRAPH :g1 { :n1 :p1 :n2 . :n2 :p1 :n1 . :n3 a :C1 . :n1 a :C1 . :n2 a :C1 }";
    let database =
        database(&format!("INSERT DATA {{ {first} :p1 rdfs:domain :D . :C1 rdfs:subClassOf :E }}"));
    for path in ["a/:p1*", ":p1?/:p2?", ":p1*/:p2*", "a?/:p1?", "^:p1*/a", "(:p1/a)+", "a+", "(!:zz)+"] {
        for rules in [None, Some("rdfs")] {
            let options = rules.map_or_else(QueryOptions::default, by);
            let of = |graph: &str| {
                rows(&database, &format!("SELECT ?x ?y {{ GRAPH {graph} {{ ?x {path} ?y }} }}"), &options)
            };
            let mut each: Vec<String> = [of(":g0"), of(":g1")].concat();
            each.sort();
            let all = of("?g");
            assert!(!all.is_empty() && all == each, "{path} {rules:?}\n{all:?}\n{each:?}");
        }
    }
}
