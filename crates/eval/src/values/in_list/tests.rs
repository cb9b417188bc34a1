//! The set answers as the comparison with each constant would.

use super::*;
use lode_rdf::{BlankNode, Literal, NamedNode, Triple};

fn typed(lexical: &str, name: &str) -> Value {
    Value::from_typed(lexical, &format!("http://www.w3.org/2001/XMLSchema#{name}"))
}

/// Values of all kinds, many of them equal to others of other types, nearly equal, or not comparable.
fn values() -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for lexical in ["0", "1", "-1", "2", "16777216", "16777217", "9007199254740993", "9223372036854775807"] {
        values.extend(["integer", "decimal", "float", "double"].map(|name| typed(lexical, name)));
    }
    for lexical in
        ["0.1", "1.5", "-0.0", "0.100000001490116119384765625", "100000000000000000.000000000000000001"]
    {
        values.extend(["decimal", "float", "double"].map(|name| typed(lexical, name)));
    }
    for lexical in ["NaN", "INF", "-INF", "1e300", "3.4028236e38"] {
        values.extend(["float", "double"].map(|name| typed(lexical, name)));
    }
    values.extend(["true", "false"].map(|lexical| typed(lexical, "boolean")));
    values.extend(["", "a", "1"].map(Value::string));
    for zone in ["", "Z", "+14:00", "-14:00", "+01:00"] {
        for hour in ["00", "10", "11", "23"] {
            values.push(typed(&format!("2024-02-29T{hour}:00:00{zone}"), "dateTime"));
            values.push(typed(&format!("{hour}:00:00{zone}"), "time"));
        }
        for day in ["2024-02-28", "2024-02-29", "2024-03-01"] {
            values.push(typed(&format!("{day}{zone}"), "date"));
        }
        values.extend(["2023", "2024"].map(|year| typed(&format!("{year}{zone}"), "gYear")));
        values.extend(["2023-12", "2024-01"].map(|month| typed(&format!("{month}{zone}"), "gYearMonth")));
        values.extend(["--01", "--12"].map(|month| typed(&format!("{month}{zone}"), "gMonth")));
        values.extend(["--02-29", "--03-01"].map(|day| typed(&format!("{day}{zone}"), "gMonthDay")));
        values.extend(["---01", "---31"].map(|day| typed(&format!("{day}{zone}"), "gDay")));
    }
    values.extend(["P1Y", "P12M", "P0M"].map(|lexical| typed(lexical, "yearMonthDuration")));
    values.extend(["P1D", "PT24H", "PT0S"].map(|lexical| typed(lexical, "dayTimeDuration")));
    values.extend(["P1Y", "P1D", "P1YT24H", "P12M1D", "P0D"].map(|lexical| typed(lexical, "duration")));
    values.extend(["x", "1", "a"].map(|lexical| typed(lexical, "unheardOf")));
    values.push(typed("x", "integer"));
    let literal = |language: &str| Literal::new_language_tagged_literal_unchecked("a", language);
    let terms: [Term; 6] = [
        NamedNode::new_unchecked("http://e/a").into(),
        NamedNode::new_unchecked("http://e/b").into(),
        BlankNode::new_unchecked("b").into(),
        literal("en").into(),
        literal("en-us").into(),
        Term::Triple(Box::new(Triple::new(
            NamedNode::new_unchecked("http://e/a"),
            NamedNode::new_unchecked("http://e/b"),
            Literal::from(1),
        ))),
    ];
    values.extend(terms.iter().map(|term| Value::from_term(term.as_ref())));
    values
}

fn agrees(constants: Vec<Value>) {
    let set = Constants::new(constants.clone());
    for value in values() {
        let expected = any_equal(&value, &constants);
        assert_eq!(set.contain(&value), expected, "{value:?} IN {constants:?}");
    }
}

#[test]
fn each_constant_by_itself() {
    values().into_iter().for_each(|constant| agrees(vec![constant]));
}

#[test]
fn pairs_of_constants() {
    let all = values();
    for (number, constant) in all.iter().enumerate() {
        for other in all.iter().skip(number % 7).step_by(7) {
            agrees(vec![constant.clone(), other.clone()]);
        }
    }
}

#[test]
fn many_constants() {
    let all = values();
    for step in 1..20 {
        for first in 0..step {
            agrees(all.iter().skip(first).step_by(step).cloned().collect());
            agrees(all.iter().rev().skip(first).step_by(step).cloned().collect());
        }
    }
}
