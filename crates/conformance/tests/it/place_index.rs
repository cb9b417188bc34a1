//! Conditions on geometries with indexes of them answer as those that read all geometries, while loads, transactions, compactions and other opens change what there is.

use crate::indexed::{Prologue, Random, compact, is_sound, open, reading, with_damage};
use lode_engine::store::{PlacesOptions, PlacesReport, drop_places, index_places};
use lode_engine::{Database, QueryOptions};

const PROLOGUE: Prologue = Prologue(
    "PREFIX : <http://e/> PREFIX geo: <http://www.opengis.net/ont/geosparql#> \
PREFIX geof: <http://www.opengis.net/def/function/geosparql/> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/> ",
);

fn index(database: &Database, force: bool) -> PlacesReport {
    let options = PlacesOptions { memory_bytes: 1 << 20, force, cancel: Default::default() };
    index_places(database.store(), &options).unwrap()
}

/// The text of a shape: small numbers, so that much touches, also at the antimeridian and near a pole.
fn shape(random: &mut Random) -> String {
    let (x, y) = match random.below(4) {
        0 => (176 + random.below(8) as i32, random.below(5) as i32),
        1 => (random.below(360) as i32 - 180, 86 + random.below(4) as i32),
        _ => (random.below(12) as i32, random.below(12) as i32),
    };
    let (w, h) = (1 + random.below(3) as i32, 1 + random.below(3).min((89 - y).max(0) as usize) as i32);
    let (right, top) = (x + w, (y + h).min(90));
    match random.below(8) {
        0 => format!("LINESTRING({x} {y},{right} {top})"),
        1 | 2 => format!("POLYGON(({x} {y},{right} {y},{right} {top},{x} {top},{x} {y}))"),
        3 => format!("MULTIPOINT({x} {y},{right} {top})"),
        4 => random.of(&["POINT EMPTY", "POINT(1", "no shape", "POLYGON((0 0,1 1,1 0,0 1,0 0))"]).to_owned(),
        5 => format!(
            "<http://www.opengis.net/def/crs/EPSG/0/{}> POINT({y} {x})",
            random.of(&["4326", "4326", "3857", "4258", "99"])
        ),
        _ => format!("POINT({x} {y})"),
    }
}

fn literal(random: &mut Random) -> String {
    if random.below(20) == 0 {
        return format!(
            "'{{\"type\":\"Point\",\"coordinates\":[{},{}]}}'^^geo:geoJSONLiteral",
            random.below(12),
            random.below(12)
        );
    }
    let datatype =
        random.of(&["geo:wktLiteral", "geo:wktLiteral", "geo:wktLiteral", "geo:wktLiteral", ":other"]);
    format!("\"{}\"^^{datatype}", shape(random))
}

fn triples(random: &mut Random, count: usize) -> String {
    let triple = |random: &mut Random| {
        let object = if random.below(20) == 0 { "\"text\"".to_owned() } else { literal(random) };
        format!(":s{} :p{} {object} . ", random.below(60), random.below(3))
    };
    (0..count).map(|_| triple(random)).collect()
}

/// A condition on `?g`.
fn condition(random: &mut Random) -> String {
    let constant = format!("\"{}\"^^geo:wktLiteral", shape(random));
    let relation = random.of(&[
        "sfIntersects",
        "sfWithin",
        "sfContains",
        "sfTouches",
        "sfEquals",
        "sfDisjoint",
        "sfCrosses",
        "sfOverlaps",
        "ehMeet",
        "ehInside",
        "ehCovers",
        "ehDisjoint",
        "rcc8ec",
        "rcc8ntpp",
        "rcc8dc",
    ]);
    match random.below(9) {
        0 | 1 => format!("geof:{relation}(?g, {constant})"),
        2 | 3 => format!("geof:{relation}({constant}, ?g)"),
        4 => format!("geof:distance(?g, {constant}, uom:metre) < {}", 10_usize.pow(random.below(7) as u32)),
        5 => format!("{} >= geof:distance({constant}, ?g, uom:degree)", random.below(5)),
        6 => format!("geof:metricDistance(?g, {constant}) <= {}", random.below(400_000)),
        7 => {
            format!("geof:relate(?g, {constant}, '{}')", random.of(&["T********", "****T****", "FF*FF****"]))
        }
        _ => format!("<bif:st_intersects>(?g, {constant}, {})", random.below(300)),
    }
}

