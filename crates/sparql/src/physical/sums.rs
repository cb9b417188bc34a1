//! Which numbers an expression gives, as far as SUM and AVG must know to be made in parts.
//!
//! A sum of parts is the sum of all where no partial sum fails that the whole one would not need. Exact numbers (integers and decimals) are
//! added without a loss, up to a number of digits; so all that must be known is that what is added is far shorter. Floats and doubles have no
//! such limit; the sequence in which they are added is nobody's promise. A mixture of both is neither: the exact ones among them would
//! be rounded later than in the whole sum.
//!
//! What a variable is bound to is a fact of the data: of an object, the index tells the kinds ([`super::objects`]).

use super::objects::Objects;
use crate::expr::Expr;
use crate::function::ValueType;
use crate::logical::{Logical, LogicalOp as Op};
use crate::plan::{Slot, VarId};
use crate::statistics::Statistics;
use lode_rdf::{Kind, Term, inline};

/// Digits of an exact number that may be summed in parts. Evaluation has several times as many, so that even the sum of as many rows
/// as there can be has room.
pub const SUMMED_DIGITS_MAX: u32 = 1_000;
/// Digits of an exact number that is an inline id: 56 bits.
const INLINE_DIGITS: u32 = 17;
/// Digits that a quotient has behind the point.
const QUOTIENT_DIGITS: u32 = 18;

/// The values of an expression, errors aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Integers and decimals of up to so many digits, on both sides of the point together.
    Exact { digits: u32 },
    /// Floats and doubles.
    Floating,
}

impl Numbers {
    /// Exact numbers, if they are short enough.
    fn exact(digits: u32) -> Option<Self> {
        (digits <= SUMMED_DIGITS_MAX).then_some(Self::Exact { digits })
    }

    /// What is one or the other.
    fn either(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Floating, Self::Floating) => Some(Self::Floating),
            (Self::Exact { digits: a }, Self::Exact { digits: b }) => Some(Self::Exact { digits: a.max(b) }),
            _ => None,
        }
    }
}

/// What the values of `expr` over rows of `input` are; `None`: nothing of which sums may be made in parts.
pub(super) fn numbers(expr: &Expr, input: &Logical, stats: &dyn Statistics) -> Option<Numbers> {
    let of = |expr: &Expr| numbers(expr, input, stats);
    match expr {
        Expr::Var(var) => of_variable(*var, input, stats),
        Expr::Const(Term::Literal(literal)) => {
            let id = inline::encode_literal(literal.value(), literal.datatype().as_str())?;
            id.kind().and_then(of_kind)
        }
        Expr::Call(callee, _) => {
            let floating = callee.function().is_some_and(|f| f.result == ValueType::Floating);
            floating.then_some(Numbers::Floating)
        }
        Expr::UnaryPlus(a) | Expr::UnaryMinus(a) => of(a),
        // The longest of both, after the points have been put below each other, and one to carry.
        Expr::Add(a, b) | Expr::Subtract(a, b) => computed(of(a), of(b), 1),
        Expr::Multiply(a, b) => computed(of(a), of(b), 0),
        Expr::Divide(a, b) => computed(of(a), of(b), QUOTIENT_DIGITS),
        Expr::If(_, a, b) => of(a)?.either(of(b)?),
        Expr::Coalesce(all) => {
            let mut all = all.iter().map(of);
            let first = all.next()??;
            all.try_fold(first, |so_far, next| so_far.either(next?))
        }
        _ => None,
    }
}

/// What arithmetic gives: floats where one operand is one (or an error, whatever the other is), else exact numbers of at most the digits of
/// both, and some more.
fn computed(a: Option<Numbers>, b: Option<Numbers>, more: u32) -> Option<Numbers> {
    match (a, b) {
        (Some(Numbers::Floating), _) | (_, Some(Numbers::Floating)) => Some(Numbers::Floating),
        (Some(Numbers::Exact { digits: a }), Some(Numbers::Exact { digits: b })) => {
            Numbers::exact(a + b + more)
        }
        _ => None,
    }
}

/// What the values of a variable are in the rows of `input`.
fn of_variable(var: VarId, input: &Logical, stats: &dyn Statistics) -> Option<Numbers> {
    match &input.op {
        Op::Scan(pattern) if pattern.object == Slot::Var(var) => of_objects(&Objects::of(pattern, stats)?),
        // Whichever member binds it in every row says what it is in all.
        Op::Join { members, .. } => members
            .iter()
            .filter(|member| member.certain.contains(var))
            .find_map(|member| of_variable(var, member, stats)),
        Op::Extend { var: own, expr, input } if *own == var => numbers(expr, input, stats),
        Op::Extend { input, .. }
        | Op::Filter { input, .. }
        | Op::Project { input, .. }
        | Op::Exists { left: input, .. }
        | Op::Minus { left: input, .. }
        | Op::Distinct(input) => of_variable(var, input, stats),
        _ => None,
    }
}

fn of_objects(objects: &Objects<'_>) -> Option<Numbers> {
    if objects.are_between(Kind::Integer, Kind::Decimal) {
        return Numbers::exact(INLINE_DIGITS);
    }
    objects.are_between(Kind::Double, Kind::Float).then_some(Numbers::Floating)
}

fn of_kind(kind: Kind) -> Option<Numbers> {
    match kind {
        Kind::Double | Kind::Float => Some(Numbers::Floating),
        Kind::Decimal => Numbers::exact(INLINE_DIGITS),
        _ if kind.is_integer() => Numbers::exact(INLINE_DIGITS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{INLINE_DIGITS, Numbers, computed};

    #[test]
    fn what_may_be_long_is_not_summed_in_parts() {
        let inline = Numbers::exact(INLINE_DIGITS);
        let mut product = inline;
        let mut factors = 1;
        while let Some(Numbers::Exact { digits }) = product {
            assert_eq!(digits, factors * INLINE_DIGITS);
            product = computed(product, inline, 0);
            factors += 1;
        }
        assert_eq!(factors, 59, "of 17 digits each");
    }

    #[test]
    fn floats_make_floats_and_a_mixture_is_neither() {
        let (exact, floating) = (Numbers::Exact { digits: 3 }, Numbers::Floating);
        assert_eq!(computed(Some(exact), Some(floating), 1), Some(floating));
        assert_eq!(computed(None, Some(floating), 1), Some(floating), "a number, or an error");
        assert_eq!(computed(None, Some(exact), 1), None);
        assert_eq!(exact.either(floating), None);
        assert_eq!(exact.either(Numbers::Exact { digits: 5 }), Some(Numbers::Exact { digits: 5 }));
    }
}
