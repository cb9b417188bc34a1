//! Geometries that somebody made to do harm: too deep, too large, crossing themselves. They are refused, or answered soon, and nothing panics.

use super::{read_wkt, wkt};
use crate::construct::{self, Operation};
use crate::error::GeoError;
use crate::geometry::Geometry;
use crate::limits::{DEPTH_MAX, POINTS_MAX};
use crate::read;
use crate::relate::{self, Relation};
use crate::unit::Unit;
use crate::vocabulary::{GEOJSON_LITERAL, GML_LITERAL, KML_LITERAL};
use crate::{inspect, measure, write};
use lode_base::cancel::{CancelToken, Cancelled, with_current};
use std::time::Duration;

/// Everything that can be asked of one and of two geometries. What it answers is not looked at.
fn everything(a: &Geometry, b: &Geometry) {
    let _ = (
        inspect::is_simple(a),
        a.check_valid(),
        write::wkt(a),
        write::gml(a),
        write::geojson(a),
        write::kml(a),
    );
    let _ = (construct::convex_hull(a), construct::concave_hull(a, Some(0.5)), construct::envelope(a));
    let _ = (construct::boundary(a), construct::centroid(a), construct::bounding_circle(a));
    for unit in [Unit::METRE, Unit::Angle(1.0), Unit::Area(1.0)] {
        let _ = (measure::area(a, unit), measure::length(a, unit), measure::perimeter(a, unit));
        let _ = (
            measure::distance(a, b, unit),
            construct::buffer(a, 0.5, unit),
            construct::buffer(a, -0.5, unit),
        );
    }
    for (_, relation) in relate::RELATIONS {
        let _ = relate::holds(relation, a, b);
    }
    use Operation::{Difference, Intersection, SymmetricDifference, Union};
    for operation in [Intersection, Union, Difference, SymmetricDifference] {
        let _ = construct::overlay(operation, a, b);
    }
}

