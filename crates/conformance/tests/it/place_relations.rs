//! Query rewriting of GeoSPARQL 1.1 (requirements 35 to 37): relations between features and geometries that follow from what they have as text, with
//! expected values computed by hand.

use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::{Database, OpenOptions, QueryOptions, QueryResults, UpdateOptions};
use lode_rdf::format::RdfFormat;
use std::sync::Arc;

const PROLOGUE: &str = "PREFIX : <http://e/> PREFIX geo: <http://www.opengis.net/ont/geosparql#> ";

/// A park of four by four, in which a pond of two by two lies, a path that leaves it, a kiosk in it, one at its edge, and an island far away.
const DATA: &str = "
:park geo:hasDefaultGeometry :gPark . :gPark geo:asWKT 'POLYGON((0 0,4 0,4 4,0 4,0 0))'^^geo:wktLiteral .
:pond geo:hasDefaultGeometry :gPond . :gPond geo:asWKT 'POLYGON((1 1,3 1,3 3,1 3,1 1))'^^geo:wktLiteral .
:half geo:hasDefaultGeometry :gHalf . :gHalf geo:asWKT 'POLYGON((2 2,6 2,6 6,2 6,2 2))'^^geo:wktLiteral .
:next geo:hasDefaultGeometry :gNext . :gNext geo:asWKT 'POLYGON((4 0,8 0,8 1,4 1,4 0))'^^geo:wktLiteral .
:way geo:hasDefaultGeometry :gWay . :gWay geo:asWKT 'LINESTRING(2 0.5,9 0.5)'^^geo:wktLiteral .
:kiosk geo:hasDefaultGeometry :gKiosk . :gKiosk geo:asWKT 'POINT(0.5 0.5)'^^geo:wktLiteral .
:bench geo:hasGeometry :gBench . :gBench geo:asGeoJSON '{\"type\":\"Point\",\"coordinates\":[0.5,0.5]}'^^geo:geoJSONLiteral .
:isle geo:hasDefaultGeometry :gIsle . :gIsle geo:asWKT 'POLYGON((50 50,51 50,51 51,50 51,50 50))'^^geo:wktLiteral .
:moved geo:hasDefaultGeometry :gIsle ; geo:hasGeometry :gPond .
:copy geo:asWKT 'POLYGON((0 0,4 0,4 4,0 4,0 0))'^^geo:wktLiteral .
:said geo:sfWithin :isle . :half geo:sfOverlaps :park .
:broken geo:asWKT 'POLYGON((0 0,1 1'^^geo:wktLiteral .
";

fn database() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create_or_open(&folder.path().join("db"), &OpenOptions::default()).unwrap();
    let text = format!("{}\n{DATA}", PROLOGUE.replace("PREFIX", "\nPREFIX"));
    let source = Source::bytes("all.ttl", text).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    (folder, database)
}

/// The values of `?x`, sorted, as local names.
fn values_with(database: &Database, pattern: &str, options: &QueryOptions) -> Vec<String> {
    let query = format!("{PROLOGUE} SELECT ?x {{ {pattern} }}");
    let answer = database.query(&query, options).unwrap_or_else(|error| panic!("{query}: {error}"));
    let QueryResults::Solutions(mut solutions) = answer else { panic!("a SELECT") };
    let rows = solutions.collect_rows().unwrap();
    let name = |term: String| term.trim_start_matches("<http://e/").trim_end_matches('>').to_owned();
    let mut values: Vec<String> = rows
        .iter()
        .map(|row| name(row.first().and_then(|x| x.as_ref()).map(ToString::to_string).unwrap_or_default()))
        .collect();
    values.sort();
    values
}

fn values(database: &Database, pattern: &str) -> Vec<String> {
    values_with(database, pattern, &QueryOptions::default())
}

