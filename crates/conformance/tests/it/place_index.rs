//! Conditions on geometries with indexes of them answer as those that read all geometries, while loads, transactions, compactions and other opens change what there is.

use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::store::{CompactOptions, PlacesOptions, PlacesReport, compact, drop_places, index_places};
use lode_engine::{Database, OpenOptions, QueryOptions, QueryResults, UpdateOptions, check_database};
use lode_rdf::format::RdfFormat;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROLOGUE: &str = "PREFIX : <http://e/> PREFIX geo: <http://www.opengis.net/ont/geosparql#> \
PREFIX geof: <http://www.opengis.net/def/function/geosparql/> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/> ";

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn of(&mut self, things: &[&str]) -> String {
        things[self.below(things.len())].to_owned()
    }
}

fn open(folder: &Path) -> Database {
    Database::create_or_open(folder, &OpenOptions::default()).unwrap()
}

fn rows(database: &Database, query: &str, options: &QueryOptions) -> Vec<String> {
    let answer = database.query(&format!("{PROLOGUE}{query}"), options);
    let answer = answer.unwrap_or_else(|error| panic!("{query}: {error}"));
    let QueryResults::Solutions(mut solutions) = answer else { panic!("{query}: a SELECT") };
    let rows = solutions.collect_rows().unwrap_or_else(|error| panic!("{query}: {error}"));
    rows.iter().map(|row| format!("{row:?}")).collect()
}

fn sorted_rows(database: &Database, query: &str, options: &QueryOptions) -> Vec<String> {
    let mut rows = rows(database, query, options);
    rows.sort();
    rows
}

fn index(database: &Database, force: bool) -> PlacesReport {
    let options = PlacesOptions { memory_bytes: 1 << 20, force, cancel: Default::default() };
    index_places(database.store(), &options).unwrap()
}

fn is_sound(folder: &Path) -> bool {
    check_database(folder, &Default::default(), &mut |_| {}).unwrap().problems.is_empty()
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
        4 => random.of(&["POINT EMPTY", "POINT(1", "no shape", "POLYGON((0 0,1 1,1 0,0 1,0 0))"]),
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
    let reading = QueryOptions { optimize: false, ..QueryOptions::default() };
    let mut count = 0;
    for _ in 0..queries {
        let query = query(random);
        let found = sorted_rows(database, &query, &QueryOptions::default());
        assert_eq!(found, sorted_rows(database, &query, &reading), "{query}");
        count += found.len();
    }
    count
}

fn load_more(database: &Database, random: &mut Random, count: usize) {
    let text = format!("{} {}", PROLOGUE.replace("PREFIX", "\nPREFIX"), triples(random, count));
    let source = Source::bytes("more.ttl", text).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
}

fn update(database: &Database, request: &str) {
    let text = format!("{PROLOGUE}{request}");
    database.update(&text, &UpdateOptions::default()).unwrap_or_else(|error| panic!("{request}: {error}"));
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
            1 | 2 => update(&database, &format!("INSERT DATA {{ {} }}", triples(&mut random, 8))),
            3 => update(&database, &format!("DELETE WHERE {{ :s{} ?p ?o }}", random.below(60))),
            // What a request has made is found by what follows in it.
            4 => update(
                &database,
                &format!(
                    "INSERT DATA {{ :own :p0 \"POINT({round} 50)\"^^geo:wktLiteral }} ; INSERT {{ :found :p1 ?g }} WHERE \
                     {{ :own :p0 ?g FILTER geof:sfWithin(?g, \"POLYGON(({round} 49,{0} 49,{0} 51,{round} 51,{round} 49))\"^^geo:wktLiteral) \
                     FILTER(geof:distance(?g, \"POINT({round} 50)\"^^geo:wktLiteral) < 1) }}",
                    round + 1
                )
                .replace("POLYGON((", "POLYGON((-1 0,"),
            ),
            5 => {
                let options = CompactOptions { force: true, ..CompactOptions::default() };
                compact(database.store(), &options, &Arc::new(LoadProgress::default())).unwrap();
            }
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
    let mut text = PROLOGUE.replace("PREFIX", "\nPREFIX");
    for n in 0..20_000 {
        let (x, y) =
            (random.below(360_000) as f64 / 1000.0 - 180.0, random.below(180_000) as f64 / 1000.0 - 90.0);
        text += &format!(":s{n} :p0 \"POINT({x} {y})\"^^geo:wktLiteral .\n");
    }
    // More planes than have a tree of their own.
    for n in 0..40 {
        text += &format!(":t{n} :p0 \"<http://e/plane{n}> POINT(1 1)\"^^geo:wktLiteral .\n");
    }
    let source = Source::bytes("all.ttl", text).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    assert_eq!(index(&database, false).geometries, 20_040);
    let reading = QueryOptions { optimize: false, ..QueryOptions::default() };
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
        let rows = sorted_rows(&database, &query, &QueryOptions::default());
        assert_eq!(rows, sorted_rows(&database, &query, &reading), "{query}");
        found += rows.len();
    }
    assert!(found > 1000, "{found}");
}

