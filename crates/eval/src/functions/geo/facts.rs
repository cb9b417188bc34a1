//! What a geometry is (GeoSPARQL 1.1, section 8.7.1).

use super::call::{ANY_URI, iri, of_one, typed};
use crate::expr::call::Kernel;
use crate::values::value::Value;
use lode_geo::inspect::{self, Axis};
use lode_geo::{GeoError, Geometry};
use lode_sparql::Function;
use lode_sparql::function::ValueType;

/// A fact of a geometry.
macro_rules! fact {
    ($name:literal, $kind:expr, $f:expr) => {
        Function::new(
            iri!($name),
            &[ValueType::Literal],
            $kind,
            &Kernel::One(|rows, a| of_one(rows, a, |a: &Geometry| $f(a))),
        )
    };
}

/// The least or the greatest coordinate on an axis.
macro_rules! coordinate {
    ($name:literal, $axis:expr, $which:tt) => {
        fact!($name, ValueType::Floating, |a| match inspect::extent(a, $axis) {
            Some(extent) => Ok(Value::Double(extent.$which)),
            None => Err(GeoError::NoAnswer { operation: $name, what: "a geometry without such coordinates" }),
        })
    };
}

fn integer(number: i64) -> Result<Value, GeoError> {
    Ok(Value::Integer(number))
}

fn truth(truth: bool) -> Result<Value, GeoError> {
    Ok(Value::Boolean(truth))
}

/// The entries.
pub(super) static FUNCTIONS: [Function; 16] = [
    fact!("dimension", ValueType::Integer, |a| integer(inspect::dimension(a))),
    fact!("coordinateDimension", ValueType::Integer, |a| integer(inspect::coordinate_dimension(a))),
    fact!("spatialDimension", ValueType::Integer, |a| integer(inspect::spatial_dimension(a))),
    fact!("numGeometries", ValueType::Integer, |a| integer(
        i64::try_from(inspect::parts(a)).unwrap_or(i64::MAX)
    )),
    fact!("is3D", ValueType::Boolean, |a: &Geometry| truth(a.heights().is_some())),
    fact!("isMeasured", ValueType::Boolean, |a: &Geometry| truth(a.measures().is_some())),
    fact!("isEmpty", ValueType::Boolean, |a: &Geometry| truth(a.is_empty())),
    fact!("isSimple", ValueType::Boolean, |a| inspect::is_simple(a).map(Value::Boolean)),
    fact!("geometryType", ValueType::Literal, |a| Ok::<_, GeoError>(typed(inspect::class(a), ANY_URI))),
    fact!("getSRID", ValueType::Literal, |a: &Geometry| Ok::<_, GeoError>(typed(a.crs().iri(), ANY_URI))),
    coordinate!("minX", Axis::X, 0),
    coordinate!("maxX", Axis::X, 1),
    coordinate!("minY", Axis::Y, 0),
    coordinate!("maxY", Axis::Y, 1),
    coordinate!("minZ", Axis::Z, 0),
    coordinate!("maxZ", Axis::Z, 1),
];
