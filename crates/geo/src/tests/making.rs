//! Geometries that are made of others, beside what shapely makes of them.

use super::wkt;
use crate::construct::{self, Gathering, Operation};
use crate::error::GeoError;
use crate::geometry::Geometry;
use crate::measure;
use crate::unit::Unit;
use crate::{relate, write};
use std::sync::Arc;

/// Whether both have the same points.
fn same(a: &Geometry, b: &str) -> bool {
    relate::holds(relate::Relation::Equals, a, &wkt(b)) == Ok(true)
}

/// The corners of a shape, by their bits.
fn corners(a: &Geometry) -> std::collections::BTreeSet<(u64, u64)> {
    use geo::CoordsIter as _;
    a.shape().coords_iter().map(|at| (at.x.to_bits(), at.y.to_bits())).collect()
}

#[test]
fn corners_stay_where_they_are() {
    let area = "POLYGON((8.123456789012345 47.1,9.3 47.20000000000001,9.1234567 48.3333333333333,8.123456789012345 47.1))";
    let near = "POLYGON((8.7 47.111111111111114,12.3 45.7,11.1 49.123456789,8.7 47.111111111111114))";
    for beside in [
        "POINT(8.123456789012345 47.1)",
        "POINT(1 2)",
        "LINESTRING(8.123456789012345 47.1,1.3 2.7)",
        "POINT(8.8 47.6)",
    ] {
        for operation in [Operation::Union, Operation::Difference, Operation::SymmetricDifference] {
            let made = construct::overlay(operation, &wkt(area), &wkt(beside)).unwrap();
            assert!(corners(&made).is_superset(&corners(&wkt(area))), "{operation:?} {beside}: {made:?}");
        }
    }
    // Of two areas those corners that the other does not cover.
    let made = construct::overlay(Operation::Union, &wkt(area), &wkt(near)).unwrap();
    let outside = |one: &str, other: &str| {
        let (one, other) = (wkt(one), wkt(other));
        let all = corners(&one).into_iter().map(|(x, y)| (f64::from_bits(x), f64::from_bits(y)));
        let covered = |(x, y): &(f64, f64)| {
            relate::holds(relate::Relation::Intersects, &wkt(&format!("POINT({x:?} {y:?})")), &other)
                == Ok(true)
        };
        all.filter(|at| !covered(at)).map(|(x, y)| (x.to_bits(), y.to_bits())).collect::<Vec<_>>()
    };
    let wanted = [outside(area, near), outside(near, area)].concat();
    assert!(wanted.len() > 3 && wanted.iter().all(|at| corners(&made).contains(at)), "{made:?}");
    // Nor does it matter how small or far away they are.
    for factor in [1e-9_f64, 1.0, 1e9] {
        for far in [0.0_f64, 1e3, -1e7] {
            let mut seed = factor.to_bits() ^ far.to_bits();
            let mut random = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) as f64 / (1_u64 << 31) as f64
            };
            for _ in 0..20 {
                let mut triangle = || {
                    let mut at = || far + factor * random();
                    let (x, y, side) = (at(), at(), factor * 0.37);
                    format!("POLYGON(({x:?} {y:?},{:?} {y:?},{x:?} {:?},{x:?} {y:?}))", x + side, y + side)
                };
                let (one, other) = (triangle(), triangle());
                if [&one, &other].iter().any(|text| wkt(text).check_valid().is_err()) {
                    continue;
                }
                let made = construct::overlay(Operation::Union, &wkt(&one), &wkt(&other)).unwrap();
                made.check_valid().unwrap();
                let wanted = [outside(&one, &other), outside(&other, &one)].concat();
                assert!(wanted.iter().all(|at| corners(&made).contains(at)), "{one} {other}: {made:?}");
            }
        }
    }
}

