//! EXISTS as a semi-join.
//!
//! EXISTS is defined by substitution: the row's values replace the variables of the pattern, wherever they occur. A join with
//! the pattern is the same where each shared variable is bound on both sides in every row, and where nothing inside the
//! pattern could tell a replaced variable from a joined one: only triple patterns, joins, unions, inline data, plain graphs, services,
//! and filters over variables that their own group binds. A filter at the top of the pattern may mention any variable: it becomes
//! the join's condition. All else is evaluated by substitution.

use super::names::{self, Names};
use super::translator::Translator;
use super::{expr, path_shape};
use crate::error::PlanError;
use crate::expr::Expr;
use crate::logical::Logical;
use crate::plan::GraphScope;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern};

/// The right side of a semi-join, and its condition.
type SemiJoin = (Logical, Option<Expr>);

impl Translator<'_> {
    /// The pattern of an EXISTS over rows of `left` as the right side of a semi-join, if that is the same.
    pub(super) fn semi_join(
        &mut self,
        left: &Logical,
        pattern: &GraphPattern,
        graph: &GraphScope,
    ) -> Result<Option<SemiJoin>, PlanError> {
        self.isolated(&left.vars, |t| t.as_join(left, pattern, graph))
    }

    /// The same in the scope of the rows: all that it binds is theirs.
    pub(super) fn as_join(
        &mut self,
        left: &Logical,
        pattern: &GraphPattern,
        graph: &GraphScope,
    ) -> Result<Option<SemiJoin>, PlanError> {
        if !self.optimize {
            return Ok(None);
        }
        let (body, conditions) = strip_filters(pattern);
        let outer: Names = names::mentioned(pattern)
            .into_iter()
            .filter(|n| self.known_var(n).is_some_and(|v| left.vars.contains(v)))
            .collect();
        if !joinable(body, &outer) {
            return Ok(None);
        }
        let mut right = self.pattern(body, graph)?;
        let shared = left.vars.intersect(&right.vars);
        if !shared.is_subset(&left.certain) || !shared.is_subset(&right.certain) {
            return Ok(None);
        }
        let joined = left.vars.union(&right.vars);
        let mut over_both = Vec::new();
        for condition in conditions {
            let expr = self.expr(condition, &joined, graph)?;
            if expr.vars().is_subset(&right.certain) {
                right = self.filter(right, condition, graph)?;
            } else {
                over_both.push(expr);
            }
        }
        Ok(Some((right, Expr::and(over_both))))
    }
}

/// The pattern under its topmost filters, and their conjuncts.
pub(super) fn strip_filters(mut pattern: &GraphPattern) -> (&GraphPattern, Vec<&Expression>) {
    let mut conditions = Vec::new();
    while let GraphPattern::Filter { expr, inner } = pattern {
        conditions.extend(expr::conjuncts(expr));
        pattern = inner;
    }
    (pattern, conditions)
}

/// Whether a pattern means the same joined as with `outer` replaced in it.
fn joinable(pattern: &GraphPattern, outer: &Names) -> bool {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Values { .. } => true,
        GraphPattern::Path { subject, path, object } => {
            // A replaced end of an empty path is a term of the query: it need not be in the data.
            !path_shape::can_be_empty(path) || (is_local(subject, outer) && is_local(object, outer))
        }
        GraphPattern::Join { left, right } | GraphPattern::Union { left, right } => {
            joinable(left, outer) && joinable(right, outer)
        }
        GraphPattern::Graph { name, inner } => {
            let constant = matches!(name, NamedNodePattern::NamedNode(_));
            (constant || matches!(**inner, GraphPattern::Bgp { .. })) && joinable(inner, outer)
        }
        GraphPattern::Service { name, inner, .. } => {
            matches!(name, NamedNodePattern::NamedNode(_)) && joinable(inner, outer)
        }
        GraphPattern::Filter { expr, inner } => {
            let mut mentioned = names::mentioned_in_expr(expr);
            mentioned.retain(|n| outer.contains(n));
            mentioned.is_subset(&names::certain(inner)) && joinable(inner, outer)
        }
        _ => false,
    }
}

fn is_local(term: &TermPattern, outer: &Names) -> bool {
    match term {
        TermPattern::Variable(v) => !outer.contains(v.as_str()),
        TermPattern::Triple(_) => false,
        TermPattern::NamedNode(_) | TermPattern::BlankNode(_) | TermPattern::Literal(_) => true,
    }
}
