//! Distances of shapes of any size: those of comparing all edges with all, and an answer for areas of hundreds of thousands of points.

use super::wkt;
use crate::apart;
use crate::error::GeoError;
use crate::geometry::Geometry;
use crate::measure;
use crate::parts::Parts;
use crate::unit::Unit;
use geo::{Distance, Euclidean, Intersects};
use lode_base::cancel::{CancelToken, with_current};
use std::time::Duration;

const DEGREE: Unit = Unit::Angle(1.0);

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.below(1 << 30) as f64 / (1_u64 << 30) as f64
    }
}

/// A ring around a place, of corners that are so far away at least.
fn ring(random: &mut Random, [x, y]: [f64; 2], corners: u64, far: [f64; 2]) -> String {
    let corner = |at: u64, random: &mut Random| {
        let angle = std::f64::consts::TAU * at as f64 / corners as f64;
        let far = random.between(far[0], far[1]);
        format!("{} {}", x + far * angle.cos(), y + far * angle.sin())
    };
    let mut ring: Vec<String> = (0..corners).map(|at| corner(at, random)).collect();
    ring.push(ring[0].clone());
    format!("({})", ring.join(","))
}

/// One of all kinds, somewhere within 20 of a place.
fn shape_at(random: &mut Random, [x, y]: [f64; 2], size: f64) -> String {
    let mut place = || [x + random.between(-20.0, 20.0), y + random.between(-20.0, 20.0)];
    let (one, two) = (place(), place());
    let corners = 3 + random.below(30);
    match random.below(6) {
        0 => format!("POINT({} {})", one[0], one[1]),
        1 => format!("MULTIPOINT(({} {}),({} {}))", one[0], one[1], two[0], two[1]),
        2 => {
            let ring = ring(random, one, corners, [size / 2.0, size]);
            format!("LINESTRING{ring}")
        }
        3 => format!("POLYGON({})", ring(random, one, corners, [size / 2.0, size])),
        4 => {
            let outer = ring(random, one, corners + 8, [size * 2.0, size * 2.1]);
            let hole = ring(random, one, corners, [size / 2.0, size]);
            format!("POLYGON({outer},{hole})")
        }
        _ => {
            let area = ring(random, one, corners, [size / 2.0, size]);
            let line = ring(random, two, corners, [size / 2.0, size]);
            format!("GEOMETRYCOLLECTION(POLYGON({area}),LINESTRING{line},POINT({} {}))", one[0], two[1])
        }
    }
}

fn shape(random: &mut Random, size: f64) -> String {
    shape_at(random, [0.0; 2], size)
}

/// By the library, which compares all with all.
fn by_all_pairs(a: &Geometry, b: &Geometry) -> f64 {
    if a.shape().intersects(b.shape()) {
        return 0.0;
    }
    let (a, b) = (Parts::of(a.shape()), Parts::of(b.shape()));
    let others: Vec<_> = b.edges().collect();
    let least =
        |line: geo::Line| others.iter().map(|other| Euclidean.distance(&line, other)).collect::<Vec<_>>();
    a.edges().flat_map(least).fold(f64::INFINITY, f64::min)
}

#[test]
fn distances_are_those_of_all_pairs() {
    let mut random = Random(11);
    let (mut meet, mut apart) = (0, 0);
    for round in 0..4000 {
        let size = [0.5, 3.0, 12.0][round % 3];
        let (a, b) = (wkt(&shape(&mut random, size)), wkt(&shape(&mut random, size * 0.7)));
        let expected = by_all_pairs(&a, &b);
        let found = measure::distance(&a, &b, DEGREE).unwrap();
        assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected}: {a:?} {b:?}");
        let (one, other) = (Parts::of(a.shape()), Parts::of(b.shape()));
        assert_eq!(apart::meet(&one, &other), Ok(expected == 0.0));
        *(if expected == 0.0 { &mut meet } else { &mut apart }) += 1;
        // Both ways the same, on the earth as well.
        let (there, back) = (measure::distance(&a, &b, Unit::METRE), measure::distance(&b, &a, Unit::METRE));
        let (there, back) = (there.unwrap(), back.unwrap());
        assert!((there - back).abs() <= 1e-6 * there, "{there} {back}");
        assert_eq!(there == 0.0, expected == 0.0);
    }
    assert!(meet > 500 && apart > 1000, "{meet} {apart}");
}

