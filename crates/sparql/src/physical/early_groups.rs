//! Aggregation before joins: the rows of some members of a join are grouped by what the rest of the query sees of them, and each
//! group takes part in the join as one row (Yan and Larson, "Eager Aggregation and Lazy Aggregation", VLDB 1995).
//!
//! `SELECT ?f (AVG(xsd:float(?price)) AS ?a) { ?f a :Feature . ?offer :product ?p ; :price ?price . FILTER NOT EXISTS { ?p :feature ?f } }
//! GROUP BY ?f` pairs every feature with every offer; with the sum and the number of prices of each product it pairs features with products.
//!
//! COUNT becomes a sum of counts, AVG the quotient of a sum of sums and a sum of counts; MIN, MAX and SAMPLE stay what they are. SUM and
//! AVG only where it is known that no partial sum is too large unless the whole one is ([`super::sums`]).

use super::lowering::Lowering;
use super::node::group_count;
use super::sums::{self, Numbers};
use crate::aggregate::{AggregateFunction, Counts, InParts};
use crate::expr::{Aggregate, Expr, vars_of};
use crate::logical::{Logical, LogicalOp as Op};
use crate::plan::VarId;
use crate::var_set::VarSet;

/// Rows for each group, at least: else grouping twice does not pay.
const ROWS_PER_GROUP: f64 = 2.0;
/// The same of exact sums where no row is joined with several: there is little to gain, and it costs as much to make numbers of the sums.
const ROWS_PER_EXACT_SUM: f64 = 10.0;
/// Ways that are weighed, the most promising ones.
const WAYS_MAX: usize = 3;
/// Members of joins that are looked at.
const MEMBERS_MAX: usize = 16;
/// Members of a part: each part is planned to see how many rows it has, which for larger ones takes long.
const PART_MEMBERS_MAX: usize = 6;

/// Other ways to have a group, with some members of the join below, which has so many rows, grouped first.
pub(super) fn alternatives(
    input: &Logical,
    input_rows: f64,
    keys: &[VarId],
    aggregates: &[Aggregate],
    lowering: &Lowering<'_>,
) -> Vec<Logical> {
    let counts = |a: &Aggregate| counted_rows(a, input);
    let aggregates: Vec<Aggregate> = aggregates.iter().map(counts).collect();
    // The mean of nothing is 0, and not the quotient of two zeros.
    let is_mean = |a: &Aggregate| matches!(a.function.in_parts, InParts::Mean { .. });
    let of_nothing = keys.is_empty() && aggregates.iter().any(is_mean);
    if of_nothing || !aggregates.iter().all(may_be_divisible) || input_is_volatile(input) {
        return Vec::new();
    }
    let arguments = vars_of(aggregates.iter().filter_map(|a| a.argument.as_ref()));
    let seen: VarSet = keys.iter().copied().collect();
    let Some(site) = Site::find(input, &seen) else { return Vec::new() };
    // Facts of the data last: a plan that relies on them is right for this version only.
    let sums: Option<Vec<Option<Numbers>>> =
        aggregates.iter().map(|a| divisible_sums(a, input, lowering)).collect();
    let Some(sums) = sums else { return Vec::new() };
    let has_exact = sums.iter().flatten().any(|numbers| *numbers != Numbers::Floating);
    let mut parts: Vec<(f64, Part)> = site
        .candidates(&arguments)
        .into_iter()
        .filter_map(|members| {
            let part = site.part(&members, &arguments)?;
            let planned = lowering.best(&part.rows(), &part.seen);
            let rows = planned.node.rows;
            let each = rows / group_count(&planned, part.seen.as_slice()).max(1.0);
            let least = if has_exact && input_rows <= rows { ROWS_PER_EXACT_SUM } else { ROWS_PER_GROUP };
            (each >= least || lowering.groups_early).then_some((each * rows, part))
        })
        .collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    parts.truncate(WAYS_MAX);
    parts.into_iter().map(|(_, part)| site.grouped(&part, keys, &aggregates, lowering)).collect()
}

/// `COUNT(?x)` of a variable that every row binds counts rows.
fn counted_rows(aggregate: &Aggregate, input: &Logical) -> Aggregate {
    match (aggregate.function.counts, &aggregate.argument) {
        (Counts::Bound { rows }, Some(Expr::Var(var)))
            if !aggregate.distinct && input.certain.contains(*var) =>
        {
            Aggregate::new(aggregate.output, rows, None)
        }
        _ => aggregate.clone(),
    }
}

/// Whether an aggregate of all rows follows from those of parts, if its sums do.
fn may_be_divisible(aggregate: &Aggregate) -> bool {
    let volatile = aggregate.argument.as_ref().is_some_and(|e| e.is_volatile() || e.has_exists());
    !volatile
        && match aggregate.function.in_parts {
            InParts::Never => false,
            InParts::Same => true,
            InParts::As(_) | InParts::Sums | InParts::Mean { .. } => !aggregate.distinct,
        }
}

