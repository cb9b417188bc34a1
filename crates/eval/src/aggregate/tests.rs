//! Accumulators against plain folds, and the W3C suites' cases.

use super::{AVG, Accumulator, COUNT, COUNT_ROWS, GROUP_CONCAT, MAX, MIN, SAMPLE, SUM, all};
use crate::context::EvalContext;
use crate::expr::tests::support::{context, text};
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use lode_sparql::AggregateFunction;
use lode_sparql::function::ValueType;
use proptest::prelude::*;
use std::collections::HashSet;

fn typed(lexical: &str, name: &str) -> Term {
    Literal::new_typed_literal(
        lexical,
        NamedNode::new_unchecked(format!("http://www.w3.org/2001/XMLSchema#{name}")),
    )
    .into()
}

fn integer(value: i64) -> Term {
    typed(&value.to_string(), "integer")
}

/// The aggregate of some terms (`None`: an error), in one go.
fn aggregate(
    cx: &EvalContext,
    function: &AggregateFunction,
    distinct: bool,
    terms: &[Option<Term>],
) -> String {
    separated(cx, function, None, distinct, terms)
}

fn separated(
    cx: &EvalContext,
    function: &AggregateFunction,
    separator: Option<&str>,
    distinct: bool,
    terms: &[Option<Term>],
) -> String {
    let ids = ids(cx, terms);
    let mut accumulator = Accumulator::new(function, separator, distinct);
    accumulator.resize(1);
    accumulator.update(cx, &vec![0; ids.len()], &ids).unwrap();
    text(cx, accumulator.finish(cx, 0).unwrap())
}

fn ids(cx: &EvalContext, terms: &[Option<Term>]) -> Vec<ValueId> {
    terms.iter().map(|term| term.as_ref().map_or(ValueId::UNDEF, |term| cx.intern(term).unwrap())).collect()
}

/// Those that queries call.
const CALLED: [&AggregateFunction; 8] = [&COUNT_ROWS, &COUNT, &SUM, &AVG, &MIN, &MAX, &SAMPLE, &GROUP_CONCAT];

#[test]
fn each_has_a_name_and_states() {
    let names: HashSet<&str> = all().map(|aggregate| aggregate.name).collect();
    // Those of SPARQL, the one that only the planner calls, and those of GeoSPARQL.
    let of_geometries = if cfg!(feature = "geo") { 6 } else { 0 };
    assert_eq!((names.len(), all().count()), (9 + of_geometries, 9 + of_geometries));
    assert!(all().all(|aggregate| aggregate.implementation.is::<super::Kernel>()));
    assert!(CALLED.iter().all(|aggregate| super::find(aggregate.name) == Some(aggregate)));
    let stranger = AggregateFunction::new("e:mode", ValueType::Term, ValueType::Term, &());
    let mut states = Accumulator::new(&stranger, None, false);
    states.resize(1);
    assert!(states.update(&context(), &[0], &[ValueId::UNDEF]).is_err());
}

#[test]
fn nothing() {
    let cx = context();
    let zero = "\"0\"^^<xsd:integer>";
    for (function, expected) in
        CALLED.into_iter().zip([zero, zero, zero, zero, "error", "error", "error", "\"\""])
    {
        assert_eq!(aggregate(&cx, function, false, &[]), expected, "{function:?}");
        assert_eq!(aggregate(&cx, function, true, &[]), expected, "{function:?}");
    }
}

#[test]
fn numbers() {
    let cx = context();
    let mixed = [Some(integer(1)), Some(typed("2.2", "decimal"))];
    assert_eq!(aggregate(&cx, &SUM, false, &mixed), "\"3.2\"^^<xsd:decimal>");
    assert_eq!(aggregate(&cx, &AVG, false, &mixed), "\"1.6\"^^<xsd:decimal>");
    assert_eq!(aggregate(&cx, &MAX, false, &mixed), "\"2.2\"^^<xsd:decimal>");
    let doubles =
        [Some(typed("1.0E2", "double")), Some(typed("2.0E3", "double")), Some(typed("3.0E4", "double"))];
    assert_eq!(aggregate(&cx, &SUM, false, &doubles), "\"3.21E4\"^^<xsd:double>");
    let with_string = [Some(integer(1)), Some(Literal::new_simple_literal("2").into())];
    assert_eq!(aggregate(&cx, &SUM, false, &with_string), "error");
    assert_eq!(aggregate(&cx, &AVG, false, &with_string), "error");
    let large = [Some(integer(i64::MAX)), Some(integer(i64::MAX)), Some(integer(-i64::MAX))];
    assert_eq!(aggregate(&cx, &SUM, false, &large), format!("\"{}\"^^<xsd:integer>", i64::MAX));
    assert_eq!(aggregate(&cx, &SUM, false, &large[..2]), "\"18446744073709551614\"^^<xsd:integer>");
    let same = [Some(integer(1)), Some(integer(2)), Some(integer(2))];
    assert_eq!(aggregate(&cx, &SUM, true, &same), "\"3\"^^<xsd:integer>");
    assert_eq!(aggregate(&cx, &AVG, true, &same), "\"1.5\"^^<xsd:decimal>");
    assert_eq!(aggregate(&cx, &COUNT, true, &same), "\"2\"^^<xsd:integer>");
    assert_eq!(aggregate(&cx, &COUNT_ROWS, false, &same), "\"3\"^^<xsd:integer>");
    let durations = [Some(typed("P1D", "dayTimeDuration"))];
    assert_eq!(aggregate(&cx, &SUM, false, &durations), "error");
}