fn query(random: &mut Random) -> String {
    let predicate = random.of(&[":p0", ":p1", "?p"]);
    let (one, two) = (condition(random), condition(random));
    match random.below(6) {
        0 | 1 => format!("SELECT * {{ ?s {predicate} ?g FILTER({one}) }}"),
        2 => format!("SELECT ?s ?g {{ ?s {predicate} ?g FILTER({one} && {two}) }}"),
        3 => format!("SELECT (COUNT(*) AS ?n) {{ ?s {predicate} ?g ; :p2 ?h FILTER({one}) }}"),
        4 => format!("SELECT ?s ?g {{ ?s :p0 ?h OPTIONAL {{ ?s :p1 ?g FILTER({one}) }} }}"),
        _ => format!(
            "SELECT ?s {{ ?s {predicate} ?h FILTER EXISTS {{ ?s :p1 ?g FILTER({one}) }} FILTER NOT EXISTS {{ ?s :p2 ?g FILTER({two}) }} }}"
        ),
    }
}

/// All of so many queries have the same answer by reading; how many rows there were.
fn compare(database: &Database, random: &mut Random, queries: usize) -> usize {
    let mut count = 0;
    for _ in 0..queries {
        let query = query(random);
        count += PROLOGUE.compared(database, &query).len();
    }
    count
}

fn load_more(database: &Database, random: &mut Random, count: usize) {
    PROLOGUE.load(database, &triples(random, count));
}

#[test]
fn indexes_answer_as_reading_does_while_everything_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut database = open(&path);
    let mut random = Random(49_049);
    let mut found = 0;
    load_more(&database, &mut random, 500);
    for round in 0..40 {
        match random.below(8) {
            0 => load_more(&database, &mut random, 100),
            1 | 2 => PROLOGUE.update(&database, &format!("INSERT DATA {{ {} }}", triples(&mut random, 8))),
            3 => PROLOGUE.update(&database, &format!("DELETE WHERE {{ :s{} ?p ?o }}", random.below(60))),
            // What a request has made is found by what follows in it.
            4 => PROLOGUE.update(
                &database,
                &format!(
                    "INSERT DATA {{ :own :p0 \"POINT({round} 50)\"^^geo:wktLiteral }} ; INSERT {{ :found :p1 ?g }} WHERE \
                     {{ :own :p0 ?g FILTER geof:sfWithin(?g, \"POLYGON(({round} 49,{0} 49,{0} 51,{round} 51,{round} 49))\"^^geo:wktLiteral) \
                     FILTER(geof:distance(?g, \"POINT({round} 50)\"^^geo:wktLiteral) < 1) }}",
                    round + 1
                )
                .replace("POLYGON((", "POLYGON((-1 0,"),
            ),
            5 => compact(&database),
            6 => drop(index(&database, round % 3 == 0)),
            _ => {
                drop(database);
                database = open(&path);
            }
        }
        if round > 8 && round % 2 == 0 {
            index(&database, false);
        }
        found += compare(&database, &mut random, 20);
    }
    assert!(found > 4_000, "{found}");
    assert!(is_sound(&path));
    index(&database, false);
    assert_eq!(index(&database, false).segments, 0);
    drop_places(database.store()).unwrap();
    let made = index(&database, false);
    assert!(made.segments > 0 && made.geometries > 100 && made.unreadable > 0, "{made:?}");
}

#[test]
fn many_geometries_are_found_in_trees_of_several_levels() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let mut random = Random(3);
    let mut text = String::new();
    for n in 0..20_000 {
        let (x, y) =
            (random.below(360_000) as f64 / 1000.0 - 180.0, random.below(180_000) as f64 / 1000.0 - 90.0);
        text += &format!(":s{n} :p0 \"POINT({x} {y})\"^^geo:wktLiteral .\n");
    }
    // More planes than have a tree of their own.
    for n in 0..40 {
        text += &format!(":t{n} :p0 \"<http://e/plane{n}> POINT(1 1)\"^^geo:wktLiteral .\n");
    }
    PROLOGUE.load(&database, &text);
    assert_eq!(index(&database, false).geometries, 20_040);
    let mut found = 0;
    for round in 0..40 {
        let (x, y, w) =
            (random.below(360) as f64 - 180.0, random.below(170) as f64 - 85.0, 1 + random.below(20));
        let condition = match round % 4 {
            0 => format!("geof:distance(?g, \"POINT({x} {y})\"^^geo:wktLiteral) < {}", 60_000 * w),
            1 => format!("geof:sfEquals(?g, \"<http://e/plane{w}> POINT(1 1)\"^^geo:wktLiteral)"),
            _ => format!(
                "geof:sfWithin(?g, \"POLYGON(({x} {y},{0} {y},{0} {1},{x} {1},{x} {y}))\"^^geo:wktLiteral)",
                x + w as f64,
                y + w as f64
            ),
        };
        let query = format!("SELECT ?s ?g {{ ?s :p0 ?g FILTER({condition}) }}");
        found += PROLOGUE.compared(&database, &query).len();
    }
    assert!(found > 1000, "{found}");
}

