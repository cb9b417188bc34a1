//! Comparisons with constants become ranges of ids: `FILTER(?date >= "2008-05-01"^^xsd:date)` over `?review dc:date ?date` need not
//! read the reviews before May.
//!
//! That holds where all objects of the pattern are inline literals of one kind, which the block index tells: ids of a kind ascend like
//! their values. Where all are strings, all are strings with languages, or all are IRIs, a test for the beginning of the text is a range as well
//! ([`super::prefixes`]). The condition stays; the range only leaves out what it would drop.

use super::objects::{Objects, whole};
use super::prefixes::{self, Prefix};
use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp, QuadPattern, graph_var};
use crate::plan::{Slot, VarId};
use crate::statistics::Statistics;
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
        let (range, exact) = range(pattern, &limits, stats);
        match range {
            Some(range) => {
                own.iter().zip(exact).for_each(|((i, _), exact)| counted[*i] = exact);
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

/// A condition that limits a variable.
struct Limit<'a> {
    var: VarId,
    bound: Bound<'a>,
}

enum Bound<'a> {
    /// The value is not beyond a literal's, on one side or on both.
    Value { literal: LiteralRef<'a>, lower: bool, upper: bool },
    /// The text begins with this one.
    Prefix(Prefix),
}

impl<'a> Limit<'a> {
    fn of(filter: &'a Expr) -> Option<Self> {
        let (a, b, lower, upper) = match filter {
            Expr::Equal(a, b) | Expr::SameTerm(a, b) => (a, b, true, true),
            Expr::Less(a, b) | Expr::LessOrEqual(a, b) => (a, b, false, true),
            Expr::Greater(a, b) | Expr::GreaterOrEqual(a, b) => (a, b, true, false),
            _ => {
                let (var, prefix) = prefixes::of(filter)?;
                return Some(Self { var, bound: Bound::Prefix(prefix) });
            }
        };
        let (var, literal, lower, upper) = match (&**a, &**b) {
            (Expr::Var(var), Expr::Const(Term::Literal(literal))) => (*var, literal, lower, upper),
            (Expr::Const(Term::Literal(literal)), Expr::Var(var)) => (*var, literal, upper, lower),
            _ => return None,
        };
        Some(Self { var, bound: Bound::Value { literal: literal.as_ref(), lower, upper } })
    }
}

/// The ids that objects of a pattern have within all limits, `None` where that cannot be told; and for each limit whether they say all
/// that it says.
fn range(
    pattern: &QuadPattern,
    limits: &[&Limit<'_>],
    stats: &dyn Statistics,
) -> (Option<Range<ValueId>>, Vec<bool>) {
    let mut exact = vec![false; limits.len()];
    let Some(objects) = Objects::of(pattern, stats) else { return (None, exact) };
    let mut range: Option<Range<ValueId>> = None;
    let mut kind = None;
    for (limit, exact) in limits.iter().zip(&mut exact) {
        let found = match &limit.bound {
            Bound::Prefix(prefix) => {
                let ids = objects.text_kind().and_then(|kind| stats.ids_with_prefix(kind, &prefix.text));
                *exact = prefix.exact && ids.is_some();
                ids
            }
            Bound::Value { literal, lower, upper } => {
                kind = kind.or_else(|| objects.kind_for(*literal));
                let ids = kind.and_then(|kind| value_range(kind, *literal, *lower, *upper));
                *exact = ids.is_some();
                ids
            }
        };
        let Some(found) = found else { continue };
        let all = range.unwrap_or_else(|| found.clone());
        let (start, end) = (all.start.max(found.start), all.end.min(found.end));
        range = Some(start..end.max(start));
    }
    (range, exact)
}

impl Objects<'_> {
    /// The inline kind that they all have, if it may be compared with a literal.
    fn kind_for(&self, literal: LiteralRef<'_>) -> Option<Kind> {
        let own = lode_rdf::inline::datatype_kind(literal.datatype().as_str())?;
        let numbers = NUMBERS.into_iter().filter(|_| is_number(own));
        std::iter::once(own).chain(numbers).find(|kind| self.are_all(*kind))
    }

    /// The kind of text that they all are.
    fn text_kind(&self) -> Option<Kind> {
        [Kind::String, Kind::LangString, Kind::Iri].into_iter().find(|kind| self.are_all(*kind))
    }
}

/// The ids of a kind whose values are not beyond a literal's.
fn value_range(kind: Kind, literal: LiteralRef<'_>, lower: bool, upper: bool) -> Option<Range<ValueId>> {
    let least = if lower { bounds::least_id(kind, literal) } else { None };
    let greatest = if upper { bounds::greatest_id(kind, literal) } else { None };
    if least.is_none() && greatest.is_none() {
        return None;
    }
    let all = whole(kind);
    let end = greatest.map_or(all.end, |id| ValueId::from_bits(id.to_bits() + 1));
    Some(least.unwrap_or(all.start)..end)
}

fn is_number(kind: Kind) -> bool {
    kind.is_integer() || matches!(kind, Kind::Decimal | Kind::Double | Kind::Float)
}
