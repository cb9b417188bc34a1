//! No geometry that passes a test is outside of the windows of the test: random shapes all over the earth, at the antimeridian and at poles, in several planes.

use lode_geo::proximity::Proximity;
use lode_geo::relate::{RELATIONS, holds, matches};
use lode_geo::vocabulary::WKT_LITERAL;
use lode_geo::window::{Bounds, Grid, Search, Test, Windows, extent};
use lode_geo::{Crs, Geometry, Unit, measure, read};

fn wkt(text: &str) -> Geometry {
    read::literal(text, WKT_LITERAL).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn between(&mut self, least: f64, greatest: f64) -> f64 {
        least + (greatest - least) * self.below(1 << 20) as f64 / f64::from(1 << 20)
    }
}

/// A shape around a place; `size` is in degrees, or hundreds of kilometres.
fn shape(random: &mut Random, [x, y]: [f64; 2], size: f64, prefix: &str, by: f64) -> Geometry {
    let at = |random: &mut Random, [x, y]: [f64; 2]| {
        let (x, y) = (x + random.between(-size, size), y + random.between(-size, size));
        (x, if by == 1.0 { y.clamp(-90.0, 90.0) } else { y })
    };
    let text = match random.below(4) {
        0 => {
            let (x, y) = at(random, [x, y]);
            format!("POINT({} {})", x * by, y * by)
        }
        1 => {
            let places: Vec<String> = (0..2 + random.below(3))
                .map(|_| at(random, [x, y]))
                .map(|(x, y)| format!("{} {}", x * by, y * by))
                .collect();
            format!("LINESTRING({})", places.join(","))
        }
        2 => {
            let (a, b) = (at(random, [x, y]), at(random, [x, y]));
            format!("MULTIPOINT({} {},{} {})", a.0 * by, a.1 * by, b.0 * by, b.1 * by)
        }
        _ => {
            let (west, south) = at(random, [x, y]);
            let (east, north) = (west + size.max(0.001), (south + size.max(0.001)).min(90.0));
            let south = south.min(north - 0.0005);
            let [west, east, south, north] = [west, east, south, north].map(|x| x * by);
            format!("POLYGON(({west} {south},{east} {south},{east} {north},{west} {north},{west} {south}))")
        }
    };
    wkt(&format!("{prefix}{text}"))
}

fn place(random: &mut Random) -> [f64; 2] {
    match random.below(5) {
        0 => [random.between(-180.0, 180.0), random.between(86.0, 90.0)],
        1 => [random.between(178.0, 182.0), random.between(-70.0, 70.0)],
        2 => [random.between(-182.0, -178.0), random.between(-90.0, -60.0)],
        3 => [random.between(-340.0, 340.0), random.between(-20.0, 20.0)],
        _ => [random.between(-3.0, 3.0), random.between(47.0, 53.0)],
    }
}

/// Whether a geometry is where the windows of a search are, also by cells.
fn is_within(search: &Search, geometry: &Geometry) -> bool {
    let Some(bounds) = extent(geometry) else { return false };
    let plane = geometry.crs().plane();
    let windows = search.windows(&plane);
    let grid = Grid::of(&plane);
    let by_cells = match &windows {
        Windows::Everywhere => true,
        Windows::Boxes(boxes) => boxes.iter().any(|window| {
            let (least, greatest) = (grid.cell(window.min), grid.cell(window.max));
            let (first, last) = (grid.cell(bounds.min), grid.cell(bounds.max));
            (0..2).all(|axis| least[axis] <= last[axis] && first[axis] <= greatest[axis])
        }),
    };
    assert!(by_cells || !windows.meet(&bounds), "cells lose what boxes find");
    windows.meet(&bounds)
}

#[test]
fn what_is_near_enough_is_within_the_windows() {
    let mut random = Random(49);
    let (mut near, mut found, mut asked) = (0, 0, 0);
    for _ in 0..12_000 {
        let around = place(&mut random);
        let size = [0.001, 0.2, 3.0, 40.0][random.below(4) as usize];
        let one = shape(&mut random, around, size, "", 1.0);
        let elsewhere = match random.below(3) {
            0 => place(&mut random),
            1 => [around[0] + [360.0, -360.0, 0.0][random.below(3) as usize], around[1]],
            _ => [
                around[0] + random.between(-5.0, 5.0),
                (around[1] + random.between(-5.0, 5.0)).clamp(-90.0, 90.0),
            ],
        };
        let other = shape(&mut random, elsewhere, size, "", 1.0);
        let unit = [Unit::METRE, Unit::Length(1000.0), Unit::Angle(1.0)][random.below(3) as usize];
        let Ok(distance) = measure::distance(&one, &other, unit) else { continue };
        asked += 1;
        for (a, b, is_first) in [(&one, &other, false), (&other, &one, false), (&one, &other, true)] {
            for factor in [1.0, 1.000_1, 3.0] {
                let test = Test::Distance { most: distance * factor, unit };
                let search = Search::new(b.clone(), is_first, test).unwrap();
                assert!(is_within(&search, a), "{one:?}\n{other:?}\n{distance} {unit:?} {factor}");
            }
        }
        let little = Search::new(one, false, Test::Distance { most: distance / 3.0, unit }).unwrap();
        near += 1;
        found += usize::from(is_within(&little, &other));
    }
    // They are of use, too: most of what is three times as far is outside.
    assert!(asked > 10_000 && found * 3 < near, "{found} of {near} of {asked}");
}

