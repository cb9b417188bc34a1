//! Joins by conditions on geometries of both sides answer as nested loops do, and as expected values computed by hand.

use crate::indexed::{Prologue, Random, open};
use lode_engine::store::{PlacesOptions, index_places};
use lode_engine::{Database, QueryOptions, QueryResults};
use std::fmt::Write as _;

const PROLOGUE: Prologue = Prologue(
    "PREFIX : <http://e/> PREFIX geo: <http://www.opengis.net/ont/geosparql#> \
PREFIX geof: <http://www.opengis.net/def/function/geosparql/> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/> ",
);

fn database(turtle: &str) -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    PROLOGUE.load(&database, turtle);
    (folder, database)
}

/// The text of a shape: small numbers, so that much touches, also at the antimeridian and near a pole; some in other reference systems, some no shapes or not
/// valid ones.
fn shape(random: &mut Random) -> String {
    let (x, y) = match random.below(5) {
        0 => (176 + random.below(8) as i32, random.below(5) as i32),
        1 => (-180 + random.below(3) as i32, random.below(5) as i32),
        2 => (random.below(360) as i32 - 180, 86 + random.below(4) as i32),
        _ => (random.below(12) as i32, random.below(12) as i32),
    };
    let (w, h) = (1 + random.below(3) as i32, 1 + random.below(3).min((89 - y).max(0) as usize) as i32);
    let (right, top) = (x + w, (y + h).min(90));
    match random.below(10) {
        0 => format!("LINESTRING({x} {y},{right} {top})"),
        1..=3 => format!("POLYGON(({x} {y},{right} {y},{right} {top},{x} {top},{x} {y}))"),
        4 => format!("MULTIPOINT({x} {y},{right} {top})"),
        5 => random
            .of(&["POINT EMPTY", "POLYGON EMPTY", "POINT(1", "no shape", "POLYGON((0 0,1 1,1 0,0 1,0 0))"])
            .into(),
        6 => {
            let code = random.of(&["4326", "4326", "3857", "4258", "99"]);
            format!("<http://www.opengis.net/def/crs/EPSG/0/{code}> POINT({y} {x})")
        }
        7 => format!("<http://e/plane{}> POINT({x} {y})", random.below(30)),
        8 => format!("GEOMETRYCOLLECTION(POINT({x} {y}),LINESTRING({x} {y},{right} {top}))"),
        _ => format!("POINT({x} {y})"),
    }
}

fn triples(random: &mut Random, count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let object = match random.below(12) {
            0 => "\"text\"".to_owned(),
            1 => format!("\"{}\"^^:other", shape(random)),
            _ => format!("\"{}\"^^geo:wktLiteral", shape(random)),
        };
        let _ = writeln!(text, ":s{} :p{} {object} .", random.below(60), number % 3);
    }
    text
}

/// A condition on `?a` and `?b`, and the number of the test that boxes help with.
fn condition(random: &mut Random) -> String {
    let relation = random.of(&[
        "sfIntersects",
        "sfIntersects",
        "sfWithin",
        "sfWithin",
        "sfContains",
        "sfTouches",
        "sfEquals",
        "sfCrosses",
        "sfOverlaps",
        "ehMeet",
        "ehInside",
        "ehCovers",
        "ehEquals",
        "rcc8ec",
        "rcc8ntpp",
        "rcc8eq",
    ]);
    match random.below(8) {
        0 => format!("geof:distance(?a, ?b, uom:metre) < {}", 10_usize.pow(random.below(7) as u32)),
        1 => format!("{} >= geof:distance(?a, ?b, uom:degree)", random.below(4)),
        2 => format!("geof:metricDistance(?b, ?a) <= {}", random.below(400_000)),
        3 => format!("geof:relate(?a, ?b, '{}')", random.of(&["T********", "****T****", "T*F**F***"])),
        4 => format!("geof:{relation}(?b, ?a)"),
        _ => format!("geof:{relation}(?a, ?b)"),
    }
}