#[test]
fn plans_tell_what_an_index_found() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let many: String =
        (0..2000).map(|n| format!(":s{n} :p0 \"POINT({} {})\"^^geo:wktLiteral . ", n % 50, n / 50)).collect();
    PROLOGUE.load(&database, &many);
    let plan =
        |condition: &str| PROLOGUE.plan(&database, &format!("SELECT ?s {{ ?s :p0 ?g FILTER({condition}) }}"));
    let near = "geof:distance(?g, \"POINT(3 3)\"^^geo:wktLiteral) < 1000";
    let window = "geof:sfWithin(?g, \"POLYGON((0 0,19.5 0,19.5 4.5,0 4.5,0 0))\"^^geo:wktLiteral)";
    assert!(!plan(near).contains("AMONG") && !plan(window).contains("AMONG"), "{}", plan(near));
    index(&database, false);
    // Few are what is begun with, more are a set that ids are tested against.
    let wide = "geof:sfWithin(?g, \"POLYGON((0 0,19.5 0,19.5 9.5,0 9.5,0 0))\"^^geo:wktLiteral)";
    for (condition, found, function) in [
        (near, "Ids ?g (1 ", "distance"),
        (window, "Ids ?g (100 ", "sfWithin"),
        (wide, "AMONG 200", "sfWithin"),
    ] {
        assert!(plan(condition).contains(found) && plan(condition).contains(function), "{}", plan(condition));
    }
    // Of most of them, it is no help to know them before.
    let most = "geof:distance(?g, \"POINT(3 3)\"^^geo:wktLiteral) < 100000000";
    assert!(!plan(most).contains("AMONG") && !plan(most).contains("Ids"), "{}", plan(most));
}

#[test]
fn a_damaged_index_costs_time_and_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database = open(&path);
    let mut random = Random(7);
    load_more(&database, &mut random, 400);
    index(&database, false);
    drop(database);
    with_damage(&path, ["places-1.lode", "places-1.perm"], &mut |database| {
        compare(database, &mut random, 40);
    });
}

/// What is nearest, with what decides among equals, so that there is one answer.
fn nearest_query(random: &mut Random) -> String {
    let (x, y) = match random.below(4) {
        0 => (179 + random.below(3) as i32, random.below(5) as i32),
        1 => (random.below(360) as i32 - 180, 85 + random.below(6) as i32),
        _ => (random.below(12) as i32, random.below(12) as i32),
    };
    let place = format!("\"POINT({x} {y})\"^^geo:wktLiteral");
    let distance = match random.below(4) {
        0 => format!("geof:distance({place}, ?g, uom:kilometre)"),
        1 => format!("geof:metricDistance(?g, {place})"),
        2 => format!("geof:distance(?g, {place})"),
        _ => format!("geof:distance(?g, {place}, uom:metre)"),
    };
    let (rows, from) = (1 + random.below(12), random.below(3) * random.below(5));
    let predicate = random.of(&[":p0", ":p1", ":q"]);
    match random.below(3) {
        0 => format!(
            "SELECT ?s ?g {{ ?s {predicate} ?g }} ORDER BY {distance} STR(?g) ?s LIMIT {rows} OFFSET {from}"
        ),
        1 => format!(
            "SELECT ?s ({distance} AS ?d) {{ ?s {predicate} ?g }} ORDER BY ?d ?s STR(?g) LIMIT {rows}"
        ),
        _ => format!(
            "SELECT * {{ {{ SELECT ?s ?g ({distance} AS ?d) {{ ?s {predicate} ?g }} ORDER BY ?d ?g ?s LIMIT {rows} }} ?s ?p ?o }}"
        ),
    }
}