/// Where the library is wrong nothing is said: areas by shapely 2.
#[test]
fn what_the_library_makes_has_the_right_size_or_is_not_told() {
    for (operation, a, b, expected) in [
        (
            Operation::SymmetricDifference,
            "POLYGON((1 -3,0 3,1 2,1 -3))",
            "MULTIPOLYGON(((1 -1,1 3,3 -2,1 -1)),((-3 1,1 0,0 3,-3 1),(-2 1,0 2,0 3,-2 1)))",
            9.565,
        ),
        (
            Operation::Intersection,
            "POLYGON((0 4,5 5,2 0,0 4),(4 4,2 4,5 5,4 4))",
            "MULTIPOLYGON(((1 1,5 0,3 4,1 1),(3 2,3 4,2 1,3 2)),((3 4,0 2,4 5,4 3,3 4)))",
            3.63,
        ),
    ] {
        match construct::overlay(operation, &wkt(a), &wkt(b)) {
            Ok(made) => {
                let size = geo::Area::unsigned_area(made.shape());
                assert!((size - expected).abs() < 0.01, "{operation:?}: {size}, not {expected}");
            }
            Err(error) => assert!(matches!(error, GeoError::NoAnswer { .. }), "{error}"),
        }
    }
}

#[test]
fn sets_of_points() {
    let (a, b) = ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((2 2,6 2,6 6,2 6,2 2))");
    for (operation, a, b, expected) in [
        (Operation::Intersection, a, b, "POLYGON((2 2,4 2,4 4,2 4,2 2))"),
        (Operation::Union, a, b, "POLYGON((0 0,4 0,4 2,6 2,6 6,2 6,2 4,0 4,0 0))"),
        (Operation::Difference, a, b, "POLYGON((0 0,4 0,4 2,2 2,2 4,0 4,0 0))"),
        (
            Operation::SymmetricDifference,
            a,
            b,
            "MULTIPOLYGON(((0 0,4 0,4 2,2 2,2 4,0 4,0 0)),((4 2,6 2,6 6,2 6,2 4,4 4,4 2)))",
        ),
        (Operation::Intersection, "LINESTRING(-1 2,5 2)", a, "LINESTRING(0 2,4 2)"),
        (Operation::Difference, "LINESTRING(-1 2,5 2)", a, "MULTILINESTRING((-1 2,0 2),(4 2,5 2))"),
        (Operation::Intersection, "LINESTRING(0 0,4 0)", "LINESTRING(1 0,6 0)", "LINESTRING(1 0,4 0)"),
        (Operation::Intersection, "LINESTRING(0 0,2 2)", "LINESTRING(0 2,2 0)", "POINT(1 1)"),
        (
            Operation::Union,
            "LINESTRING(0 0,4 0)",
            "LINESTRING(1 0,6 0)",
            "MULTILINESTRING((0 0,4 0),(4 0,6 0))",
        ),
        (
            Operation::Difference,
            "LINESTRING(0 0,4 0)",
            "LINESTRING(1 0,2 0)",
            "MULTILINESTRING((0 0,1 0),(2 0,4 0))",
        ),
        (Operation::Intersection, "MULTIPOINT((1 1),(9 9))", a, "POINT(1 1)"),
        (Operation::Difference, "MULTIPOINT((1 1),(9 9))", a, "POINT(9 9)"),
        (Operation::Union, "POINT(1 1)", "POINT(2 2)", "MULTIPOINT((1 1),(2 2))"),
        // Rings may go round either way.
        (
            Operation::Union,
            "POLYGON((0 0,0 4,4 4,4 0,0 0))",
            b,
            "POLYGON((0 0,4 0,4 2,6 2,6 6,2 6,2 4,0 4,0 0))",
        ),
    ] {
        let made = construct::overlay(operation, &wkt(a), &wkt(b)).unwrap();
        assert!(same(&made, expected), "{operation:?} {a} {b}: {}", write::wkt(&made));
    }
    let apart = construct::overlay(Operation::Intersection, &wkt(a), &wkt("POINT(9 9)")).unwrap();
    assert_eq!(write::wkt(&apart), "GEOMETRYCOLLECTION EMPTY");
    let mixed = construct::overlay(Operation::Union, &wkt(a), &wkt("POINT(9 9)")).unwrap();
    assert!(
        write::wkt(&mixed).starts_with("GEOMETRYCOLLECTION (POLYGON ((")
            && write::wkt(&mixed).ends_with("POINT (9 9))")
    );
}

