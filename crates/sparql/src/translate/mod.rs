//! Algebra to [`Logical`]: names become numbered variables, constants become ids, GRAPH becomes scopes of patterns.
//!
//! Nothing is optimised here, but for EXISTS, which becomes a semi-join where that is the same (see [`exists`]).

mod bindings;
mod dataset;
mod dependent;
mod entailed;
mod exists;
mod expr;
mod forms;
mod graph;
mod group;
mod lateral;
mod names;
mod path_shape;
mod paths;
mod patterns;
mod places;
mod service;
mod service_rows;
mod service_terms;
mod service_text;
#[cfg(test)]
mod tests;
mod translator;

pub use bindings::{bind, variables};
pub(crate) use dataset::resolve as resolve_dataset;
pub(crate) use dependent::is_dependent;
pub(crate) use translator::Translator;

use crate::error::PlanError;
use crate::expr::Expr;
use crate::logical::Logical;
use crate::plan::{GraphScope, SubPattern, VarId};
use crate::var_set::VarSet;
use lode_rdf::Term;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::Variable;
use std::collections::HashMap;
use translator::Scope;

impl Translator<'_> {
    /// Translates a pattern that is planned while its query runs, `bindings` put in for its outer variables.
    pub fn sub_pattern(
        &mut self,
        sub: &SubPattern,
        bindings: &[(VarId, Term)],
    ) -> Result<(Logical, Vec<VarId>), PlanError> {
        self.put_names(sub);
        self.constants.extend(bindings.iter().cloned());
        let graph = self.bind_graph(&sub.graph);
        let logical = match graph {
            Some(graph) => self.pattern(&sub.algebra, &graph)?,
            None => Logical::empty(self.visible_vars(&sub.algebra)),
        };
        let columns = self.visible_vars(&sub.algebra).as_slice().to_vec();
        Ok((logical, columns))
    }

    /// Translates a pattern in the current scope; one that nobody waits for any more becomes nothing.
    fn pattern(&mut self, pattern: &GraphPattern, graph: &GraphScope) -> Result<Logical, PlanError> {
        if self.stats.is_cancelled() {
            return Ok(Logical::empty(VarSet::new()));
        }
        match pattern {
            GraphPattern::Bgp { patterns } => self.bgp(patterns, graph),
            GraphPattern::Path { subject, path, object } => self.path_pattern(subject, path, object, graph),
            GraphPattern::Join { .. } => self.join_pattern(pattern, graph),
            GraphPattern::LeftJoin { left, right, expression } => {
                self.left_join(left, right, expression.as_ref(), graph)
            }
            GraphPattern::Filter { expr, inner } => {
                let input = self.pattern(inner, graph)?;
                self.filter(input, expr, graph)
            }
            GraphPattern::Union { .. } => self.union(pattern, graph),
            GraphPattern::Graph { name, inner } => self.graph(name, inner, graph),
            GraphPattern::Extend { inner, variable, expression } => {
                self.extend(inner, variable, expression, graph)
            }
            GraphPattern::Minus { left, right } => self.minus(left, right, graph),
            GraphPattern::Lateral { left, right } => self.lateral(left, right, graph),
            GraphPattern::Values { variables, bindings } => {
                let values = self.values(variables, bindings);
                Ok(self.in_graph(values, graph))
            }
            GraphPattern::OrderBy { inner, expression } => self.order_by(inner, expression, graph),
            GraphPattern::Project { inner, variables } => self.project(inner, variables, graph),
            GraphPattern::Distinct { inner } => Ok(Logical::distinct(self.pattern(inner, graph)?)),
            GraphPattern::Reduced { inner } => Ok(Logical::reduced(self.pattern(inner, graph)?)),
            GraphPattern::Slice { inner, start, length } => {
                let input = self.pattern(inner, graph)?;
                let keys = self.keys(&input.vars, graph);
                Ok(Logical::limit_by(input, keys.as_slice().to_vec(), *start, *length))
            }
            GraphPattern::Group { inner, variables, aggregates } => {
                self.group(inner, variables, aggregates, graph)
            }
            GraphPattern::Service { name, inner, silent } => {
                let service = self.service(name, inner, *silent);
                Ok(self.in_graph(service, graph))
            }
            #[expect(
                unreachable_patterns,
                reason = "variants behind features that other crates may switch on"
            )]
            _ => Err(PlanError::Unsupported("this graph pattern".into())),
        }
    }

    fn join_pattern(&mut self, pattern: &GraphPattern, graph: &GraphScope) -> Result<Logical, PlanError> {
        let parts = names::spine(pattern, |p| match p {
            GraphPattern::Join { left, right } => Some((left, right)),
            _ => None,
        });
        let mut joined = Vec::with_capacity(parts.len());
        for part in parts {
            let member = self.pattern(part, graph)?;
            joined.push(member);
        }
        Ok(service::join_members(joined))
    }

    fn left_join(
        &mut self,
        left: &GraphPattern,
        right: &GraphPattern,
        expression: Option<&Expression>,
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let left = self.pattern(left, graph)?;
        let right = self.pattern(right, graph)?;
        let right = service::bind_endpoint(right, &left);
        let mut params = self.keys(&right.vars, graph);
        if let Some(expr) = expression.filter(|_| !self.params.vars.is_empty()) {
            params.extend(&self.params_among(&names::mentioned_in_expr(expr)));
        }
        let left = self.with_params(left, &params);
        let visible = left.vars.union(&right.vars);
        let filter = match expression {
            Some(expr) => Some(self.expr(expr, &visible, graph)?),
            None => None,
        };
        Ok(Logical::left_join(left, right, filter))
    }

    fn union(&mut self, pattern: &GraphPattern, graph: &GraphScope) -> Result<Logical, PlanError> {
        let parts = names::spine(pattern, |p| match p {
            GraphPattern::Union { left, right } => Some((left, right)),
            _ => None,
        });
        let mut branches = Vec::with_capacity(parts.len());
        for part in parts {
            branches.push(self.pattern(part, graph)?);
        }
        Ok(self.union_of(branches))
    }

    /// `BIND`, `SELECT (expr AS ?v)`, `GROUP BY (expr AS ?v)`.
    fn extend(
        &mut self,
        inner: &GraphPattern,
        variable: &Variable,
        expression: &Expression,
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let input = self.pattern(inner, graph)?;
        let input = self.with_params_of(input, expression);
        let var = self.var(variable.as_str());
        if self.is_param(var) {
            return self.assigned_param(input, var, expression, graph);
        }
        let expr = self.expr(expression, &input.vars, graph)?;
        if let Some(term) = self.constants.get(&var).cloned() {
            // The variable has the outer row's value already: what is assigned must be the same, or nothing.
            let fresh = self.fresh(variable.as_str());
            let same = Expr::SameTerm(Box::new(Expr::Var(fresh)), Box::new(Expr::Const(term)));
            let unbound = Expr::Not(Box::new(Expr::Bound(fresh)));
            let extended = Logical::extend(input, fresh, expr);
            return Ok(Logical::filter(extended, vec![Expr::Or(vec![unbound, same])]));
        }
        if input.vars.contains(var) {
            return Err(PlanError::AssignedTwice(variable.as_str().to_owned()));
        }
        Ok(Logical::extend(input, var, expr))
    }

    /// `BIND` to a variable that has the outer row's value already.
    fn assigned_param(
        &mut self,
        input: Logical,
        var: VarId,
        expression: &Expression,
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let input = self.with_params(input, &std::iter::once(var).collect());
        let expr = self.expr(expression, &input.vars, graph)?;
        let fresh = self.fresh("assigned");
        let same = Expr::SameTerm(Box::new(Expr::Var(fresh)), Box::new(Expr::Var(var)));
        let unbound = Expr::Not(Box::new(Expr::Bound(fresh)));
        let extended = Logical::extend(input, fresh, expr);
        Ok(Logical::filter(extended, vec![Expr::Or(vec![unbound, same])]))
    }

    /// A sub-query: names that it does not project are its own.
    fn project(
        &mut self,
        inner: &GraphPattern,
        variables: &[Variable],
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let shared: Vec<(String, VarId)> =
            variables.iter().map(|v| (v.as_str().to_owned(), self.var(v.as_str()))).collect();
        let own = |v: &VarId| !self.constants.contains_key(v) && !self.is_param(*v);
        let mut columns: Vec<VarId> = shared.iter().map(|(_, v)| *v).filter(own).collect();
        self.scopes.push(Scope { names: shared.into_iter().collect(), blanks: HashMap::new() });
        let input = self.pattern(inner, graph);
        self.scopes.pop();
        let input = input?;
        let keys = self.keys(&input.vars, graph);
        columns.extend(keys.iter().filter(|v| !columns.contains(v)).collect::<Vec<_>>());
        Ok(Logical::project(input, columns))
    }
}
