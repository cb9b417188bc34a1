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
    // Nothing is read twice, so functions in each other are as any other brackets.
    for (open, close) in [("SUBSTR(", ",1)"), ("REPLACE(", ",'a','b')"), ("!(", ")"), ("!ABS(", ")")] {
        let text = |deep: usize| format!("ASK {{ FILTER({}'a'{}) }}", open.repeat(deep), close.repeat(deep));
        assert!(parse_query(&text(300), None).is_ok(), "{open}");
        assert!(parse_query(&text(2_000), None).expect_err("too deep").message.contains("nested"), "{open}");
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

mod updates {
    //! Update requests.
    use crate::parse_update;
    use crate::update::{GraphTarget, Operation, TermTemplate, TransferKind};

    fn operations(text: &str) -> Vec<Operation> {
        parse_update(text, Some("http://e/")).unwrap_or_else(|e| panic!("{text}: {e}")).operations
    }

    #[test]
    fn shortcuts_keep_what_they_are() {
        let all = operations(
            "ADD DEFAULT TO <a>; COPY SILENT <a> TO DEFAULT; MOVE GRAPH <a> TO GRAPH <b>; COPY <a> TO <a>; DROP SILENT NAMED; CLEAR GRAPH <a>",
        );
        let Operation::Transfer(add) = &all[0] else { panic!("{all:?}") };
        assert_eq!((add.kind, add.from.is_none(), add.silent), (TransferKind::Add, true, false));
        let Operation::Transfer(copy) = &all[1] else { panic!("{all:?}") };
        assert_eq!((copy.kind, copy.to.is_none(), copy.silent), (TransferKind::Copy, true, true));
        let Operation::Transfer(moved) = &all[2] else { panic!("{all:?}") };
        assert_eq!(moved.kind, TransferKind::Move);
        let name = |graph: &Option<lode_rdf::NamedNode>| graph.as_ref().map(|g| g.as_str().to_owned());
        assert_eq!(
            (name(&moved.from).as_deref(), name(&moved.to).as_deref()),
            (Some("http://e/a"), Some("http://e/b"))
        );
        assert_eq!(all[3], Operation::Nothing);
        assert_eq!(all[4], Operation::Clear(GraphTarget::Named));
        assert!(matches!(&all[5], Operation::Clear(GraphTarget::One(Some(_)))));
    }

    #[test]
    fn templates_number_variables_and_blank_nodes() {
        let all = operations(
            "WITH <g> DELETE { ?s ?p ?o } INSERT { ?o <p> _:a, [ <q> ?s ] . GRAPH ?h { _:a <r> <<( ?s ?p _:a )>> } } WHERE { ?s ?p ?o }",
        );
        let Operation::Modify(modify) = &all[0] else { panic!("{all:?}") };
        let names: Vec<_> = modify.variables.iter().map(|v| v.as_str()).collect();
        assert_eq!((names, modify.blanks, modify.insert.len()), (vec!["s", "p", "o", "h"], 2, 4));
        assert!(modify.names_dataset());
        assert!(matches!(&modify.delete[0].graph, Some(TermTemplate::Const(_))));
        let graphs: Vec<_> = modify.insert.iter().filter_map(|quad| quad.graph.as_ref()).collect();
        assert!(matches!(graphs[..], [_, _, _, TermTemplate::Column(3)]), "{graphs:?}");
    }

    #[test]
    fn declarations_between_operations() {
        let all = operations(
            "PREFIX a: <http://a/> INSERT DATA { a:x a:y 1 } ; PREFIX a: <http://b/> DELETE DATA { a:x a:y TRUE } ; BASE <http://c/>",
        );
        let (Operation::InsertData(first), Operation::DeleteData(second)) = (&all[0], &all[1]) else {
            panic!("{all:?}")
        };
        assert_eq!(first[0].predicate.as_str(), "http://a/y");
        assert_eq!(second[0].predicate.as_str(), "http://b/y");
        assert_eq!(all.len(), 2);
        assert!(operations("").is_empty());
    }

    #[test]
    fn errors_have_places_in_the_request() {
        for (text, line, column) in [
            ("PREFIX a: <x>\nCLEAR ALL;\nINSERT DATA { ?s a:b 1 }", 3, 15),
            ("CLEAR ALL ;; DROP ALL", 1, 12),
            ("CLEAR ALL; # one\nPREFIX b <y> DROP ALL", 2, 8),
            ("CLEAR ALL; # one\nPREFIX b: <y>\nDELETE { ?s ?p } WHERE {}", 3, 16),
            ("INSERT DATA { _:a <p> 1 };\n  INSERT DATA { _:a <p> 2 }", 2, 3),
        ] {
            let error = parse_update(text, Some("http://e/")).expect_err(text);
            assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
        }
    }

    #[test]
    fn data_may_be_long_and_patterns_may_not_be_deep() {
        let quads: String = (0..12_000).map(|i| format!("<s-{i}> <p> -{i} . a-b:c-d a-b:e 1 . ")).collect();
        let all = operations(&format!("PREFIX a-b: <x> INSERT DATA {{ {quads} }}"));
        assert!(matches!(&all[0], Operation::InsertData(quads) if quads.len() == 24_000));
        let deep = format!("DELETE WHERE {{ {} {} }}", "[ <p> ".repeat(1_000), " ]".repeat(1_000));
        assert!(parse_update(&deep, Some("http://e/")).expect_err("too deep").message.contains("nested"));
    }
}
