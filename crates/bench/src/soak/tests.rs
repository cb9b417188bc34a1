//! Units are what they say, and the book finds what is lost, torn or back.

use super::*;
use oxttl::NQuadsParser;
use std::collections::BTreeSet;
use std::time::Duration;

/// What a query would find of units in these states.
fn found(units: &[(Unit, State)]) -> Found {
    let rows = units.iter().filter_map(|(unit, state)| match state {
        State::Absent => None,
        State::Written(step) => {
            Some((format!("urn:soak:t{}", unit.0), format!("{} {step}", unit.0), unit.quads()))
        }
    });
    let rows: Vec<_> = rows.collect();
    Found::of_rows(rows.iter().map(|(subject, value, count)| (subject.as_str(), value.as_str(), *count)))
}

#[test]
fn units_have_the_quads_that_they_say() {
    for unit in [Unit(0), Unit(7), Unit(399)] {
        let text = unit.n_quads(3);
        let quads: Vec<_> = NQuadsParser::new().for_slice(&text).map(Result::unwrap).collect();
        let graphs: BTreeSet<_> = quads.iter().map(|quad| quad.graph_name.to_string()).collect();
        assert_eq!((quads.len() as u64, graphs.len()), (unit.quads(), 2));
        let subject = quads[0].subject.to_string();
        let subject = subject.trim_matches(['<', '>']);
        let value = quads[0].object.to_string();
        assert_eq!(Unit::of_row(subject, value.trim_matches('"')), Some((unit, 3)));
    }
    assert!(Unit(399).is_large() && !Unit(400).is_large());
    assert_eq!(Unit::of_row("urn:soak:t1", "2 1"), None);
}

#[test]
fn requests_are_well_formed() {
    for is_blind in [true, false] {
        for text in
            [Unit(5).insert(1, is_blind), Unit(5).rewrite(1, 2, is_blind), Unit(5).remove(2, is_blind)]
        {
            spargebra::SparqlParser::new().parse_update(&text).unwrap();
        }
    }
    for text in [Unit(5).query(), Unit::query_bucket(5), Unit::query_all(), Unit::query_halves()] {
        spargebra::SparqlParser::new().parse_query(&text).unwrap();
    }
}

#[test]
fn what_is_confirmed_must_be_there_and_what_is_under_way_may() {
    let mut book = Book::default();
    let unit = book.begin();
    let empty = Book::default();
    for state in [State::Absent, State::Written(1)] {
        assert_eq!(between(&book, &book, &found(&[(unit, state)])), [""; 0], "{state:?}");
    }
    assert_eq!(between(&book, &book, &found(&[(unit, State::Written(2))])).len(), 1);
    // A query that began before the unit.
    assert_eq!(between(&empty, &book, &found(&[(unit, State::Written(1))])), [""; 0]);
    assert_eq!(between(&empty, &empty, &found(&[(unit, State::Written(1))])).len(), 1);
    let before = book.clone();
    book.confirm(unit);
    assert_eq!(between(&book, &book, &found(&[])).len(), 1);
    assert_eq!(between(&before, &book, &found(&[])), [""; 0]);
    assert_eq!(book.send(unit, State::Written(2)), Some(State::Written(1)));
    assert_eq!(book.send(unit, State::Written(3)), None);
    assert_eq!(between(&book, &book, &found(&[(unit, State::Written(2))])), [""; 0]);
    book.confirm(unit);
    assert_eq!(between(&book, &book, &found(&[(unit, State::Written(1))])).len(), 1);
    assert_eq!(book.quads(), unit.quads());
    book.send(unit, State::Absent);
    let removing = book.clone();
    for state in [State::Absent, State::Written(2)] {
        assert_eq!(between(&book, &book, &found(&[(unit, state)])), [""; 0], "{state:?}");
    }
    book.confirm(unit);
    assert_eq!((book.units(), book.quads(), book.begun()), (0, 0, 1));
    assert_eq!(between(&removing, &book, &found(&[(unit, State::Written(2))])), [""; 0]);
    assert_eq!(between(&book, &book, &found(&[(unit, State::Written(2))])).len(), 1);
}

#[test]
fn after_a_crash_what_was_under_way_has_happened_or_not() {
    let mut book = Book::default();
    let units: Vec<Unit> = (0..4).map(|_| book.begin()).collect();
    book.confirm(units[2]);
    book.confirm(units[3]);
    book.send(units[2], State::Absent);
    book.send(units[3], State::Written(2));
    let there = found(&[(units[0], State::Written(1)), (units[3], State::Written(1))]);
    assert_eq!(between(&book, &book, &there), [""; 0]);
    book.settle(&there);
    assert_eq!(
        [0, 1, 2, 3].map(|at| book.state(units[at])),
        [Some(State::Written(1)), None, None, Some(State::Written(1))]
    );
    assert_eq!(between(&book, &book, &there), [""; 0]);
    assert_eq!(between(&book, &book, &found(&[(units[0], State::Written(1))])).len(), 1);
}

#[test]
fn parts_of_the_book() {
    let mut book = Book::default();
    let units: Vec<Unit> = (0..=BUCKETS).map(|_| book.begin()).collect();
    units.iter().for_each(|unit| book.confirm(*unit));
    assert_eq!((book.bucket(0).units(), book.bucket(1).units(), book.unit(units[0]).units()), (2, 1, 1));
    let there = found(&[(units[0], State::Written(1))]);
    assert_eq!(between(&book.unit(units[0]), &book.unit(units[0]), &there), [""; 0]);
    assert_eq!(between(&book.bucket(0), &book.bucket(0), &there).len(), 1);
}

#[test]
fn torn_units_are_found() {
    let torn = |rows: &[(&str, &str, u64)]| Found::of_rows(rows.iter().copied()).torn.len();
    let whole = Unit(0).quads();
    assert_eq!(torn(&[("urn:soak:t0", "0 1", whole)]), 0);
    assert_eq!(torn(&[("urn:soak:t0", "0 1", whole - 1)]), 1);
    assert_eq!(torn(&[("urn:soak:t0", "0 1", 2), ("urn:soak:t0", "0 2", whole - 2)]), 3);
    assert_eq!(torn(&[("urn:soak:t0", "x", whole)]), 1);
}

#[test]
fn quantiles() {
    let mut latencies = Latencies::default();
    assert_eq!(latencies.quantile(0.5), None);
    for micros in 1..=100_000 {
        latencies.add(Duration::from_micros(micros));
    }
    for (part, exact) in [(0.0, 1.0), (0.00001, 1.0), (0.5, 50_000.0), (0.99, 99_000.0), (1.0, 100_000.0)] {
        let found = latencies.quantile(part).unwrap().as_micros() as f64;
        assert!((exact..=exact * 1.04).contains(&found), "{part}: {found}");
    }
    let mut sum = Latencies::default();
    sum.add(Duration::from_secs(9));
    sum.merge(&latencies);
    assert_eq!(
        (sum.count(), sum.max(), sum.quantile(1.0)),
        (100_001, Duration::from_secs(9), Some(Duration::from_secs(9)))
    );
}
