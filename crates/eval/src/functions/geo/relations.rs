//! How two geometries lie to each other (GeoSPARQL 1.1, sections 9.3.1 and 9.4 to 9.6).

use super::call::{iri, of_many, of_two};
use crate::expr::call::Kernel;
use crate::values::value::Value;
use lode_geo::relate;
use lode_sparql::Function;
use lode_sparql::function::ValueType;

/// A relation that has a name.
macro_rules! relation {
    ($name:literal) => {
        Function::new(
            iri!($name),
            &[ValueType::Literal, ValueType::Literal],
            ValueType::Boolean,
            &Kernel::Two(|rows, a, b| {
                let Some(relation) = relate::named($name) else {
                    return Ok(crate::expr::column::Column::ERROR);
                };
                of_two(rows, a, b, |a, b| relate::holds(relation, a, b).map(Value::Boolean))
            }),
        )
    };
}

/// The entries.
pub(super) static FUNCTIONS: [Function; 25] = [
    relation!("sfEquals"),
    relation!("sfDisjoint"),
    relation!("sfIntersects"),
    relation!("sfTouches"),
    relation!("sfCrosses"),
    relation!("sfWithin"),
    relation!("sfContains"),
    relation!("sfOverlaps"),
    relation!("ehEquals"),
    relation!("ehDisjoint"),
    relation!("ehMeet"),
    relation!("ehOverlap"),
    relation!("ehCovers"),
    relation!("ehCoveredBy"),
    relation!("ehInside"),
    relation!("ehContains"),
    relation!("rcc8eq"),
    relation!("rcc8dc"),
    relation!("rcc8ec"),
    relation!("rcc8po"),
    relation!("rcc8tppi"),
    relation!("rcc8tpp"),
    relation!("rcc8ntpp"),
    relation!("rcc8ntppi"),
    Function::new(
        iri!("relate"),
        &[ValueType::Literal, ValueType::Literal, ValueType::String],
        ValueType::Boolean,
        &Kernel::Many(|rows, arguments| {
            of_many(rows, arguments, 2, |geometries, values| match (geometries, values) {
                ([a, b], [pattern]) => Some(relate::matches(a, b, pattern.simple()?).map(Value::Boolean)),
                _ => None,
            })
        }),
    ),
];
