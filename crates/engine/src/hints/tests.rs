//! What is warned of, with the data known, and what is not.

use crate::{Database, GraphRules, QueryOptions, UpdateOptions};
use std::time::Instant;

const PROLOGUE: &str = "PREFIX : <http://e/> PREFIX foaf: <http://xmlns.com/foaf/0.1/> ";

fn database() -> Database {
    let database = Database::in_memory().unwrap();
    let people: String =
        (0..40).map(|n| format!(":p{n} a foaf:Person ; foaf:name \"{n}\" ; :age {n} . ")).collect();
    let graphs = "GRAPH :g { :p1 :likes :p2 . :p2 a :Admirer } GRAPH :h { :p3 :knows :p4 }";
    let update = format!("{PROLOGUE} INSERT DATA {{ {people} <https://e/doc> :about :p1 . {graphs} }}");
    database.update(&update, &UpdateOptions::default()).unwrap();
    database
}

fn warnings(database: &Database, query: &str) -> Vec<String> {
    let query = database.prepare(&format!("{PROLOGUE}{query}"), &QueryOptions::default()).unwrap();
    query.warnings().iter().map(ToString::to_string).collect()
}

#[test]
fn who_asks_an_empty_default_graph_for_all_is_told_of_others() {
    let graphs = Database::in_memory().unwrap();
    let update = format!("{PROLOGUE} INSERT DATA {{ GRAPH :g {{ :a a :C ; :p 1 }} GRAPH :h {{ :a :p 2 }} }}");
    graphs.update(&update, &UpdateOptions::default()).unwrap();
    let told = "the default graph is empty; named graphs have 3 quads; write GRAPH ?g { ... }, or make the union of all graphs the default graph";
    for query in [
        "SELECT * { ?s ?p ?o }",
        "SELECT ?c (COUNT(?s) AS ?n) { ?s a ?c } GROUP BY ?c",
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "CONSTRUCT WHERE { ?s ?p ?o }",
    ] {
        assert_eq!(warnings(&graphs, query), [told], "{query}");
    }
    for query in [
        "ASK { ?s ?p ?o }",
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "SELECT * FROM <http://e/g> { ?s ?p ?o }",
        "SELECT * { VALUES ?s { 1 } OPTIONAL { ?s ?p ?o } }",
        "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }",
    ] {
        assert_eq!(warnings(&graphs, query), [""; 0], "{query}");
    }
    assert_eq!(warnings(&database(), "SELECT * { ?s ?p ?o }"), [""; 0]);
}

