//! What is told by ids agrees with what the terms' values tell.

use super::support::context_with;
use super::xt;
use crate::batch::Batch;
use crate::context::EvalContext;
use crate::expr::column::{Tri, tri_id};
use crate::expr::order::{OrderKey, Ranks, ranks};
use crate::expr::{compare as order, evaluate, order_keys, select};
use crate::values::compare::{self, Comparison};
use crate::values::value::Value;
use lode_rdf::{BlankNode, Literal, NamedNode, Term, ValueId};
use lode_sparql::{Expr, VarId};
use proptest::prelude::*;
use std::sync::Arc;

fn term() -> impl Strategy<Value = Term> {
    let small = || -3_i64..4;
    prop_oneof![
        small().prop_map(|n| xt(&n.to_string(), "integer")),
        small().prop_map(|n| xt(&n.to_string(), "byte")),
        (small(), prop::sample::select(vec!["", ".0", ".50", ".5"]))
            .prop_map(|(n, fraction)| xt(&format!("{n}{fraction}"), "decimal")),
        (small(), prop::sample::select(vec!["", ".0", ".5", "E0", "e1"]))
            .prop_map(|(n, fraction)| xt(&format!("{n}{fraction}"), "double")),
        small().prop_map(|n| xt(&format!("{n}.5"), "float")),
        small().prop_map(|n| xt(&format!("0{n}"), "integer")),
        prop::sample::select(vec!["NaN", "INF", "-INF", "-0", "abc"]).prop_map(|text| xt(text, "double")),
        prop::sample::select(vec!["true", "false", "1", "x"]).prop_map(|text| xt(text, "boolean")),
        (1_u8..4, prop::sample::select(vec!["", "Z", "-14:00"]))
            .prop_map(|(day, zone)| xt(&format!("2020-01-0{day}T00:00:00{zone}"), "dateTime")),
        (1_u8..4, prop::sample::select(vec!["", "Z"]))
            .prop_map(|(day, zone)| xt(&format!("2020-01-0{day}{zone}"), "date")),
        "[ab]{0,2}".prop_map(|text| Literal::new_simple_literal(text).into()),
        "[ab]".prop_map(|text| Literal::new_language_tagged_literal_unchecked(text, "en").into()),
        "[ab]".prop_map(|text| NamedNode::new_unchecked(format!("http://{text}/")).into()),
        "[ab]".prop_map(|text| BlankNode::new_unchecked(format!("q{text}")).into()),
        "[ab]".prop_map(|text| {
            Literal::new_typed_literal(text, NamedNode::new_unchecked("http://example/t")).into()
        }),
    ]
}

/// Some of the terms are in the database, from one load or from two (so that ids are not in the terms' order).
fn stored() -> impl Strategy<Value = Vec<Vec<Term>>> {
    let stored = term().prop_filter("blank nodes are renamed", |term| !term.is_blank_node());
    prop::collection::vec(prop::collection::vec(stored, 0..20), 0..3)
}

fn id(cx: &EvalContext, term: Option<&Term>) -> ValueId {
    term.map_or(ValueId::UNDEF, |term| cx.intern(term).unwrap())
}

fn value(term: Option<&Term>) -> Option<Value> {
    term.map(|term| Value::from_term(term.as_ref()))
}

type Build = fn(Box<Expr>, Box<Expr>) -> Expr;
type Expected = fn(&Value, &Value) -> Tri;

const OPERATORS: [(Build, Expected); 5] = [
    (Expr::Equal, compare::equal),
    (Expr::Less, |a, b| compare::compare(Comparison::Less, a, b)),
    (Expr::LessOrEqual, |a, b| compare::compare(Comparison::LessOrEqual, a, b)),
    (Expr::Greater, |a, b| compare::compare(Comparison::Greater, a, b)),
    (Expr::GreaterOrEqual, |a, b| compare::compare(Comparison::GreaterOrEqual, a, b)),
];