#[test]
fn relations_follow_between_features_and_geometries() {
    let (_folder, database) = database();
    let features_of = |pattern: &str| {
        let all = values(&database, pattern);
        all.into_iter().filter(|name| !name.starts_with('g')).collect::<Vec<_>>()
    };
    // Requirement 35, simple features; the copy is a geometry without a feature.
    assert_eq!(features_of("?x geo:sfEquals :park"), ["copy", "park"]);
    assert_eq!(features_of("?x geo:sfWithin :park"), ["bench", "copy", "kiosk", "park", "pond"]);
    assert_eq!(features_of(":park geo:sfContains ?x"), ["bench", "copy", "kiosk", "park", "pond"]);
    assert_eq!(features_of("?x geo:sfTouches :park"), ["next"]);
    assert_eq!(features_of("?x geo:sfOverlaps :park"), ["half"]);
    assert_eq!(features_of("?x geo:sfCrosses :park"), ["way"]);
    assert_eq!(
        features_of("?x geo:sfIntersects :park"),
        ["bench", "copy", "half", "kiosk", "next", "park", "pond", "way"]
    );
    assert_eq!(features_of("?x geo:sfDisjoint :park"), ["isle", "moved"]);
    // Requirement 36, Egenhofer.
    assert_eq!(features_of("?x geo:ehEquals :park"), ["copy", "park"]);
    assert_eq!(features_of("?x geo:ehDisjoint :park"), ["isle", "moved"]);
    assert_eq!(features_of("?x geo:ehMeet :park"), ["next"]);
    assert_eq!(features_of("?x geo:ehInside :park"), ["bench", "kiosk", "pond"]);
    assert_eq!(features_of("?x geo:ehContains :pond"), ["copy", "park"]);
    // Requirement 37, region connection calculus.
    assert_eq!(features_of("?x geo:rcc8eq :park"), ["copy", "park"]);
    assert_eq!(features_of("?x geo:rcc8dc :park"), ["isle", "moved"]);
    assert_eq!(features_of("?x geo:rcc8ec :park"), ["next"]);
    assert_eq!(features_of("?x geo:rcc8po :park"), ["half"]);
    assert_eq!(features_of("?x geo:rcc8ntpp :park"), ["pond"]);
    assert_eq!(features_of("?x geo:rcc8ntppi :pond"), ["copy", "park"]);
    // A geometry and a feature, both ways round, and two geometries.
    assert_eq!(values(&database, "?x geo:sfWithin :gPond"), ["gPond", "pond"]);
    assert_eq!(values(&database, ":gPond geo:sfWithin ?x"), ["copy", "gPark", "gPond", "park", "pond"]);
    // The literal itself.
    assert_eq!(
        features_of("?x geo:sfWithin 'POLYGON((0 0,1 0,1 1,0 1,0 0))'^^geo:wktLiteral"),
        ["bench", "kiosk"]
    );
}

#[test]
fn what_is_stated_and_what_follows_is_a_set() {
    let (_folder, database) = database();
    // Stated, and from no geometry; stated, and follows as well: once.
    assert_eq!(values(&database, ":said geo:sfWithin ?x"), ["isle"]);
    assert_eq!(values(&database, ":half geo:sfOverlaps ?x FILTER(?x = :park)"), ["park"]);
    // Only the default geometry counts where there is one.
    assert_eq!(values(&database, ":moved geo:sfWithin ?x"), ["gIsle", "isle", "moved"]);
    // Both texts of a geometry say the same: one solution.
    let insert = format!(
        "{PROLOGUE} INSERT DATA {{ :gKiosk geo:asGeoJSON '{{\"type\":\"Point\",\"coordinates\":[0.5,0.5]}}'^^geo:geoJSONLiteral . \
         :kiosk geo:hasDefaultGeometry :gSecond . :gSecond geo:asWKT 'POINT(0.6 0.6)'^^geo:wktLiteral }}"
    );
    database.update(&insert, &UpdateOptions::default()).unwrap();
    assert_eq!(values(&database, ":kiosk geo:sfWithin ?x FILTER(?x = :park)"), ["park"]);
    // A thing with itself, in a group with others, through a path, and where something is asked first.
    assert_eq!(values(&database, "?x geo:sfTouches ?x"), Vec::<String>::new());
    assert_eq!(values(&database, "?x geo:sfEquals ?x . ?x geo:hasDefaultGeometry :gPark"), ["park"]);
    assert_eq!(values(&database, ":pond ^geo:sfContains/geo:hasDefaultGeometry ?x"), ["gPark", "gPond"]);
    // A point is within itself, and the kiosk has two geometries by now.
    let around = "?a geo:hasDefaultGeometry :gKiosk ; geo:sfWithin ?x . ?x geo:hasDefaultGeometry ?g";
    assert_eq!(values(&database, around), ["kiosk", "kiosk", "park"]);
    assert_eq!(values(&database, "BIND(:x AS ?x) FILTER EXISTS { :kiosk geo:sfWithin :park }"), ["x"]);
    assert_eq!(
        values(&database, "?x geo:hasDefaultGeometry ?g FILTER NOT EXISTS { ?x geo:sfIntersects :park }"),
        ["isle", "moved"]
    );
    assert_eq!(
        values(&database, "?x geo:hasDefaultGeometry :gPark OPTIONAL { ?x geo:sfTouches ?y }"),
        ["park", "park"]
    );
    // Who asks for what is stated alone gets that.
    let stated = QueryOptions { inferred: false, ..QueryOptions::default() };
    assert_eq!(values_with(&database, "?x geo:sfOverlaps ?y", &stated), ["half"]);
    assert_eq!(values_with(&database, "?x geo:sfWithin ?y", &stated), ["said"]);
}