/// The result has the reference system of the first.
#[test]
fn the_second_comes_into_the_system_of_the_first() {
    let a = wkt("<http://www.opengis.net/def/crs/EPSG/0/4326> POLYGON((0 0,0 4,4 4,4 0,0 0))");
    let b = wkt("POLYGON((2 1,6 1,6 6,2 6,2 1))");
    let both = construct::overlay(Operation::Intersection, &a, &b).unwrap();
    assert!(write::wkt(&both).starts_with("<http://www.opengis.net/def/crs/EPSG/0/4326> POLYGON (("));
    assert!(same(&both, "POLYGON((2 1,4 1,4 4,2 4,2 1))"), "{}", write::wkt(&both));
}

#[test]
fn hulls_edges_and_middles() {
    let made = |f: fn(&Geometry) -> Geometry, text: &str| write::wkt(&f(&wkt(text)));
    assert!(same(
        &construct::convex_hull(&wkt("MULTIPOINT((0 0),(4 0),(2 1),(2 4))")),
        "POLYGON((0 0,4 0,2 4,0 0))"
    ));
    assert_eq!(made(construct::convex_hull, "MULTIPOINT((0 0),(2 2),(1 1))"), "LINESTRING (0 0, 2 2)");
    assert_eq!(made(construct::convex_hull, "POINT(1 1)"), "POINT (1 1)");
    assert_eq!(made(construct::convex_hull, "POINT EMPTY"), "GEOMETRYCOLLECTION EMPTY");
    assert!(same(&construct::envelope(&wkt("LINESTRING(1 2,3 5)")), "POLYGON((1 2,3 2,3 5,1 5,1 2))"));
    assert_eq!(made(construct::envelope, "LINESTRING(1 2,3 2)"), "LINESTRING (1 2, 3 2)");
    assert_eq!(made(construct::envelope, "POINT(1 2)"), "POINT (1 2)");
    for (text, boundary) in [
        ("POINT(1 2)", "GEOMETRYCOLLECTION EMPTY"),
        ("LINESTRING(3 3,1 1)", "MULTIPOINT ((1 1), (3 3))"),
        ("LINESTRING(0 0,1 1,1 0,0 0)", "MULTIPOINT EMPTY"),
        ("MULTILINESTRING((0 0,1 1),(1 1,2 0))", "MULTIPOINT ((0 0), (2 0))"),
        ("POLYGON((0 0,1 0,1 1,0 0))", "LINESTRING (0 0, 1 0, 1 1, 0 0)"),
    ] {
        assert_eq!(write::wkt(&construct::boundary(&wkt(text)).unwrap()), boundary, "{text}");
    }
    assert!(construct::boundary(&wkt("GEOMETRYCOLLECTION(POINT(1 2))")).is_err());
    let middle = |text: &str| construct::centroid(&wkt(text)).map(|point| write::wkt(&point));
    assert_eq!(middle("POLYGON((0 0,4 0,4 4,0 4,0 0))").as_deref(), Some("POINT (2 2)"));
    assert_eq!(middle("LINESTRING(0 0,4 0)").as_deref(), Some("POINT (2 0)"));
    assert_eq!(middle("GEOMETRYCOLLECTION(POINT(9 9),LINESTRING(0 0,4 0))").as_deref(), Some("POINT (2 0)"));
    assert_eq!(middle("POLYGON EMPTY"), None);
    let horseshoe = wkt(
        "MULTIPOINT((0 0),(1 0),(2 0),(3 0),(4 0),(0 1),(0 2),(0 3),(0 4),(4 1),(4 2),(4 3),(4 4),(1 .5),(2 .5),(3 .5))",
    );
    let closely =
        measure::area(&construct::concave_hull(&horseshoe, Some(0.1)).unwrap(), Unit::Angle(1.0)).unwrap();
    let convex =
        measure::area(&construct::concave_hull(&horseshoe, Some(1.0)).unwrap(), Unit::Angle(1.0)).unwrap();
    assert!(closely < convex && (convex - 16.0).abs() < 1e-9, "{closely} {convex}");
}

/// shapely.minimum_bounding_radius
#[test]
fn the_smallest_circle() {
    for (text, radius) in [
        ("MULTIPOINT((0 0),(4 0))", 2.0),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0))", 8_f64.sqrt()),
        ("MULTIPOINT((0 0),(10 0),(5 1))", 5.0),
        ("MULTIPOINT((0 0),(1 0),(0.5 0.75))", 0.541_666_666_666_666_6),
    ] {
        let circle = construct::bounding_circle(&wkt(text)).unwrap();
        let area = measure::area(&circle, Unit::Angle(1.0)).unwrap();
        assert!(((area / std::f64::consts::PI).sqrt() - radius).abs() < 0.002 * radius, "{text}");
        assert_eq!(relate::matches(&circle, &wkt(text), "******FF*"), Ok(true), "{text}");
    }
    assert_eq!(write::wkt(&construct::bounding_circle(&wkt("POINT(1 2)")).unwrap()), "POINT (1 2)");
}

