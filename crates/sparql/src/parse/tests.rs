//! Tests of parsing: places of errors, limits.

use super::*;

#[test]
fn a_query_parses() {
    let query = parse_query("SELECT * { ?s <p> ?o }", Some("http://example.org/"));
    assert!(query.expect("valid").to_string().contains("<http://example.org/p>"));
}

#[test]
fn an_error_has_a_place_and_an_excerpt() {
    let error = parse_query("SELECT *\nWHERE { ?s ?p }", None).expect_err("no object");
    assert_eq!(error.line, 2);
    assert!(error.excerpt.starts_with("WHERE { ?s ?p }\n         "), "{}", error.excerpt);
    assert!(error.to_string().starts_with("line 2, column "), "{error}");
}

#[test]
fn a_bad_base_is_an_error() {
    assert_eq!(parse_query("ASK {}", Some("not an iri")).expect_err("bad base").line, 0);
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("{ ", "} "), ("[ :p ", "] ")] {
        let text = format!("ASK {{ {} {} }}", open.repeat(1_000), close.repeat(1_000));
        assert!(parse_query(&text, None).expect_err("too deep").message.contains("nested"));
    }
    let text = format!("ASK {{ FILTER({}1{}) }}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(parse_query(&text, None).expect_err("too deep").message.contains("nested"));
    let text = format!("ASK {{ FILTER({}1) }}", "!".repeat(100_000));
    assert!(parse_query(&text, None).expect_err("too deep").message.contains("nested"));
    let text = format!("ASK {{ {} ?p ?o {} ?p ?o }}", "<< ?s ?p ".repeat(1_000), " >>".repeat(1_000));
    assert!(parse_query(&text, None).expect_err("too deep").message.contains("nested"));
    for (open, close) in [
        ("SUBSTR(", ",1)"),
        ("REPLACE(", ",'a','b')"),
        ("!(", ")"),
        ("!ABS(", ")"),
        ("GROUP_CONCAT(", ")"),
        ("(! <http://example.org/f>(", "))"),
    ] {
        let text = format!("ASK {{ FILTER({}'a'{}) }}", open.repeat(30), close.repeat(30));
        assert!(parse_query(&text, None).expect_err("too deep").message.contains("SUBSTR"), "{open}");
    }
}

#[test]
fn long_chains_are_refused_only_when_very_long() {
    let chain = |n: usize| format!("ASK {{ FILTER(?x = 1{}) }}", " || ?x = 2".repeat(n));
    assert!(parse_query(&chain(2_000), None).is_ok());
    // A tree this deep is dropped recursively: it must fit the stack.
    assert!(parse_query(&chain(9_000), None).is_ok());
    assert!(parse_query(&chain(100_000), None).expect_err("too long").message.contains("operators"));
}

#[test]
fn brackets_in_strings_comments_and_iris_do_not_count() {
    let brackets = "(".repeat(500);
    for text in [
        format!("ASK {{ ?s ?p \"{brackets}\" }}"),
        format!("ASK {{ ?s ?p '''{brackets}\n''' }}"),
        format!("ASK {{ # {brackets}\n }}"),
        format!("ASK {{ ?s ?p <http://example.org/{brackets}> }}"),
    ] {
        assert!(parse_query(&text, None).is_ok(), "{text}");
    }
}

#[test]
fn many_negations_side_by_side_are_fine() {
    let each = |i: usize| format!("(!BOUND(?x{i}) || ?x{i} != 1 && !REGEX(REPLACE(?x{i}, 'a', 'b'), 'c'))");
    let all: Vec<String> = (0..100).map(each).collect();
    assert!(parse_query(&format!("ASK {{ FILTER({}) }}", all.join(" && ")), None).is_ok());
}

#[test]
fn an_open_string_ends_somewhere() {
    for text in ["ASK { ?s ?p \"", "ASK { ?s ?p '''a", "ASK { ?s ?p 'a\\", "ASK { <", "?"] {
        assert!(parse_query(text, None).is_err(), "{text}");
    }
}

#[test]
fn nesting_up_to_the_limit_is_quick_and_fits_the_stack() {
    let deep = 60;
    let groups = format!("ASK {{ {} ?s ?p ?o {} }}", "{ ".repeat(deep), "} ".repeat(deep));
    assert!(parse_query(&groups, None).is_ok());
    let expr = format!("ASK {{ FILTER({}1{}) }}", "(".repeat(deep), ")".repeat(deep));
    assert!(parse_query(&expr, None).is_ok());
    let calls = format!("ASK {{ FILTER({}1{}) }}", "ABS(".repeat(deep), ")".repeat(deep));
    assert!(parse_query(&calls, None).is_ok());
    let selects = format!("{} ?s ?p ?o {}", "SELECT * { { ".repeat(29), "} } ".repeat(29));
    assert!(parse_query(&selects, None).is_ok());
}
