//! Aggregates of geometries (GeoSPARQL 1.1, section 8.8), by their IRIs: what all geometries of a group are together, in the reference system of the
//! first. As with SUM, a value that is no geometry makes the result an error.

use super::grow::grow;
use super::state::{Kernel, State, same};
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::expr::{decode, value_id};
use crate::values::value::{OtherLiteral, Value};
use lode_base::cancel::with_current;
use lode_geo::construct::{self, Gathering};
use lode_geo::vocabulary::WKT_LITERAL;
use lode_geo::write;
use lode_rdf::ValueId;
use lode_scheduler::steps::steps;
use lode_sparql::AggregateFunction;
use lode_sparql::function::ValueType;
use std::sync::Arc;

/// Geometries that are read between two looks at the cancel token.
const READ_AT_ONCE: usize = 64;

macro_rules! aggregate {
    ($name:literal, $gathering:expr) => {
        AggregateFunction::new(
            concat!("http://www.opengis.net/def/function/geosparql/", $name),
            ValueType::Literal,
            ValueType::Literal,
            &Kernel(|_| Box::new(Gathered { gathering: $gathering, groups: Vec::new(), values: 0 })),
        )
    };
}

/// The entries.
pub(super) static AGGREGATES: [AggregateFunction; 6] = [
    aggregate!("aggBoundingBox", Gathering::BoundingBox).of_distinct_values(),
    aggregate!("aggBoundingCircle", Gathering::BoundingCircle).of_distinct_values(),
    aggregate!("aggCentroid", Gathering::Centroid),
    aggregate!("aggConcaveHull", Gathering::ConcaveHull).of_distinct_values(),
    aggregate!("aggConvexHull", Gathering::ConvexHull).of_distinct_values(),
    aggregate!("aggUnion", Gathering::Union).of_distinct_values(),
];

/// The values of each group, which are read when all are there.
#[derive(Debug)]
struct Gathered {
    gathering: Gathering,
    groups: Vec<Vec<ValueId>>,
    values: usize,
}

impl State for Gathered {
    fn resize(&mut self, groups: usize) {
        grow(&mut self.groups, groups, Vec::new());
    }

    fn update(&mut self, _: &EvalContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError> {
        for (group, value) in groups.iter().zip(values) {
            if let Some(known) = self.groups.get_mut(*group as usize) {
                known.push(*value);
                self.values += 1;
            }
        }
        Ok(())
    }

    fn merge(&mut self, cx: &EvalContext, other: Box<dyn State>, groups: &[u32]) -> Result<(), ExecError> {
        let Some(mut other) = same::<Self>(other) else { return Ok(()) };
        for step in steps(groups.len().min(other.groups.len()), &cx.cancel) {
            let step = step?;
            for (group, theirs) in groups[step.clone()].iter().zip(&mut other.groups[step]) {
                if let Some(known) = self.groups.get_mut(*group as usize) {
                    self.values += theirs.len();
                    known.append(theirs);
                }
            }
        }
        Ok(())
    }

    /// The geometry; unbound of no values.
    fn finish(&self, cx: &EvalContext, group: usize) -> Result<ValueId, ExecError> {
        let Some(ids) = self.groups.get(group) else { return Ok(ValueId::UNDEF) };
        let mut reservation = cx.budget.reserve_empty();
        let mut geometries = Vec::with_capacity(ids.len());
        for ids in ids.chunks(READ_AT_ONCE) {
            cx.cancel.check()?;
            for value in decode::values(cx, ids)? {
                let found = value.and_then(|value| cx.memos.geometries().of(&value, &cx.budget).geometry);
                let Some(geometry) = found else { return Ok(ValueId::UNDEF) };
                // Once as it is, and once in what is made of all.
                reservation.grow(2 * geometry.bytes())?;
                geometries.push(geometry);
            }
        }
        let made = with_current(Some(&cx.cancel), || construct::gather(self.gathering, &geometries));
        cx.cancel.check()?;
        let Ok(made) = made else { return Ok(ValueId::UNDEF) };
        let literal = OtherLiteral { lexical: write::wkt(&made).into(), datatype: WKT_LITERAL.into() };
        value_id(cx, Some(&Value::Other(Arc::new(literal))))
    }

    fn bytes(&self) -> usize {
        // Vectors grow by doubling.
        self.groups.capacity() * size_of::<Vec<ValueId>>() + 2 * self.values * size_of::<ValueId>()
    }
}
