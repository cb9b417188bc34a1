//! Long chains become low trees with the same operands in the same sequence.

use super::*;
use crate::parse::depth;
use spargebra::SparqlParser;

fn parsed(text: &str) -> Query {
    SparqlParser::new().parse_query(text).expect(text)
}

/// The levels before and after; the operands must stay what they are.
fn levels(text: &str, operands: impl Fn(&Query) -> Vec<String>) -> (usize, usize) {
    // The parser's trees are as deep as the chains are long.
    crate::stack::deep(10_000, || {
        let mut query = parsed(text);
        let (before, kept) = (depth::of_query(&query), operands(&query));
        super::query(&mut query);
        let after = depth::of_query(&query);
        assert_eq!(operands(&query), kept);
        assert_eq!(before.patterns, after.patterns);
        (before.levels, after.levels)
    })
}

/// Numbers and names in the query's text, in its sequence.
fn words(query: &Query) -> Vec<String> {
    let text = query.to_string();
    let is_word =
        |word: &&str| word.starts_with('v') || (!word.is_empty() && word.chars().all(|c| c.is_ascii_digit()));
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_word).map(str::to_owned).collect()
}

#[test]
fn chains_are_balanced() {
    let each = |make: &dyn Fn(usize) -> String| (0..1_000).map(make).collect::<Vec<_>>();
    for text in [
        format!("ASK {{ FILTER({}) }}", each(&|i| format!("?v{i}")).join(" && ")),
        format!("ASK {{ FILTER({}) }}", each(&|i| format!("?v{i}")).join(" || ")),
        format!("ASK {{ {} }}", each(&|i| format!("{{ ?v{i} <http://e/p> {i} }}")).join(" UNION ")),
        format!("ASK {{ {} }}", each(&|i| format!("GRAPH ?v{i} {{ ?v{i} <http://e/p> {i} }}")).join(" ")),
        format!("ASK {{ ?s ({})+ ?o }}", each(&|i| format!("<http://e/v{i}>")).join("/")),
        format!("ASK {{ ?s ({})* ?o }}", each(&|i| format!("<http://e/v{i}>")).join("|")),
        format!("ASK {{ FILTER EXISTS {{ FILTER({}) }} }}", each(&|i| format!("!?v{i}")).join(" || ")),
    ] {
        let (before, after) = levels(&text, words);
        assert!(before > 990 && after < 20, "{before} to {after}: {text}");
    }
}

#[test]
fn what_has_a_sequence_stays() {
    let sum =
        format!("ASK {{ FILTER({}) }}", (0..100).map(|i| format!("?v{i}")).collect::<Vec<_>>().join(" + "));
    let optionals: String = (0..100).map(|i| format!("OPTIONAL {{ ?s ?v{i} {i} }} ")).collect();
    for text in [sum, format!("ASK {{ {optionals} }}")] {
        let mut query = parsed(&text);
        let before = query.clone();
        super::query(&mut query);
        assert_eq!(query, before);
    }
}

#[test]
fn mixed_chains_keep_their_operators() {
    let mut query = parsed(
        "ASK { FILTER((?a || ?b) && (?c || ?d || ?e) && ?f) ?s (<http://e/a>/<http://e/b>|^<http://e/c>)+ ?o }",
    );
    let before = query.to_string();
    super::query(&mut query);
    assert_eq!(query.to_string(), before);
}