proptest! {
    #[test]
    fn comparisons(
        rows in prop::collection::vec((prop::option::weighted(0.9, term()), prop::option::weighted(0.9, term())), 1..60),
        constant in term(),
        numeric: bool,
        stored in stored(),
    ) {
        let cx = context_with(&stored);
        let is_number = |term: &Option<Term>| value(term.as_ref()).is_none_or(|value| value.is_numeric());
        let rows: Vec<_> = rows.into_iter().filter(|(a, _)| !numeric || is_number(a)).collect();
        let (a, b) = (VarId(0), VarId(1));
        let batch = Batch {
            vars: Arc::from([a, b]),
            columns: vec![
                rows.iter().map(|(a, _)| id(&cx, a.as_ref())).collect(),
                rows.iter().map(|(_, b)| id(&cx, b.as_ref())).collect(),
            ],
            rows: rows.len(),
        };
        for (build, expected) in OPERATORS {
            let truth = |a: Option<&Term>, b: Option<&Term>| match (value(a), value(b)) {
                (Some(a), Some(b)) => expected(&a, &b),
                _ => Tri::Error,
            };
            let sides = [
                (Expr::Var(a), Expr::Var(b), rows.iter().map(|(a, b)| truth(a.as_ref(), b.as_ref())).collect::<Vec<_>>()),
                (Expr::Var(a), Expr::Const(constant.clone()), rows.iter().map(|(a, _)| truth(a.as_ref(), Some(&constant))).collect()),
                (Expr::Const(constant.clone()), Expr::Var(a), rows.iter().map(|(a, _)| truth(Some(&constant), a.as_ref())).collect()),
            ];
            for (left, right, truths) in sides {
                let expr = build(Box::new(left), Box::new(right));
                let ids: Vec<ValueId> = truths.iter().map(|truth| tri_id(*truth)).collect();
                prop_assert_eq!(evaluate(&cx, &expr, &batch).unwrap(), ids, "{:?}", expr);
                let selected: Vec<u32> =
                    (0..).zip(&truths).filter(|(_, truth)| **truth == Tri::True).map(|(row, _)| row).collect();
                prop_assert_eq!(select(&cx, &expr, &batch).unwrap(), selected);
            }
        }
    }

    #[test]
    fn membership(
        rows in prop::collection::vec(prop::option::weighted(0.9, term()), 1..60),
        list in prop::collection::vec(term(), 0..4),
        stored in stored(),
    ) {
        let cx = context_with(&stored);
        let var = VarId(0);
        let batch = Batch {
            vars: Arc::from([var]),
            columns: vec![rows.iter().map(|term| id(&cx, term.as_ref())).collect()],
            rows: rows.len(),
        };
        let expr = Expr::In(Box::new(Expr::Var(var)), std::sync::Arc::new(list.iter().cloned().map(Expr::Const).collect()));
        let expected: Vec<ValueId> = rows
            .iter()
            .map(|term| {
                let Some(found) = value(term.as_ref()) else { return ValueId::UNDEF };
                let equal = |item: &Term| compare::equal(&found, &Value::from_term(item.as_ref()));
                tri_id(list.iter().map(equal).fold(Tri::False, Tri::or))
            })
            .collect();
        prop_assert_eq!(evaluate(&cx, &expr, &batch).unwrap(), expected);
    }

    #[test]
    fn orders(terms in prop::collection::vec(prop::option::weighted(0.9, term()), 1..30), stored in stored()) {
        let cx = context_with(&stored);
        let mut ids: Vec<ValueId> = terms.iter().map(|term| id(&cx, term.as_ref())).collect();
        let keys = order_keys(&cx, &ids).unwrap();
        for ((a, a_key), a_term) in ids.iter().zip(&keys).zip(&terms) {
            for (b, b_key) in ids.iter().zip(&keys) {
                prop_assert_eq!(order(&cx, *a, *b).unwrap(), a_key.cmp(b_key));
            }
            prop_assert_eq!(a_key, &OrderKey::new(value(a_term.as_ref()).as_ref()));
        }
        ids.sort_unstable();
        ids.dedup();
        if let Ranks::Of(ranks) = ranks(&cx, &ids).unwrap() {
            for (a, a_rank) in ids.iter().zip(&ranks) {
                for (b, b_rank) in ids.iter().zip(&ranks) {
                    prop_assert_eq!(order(&cx, *a, *b).unwrap(), a_rank.cmp(b_rank));
                }
            }
        }
    }
}

/// String functions over stored, local and inline terms, for many rows and few.
#[test]
fn functions_over_stored_terms() {
    let text = |text: &str| -> Term { Literal::new_simple_literal(text).into() };
    let lang: Term = Literal::new_language_tagged_literal_unchecked("Beta", "en").into();
    let other: Term =
        Literal::new_typed_literal("Gamma", NamedNode::new_unchecked("http://example/t")).into();
    let node: Term = NamedNode::new_unchecked("http://example/delta").into();
    let loads = [vec![text("alpha"), lang.clone()], vec![other.clone(), node.clone(), xt("01", "integer")]];
    let cx = context_with(&loads);
    let terms = [text("alpha"), lang, other, node, xt("01", "integer"), xt("5", "integer"), text("new")];
    let var = VarId(0);
    let cases = [
        (
            "STR(?x)",
            ["\"alpha\"", "\"Beta\"", "\"Gamma\"", "\"http://example/delta\"", "\"01\"", "\"5\"", "\"new\""],
        ),
        (
            "UCASE(STR(?x))",
            ["\"ALPHA\"", "\"BETA\"", "\"GAMMA\"", "\"HTTP://EXAMPLE/DELTA\"", "\"01\"", "\"5\"", "\"NEW\""],
        ),
        ("LANG(?x)", ["\"\"", "\"en\"", "\"\"", "error", "\"\"", "\"\"", "\"\""]),
        (
            "STRLEN(?x)",
            [
                "\"5\"^^<xsd:integer>",
                "\"4\"^^<xsd:integer>",
                "error",
                "error",
                "error",
                "error",
                "\"3\"^^<xsd:integer>",
            ],
        ),
        (
            "?x + 1",
            ["error", "error", "error", "error", "\"2\"^^<xsd:integer>", "\"6\"^^<xsd:integer>", "error"],
        ),
    ];
    for times in [1, 40] {
        let ids: Vec<ValueId> = terms.iter().map(|term| cx.intern(term).unwrap()).collect();
        let batch =
            Batch { vars: Arc::from([var]), columns: vec![ids.repeat(times)], rows: terms.len() * times };
        for (expression, expected) in &cases {
            let (expr, _) = super::support::parse(&cx, expression, "(?x) { (1) }", 1);
            // The variable of a parsed expression is the first of its query.
            let found = evaluate(&cx, &rename(expr, var), &batch).unwrap();
            let found: Vec<String> = found.iter().map(|id| super::support::text(&cx, *id)).collect();
            for row in found.chunks(terms.len()) {
                assert_eq!(row, expected, "{expression}");
            }
        }
    }
}

/// The expression with all of its variables replaced.
fn rename(expr: Expr, var: VarId) -> Expr {
    match expr {
        Expr::Var(_) => Expr::Var(var),
        Expr::Call(function, list) => {
            Expr::Call(function, list.into_iter().map(|expr| rename(expr, var)).collect())
        }
        Expr::Add(a, b) => Expr::Add(Box::new(rename(*a, var)), Box::new(rename(*b, var))),
        other => other,
    }
}