#[test]
fn constants_that_are_in_no_quad() {
    let database = database();
    for (query, warning) in [
        ("SELECT * { ?s foaf:nmae ?o }", "no triple has the predicate foaf:nmae; foaf:name has 40"),
        (
            "SELECT * { ?s <http://schema.org/name> ?o }",
            "no triple has the predicate <http://schema.org/name>; foaf:name has 40",
        ),
        ("SELECT * { ?s a foaf:Preson }", "nothing is of the class foaf:Preson; foaf:Person has 40"),
        ("SELECT * { ?s foaf:mbox ?o }", "no triple has the predicate foaf:mbox"),
        ("SELECT * { ?s a foaf:p1 }", "nothing is of the class foaf:p1"),
        ("SELECT * { :nobody ?p ?o }", "no triple has the subject :nobody"),
        ("SELECT * { <http://e/doc> :about ?o }", "no triple has the subject :doc; <https://e/doc> has 1"),
        ("SELECT * { ?s :about :p77 }", "no triple has the object :p77"),
        ("SELECT * { :p77 ^:about ?o }", "no triple has the object :p77"),
        ("SELECT * { ?s (:about/^:about)+ :p77 }", "no triple has the subject :p77"),
        ("SELECT * { foaf:Preson ^a ?s }", "nothing is of the class foaf:Preson; foaf:Person has 40"),
        ("SELECT * { ?s (:likes|foaf:name)/!(:p|:q) :p77 }", "no triple has the object :p77"),
        ("SELECT * { :p77 ^:about ?s ; foaf:name ?n }", "no triple has the subject :p77"),
        ("SELECT * { GRAPH :i { ?s ?p ?o } }", "there is no graph :i"),
        ("SELECT * FROM :unknown { ?s foaf:name ?o }", "there is no graph :unknown"),
        (
            "SELECT * { ?s foaf:name ?o OPTIONAL { ?s :aeg ?x } }",
            "no triple has the predicate :aeg; :age has 40",
        ),
        (
            "SELECT * { ?s :likes ?o }",
            "the default graph has nothing with the predicate :likes; named graphs have 1; write GRAPH ?g { ... }, or make the union of \
             all graphs the default graph",
        ),
        (
            "SELECT * { GRAPH :h { ?s :likes ?o } }",
            "the graph :h has nothing with the predicate :likes; others have 1; write GRAPH ?g { ... } to see which",
        ),
        (
            "SELECT * { GRAPH ?g { ?s a foaf:Person } }",
            "no named graph has anything with the class foaf:Person; the default graph has 40; write the pattern without GRAPH",
        ),
    ] {
        assert_eq!(warnings(&database, query), [warning], "{query}");
    }
    for query in [
        "SELECT * { ?s foaf:name ?o ; a foaf:Person . :p1 :age ?x FILTER(?x > 1 || ?s = :nobody) }",
        "SELECT * { ?s foaf:name ?o OPTIONAL { ?s foaf:mbox ?x } FILTER NOT EXISTS { ?s :dead true } }",
        "SELECT * { { ?s foaf:name ?n } UNION { ?s foaf:givenName ?n } }",
        "SELECT * { ?s foaf:name|foaf:nick ?n . ?s !:unknown 1 }",
        "SELECT * { ?s (:about/^:about)+ <https://e/doc> . <https://e/doc> (:about/^:about)+ ?t }",
        "SELECT * { :p1 ^:about ?s . ?s :about|^:about :p1 }",
        "SELECT * { <https://e/doc> :about|^:about ?s . ?s (:about|^:about)+ <https://e/doc> }",
        "SELECT * { foaf:Person ^a ?s . ?s (^:about/:about)+ :p1 . foaf:Person (^a)+ ?s }",
        "SELECT * { ?s :about* :p77 . :p78 (^:about)? ?s . ?s !(^:about|:p) <https://e/doc> }",
        "ASK { :nobody foaf:mbox ?o }",
        "SELECT * { GRAPH :g { ?s :likes ?o } }",
        "SELECT * { GRAPH ?g { ?s :likes ?o } }",
        "SELECT * FROM :g { ?s :likes ?o }",
        "CONSTRUCT { ?s foaf:mbox ?o } { ?s foaf:name ?o }",
        "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s :nothing ?o } }",
    ] {
        assert_eq!(warnings(&database, query), [""; 0], "{query}");
    }
    // Of no data nothing can be said.
    assert_eq!(warnings(&Database::in_memory().unwrap(), "SELECT * { ?s foaf:nmae ?o }"), [""; 0]);
}

#[test]
fn names_of_vocabularies_that_are_known_here() {
    let database = database();
    let prefixes = "PREFIX text: <urn:lodestore:text:> PREFIX geo: <http://www.opengis.net/ont/geosparql#> \
                    PREFIX geof: <http://www.opengis.net/def/function/geosparql/> PREFIX bif: <bif:> ";
    for (pattern, warning) in [
        (
            "(?s ?score) text:qery (foaf:name 'cat' 10)",
            "no triple has the predicate text:qery; did you mean text:query?",
        ),
        (
            "?s foaf:name ?n . ?n bif:contians 'cat'",
            "no triple has the predicate bif:contians; did you mean bif:contains?",
        ),
        (
            "?s foaf:name ?n OPTIONAL { ?s geo:asWTK ?w }",
            "no triple has the predicate geo:asWTK; did you mean geo:asWKT?",
        ),
        ("?s a geo:Featur", "nothing is of the class geo:Featur; did you mean geo:Feature?"),
        ("?s geo:asWKT ?w", "no triple has the predicate geo:asWKT"),
        (
            "?s geof:sfWithin ?w",
            "no triple has the predicate geof:sfWithin; it is a function: call it in FILTER or BIND, geof:sfWithin(...)",
        ),
        (
            "?s foaf:name ?n . ?n text:matches 'cat'",
            "no triple has the predicate text:matches; it is a function: call it in FILTER or BIND, text:matches(...)",
        ),
    ] {
        let found = warnings(&database, &format!("{prefixes} SELECT * {{ {pattern} }}"));
        // What the list of a search that is none says is no triple, either.
        assert_eq!(found.first().map(String::as_str), Some(warning), "{pattern}");
    }
}

