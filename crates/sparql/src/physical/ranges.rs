//! Comparisons with constants become ranges of ids: `FILTER(?date >= "2008-05-01"^^xsd:date)` over `?review dc:date ?date` need not
//! read the reviews before May.
//!
//! That holds where all objects of the pattern are inline literals of one kind, which the block index tells: ids of a kind ascend like
//! their values. The condition stays; the range only leaves out what it would drop.

use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp, QuadPattern, graph_var};
use crate::plan::{Slot, VarId};
use crate::statistics::Statistics;
use lode_packed::Order;
use lode_rdf::inline::bounds;
use lode_rdf::{Kind, LiteralRef, Term, ValueId};
use std::borrow::Cow;
use std::ops::Range;

/// Kinds that numbers of a predicate are likely to have.
const NUMBERS: [Kind; 3] = [Kind::Integer, Kind::Decimal, Kind::Int];

/// The members of a join group with the ranges that its conditions imply, and for each condition whether the number of rows of
/// the members now tells what it keeps.
pub(super) fn narrowed<'a>(
    members: &'a [Logical],
    filters: &[Expr],
    stats: &dyn Statistics,
) -> (Cow<'a, [Logical]>, Vec<bool>) {
    let mut counted = vec![false; filters.len()];
    let limits: Vec<(usize, Limit<'_>)> =
        filters.iter().enumerate().filter_map(|(i, filter)| Some((i, Limit::of(filter)?))).collect();
    if limits.is_empty() {
        return (Cow::Borrowed(members), counted);
    }
    let narrow = |member: &Logical| {
        let LogicalOp::Scan(pattern) = &member.op else { return member.clone() };
        let Some(var) = object_alone(pattern) else { return member.clone() };
        let own: Vec<&(usize, Limit<'_>)> = limits.iter().filter(|(_, limit)| limit.var == var).collect();
        let limits: Vec<&Limit<'_>> = own.iter().map(|(_, limit)| limit).collect();
        match range(pattern, &limits, stats) {
            Some(range) => {
                own.iter().for_each(|(i, _)| counted[*i] = true);
                Logical::scan(QuadPattern { objects: Some(range), ..pattern.clone() })
            }
            None => member.clone(),
        }
    };
    let members = members.iter().map(narrow).collect();
    (Cow::Owned(members), counted)
}

/// The object's variable, if the predicate is a constant and no other position has it.
fn object_alone(pattern: &QuadPattern) -> Option<VarId> {
    let Slot::Var(var) = pattern.object else { return None };
    let elsewhere = pattern.subject == pattern.object || graph_var(&pattern.graph) == Some(var);
    (matches!(pattern.predicate, Slot::Const(_)) && !elsewhere).then_some(var)
}

/// A condition that a variable's value is not beyond a literal's, on one side or on both.
struct Limit<'a> {
    var: VarId,
    literal: LiteralRef<'a>,
    lower: bool,
    upper: bool,
}

impl<'a> Limit<'a> {
    fn of(filter: &'a Expr) -> Option<Self> {
        let (a, b, lower, upper) = match filter {
            Expr::Equal(a, b) | Expr::SameTerm(a, b) => (a, b, true, true),
            Expr::Less(a, b) | Expr::LessOrEqual(a, b) => (a, b, false, true),
            Expr::Greater(a, b) | Expr::GreaterOrEqual(a, b) => (a, b, true, false),
            _ => return None,
        };
        match (&**a, &**b) {
            (Expr::Var(var), Expr::Const(Term::Literal(literal))) => {
                Some(Self { var: *var, literal: literal.as_ref(), lower, upper })
            }
            (Expr::Const(Term::Literal(literal)), Expr::Var(var)) => {
                Some(Self { var: *var, literal: literal.as_ref(), lower: upper, upper: lower })
            }
            _ => None,
        }
    }
}

/// The ids that objects of a pattern have within all limits; `None` where that cannot be told.
fn range(pattern: &QuadPattern, limits: &[&Limit<'_>], stats: &dyn Statistics) -> Option<Range<ValueId>> {
    let first = limits.first()?;
    let (order, prefix) = match (pattern.subject, pattern.predicate) {
        (Slot::Const(subject), Slot::Const(predicate)) => (Order::Psog, vec![predicate, subject]),
        (_, Slot::Const(predicate)) => (Order::Posg, vec![predicate]),
        _ => return None,
    };
    let all = stats.count(order, &prefix);
    let whole = |kind: Kind| ValueId::new(kind, 0)..after(kind);
    let own = lode_rdf::inline::datatype_kind(first.literal.datatype().as_str())?;
    let has_all = |kind: &Kind| stats.count_between(order, &prefix, &whole(*kind)) == all;
    let kind = std::iter::once(own).chain(NUMBERS.into_iter().filter(|_| is_number(own))).find(has_all)?;
    let (mut range, mut known) = (whole(kind), false);
    for limit in limits {
        if limit.lower
            && let Some(least) = bounds::least_id(kind, limit.literal)
        {
            (range.start, known) = (range.start.max(least), true);
        }
        if limit.upper
            && let Some(greatest) = bounds::greatest_id(kind, limit.literal)
        {
            let end = ValueId::from_bits(greatest.to_bits() + 1);
            (range.end, known) = (range.end.min(end), true);
        }
    }
    range.end = range.end.max(range.start);
    known.then_some(range)
}

fn is_number(kind: Kind) -> bool {
    kind.is_integer() || matches!(kind, Kind::Decimal | Kind::Double | Kind::Float)
}

/// The first id behind those of a kind.
fn after(kind: Kind) -> ValueId {
    ValueId::from_bits((u64::from(kind as u8) + 1) << lode_rdf::value_id::PAYLOAD_BITS)
}