/// The queries with a join by a condition.
fn query(random: &mut Random, condition: &str) -> String {
    let (p, q) = (random.of(&[":p0", ":p1", "?p"]), random.of(&[":p1", ":p2"]));
    match random.below(7) {
        0 => format!("SELECT * {{ ?s {p} ?a . ?t {q} ?b FILTER({condition}) FILTER(?s != ?t) }}"),
        1 => format!("SELECT * {{ ?s {p} ?a . ?t {q} ?b . ?t :p0 ?c FILTER({condition}) }}"),
        2 => format!("SELECT ?s ?a ?t {{ ?s {p} ?a OPTIONAL {{ ?t {q} ?b FILTER({condition}) }} }}"),
        3 => format!("SELECT ?s ?a {{ ?s {p} ?a FILTER EXISTS {{ ?t {q} ?b FILTER({condition}) }} }}"),
        4 => format!(
            "SELECT ?s ?a {{ ?s {p} ?a FILTER NOT EXISTS {{ ?t {q} ?b FILTER({condition} && ?s != ?t) }} }}"
        ),
        5 => {
            format!("SELECT ?s (COUNT(*) AS ?n) {{ ?s {p} ?a . ?t {q} ?b FILTER({condition}) }} GROUP BY ?s")
        }
        _ => format!("SELECT * {{ ?s {p} ?a OPTIONAL {{ ?s :p2 ?c }} {{ ?t {q} ?b }} FILTER({condition}) }}"),
    }
}

#[test]
fn pairs_are_those_of_a_nested_loop() {
    let mut random = Random(55);
    let (mut found, mut joined) = (0, 0);
    for round in 0..8 {
        let (_folder, database) = database(&triples(&mut random, 40 + 20 * round));
        // Little memory: what is kept goes to disk, or is read again.
        let scarce = QueryOptions { memory_bytes: 1 << 20, ..QueryOptions::default() };
        for number in 0..20 {
            let condition = condition(&mut random);
            let state = random.0;
            let by_boxes = query(&mut random, &condition);
            random.0 = state;
            // A comparison is no condition that boxes help with.
            let by_pairs = query(&mut random, &format!("({condition}) = true"));
            let options = if number % 3 == 0 { scarce.clone() } else { QueryOptions::default() };
            let answer = PROLOGUE.sorted_rows(&database, &by_boxes, &options);
            assert_eq!(
                answer,
                PROLOGUE.sorted_rows(&database, &by_pairs, &QueryOptions::default()),
                "{by_boxes}"
            );
            assert!(!PROLOGUE.plan(&database, &by_pairs).contains("SpatialJoin"));
            joined += usize::from(PROLOGUE.plan(&database, &by_boxes).contains("SpatialJoin"));
            found += answer.len();
        }
    }
    assert!(found > 3_000 && joined > 100, "{found} rows, {joined} joins");
}

/// A grid of points with whole numbers, and squares of two by two around every tenth.
fn grid(points: usize) -> String {
    let mut text = String::new();
    for x in 0..points {
        for y in 0..points {
            let _ = writeln!(text, ":p{x}_{y} :at \"POINT({x} {y})\"^^geo:wktLiteral .");
            if x % 10 == 5 && y % 10 == 5 {
                let (w, e, s, n) = (x - 1, x + 1, y - 1, y + 1);
                let _ = writeln!(
                    text,
                    ":z{x}_{y} :area \"POLYGON(({w} {s},{e} {s},{e} {n},{w} {n},{w} {s}))\"^^geo:wktLiteral ."
                );
            }
        }
    }
    text
}