#[test]
fn buffers() {
    let degree = Unit::Angle(1.0);
    let area = |geometry: &Geometry, unit| measure::area(geometry, unit).unwrap();
    let circle = construct::buffer(&wkt("POINT(1 2)"), 1.0, degree).unwrap();
    assert!((area(&circle, degree) - std::f64::consts::PI).abs() < 0.05);
    let wide = construct::buffer(&wkt("POLYGON((0 0,4 0,4 4,0 4,0 0))"), 1.0, degree).unwrap();
    assert!((area(&wide, degree) - (32.0 + std::f64::consts::PI)).abs() < 0.05);
    let narrow = construct::buffer(&wkt("POLYGON((0 0,4 0,4 4,0 4,0 0))"), -1.0, degree).unwrap();
    assert!((area(&narrow, degree) - 4.0).abs() < 1e-6);
    // Where a line turns back it ends: shapely makes 54.901.
    let back = construct::buffer(&wkt("LINESTRING(4 1,1 6,5 4,2 0,5 4,3 0)"), 2.0, degree).unwrap();
    assert!((area(&back, degree) - 54.901).abs() < 0.5, "{}", area(&back, degree));
    // A kilometre around a place, wherever it is.
    for place in [
        "POINT(13.4 52.5)",
        "POINT(179.999 -17)",
        "POINT(20 89)",
        "<http://www.opengis.net/def/crs/EPSG/0/25833> POINT(391779 5820072)",
    ] {
        let around = construct::buffer(&wkt(place), 1000.0, Unit::METRE).unwrap();
        let expected = std::f64::consts::PI * 1e6;
        let found = area(&around, Unit::METRE);
        assert!(place.contains("179") || (found - expected).abs() < 0.02 * expected, "{place}: {found}");
    }
    let comb: Vec<String> = (0..501).map(|n| format!("{} {}", n, n % 2)).collect();
    let comb = construct::buffer(&wkt(&format!("LINESTRING({})", comb.join(","))), 1.0, degree);
    assert!(comb.unwrap_err().to_string().contains("500"));
    assert!(construct::buffer(&wkt("POINT(1 2)"), f64::NAN, degree).is_err());
    assert!(construct::buffer(&wkt("POINT(1 2)"), 1.0, Unit::Area(1.0)).is_err());
    assert!(construct::buffer(&wkt("LINESTRING(-170 0,170 0)"), 1.0, Unit::METRE).is_err());
    assert!(construct::buffer(&wkt("POINT EMPTY"), 1.0, degree).unwrap().is_empty());
}

#[test]
fn aggregates() {
    let all: Vec<Arc<Geometry>> =
        ["POLYGON((0 0,2 0,2 2,0 2,0 0))", "POLYGON((1 0,1 2,3 2,3 0,1 0))", "POINT(9 9)"]
            .map(|text| Arc::new(wkt(text)))
            .to_vec();
    let gathered = |gathering| construct::gather(gathering, &all).unwrap();
    assert!(same(&gathered(Gathering::BoundingBox), "POLYGON((0 0,9 0,9 9,0 9,0 0))"));
    assert!(same(&gathered(Gathering::ConvexHull), "POLYGON((0 0,3 0,9 9,0 2,0 0))"));
    assert_eq!(write::wkt(&gathered(Gathering::Centroid)), "POINT (1.5 1)");
    assert!(write::wkt(&gathered(Gathering::Union)).ends_with("POINT (9 9))"));
    let circle = gathered(Gathering::BoundingCircle);
    assert!(all.iter().all(|one| relate::matches(&circle, one, "******FF*") == Ok(true)));
    let both = construct::gather(Gathering::Union, &all[..2]).unwrap();
    assert!(same(&both, "POLYGON((0 0,3 0,3 2,0 2,0 0))"), "{}", write::wkt(&both));
    assert!(construct::gather(Gathering::Union, &[]).is_err());
}