#[test]
fn what_is_related_is_within_the_windows_in_each_plane() {
    let planes = [
        ("", 1.0),
        ("<http://www.opengis.net/def/crs/EPSG/0/3857> ", 100_000.0),
        ("<http://www.opengis.net/def/crs/EPSG/0/32632> ", 100_000.0),
        ("<http://example.org/floor> ", 1.0),
    ];
    let mut random = Random(50);
    let (mut related, mut outside) = (0, 0);
    for _ in 0..4_000 {
        let (prefix, by) = planes[random.below(4) as usize];
        let (other_prefix, other_by) =
            if random.below(4) == 0 { planes[random.below(4) as usize] } else { (prefix, by) };
        let around = [random.between(4.0, 6.0), random.between(48.0, 50.0)];
        let one = shape(&mut random, around, 1.0, prefix, by);
        let other = shape(&mut random, around, 1.0, other_prefix, other_by);
        for (name, relation) in RELATIONS {
            for is_first in [false, true] {
                let (a, b) = if is_first { (&other, &one) } else { (&one, &other) };
                let Some(search) = Search::new(other.clone(), is_first, Test::Relation(relation)) else {
                    assert!(name.ends_with("isjoint") || name == "rcc8dc", "{name}");
                    continue;
                };
                let is_related = holds(relation, a, b) == Ok(true);
                let is_found = is_within(&search, &one);
                assert!(is_found || !is_related, "{name} {is_first}\n{one:?}\n{other:?}");
                (related, outside) = (related + usize::from(is_related), outside + usize::from(!is_found));
            }
        }
        for pattern in ["T********", "****T****", "FF*FF****", "0********", "*T*******", "T*F**F***"] {
            let Some(search) = Search::new(other.clone(), false, Test::Pattern(pattern.to_owned())) else {
                assert_eq!(pattern, "FF*FF****");
                continue;
            };
            let is_related = matches(&one, &other, pattern) == Ok(true);
            assert!(is_within(&search, &one) || !is_related, "{pattern}\n{one:?}\n{other:?}");
        }
    }
    assert!(related > 1_000 && outside > 1_000, "{related} {outside}");
}

#[test]
fn what_boxes_cannot_tell_is_not_asked_of_them() {
    let point = wkt("POINT(1 2)");
    let search = |constant: &Geometry, is_first, test| Search::new(constant.clone(), is_first, test);
    let near = |most| Test::Distance { most, unit: Unit::METRE };
    assert!(search(&wkt("POINT EMPTY"), false, near(1.0)).is_none());
    let none = Windows::Boxes(Vec::new());
    assert_eq!(search(&point, false, near(-1.0)).unwrap().windows(&Crs::Crs84), none);
    assert_eq!(search(&point, false, near(f64::NAN)).unwrap().windows(&Crs::Crs84), none);
    let everywhere = Windows::Everywhere;
    assert_eq!(search(&point, false, near(f64::INFINITY)).unwrap().windows(&Crs::Crs84), everywhere);
    assert_eq!(search(&point, true, near(1.0)).unwrap().windows(&Crs::from_iri("http://e/x")), everywhere);
    // There is no way from one to the other, so that each call is an error.
    assert_eq!(search(&point, false, near(1.0)).unwrap().windows(&Crs::from_iri("http://e/x")), none);
    // Whatever coordinates, the numbers of cells are some.
    let grid = Grid::of(&Crs::Crs84);
    assert_eq!(grid.cell([-1e300, f64::INFINITY]), [0, u32::MAX]);
}

#[test]
fn nothing_is_nearer_than_its_box() {
    let mut random = Random(51);
    let (mut asked, mut sum) = (0, 0.0);
    for _ in 0..20_000 {
        let [x, y] = place(&mut random);
        let from = wkt(&format!("POINT({x} {})", y.clamp(-90.0, 90.0)));
        let around = match random.below(3) {
            0 => [x + random.between(-5.0, 5.0), (y + random.between(-5.0, 5.0)).clamp(-90.0, 90.0)],
            _ => place(&mut random),
        };
        let size = [0.001, 0.2, 3.0, 40.0][random.below(4) as usize];
        let other = shape(&mut random, around, size, "", 1.0);
        let unit = [Unit::METRE, Unit::Length(1000.0)][random.below(2) as usize];
        let proximity = Proximity::new(from, random.below(2) == 0, unit).unwrap();
        let Ok(distance) = proximity.distance(&other) else { continue };
        let own = extent(&other).unwrap();
        let grid = Grid::of(&Crs::Crs84);
        let cells = grid.bounds(grid.cell(own.min), grid.cell(own.max));
        let wider = Bounds { min: own.min.map(|x| x - 3.0), max: own.max.map(|x| x + 7.0) };
        for bounds in [own, cells, wider] {
            let least = proximity.least(&bounds);
            assert!(least <= distance, "{least} > {distance}: {proximity:?}\n{other:?}\n{bounds:?}");
        }
        if distance > 0.0 {
            (asked, sum) = (asked + 1, sum + proximity.least(&own) / distance);
        }
    }
    // It is of use: not much less.
    assert!(asked > 10_000 && sum / f64::from(asked) > 0.6, "{}", sum / f64::from(asked));
}

/// Angles are measured between longitudes and latitudes, also where the constant has no image in the plane of the other.
#[test]
fn what_reaches_a_pole_is_near_in_degrees_in_every_plane() {
    let near = wkt("<http://www.opengis.net/def/crs/EPSG/0/3857> POINT(18343485.9 5772030.9)");
    for constant in ["LINESTRING(148 90,179 13)", "POINT(77 90)", "LINESTRING(-180 -90,180 90)"] {
        for most in [1.0, 10.0, 80.0] {
            let constant = wkt(constant);
            let distance = measure::distance(&near, &constant, Unit::Angle(1.0)).unwrap();
            let test = Test::Distance { most, unit: Unit::Angle(1.0) };
            let search = Search::new(constant, false, test).unwrap();
            assert!(distance > most || is_within(&search, &near), "{distance} <= {most}");
        }
    }
}