#[test]
fn counts_of_a_grid_are_those_by_hand() {
    let (_folder, database) = database(&grid(60));
    let count = |pattern: &str| {
        let query = format!("SELECT (COUNT(*) AS ?n) {{ {pattern} }}");
        assert!(
            PROLOGUE.plan(&database, &query).contains("SpatialJoin"),
            "{}",
            PROLOGUE.plan(&database, &query)
        );
        PROLOGUE.sorted_rows(&database, &query, &QueryOptions::default()).concat()
    };
    let is = |answer: &str, number: usize| {
        assert!(answer.contains(&format!("\"{number}\"")), "{answer}: {number}")
    };
    // 36 squares: each has nine points, one of them inside.
    let sides = "?p :at ?a . ?z :area ?b";
    is(&count(&format!("{sides} FILTER(geof:sfIntersects(?a, ?b))")), 324);
    is(&count(&format!("{sides} FILTER(geof:sfWithin(?a, ?b))")), 36);
    is(&count(&format!("{sides} FILTER(geof:sfContains(?b, ?a))")), 36);
    is(&count(&format!("{sides} FILTER(geof:sfTouches(?a, ?b))")), 288);
    // Points beside each other: four neighbours each, but at the edges.
    is(
        &count("?p :at ?a . ?q :at ?b FILTER(geof:distance(?a, ?b, uom:degree) <= 1) FILTER(?p != ?q)"),
        4 * 60 * 59,
    );
    is(&count("?p :at ?a FILTER NOT EXISTS { ?z :area ?b FILTER(geof:sfIntersects(?a, ?b)) }"), 3600 - 324);
    is(&count("?p :at ?a OPTIONAL { ?z :area ?b FILTER(geof:sfIntersects(?a, ?b)) }"), 3600);
}

#[test]
fn few_zones_find_what_an_index_tells() {
    let (_folder, database) = database(&grid(160));
    let options = PlacesOptions { memory_bytes: 1 << 20, force: false, cancel: Default::default() };
    let insert = "INSERT DATA { :late :at 'POINT(5.5 5)'^^geo:wktLiteral . :one :zone 'POLYGON((4 4,6 4,6 6,4 6,4 4))'^^geo:wktLiteral . \
         :two :zone 'POLYGON((149 149,151 149,151 151,149 151,149 149))'^^geo:wktLiteral }";
    PROLOGUE.update(&database, insert);
    for round in 0..2 {
        for (condition, count) in [
            ("geof:sfIntersects(?a, ?b)", 19),
            ("geof:sfIntersects(?b, ?a)", 19),
            ("geof:sfWithin(?a, ?b)", 3),
            ("geof:distance(?a, ?b, uom:degree) <= 1", 19 + 24),
        ] {
            let query = format!("SELECT ?p {{ ?p :at ?a . ?z :zone ?b FILTER({condition}) }}");
            let found = PROLOGUE.sorted_rows(&database, &query, &QueryOptions::default());
            assert_eq!(found.len(), count, "{condition} in round {round}: {found:?}");
        }
        // Geometries that the query makes are in no index.
        let made = "SELECT ?p { ?p :at ?c BIND(geof:convexHull(?c) AS ?a) ?z :zone ?b FILTER(geof:sfContains(?b, ?a)) }";
        assert_eq!(PROLOGUE.sorted_rows(&database, made, &QueryOptions::default()).len(), 3, "round {round}");
        index_places(database.store(), &options).unwrap();
    }
}

#[test]
fn a_join_ends_when_it_is_cancelled() {
    use lode_base::cancel::CancelToken;
    use std::time::Duration;
    // All have the same box, and meet in no point.
    let text: String = (0..4000)
        .map(|n| format!(":s{n} :p \"MULTIPOINT(0 0.{n:04},1 1.{n:04},2 0)\"^^geo:wktLiteral . :t{n} :q \"LINESTRING(0 1.{n:04}1,2 0.{n:04}1,0.1 0.3)\"^^geo:wktLiteral .\n"))
        .collect();
    let (_folder, database) = database(&text);
    let cancel = CancelToken::new(None);
    let options = QueryOptions { cancel: cancel.clone(), ..QueryOptions::default() };
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        cancel.cancel();
    });
    let query = format!(
        "{}SELECT (COUNT(*) AS ?n) {{ ?s :p ?a . ?t :q ?b FILTER(geof:sfTouches(?a, ?b)) }}",
        PROLOGUE.0
    );
    let ended = database.query(&query, &options).and_then(|answer| match answer {
        QueryResults::Solutions(mut solutions) => solutions.collect_rows().map(|_| ()),
        _ => Ok(()),
    });
    stopper.join().unwrap();
    assert!(ended.is_err(), "16 million pairs before it was stopped");
}
