//! Distances, lengths and areas: on the ellipsoid of WGS 84 where coordinates are longitudes and latitudes and metres are asked for, else in the
//! plane of the coordinates.

use crate::apart;
use crate::crs::Crs;
use crate::error::GeoError;
use crate::geometry::{Geometry, bounds_of, collection};
use crate::nearest;
use crate::parts::Parts;
use crate::unit::Unit;
use crate::watch;
use geo::{Area, Distance, Euclidean, Geodesic, GeodesicArea, Length, LineString, Polygon};

/// What a number in the plane of a geometry means.
enum Scale {
    /// Degrees, and metres on the ellipsoid are wanted.
    Ellipsoid,
    /// So many of the unit that is wanted are one of the plane's.
    Plane(f64),
    /// Degrees are wanted of a plane of metres.
    Degrees(f64),
}

fn scale(crs: &Crs, unit: Unit) -> Scale {
    match (crs.is_geographic(), unit) {
        (true, Unit::Angle(degrees)) => Scale::Plane(1.0 / degrees),
        (true, _) => Scale::Ellipsoid,
        (false, Unit::Length(metres)) => Scale::Plane(crs.metres() / metres),
        (false, Unit::Area(square)) => Scale::Plane(crs.metres() / square.sqrt()),
        (false, Unit::Angle(degrees)) => Scale::Degrees(1.0 / degrees),
    }
}

/// The factor from metres to a unit of length, or of a side of a unit of area.
fn from_metres(unit: Unit) -> f64 {
    match unit {
        Unit::Length(metres) => 1.0 / metres,
        Unit::Area(square) => 1.0 / square.sqrt(),
        Unit::Angle(_) => 1.0,
    }
}

/// The shortest distance of two geometries.
///
/// # Errors
///
/// Where one is empty or not valid, the unit is one of area, there is no way from one reference system to the other, or they are too large.
pub fn distance(a: &Geometry, b: &Geometry, unit: Unit) -> Result<f64, GeoError> {
    if a.is_empty() || b.is_empty() {
        return Err(GeoError::NoAnswer { operation: "distance", what: "an empty geometry" });
    }
    if matches!(unit, Unit::Area(_)) {
        return Err(GeoError::NoAnswer { operation: "distance", what: "a unit of area" });
    }
    match scale(a.crs(), unit) {
        Scale::Plane(factor) => Ok(plane_distance(a, b)? * factor),
        Scale::Degrees(factor) => {
            let (a, b) = (a.transform(&Crs::Crs84)?, b.transform(&Crs::Crs84)?);
            Ok(plane_distance(&a, &b)? * factor)
        }
        Scale::Ellipsoid => {
            let other = b.shape_in(a.crs())?;
            let (geo::Geometry::Point(one), geo::Geometry::Point(two)) = (a.shape(), &*other) else {
                let parts = [Parts::of(a.shape()), Parts::of(&other)];
                if may_meet(a, b, &other)? && apart::meet(&parts[0], &parts[1])? {
                    return Ok(0.0);
                }
                return Ok(nearest::distance(&parts[0], &parts[1])? * from_metres(unit));
            };
            if !(on_earth(one) && on_earth(two)) {
                return Err(GeoError::NoAnswer { operation: "distance", what: "a latitude beyond a pole" });
            }
            Ok(Geodesic.distance(*one, *two) * from_metres(unit))
        }
    }
}

fn on_earth(point: &geo::Point) -> bool {
    point.y().abs() <= 90.0
}

/// Whether their boxes have a point in common, so that they may have one. Only of what is valid can it be told whether they do.
fn may_meet(a: &Geometry, b: &Geometry, shape_of_b: &geo::Geometry) -> Result<bool, GeoError> {
    let apart = match (a.bounds(), bounds_of(shape_of_b)) {
        (Some(a), Some(b)) => !geo::Intersects::intersects(&a, &b),
        _ => true,
    };
    if !apart {
        a.check_valid()?;
        b.check_valid()?;
    }
    Ok(!apart)
}

fn plane_distance(a: &Geometry, b: &Geometry) -> Result<f64, GeoError> {
    let other = b.shape_in(a.crs())?;
    if let (geo::Geometry::Point(one), geo::Geometry::Point(two)) = (a.shape(), &*other) {
        return Ok(Euclidean.distance(*one, *two));
    }
    may_meet(a, b, &other)?;
    apart::distance(&Parts::of(a.shape()), &Parts::of(&other))
}

