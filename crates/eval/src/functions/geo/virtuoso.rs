//! Functions of geometries as Virtuoso has them (`bif:st_...`), those that queries use most. Distances are kilometres on the ellipsoid; a third argument of a relation is
//! how far both may be apart. Their names begin with what people declare for `bif:`, one of two.

use super::call::{literal, number_of, of_many, of_one, of_two, typed};
use crate::expr::call::Kernel;
use crate::values::value::Value;
use lode_geo::inspect::{self, Axis};
use lode_geo::relate::{self, Relation};
use lode_geo::vocabulary::WKT_LITERAL;
use lode_geo::window::Test;
use lode_geo::{GeoError, Geometry, Unit, measure, read, write};
use lode_sparql::Function;
use lode_sparql::function::ValueType;

/// The unit of distances.
const KILOMETRE: Unit = Unit::Length(1000.0);

/// A function by both of its names.
macro_rules! twice {
    ($name:literal, $required:expr, $result:expr, $kernel:expr $(, $optional:expr)?) => {
        [
            Function::new(concat!("bif:", $name), $required, $result, $kernel)$(.optional($optional))?,
            Function::new(
                concat!("http://www.openlinksw.com/schemas/bif#", $name),
                $required,
                $result,
                $kernel,
            )$(.optional($optional))?,
        ]
    };
}

/// A relation of two geometries, or of what is so near.
macro_rules! relation {
    ($name:literal, $relation:expr) => {
        twice!(
            $name,
            &[ValueType::Literal, ValueType::Literal],
            ValueType::Boolean,
            &Kernel::Many(|rows, arguments| {
                of_many(rows, arguments, 2, |geometries, values| {
                    let [a, b] = geometries else { return None };
                    let reach = values.first().map_or(Some(0.0), |reach| number_of(reach))?;
                    Some(holds($relation, a, b, reach).map(Value::Boolean))
                })
            }),
            &[ValueType::Number]
        )
    };
}

/// A coordinate of a point.
macro_rules! coordinate {
    ($name:literal, $axis:expr) => {
        twice!(
            $name,
            &[ValueType::Literal],
            ValueType::Floating,
            &Kernel::One(|rows, a| {
                of_one(rows, a, |a| match inspect::extent(a, $axis) {
                    Some((least, greatest)) if least == greatest => Ok(Value::Double(least)),
                    _ => Err(GeoError::NoAnswer { operation: $name, what: "what is no point" }),
                })
            })
        )
    };
}

/// The entries.
pub(super) static FUNCTIONS: [[Function; 2]; 9] = [
    twice!(
        "st_point",
        &[ValueType::Number, ValueType::Number],
        ValueType::Literal,
        &Kernel::Two(|rows, a, b| {
            rows.binary(a, b, |longitude, latitude| {
                let (longitude, latitude) = (number_of(longitude)?, number_of(latitude)?);
                Some(typed(format!("POINT ({longitude} {latitude})"), WKT_LITERAL))
            })
        })
    ),
    twice!(
        "st_geomfromtext",
        &[ValueType::String],
        ValueType::Literal,
        &Kernel::One(|rows, a| rows.unary(a, |a| {
            read::literal(a.simple()?, WKT_LITERAL).ok().map(|geometry| literal(&geometry))
        }))
    ),
    twice!(
        "st_astext",
        &[ValueType::Literal],
        ValueType::String,
        &Kernel::One(|rows, a| of_one(rows, a, |a| Ok(Value::string(write::wkt(a)))))
    ),
    twice!(
        "st_distance",
        &[ValueType::Literal, ValueType::Literal],
        ValueType::Floating,
        &Kernel::Two(|rows, a, b| {
            of_two(rows, a, b, |a, b| measure::distance(a, b, KILOMETRE).map(Value::Double))
        })
    ),
    relation!("st_intersects", Relation::Intersects),
    relation!("st_within", Relation::Within),
    relation!("st_contains", Relation::Contains),
    coordinate!("st_x", Axis::X),
    coordinate!("st_y", Axis::Y),
];

/// Whether geometries are so related, or, with a reach, so near.
fn holds(relation: Relation, a: &Geometry, b: &Geometry, reach: f64) -> Result<bool, GeoError> {
    if relate::holds(relation, a, b)? {
        return Ok(true);
    }
    Ok(reach > 0.0 && measure::distance(a, b, KILOMETRE)? <= reach)
}

/// What an index is asked for a call of one of these; none where it is not one of them, and none within where an index cannot help.
#[expect(clippy::option_option, reason = "whose it is, and what it asks")]
pub(super) fn reach(name: &str, most: Option<f64>, rest: &[Value]) -> Option<Option<Test>> {
    let name =
        name.strip_prefix("bif:").or_else(|| name.strip_prefix("http://www.openlinksw.com/schemas/bif#"))?;
    let relation = match name {
        "st_intersects" => Relation::Intersects,
        "st_within" => Relation::Within,
        "st_contains" => Relation::Contains,
        "st_distance" => {
            let near = most.filter(|_| rest.is_empty()).map(|most| Test::Distance { most, unit: KILOMETRE });
            return Some(near);
        }
        _ => return Some(None),
    };
    Some(match (rest, most) {
        ([], None) => Some(Test::Relation(relation)),
        // What is so related is no distance apart.
        ([reach], None) => {
            number_of(reach).map(|most| Test::Distance { most: most.max(0.0), unit: KILOMETRE })
        }
        _ => None,
    })
}
