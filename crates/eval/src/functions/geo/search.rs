//! Conditions on a geometry and a constant one that an index of geometries can be asked about.

use super::call::{number_of, unit_of};
use super::virtuoso;
use crate::values::value::Value;
use lode_geo::proximity::Proximity;
use lode_geo::relate;
use lode_geo::vocabulary::GEOF;
use lode_geo::window::{Search, Test};
use lode_geo::{Geometry, Unit, read};
use lode_rdf::Term;
use lode_sparql::PlaceSearch;

/// What an index is asked for a condition; none where it cannot help.
pub fn place_search(search: &PlaceSearch<'_>) -> Option<Search> {
    let rest: Option<Vec<Value>> = search
        .arguments
        .iter()
        .skip(2)
        .map(|argument| argument.map(|term| Value::from_term(term.as_ref())))
        .collect();
    let test = test(search, &rest?)?;
    let (constant, is_first) = constant(search)?;
    Search::new(constant, is_first, test)
}

/// From where distances are asked; none of what is no distance from a place, or in metres.
pub fn place_proximity(search: &PlaceSearch<'_>) -> Option<Proximity> {
    let unit = match (search.function.strip_prefix(GEOF)?, search.arguments.get(2)) {
        ("distance" | "metricDistance", None) => Unit::METRE,
        ("distance", Some(unit)) => unit_of(&Value::from_term(unit.as_ref()?.as_ref()))?,
        _ => return None,
    };
    let (constant, is_first) = constant(search)?;
    Proximity::new(constant, is_first, unit)
}

/// The constant geometry, and whether it is the first of both.
fn constant(search: &PlaceSearch<'_>) -> Option<(Geometry, bool)> {
    let (constant, is_first) = match (search.arguments.first()?, search.arguments.get(1)?) {
        (Some(constant), None) => (constant, true),
        (None, Some(constant)) => (constant, false),
        _ => return None,
    };
    let Term::Literal(constant) = constant else { return None };
    Some((read::literal(constant.value(), constant.datatype().as_str()).ok()?, is_first))
}

fn test(search: &PlaceSearch<'_>, rest: &[Value]) -> Option<Test> {
    let most = match search.most {
        Some(most) => Some(number_of(&Value::from_term(most.as_ref()))?),
        None => None,
    };
    if let Some(reach) = virtuoso::reach(search.function, most, rest) {
        return reach;
    }
    let name = search.function.strip_prefix(GEOF)?;
    match (name, rest, most) {
        ("distance" | "metricDistance", [], Some(most)) => Some(Test::Distance { most, unit: Unit::METRE }),
        ("distance", [unit], Some(most)) => Some(Test::Distance { most, unit: unit_of(unit)? }),
        ("relate", [pattern], None) => Some(Test::Pattern(pattern.simple()?.to_string())),
        (name, [], None) => relate::named(name).map(Test::Relation),
        _ => None,
    }
}
