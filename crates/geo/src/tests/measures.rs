//! Distances, lengths and areas. On the ellipsoid they are those of pyproj's `Geod(ellps="WGS84")`.

use super::wkt;
use crate::measure;
use crate::unit::Unit;

const DEGREE: Unit = Unit::Angle(1.0);

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-3)
}

#[test]
fn distances_on_the_ellipsoid() {
    for (a, b, metres) in [
        // geod.inv
        ("POINT(13.4050 52.5200)", "POINT(2.3522 48.8566)", 879_699.316_129_011_8),
        // The least of geod.inv over a geodesic that was sampled ever more finely.
        ("POINT(0 1)", "LINESTRING(-5 0,5 0)", 110_574.388_557_798_78),
        ("POINT(13.4 52.5)", "LINESTRING(2 48,30 50)", 312_226.452_838_181_8),
        ("POINT(10 60)", "LINESTRING(9 59,12 59)", 110_540.740_084_386_21),
        // Across the antimeridian.
        ("POINT(179.9 10)", "LINESTRING(-179.5 9,-179.5 11)", 65_783.582_184_653_95),
        ("POINT(1 1)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", 0.0),
        ("LINESTRING(0 0,2 2)", "LINESTRING(0 2,2 0)", 0.0),
    ] {
        for (a, b) in [(a, b), (b, a)] {
            let found = measure::distance(&wkt(a), &wkt(b), Unit::METRE).unwrap();
            assert!(near(found, metres), "{a} {b}: {found}");
        }
    }
    let (a, b) = (wkt("POINT(13.4050 52.5200)"), wkt("POINT(2.3522 48.8566)"));
    let mile = Unit::from_iri("http://qudt.org/vocab/unit/MI").unwrap();
    assert!(near(measure::distance(&a, &b, mile).unwrap(), 879_699.316_129_011_8 / 1609.344));
    assert!(near(measure::distance(&a, &b, DEGREE).unwrap(), 11.052_8_f64.hypot(3.6634)));
    // The same place in another system and order of axes.
    let there = wkt("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(48.8566 2.3522)");
    assert!(near(measure::distance(&a, &there, Unit::METRE).unwrap(), 879_699.316_129_011_8));
}

#[test]
fn distances_in_a_plane() {
    let (a, b) = (
        wkt("<http://www.opengis.net/def/crs/EPSG/0/25833> POINT(391000 5820000)"),
        wkt("<http://www.opengis.net/def/crs/EPSG/0/25833> LINESTRING(391300 5820400,391300 5830000)"),
    );
    assert!(near(measure::distance(&a, &b, Unit::METRE).unwrap(), 500.0));
    assert!(near(measure::distance(&a, &b, Unit::Length(1000.0)).unwrap(), 0.5));
    // Feet: the state plane of California, zone 3.
    let (a, b) = (
        wkt("<http://www.opengis.net/def/crs/EPSG/0/2227> POINT(6000000 2000000)"),
        wkt("<http://www.opengis.net/def/crs/EPSG/0/2227> POINT(6001000 2000000)"),
    );
    assert!(near(measure::distance(&a, &b, Unit::METRE).unwrap(), 1000.0 * 1200.0 / 3937.0));
    for (a, b, degrees) in [
        ("POLYGON((0 0,1 0,1 1,0 1,0 0))", "POLYGON((3 0,4 0,4 1,3 1,3 0))", 2.0),
        ("LINESTRING(0 0,1 0)", "MULTIPOINT((5 3),(4 4))", 5.0),
        ("POLYGON((0 0,9 0,9 9,0 9,0 0),(1 1,8 1,8 8,1 8,1 1))", "POINT(3 4)", 2.0),
    ] {
        assert!(near(measure::distance(&wkt(a), &wkt(b), DEGREE).unwrap(), degrees), "{a} {b}");
    }
}