#[test]
fn errors() {
    let cx = context();
    let terms = [Some(integer(1)), None, Some(integer(3))];
    let expected = [
        "\"3\"^^<xsd:integer>",
        "\"2\"^^<xsd:integer>",
        "error",
        "error",
        "\"1\"^^<xsd:integer>",
        "\"3\"^^<xsd:integer>",
        "\"1\"^^<xsd:integer>",
        "error",
    ];
    for (function, expected) in CALLED.into_iter().zip(expected) {
        assert_eq!(aggregate(&cx, function, false, &terms), expected, "{function:?}");
    }
    assert_eq!(aggregate(&cx, &SAMPLE, false, &[None, Some(integer(3))]), "\"3\"^^<xsd:integer>");
}

#[test]
fn texts() {
    let cx = context();
    let concat = |distinct, terms: &[_]| separated(&cx, &GROUP_CONCAT, Some(", "), distinct, terms);
    let terms = [
        Some(Literal::new_simple_literal("a").into()),
        Some(Literal::new_language_tagged_literal_unchecked("b", "en").into()),
        Some(integer(5)),
        Some(NamedNode::new_unchecked("http://example/").into()),
        Some(Literal::new_simple_literal("a").into()),
    ];
    assert_eq!(concat(false, &terms), "\"a, b, 5, http://example/, a\"");
    assert_eq!(concat(true, &terms), "\"a, b, 5, http://example/\"");
    let blank: Term = lode_rdf::BlankNode::new_unchecked("q1").into();
    assert_eq!(concat(false, &[Some(blank)]), "error");
}

#[test]
fn extremes_take_terms_of_any_kind() {
    let cx = context();
    let blank: Term = lode_rdf::BlankNode::new_unchecked("q1").into();
    let terms = [
        Some(integer(4)),
        Some(NamedNode::new_unchecked("http://example/").into()),
        Some(Literal::new_simple_literal("b").into()),
        Some(Literal::new_simple_literal("c").into()),
        Some(blank),
        Some(Literal::new_simple_literal("a").into()),
    ];
    assert_eq!(aggregate(&cx, &MIN, false, &terms), "_:q1");
    assert_eq!(aggregate(&cx, &MIN, false, &terms[..3]), "<http://example/>");
    assert_eq!(aggregate(&cx, &MAX, false, &terms), "\"c\"");
    assert_eq!(aggregate(&cx, &MAX, true, &terms), "\"c\"");
}

/// Numbers that doubles hold exactly, so that sums do not depend on the order, and other terms.
fn term() -> impl Strategy<Value = Option<Term>> {
    prop_oneof![
        6 => (-4_i64..5).prop_map(|n| Some(integer(n))),
        2 => (-40_i64..40).prop_map(|n| Some(typed(&format!("{}", oxsdatatypes::Decimal::new(i128::from(n) * 25, 2).unwrap()), "decimal"))),
        2 => (-4_i8..4).prop_map(|n| Some(typed(&format!("{:?}E0", f64::from(n) / 2.0), "double"))),
        1 => (0_i64..3).prop_map(|n| Some(typed(&format!("0{n}"), "integer"))),
        1 => "[ab]".prop_map(|text| Some(Literal::new_simple_literal(text).into())),
        1 => Just(None),
    ]
}

proptest! {
    /// Groups filled in batches and merged from parts come to what each group comes to by itself.
    #[test]
    fn groups_and_parts(
        rows in prop::collection::vec((0_u32..3, term()), 0..40),
        cut in 0_usize..40,
        numeric: bool,
    ) {
        let cx = context();
        let rows: Vec<_> = rows
            .into_iter()
            .filter(|(_, term)| !numeric || matches!(term, Some(Term::Literal(l)) if l.datatype().as_str().ends_with('r')))
            .collect();
        let cut = cut.min(rows.len());
        for function in CALLED {
            for distinct in [false, true] {
                let fill = |rows: &[(u32, Option<Term>)], groups: [u32; 3]| {
                    let mut accumulator = Accumulator::new(function, None, distinct);
                    accumulator.resize(3);
                    for chunk in rows.chunks(7) {
                        let numbers: Vec<u32> = chunk.iter().map(|(group, _)| groups[*group as usize]).collect();
                        let terms: Vec<_> = chunk.iter().map(|(_, term)| term.clone()).collect();
                        accumulator.update(&cx, &numbers, &ids(&cx, &terms)).unwrap();
                    }
                    accumulator
                };
                let mut merged = fill(&rows[..cut], [0, 1, 2]);
                merged.merge(&cx, fill(&rows[cut..], [2, 0, 1]), &[1, 2, 0]).unwrap();
                let whole = fill(&rows, [0, 1, 2]);
                for group in 0..3 {
                    let own: Vec<_> =
                        rows.iter().filter(|(other, _)| *other == group).map(|(_, term)| term.clone()).collect();
                    let counted_rows = *function == COUNT_ROWS && distinct;
                    let expected = aggregate(&cx, function, distinct, &own);
                    let found = text(&cx, whole.finish(&cx, group).unwrap());
                    prop_assert_eq!(&found, &expected, "{:?} {}", function, distinct);
                    let found = text(&cx, merged.finish(&cx, group).unwrap());
                    prop_assert_eq!(&found, &expected, "merged {:?} {}", function, distinct);
                    if *function == COUNT && !counted_rows {
                        let present = own.iter().flatten();
                        let naive = if distinct { present.collect::<HashSet<_>>().len() } else { present.count() };
                        prop_assert_eq!(expected, format!("\"{naive}\"^^<xsd:integer>"));
                    }
                }
                prop_assert!(merged.bytes() > 0);
            }
        }
    }
}
