//! Two variables that must be one term are one variable: `FILTER(sameTerm(?a, ?b))`, and `FILTER(?a = ?b)` where one of the two is
//! certainly an IRI, a blank node or an `xsd:string`, become a join.
//!
//! Those are equal to nothing but themselves. Subjects, predicates and graph names are such terms; of the objects of a
//! predicate the index tells, because the ids of other terms come behind theirs.

use super::groups::each_group;
use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp as Op, QuadPattern, graph_var};
use crate::plan::{GraphScope, Slot, VarId};
use crate::statistics::Statistics;
use lode_packed::Order;
use lode_rdf::{Kind, ValueId};

/// Rewrites all join groups and filtered patterns.
pub(super) fn unify(logical: Logical, stats: &dyn Statistics) -> Logical {
    each_group(logical, &mut |members, filters| group(members, filters, stats))
}

fn group(mut members: Vec<Logical>, mut filters: Vec<Expr>, stats: &dyn Statistics) -> Logical {
    let mut replaced = Vec::new();
    while !stats.is_cancelled()
        && let Some((at, kept, gone)) = find(&members, &filters, stats)
    {
        filters.remove(at);
        members.iter_mut().filter(|m| m.vars.contains(gone)).for_each(|m| *m = renamed(m, gone, kept));
        filters.iter_mut().for_each(|filter| filter.rename(gone, kept));
        replaced.push((gone, kept));
    }
    let joined = Logical::group_of(members, filters);
    // The variables that were replaced are columns still. One may have been put in for another before.
    replaced
        .into_iter()
        .rev()
        .fold(joined, |input, (gone, kept)| Logical::extend(input, gone, Expr::Var(kept)))
}

/// A condition that makes two variables the same which patterns bind, and nothing else of the group.
fn find(members: &[Logical], filters: &[Expr], stats: &dyn Statistics) -> Option<(usize, VarId, VarId)> {
    let in_exists = |var| filters.iter().any(|f| f.has_exists() && f.vars().contains(var));
    let in_patterns = |var| {
        let mut having = members.iter().filter(|m| m.vars.contains(var)).peekable();
        having.peek().is_some() && having.all(|m| matches!(m.op, Op::Scan(_)))
    };
    filters.iter().enumerate().find_map(|(i, filter)| {
        let (a, b, exact) = match filter {
            Expr::SameTerm(a, b) => (a, b, true),
            Expr::Equal(a, b) => (a, b, false),
            _ => return None,
        };
        let (Expr::Var(a), Expr::Var(b)) = (&**a, &**b) else { return None };
        let same = exact || is_only_itself(*a, members, stats) || is_only_itself(*b, members, stats);
        let free = |var: VarId| in_patterns(var) && !in_exists(var);
        (a != b && free(*a) && free(*b) && same).then_some((i, *a, *b))
    })
}

/// Whether a pattern binds a variable to terms only that are equal to nothing else.
fn is_only_itself(var: VarId, members: &[Logical], stats: &dyn Statistics) -> bool {
    let slot = Slot::Var(var);
    members.iter().any(|member| match &member.op {
        Op::Scan(pattern) => {
            pattern.subject == slot
                || pattern.predicate == slot
                || graph_var(&pattern.graph) == Some(var)
                || (pattern.object == slot && has_simple_objects(pattern, stats))
        }
        _ => false,
    })
}

/// Whether all objects of the pattern's predicate are IRIs, blank nodes and `xsd:string`s.
fn has_simple_objects(pattern: &QuadPattern, stats: &dyn Statistics) -> bool {
    let Slot::Const(predicate) = pattern.predicate else { return false };
    let simple = ValueId::UNDEF..ValueId::new(Kind::LangString, 0);
    stats.count_between(Order::Posg, &[predicate], &simple) == stats.count(Order::Posg, &[predicate])
}

fn renamed(member: &Logical, gone: VarId, kept: VarId) -> Logical {
    let Op::Scan(pattern) = &member.op else { return member.clone() };
    let put = |slot: Slot| if slot == Slot::Var(gone) { Slot::Var(kept) } else { slot };
    let graph = match &pattern.graph {
        GraphScope::Named { slot, among } => GraphScope::Named { slot: put(*slot), among: among.clone() },
        other => other.clone(),
    };
    Logical::scan(pattern.with_slots(put, graph))
}