#[test]
fn what_is_nearest_is_the_same_while_everything_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut database = open(&path);
    let mut random = Random(50);
    load_more(&database, &mut random, 600);
    let mut narrowed = 0;
    for _ in 0..40 {
        match random.below(6) {
            0 => load_more(&database, &mut random, 100),
            1 => PROLOGUE.update(&database, &format!("INSERT DATA {{ {} }}", triples(&mut random, 8))),
            2 => PROLOGUE.update(&database, &format!("DELETE WHERE {{ :s{} ?p ?o }}", random.below(60))),
            3 => compact(&database),
            4 => {
                drop(database);
                database = open(&path);
            }
            // Geometries alone, some twice, and some that are none.
            _ => PROLOGUE.update(
                &database,
                &format!(
                    "DELETE {{ ?s :q ?g }} WHERE {{ ?s :q ?g }} ; INSERT {{ ?s :q ?g }} WHERE {{ ?s :p{} ?g FILTER(DATATYPE(?g) = geo:wktLiteral) }}",
                    random.below(3)
                ),
            ),
        }
        index(&database, false);
        for _ in 0..12 {
            let query = nearest_query(&mut random);
            PROLOGUE.compared(&database, &query);
            let plan = PROLOGUE.plan(&database, &query);
            narrowed += usize::from(plan.contains("AMONG") || plan.contains("Ids ?"));
        }
    }
    assert!(narrowed > 30, "{narrowed}");
}

#[test]
fn few_of_many_are_looked_at_for_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let mut random = Random(11);
    let mut text = String::new();
    for n in 0..20_000 {
        let (x, y) = (random.below(3_600) as f64 / 10.0 - 180.0, random.below(1_800) as f64 / 10.0 - 90.0);
        text += &format!(":s{n} :p0 \"POINT({x} {y})\"^^geo:wktLiteral .\n");
    }
    PROLOGUE.load(&database, &text);
    index(&database, false);
    for place in ["13.4 52.5", "179.96 0", "-179.97 10", "0 90", "77 -90", "0 0"] {
        let query = format!(
            "SELECT ?s (geof:distance(?g, \"POINT({place})\"^^geo:wktLiteral) AS ?d) {{ ?s :p0 ?g }} ORDER BY ?d ?s LIMIT 10"
        );
        let found = PROLOGUE.rows(&database, &query, &QueryOptions::default());
        assert_eq!(found, PROLOGUE.rows(&database, &query, &reading()), "{place}");
        assert_eq!(found.len(), 10);
        let plan = PROLOGUE.plan(&database, &query);
        assert!(plan.contains("Ids ?g"), "{plan}");
    }
}

#[test]
fn what_is_in_the_log_alone_becomes_a_segment_that_is_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database = open(&path);
    PROLOGUE.update(
        &database,
        "INSERT DATA { :a :p0 'POINT(1 1)'^^geo:wktLiteral . :b :p0 'POINT(9 9)'^^geo:wktLiteral }",
    );
    assert_eq!(index(&database, false).geometries, 0);
    assert_eq!(database.store().flush_all(&Default::default()).unwrap(), 2);
    assert_eq!(database.store().flush_all(&Default::default()).unwrap(), 0);
    assert_eq!(index(&database, false).geometries, 2);
    let near =
        "SELECT ?s { ?s :p0 ?g FILTER(geof:sfWithin(?g, 'POLYGON((0 0,2 0,2 2,0 2,0 0))'^^geo:wktLiteral)) }";
    let found = PROLOGUE.sorted_rows(&database, near, &QueryOptions::default());
    assert!(found.len() == 1 && found.concat().contains("http://e/a"), "{found:?}");
    // What is deleted then is not there, and the segment is one as all.
    PROLOGUE.update(&database, "DELETE DATA { :a :p0 'POINT(1 1)'^^geo:wktLiteral }");
    assert_eq!(database.store().flush_all(&Default::default()).unwrap(), 1);
    assert!(PROLOGUE.sorted_rows(&database, near, &QueryOptions::default()).is_empty());
    drop(database);
    assert!(is_sound(&path));
    assert_eq!(PROLOGUE.rows(&open(&path), "SELECT ?s { ?s :p0 ?g }", &QueryOptions::default()).len(), 1);
}
