//! The evaluator: expressions as written, over columns.

use super::super::eval::Evaluator;
use super::support::{context, one, parse, rows, text};
use crate::batch::Batch;
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::expr::{RowNumbers, evaluate, evaluate_numbered, select};
use lode_base::memory_budget::MemoryBudget;
use lode_rdf::ValueId;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

#[test]
fn constants_by_the_specification() {
    let cx = context();
    let cases = [
        ("1 + 2 * 3", "\"7\"^^<xsd:integer>"),
        ("1 / 0", "error"),
        ("\"a\" = \"a\" && 1 < 2", "\"true\"^^<xsd:boolean>"),
        ("IF(1/0, false, true)", "error"),
        ("IF(true, \"yes\", 1/0)", "\"yes\""),
        ("COALESCE(1/0, 2)", "\"2\"^^<xsd:integer>"),
        ("COALESCE(1/0)", "error"),
        ("COALESCE()", "error"),
        ("2 IN (1, 2, 3)", "\"true\"^^<xsd:boolean>"),
        ("2 IN ()", "\"false\"^^<xsd:boolean>"),
        ("2 IN (1/0, 2)", "\"true\"^^<xsd:boolean>"),
        ("2 IN (3, 1/0)", "error"),
        ("2 IN (1.0, 2.0)", "\"true\"^^<xsd:boolean>"),
        ("2 NOT IN (1/0, 2)", "\"false\"^^<xsd:boolean>"),
        ("2 NOT IN (3, 1/0)", "error"),
        ("<http://a/> IN (\"x\", <http://a/>)", "\"true\"^^<xsd:boolean>"),
        ("(1/0) IN ()", "error"),
        ("true || 1/0", "\"true\"^^<xsd:boolean>"),
        ("1/0 || false", "error"),
        ("false && 1/0", "\"false\"^^<xsd:boolean>"),
        ("1/0 && true", "error"),
        ("!!\"a\"", "\"true\"^^<xsd:boolean>"),
        ("!!\"a\"@en", "error"),
        ("STR(<http://example.com/a>)", "\"http://example.com/a\""),
        ("STR(01)", "\"01\""),
        ("STR(1.50)", "\"1.50\""),
        ("LANG(\"a\"@en)", "\"en\""),
        ("LANG(1)", "\"\""),
        ("LANG(:a)", "error"),
        ("DATATYPE(1)", "<xsd:integer>"),
        ("DATATYPE(\"01\"^^xsd:byte)", "<xsd:byte>"),
        ("DATATYPE(\"a\")", "<xsd:string>"),
        ("DATATYPE(\"a\"@en)", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"),
        ("DATATYPE(\"a\"@en--ltr)", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString>"),
        ("DATATYPE(1 + 1.5)", "<xsd:decimal>"),
        ("DATATYPE(:a)", "error"),
        ("IRI(\"a\")", "<http://example.org/a>"),
        ("IRI(\"http://x/y\")", "<http://x/y>"),
        ("IRI(:a)", "<http://example/a>"),
        ("IRI(1)", "error"),
        ("IRI(\"a b\")", "error"),
        ("STRDT(\"01\", xsd:integer)", "\"01\"^^<xsd:integer>"),
        ("STRDT(\"a\", :t)", "\"a\"^^<http://example/t>"),
        ("STRDT(\"a\"@en, xsd:string)", "error"),
        ("STRDT(1, xsd:string)", "error"),
        ("STRLANG(\"abc\", \"en\")", "\"abc\"@en"),
        ("STRLANGDIR(\"abc\", \"en\", \"rtl\")", "\"abc\"@en--rtl"),
        ("LANGDIR(\"abc\"@en--rtl)", "\"rtl\""),
        ("LANGDIR(1)", "\"\""),
        ("hasLANG(\"a\"@en)", "\"true\"^^<xsd:boolean>"),
        ("hasLANG(:a)", "\"false\"^^<xsd:boolean>"),
        ("hasLANGDIR(\"a\"@en)", "\"false\"^^<xsd:boolean>"),
        ("hasLANGDIR(\"a\"@en--ltr)", "\"true\"^^<xsd:boolean>"),
        ("isIRI(:a)", "\"true\"^^<xsd:boolean>"),
        ("isLITERAL(\"a\")", "\"true\"^^<xsd:boolean>"),
        ("isLITERAL(:a)", "\"false\"^^<xsd:boolean>"),
        ("isNUMERIC(12)", "\"true\"^^<xsd:boolean>"),
        ("isNUMERIC(\"12\")", "\"false\"^^<xsd:boolean>"),
        ("isNUMERIC(\"1200\"^^xsd:byte)", "\"false\"^^<xsd:boolean>"),
        ("isNUMERIC(:a)", "\"false\"^^<xsd:boolean>"),
        ("isBLANK(BNODE())", "\"true\"^^<xsd:boolean>"),
        ("isTRIPLE(<<( :a :b 1 )>>)", "\"true\"^^<xsd:boolean>"),
        (
            "TRIPLE(:a, :b, \"01\"^^xsd:integer)",
            "<<( <http://example/a> <http://example/b> \"01\"^^<xsd:integer> )>>",
        ),
        ("TRIPLE(1, :b, 2)", "error"),
        ("SUBJECT(<<( :a :b 1 )>>)", "<http://example/a>"),
        ("PREDICATE(<<( :a :b 1 )>>)", "<http://example/b>"),
        ("OBJECT(<<( :a :b 01 )>>)", "\"01\"^^<xsd:integer>"),
        ("OBJECT(1)", "error"),
        ("sameTerm(1, 1.0)", "\"false\"^^<xsd:boolean>"),
        ("sameTerm(1, 01)", "\"false\"^^<xsd:boolean>"),
        ("sameTerm(1 + 1, 2)", "\"true\"^^<xsd:boolean>"),
        ("sameTerm(\"foo\", \"foo\"^^xsd:string)", "\"true\"^^<xsd:boolean>"),
        ("NOW()", "\"2020-01-02T03:04:05Z\"^^<xsd:dateTime>"),
        ("CONCAT()", "\"\""),
        ("CONCAT(\"a\", \"b\", \"c\")", "\"abc\""),
        ("REGEX(\"abc\", \"B\", \"i\")", "\"true\"^^<xsd:boolean>"),
        ("REPLACE(\"abcd\", \"b\", \"Z\")", "\"aZcd\""),
        ("SUBSTR(\"foobar\", 4, 1)", "\"b\""),
        ("STRLEN(\"chat\"@en)", "\"4\"^^<xsd:integer>"),
        ("xsd:integer(\"7\") + 1", "\"8\"^^<xsd:integer>"),
        ("xsd:byte(7)", "\"7\"^^<xsd:byte>"),
        ("xsd:byte(700)", "error"),
        ("xsd:string(:a)", "\"http://example/a\""),
        ("xsd:foo(1)", "error"),
        ("<http://example/unknown>(1)", "error"),
        ("ROUND(2.4999)", "\"2\"^^<xsd:decimal>"),
        ("-(1)", "\"-1\"^^<xsd:integer>"),
        ("+(\"1\")", "error"),
        ("STRLEN(STRUUID())", "\"36\"^^<xsd:integer>"),
        (
            "REGEX(STR(UUID()), \"^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$\")",
            "\"true\"^^<xsd:boolean>",
        ),
        ("RAND() >= 0 && RAND() < 1", "\"true\"^^<xsd:boolean>"),
        ("BNODE(\"a\") = BNODE(\"a\")", "\"true\"^^<xsd:boolean>"),
        ("BNODE(\"a\") = BNODE(\"b\")", "\"false\"^^<xsd:boolean>"),
        ("BNODE() = BNODE()", "\"false\"^^<xsd:boolean>"),
        ("BNODE(1)", "error"),
        ("9223372036854775807", "\"9223372036854775807\"^^<xsd:integer>"),
        ("9223372036854775806 + 1", "\"9223372036854775807\"^^<xsd:integer>"),
    ];
    for (expression, expected) in cases {
        assert_eq!(one(&cx, expression), expected, "{expression}");
    }
}

#[test]
fn variables_row_by_row() {
    let cx = context();
    let data = "(?a ?b) { (1 2) (\"x\" \"x\"@en) (UNDEF 1) (:a :a) (1.0 \"01\"^^xsd:integer) (\"q\"^^:t \"q\"^^:t) (true 1) }";
    let t = "\"true\"^^<xsd:boolean>";
    let f = "\"false\"^^<xsd:boolean>";
    assert_eq!(rows(&cx, "?a = ?b", data), [f, f, "error", t, t, t, f]);
    assert_eq!(rows(&cx, "?a != ?b", data), [t, t, "error", f, f, f, t]);
    assert_eq!(rows(&cx, "?a < ?b", data), [t, "error", "error", "error", f, "error", "error"]);
    assert_eq!(rows(&cx, "sameTerm(?a, ?b)", data), [f, f, "error", t, f, t, f]);
    assert_eq!(rows(&cx, "BOUND(?a)", data), [t, t, f, t, t, t, t]);
    assert_eq!(rows(&cx, "BOUND(?nowhere)", data), [f; 7]);
    assert_eq!(rows(&cx, "?nowhere", data), ["error"; 7]);
    assert_eq!(
        rows(&cx, "COALESCE(?a, ?b, 5)", data),
        [
            "\"1\"^^<xsd:integer>",
            "\"x\"",
            "\"1\"^^<xsd:integer>",
            "<http://example/a>",
            "\"1.0\"^^<xsd:decimal>",
            "\"q\"^^<http://example/t>",
            t
        ]
    );
    assert_eq!(
        rows(&cx, "IF(isNUMERIC(?a), ?a + ?b, STR(?a))", data),
        [
            "\"3\"^^<xsd:integer>",
            "\"x\"",
            "error",
            "\"http://example/a\"",
            "\"2\"^^<xsd:decimal>",
            "\"q\"",
            "\"true\""
        ]
    );
    assert_eq!(
        rows(&cx, "IF(?a = 1, ?b, \"other\")", data),
        [
            "\"2\"^^<xsd:integer>",
            "\"other\"",
            "error",
            "\"other\"",
            "\"01\"^^<xsd:integer>",
            "error",
            "\"other\""
        ]
    );
    assert_eq!(rows(&cx, "?a IN (1, :a, \"x\")", data), [t, t, "error", t, t, "error", f]);
    assert_eq!(rows(&cx, "?a IN (:a, \"x\")", data), [f, t, "error", t, f, "error", f]);
    assert_eq!(rows(&cx, "?a IN (?b, :a)", data), [f, f, "error", t, t, t, f]);
    assert_eq!(
        rows(&cx, "DATATYPE(?a)", data),
        [
            "<xsd:integer>",
            "<xsd:string>",
            "error",
            "error",
            "<xsd:decimal>",
            "<http://example/t>",
            "<xsd:boolean>"
        ]
    );
    assert_eq!(rows(&cx, "?a || ?b > 1", data), [t, t, "error", "error", t, "error", t]);
}

#[test]
fn dates_and_durations() {
    let cx = context();
    let data = "(?d) { (\"2020-02-29\"^^xsd:date) (\"2020-02-29T10:00:00Z\"^^xsd:dateTime) (\"2020-02-29T10:00:00\"^^xsd:dateTime) }";
    assert_eq!(
        rows(&cx, "YEAR(?d) + MONTH(?d)", data),
        ["\"2022\"^^<xsd:integer>", "\"2022\"^^<xsd:integer>", "\"2022\"^^<xsd:integer>"]
    );
    assert_eq!(
        rows(&cx, "?d + \"P1Y\"^^xsd:yearMonthDuration", data),
        [
            "\"2021-02-28\"^^<xsd:date>",
            "\"2021-02-28T10:00:00Z\"^^<xsd:dateTime>",
            "\"2021-02-28T10:00:00\"^^<xsd:dateTime>"
        ]
    );
    assert_eq!(
        rows(&cx, "?d > \"2020-02-28T10:00:00Z\"^^xsd:dateTime", data),
        ["error", "\"true\"^^<xsd:boolean>", "\"true\"^^<xsd:boolean>"]
    );
    assert_eq!(rows(&cx, "TZ(?d)", data), ["\"\"", "\"Z\"", "\"\""]);
}

#[test]
fn selection_narrows() {
    let cx = context();
    let data = "(?a) { (1) (2) (UNDEF) (3) (\"x\") (4) }";
    for (expression, expected) in [
        ("?a > 1 && ?a < 4", vec![1, 3]),
        ("?a > 1 && (?a < 3 || ?a = 4)", vec![1, 5]),
        ("1/0 && ?a > 1", vec![]),
        ("?a > 1 && 1/0 = 1", vec![]),
        ("true", vec![0, 1, 2, 3, 4, 5]),
        ("?a", vec![0, 1, 3, 4, 5]),
        ("isLITERAL(?a) && STRLEN(STR(?a)) = 1 && ?a != 1", vec![1, 3, 4, 5]),
    ] {
        let (expr, batch) = parse(&cx, expression, data, 1);
        assert_eq!(select(&cx, &expr, &batch).unwrap(), expected, "{expression}");
    }
}

#[test]
fn blank_nodes_are_per_row() {
    let cx = context();
    let data = "(?a ?b) { (\"x\" \"x\") (\"x\" \"y\") (\"x\" \"y\") }";
    let (first, batch) = parse(&cx, "BNODE(?a)", data, 1);
    let (second, _) = parse(&cx, "BNODE(?b)", data, 1);
    let numbers = RowNumbers::default();
    let a = evaluate_numbered(&cx, &first, &batch, &numbers).unwrap();
    let b = evaluate_numbered(&cx, &second, &batch, &numbers).unwrap();
    assert_eq!(a[0], b[0]);
    assert_ne!(a[1], b[1]);
    let distinct: HashSet<_> = a.iter().chain(&b).collect();
    assert_eq!(distinct.len(), 5);
    assert_ne!(evaluate(&cx, &first, &batch).unwrap(), a);
    let (fresh, batch) = parse(&cx, "BNODE()", data, 20);
    let nodes: HashSet<_> = evaluate(&cx, &fresh, &batch).unwrap().into_iter().collect();
    assert_eq!(nodes.len(), 60);
}

#[test]
fn computed_terms_have_one_id() {
    let cx = context();
    let (expr, batch) = parse(&cx, "CONCAT(?a, ?b)", "(?a ?b) { (\"a\" \"bc\") (\"ab\" \"c\") }", 1);
    let ids = evaluate(&cx, &expr, &batch).unwrap();
    assert_eq!(ids[0], ids[1]);
    assert_eq!(text(&cx, ids[0]), "\"abc\"");
    assert_eq!(cx.intern(&cx.term(ids[0]).unwrap()).unwrap(), ids[0]);
    assert!(cx.local.bytes() > 0);
}

#[test]
fn odd_calls_are_errors() {
    let cx = context();
    for expression in ["xsd:integer(1, 2)", "xsd:integer()", "<http://example/f>()"] {
        assert_eq!(one(&cx, expression), "error", "{expression}");
    }
}

#[test]
fn texts_that_are_cast_are_read_as_the_functions_say() {
    let cx = context();
    let data = "?x { \"1.5\" \"1.5\"@en 1.50 \" 7 \" 1e2 \"1.0E2\"^^xsd:double \"12.50\"^^<http://example/USD> <http://example/> \"NaN\" true \
                \"x\"^^xsd:integer UNDEF }";
    for target in ["float", "double", "decimal", "integer", "boolean", "dateTime"] {
        for text in ["STR(?x)", "xsd:string(?x)"] {
            let fused = rows(&cx, &format!("xsd:{target}({text})"), data);
            // IF hides the inner call.
            let apart = rows(&cx, &format!("xsd:{target}(IF(true, {text}, 1))"), data);
            assert_eq!(fused, apart, "{target} {text}");
        }
    }
}

#[test]
fn computed_texts_have_to_fit_into_memory() {
    let cx = EvalContext { budget: MemoryBudget::new(64 << 20), ..context() };
    let expression = format!("STRLEN(CONCAT(\"{}\", ?x))", "x".repeat(100_000));
    let data = |rows: u32| {
        let values: String = (0..rows).map(|n| format!(" \"{n}\"")).collect();
        format!("?x {{{values} }}")
    };
    let (expr, batch) = parse(&cx, &expression, &data(100), 1);
    assert_eq!(evaluate(&cx, &expr, &batch).unwrap().len(), 100);
    // 200 MB, some rows at a time.
    let (expr, batch) = parse(&cx, &expression, &data(2000), 1);
    let lengths = evaluate(&cx, &expr, &batch).unwrap();
    assert_eq!((lengths.len(), lengths[0], lengths[1999]), (2000, integer(100_001), integer(100_004)));
    assert!(cx.budget.peak() > 32 << 20 && cx.budget.used() < 1 << 20);
    let (expr, batch) = parse(&cx, &format!("{expression} > 100002"), &data(2000), 1);
    assert_eq!(select(&cx, &expr, &batch).unwrap(), (100..2000).collect::<Vec<u32>>());
    let _others = cx.budget.reserve(cx.budget.free() - (10 << 10)).unwrap();
    let expression = format!("STRLEN(CONCAT(\"{}\", ?x))", "x".repeat(1_000_000));
    let (expr, batch) = parse(&cx, &expression, &data(2000), 1);
    assert!(matches!(evaluate(&cx, &expr, &batch), Err(ExecError::OutOfMemory(_))));
}

#[test]
fn a_text_has_a_greatest_length() {
    let cx = EvalContext { budget: MemoryBudget::new(64 << 20), ..context() };
    let grown = |times: usize| {
        let grow = |text: String| format!("REPLACE({text}, \"x\", \"xxxxxxxxxx\")");
        (0..times).fold("?x".to_owned(), |text, _| grow(text))
    };
    let cases = [
        (format!("STRLEN({})", grown(6)), Ok(1_000_000)),
        (format!("STRLEN({})", grown(7)), Err("REPLACE")),
        (format!("STRLEN(CONCAT({0}, {0}, {0}, {0}, {0}))", grown(6)), Err("CONCAT")),
        (format!("STRLEN(ENCODE_FOR_URI(REPLACE({}, \"x\", \"  \")))", grown(6)), Err("ENCODE_FOR_URI")),
        (format!("STRLEN(REPLACE(?x, \"(x)\", \"{}\"))", "$1".repeat(500_000)), Err("REPLACE")),
    ];
    for (expression, expected) in cases {
        // A constant and a column.
        for expression in [expression.replace("?x", "\"x\""), expression] {
            let (expr, batch) = parse(&cx, &expression, "?x { \"x\" \"x\" }", 1);
            match (evaluate(&cx, &expr, &batch), expected) {
                (Ok(ids), Ok(length)) => assert_eq!(ids, [integer(length); 2]),
                (Err(ExecError::TextTooLong { function, bytes_max }), Err(expected)) => {
                    assert_eq!((function, bytes_max), (expected, 4 << 20));
                }
                other => panic!("{expression:.100}: {other:?}"),
            }
        }
    }
    assert!(cx.budget.peak() < 64 << 20);
}

fn integer(value: i64) -> ValueId {
    lode_rdf::inline::encode_literal(&value.to_string(), "http://www.w3.org/2001/XMLSchema#integer").unwrap()
}

/// It is an error of the query, not of the expression: that would be a wrong answer.
#[test]
fn a_pattern_that_takes_too_many_steps_ends_the_query() {
    let cx = context();
    let text = format!("\"{}!\"", "a".repeat(2000));
    let pattern = r#""(a+)+()\\2b""#;
    for expression in [
        format!("REGEX(?x, {pattern})"),
        format!("REGEX(CONCAT(?x, ?x), {pattern})"),
        format!("COALESCE(REGEX(?x, STR({pattern})), 1)"),
        format!("REPLACE(?x, {pattern}, \"-\")"),
        format!("REPLACE(?x, {pattern}, \"-\", \"i\")"),
    ] {
        let (expr, batch) = parse(&cx, &expression, &format!("?x {{ {text} \"b\" }}"), 1);
        match evaluate(&cx, &expr, &batch) {
            Err(error @ ExecError::PatternTooComplex { .. }) => {
                let message = error.to_string();
                assert!(message.contains(r#""(a+)+()\\2b", which has back-references"#), "{message}");
            }
            other => panic!("{expression}: {other:?}"),
        }
    }
}

#[test]
fn what_is_computed_row_by_row_hears_that_it_is_cancelled() {
    let cx = context();
    let mut batch = Batch::new(Arc::from([]));
    batch.rows = 4096;
    let (numbers, made) = (Cell::new(None), Cell::new(0));
    let value = |_| {
        made.set(made.get() + 1);
        if made.get() == 100 {
            cx.cancel.cancel();
        }
        None
    };
    let column = Evaluator::new(&cx, &batch, &numbers).values(value);
    assert!(matches!(column, Err(ExecError::Cancelled(_))));
    assert!((100..200).contains(&made.get()), "{}", made.get());
}
