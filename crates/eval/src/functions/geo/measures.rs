//! Distances, lengths and areas (GeoSPARQL 1.1, section 8.7.2).

use super::call::{iri, of_many, of_one, of_two, unit_of};
use crate::expr::call::Kernel;
use crate::values::value::Value;
use lode_geo::{Unit, measure};
use lode_sparql::Function;
use lode_sparql::function::ValueType;

/// A measure of one geometry in a unit, metres where there is none.
macro_rules! in_unit {
    ($name:literal, $f:path) => {
        Function::new(
            iri!($name),
            &[ValueType::Literal],
            ValueType::Floating,
            &Kernel::Many(|rows, arguments| {
                of_many(rows, arguments, 1, |geometries, values| {
                    let unit = values.first().map_or(Some(Unit::METRE), |unit| unit_of(unit))?;
                    Some($f(geometries.first()?, unit).map(Value::Double))
                })
            }),
        )
        .optional(&[ValueType::Iri])
    };
}

/// A measure of one geometry in metres.
macro_rules! in_metres {
    ($name:literal, $f:path) => {
        Function::new(
            iri!($name),
            &[ValueType::Literal],
            ValueType::Floating,
            &Kernel::One(|rows, a| of_one(rows, a, |a| $f(a, Unit::METRE).map(Value::Double))),
        )
    };
}

/// The entries.
pub(super) static FUNCTIONS: [Function; 8] = [
    Function::new(
        iri!("distance"),
        &[ValueType::Literal, ValueType::Literal],
        ValueType::Floating,
        &Kernel::Many(|rows, arguments| {
            of_many(rows, arguments, 2, |geometries, values| {
                let [a, b] = geometries else { return None };
                let unit = values.first().map_or(Some(Unit::METRE), |unit| unit_of(unit))?;
                Some(measure::distance(a, b, unit).map(Value::Double))
            })
        }),
    )
    .optional(&[ValueType::Iri]),
    Function::new(
        iri!("metricDistance"),
        &[ValueType::Literal, ValueType::Literal],
        ValueType::Floating,
        &Kernel::Two(|rows, a, b| {
            of_two(rows, a, b, |a, b| measure::distance(a, b, Unit::METRE).map(Value::Double))
        }),
    ),
    in_unit!("area", measure::area),
    in_metres!("metricArea", measure::area),
    in_unit!("length", measure::length),
    in_metres!("metricLength", measure::length),
    in_unit!("perimeter", measure::perimeter),
    in_metres!("metricPerimeter", measure::perimeter),
];
