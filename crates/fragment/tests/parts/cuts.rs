//! Where fragments are cut: each part has about equally much to do.

use crate::{of, options};
use lode_base::mem_vfs::MemVfs;
use lode_fragment::{ranges, run};
use lode_rdf::RdfFormat;
use lode_store::load::{LoadOptions, LoadProgress, Source};
use lode_store::{Snapshot, Store};
use std::path::Path;
use std::sync::Arc;

/// So many subjects have all properties, and twice as many behind them in the order of ids have one of these.
const SUBJECTS: usize = 100_000;

fn snapshot() -> Snapshot {
    let mut text = String::from("@prefix : <http://e/> .\n");
    for i in 0..SUBJECTS {
        text += &format!(":a{i:05} :p {i} ; :q {} ; :r {} .\n", i % 7, i % 5);
    }
    for i in 0..2 * SUBJECTS {
        text += &format!(":z{i:05} :p {i} .\n");
    }
    let store = Store::create_or_open(Arc::new(MemVfs::new()), Path::new("/db"), 1 << 20).unwrap();
    let source = Source::bytes("data", text.into_bytes()).with_format(RdfFormat::Turtle);
    let progress = Arc::new(LoadProgress::default());
    lode_store::load(&store, vec![source], LoadOptions::default(), &progress).unwrap();
    store.snapshot()
}

/// Rows of each part.
fn rows_of_parts(text: &str, snapshot: &Snapshot, parts: usize) -> Vec<usize> {
    let fragment = of(text, snapshot);
    let (_, ranges) = ranges(&fragment, snapshot, &options(), parts).unwrap();
    let rows = |range| {
        let mut execution = run(&fragment, snapshot, range, &options()).unwrap();
        let mut count = 0;
        while let Some(batch) = execution.next().unwrap() {
            count += batch.rows;
        }
        count
    };
    ranges.iter().map(rows).collect()
}

/// Subjects that have a property of another class as well are no reason to cut there.
#[test]
fn parts_of_a_star_have_as_much_to_do() {
    let snapshot = snapshot();
    for text in [
        "SELECT * { ?s :p ?a ; :q ?b ; :r ?c }",
        "SELECT * { ?s :q ?b OPTIONAL { ?s :p ?a } }",
        "SELECT ?s (COUNT(*) AS ?n) { ?s :p ?a ; :q ?b } GROUP BY ?s",
        "SELECT * { ?s :q ?b }",
    ] {
        for parts in [2, 4] {
            let rows = rows_of_parts(text, &snapshot, parts);
            assert_eq!(rows.iter().sum::<usize>(), SUBJECTS, "{text}: {rows:?}");
            assert_eq!(rows.len(), parts, "{text}: {rows:?}");
            let most = rows.iter().max().unwrap();
            assert!(most * parts * 4 <= SUBJECTS * 5, "{text}: {rows:?}");
        }
    }
}

/// All values are in a range, also those that no joined scan has.
#[test]
fn what_has_no_partner_is_in_a_range() {
    let snapshot = snapshot();
    for (text, expected) in [
        ("SELECT * { ?s :p ?a OPTIONAL { ?s :q ?b } }", 3 * SUBJECTS),
        ("SELECT * { ?s :p ?a MINUS { ?s :q ?b } }", 2 * SUBJECTS),
        ("SELECT * { ?s :q ?a MINUS { ?s :p ?b } }", 0),
        ("SELECT * { { ?s :q ?a } UNION { ?s :p ?a } }", 4 * SUBJECTS),
    ] {
        let fragment = lode_fragment::take_apart(
            &crate::plan(text, &snapshot, None, &lode_sparql::PlanOptions::default()),
            &snapshot,
            &crate::wanted(None),
        )
        .unwrap();
        let mut found = 0;
        for (fragment, _) in &fragment.fragments {
            found += crate::rows_of(fragment, &snapshot, 5).unwrap();
        }
        assert!(!fragment.fragments.is_empty(), "{text}");
        assert_eq!(found, expected, "{text}");
    }
}