/// On the earth, also over the antimeridian and near a pole: as with each edge of the one alone.
#[test]
fn distances_on_the_earth_are_those_of_all_edges() {
    let mut random = Random(5);
    for round in 0..300 {
        let (one, other) =
            [([0.0; 2], [0.0; 2]), ([175.0, 10.0], [-185.0, 10.0]), ([30.0, 66.0], [150.0, 66.0])][round % 3];
        let a = wkt(&shape_at(&mut random, one, 1.0));
        let b = wkt(&shape_at(&mut random, other, 0.7));
        let whole = measure::distance(&a, &b, Unit::METRE).unwrap();
        if whole == 0.0 {
            continue;
        }
        let mut least = f64::INFINITY;
        for edge in Parts::of(a.shape()).edges() {
            let edge =
                wkt(&format!("LINESTRING({} {},{} {})", edge.start.x, edge.start.y, edge.end.x, edge.end.y));
            if edge.check_valid().is_ok() {
                least = least.min(measure::distance(&edge, &b, Unit::METRE).unwrap());
            }
        }
        for point in Parts::of(a.shape()).points {
            let point = wkt(&format!("POINT({} {})", point.x(), point.y()));
            least = least.min(measure::distance(&point, &b, Unit::METRE).unwrap());
        }
        // Sphere and ellipsoid may disagree about which edges are nearest.
        assert!(whole >= least * (1.0 - 1e-9) && whole <= least * 1.004, "{whole} {least}");
    }
}

fn circle(place: [f64; 2], radius: f64, corners: u64) -> String {
    ring(&mut Random(1), place, corners, [radius, radius])
}

#[test]
fn large_shapes_have_distances() {
    let area = |place, radius, corners| wkt(&format!("POLYGON({})", circle(place, radius, corners)));
    let line = |place, radius, corners| wkt(&format!("LINESTRING{}", circle(place, radius, corners)));
    let (a, b) = (area([0.0, 0.0], 1.0, 100_000), area([10.0, 0.0], 1.0, 100_000));
    assert!((measure::distance(&a, &b, DEGREE).unwrap() - 8.0).abs() < 1e-9);
    // From a degree of the equator to the ninth.
    let metres = measure::distance(&wkt("POINT(1 0)"), &wkt("POINT(9 0)"), Unit::METRE).unwrap();
    assert!((measure::distance(&a, &b, Unit::METRE).unwrap() - metres).abs() < 1.0);
    // Around each other: nearest everywhere.
    let (inner, outer) = (line([0.0, 0.0], 1.0, 20_000), line([0.0, 0.0], 1.5, 30_000));
    assert!((measure::distance(&inner, &outer, DEGREE).unwrap() - 0.5).abs() < 1e-6);
    assert!(
        measure::distance(&inner, &outer, Unit::METRE).is_ok_and(|far| (55_000.0..56_000.0).contains(&far))
    );
    // One in the other, and in a hole of the other.
    let ring =
        wkt(&format!("POLYGON({},{})", circle([0.0, 0.0], 4.0, 20_000), circle([0.0, 0.0], 3.0, 20_000)));
    for unit in [DEGREE, Unit::METRE] {
        assert_eq!(measure::distance(&inner, &area([0.0, 0.0], 2.0, 20_000), unit), Ok(0.0));
        assert_eq!(
            measure::distance(&area([0.5, 0.0], 1.0, 20_000), &line([0.0, 0.0], 1.0, 20_000), unit),
            Ok(0.0)
        );
    }
    assert!((measure::distance(&ring, &a, DEGREE).unwrap() - 2.0).abs() < 1e-6);
}

/// Teeth of two combs between each other: no box of one is far from all of the other.
fn combs(teeth: usize) -> [Geometry; 2] {
    let comb = |shift: f64| {
        let tooth = |at: usize| {
            let x = at as f64 + shift;
            format!("{x} 0,{} {teeth},{} 0", x + teeth as f64, x + 0.1)
        };
        wkt(&format!("MULTILINESTRING(({}))", (0..teeth).map(tooth).collect::<Vec<_>>().join("),(")))
    };
    [comb(0.0), comb(0.5)]
}

#[test]
fn who_waits_no_longer_gets_no_distance() {
    let [a, b] = combs(1000);
    assert!(measure::distance(&a, &b, DEGREE).is_ok_and(|far| far > 0.0 && far < 0.5));
    let token = CancelToken::default();
    token.cancel();
    let (one, two) = (
        wkt(&format!("POLYGON({})", circle([0.0, 0.0], 1.0, 20_000))),
        wkt(&format!("POLYGON({})", circle([5.0, 0.0], 1.0, 20_000))),
    );
    for unit in [DEGREE, Unit::METRE] {
        with_current(Some(&token), || {
            assert_eq!(measure::distance(&one, &two, unit), Err(GeoError::Stopped));
        });
    }
    // While it is being computed: all of these are as near to each other as rounding tells.
    let many = |scale: f64| {
        let mut random = Random(3);
        let mut place = || random.between(0.0, scale);
        let points: Vec<String> = (0..100_000).map(|_| format!("{} {}", place(), place())).collect();
        wkt(&format!("MULTIPOINT({})", points.join(",")))
    };
    let (cluster, around) = (many(1e-7), wkt(&format!("LINESTRING{}", circle([0.0, 0.0], 50.0, 200_000))));
    let token = CancelToken::new(Some(Duration::from_millis(50)));
    with_current(Some(&token), || {
        assert_eq!(measure::distance(&cluster, &around, DEGREE), Err(GeoError::Stopped));
    });
}
