//! A variable that must be one term is that term: `FILTER(?x = <iri>)` and `sameTerm(?x, t)` go into the patterns, where they
//! become part of an index prefix.
//!
//! Only IRIs, for `=`: literals can be equal without being the same term.

use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp as Op, QuadPattern};
use crate::plan::{GraphScope, Slot, VarId};
use crate::statistics::Statistics;
use lode_rdf::Term;

/// Rewrites all join groups and filtered patterns.
pub(super) fn replace(logical: Logical, stats: &dyn Statistics) -> Logical {
    let logical = logical.map_inputs(&mut |input| replace(input, stats));
    match logical.op {
        Op::Filter { input, exprs } if matches!(input.op, Op::Scan(_)) => group(vec![*input], exprs, stats),
        Op::Join { members, filters } => group(members, filters, stats),
        op => Logical { op, ..logical },
    }
}

fn group(mut members: Vec<Logical>, mut filters: Vec<Expr>, stats: &dyn Statistics) -> Logical {
    let mut known: Vec<(VarId, Term)> = Vec::new();
    while let Some((at, var, term)) = find(&members, &filters) {
        filters.remove(at);
        let id = stats.id_of(&term);
        for member in &mut members {
            if member.vars.contains(var) {
                *member = with_constant(member, var, id);
            }
        }
        for filter in &mut filters {
            filter.substitute(var, &term);
        }
        known.push((var, term));
    }
    // The variables that were replaced are columns still.
    let joined = match (members.len(), filters.is_empty()) {
        (1, true) => members.swap_remove(0),
        (1, false) => Logical::filter(members.swap_remove(0), filters),
        _ => Logical::join(members, filters),
    };
    known.into_iter().fold(joined, |input, (var, term)| Logical::extend(input, var, Expr::Const(term)))
}

/// A filter that makes a variable constant which only patterns bind.
fn find(members: &[Logical], filters: &[Expr]) -> Option<(usize, VarId, Term)> {
    filters.iter().enumerate().find_map(|(i, filter)| {
        let (var, term) = required(filter)?;
        let mut bound = false;
        for member in members.iter().filter(|m| m.vars.contains(var)) {
            if !matches!(member.op, Op::Scan(_)) {
                return None;
            }
            bound = true;
        }
        let in_exists = filters.iter().any(|f| f.has_exists() && f.vars().contains(var));
        (bound && !in_exists).then(|| (i, var, term.clone()))
    })
}

/// The variable and term of a condition that makes them the same.
fn required(filter: &Expr) -> Option<(VarId, &Term)> {
    let (a, b, exact) = match filter {
        Expr::SameTerm(a, b) => (a, b, true),
        Expr::Equal(a, b) => (a, b, false),
        _ => return None,
    };
    let (var, term) = match (&**a, &**b) {
        (Expr::Var(var), Expr::Const(term)) | (Expr::Const(term), Expr::Var(var)) => (*var, term),
        _ => return None,
    };
    (exact || matches!(term, Term::NamedNode(_))).then_some((var, term))
}

fn with_constant(member: &Logical, var: VarId, id: Option<lode_rdf::ValueId>) -> Logical {
    let mut rest = member.vars.clone();
    rest.remove(var);
    let (Op::Scan(pattern), Some(id)) = (&member.op, id) else { return Logical::empty(rest) };
    let put = |slot: Slot| if slot == Slot::Var(var) { Slot::Const(id) } else { slot };
    let graph = match &pattern.graph {
        GraphScope::Named { slot: Slot::Var(g), among } if *g == var => {
            if among.as_deref().is_some_and(|ids| ids.binary_search(&id).is_err()) {
                return Logical::empty(rest);
            }
            GraphScope::Named { slot: Slot::Const(id), among: None }
        }
        other => other.clone(),
    };
    Logical::scan(QuadPattern {
        subject: put(pattern.subject),
        predicate: put(pattern.predicate),
        object: put(pattern.object),
        graph,
    })
}
