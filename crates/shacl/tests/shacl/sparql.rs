//! SHACL-SPARQL beyond the suite: pre-bound variables in nested shapes, messages, components, and what is refused.

use crate::support::{database, found, results, shapes};
use lode_shacl::ValidateOptions;

const DATA: &str = ":a a :C ; :p 1, 5 . :b a :C ; :p 2 . :c a :C .";

fn messages(text: &str) -> Vec<String> {
    let (found, _) = results(&database(DATA), &shapes(text).unwrap(), &ValidateOptions::default()).unwrap();
    let mut messages: Vec<String> =
        found.iter().flat_map(|result| &result.messages).map(|message| message.value().to_owned()).collect();
    messages.sort();
    messages
}

#[test]
fn constraints_see_the_focus_node() {
    let text = ":S sh:targetClass :C ; sh:sparql [ sh:message \"{$this} has {?value}, {?other}\" ; \
        sh:select \"SELECT $this ?value (?value + 1 AS ?other) { $this <http://e/p> ?value FILTER(?value > 1) }\" ] .";
    assert_eq!(messages(text), ["<http://e/a> has 5, 6", "<http://e/b> has 2, 3"]);
    let counts = ":S sh:targetClass :C ; sh:sparql [ \
        sh:select \"SELECT $this (COUNT(?v) AS ?value) { $this <http://e/p> ?v } GROUP BY $this HAVING (COUNT(?v) > 1)\" ] .";
    assert_eq!(found(DATA, counts).unwrap().len(), 1);
    let limited = ":S sh:targetClass :C ; sh:sparql [ \
        sh:select \"SELECT $this ?value { $this <http://e/p> ?value } ORDER BY DESC(?value) LIMIT 1\" ] .";
    let lines = found(DATA, limited).unwrap();
    assert!(lines.len() == 2 && lines[0].contains("\"5\""), "{lines:?}");
}

#[test]
fn nested_shapes_have_queries() {
    let no_five = "[ sh:path :p ; sh:sparql [ sh:select \"SELECT $this ?value { $this $PATH ?value FILTER(?value = 5) }\" ] ]";
    let lines = found(DATA, &format!(":S sh:targetClass :C ; sh:not {no_five} ."));
    assert_eq!(lines.unwrap(), ["<b> <b> Not", "<c> <c> Not"]);
    let lines = found(
        DATA,
        &format!(":S sh:targetClass :C ; sh:xone ( {no_five} [ sh:path :p ; sh:minCount 1 ] ) ."),
    );
    assert_eq!(lines.unwrap(), ["<b> <b> Xone"]);
}

const COMPONENT: &str = ":Max a sh:ConstraintComponent ; sh:parameter [ sh:path :max ] , [ sh:path :factor ; sh:optional true ] ; \
    sh:validator [ sh:ask \"ASK { FILTER(?value * COALESCE($factor, 1) <= $max) }\" ; sh:message \"{?value} is beyond {$max}\" ] .\n";

#[test]
fn components_are_constraints() {
    let text = format!("{COMPONENT}:S sh:targetClass :C ; sh:property [ sh:path :p ; :max 2 ] .");
    assert_eq!(messages(&text), ["5 is beyond 2"]);
    let text = format!("{COMPONENT}:S sh:targetClass :C ; sh:property [ sh:path :p ; :max 2 ; :factor 2 ] .");
    assert_eq!(messages(&text), ["2 is beyond 2", "5 is beyond 2"]);
    // Two shapes with two values of one parameter, in one query.
    let text = format!(
        "{COMPONENT}:S sh:targetClass :C ; sh:property [ sh:path :p ; sh:or ( [ :max 1 ] [ sh:not [ :max 4 ] ] ) ] ."
    );
    let lines = found(DATA, &text).unwrap();
    assert!(lines.len() == 1 && lines[0].starts_with("<b>"), "{lines:?}");
    // Without its parameter it says nothing.
    assert!(found(DATA, &format!("{COMPONENT}:S sh:targetClass :C ; :factor 2 .")).unwrap().is_empty());
}

#[test]
fn select_validators_know_their_parameters() {
    let component = ":Few a sh:ConstraintComponent ; sh:parameter [ sh:path :few ] ; sh:propertyValidator [ \
        sh:select \"SELECT $this (COUNT(?v) AS ?n) { $this $PATH ?v } GROUP BY $this HAVING (COUNT(?v) > $few)\" ] .\n";
    let lines =
        found(DATA, &format!("{component}:S sh:targetClass :C ; sh:property [ sh:path :p ; :few 1 ] ."));
    assert_eq!(lines.unwrap(), ["<a> Few"]);
}

#[test]
fn what_ignores_values_is_refused() {
    for (query, told) in [
        ("SELECT $this { $this ?p ?o MINUS { ?a ?b ?c } }", "MINUS"),
        ("SELECT $this { $this ?p ?o } VALUES ?o { 1 }", "VALUES"),
        ("SELECT $this { $this ?p ?o { SELECT ?o { ?s ?p ?o } } }", "a sub-select has to select $this"),
        ("SELECT ?o { $this ?p ?o }", "select $this"),
        ("SELECT $this { ?s ?p $this BIND(1 AS ?this) }", ""),
        ("SELECT $this FROM <http://e/g> { $this ?p ?o }", "FROM"),
        ("ASK { $this ?p ?o }", "not a SELECT"),
        ("SELECT $this { $this ex:p ?o }", "ex:"),
        ("SELECT $this { $this $PATH ?o }", "$PATH"),
        ("BASE <http://e/> SELECT $this { $this <p> ?o }", "BASE"),
        ("SELECT $this { $this ?p }", ""),
        ("SELECT $this { GRAPH $shapesGraph { $this ?p ?o } }", "$shapesGraph"),
    ] {
        let text = format!(":S sh:targetClass :C ; sh:sparql [ sh:select \"{query}\" ] .");
        let error = found(DATA, &text).unwrap_err();
        assert!(error.is_of_shapes(), "{query}: {error}");
        assert!(error.to_string().contains(told), "{query}: {error}");
    }
}

#[test]
fn prefixes_and_blank_nodes_are_those_of_their_query() {
    // One prefix means two things, and one label stands in two queries, which become one.
    let text = ":one sh:declare [ sh:prefix \"x\" ; sh:namespace \"http://e/\" ] . :two sh:declare [ sh:prefix \"x\" ; sh:namespace \"http://f/\" ] .\n\
        :S sh:targetClass :C ; sh:or ( \
          [ sh:sparql [ sh:prefixes :one ; sh:select \"SELECT $this { $this x:p _:b }\" ] ] \
          [ sh:sparql [ sh:prefixes :two ; sh:select \"SELECT $this { $this ?p _:b FILTER(?p != x:p) }\" ] ] ) .";
    assert_eq!(found(DATA, text).unwrap(), ["<a> <a> Or", "<b> <b> Or"]);
}