/// The length of lines, and of the edges of areas.
///
/// # Errors
///
/// Where the unit is one of area, or there is no way to the plane of the unit.
pub fn length(geometry: &Geometry, unit: Unit) -> Result<f64, GeoError> {
    let parts = Parts::of(geometry.shape());
    let rings = parts.areas.iter().flat_map(|area| std::iter::once(area.exterior()).chain(area.interiors()));
    let lines: Vec<&LineString> = parts.lines.iter().chain(rings).collect();
    sum_of_lengths(geometry, &lines, unit)
}

/// The length of the edges of areas; 0 of points and lines.
///
/// # Errors
///
/// As [`length`].
pub fn perimeter(geometry: &Geometry, unit: Unit) -> Result<f64, GeoError> {
    let parts = Parts::of(geometry.shape());
    let rings = parts.areas.iter().flat_map(|area| std::iter::once(area.exterior()).chain(area.interiors()));
    sum_of_lengths(geometry, &rings.collect::<Vec<_>>(), unit)
}

fn sum_of_lengths(geometry: &Geometry, lines: &[&LineString], unit: Unit) -> Result<f64, GeoError> {
    if matches!(unit, Unit::Area(_)) {
        return Err(GeoError::NoAnswer { operation: "length", what: "a unit of area" });
    }
    let plane = |lines: &[&LineString]| {
        lines.iter().map(|line| Euclidean.length(*line)).fold(0.0, std::ops::Add::add)
    };
    Ok(match scale(geometry.crs(), unit) {
        Scale::Plane(factor) => plane(lines) * factor,
        Scale::Degrees(factor) => {
            let lines: Vec<geo::Geometry> = lines.iter().map(|line| (*line).clone().into()).collect();
            let all = collection(lines);
            let degrees = Parts::of(&geometry.crs().transform(&Crs::Crs84, &all)?);
            plane(&degrees.lines.iter().collect::<Vec<_>>()) * factor
        }
        Scale::Ellipsoid => {
            check_on_earth(geometry, "length")?;
            watch::before_work_on(geometry.points())?;
            lines.iter().map(|line| Geodesic.length(*line)).fold(0.0, std::ops::Add::add) * from_metres(unit)
        }
    })
}

/// The area; 0 of points and lines. A unit of length is squared.
///
/// # Errors
///
/// Where there is no way to the plane of the unit.
pub fn area(geometry: &Geometry, unit: Unit) -> Result<f64, GeoError> {
    let plane = |areas: &[Polygon]| areas.iter().map(Area::unsigned_area).fold(0.0, std::ops::Add::add);
    let parts = Parts::of(geometry.shape());
    Ok(match scale(geometry.crs(), unit) {
        Scale::Plane(factor) => plane(&parts.areas) * factor * factor,
        Scale::Degrees(factor) => {
            let degrees = geometry.transform(&Crs::Crs84)?;
            plane(&Parts::of(degrees.shape()).areas) * factor * factor
        }
        Scale::Ellipsoid => {
            check_on_earth(geometry, "area")?;
            watch::before_work_on(geometry.points())?;
            parts.areas.iter().map(ellipsoid_area).fold(0.0, std::ops::Add::add)
                * from_metres(unit)
                * from_metres(unit)
        }
    })
}

/// Rings may go round either way: each is the smaller part of the two that it cuts the earth into.
fn ellipsoid_area(area: &Polygon) -> f64 {
    let ring = |line: &LineString| Polygon::new(line.clone(), Vec::new()).geodesic_area_signed().abs();
    ring(area.exterior()) - area.interiors().iter().map(ring).fold(0.0, std::ops::Add::add)
}

fn check_on_earth(geometry: &Geometry, operation: &'static str) -> Result<(), GeoError> {
    let beyond = |bounds: geo::Rect| bounds.min().y < -90.0 || bounds.max().y > 90.0;
    if geometry.bounds().is_some_and(beyond) {
        return Err(GeoError::NoAnswer { operation, what: "a latitude beyond a pole" });
    }
    Ok(())
}
