//! Whether two patterns are the same up to the names of their variables.
//!
//! What could differ from one run to the next, or is planned while the query runs, is never the same.

use crate::expr::{Aggregate, Expr};
use crate::logical::{Logical, LogicalOp as Op, QuadPattern};
use crate::plan::{GraphScope, Slot, SortKey, TermSlot, VarId};
use crate::var_set::VarSet;
use std::cell::Cell;

/// Pairs of members of joins that are compared for one pattern, at most: beyond, patterns count as different.
const PAIRS_MAX: u32 = 2_000;

/// Variables of one pattern and those of another that stand in their places, one to one.
#[derive(Debug, Clone, Default)]
pub(super) struct Renaming {
    pairs: Vec<(VarId, VarId)>,
}

impl Renaming {
    /// What stands for a variable of the first.
    pub fn get(&self, var: VarId) -> Option<VarId> {
        self.pairs.iter().find(|(from, _)| *from == var).map(|(_, to)| *to)
    }

    /// All pairs.
    pub fn pairs(&self) -> &[(VarId, VarId)] {
        &self.pairs
    }

    fn add(&mut self, from: VarId, to: VarId) -> bool {
        match self.pairs.iter().find(|(a, b)| *a == from || *b == to) {
            Some(pair) => *pair == (from, to),
            None => {
                self.pairs.push((from, to));
                true
            }
        }
    }

    fn add_all(&mut self, from: &[VarId], to: &[VarId]) -> bool {
        from.len() == to.len() && from.iter().zip(to).all(|(a, b)| self.add(*a, *b))
    }

    /// An expression with the other names; `None` where it is not the same whenever it is evaluated, or has variables without one.
    pub fn expr(&self, expr: &Expr) -> Option<Expr> {
        fn rename(expr: &mut Expr, renaming: &Renaming) -> Option<()> {
            match expr {
                Expr::Var(var) | Expr::Bound(var) => *var = renaming.get(*var)?,
                Expr::Exists(_) => return None,
                other => other.children_mut().into_iter().try_for_each(|child| rename(child, renaming))?,
            }
            Some(())
        }
        let mut renamed = expr.clone();
        rename(&mut renamed, self)?;
        (!expr.is_volatile()).then_some(renamed)
    }

    fn same_expr(&self, a: &Expr, b: &Expr) -> bool {
        self.expr(a).is_some_and(|renamed| renamed == *b)
    }
}

/// Which terms that one pattern delivers another may not.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dropped<'a> {
    /// None.
    None,
    /// Any of either pattern: good enough for a guess.
    Any,
    /// These variables of the first, which it has once only.
    Of(&'a VarSet),
}

/// Compares patterns.
pub(super) struct Matcher {
    left: Cell<u32>,
}

impl Matcher {
    pub fn new() -> Self {
        Self { left: Cell::new(PAIRS_MAX) }
    }

    /// Whether `b` is `a` with other names, those of `renaming` among them, to which the others are added. If not, `renaming` is void.
    pub fn same(&self, a: &Logical, b: &Logical, renaming: &mut Renaming) -> bool {
        match (&a.op, &b.op) {
            (Op::Unit, Op::Unit) => true,
            (Op::Empty, Op::Empty) => a.vars.is_empty() && b.vars.is_empty(),
            (Op::Values { columns: a, rows }, Op::Values { columns: b, rows: others }) => {
                rows == others && renaming.add_all(a, b)
            }
            (Op::Ids { var, list }, Op::Ids { var: other, list: others }) => {
                list == others && renaming.add_all(&[*var], &[*other])
            }
            // Bindings of other outer variables are others.
            (Op::Domain { columns: a, .. }, Op::Domain { columns: b, .. }) => {
                a == b && renaming.add_all(a, b)
            }
            (Op::Scan(a), Op::Scan(b)) => scan(a, b, Dropped::None, renaming),
            (Op::GraphNames { slot: a, among }, Op::GraphNames { slot: b, among: others }) => {
                among == others && slot(*a, *b, Dropped::None, renaming)
            }
            (
                Op::Path { subject, path, object, graph },
                Op::Path { subject: s, path: p, object: o, graph: g },
            ) => {
                let ends = term_slot(subject, s, renaming) && term_slot(object, o, renaming);
                path == p && ends && scope(graph, g, Dropped::None, renaming)
            }
            (Op::Spool { number, columns }, Op::Spool { number: n, columns: others }) => {
                number == n && reader(columns, others, Dropped::None, renaming)
            }
            (Op::Join { members, filters }, Op::Join { members: m, filters: f }) => {
                members.len() == m.len()
                    && self.members(members, &mut m.iter().collect(), renaming)
                    && exprs(filters, f, renaming)
            }
            _ => self.same_inputs(a, b, renaming),
        }
    }