#[test]
fn graphs_are_asked_one_by_one() {
    let (_folder, database) = database();
    let insert = format!(
        "{PROLOGUE} INSERT DATA {{ GRAPH :one {{ :a geo:asWKT 'POINT(1 1)'^^geo:wktLiteral . :b geo:asWKT 'POINT(1 1)'^^geo:wktLiteral }} \
         GRAPH :two {{ :c geo:asWKT 'POINT(1 1)'^^geo:wktLiteral }} }}"
    );
    database.update(&insert, &UpdateOptions::default()).unwrap();
    assert_eq!(values(&database, "GRAPH :one { :a geo:sfEquals ?x }"), ["a", "b"]);
    assert_eq!(values(&database, "GRAPH ?g { ?x geo:sfEquals ?y }"), ["a", "a", "b", "b", "c"]);
}

#[test]
fn a_rewritten_pattern_is_a_spatial_join() {
    let (_folder, database) = database();
    let plan = |pattern: &str| {
        database
            .prepare(&format!("{PROLOGUE} SELECT * {{ {pattern} }}"), &QueryOptions::default())
            .unwrap()
            .explain()
    };
    let joined = plan("?a geo:sfWithin ?b");
    assert!(joined.contains("SpatialJoin"), "{joined}");
    assert!(!plan("?a :other ?b").contains("Join"));
}

/// What is wrong with constants beside relations is told, and nothing else.
#[test]
fn constants_beside_relations_are_looked_at() {
    let (_folder, database) = database();
    let told = |pattern: &str| {
        let geof = "PREFIX geof: <http://www.opengis.net/def/function/geosparql/>";
        let query = format!("{PROLOGUE} {geof} SELECT * {{ {pattern} }}");
        let query = database.prepare(&query, &QueryOptions::default()).unwrap();
        query.warnings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    // Nothing is related to :park by a triple, and all of it by geometries.
    for pattern in [
        "?x geo:sfWithin :park",
        "?x geo:sfWithin|geo:sfTouches :park",
        "?x (geo:sfWithin|:said)/geo:sfTouches :park",
        "?x geo:sfWithin 'POINT(1 1)'^^geo:wktLiteral",
        "?x geo:asWKT ?g FILTER(geof:relate(?g, 'POINT(1 1)'^^geo:wktLiteral, 'T********'))",
    ] {
        assert_eq!(told(pattern), Vec::<String>::new(), "{pattern}");
    }
    for (pattern, problem) in [
        ("?x geo:sfWithin 'POINT(1'^^geo:wktLiteral", "is no geometry (WKT: "),
        ("?x geo:sfWithin 'POINT(1 1)'", "has no datatype of a geometry"),
        (
            "?x geo:sfWithin '<http://www.opengis.net/def/crs/EPSG/0/99999> POINT(1 1)'^^geo:wktLiteral",
            "(EPSG:99999)",
        ),
        ("?x geo:asWKT ?g FILTER(geof:relate(?g, ?g, 'XYZ'))", "\"XYZ\" is no pattern of geof:relate"),
    ] {
        let told = told(pattern);
        assert!(told.len() == 1 && told[0].contains(problem), "{pattern}: {told:?}");
    }
}