#[test]
fn plans_tell_what_an_index_found() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("db"));
    let many: String =
        (0..2000).map(|n| format!(":s{n} :p0 \"POINT({} {})\"^^geo:wktLiteral . ", n % 50, n / 50)).collect();
    let text = format!("{} {many}", PROLOGUE.replace("PREFIX", "\nPREFIX"));
    let source = Source::bytes("all.ttl", text).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    let plan = |condition: &str| {
        let text = format!("{PROLOGUE} SELECT ?s {{ ?s :p0 ?g FILTER({condition}) }}");
        database.prepare(&text, &QueryOptions::default()).unwrap().explain()
    };
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
    let segment = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("segment-");
    let segment = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).find(segment).unwrap();
    for name in ["places-1.lode", "places-1.perm"] {
        let file = segment.join(name);
        let bytes = std::fs::read(&file).unwrap();
        for step in [5, 3, 2] {
            let mut damaged = bytes.clone();
            let at = damaged.len() / step;
            damaged[at] ^= 0x55;
            std::fs::write(&file, &damaged).unwrap();
            compare(&open(&path), &mut random, 40);
            assert!(!is_sound(&path), "{name} at {at}");
        }
        std::fs::write(&file, &bytes).unwrap();
        assert!(is_sound(&path));
    }
    // Half an index is none.
    std::fs::remove_file(segment.join("places-1.perm")).unwrap();
    compare(&open(&path), &mut random, 20);
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
    let reading = QueryOptions { optimize: false, ..QueryOptions::default() };
    load_more(&database, &mut random, 600);
    let mut narrowed = 0;
    for round in 0..40 {
        match random.below(6) {
            0 => load_more(&database, &mut random, 100),
            1 => update(&database, &format!("INSERT DATA {{ {} }}", triples(&mut random, 8))),
            2 => update(&database, &format!("DELETE WHERE {{ :s{} ?p ?o }}", random.below(60))),
            3 => {
                let options = CompactOptions { force: true, ..CompactOptions::default() };
                compact(database.store(), &options, &Arc::new(LoadProgress::default())).unwrap();
            }
            4 => {
                drop(database);
                database = open(&path);
            }
            // Geometries alone, some twice, and some that are none.
            _ => update(
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
            let found = sorted_rows(&database, &query, &QueryOptions::default());
            assert_eq!(found, sorted_rows(&database, &query, &reading), "{query} in round {round}");
            let prepared = database.prepare(&format!("{PROLOGUE}{query}"), &QueryOptions::default()).unwrap();
            let plan = prepared.explain();
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
    let mut text = PROLOGUE.replace("PREFIX", "\nPREFIX");
    for n in 0..20_000 {
        let (x, y) = (random.below(3_600) as f64 / 10.0 - 180.0, random.below(1_800) as f64 / 10.0 - 90.0);
        text += &format!(":s{n} :p0 \"POINT({x} {y})\"^^geo:wktLiteral .\n");
    }
    let source = Source::bytes("all.ttl", text).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    index(&database, false);
    let reading = QueryOptions { optimize: false, ..QueryOptions::default() };
    for place in ["13.4 52.5", "179.96 0", "-179.97 10", "0 90", "77 -90", "0 0"] {
        let query = format!(
            "SELECT ?s (geof:distance(?g, \"POINT({place})\"^^geo:wktLiteral) AS ?d) {{ ?s :p0 ?g }} ORDER BY ?d ?s LIMIT 10"
        );
        let found = rows(&database, &query, &QueryOptions::default());
        assert_eq!(found, rows(&database, &query, &reading), "{place}");
        assert_eq!(found.len(), 10);
        let plan =
            database.prepare(&format!("{PROLOGUE}{query}"), &QueryOptions::default()).unwrap().explain();
        assert!(plan.contains("Ids ?g"), "{plan}");
    }
}

#[test]
fn what_is_in_the_log_alone_becomes_a_segment_that_is_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database = open(&path);
    update(
        &database,
        "INSERT DATA { :a :p0 'POINT(1 1)'^^geo:wktLiteral . :b :p0 'POINT(9 9)'^^geo:wktLiteral }",
    );
    assert_eq!(index(&database, false).geometries, 0);
    assert_eq!(database.store().flush_all(&Default::default()).unwrap(), 2);
    assert_eq!(database.store().flush_all(&Default::default()).unwrap(), 0);
    assert_eq!(index(&database, false).geometries, 2);
    let near =
        "SELECT ?s { ?s :p0 ?g FILTER(geof:sfWithin(?g, 'POLYGON((0 0,2 0,2 2,0 2,0 0))'^^geo:wktLiteral)) }";
    let found = sorted_rows(&database, near, &QueryOptions::default());
    assert!(found.len() == 1 && found.concat().contains("http://e/a"), "{found:?}");
    // What is deleted then is not there, and the segment is one as all.
    update(&database, "DELETE DATA { :a :p0 'POINT(1 1)'^^geo:wktLiteral }");
    assert_eq!(database.store().flush_all(&Default::default()).unwrap(), 1);
    assert!(sorted_rows(&database, near, &QueryOptions::default()).is_empty());
    drop(database);
    assert!(is_sound(&path));
    assert_eq!(rows(&open(&path), "SELECT ?s { ?s :p0 ?g }", &QueryOptions::default()).len(), 1);
}
