//! Literals are read, and written again.

use super::{read_wkt, wkt};
use crate::crs::Crs;
use crate::inspect::{self, Axis};
use crate::vocabulary::{DGGS_LITERAL, GEOJSON_LITERAL, GML_LITERAL, KML_LITERAL, WKT_LITERAL};
use crate::{read, write};

const SHAPES: [&str; 18] = [
    "POINT (1 2)",
    "POINT (-1.5 2.25)",
    "POINT Z (1 2 3)",
    "LINESTRING (0 0, 1 1, 2 0)",
    "LINESTRING Z (0 0 1, 1 1 2)",
    "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))",
    "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 1 2, 2 2, 1 1))",
    "MULTIPOINT ((1 2), (3 4))",
    "MULTILINESTRING ((0 0, 1 1), (2 2, 3 3))",
    "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5)))",
    "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 1 1))",
    "GEOMETRYCOLLECTION Z (POINT Z (1 2 3), POINT Z (4 5 6))",
    "POINT M (1 2 7)",
    "POINT ZM (1 2 3 7)",
    "TRIANGLE ((0 0, 1 0, 0 1, 0 0))",
    "TIN (((0 0, 1 0, 0 1, 0 0)), ((1 0, 1 1, 0 1, 1 0)))",
    "POINT EMPTY",
    "POLYGON EMPTY",
];

#[test]
fn well_known_text_comes_back() {
    for text in SHAPES {
        assert_eq!(write::wkt(&wkt(text)), text);
    }
    for (text, canonical) in [
        ("  point(1 2) ", "POINT (1 2)"),
        ("POINTZ(1 2 3)", "POINT Z (1 2 3)"),
        ("POINT(1 2 3)", "POINT Z (1 2 3)"),
        ("POINT(1 2 3 4)", "POINT ZM (1 2 3 4)"),
        ("MULTIPOINT(1 2, 3 4)", "MULTIPOINT ((1 2), (3 4))"),
        ("POINT(1e2 -0.0)", "POINT (100 0)"),
        ("", "GEOMETRYCOLLECTION EMPTY"),
        ("GEOMETRYCOLLECTION(POINT EMPTY, POINT(1 1))", "GEOMETRYCOLLECTION (POINT (1 1))"),
    ] {
        assert_eq!(write::wkt(&wkt(text)), canonical, "{text}");
    }
}

#[test]
fn other_formats_come_back() {
    for text in SHAPES
        .iter()
        .filter(|text| !text.contains(['M', 'T']) || text.contains("POINT (") || text.contains("LINESTRING"))
    {
        let geometry = wkt(text);
        let same = |written: String, datatype: &str| {
            let again =
                read::literal(&written, datatype).unwrap_or_else(|error| panic!("{written}: {error}"));
            assert_eq!(again.shape(), geometry.shape(), "{written}");
            assert_eq!(again.heights(), geometry.heights(), "{written}");
        };
        same(write::geojson(&geometry).unwrap(), GEOJSON_LITERAL);
        same(write::gml(&geometry), GML_LITERAL);
        if !text.starts_with("MULTI") {
            same(write::kml(&geometry).unwrap(), KML_LITERAL);
        }
    }
}

#[test]
fn formats_are_as_their_standards_say() {
    let square = wkt("POLYGON((0 0,4 0,4 4,0 4,0 0))");
    assert_eq!(
        write::geojson(&square).unwrap(),
        r#"{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,4],[0,0]]]}"#
    );
    assert_eq!(
        write::kml(&wkt("POINT Z(1 2 3)")).unwrap(),
        "<Point xmlns=\"http://www.opengis.net/kml/2.2\"><coordinates>1,2,3</coordinates></Point>"
    );
    assert_eq!(
        write::gml(&wkt("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(52 13)")),
        "<gml:Point xmlns:gml=\"http://www.opengis.net/gml/3.2\" srsName=\"http://www.opengis.net/def/crs/EPSG/0/4326\">\
         <gml:pos>52 13</gml:pos></gml:Point>"
    );
}