/// What the sums of an aggregate are sums of, if there are any and they may be made in parts; `None`: they may not.
fn divisible_sums(
    aggregate: &Aggregate,
    input: &Logical,
    lowering: &Lowering<'_>,
) -> Option<Option<Numbers>> {
    if !matches!(aggregate.function.in_parts, InParts::Sums | InParts::Mean { .. }) {
        return Some(None);
    }
    sums::numbers(aggregate.argument.as_ref()?, input, lowering.stats).map(Some)
}

/// What is volatile is evaluated once a row, so rows must stay as they are.
fn input_is_volatile(input: &Logical) -> bool {
    match &input.op {
        Op::Join { filters, .. } => filters.iter().any(|f| f.is_volatile() || f.has_exists()),
        Op::Filter { .. } | Op::Scan(_) => false,
        Op::Exists { left, filter, .. } => {
            filter.as_ref().is_some_and(Expr::is_volatile) || input_is_volatile(left)
        }
        Op::Project { input, .. } => input_is_volatile(input),
        _ => true,
    }
}

/// A join under a group, with what stands between them.
struct Site<'a> {
    members: &'a [Logical],
    filters: &'a [Expr],
    /// What stands between, from the group down.
    between: Vec<&'a Logical>,
    /// Variables of the join that the group's keys and what stands between look at.
    seen: VarSet,
}

/// Members that are grouped by themselves.
struct Part {
    members: Vec<Logical>,
    filters: Vec<Expr>,
    rest: Vec<Logical>,
    rest_filters: Vec<Expr>,
    /// The variables that others see: the keys.
    seen: VarSet,
}

impl Part {
    fn rows(&self) -> Logical {
        Logical::join(self.members.clone(), self.filters.clone())
    }
}

impl<'a> Site<'a> {
    fn find(input: &'a Logical, keys: &VarSet) -> Option<Self> {
        let (mut at, mut between, mut seen) = (input, Vec::new(), keys.clone());
        loop {
            match &at.op {
                Op::Join { members, filters } if members.len() <= MEMBERS_MAX => {
                    return Some(Self { members, filters, between, seen });
                }
                Op::Exists { left, right, filter, .. } => {
                    seen.extend(&left.vars.intersect(&right.vars));
                    seen.extend(&vars_of(filter));
                    between.push(at);
                    at = left;
                }
                Op::Project { input, columns } if columns.iter().all(|v| input.vars.contains(*v)) => {
                    between.push(at);
                    at = input;
                }
                _ => return None,
            }
        }
    }

    /// Sets of members worth a look: what is connected, and what is when all are cut apart at one variable.
    fn candidates(&self, arguments: &VarSet) -> Vec<Vec<usize>> {
        let mut all = VarSet::new();
        self.members.iter().for_each(|m| all.extend(&m.vars));
        let mut found: Vec<Vec<usize>> = Vec::new();
        for cut in std::iter::once(None).chain(all.iter().map(Some)) {
            for members in self.components(cut) {
                let vars = self.vars_of(&members);
                let small = members.len() <= PART_MEMBERS_MAX;
                if small && arguments.is_subset(&vars) && !found.contains(&members) {
                    found.push(members);
                }
            }
        }
        found
    }

    fn vars_of(&self, members: &[usize]) -> VarSet {
        let mut vars = VarSet::new();
        members.iter().filter_map(|i| self.members.get(*i)).for_each(|m| vars.extend(&m.vars));
        vars
    }

    /// Members connected by variables other than `cut`.
    fn components(&self, cut: Option<VarId>) -> Vec<Vec<usize>> {
        let mut components: Vec<(VarSet, Vec<usize>)> = Vec::new();
        for (i, member) in self.members.iter().enumerate() {
            let mut vars = member.vars.clone();
            cut.into_iter().for_each(|cut| vars.remove(cut));
            let mut own = vec![i];
            let (touching, others): (Vec<_>, Vec<_>) =
                components.into_iter().partition(|(v, _)| !v.is_disjoint(&vars));
            for (v, more) in touching {
                vars.extend(&v);
                own.extend(more);
            }
            own.sort_unstable();
            components = others;
            components.push((vars, own));
        }
        components.into_iter().map(|(_, members)| members).collect()
    }

