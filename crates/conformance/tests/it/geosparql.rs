//! GeoSPARQL 1.1 (OGC 22-047r1): a test for each requirement of its conformance classes Core, Topology Vocabulary, Geometry, Geometry Topology, RDFS Entailment and
//! Query Rewrite, by the name of the requirement. Expected values are computed by hand, or by shapely 2.2 and pyproj 3.7 where that is said.
//!
//! The guide has a table of them (docs/guide/src/geosparql.md), which has to name each.

use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::{Database, QueryOptions, QueryResults};
use lode_rdf::RdfFormat;
use std::sync::Arc;

const PREFIXES: [(&str, &str); 8] = [
    ("", "http://e/"),
    ("geo", "http://www.opengis.net/ont/geosparql#"),
    ("geof", "http://www.opengis.net/def/function/geosparql/"),
    ("uom", "http://www.opengis.net/def/uom/OGC/1.0/"),
    ("sf", "http://www.opengis.net/ont/sf#"),
    ("gml", "http://www.opengis.net/ont/gml#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];

fn prologue() -> String {
    PREFIXES.map(|(prefix, iri)| format!("PREFIX {prefix}: <{iri}>\n")).concat()
}

fn database(turtle: &str) -> Database {
    let database = Database::in_memory().unwrap();
    let source = Source::bytes("data", format!("{}{turtle}", prologue())).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    database
}

fn asked(database: &Database, query: &str, options: &QueryOptions) -> Vec<Vec<String>> {
    let query = format!("{}{query}", prologue());
    let answer = database.query(&query, options).unwrap_or_else(|error| panic!("{query}: {error}"));
    let QueryResults::Solutions(mut solutions) = answer else { panic!("a SELECT") };
    let short = |term: String| {
        let iri = PREFIXES.iter().skip(1).find_map(|(prefix, iri)| {
            Some(format!("{prefix}:{}", term.strip_prefix('<')?.strip_prefix(iri)?.strip_suffix('>')?))
        });
        let own = || Some(term.strip_prefix("<http://e/")?.strip_suffix('>')?.to_owned());
        iri.or_else(own).unwrap_or_else(|| term.clone())
    };
    let value =
        |term: &Option<lode_rdf::Term>| term.as_ref().map_or("-".to_owned(), |term| short(term.to_string()));
    let mut rows: Vec<Vec<String>> =
        solutions.collect_rows().unwrap().iter().map(|row| row.iter().map(value).collect()).collect();
    rows.sort();
    rows
}

/// The values of `?x`, sorted.
fn found(database: &Database, pattern: &str) -> Vec<String> {
    let rows = asked(database, &format!("SELECT ?x {{ {pattern} }}"), &QueryOptions::default());
    rows.into_iter().flatten().collect()
}

/// The lexical form of what an expression gives, `-` of an error.
fn value(expression: &str) -> String {
    let database = Database::in_memory().unwrap();
    let query = format!("SELECT (STR({}) AS ?x) {{}}", literals(expression));
    let rows = asked(&database, &query, &QueryOptions::default());
    rows.concat().concat().trim_matches('"').to_owned()
}

/// `'...'` is a literal of well-known text.
fn literals(expression: &str) -> String {
    let parts: Vec<&str> = expression.split('\'').collect();
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => (*part).to_owned(),
        _ => format!("\"{part}\"^^geo:wktLiteral"),
    };
    parts.iter().enumerate().map(part).collect()
}

fn each(expected: &[(&str, &str)]) {
    for (expression, expected) in expected {
        assert_eq!(value(expression), *expected, "{expression}");
    }
}

fn all_hold(expressions: &[&str]) {
    for expression in expressions {
        assert_eq!(value(expression), "true", "{expression}");
    }
}

// Core

/// `/req/core/sparql-protocol`: SPARQL 1.1's query language; the protocol and the results have suites of their own (`crates/server/tests`).
#[test]
fn core_sparql_protocol() {
    let data = database(":a geo:hasGeometry :g . :g geo:asWKT 'POINT(1 2)'^^geo:wktLiteral .");
    assert_eq!(
        found(
            &data,
            "?x geo:hasGeometry/geo:asWKT ?wkt FILTER(geof:sfEquals(?wkt, \"POINT(1 2)\"^^geo:wktLiteral))"
        ),
        ["a"]
    );
}

fn class_is_found(name: &str) {
    let data = database(&format!(":a a geo:{name} . :b a :Other ."));
    assert_eq!(found(&data, &format!("?x a geo:{name}")), ["a"], "{name}");
}

/// `/req/core/spatial-object-class`
#[test]
fn core_spatial_object_class() {
    class_is_found("SpatialObject");
}

/// `/req/core/feature-class`
#[test]
fn core_feature_class() {
    class_is_found("Feature");
}

/// `/req/core/spatial-object-collection-class`
#[test]
fn core_spatial_object_collection_class() {
    class_is_found("SpatialObjectCollection");
}

/// `/req/core/feature-collection-class`
#[test]
fn core_feature_collection_class() {
    class_is_found("FeatureCollection");
}

fn properties_are_found(names: &[&str]) {
    for name in names {
        let data = database(&format!(":a geo:{name} :b . :c :other :d ."));
        assert_eq!(found(&data, &format!("?x geo:{name} :b")), ["a"], "{name}");
    }
}

/// `/req/core/spatial-object-properties`
#[test]
fn core_spatial_object_properties() {
    properties_are_found(&[
        "hasSize",
        "hasMetricSize",
        "hasLength",
        "hasMetricLength",
        "hasPerimeterLength",
        "hasMetricPerimeterLength",
        "hasArea",
        "hasMetricArea",
        "hasVolume",
        "hasMetricVolume",
    ]);
}

// Topology Vocabulary

/// A square of four, one of two in it, a point at its edge, and one far away, as features with geometries.
const PLACES: &str = "
:big geo:hasDefaultGeometry [ geo:asWKT 'POLYGON((0 0,4 0,4 4,0 4,0 0))'^^geo:wktLiteral ] .
:copy geo:hasDefaultGeometry [ geo:asWKT 'POLYGON((4 0,4 4,0 4,0 0,4 0))'^^geo:wktLiteral ] .
:small geo:hasDefaultGeometry [ geo:asWKT 'POLYGON((1 1,3 1,3 3,1 3,1 1))'^^geo:wktLiteral ] .
:corner geo:hasDefaultGeometry [ geo:asWKT 'POLYGON((0 0,2 0,2 2,0 2,0 0))'^^geo:wktLiteral ] .
:beside geo:hasDefaultGeometry [ geo:asWKT 'POLYGON((4 0,8 0,8 4,4 4,4 0))'^^geo:wktLiteral ] .
:across geo:hasDefaultGeometry [ geo:asWKT 'POLYGON((2 2,6 2,6 6,2 6,2 2))'^^geo:wktLiteral ] .
:away geo:hasDefaultGeometry [ geo:asWKT 'POLYGON((50 50,51 50,51 51,50 50))'^^geo:wktLiteral ] .
:road geo:hasDefaultGeometry [ geo:asWKT 'LINESTRING(-1 0.5,5 0.5)'^^geo:wktLiteral ] .
";

fn relations_are_found(names: &[&str]) {
    for name in names {
        let data = database(&format!(":a geo:{name} :b . :c :other :d ."));
        assert_eq!(found(&data, &format!("?x geo:{name} :b")), ["a"], "{name}");
    }
}

/// `/req/topology-vocab-extension/sf-spatial-relations`
#[test]
fn topology_vocab_extension_sf_spatial_relations() {
    relations_are_found(&[
        "sfEquals",
        "sfDisjoint",
        "sfIntersects",
        "sfTouches",
        "sfCrosses",
        "sfWithin",
        "sfContains",
        "sfOverlaps",
    ]);
}

/// `/req/topology-vocab-extension/eh-spatial-relations`
#[test]
fn topology_vocab_extension_eh_spatial_relations() {
    relations_are_found(&[
        "ehEquals",
        "ehDisjoint",
        "ehMeet",
        "ehOverlap",
        "ehCovers",
        "ehCoveredBy",
        "ehInside",
        "ehContains",
    ]);
}

/// `/req/topology-vocab-extension/rcc8-spatial-relations`
#[test]
fn topology_vocab_extension_rcc8_spatial_relations() {
    relations_are_found(&[
        "rcc8eq",
        "rcc8dc",
        "rcc8ec",
        "rcc8po",
        "rcc8tppi",
        "rcc8tpp",
        "rcc8ntpp",
        "rcc8ntppi",
    ]);
}

// Geometry

/// `/req/geometry-extension/geometry-class`
#[test]
fn geometry_extension_geometry_class() {
    class_is_found("Geometry");
}

/// `/req/geometry-extension/geometry-collection-class`
#[test]
fn geometry_extension_geometry_collection_class() {
    class_is_found("GeometryCollection");
}

/// `/req/geometry-extension/feature-properties`
#[test]
fn geometry_extension_feature_properties() {
    properties_are_found(&["hasGeometry", "hasDefaultGeometry", "hasCentroid", "hasBoundingBox"]);
}

/// `/req/geometry-extension/geometry-properties`
#[test]
fn geometry_extension_geometry_properties() {
    properties_are_found(&[
        "dimension",
        "coordinateDimension",
        "spatialDimension",
        "isEmpty",
        "isSimple",
        "hasSerialization",
        "hasSpatialAccuracy",
        "hasMetricSpatialAccuracy",
        "hasSpatialResolution",
        "hasMetricSpatialResolution",
    ]);
}

/// `/req/geometry-extension/query-functions`: those of simple features.
#[test]
fn geometry_extension_query_functions() {
    all_hold(&[
        "geof:sfEquals(geof:intersection('POLYGON((0 0,4 0,4 4,0 4,0 0))', 'POLYGON((2 2,6 2,6 6,2 6,2 2))'), 'POLYGON((2 2,4 2,4 4,2 4,2 2))')",
        // Where areas touch: an edge, a corner, and both.
        "geof:sfEquals(geof:intersection('POLYGON((0 0,4 0,4 4,0 4,0 0))', 'POLYGON((4 1,8 1,8 3,4 3,4 1))'), 'LINESTRING(4 1,4 3)')",
        "geof:sfEquals(geof:intersection('POLYGON((0 0,4 0,4 4,0 4,0 0))', 'POLYGON((4 4,8 4,8 8,4 8,4 4))'), 'POINT(4 4)')",
        "geof:sfEquals(geof:intersection('POLYGON((0 0,4 0,4 4,0 4,0 0))', 'LINESTRING(4 1,4 3,5 3,4 4,6 6)'), 'GEOMETRYCOLLECTION(LINESTRING(4 1,4 3),POINT(4 4))')",
        "geof:sfEquals(geof:union('POLYGON((0 0,1 0,1 1,0 1,0 0))', 'POLYGON((1 0,2 0,2 1,1 1,1 0))'), 'POLYGON((0 0,2 0,2 1,0 1,0 0))')",
        "geof:sfEquals(geof:difference('POLYGON((0 0,2 0,2 1,0 1,0 0))', 'POLYGON((1 0,2 0,2 1,1 1,1 0))'), 'POLYGON((0 0,1 0,1 1,0 1,0 0))')",
        "geof:sfEquals(geof:symDifference('LINESTRING(0 0,2 0)', 'LINESTRING(1 0,3 0)'), 'MULTILINESTRING((0 0,1 0),(2 0,3 0))')",
        "geof:sfEquals(geof:convexHull('MULTIPOINT((0 0),(4 0),(2 1),(2 4))'), 'POLYGON((0 0,4 0,2 4,0 0))')",
        "geof:sfEquals(geof:envelope('LINESTRING(1 2,3 5)'), 'POLYGON((1 2,3 2,3 5,1 5,1 2))')",
        "geof:sfEquals(geof:boundary('POLYGON((0 0,1 0,1 1,0 0))'), 'LINESTRING(0 0,1 0,1 1,0 0)')",
        "geof:relate(geof:buffer('POINT(0 0)', 1, uom:degree), 'MULTIPOINT((0 0),(0.9 0),(0 -0.9))', \"T*****FF*\")",
    ]);
    each(&[
        ("geof:distance('POINT(0 0)', 'POINT(3 4)', uom:degree)", "5.0E0"),
        // pyproj.Geod(ellps='WGS84').inv
        ("ROUND(geof:distance('POINT(13.405 52.52)', 'POINT(2.3522 48.8566)', uom:metre))", "8.79699E5"),
    ]);
}

/// `/req/geometry-extension/query-functions-non-sf`
#[test]
fn geometry_extension_query_functions_non_sf() {
    all_hold(&[
        "geof:sfEquals(geof:boundingCircle('POINT(1 2)'), 'POINT(1 2)')",
        "geof:sfEquals(geof:concaveHull('MULTIPOINT((0 0),(4 0),(4 4),(0 4),(2 2))', 1), 'POLYGON((0 0,4 0,4 4,0 4,0 0))')",
        "geof:sfEquals(geof:geometryN('MULTIPOINT((1 2),(3 4))', 2), 'POINT(3 4)')",
        "geof:sfEquals(geof:centroid('POLYGON((0 0,4 0,4 4,0 4,0 0))'), 'POINT(2 2)')",
        "geof:sfEquals(geof:transform('<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(52 13)', <http://www.opengis.net/def/crs/OGC/1.3/CRS84>), 'POINT(13 52)')",
        "geof:isEmpty('POINT EMPTY')",
        "!geof:isSimple('LINESTRING(0 0,2 2,2 0,0 2)')",
        "geof:is3D('POINT Z(1 2 3)') && geof:isMeasured('POINT M(1 2 3)') && !geof:is3D('POINT(1 2)')",
        "geof:geometryType('POINT(1 2)') = \"http://www.opengis.net/ont/sf#Point\"^^xsd:anyURI",
    ]);
    each(&[
        ("geof:area('POLYGON((0 0,4 0,4 3,0 3,0 0))', uom:degree)", "1.2E1"),
        ("geof:length('LINESTRING(0 0,3 4,3 5)', uom:degree)", "6.0E0"),
        ("geof:perimeter('POLYGON((0 0,4 0,4 3,0 3,0 0))', uom:degree)", "1.4E1"),
        // pyproj.Geod(ellps='WGS84').geometry_area_perimeter
        ("ROUND(geof:metricArea('POLYGON((0 0,1 0,1 1,0 1,0 0))'))", "1.2308778361E10"),
        ("ROUND(geof:metricPerimeter('POLYGON((0 0,1 0,1 1,0 1,0 0))'))", "4.43771E5"),
        ("ROUND(geof:metricLength('LINESTRING(0 0,1 0,1 1)'))", "2.21894E5"),
        ("ROUND(geof:metricDistance('POINT(13.405 52.52)', 'POINT(2.3522 48.8566)'))", "8.79699E5"),
        ("ROUND(geof:metricArea(geof:metricBuffer('POINT(13.4 52.5)', 1000)) / 100000)", "3.1E1"),
        ("geof:dimension('LINESTRING(0 0,1 1)')", "1"),
        ("geof:coordinateDimension('POINT ZM(1 2 3 4)')", "4"),
        ("geof:spatialDimension('POINT ZM(1 2 3 4)')", "3"),
        ("geof:numGeometries('MULTIPOINT((1 2),(3 4))')", "2"),
        ("geof:minX('LINESTRING Z(1 5 7,3 2 9)')", "1.0E0"),
        ("geof:maxX('LINESTRING Z(1 5 7,3 2 9)')", "3.0E0"),
        ("geof:minY('LINESTRING Z(1 5 7,3 2 9)')", "2.0E0"),
        ("geof:maxY('LINESTRING Z(1 5 7,3 2 9)')", "5.0E0"),
        ("geof:minZ('LINESTRING Z(1 5 7,3 2 9)')", "7.0E0"),
        ("geof:maxZ('LINESTRING Z(1 5 7,3 2 9)')", "9.0E0"),
    ]);
}

/// `/req/geometry-extension/srid-function`
#[test]
fn geometry_extension_srid_function() {
    each(&[
        ("geof:getSRID('POINT(1 2)')", "http://www.opengis.net/def/crs/OGC/1.3/CRS84"),
        (
            "geof:getSRID('<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(1 2)')",
            "http://www.opengis.net/def/crs/EPSG/0/4326",
        ),
    ]);
    all_hold(&["DATATYPE(geof:getSRID('POINT(1 2)')) = xsd:anyURI"]);
}

/// `/req/geometry-extension/sa-functions`: aggregates.
#[test]
fn geometry_extension_sa_functions() {
    let data = database(
        ":a :is 'POLYGON((0 0,2 0,2 2,0 2,0 0))'^^geo:wktLiteral . :b :is 'POLYGON((1 0,1 2,3 2,3 0,1 0))'^^geo:wktLiteral .",
    );
    for (call, expected) in [
        ("geof:aggBoundingBox(?g)", "'POLYGON((0 0,3 0,3 2,0 2,0 0))'"),
        ("geof:aggConvexHull(?g)", "'POLYGON((0 0,3 0,3 2,0 2,0 0))'"),
        ("geof:aggUnion(?g)", "'POLYGON((0 0,3 0,3 2,0 2,0 0))'"),
        ("geof:aggCentroid(?g)", "'POINT(1.5 1)'"),
        // The hull of eight corners, all of which are on the edge of a rectangle.
        ("geof:aggConcaveHull(?g)", "'POLYGON((0 0,3 0,3 2,0 2,0 0))'"),
    ] {
        let select = literals(&format!("SELECT (geof:sfEquals({call}, {expected}) AS ?x) {{ ?s :is ?g }}"));
        let rows = asked(&data, &select, &QueryOptions::default());
        assert_eq!(rows, [["\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>"]], "{call}");
    }
    // The circle around 3 by 2 has an area of 13/4 pi, and its polygon some more.
    let select =
        "SELECT (ROUND(100 * geof:area(geof:aggBoundingCircle(?g), uom:degree)) AS ?x) { ?s :is ?g }";
    let rows = asked(&data, select, &QueryOptions::default());
    assert_eq!(rows.concat().concat(), "\"1.022E3\"^^<http://www.w3.org/2001/XMLSchema#double>");
}

/// `/req/geometry-extension/wkt-literal`
#[test]
fn geometry_extension_wkt_literal() {
    each(&[
        ("geof:asWKT('Point(1 2)')", "POINT (1 2)"),
        (
            "geof:asWKT('<http://www.opengis.net/def/crs/EPSG/0/25833> LINESTRING(1 2,3 4)')",
            "<http://www.opengis.net/def/crs/EPSG/0/25833> LINESTRING (1 2, 3 4)",
        ),
        (
            "geof:numGeometries('GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(1 2,3 4),POLYGON((0 0,1 0,1 1,0 0)))')",
            "3",
        ),
        ("geof:asWKT('POINT(1')", "-"),
    ]);
}

/// `/req/geometry-extension/wkt-literal-default-srs`
#[test]
fn geometry_extension_wkt_literal_default_srs() {
    all_hold(&[
        "geof:sfEquals('POINT(13 52)', '<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(13 52)')",
    ]);
}

/// `/req/geometry-extension/wkt-axis-order`
#[test]
fn geometry_extension_wkt_axis_order() {
    all_hold(&[
        "geof:sfEquals('<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(52 13)', 'POINT(13 52)')",
        "!geof:sfEquals('<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(13 52)', 'POINT(13 52)')",
    ]);
}

/// `/req/geometry-extension/wkt-literal-empty`
#[test]
fn geometry_extension_wkt_literal_empty() {
    all_hold(&["geof:isEmpty('')"]);
}

/// `/req/geometry-extension/geometry-as-wkt-literal`
#[test]
fn geometry_extension_geometry_as_wkt_literal() {
    properties_are_found(&["asWKT"]);
}

/// `/req/geometry-extension/asWKT-function`
#[test]
fn geometry_extension_as_wkt_function() {
    each(&[(
        "geof:asWKT(\"{\\\"type\\\":\\\"Point\\\",\\\"coordinates\\\":[1,2]}\"^^geo:geoJSONLiteral)",
        "POINT (1 2)",
    )]);
    all_hold(&["DATATYPE(geof:asWKT('POINT(1 2)')) = geo:wktLiteral"]);
}

/// `/req/geometry-extension/gml-literal`
#[test]
fn geometry_extension_gml_literal() {
    all_hold(&[
        "geof:sfEquals(\"<gml:Point srsName=\\\"http://www.opengis.net/def/crs/EPSG/0/4326\\\" xmlns:gml=\\\"http://www.opengis.net/gml/3.2\\\"><gml:pos>52 13</gml:pos></gml:Point>\"^^geo:gmlLiteral, 'POINT(13 52)')",
    ]);
}

/// `/req/geometry-extension/gml-literal-empty`
#[test]
fn geometry_extension_gml_literal_empty() {
    all_hold(&["geof:isEmpty(\"\"^^geo:gmlLiteral)"]);
}

/// `/req/geometry-extension/gml-profile`: the elements of simple features, in the namespaces of GML 3.2 and before.
#[test]
fn geometry_extension_gml_profile() {
    for namespace in
        ["http://www.opengis.net/gml/3.2", "http://www.opengis.net/gml", "http://www.opengis.net/ont/gml"]
    {
        for (element, wkt) in [
            (
                "<LineString xmlns=\\\"NS\\\"><posList>0 0 1 1 2 0</posList></LineString>",
                "LINESTRING(0 0,1 1,2 0)",
            ),
            (
                "<Polygon xmlns=\\\"NS\\\"><exterior><LinearRing><posList>0 0 4 0 4 4 0 0</posList></LinearRing></exterior></Polygon>",
                "POLYGON((0 0,4 0,4 4,0 0))",
            ),
            (
                "<MultiPoint xmlns=\\\"NS\\\"><pointMember><Point><pos>1 2</pos></Point></pointMember><pointMember><Point><pos>3 4</pos></Point></pointMember></MultiPoint>",
                "MULTIPOINT((1 2),(3 4))",
            ),
        ] {
            let element = element.replace("NS", namespace);
            all_hold(&[&format!("geof:sfEquals(\"{element}\"^^geo:gmlLiteral, '{wkt}')")]);
        }
    }
}

/// `/req/geometry-extension/geometry-as-gml-literal`
#[test]
fn geometry_extension_geometry_as_gml_literal() {
    properties_are_found(&["asGML"]);
}

/// `/req/geometry-extension/asGML-function`
#[test]
fn geometry_extension_as_gml_function() {
    all_hold(&[
        "geof:sfEquals(geof:asGML('POLYGON((0 0,4 0,4 4,0 0))', \"http://www.opengis.net/def/gml\"), 'POLYGON((0 0,4 0,4 4,0 0))')",
        "DATATYPE(geof:asGML('POINT(1 2)')) = geo:gmlLiteral",
    ]);
}

const JSON_POINT: &str = "\"{\\\"type\\\":\\\"Point\\\",\\\"coordinates\\\":[13,52]}\"^^geo:geoJSONLiteral";

/// `/req/geometry-extension/geojson-literal`
#[test]
fn geometry_extension_geojson_literal() {
    all_hold(&[&format!("geof:sfEquals({JSON_POINT}, 'POINT(13 52)')")]);
}

/// `/req/geometry-extension/geojson-literal-srs`
#[test]
fn geometry_extension_geojson_literal_srs() {
    each(&[(&format!("geof:getSRID({JSON_POINT})"), "http://www.opengis.net/def/crs/OGC/1.3/CRS84")]);
}

/// `/req/geometry-extension/geojson-literal-empty`
#[test]
fn geometry_extension_geojson_literal_empty() {
    all_hold(&["geof:isEmpty(\"\"^^geo:geoJSONLiteral)"]);
}

/// `/req/geometry-extension/geometry-as-geojson-literal`
#[test]
fn geometry_extension_geometry_as_geojson_literal() {
    properties_are_found(&["asGeoJSON"]);
}

/// `/req/geometry-extension/asGeoJSON-function`
#[test]
fn geometry_extension_as_geojson_function() {
    all_hold(&[
        &format!(
            "geof:asGeoJSON('<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(52 13)') = {JSON_POINT}"
        ),
        "DATATYPE(geof:asGeoJSON('POINT(1 2)')) = geo:geoJSONLiteral",
    ]);
}

const KML_POINT: &str = "\"<Point xmlns=\\\"http://www.opengis.net/kml/2.2\\\"><coordinates>13,52</coordinates></Point>\"^^geo:kmlLiteral";

/// `/req/geometry-extension/kml-literal`
#[test]
fn geometry_extension_kml_literal() {
    all_hold(&[&format!("geof:sfEquals({KML_POINT}, 'POINT(13 52)')")]);
}

/// `/req/geometry-extension/kml-literal-srs`
#[test]
fn geometry_extension_kml_literal_srs() {
    each(&[(&format!("geof:getSRID({KML_POINT})"), "http://www.opengis.net/def/crs/OGC/1.3/CRS84")]);
}

/// `/req/geometry-extension/kml-literal-empty`
#[test]
fn geometry_extension_kml_literal_empty() {
    all_hold(&["geof:isEmpty(\"\"^^geo:kmlLiteral)"]);
}

/// `/req/geometry-extension/geometry-as-kml-literal`
#[test]
fn geometry_extension_geometry_as_kml_literal() {
    properties_are_found(&["asKML"]);
}

/// `/req/geometry-extension/asKML-function`
#[test]
fn geometry_extension_as_kml_function() {
    all_hold(&[
        "geof:sfEquals(geof:asKML('LINESTRING(1 2,3 4)'), 'LINESTRING(1 2,3 4)')",
        "DATATYPE(geof:asKML('POINT(1 2)')) = geo:kmlLiteral",
    ]);
}

/// `/req/geometry-extension/geometry-as-dggs-literal`
#[test]
fn geometry_extension_geometry_as_dggs_literal() {
    properties_are_found(&["asDGGS"]);
}

/// `/req/geometry-extension/dggs-literal`, `dggs-literal-empty` and `asDGGS-function` are not met: cells of a grid are kept as literals, and errors in functions, with a warning.
#[test]
fn geometry_extension_dggs_literal_is_refused() {
    let cell = "\"<https://w3id.org/dggs/auspix> CELL (R3234)\"^^geo:dggsLiteral";
    each(&[
        (&format!("geof:sfEquals({cell}, {cell})"), "-"),
        (&format!("geof:asWKT({cell})"), "-"),
        ("geof:asDGGS('POINT(1 2)', <https://w3id.org/dggs/auspix>)", "-"),
    ]);
    let data = database(":a geo:asDGGS \"<https://w3id.org/dggs/auspix> CELL (R3234)\"^^geo:dggsLiteral .");
    assert_eq!(found(&data, &format!("?x geo:asDGGS {cell}")), ["a"]);
}

// Geometry Topology

const BIG: &str = "'POLYGON((0 0,4 0,4 4,0 4,0 0))'";
const SMALL: &str = "'POLYGON((1 1,3 1,3 3,1 3,1 1))'";
const CORNER: &str = "'POLYGON((0 0,2 0,2 2,0 2,0 0))'";
const BESIDE: &str = "'POLYGON((4 0,8 0,8 4,4 4,4 0))'";
const ACROSS: &str = "'POLYGON((2 2,6 2,6 6,2 6,2 2))'";
const AWAY: &str = "'POLYGON((50 50,51 50,51 51,50 50))'";
const ROAD: &str = "'LINESTRING(-1 0.5,5 0.5)'";

/// Of all pairs of the first with each, those that are so related are these.
fn related(name: &str, first: &str, expected: &[&str]) {
    for second in [BIG, SMALL, CORNER, BESIDE, ACROSS, AWAY, ROAD] {
        let found = value(&format!("geof:{name}({first}, {second})"));
        assert_eq!(found, expected.contains(&second).to_string(), "{name} {first} {second}");
    }
}

/// `/req/geometry-topology-extension/relate-query-function`
#[test]
fn geometry_topology_extension_relate_query_function() {
    // shapely: relate
    for (second, matrix) in [
        (BIG, "2FFF1FFF2"),
        (SMALL, "212FF1FF2"),
        (BESIDE, "FF2F11212"),
        (ACROSS, "212101212"),
        (AWAY, "FF2FF1212"),
    ] {
        all_hold(&[&format!("geof:relate({BIG}, {second}, \"{matrix}\")")]);
    }
    // A collection of all dimensions is the union of its parts (shapely with GEOS 3.14).
    let mixed = "'GEOMETRYCOLLECTION(POLYGON((0 0,4 0,4 4,0 4,0 0)),LINESTRING(2 2,8 2),POINT(9 9))'";
    all_hold(&[
        &format!("geof:relate({mixed}, {BIG}, \"2F1F10FF2\")"),
        &format!(
            "geof:sfContains({mixed}, {BIG}) && geof:sfContains({mixed}, 'POINT(9 9)') && geof:sfContains({mixed}, 'POINT(6 2)')"
        ),
        &format!(
            "geof:sfIntersects({mixed}, {BESIDE}) && !geof:sfTouches({mixed}, {BESIDE}) && geof:sfDisjoint({mixed}, {AWAY})"
        ),
    ]);
    each(&[(&format!("geof:relate({BIG}, {BIG}, \"T\")"), "-")]);
}

/// `/req/geometry-topology-extension/sf-query-functions`
#[test]
fn geometry_topology_extension_sf_query_functions() {
    related("sfEquals", BIG, &[BIG]);
    related("sfDisjoint", BIG, &[AWAY]);
    related("sfIntersects", BIG, &[BIG, SMALL, CORNER, BESIDE, ACROSS, ROAD]);
    related("sfTouches", BIG, &[BESIDE]);
    related("sfCrosses", BIG, &[ROAD]);
    related("sfWithin", SMALL, &[BIG, SMALL]);
    related("sfContains", BIG, &[BIG, SMALL, CORNER]);
    related("sfOverlaps", BIG, &[ACROSS]);
}

/// `/req/geometry-topology-extension/eh-query-functions`
#[test]
fn geometry_topology_extension_eh_query_functions() {
    related("ehEquals", BIG, &[BIG]);
    related("ehDisjoint", BIG, &[AWAY]);
    related("ehMeet", BIG, &[BESIDE]);
    related("ehOverlap", BIG, &[ACROSS, ROAD]);
    related("ehCovers", BIG, &[CORNER]);
    related("ehCoveredBy", CORNER, &[BIG]);
    related("ehInside", SMALL, &[BIG]);
    related("ehContains", BIG, &[SMALL]);
}

/// `/req/geometry-topology-extension/rcc8-query-functions`
#[test]
fn geometry_topology_extension_rcc8_query_functions() {
    related("rcc8eq", BIG, &[BIG]);
    related("rcc8dc", BIG, &[AWAY]);
    related("rcc8ec", BIG, &[BESIDE]);
    related("rcc8po", BIG, &[ACROSS]);
    related("rcc8tppi", BIG, &[CORNER]);
    related("rcc8tpp", CORNER, &[BIG]);
    related("rcc8ntpp", SMALL, &[BIG]);
    related("rcc8ntppi", BIG, &[SMALL]);
}

// RDFS Entailment

/// What the ontologies of OGC say of classes and properties that follows by RDF Schema.
const ONTOLOGY: &str = "
geo:Feature rdfs:subClassOf geo:SpatialObject . geo:Geometry rdfs:subClassOf geo:SpatialObject .
geo:FeatureCollection rdfs:subClassOf geo:SpatialObjectCollection . geo:GeometryCollection rdfs:subClassOf geo:SpatialObjectCollection .
geo:hasDefaultGeometry rdfs:subPropertyOf geo:hasGeometry . geo:hasCentroid rdfs:subPropertyOf geo:hasGeometry .
geo:hasBoundingBox rdfs:subPropertyOf geo:hasGeometry .
geo:hasGeometry rdfs:domain geo:Feature ; rdfs:range geo:Geometry .
geo:asWKT rdfs:subPropertyOf geo:hasSerialization ; rdfs:domain geo:Geometry .
geo:asGML rdfs:subPropertyOf geo:hasSerialization ; rdfs:domain geo:Geometry .
geo:sfWithin rdfs:domain geo:SpatialObject ; rdfs:range geo:SpatialObject .
";

/// The classes of simple features (OGC 06-103r4, figure 1), as the ontology of OGC has them.
const SIMPLE_FEATURES: [(&str, &str); 18] = [
    ("Geometry", "geo:Geometry"),
    ("Point", "sf:Geometry"),
    ("Curve", "sf:Geometry"),
    ("Surface", "sf:Geometry"),
    ("GeometryCollection", "sf:Geometry"),
    ("LineString", "sf:Curve"),
    ("Line", "sf:LineString"),
    ("LinearRing", "sf:LineString"),
    ("Polygon", "sf:Surface"),
    ("PolyhedralSurface", "sf:Surface"),
    ("Triangle", "sf:Polygon"),
    ("TIN", "sf:PolyhedralSurface"),
    ("MultiPoint", "sf:GeometryCollection"),
    ("MultiCurve", "sf:GeometryCollection"),
    ("MultiSurface", "sf:GeometryCollection"),
    ("MultiLineString", "sf:MultiCurve"),
    ("MultiPolygon", "sf:MultiSurface"),
    ("Envelope", "sf:Polygon"),
];

fn reasoning() -> QueryOptions {
    let mut options = QueryOptions::default();
    options.set_rules("rdfs".parse().unwrap());
    options
}

fn inferred(database: &Database, pattern: &str) -> Vec<String> {
    asked(database, &format!("SELECT DISTINCT ?x {{ {pattern} }}"), &reasoning())
        .into_iter()
        .flatten()
        .collect()
}

/// `/req/rdfs-entailment-extension/bgp-rdfs-ent`: basic graph patterns by RDF Schema.
#[test]
fn rdfs_entailment_extension_bgp_rdfs_ent() {
    let data = database(&format!(
        "{ONTOLOGY} :place geo:hasDefaultGeometry :g . :g geo:asWKT 'POINT(1 2)'^^geo:wktLiteral . :all a geo:FeatureCollection . :x geo:sfWithin :y ."
    ));
    assert_eq!(inferred(&data, "?x a geo:Feature"), ["place"]);
    assert_eq!(inferred(&data, "?x a geo:Geometry"), ["g"]);
    assert_eq!(inferred(&data, "?x a geo:SpatialObject FILTER(?x != :b)"), ["g", "place", "x", "y"]);
    assert_eq!(inferred(&data, "?x a geo:SpatialObjectCollection"), ["all"]);
    assert_eq!(inferred(&data, ":place geo:hasGeometry ?x"), ["g"]);
    assert_eq!(inferred(&data, "?x geo:hasSerialization ?text"), ["g"]);
    // Not without rules.
    assert_eq!(found(&data, "?x a geo:Feature"), Vec::<String>::new());
}

/// `/req/rdfs-entailment-extension/wkt-geometry-types`: the classes of simple features.
#[test]
fn rdfs_entailment_extension_wkt_geometry_types() {
    let classes: String = SIMPLE_FEATURES
        .map(|(class, above)| format!("sf:{class} rdfs:subClassOf {above} . :a{class} a sf:{class} .\n"))
        .concat();
    let data = database(&format!("{ONTOLOGY}{classes}"));
    let all = |names: &[&str]| names.iter().map(|name| format!("a{name}")).collect::<Vec<_>>();
    let mut every: Vec<String> = all(&SIMPLE_FEATURES.map(|(class, _)| class));
    every.sort();
    assert_eq!(inferred(&data, "?x a geo:Geometry"), every);
    assert_eq!(inferred(&data, "?x a geo:SpatialObject"), every);
    assert_eq!(inferred(&data, "?x a sf:Curve"), all(&["Curve", "Line", "LineString", "LinearRing"]));
    assert_eq!(
        inferred(&data, "?x a sf:Surface"),
        all(&["Envelope", "Polygon", "PolyhedralSurface", "Surface", "TIN", "Triangle"])
    );
    assert_eq!(
        inferred(&data, "?x a sf:GeometryCollection"),
        all(&[
            "GeometryCollection",
            "MultiCurve",
            "MultiLineString",
            "MultiPoint",
            "MultiPolygon",
            "MultiSurface"
        ])
    );
    // What functions call a geometry are these classes.
    for (wkt, class) in [
        ("POINT(1 2)", "Point"),
        ("LINESTRING(0 0,1 1)", "LineString"),
        ("POLYGON((0 0,1 0,1 1,0 0))", "Polygon"),
        ("TRIANGLE((0 0,1 0,1 1,0 0))", "Triangle"),
        ("MULTIPOINT((0 0))", "MultiPoint"),
        ("MULTILINESTRING((0 0,1 1))", "MultiLineString"),
        ("MULTIPOLYGON(((0 0,1 0,1 1,0 0)))", "MultiPolygon"),
        ("GEOMETRYCOLLECTION(POINT(1 2))", "GeometryCollection"),
        ("TIN(((0 0,1 0,1 1,0 0)))", "TIN"),
        ("POLYHEDRALSURFACE(((0 0,1 0,1 1,0 0)))", "PolyhedralSurface"),
    ] {
        each(&[(&format!("geof:geometryType('{wkt}')"), &format!("http://www.opengis.net/ont/sf#{class}"))]);
        assert!(SIMPLE_FEATURES.iter().any(|(known, _)| *known == class), "{class}");
    }
}

/// `/req/rdfs-entailment-extension/gml-geometry-types`: those of GML.
#[test]
fn rdfs_entailment_extension_gml_geometry_types() {
    let data = database(&format!(
        "{ONTOLOGY}
        gml:AbstractGeometry rdfs:subClassOf geo:Geometry . gml:AbstractGeometricPrimitive rdfs:subClassOf gml:AbstractGeometry .
        gml:AbstractGeometricAggregate rdfs:subClassOf gml:AbstractGeometry . gml:Point rdfs:subClassOf gml:AbstractGeometricPrimitive .
        gml:AbstractCurve rdfs:subClassOf gml:AbstractGeometricPrimitive . gml:LineString rdfs:subClassOf gml:AbstractCurve .
        gml:AbstractSurface rdfs:subClassOf gml:AbstractGeometricPrimitive . gml:Polygon rdfs:subClassOf gml:AbstractSurface .
        gml:MultiPoint rdfs:subClassOf gml:AbstractGeometricAggregate .
        :point a gml:Point . :line a gml:LineString . :area a gml:Polygon . :points a gml:MultiPoint ."
    ));
    assert_eq!(inferred(&data, "?x a geo:Geometry"), ["area", "line", "point", "points"]);
    assert_eq!(inferred(&data, "?x a gml:AbstractGeometricPrimitive"), ["area", "line", "point"]);
    assert_eq!(inferred(&data, "?x a gml:AbstractCurve"), ["line"]);
    assert_eq!(inferred(&data, "?x a gml:AbstractGeometricAggregate"), ["points"]);
}

// Query Rewrite

fn follows(name: &str, first: &str, expected: &[&str]) {
    let data = database(PLACES);
    let pattern = format!(":{first} geo:{name} ?x . ?x geo:hasDefaultGeometry ?g");
    assert_eq!(found(&data, &pattern), expected, "{first} {name}");
}

/// `/req/query-rewrite-extension/sf-query-rewrite`
#[test]
fn query_rewrite_extension_sf_query_rewrite() {
    follows("sfEquals", "big", &["big", "copy"]);
    follows("sfDisjoint", "big", &["away"]);
    follows("sfIntersects", "away", &["away"]);
    follows("sfTouches", "big", &["beside"]);
    follows("sfCrosses", "road", &["beside", "big", "copy", "corner"]);
    follows("sfWithin", "small", &["big", "copy", "small"]);
    follows("sfContains", "corner", &["corner"]);
    follows("sfOverlaps", "small", &["across", "corner"]);
}

/// `/req/query-rewrite-extension/eh-query-rewrite`
#[test]
fn query_rewrite_extension_eh_query_rewrite() {
    follows("ehEquals", "big", &["big", "copy"]);
    follows("ehDisjoint", "big", &["away"]);
    follows("ehMeet", "big", &["beside"]);
    follows("ehOverlap", "big", &["across", "road"]);
    follows("ehCovers", "big", &["corner"]);
    follows("ehCoveredBy", "corner", &["big", "copy"]);
    follows("ehInside", "small", &["big", "copy"]);
    follows("ehContains", "big", &["small"]);
}

/// `/req/query-rewrite-extension/rcc8-query-rewrite`
#[test]
fn query_rewrite_extension_rcc8_query_rewrite() {
    follows("rcc8eq", "big", &["big", "copy"]);
    follows("rcc8dc", "small", &["away", "beside", "road"]);
    follows("rcc8ec", "big", &["beside"]);
    follows("rcc8po", "big", &["across"]);
    follows("rcc8tppi", "big", &["corner"]);
    follows("rcc8tpp", "corner", &["big", "copy"]);
    follows("rcc8ntpp", "small", &["big", "copy"]);
    follows("rcc8ntppi", "big", &["small"]);
}

/// Each requirement that a test is named after is in the table of the guide, with that test, and no others are.
#[test]
fn the_guide_names_each_requirement_and_its_test() {
    let guide = include_str!("../../../../docs/guide/src/geosparql.md");
    let mut tests = 0;
    let mut requirements: Vec<String> = Vec::new();
    for line in include_str!("geosparql.rs").lines() {
        if let Some(comment) = line.strip_prefix("/// `/req/") {
            requirements.extend(comment.split('`').next().map(str::to_owned));
        } else if let Some(test) = line.strip_prefix("fn ")
            && let (Some(name), Some(requirement)) = (test.strip_suffix("() {"), requirements.pop())
        {
            tests += 1;
            let row = format!("| `{requirement}` | ");
            let told = guide.lines().find(|line| line.starts_with(&row)).unwrap_or_default();
            assert!(told.contains(&format!("`{name}`")), "{row}... `{name}`");
        }
    }
    assert_eq!(
        tests,
        guide.lines().filter(|line| line.starts_with("| `") && line.contains("`geosparql.rs`: `")).count()
    );
}