#[test]
fn lengths_and_areas() {
    let square = wkt("POLYGON((0 0,1 0,1 1,0 1,0 0))");
    assert!(near(measure::area(&square, Unit::METRE).unwrap(), 12_308_778_361.469_452));
    assert!(near(
        measure::area(&wkt("POLYGON((0 0,0 1,1 1,1 0,0 0))"), Unit::METRE).unwrap(),
        12_308_778_361.469_452
    ));
    assert!(near(measure::perimeter(&square, Unit::METRE).unwrap(), 443_770.917_248_301_96));
    assert!(near(
        measure::area(&square, Unit::from_iri("http://qudt.org/vocab/unit/HA").unwrap()).unwrap(),
        1_230_877.836_146_945_2
    ));
    assert!(near(measure::area(&square, DEGREE).unwrap(), 1.0));
    let line = wkt("LINESTRING(0 0,1 0,1 1)");
    assert!(near(measure::length(&line, Unit::METRE).unwrap(), 221_893.879_351_072_36));
    assert!(near(measure::length(&line, DEGREE).unwrap(), 2.0));
    assert_eq!(measure::perimeter(&line, Unit::METRE), Ok(0.0));
    // No area is 0, not -0, which the sum of no numbers is.
    for unit in [Unit::METRE, DEGREE] {
        assert!(measure::area(&line, unit).is_ok_and(|area| area.to_bits() == 0));
        assert!(measure::length(&wkt("POINT(1 2)"), unit).is_ok_and(|length| length.to_bits() == 0));
    }
    let holed = wkt(
        "<http://www.opengis.net/def/crs/EPSG/0/25833> POLYGON((0 0,10 0,10 10,0 10,0 0),(1 1,2 1,2 2,1 2,1 1))",
    );
    assert!(near(measure::area(&holed, Unit::METRE).unwrap(), 99.0));
    assert!(near(measure::perimeter(&holed, Unit::METRE).unwrap(), 44.0));
    assert!(near(measure::length(&holed, Unit::Length(0.5)).unwrap(), 88.0));
}

#[test]
fn what_has_no_measure() {
    let (point, empty) = (wkt("POINT(1 2)"), wkt("POINT EMPTY"));
    assert!(measure::distance(&point, &empty, Unit::METRE).is_err());
    assert!(measure::distance(&point, &point, Unit::Area(1.0)).is_err());
    assert!(measure::distance(&point, &wkt("POINT(1 99)"), Unit::METRE).is_err());
    assert!(measure::distance(&point, &wkt("LINESTRING(1 99,2 99)"), Unit::METRE).is_err());
    assert!(measure::length(&wkt("LINESTRING(1 99,2 99)"), Unit::METRE).is_err());
    assert!(measure::distance(&point, &wkt("<http://example/moon> POINT(1 2)"), Unit::METRE).is_err());
}

#[test]
fn units_by_their_iris() {
    for (iri, unit) in [
        ("http://www.opengis.net/def/uom/OGC/1.0/metre", Some(Unit::METRE)),
        ("http://www.opengis.net/def/uom/OGC/1.0/degree", Some(DEGREE)),
        ("http://qudt.org/vocab/unit/KiloM", Some(Unit::Length(1000.0))),
        ("http://www.opengis.net/def/uom/EPSG/0/9001", Some(Unit::METRE)),
        ("urn:ogc:def:uom:EPSG::9102", Some(DEGREE)),
        ("http://www.opengis.net/def/uom/OGC/1.0/parsec", None),
        ("metre", None),
    ] {
        assert_eq!(Unit::from_iri(iri), unit, "{iri}");
    }
}

/// Measures take areas that are not valid, so the box of one has all of its points.
#[test]
fn holes_outside_are_in_the_box() {
    let area = wkt("POLYGON((0 0,10 0,10 10,0 10,0 0),(20 20,21 20,21 21,20 20))");
    let bounds = area.bounds().unwrap();
    assert_eq!((bounds.min().x, bounds.max().x, bounds.max().y), (0.0, 21.0, 21.0));
    assert!(wkt("POLYGON EMPTY").bounds().is_none());
}