#[test]
fn arguments_of_functions_of_geometries() {
    let database = database();
    let prefixes = "PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/> \
                    PREFIX geof: <http://www.opengis.net/def/function/geosparql/>";
    let place = "'POINT(1 2)'^^geo:wktLiteral";
    for (call, told, is_of) in [
        (
            "geof:sfWithin(?n, 'POINT(1 2)')".to_owned(),
            "write its datatype behind it, ^^geo:wktLiteral",
            "'POINT(1 2)'",
        ),
        (format!("geof:sfWithin(?s, {place})"), "?s is the subject of a triple, so no literal", "?s"),
        (
            format!("geof:distance(:p1, {place}) < 1"),
            "<http://e/p1> is an IRI, and geof:distance takes a geometry",
            ":p1",
        ),
        (
            format!("geof:distance(?n, {place}, uom:meters) < 1"),
            "did you mean <http://www.opengis.net/def/uom/OGC/1.0/meter>?",
            "uom:meters",
        ),
        (
            format!(
                "BOUND(?n) && geof:isEmpty(geof:transform({place}, <http://www.opengis.net/def/crs/EPSG/0/99999>))"
            ),
            "(EPSG:99999)",
            "<http://www.opengis.net/def/crs/EPSG/0/99999>",
        ),
    ] {
        let text = format!("{PROLOGUE}{prefixes} SELECT * {{ ?s foaf:name ?n FILTER({call}) }}");
        for _ in 0..2 {
            let query = database.prepare(&text, &QueryOptions::default()).unwrap();
            let [warning] = &**query.warnings() else { panic!("{text}: {:?}", query.warnings()) };
            assert!(warning.to_string().contains(told), "{call}: {warning}");
            assert_eq!(
                (warning.code(), &text[warning.span().unwrap()]),
                ("wrong-arguments", is_of),
                "{call}"
            );
        }
    }
    let right = format!(
        "{prefixes} SELECT * {{ ?s foaf:name ?n FILTER(geof:distance(?n, {place}, uom:metre) < 1) }}"
    );
    assert_eq!(warnings(&database, &right), [""; 0]);
}

#[test]
fn parts_that_are_not_joined_matter_where_they_are_large() {
    let database = database();
    let query = "SELECT * { ?s foaf:name ?n . ?t :age ?a }";
    let warning = "nothing joins this with what is before it: each of up to 40 solutions is put together with each of up to 40; use a \
                   variable in both, or two queries (Cartesian product)";
    assert_eq!(warnings(&database, query), [warning]);
    for query in [
        "SELECT * { ?s foaf:name ?n . :p1 :age ?a }",
        "SELECT * { ?s foaf:name ?n . ?t :about ?a }",
        "SELECT * { ?s foaf:name ?n . ?t :age ?a FILTER(STR(?a) = ?n) }",
    ] {
        assert_eq!(warnings(&database, query), [""; 0], "{query}");
    }
}

#[test]
fn warnings_have_places_and_are_few() {
    let database = database();
    let text = format!("{PROLOGUE}SELECT ?x {{ ?s foaf:nmae ?name FILTER(:f(?name) && STR(?name) > 5) }}");
    let query = database.prepare(&text, &QueryOptions::default()).unwrap();
    let found: Vec<_> = query
        .warnings()
        .iter()
        .map(|warning| (warning.code(), warning.span().map_or("", |span| &text[span])))
        .collect();
    assert_eq!(
        found,
        [
            ("unknown-function", ":f"),
            ("unbound-variable", "?x"),
            ("unknown-constant", "foaf:nmae"),
            ("impossible-comparison", "STR(?name) > 5")
        ]
    );
    let report = serde_json::to_value(query.report()).unwrap();
    let start = text.find("foaf:nmae").unwrap();
    let expected = serde_json::json!({
        "code": "unknown-constant", "message": "no triple has the predicate foaf:nmae", "help": "foaf:name has 40",
        "span": { "start": start, "end": start + 9 }
    });
    assert_eq!(report["warning_details"][2], expected);
    let many: String = (0..50).map(|n| format!("?s :unknown{n} ?o{n} . ")).collect();
    let found = warnings(&database, &format!("SELECT * {{ {many} }}"));
    assert_eq!((found.len(), found.last().map(String::as_str)), (9, Some("and 24 more warnings")));
}