    /// These members as a part; `None` where they cannot be grouped by themselves, or where that would change nothing.
    fn part(&self, members: &[usize], arguments: &VarSet) -> Option<Part> {
        let (inside, rest): (Vec<_>, Vec<_>) =
            self.members.iter().enumerate().partition(|(i, _)| members.contains(i));
        let clone = |members: Vec<(usize, &Logical)>| members.into_iter().map(|(_, m)| m.clone()).collect();
        let (inside, rest): (Vec<Logical>, Vec<Logical>) = (clone(inside), clone(rest));
        if rest.is_empty() && !self.between.iter().any(|op| matches!(op.op, Op::Exists { .. })) {
            return None;
        }
        // What takes a term apart needs it from the others.
        let is_apart = |member: &Logical| {
            let Op::TripleTerm { input: None, term, .. } = &member.op else { return false };
            let has_term = |m: &Logical| !matches!(m.op, Op::TripleTerm { .. }) && m.vars.contains(*term);
            !inside.iter().any(has_term)
        };
        if inside.iter().any(is_apart) {
            return None;
        }
        let joined = Logical::join(inside, Vec::new());
        let Op::Join { members: inside, .. } = joined.op else { return None };
        let own = |f: &Expr| {
            let vars = f.vars();
            !vars.is_empty() && vars.is_subset(&joined.certain)
        };
        let (filters, rest_filters): (Vec<Expr>, Vec<Expr>) = self.filters.iter().cloned().partition(own);
        let mut outside = self.seen.union(&vars_of(&rest_filters));
        rest.iter().for_each(|m| outside.extend(&m.vars));
        let seen = joined.vars.intersect(&outside);
        // Without keys there would be a group also where there are no rows.
        let fits = !seen.is_empty() && seen.is_subset(&joined.certain) && arguments.is_subset(&joined.vars);
        let less = seen.as_slice().len() < joined.vars.as_slice().len();
        // A group alone was made by an earlier step.
        let alone = matches!(inside.as_slice(), [Logical { op: Op::Group { .. }, .. }]);
        (fits && less && !alone).then_some(Part { members: inside, filters, rest, rest_filters, seen })
    }

    /// The whole group with a part grouped by itself.
    fn grouped(
        &self,
        part: &Part,
        keys: &[VarId],
        aggregates: &[Aggregate],
        lowering: &Lowering<'_>,
    ) -> Logical {
        let pairs: Vec<Split> = aggregates.iter().map(|a| Split::of(a, lowering)).collect();
        let inner: Vec<Aggregate> = pairs.iter().flat_map(|pair| pair.inner.clone()).collect();
        let partial: Vec<VarId> = inner.iter().map(|a| a.output).collect();
        let group = Logical::group(part.rows(), part.seen.as_slice().to_vec(), inner);
        let mut members = part.rest.clone();
        members.push(group);
        let joined = Logical::group_of(members, part.rest_filters.clone());
        let input = self.between.iter().rev().fold(joined, |below, op| match &op.op {
            Op::Exists { right, filter, negated, .. } => {
                Logical::exists(below, (**right).clone(), filter.clone(), *negated)
            }
            Op::Project { columns, .. } => {
                let kept = columns.iter().copied().filter(|v| below.vars.contains(*v));
                let columns = kept.chain(partial.iter().copied()).collect();
                Logical::project(below, columns)
            }
            _ => below,
        });
        let outer = pairs.iter().flat_map(|pair| pair.outer.clone()).collect();
        let whole = Logical::group(input, keys.to_vec(), outer);
        let computed = pairs.into_iter().filter_map(|pair| pair.result);
        let whole = computed.fold(whole, |input, (var, expr)| Logical::extend(input, var, expr));
        Logical::project(whole, keys.iter().copied().chain(aggregates.iter().map(|a| a.output)).collect())
    }
}

/// An aggregate in two steps.
struct Split {
    inner: Vec<Aggregate>,
    outer: Vec<Aggregate>,
    /// What follows from those.
    result: Option<(VarId, Expr)>,
}

impl Split {
    fn of(aggregate: &Aggregate, lowering: &Lowering<'_>) -> Self {
        let Aggregate { output, function, .. } = *aggregate;
        let (partial, argument) = (lowering.fresh(), aggregate.argument.clone());
        let of = |output: VarId, function: &'static AggregateFunction, var: VarId| {
            Aggregate::new(output, function, Some(Expr::Var(var)))
        };
        let again = match function.in_parts {
            InParts::As(other) => other,
            InParts::Mean { sum, rows, all_rows } => {
                let (part_rows, total, count) = (lowering.fresh(), lowering.fresh(), lowering.fresh());
                let quotient = Expr::Divide(Box::new(Expr::Var(total)), Box::new(Expr::Var(count)));
                return Self {
                    inner: vec![
                        Aggregate::new(partial, sum, argument),
                        Aggregate::new(part_rows, rows, None),
                    ],
                    outer: vec![of(total, sum, partial), of(count, all_rows, part_rows)],
                    result: Some((output, quotient)),
                };
            }
            InParts::Never | InParts::Same | InParts::Sums => function,
        };
        Self {
            inner: vec![Aggregate::new(partial, function, argument)],
            outer: vec![of(output, again, partial)],
            result: None,
        }
    }
}
