//! Solution mappings and the relations between them (SPARQL 1.1 section 18.3).

use oxrdf::{BlankNode, Term, Variable};
use std::collections::BTreeMap;

/// A partial function from variables to terms.
pub(super) type Solution = BTreeMap<Variable, Term>;

/// A multiset of solutions, in some order.
pub(super) type Solutions = Vec<Solution>;

/// The name under which a solution carries its own identity once BNODE(text) has been evaluated for it.
const IDENTITY: &str = "_:solution";

/// The variable that stands for a blank node of a query pattern. No query can contain it, because of its name.
pub(super) fn blank_variable(node: &BlankNode) -> Variable {
    Variable::new_unchecked(format!("_:{}", node.as_str()))
}

/// The variable of a solution's own identity.
pub(super) fn identity_variable() -> Variable {
    Variable::new_unchecked(IDENTITY)
}

/// Whether a variable is none of the query's own.
pub(super) fn is_hidden(variable: &Variable) -> bool {
    variable.as_str().starts_with("_:")
}

/// Whether both agree on all variables that they share.
pub(super) fn compatible(a: &Solution, b: &Solution) -> bool {
    a.iter().all(|(v, t)| v.as_str() == IDENTITY || b.get(v).is_none_or(|u| u == t))
}

/// Whether they share a variable.
pub(super) fn share_variable(a: &Solution, b: &Solution) -> bool {
    a.keys().any(|v| b.contains_key(v))
}

/// The union of two compatible solutions.
pub(super) fn merge(a: &Solution, b: &Solution) -> Solution {
    let mut merged = b.clone();
    merged.extend(a.iter().map(|(v, t)| (v.clone(), t.clone())));
    merged
}