/// The order of axes is that of the reference system, inside it is always east before north.
#[test]
fn axes_come_in_the_order_of_their_system() {
    let berlin = wkt("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(52.5 13.4)");
    assert_eq!(*berlin.crs(), Crs::Epsg(4326));
    assert_eq!(inspect::extent(&berlin, Axis::X), Some((13.4, 13.4)));
    assert_eq!(write::wkt(&berlin), "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT (52.5 13.4)");
    assert_eq!(write::wkt(&berlin.transform(&Crs::Crs84).unwrap()), "POINT (13.4 52.5)");
    let utm = wkt("<http://www.opengis.net/def/crs/EPSG/0/25833> POINT(391779 5820072)");
    assert_eq!(inspect::extent(&utm, Axis::X), Some((391_779.0, 391_779.0)));
    // Europe's equal-area grid has the northing first.
    let laea = wkt("<http://www.opengis.net/def/crs/EPSG/0/3035> POINT(3273268 4552036)");
    assert_eq!(inspect::extent(&laea, Axis::Y), Some((3_273_268.0, 3_273_268.0)));
    let json = read::literal(r#"{"type":"Point","coordinates":[13.4,52.5]}"#, GEOJSON_LITERAL).unwrap();
    assert_eq!(json.shape(), berlin.shape());
    let gml = "<gml:Point srsName='urn:ogc:def:crs:EPSG::4326' xmlns:gml='http://www.opengis.net/gml'><gml:pos>52.5 13.4</gml:pos></gml:Point>";
    assert_eq!(read::literal(gml, GML_LITERAL).unwrap().shape(), berlin.shape());
    let kml = "<Point><coordinates> 13.4,52.5 </coordinates></Point>";
    assert_eq!(read::literal(kml, KML_LITERAL).unwrap().shape(), berlin.shape());
}

/// A place in several systems, as PROJ has it (pyproj: `Transformer.from_crs(4326, code).transform(lat, lon)`).
#[test]
fn systems_are_transformed_as_by_proj() {
    for (code, latitude, longitude, first, second) in [
        (3857, 52.52, 13.405, 1_492_237.774_083_832, 6_894_699.801_282_425),
        (25833, 52.52, 13.405, 391_779.259_251_629, 5_820_072.159_087_078),
        (32633, 52.52, 13.405, 391_779.259_252_75, 5_820_072.159_211_027),
        (27700, 51.5, -0.12, 530_591.166_403_492, 179_571.065_376_598),
        (3035, 52.52, 13.405, 3_273_268.273_568_064, 4_552_036.450_154_54),
        (2154, 48.8566, 2.3522, 652_469.022_709_136, 6_862_035.259_420_079),
        (2056, 46.95, 7.44, 2_600_104.109_499_608, 1_199_879.628_237_659),
        (28992, 52.15, 5.38, 154_506.978_074_806, 462_424.551_984_663),
        (31370, 50.85, 4.35, 148_679.447_377_894, 171_066.810_329_966),
        (5070, 40.0, -100.0, -338_390.587_550_867, 1_894_100.140_042_564),
        (2193, -41.3, 174.8, 5_426_376.623_168_275, 1_750_697.521_334_191),
        (31467, 50.0, 9.0, 5_540_407.107_229_995, 3_500_074.525_405_575),
    ] {
        let place =
            wkt(&format!("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT({latitude} {longitude})"));
        let there = place.transform(&Crs::Epsg(code)).unwrap();
        let text = write::wkt(&there);
        let numbers: Vec<f64> =
            text.split(['(', ')', ' ']).filter_map(|number| number.parse().ok()).collect();
        assert!((numbers[0] - first).abs() < 0.01 && (numbers[1] - second).abs() < 0.01, "{code}: {text}");
        let back = there.transform(&Crs::Crs84).unwrap();
        let (x, y) = (inspect::extent(&back, Axis::X).unwrap().0, inspect::extent(&back, Axis::Y).unwrap().0);
        assert!((x - longitude).abs() < 1e-7 && (y - latitude).abs() < 1e-7, "{code}: {x} {y}");
    }
    let elsewhere = wkt("<http://example/moon> POINT(1 2)");
    assert!(elsewhere.transform(&Crs::Crs84).is_err());
    assert_eq!(write::wkt(&elsewhere), "<http://example/moon> POINT (1 2)");
    assert!(wkt("POINT(0 95)").transform(&Crs::Epsg(3857)).is_err());
}

#[test]
fn what_is_no_geometry_is_refused() {
    for text in [
        "POINT",
        "POINT(",
        "POINT()",
        "POINT(1)",
        "POINT(1 2",
        "POINT(1 2) x",
        "POINT(1,2)",
        "POINT(a b)",
        "POINT(1 2 3 4 5)",
        "POINT(1 2 3 4 5 6)",
        "LINESTRING(1 2)",
        "POLYGON((0 0,1 0,1 1))",
        "POLYGON((0 0,1 0,0 0))",
        "POLYGON((0 0,1 0,1 1,5 5))",
        "CIRCLE(0 0 1)",
        "<http://e/ POINT(1 2)",
        "POINT Z(1 2)",
        "LINESTRING(0 0,1 1 1)",
        "POINT(1e400 0)",
        "POINT(1e51 0)",
        "POINT(NaN 0)",
        "POINT(1 --2)",
        "GEOMETRYCOLLECTION(POINT Z(1 2 3), POINT(1 2))",
        "CIRCULARSTRING(0 0,1 1,2 0)",
        "POINT(1 2)\u{0}",
        "\u{e9}",
    ] {
        assert!(read_wkt(text).is_err(), "{text}");
    }
    for text in [
        "{",
        "[]",
        "1",
        r#"{"type":"Point"}"#,
        r#"{"type":"Point","coordinates":[1]}"#,
        r#"{"type":"Point","coordinates":["a",2]}"#,
        r#"{"type":"LineString","coordinates":[1,2]}"#,
        r#"{"type":"Circle","coordinates":[1,2]}"#,
        r#"{"type":"Polygon","coordinates":[[[0,0],[1,1]]]}"#,
    ] {
        assert!(read::literal(text, GEOJSON_LITERAL).is_err(), "{text}");
    }
    for text in [
        "<Point>",
        "<Point/><Point/>",
        "x<Point/>",
        "<Circle/>",
        "<Point><pos>1</pos></Point>",
        "<Point><pos>1 a</pos></Point>",
        "<Point><pos>1 2 3 4</pos></Point>",
        "<Point></Line>",
        "<LineString><posList>1 2 3</posList></LineString>",
        "<Polygon><exterior><LinearRing><posList>0 0 1 1</posList></LinearRing></exterior></Polygon>",
    ] {
        assert!(read::literal(text, GML_LITERAL).is_err(), "{text}");
    }
    for text in [
        "<Point>",
        "<Placemark/>",
        "<Point><coordinates>1</coordinates></Point>",
        "<Point><coordinates>1,2 3,4</coordinates></Point>",
    ] {
        assert!(read::literal(text, KML_LITERAL).is_err(), "{text}");
    }
    let message = read::literal("<cell>1</cell>", DGGS_LITERAL).unwrap_err().to_string();
    assert!(message.contains("dggsLiteral") && message.contains("wktLiteral"), "{message}");
    let message = read_wkt("POINT(1 x)").unwrap_err().to_string();
    assert_eq!(message, "WKT: a point needs two coordinates (at byte 7)");
    assert!(read::is_geometry(WKT_LITERAL) && !read::is_geometry(DGGS_LITERAL));
}

#[test]
fn elements_of_gml_that_people_write() {
    for (text, expected) in [
        (
            "<LineString srsDimension='3'><posList>0 0 1 1 1 2</posList></LineString>",
            "LINESTRING Z (0 0 1, 1 1 2)",
        ),
        ("<LineString><pos>0 0</pos><pos>1 1</pos></LineString>", "LINESTRING (0 0, 1 1)"),
        ("<Point><coordinates>1,2</coordinates></Point>", "POINT (1 2)"),
        (
            "<Curve><segments><LineStringSegment><posList>0 0 1 1</posList></LineStringSegment><LineStringSegment><posList>1 1 2 0</posList></LineStringSegment></segments></Curve>",
            "LINESTRING (0 0, 1 1, 2 0)",
        ),
        (
            "<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,0 1,1 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon>",
            "POLYGON ((0 0, 1 0, 1 1, 0 0))",
        ),
        (
            "<MultiPoint><pointMembers><Point><pos>1 2</pos></Point><Point><pos>3 4</pos></Point></pointMembers></MultiPoint>",
            "MULTIPOINT ((1 2), (3 4))",
        ),
        (
            "<Surface><patches><PolygonPatch><exterior><LinearRing><posList>0 0 1 0 1 1 0 0</posList></LinearRing></exterior></PolygonPatch></patches></Surface>",
            "POLYHEDRALSURFACE (((0 0, 1 0, 1 1, 0 0)))",
        ),
        ("<Point/>", "POINT EMPTY"),
        ("", "GEOMETRYCOLLECTION EMPTY"),
    ] {
        let geometry = read::literal(text, GML_LITERAL).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(write::wkt(&geometry), expected);
    }
}

#[test]
fn dimensions_parts_and_extents() {
    for (text, dimension, coordinates, spatial, parts, class) in [
        ("POINT(1 2)", 0, 2, 2, 1, "Point"),
        ("POINT Z(1 2 3)", 0, 3, 3, 1, "Point"),
        ("POINT M(1 2 3)", 0, 3, 2, 1, "Point"),
        ("POINT ZM(1 2 3 4)", 0, 4, 3, 1, "Point"),
        ("LINESTRING(0 0,1 1)", 1, 2, 2, 1, "LineString"),
        ("POLYGON((0 0,1 0,1 1,0 0))", 2, 2, 2, 1, "Polygon"),
        ("MULTIPOINT((1 2),(3 4))", 0, 2, 2, 2, "MultiPoint"),
        ("MULTILINESTRING((0 0,1 1),(2 2,3 3))", 1, 2, 2, 2, "MultiLineString"),
        ("GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))", 1, 2, 2, 2, "GeometryCollection"),
        ("TIN(((0 0,1 0,0 1,0 0)))", 2, 2, 2, 1, "TIN"),
        ("POLYGON EMPTY", 2, 2, 2, 1, "Polygon"),
        ("MULTIPOINT EMPTY", 0, 2, 2, 0, "MultiPoint"),
    ] {
        let geometry = wkt(text);
        assert_eq!(inspect::dimension(&geometry), dimension, "{text}");
        assert_eq!(inspect::coordinate_dimension(&geometry), coordinates, "{text}");
        assert_eq!(inspect::spatial_dimension(&geometry), spatial, "{text}");
        assert_eq!(inspect::parts(&geometry), parts, "{text}");
        assert_eq!(inspect::class(&geometry), format!("http://www.opengis.net/ont/sf#{class}"));
        assert_eq!(geometry.is_empty(), text.contains("EMPTY"));
    }
    let line = wkt("LINESTRING ZM(3 1 5 0,1 2 -4 1)");
    assert_eq!(inspect::extent(&line, Axis::X), Some((1.0, 3.0)));
    assert_eq!(inspect::extent(&line, Axis::Y), Some((1.0, 2.0)));
    assert_eq!(inspect::extent(&line, Axis::Z), Some((-4.0, 5.0)));
    assert_eq!(inspect::extent(&wkt("POINT(1 2)"), Axis::Z), None);
    assert_eq!(inspect::extent(&wkt("POINT EMPTY"), Axis::X), None);
    let many = wkt("MULTILINESTRING Z((0 0 1,1 1 2),(2 2 3,3 3 4))");
    assert_eq!(write::wkt(&inspect::part(&many, 2).unwrap()), "LINESTRING Z (2 2 3, 3 3 4)");
    assert!(inspect::part(&many, 0).is_none() && inspect::part(&many, 3).is_none());
    assert_eq!(write::wkt(&inspect::part(&wkt("POINT(1 2)"), 1).unwrap()), "POINT (1 2)");
}