#[test]
fn warnings_take_little_time() {
    let database = database();
    let many: String = (0..300).map(|n| format!("?s{n} :unknown{n} :o{n} . ")).collect();
    for text in [
        "SELECT ?n { ?s foaf:name ?n ; a foaf:Person ; :age ?a FILTER(?a > 3) }",
        &format!("SELECT * {{ {many} }}"),
    ] {
        let query = database.prepare(&format!("{PROLOGUE}{text}"), &QueryOptions::default()).unwrap();
        let start = Instant::now();
        query.warnings();
        let took = start.elapsed();
        println!("{} bytes: {took:?}", text.len());
        // Other tests run beside.
        assert!(took.as_millis() < 500, "{took:?}");
    }
}

/// Queries that differ in constants and names only share a plan; what is said of one must not depend on the others.
#[test]
fn kept_plans_hide_nothing() {
    let texts = [
        "SELECT ?a { ?a foaf:name ?b }",
        "SELECT ?a { :p1 foaf:name ?a }",
        "SELECT ?a { :p2 foaf:name ?a }",
        "SELECT ?a { :p77 foaf:name ?a }",
        "SELECT ?a { foaf:name foaf:name ?a }",
        "SELECT ?a { ?a a foaf:Person }",
        "SELECT ?a { ?a a :Admirer }",
        "SELECT ?a { ?a a :p1 }",
        "SELECT ?a { ?a :about :p1 }",
        "SELECT ?a { ?a :about :p2 }",
        "SELECT ?a { ?a :about :p77 }",
        "SELECT ?a { ?a :age ?long . ?a foaf:name ?other FILTER(?long < 3) }",
        "SELECT ?a { ?a :age ?long . ?a foaf:name ?lonq FILTER(?long < 3) }",
        "SELECT ?longer ?longar ?n { ?longer :age ?longar . ?longar foaf:name ?n }",
        "SELECT * { ?longer :age ?longar . ?longar foaf:name ?n }",
        "SELECT ?a { ?a :age ?b FILTER(STR(?b) = \"1\") }",
        "SELECT ?a { ?a :age ?b FILTER(STR(?b) = \"2\") }",
        "SELECT ?a { ?a :age ?b FILTER(STR(?b) = 2) }",
        "SELECT ?a { ?a :age ?b FILTER(STR(?b) = :p1) }",
        "SELECT ?a { :p1 :age ?b . ?a foaf:name ?c }",
        "SELECT ?a { ?a :age ?b OPTIONAL { ?a :about :p3 } }",
        "SELECT ?a { ?a :age ?b OPTIONAL { ?a :about :nobody } }",
        "SELECT ?a { :p1 :age ?b . ?b ?c ?d . :p2 :age ?e . ?e ?f ?a }",
    ];
    // Where a machine is busy, time may run out before all is said: then again.
    let said = |database: &Database, text: &str, is_enough: &dyn Fn(&[String]) -> bool| {
        let mut said = warnings(database, text);
        for _ in 0..20 {
            if is_enough(&said) {
                break;
            }
            said = warnings(database, text);
        }
        said
    };
    let fresh = texts.map(|text| said(&database(), text, &|said| !said.is_empty()));
    let kept = database();
    let check = |at: usize| {
        let expected = &fresh[at];
        assert_eq!(&said(&kept, texts[at], &|said| said == expected), expected, "{}", texts[at]);
    };
    let mut seed = 7_usize;
    for _ in 0..3 {
        (0..texts.len()).for_each(check);
        for _ in 0..200 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            check((seed >> 33) % texts.len());
        }
    }
    let query = kept.prepare(&format!("{PROLOGUE}{}", texts[1]), &QueryOptions::default()).unwrap();
    assert!(query.has_nothing_to_say(), "known from before");
    // Another version may have less.
    let gone = format!("{PROLOGUE} DELETE WHERE {{ ?s :about ?o }}");
    kept.update(&gone, &UpdateOptions::default()).unwrap();
    assert_eq!(warnings(&kept, texts[8]).len(), 2, "neither predicate nor object");
}