    fn same_inputs(&self, a: &Logical, b: &Logical, renaming: &mut Renaming) -> bool {
        let mut both = |a: &Logical, b: &Logical| self.same(a, b, renaming);
        match (&a.op, &b.op) {
            (Op::LeftJoin { left, right, filter }, Op::LeftJoin { left: l, right: r, filter: f }) => {
                both(left, l) && both(right, r) && exprs(filter.as_slice(), f.as_slice(), renaming)
            }
            (
                Op::Exists { left, right, filter, negated },
                Op::Exists { left: l, right: r, filter: f, negated: n },
            ) => {
                let inputs = negated == n && both(left, l) && both(right, r);
                inputs && exprs(filter.as_slice(), f.as_slice(), renaming)
            }
            (Op::Minus { left, right }, Op::Minus { left: l, right: r }) => both(left, l) && both(right, r),
            (Op::Filter { input, exprs: e }, Op::Filter { input: i, exprs: f }) => {
                both(input, i) && exprs(e, f, renaming)
            }
            (Op::Extend { input, var, expr }, Op::Extend { input: i, var: v, expr: e }) => {
                both(input, i) && renaming.same_expr(expr, e) && renaming.add(*var, *v)
            }
            (
                Op::TripleTerm { input: Some(input), term, subject, predicate, object },
                Op::TripleTerm { input: Some(i), term: t, subject: s, predicate: p, object: o },
            ) => {
                let terms = [(subject, s), (predicate, p), (object, o)];
                both(input, i)
                    && renaming.add(*term, *t)
                    && terms.into_iter().all(|(a, b)| term_slot(a, b, renaming))
            }
            (Op::Union(a), Op::Union(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| both(a, b)),
            (Op::Project { input, columns }, Op::Project { input: i, columns: c }) => {
                both(input, i) && renaming.add_all(columns, c)
            }
            (Op::Distinct(a), Op::Distinct(b)) | (Op::Reduced(a), Op::Reduced(b)) => both(a, b),
            (Op::Sort { input, keys, limit }, Op::Sort { input: i, keys: k, limit: l }) => {
                let inputs = limit == l && keys.len() == k.len() && both(input, i);
                inputs && keys.iter().zip(k).all(|(a, b)| sort_key(a, b, renaming))
            }
            (Op::Slice { input, start, length }, Op::Slice { input: i, start: s, length: l }) => {
                start == s && length == l && both(input, i)
            }
            (
                Op::LimitBy { input, keys, start, length },
                Op::LimitBy { input: i, keys: k, start: s, length: l },
            ) => start == s && length == l && both(input, i) && renaming.add_all(keys, k),
            (Op::Group { input, keys, aggregates }, Op::Group { input: i, keys: k, aggregates: a }) => {
                both(input, i)
                    && renaming.add_all(keys, k)
                    && aggregates.len() == a.len()
                    && aggregates.iter().zip(a).all(|(a, b)| aggregate(a, b, renaming))
            }
            _ => false,
        }
    }

    /// Whether the members of one join are those of another, in any sequence.
    fn members(&self, members: &[Logical], others: &mut Vec<&Logical>, renaming: &mut Renaming) -> bool {
        let Some((first, rest)) = members.split_first() else { return others.is_empty() };
        for at in 0..others.len() {
            if !self.may_go_on() {
                return false;
            }
            let other = others.remove(at);
            let mut more = renaming.clone();
            if self.same(first, other, &mut more) && self.members(rest, others, &mut more) {
                *renaming = more;
                return true;
            }
            others.insert(at, other);
        }
        false
    }

    /// As [`Self::same`] of members of two joins, whose patterns need not deliver the same terms.
    pub fn same_member(
        &self,
        a: &Logical,
        b: &Logical,
        dropped: Dropped<'_>,
        renaming: &mut Renaming,
    ) -> bool {
        match (&a.op, &b.op) {
            _ if !self.may_go_on() => false,
            (Op::Scan(a), Op::Scan(b)) => scan(a, b, dropped, renaming),
            (Op::Spool { number, columns }, Op::Spool { number: n, columns: others }) => {
                number == n && reader(columns, others, dropped, renaming)
            }
            _ => self.same(a, b, renaming),
        }
    }

    fn may_go_on(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }
}

/// Whether two readers of a common sub-plan have the same columns of it, in any sequence.
fn reader(
    columns: &[(VarId, VarId)],
    others: &[(VarId, VarId)],
    dropped: Dropped<'_>,
    renaming: &mut Renaming,
) -> bool {
    let other = |there: VarId| others.iter().find(|(_, t)| *t == there).map(|(here, _)| *here);
    let known = |there: &VarId| columns.iter().any(|(_, t)| t == there);
    let mut add = |here: VarId, there: VarId| match (other(there), dropped) {
        (Some(other), _) => renaming.add(here, other),
        (None, Dropped::None) => false,
        (None, Dropped::Any) => true,
        (None, Dropped::Of(vars)) => vars.contains(here),
    };
    let all_known = matches!(dropped, Dropped::Any) || others.iter().all(|(_, there)| known(there));
    all_known && columns.iter().all(|(here, there)| add(*here, *there))
}

/// Whether two conjunctions have the same parts, in any sequence.
fn exprs(exprs: &[Expr], others: &[Expr], renaming: &Renaming) -> bool {
    let mut left: Vec<&Expr> = others.iter().collect();
    let mut take = |expr: &Expr| {
        let at = left.iter().position(|other| renaming.same_expr(expr, other));
        at.map(|at| left.swap_remove(at)).is_some()
    };
    exprs.len() == others.len() && exprs.iter().all(&mut take)
}

fn sort_key(a: &SortKey, b: &SortKey, renaming: &Renaming) -> bool {
    a.descending == b.descending && renaming.same_expr(&a.expr, &b.expr)
}

fn aggregate(a: &Aggregate, b: &Aggregate, renaming: &mut Renaming) -> bool {
    let arguments = match (&a.argument, &b.argument) {
        (None, None) => true,
        (Some(a), Some(b)) => renaming.same_expr(a, b),
        _ => false,
    };
    arguments
        && a.function == b.function
        && a.separator == b.separator
        && a.distinct == b.distinct
        && renaming.add(a.output, b.output)
}

fn scan(a: &QuadPattern, b: &QuadPattern, dropped: Dropped<'_>, renaming: &mut Renaming) -> bool {
    a.objects == b.objects
        && slot(a.subject, b.subject, dropped, renaming)
        && slot(a.predicate, b.predicate, dropped, renaming)
        && slot(a.object, b.object, dropped, renaming)
        && scope(&a.graph, &b.graph, dropped, renaming)
}

fn scope(a: &GraphScope, b: &GraphScope, dropped: Dropped<'_>, renaming: &mut Renaming) -> bool {
    match (a, b) {
        (GraphScope::Named { slot: a, among }, GraphScope::Named { slot: b, among: others }) => {
            among == others && slot(*a, *b, dropped, renaming)
        }
        _ => a == b,
    }
}

fn slot(a: Slot, b: Slot, dropped: Dropped<'_>, renaming: &mut Renaming) -> bool {
    match (a, b) {
        (Slot::Var(a), Slot::Var(b)) => renaming.add(a, b),
        (Slot::Any, Slot::Var(_)) => matches!(dropped, Dropped::Any),
        (Slot::Var(a), Slot::Any) => match dropped {
            Dropped::None => false,
            Dropped::Any => true,
            Dropped::Of(vars) => vars.contains(a),
        },
        _ => a == b,
    }
}

fn term_slot(a: &TermSlot, b: &TermSlot, renaming: &mut Renaming) -> bool {
    match (a, b) {
        (TermSlot::Var(a), TermSlot::Var(b)) => renaming.add(*a, *b),
        _ => a == b,
    }
}
