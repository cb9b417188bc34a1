//! Conditions on two geometries by which sides of a join are put together, and the geometries of their ids.

use super::call::{number_of, unit_of};
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::expr::decode;
use crate::values::value::Value;
use lode_geo::pairs::PairTest;
use lode_geo::relate;
use lode_geo::window::Test;
use lode_geo::{Geometry, Unit};
use lode_rdf::ValueId;
use lode_sparql::PlaceJoin;
use std::sync::Arc;

/// The test that a condition is; none of what is none, or where boxes tell nothing.
pub fn place_pairs(join: &PlaceJoin<'_>) -> Option<PairTest> {
    let third = join.third.map(|third| Value::from_term(third.as_ref()));
    let (most, is_below) = match join.most {
        Some((most, is_below)) => (Some(number_of(&Value::from_term(most.as_ref()))?), is_below),
        None => (None, false),
    };
    let test = match (join.function, third, most) {
        ("distance" | "metricDistance", None, Some(most)) => Test::Distance { most, unit: Unit::METRE },
        ("distance", Some(unit), Some(most)) => Test::Distance { most, unit: unit_of(&unit)? },
        ("relate", Some(pattern), None) => {
            let pattern = pattern.simple()?;
            let is_whole = pattern.len() == 9 && pattern.bytes().all(|byte| b"TF*012".contains(&byte));
            Test::Pattern(is_whole.then(|| pattern.to_string())?)
        }
        (name, None, None) => Test::Relation(relate::named(name)?),
        _ => return None,
    };
    PairTest::new(test, is_below)
}

/// The geometries of ids; none of what is unbound or no geometry. Whoever keeps them accounts for them.
///
/// # Errors
///
/// Where there is no memory for the texts, the query was cancelled, or the store cannot be read.
pub fn geometries(cx: &EvalContext, ids: &[ValueId]) -> Result<Vec<Option<Arc<Geometry>>>, ExecError> {
    let values = decode::values(cx, ids)?;
    let mut read = Vec::with_capacity(ids.len());
    for value in values {
        cx.cancel.check()?;
        read.push(value.and_then(|value| cx.memos.geometries().of(&value, &cx.budget).geometry));
    }
    Ok(read)
}