#[test]
fn who_may_not_read_all_graphs_is_told_what_the_text_tells() {
    let database = database();
    let told = |query: &str, graphs: GraphRules| {
        let options = QueryOptions { graphs, ..QueryOptions::default() };
        let query = database.prepare(&format!("{PROLOGUE}{query}"), &options).unwrap();
        query.warnings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let in_text = "SELECT ?nmae { ?s foaf:name ?name }";
    assert_eq!(told(in_text, GraphRules::default()).len(), 1);
    assert_eq!(told(in_text, GraphRules::nothing()), told(in_text, GraphRules::default()));
    // That foaf:name has 40 quads is for who may read them.
    let in_data = "SELECT * { ?s foaf:nmae ?o }";
    assert_eq!(told(in_data, GraphRules::default()).len(), 1);
    assert_eq!(told(in_data, GraphRules::nothing()), [""; 0]);
}

#[test]
fn updates_are_warned_of_before_they_are_done() {
    let database = database();
    let told = |update: &str| -> Vec<String> {
        let text = format!("{PROLOGUE}{update}");
        let warnings = database.update_warnings(&text, &QueryOptions::default()).unwrap();
        warnings.iter().map(ToString::to_string).collect()
    };
    for (update, warning) in [
        ("DELETE WHERE { ?s foaf:nmae ?o }", "no triple has the predicate foaf:nmae; foaf:name has 40"),
        (
            "DELETE { ?s foaf:name ?n } INSERT { ?s foaf:nick ?n } WHERE { ?s a foaf:Preson ; foaf:name ?n }",
            "nothing is of the class foaf:Preson; foaf:Person has 40",
        ),
        ("WITH :i DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "there is no graph :i"),
        ("INSERT { :a :b ?n } USING :i WHERE { ?s foaf:name ?n }", "there is no graph :i"),
        ("DELETE WHERE { GRAPH :i { ?s ?p ?o } }", "there is no graph :i"),
        (
            "WITH :h DELETE { ?s :likes ?o } WHERE { ?s :likes ?o }",
            "the graph :h has nothing with the predicate :likes; others have 1; write GRAPH ?g { ... } to see which",
        ),
        (
            "INSERT { ?s :new ?f } WHERE { ?s foaf:name ?n BIND(:nofunction(?n) AS ?f) }",
            "no function <http://e/nofunction> is known; each call is an error: FILTER drops its rows, BIND leaves its variable unbound",
        ),
    ] {
        assert_eq!(told(update), [warning], "{update}");
    }
    let product = told("INSERT { ?a :r ?b } WHERE { ?a foaf:name ?n . ?b :age ?m }");
    assert!(product.len() == 1 && product[0].starts_with("nothing joins this"), "{product:?}");
    for update in [
        "INSERT DATA { :s :new 1 . GRAPH :new { :s :new 1 } }",
        "DELETE DATA { :p1 foaf:name \"1\" . GRAPH :g { :p1 :likes :p2 } }",
        "INSERT DATA { :s :new 1 } ; DELETE DATA { :s :new 1 }",
        "INSERT { ?s :new ?n . GRAPH :new { ?s :newer 1 } } WHERE { ?s foaf:name ?n }",
        "WITH :new INSERT { ?s :new ?n } WHERE { GRAPH :g { ?s :likes ?n } }",
        "INSERT DATA { :s :new 1 } ; DELETE WHERE { ?s :new ?o }",
        "CLEAR GRAPH :nothing ; DROP SILENT GRAPH :nothing",
    ] {
        assert_eq!(told(update), [""; 0], "{update}");
    }
    // An update tells the same.
    let update = format!("{PROLOGUE} DELETE WHERE {{ ?s foaf:nmae ?o }}");
    let report = database.update(&update, &UpdateOptions::default()).unwrap();
    assert_eq!(report.warnings.len(), 1);
    let place = report.warnings[0].span().unwrap();
    assert_eq!(&update[place], "foaf:nmae");
    // Who may not read all graphs is told nothing of the data.
    let options = QueryOptions { graphs: GraphRules::nothing(), ..QueryOptions::default() };
    assert_eq!(database.update_warnings(&update, &options).unwrap().len(), 0);
}

#[test]
fn what_is_to_be_deleted_and_is_not_there() {
    let database = database();
    let told = |update: &str| -> Vec<String> {
        let text = format!("{PROLOGUE}{update}");
        let warnings = database.update_warnings(&text, &QueryOptions::default()).unwrap();
        warnings.iter().map(ToString::to_string).collect()
    };
    for (update, warning) in [
        ("DELETE DATA { :p1 foaf:nmae \"1\" }", "no triple has the predicate foaf:nmae; foaf:name has 40"),
        ("DELETE DATA { :p77 foaf:name \"1\" }", "no triple has the subject :p77"),
        (
            "DELETE DATA { :p1 :age \"1\" }",
            "the default graph has no triple :p1 :age \"1\", so there is nothing to delete; :age has \"1\"^^xsd:integer",
        ),
        (
            "DELETE DATA { :p1 :likes :p2 }",
            "the default graph has no triple :p1 :likes :p2, so there is nothing to delete; it is in :g",
        ),
        (
            "DELETE DATA { GRAPH :g { :p1 foaf:name \"1\" } }",
            "the graph :g has no triple :p1 foaf:name \"1\", so there is nothing to delete; it is in the default graph",
        ),
        ("DELETE DATA { :p1 :likes :p3 }", "no triple has the object :p3"),
        (
            "DELETE DATA { :p1 :likes :p4 }",
            "the default graph has no triple :p1 :likes :p4, so there is nothing to delete; :likes has :p2",
        ),
        (
            "DELETE DATA { :p2 :likes :p4 }",
            "the default graph has no triple :p2 :likes :p4, so there is nothing to delete",
        ),
        ("DELETE DATA { GRAPH :i { :p1 foaf:name \"1\" } }", "there is no graph :i"),
    ] {
        assert_eq!(told(update), [warning], "{update}");
        // An update that was done tells the same, of what was there before.
        let text = format!("{PROLOGUE}{update}");
        let report = database.update(&text, &UpdateOptions::default()).unwrap();
        assert_eq!((report.deleted, report.warnings.len()), (0, 1), "{update}");
    }
    let half = format!("{PROLOGUE}DELETE DATA {{ :p1 foaf:name \"1\", \"2\" }}");
    let report = database.update(&half, &UpdateOptions::default()).unwrap();
    assert_eq!((report.deleted, report.warnings.len()), (1, 1));
    let text = report.warnings[0].to_string();
    assert!(text.ends_with("foaf:name has \"1\""), "{text}");
    assert_eq!(report.warnings[0].span().map(|span| &half[span]), Some("\"2\""));
    // Who may not read all graphs is told nothing of the data.
    let hidden = QueryOptions { graphs: GraphRules::nothing(), ..QueryOptions::default() };
    assert_eq!(database.update_warnings(&half, &hidden).unwrap().len(), 0);
    // Many and long ones do no harm.
    let many: String = (0..3000).map(|n| format!(":p1 :age \"{n}\" . ")).collect();
    let report =
        database.update(&format!("{PROLOGUE}DELETE DATA {{ {many} }}"), &UpdateOptions::default()).unwrap();
    assert!(report.warnings.len() <= 9);
    let long = format!("{PROLOGUE}DELETE DATA {{ :p2 :age \"{}\" }}", "é".repeat(5000));
    database
        .update(
            &format!("{PROLOGUE}INSERT DATA {{ :x :y \"{}\" }}", "é".repeat(5000)),
            &UpdateOptions::default(),
        )
        .unwrap();
    let report = database.update(&long, &UpdateOptions::default()).unwrap();
    assert!(report.warnings[0].to_string().len() < 400, "{}", report.warnings[0]);
}

const ZOO: &str = "PREFIX : <http://e/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    INSERT DATA { :Cat rdfs:subClassOf :Pet . :Pet rdfs:subClassOf :Animal . :Dog rdfs:subClassOf :Pet . :Empty rdfs:subClassOf :Nothing .
        :tom a :Cat . :tim a :Cat . :rex a :Dog . :hasMother rdfs:subPropertyOf :hasParent . :tom :hasMother :mia .
        :owns rdfs:domain :Person . :ann :owns :tom . :A rdfs:subClassOf :B . :B rdfs:subClassOf :A }";

#[test]
fn classes_and_properties_of_which_only_those_below_have_any() {
    let database = Database::in_memory().unwrap();
    database.update(ZOO, &UpdateOptions::default()).unwrap();
    let finds = "--reason hierarchies (over HTTP reason=hierarchies) finds them";
    for (query, warning) in [
        (
            "SELECT * { ?x a :Animal }",
            format!("no triple says that anything is of the class :Animal; :Cat, below it, has 2: {finds}"),
        ),
        (
            "ASK { ?x a :Pet }",
            format!("no triple says that anything is of the class :Pet; :Cat, below it, has 2: {finds}"),
        ),
        (
            "SELECT * { ?x a :Cat OPTIONAL { ?x :hasParent ?y } }",
            format!("no triple has the predicate :hasParent; :hasMother, below it, has 1: {finds}"),
        ),
        ("SELECT * { ?x a :Nothing }", "nothing is of the class :Nothing".to_owned()),
        // A cycle ends.
        ("SELECT * { ?x a :A }", "nothing is of the class :A".to_owned()),
    ] {
        assert_eq!(warnings(&database, query), [warning], "{query}");
    }
    assert_eq!(warnings(&database, "SELECT * { ?x a :Cat }"), [""; 0]);
    // Updates never reason.
    let update = format!("{PROLOGUE}DELETE WHERE {{ ?x a :Animal }}");
    let told = database.update_warnings(&update, &QueryOptions::default()).unwrap();
    assert_eq!(told.iter().map(ToString::to_string).collect::<Vec<_>>(), ["nothing is of the class :Animal"]);
}

#[test]
fn who_reasons_is_told_of_what_is_nowhere() {
    let database = Database::in_memory().unwrap();
    database.update(ZOO, &UpdateOptions::default()).unwrap();
    let told = |query: &str| -> Vec<String> {
        let reasoning = crate::Reasoning::by(crate::SchemaRules::RDFS_PLUS);
        let options = QueryOptions { reasoning, ..QueryOptions::default() };
        let query = database.prepare(&format!("{PROLOGUE}{query}"), &options).unwrap();
        query.warnings().iter().map(ToString::to_string).collect()
    };
    for (query, warning) in [
        ("SELECT * { ?x a :Anmial }", "nothing is of the class :Anmial; did you mean :Animal?"),
        ("SELECT * { ?x a :Caat }", "nothing is of the class :Caat; :Cat has 2"),
        ("SELECT * { ?x :hasPraent ?y }", "no triple has the predicate :hasPraent; did you mean :hasParent?"),
        ("SELECT * { :nobody ?p ?o }", "no triple has the subject :nobody"),
        ("SELECT * { GRAPH :g { ?s ?p ?o } }", "there is no graph :g"),
    ] {
        assert_eq!(told(query), [warning], "{query}");
    }
    for query in [
        "SELECT * { ?x a :Animal ; :hasParent ?y }",
        "SELECT * { ?x a :Person }",
        "SELECT * { ?x a :Nothing }",
        "SELECT * { :Animal ?p ?o }",
        "PREFIX owl: <http://www.w3.org/2002/07/owl#> SELECT * { ?x owl:equivalentClass ?y ; a owl:Class }",
        "SELECT * { ?x a :Cat . ?y a :Dog }",
    ] {
        assert_eq!(told(query), [""; 0], "{query}");
    }
}
