//! Geometries that are made of others (GeoSPARQL 1.1, sections 8.7.1 and 8.7.2).

use super::call::{iri, iri_of, literal, number_of, of_many, of_one, of_two, unit_of};
use crate::expr::call::Kernel;
use crate::values::value::Value;
use lode_geo::construct::{self, Operation};
use lode_geo::{Crs, GeoError, Unit, inspect};
use lode_sparql::Function;
use lode_sparql::function::ValueType;

/// A geometry of one other.
macro_rules! of_geometry {
    ($name:literal, $f:expr) => {
        Function::new(
            iri!($name),
            &[ValueType::Literal],
            ValueType::Literal,
            &Kernel::One(|rows, a| of_one(rows, a, |a| $f(a).map(|made| literal(&made)))),
        )
    };
}

/// What two are together as sets of points.
macro_rules! of_sets {
    ($name:literal, $operation:expr) => {
        Function::new(
            iri!($name),
            &[ValueType::Literal, ValueType::Literal],
            ValueType::Literal,
            &Kernel::Two(|rows, a, b| {
                of_two(rows, a, b, |a, b| construct::overlay($operation, a, b).map(|made| literal(&made)))
            }),
        )
    };
}

/// The entries.
pub(super) static FUNCTIONS: [Function; 14] = [
    of_sets!("intersection", Operation::Intersection),
    of_sets!("union", Operation::Union),
    of_sets!("difference", Operation::Difference),
    of_sets!("symDifference", Operation::SymmetricDifference),
    of_geometry!("boundary", construct::boundary),
    of_geometry!("boundingCircle", construct::bounding_circle),
    of_geometry!("centroid", |a| construct::centroid(a)
        .ok_or(GeoError::NoAnswer { operation: "centroid", what: "an empty geometry" })),
    of_geometry!("convexHull", |a| Ok::<_, GeoError>(construct::convex_hull(a))),
    of_geometry!("envelope", |a| Ok::<_, GeoError>(construct::envelope(a))),
    Function::new(
        iri!("concaveHull"),
        &[ValueType::Literal],
        ValueType::Literal,
        &Kernel::Many(|rows, arguments| {
            of_many(rows, arguments, 1, |geometries, values| {
                let part = values.first().map_or(Some(None), |part| number_of(part).map(Some))?;
                Some(construct::concave_hull(geometries.first()?, part).map(|made| literal(&made)))
            })
        }),
    )
    .optional(&[ValueType::Number]),
    Function::new(
        iri!("buffer"),
        &[ValueType::Literal, ValueType::Number, ValueType::Iri],
        ValueType::Literal,
        &Kernel::Many(|rows, arguments| {
            of_many(rows, arguments, 1, |geometries, values| {
                let [radius, unit] = values else { return None };
                let (radius, unit) = (number_of(radius)?, unit_of(unit)?);
                Some(construct::buffer(geometries.first()?, radius, unit).map(|made| literal(&made)))
            })
        }),
    ),
    Function::new(
        iri!("metricBuffer"),
        &[ValueType::Literal, ValueType::Number],
        ValueType::Literal,
        &Kernel::Many(|rows, arguments| {
            of_many(rows, arguments, 1, |geometries, values| {
                let radius = number_of(values.first()?)?;
                Some(construct::buffer(geometries.first()?, radius, Unit::METRE).map(|made| literal(&made)))
            })
        }),
    ),
    Function::new(
        iri!("geometryN"),
        &[ValueType::Literal, ValueType::Integer],
        ValueType::Literal,
        &Kernel::Many(|rows, arguments| {
            of_many(rows, arguments, 1, |geometries, values| {
                let [Value::Integer(number)] = values else { return None };
                let part = inspect::part(geometries.first()?, usize::try_from(*number).ok()?)?;
                Some(Ok(literal(&part)))
            })
        }),
    ),
    Function::new(
        iri!("transform"),
        &[ValueType::Literal, ValueType::Iri],
        ValueType::Literal,
        &Kernel::Many(|rows, arguments| {
            of_many(rows, arguments, 1, |geometries, values| {
                let crs = Crs::from_iri(iri_of(values.first()?)?);
                Some(geometries.first()?.transform(&crs).map(|made| literal(&made)))
            })
        }),
    ),
];