#[test]
fn what_is_not_valid_is_refused_where_that_matters() {
    for text in [
        "POLYGON((0 0,2 2,2 0,0 2,0 0))",
        "POLYGON((0 0,4 0,4 4,0 4,0 0),(5 5,6 5,6 6,5 5))",
        "POLYGON((0 0,4 0,4 4,0 4,0 0),(3 3,6 3,6 6,3 3))",
        "POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1),(2 2,3.5 2,3.5 3.5,2 2))",
        "POLYGON((0 0,4 0,4 4,0 4,0 0),(0 0,4 0,4 4,0 4,0 0))",
        "MULTIPOLYGON(((0 0,4 0,4 4,0 4,0 0)),((1 1,2 1,2 2,1 2,1 1)))",
        "MULTIPOLYGON(((0 0,4 0,4 4,0 4,0 0)),((2 2,6 2,6 6,2 6,2 2)))",
        "MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((0 0,1 0,1 1,0 0)))",
        "POLYGON((0 0,4 0,0 0,4 0,0 0))",
        "POLYGON((1 1,1 1,1 1,1 1))",
        "LINESTRING(1 1,1 1)",
        "POLYGON((0 0,2 0,2 2,1 0,0 2,0 0))",
    ] {
        let geometry = wkt(text);
        assert_eq!(geometry.check_valid(), Err(GeoError::Invalid), "{text}");
        let square = wkt("POLYGON((0 0,1 0,1 1,0 1,0 0))");
        assert_eq!(relate::holds(Relation::Within, &geometry, &square), Err(GeoError::Invalid), "{text}");
        assert_eq!(
            construct::overlay(Operation::Union, &geometry, &square).err(),
            Some(GeoError::Invalid),
            "{text}"
        );
        everything(&geometry, &square);
        everything(&square, &geometry);
        everything(&geometry, &geometry);
    }
    for text in [
        "POLYGON((0 0,4 0,4 4,0 4,0 0),(0 2,1 1,1 3,0 2))",
        "MULTIPOLYGON(((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1)),((1.5 1.5,2 1.5,2 2,1.5 1.5)))",
        "MULTIPOLYGON(((1.5 1.5,2 1.5,2 2,1.5 1.5)),((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1)))",
        "MULTIPOLYGON(((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1)),((1 1,3 1,2 2,1 1)))",
        "MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((1 1,2 1,2 2,1 1)))",
        "POLYGON((0 0,0 0,4 0,4 4,0 4,0 0))",
    ] {
        let expected = if text.contains("((1 1,3 1,2 2") { Err(GeoError::Invalid) } else { Ok(()) };
        assert_eq!(wkt(text).check_valid(), expected, "{text}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested =
        |depth: usize| format!("{}POINT(1 1){}", "GEOMETRYCOLLECTION(".repeat(depth), ")".repeat(depth));
    assert!(read_wkt(&nested(DEPTH_MAX)).is_ok());
    assert!(matches!(read_wkt(&nested(DEPTH_MAX + 1)), Err(GeoError::TooLarge { .. })));
    assert!(read_wkt(&nested(1_000_000)).is_err());
    assert!(read_wkt(&"GEOMETRYCOLLECTION(".repeat(1_000_000)).is_err());
    let json = r#"{"type":"GeometryCollection","geometries":["#;
    assert!(read::literal(&json.repeat(100_000), GEOJSON_LITERAL).is_err());
    assert!(read::literal(&"[".repeat(1_000_000), GEOJSON_LITERAL).is_err());
    for (datatype, element) in
        [(GML_LITERAL, "<MultiGeometry><geometryMember>"), (KML_LITERAL, "<MultiGeometry>")]
    {
        assert!(read::literal(&element.repeat(100_000), datatype).is_err());
    }
    assert!(
        read::literal("<!DOCTYPE a [<!ENTITY b '1 2'>]><Point><pos>&b;</pos></Point>", GML_LITERAL).is_err()
    );
}

#[test]
fn points_are_bounded() {
    let many = |points: usize| format!("MULTIPOINT({})", vec!["1 2"; points].join(","));
    assert!(read_wkt(&many(POINTS_MAX)).is_ok());
    assert!(matches!(read_wkt(&many(POINTS_MAX + 1)), Err(GeoError::TooLarge { .. })));
}

/// A line that goes to and fro, so that all its segments meet all those of the same turned by a right angle.
fn comb(teeth: usize, turned: bool) -> String {
    let point = |(x, y): (usize, usize)| if turned { format!("{y} {x}") } else { format!("{x} {y}") };
    let points: Vec<String> = (0..teeth).flat_map(|tooth| [(tooth, 0), (tooth, teeth)]).map(point).collect();
    format!("LINESTRING({})", points.join(","))
}

#[test]
fn what_meets_too_often_is_refused() {
    let (a, b) = (wkt(&comb(2000, false)), wkt(&comb(2000, true)));
    for (_, relation) in relate::RELATIONS {
        assert!(matches!(relate::holds(relation, &a, &b), Err(GeoError::TooLarge { .. })), "{relation:?}");
    }
    assert!(construct::overlay(Operation::Intersection, &a, &b).is_err());
    assert_eq!(measure::distance(&a, &b, Unit::METRE), Ok(0.0));
    let star: Vec<String> = (0..3001)
        .map(|at| if at % 2 == 0 { format!("{at} 0") } else { format!("{} 3000", 3000 - at) })
        .collect();
    let ring = format!("POLYGON(({},0 0))", star.join(","));
    assert!(wkt(&ring).check_valid().is_err());
}

/// A polygon around the origin.
fn circle(points: usize, radius: f64) -> Geometry {
    wkt(&format!("POLYGON({})", ring(points, radius)))
}

fn ring(points: usize, radius: f64) -> String {
    let corner = |at: usize| {
        let angle = std::f64::consts::TAU * (at % points) as f64 / points as f64;
        format!("{} {}", radius * angle.cos(), radius * angle.sin())
    };
    format!("({})", (0..=points).map(corner).collect::<Vec<_>>().join(","))
}

/// Nobody waits for an answer: there is none, whatever is asked, and no matter who finds out.
#[test]
fn calls_end_with_their_query() {
    let (inner, outer) = (circle(12_000, 1.0), circle(12_000, 2.0));
    let asked = |token: &CancelToken| {
        with_current(Some(token), || {
            [
                relate::holds(Relation::Within, &inner, &outer).map(drop),
                construct::overlay(Operation::Union, &inner, &outer).map(drop),
                construct::overlay(Operation::Intersection, &inner, &outer).map(drop),
                construct::concave_hull(&inner, None).map(drop),
                measure::area(&inner, Unit::METRE).map(drop),
                measure::length(&inner, Unit::METRE).map(drop),
                circle(12_000, 1.0).check_valid(),
            ]
        })
    };
    let cancelled = CancelToken::default();
    cancelled.cancel();
    for answer in asked(&cancelled) {
        assert_eq!(answer, Err(GeoError::Stopped));
    }
    // Less time than any of them may take: the query runs out of time, and takes no error for an answer.
    let late = CancelToken::new(Some(Duration::from_millis(1)));
    for answer in asked(&late) {
        assert_eq!(answer, Err(GeoError::Stopped));
    }
    assert_eq!(late.check(), Err(Cancelled::Timeout));
    let patient = CancelToken::new(Some(Duration::from_secs(10_000)));
    assert!(asked(&patient).iter().all(Result::is_ok));
}

/// Points are looked up, and not each compared with all others; who waits no longer gets none of it.
#[test]
fn sets_of_many_points() {
    let many = |from: usize| {
        let points: Vec<String> = (from..from + 60_000).map(|at| format!("POINT({at} {})", at % 7)).collect();
        wkt(&format!("GEOMETRYCOLLECTION({})", points.join(",")))
    };
    let (a, b) = (many(0), many(20_000));
    for (operation, points) in [
        (Operation::Difference, 20_000),
        (Operation::Union, 80_000),
        (Operation::Intersection, 40_000),
        (Operation::SymmetricDifference, 40_000),
    ] {
        assert_eq!(
            construct::overlay(operation, &a, &b).map(|made| made.points()),
            Ok(points),
            "{operation:?}"
        );
        let cancelled = CancelToken::default();
        cancelled.cancel();
        let stopped = with_current(Some(&cancelled), || construct::overlay(operation, &a, &b).err());
        assert_eq!(stopped, Some(GeoError::Stopped), "{operation:?}");
    }
}

/// A hole that touches its polygon is looked at as a whole, and not each of its points with all others of the ring.
#[test]
fn large_rings_that_touch_are_answered() {
    let hole = ring(40_000, 1.0);
    let touching = format!("POLYGON((-2 -2,1 0,-2 2,-2 -2),{hole})");
    assert_eq!(wkt(&touching).check_valid(), Err(GeoError::Invalid));
    // Nearer to the circle than the hole, which is beside it from the common corner on.
    let outer = ring(80_000, 2.0);
    let moved: Vec<String> = hole
        .trim_matches(['(', ')'])
        .split(',')
        .filter_map(|pair| pair.split_once(' '))
        .map(|(x, y)| format!("{} {y}", x.parse::<f64>().unwrap() + 1.0))
        .collect();
    let touching = wkt(&format!("POLYGON({outer},({}))", moved.join(",")));
    assert_eq!(touching.check_valid(), Ok(()));
    assert_eq!(relate::holds(Relation::Touches, &wkt("POINT(2 0)"), &touching), Ok(true));
}

/// Large ones that are valid have answers, also collections.
#[test]
fn large_geometries_are_answered() {
    let (inner, outer) = (circle(20_000, 1.0), circle(20_000, 2.0));
    assert_eq!(relate::holds(Relation::Within, &inner, &outer), Ok(true));
    assert_eq!(relate::holds(Relation::Within, &wkt("POINT(0.5 0.5)"), &inner), Ok(true));
    let ring = construct::overlay(Operation::Difference, &outer, &inner).unwrap();
    assert!((measure::area(&ring, Unit::Angle(1.0)).unwrap() - 3.0 * std::f64::consts::PI).abs() < 1e-4);
    let (a, b) = (write::wkt(&inner), write::wkt(&outer));
    let mixed = wkt(&format!("GEOMETRYCOLLECTION({a},{b},LINESTRING(0 0,5 0),POINT(9 9))"));
    assert_eq!(relate::holds(Relation::Contains, &mixed, &outer), Ok(true));
    assert_eq!(relate::holds(Relation::Contains, &mixed, &wkt("LINESTRING(1 0,4 0)")), Ok(true));
    assert_eq!(relate::holds(Relation::Equals, &mixed, &outer), Ok(false));
}

#[test]
fn extreme_numbers_do_not_panic() {
    let numbers =
        ["0", "1", "-1", "1e-308", "5e-324", "1e50", "-1e50", "1e16", "0.1", "90", "180", "-180", "360"];
    let mut shapes = vec![wkt("POINT EMPTY"), wkt("GEOMETRYCOLLECTION EMPTY"), wkt("MULTIPOLYGON EMPTY")];
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        numbers[(state >> 33) as usize % numbers.len()]
    };
    for _ in 0..30 {
        let mut points: Vec<String> = (0..4).map(|_| format!("{} {}", next(), next())).collect();
        shapes.push(wkt(&format!("LINESTRING({})", points.join(","))));
        shapes.push(wkt(&format!("MULTIPOINT({})", points.join(","))));
        points.push(points[0].clone());
        shapes.push(wkt(&format!("POLYGON(({}))", points.join(","))));
        shapes.push(wkt(&format!(
            "GEOMETRYCOLLECTION(POLYGON(({})),POINT({}))",
            points.join(","),
            points[1]
        )));
    }
    for (at, a) in shapes.iter().enumerate() {
        everything(a, &shapes[(at * 7 + 3) % shapes.len()]);
    }
}
