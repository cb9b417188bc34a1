//! Conditions on where something is: calls of functions of a geometry and a constant one, and comparisons of what they give with a number. What they mean is
//! known to who has an index of geometries.

use crate::expr::Expr;
use crate::variable::VarId;
use lode_rdf::Term;

/// How names of functions of geometries begin.
const OF_GEOMETRIES: [&str; 3] = [
    "http://www.opengis.net/def/function/geosparql/",
    "bif:st_",
    "http://www.openlinksw.com/schemas/bif#st_",
];

/// A condition on the geometries that a variable is.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceSearch<'e> {
    /// The function.
    pub function: &'e str,
    /// Its arguments; none for the variable.
    pub arguments: Vec<Option<&'e Term>>,
    /// The number that what it gives must not exceed; none where it must be true.
    pub most: Option<&'e Term>,
}

impl<'e> PlaceSearch<'e> {
    /// The variable and what is asked of it, if a condition is one.
    pub(crate) fn of(filter: &'e Expr) -> Option<(VarId, Self)> {
        match filter {
            Expr::Less(call, most) | Expr::LessOrEqual(call, most) => compared(call, most),
            Expr::Greater(most, call) | Expr::GreaterOrEqual(most, call) => compared(call, most),
            call => of_call(call, None),
        }
    }

    /// The variable and what is asked of it, if an expression measures something.
    pub(crate) fn measured(call: &'e Expr) -> Option<(VarId, Self)> {
        of_call(call, None)
    }
}

fn compared<'e>(call: &'e Expr, most: &'e Expr) -> Option<(VarId, PlaceSearch<'e>)> {
    match most {
        Expr::Const(most) => of_call(call, Some(most)),
        _ => None,
    }
}

fn of_call<'e>(call: &'e Expr, most: Option<&'e Term>) -> Option<(VarId, PlaceSearch<'e>)> {
    let Expr::Call(callee, arguments) = call else { return None };
    if !OF_GEOMETRIES.iter().any(|start| callee.name().starts_with(start)) {
        return None;
    }
    let mut var = None;
    let arguments = arguments.iter().map(|argument| match argument {
        Expr::Const(term) => Some(Some(term)),
        Expr::Var(name) if var.is_none() => {
            var = Some(*name);
            Some(None)
        }
        _ => None,
    });
    let arguments: Vec<_> = arguments.collect::<Option<_>>()?;
    if arguments.len() < 2 {
        return None;
    }
    Some((var?, PlaceSearch { function: callee.name(), arguments, most }))
}
