//! The operators of the algebra (SPARQL 1.1 section 18.5).

use super::compare::order;
use super::evaluator::Evaluator;
use super::options::NaiveError;
use super::scope::{At, Problem, Scope};
use super::solution::{Solution, Solutions, compatible, identity_variable, is_hidden, merge, share_variable};
use oxrdf::{Literal, NamedOrBlankNode, Term, Variable};
use spargebra::algebra::{Expression, GraphPattern, OrderExpression};
use spargebra::term::{GroundTerm, NamedNodePattern};
use std::collections::HashSet;
use std::rc::Rc;

impl Evaluator<'_> {
    pub(super) fn pattern(&self, pattern: &GraphPattern, scope: &Scope<'_>) -> Result<Solutions, NaiveError> {
        self.step()?;
        match pattern {
            GraphPattern::Bgp { patterns } => self.basic(patterns, scope),
            GraphPattern::Path { subject, path, object } => self.path_pattern(subject, path, object, scope),
            GraphPattern::Join { left, right } => {
                self.join(&self.pattern(left, scope)?, &self.pattern(right, scope)?)
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                self.left_join(left, right, expression.as_ref(), scope)
            }
            GraphPattern::Lateral { left, right } => self.lateral(left, right, scope),
            GraphPattern::Filter { expr, inner } => self.filter(expr, inner, scope),
            GraphPattern::Union { left, right } => {
                let mut all = self.pattern(left, scope)?;
                all.extend(self.pattern(right, scope)?);
                Ok(all)
            }
            GraphPattern::Graph { name, inner } => self.graph(name, inner, scope),
            GraphPattern::Extend { inner, variable, expression } => {
                self.extend(inner, variable, expression, scope)
            }
            GraphPattern::Minus { left, right } => self.minus(left, right, scope),
            GraphPattern::Values { variables, bindings } => Ok(values(variables, bindings, scope)),
            GraphPattern::OrderBy { inner, expression } => self.order_by(inner, expression, scope),
            GraphPattern::Project { inner, variables } => self.project(inner, variables, scope),
            GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner } => {
                let mut seen = HashSet::new();
                let mut rows = self.pattern(inner, scope)?;
                if matches!(pattern, GraphPattern::Distinct { .. }) {
                    rows.retain(|s| seen.insert(s.clone()));
                }
                Ok(rows)
            }
            GraphPattern::Slice { inner, start, length } => {
                let rows = self.pattern(inner, scope)?;
                Ok(rows.into_iter().skip(*start).take(length.unwrap_or(usize::MAX)).collect())
            }
            GraphPattern::Group { inner, variables, aggregates } => {
                let rows = self.pattern(inner, scope)?;
                self.group(&rows, variables, aggregates, scope)
            }
            GraphPattern::Service { name, inner, silent } => self.service(name, inner, *silent, scope),
        }
    }

    fn join(&self, left: &[Solution], right: &[Solution]) -> Result<Solutions, NaiveError> {
        let mut joined = Vec::new();
        for a in left {
            for b in right {
                self.step()?;
                if compatible(a, b) {
                    joined.push(merge(a, b));
                }
            }
        }
        Ok(joined)
    }

    fn left_join(
        &self,
        left: &GraphPattern,
        right: &GraphPattern,
        condition: Option<&Expression>,
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let right = self.pattern(right, scope)?;
        let mut joined = Vec::new();
        for a in self.pattern(left, scope)? {
            let before = joined.len();
            for b in &right {
                self.step()?;
                if !compatible(&a, b) {
                    continue;
                }
                let both = merge(&a, b);
                if condition.map_or(Ok(true), |c| self.holds(c, &both, scope))? {
                    joined.push(both);
                }
            }
            if joined.len() == before {
                joined.push(a);
            }
        }
        Ok(joined)
    }

    /// SEP-0006: the right side for each row of the left, the row's values put in for its variables.
    fn lateral(
        &self,
        left: &GraphPattern,
        right: &GraphPattern,
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let mut joined = Vec::new();
        for row in self.pattern(left, scope)? {
            let mut outer = scope.outer.clone();
            outer.extend(row.iter().filter(|(v, _)| !is_hidden(v)).map(|(v, t)| (v.clone(), t.clone())));
            let found = self.pattern(right, &Scope { graph: scope.graph, outer: &outer })?;
            joined.extend(found.iter().map(|solution| merge(&row, solution)));
        }
        Ok(joined)
    }

    fn filter(
        &self,
        expr: &Expression,
        inner: &GraphPattern,
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let mut kept = Vec::new();
        for solution in self.pattern(inner, scope)? {
            if self.holds(expr, &solution, scope)? {
                kept.push(solution);
            }
        }
        Ok(kept)
    }

    /// Whether the effective boolean value is true; an error is not.
    pub(super) fn holds(
        &self,
        expr: &Expression,
        solution: &Solution,
        scope: &Scope<'_>,
    ) -> Result<bool, NaiveError> {
        match self.condition(expr, &At { solution, scope }) {
            Ok(value) => Ok(value),
            Err(Problem::Type) => Ok(false),
            Err(Problem::Fatal(e)) => Err(e),
        }
    }

    /// The value of an expression, nothing for an error.
    pub(super) fn value(
        &self,
        expr: &Expression,
        solution: &Solution,
        scope: &Scope<'_>,
    ) -> Result<Option<Term>, NaiveError> {
        match self.expression(expr, &At { solution, scope }) {
            Ok(value) => Ok(Some(value)),
            Err(Problem::Type) => Ok(None),
            Err(Problem::Fatal(e)) => Err(e),
        }
    }

    fn graph(
        &self,
        name: &NamedNodePattern,
        inner: &GraphPattern,
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let (wanted, variable): (Option<Term>, Option<&Variable>) = match name {
            NamedNodePattern::NamedNode(n) => (Some(n.clone().into()), None),
            NamedNodePattern::Variable(v) => match scope.outer.get(v) {
                Some(term) => (Some(term.clone()), None),
                None => (None, Some(v)),
            },
        };
        let mut all = Vec::new();
        for (name, graph) in &self.named {
            let name = Term::from(name.clone());
            if wanted.as_ref().is_some_and(|w| *w != name) {
                continue;
            }
            for mut solution in self.pattern(inner, &Scope { graph, outer: scope.outer })? {
                match variable {
                    Some(v) if solution.get(v).is_some_and(|t| *t != name) => continue,
                    Some(v) => solution.insert(v.clone(), name.clone()),
                    None => None,
                };
                all.push(solution);
            }
        }
        Ok(all)
    }

    fn extend(
        &self,
        inner: &GraphPattern,
        variable: &Variable,
        expression: &Expression,
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let mut extended = Vec::new();
        for mut solution in self.pattern(inner, scope)? {
            solution.entry(identity_variable()).or_insert_with(|| Literal::from(self.number()).into());
            let value = self.value(expression, &solution, scope)?;
            match (scope.outer.get(variable), value) {
                (Some(outer), Some(value)) if *outer != value => continue,
                (None, Some(value)) => {
                    solution.insert(variable.clone(), value);
                }
                _ => {}
            }
            extended.push(solution);
        }
        Ok(extended)
    }

    fn minus(
        &self,
        left: &GraphPattern,
        right: &GraphPattern,
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let right: Vec<Solution> = self
            .pattern(right, scope)?
            .into_iter()
            .map(|mut s| {
                s.remove(&identity_variable());
                s
            })
            .collect();
        let mut kept = Vec::new();
        for a in self.pattern(left, scope)? {
            let mut removed = false;
            for b in &right {
                self.step()?;
                removed |= share_variable(&a, b) && compatible(&a, b);
            }
            if !removed {
                kept.push(a);
            }
        }
        Ok(kept)
    }

    fn order_by(
        &self,
        inner: &GraphPattern,
        keys: &[OrderExpression],
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let mut rows = Vec::new();
        for solution in self.pattern(inner, scope)? {
            let mut values = Vec::new();
            for key in keys {
                let (OrderExpression::Asc(e) | OrderExpression::Desc(e)) = key;
                values.push(self.value(e, &solution, scope)?);
            }
            rows.push((values, solution));
        }
        rows.sort_by(|(a, _), (b, _)| {
            keys.iter()
                .zip(a.iter().zip(b))
                .map(|(key, (x, y))| match key {
                    OrderExpression::Asc(_) => order(x.as_ref(), y.as_ref()),
                    OrderExpression::Desc(_) => order(y.as_ref(), x.as_ref()),
                })
                .find(|o| o.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        Ok(rows.into_iter().map(|(_, s)| s).collect())
    }

    /// A projection hides the sub-query's other variables: an outer variable of the same name is not the same variable.
    fn project(
        &self,
        inner: &GraphPattern,
        variables: &[Variable],
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let mut outer = scope.outer.clone();
        outer.retain(|v, _| variables.contains(v));
        let mut rows = self.pattern(inner, &Scope { graph: scope.graph, outer: &outer })?;
        for row in &mut rows {
            row.retain(|v, _| variables.contains(v));
        }
        Ok(rows)
    }

    fn service(
        &self,
        name: &NamedNodePattern,
        inner: &GraphPattern,
        silent: bool,
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let (endpoints, variable) = match name {
            NamedNodePattern::NamedNode(n) => (vec![n.as_str().to_owned()], None),
            NamedNodePattern::Variable(v) => match scope.outer.get(v) {
                Some(Term::NamedNode(n)) => (vec![n.as_str().to_owned()], None),
                Some(other) => (vec![other.to_string()], None),
                None => (self.options.services.keys().cloned().collect(), Some(v)),
            },
        };
        let mut all = Vec::new();
        for endpoint in endpoints {
            let Some(dataset) = self.options.services.get(&endpoint) else {
                if silent {
                    all.push(Solution::new());
                    continue;
                }
                return Err(NaiveError::Service(endpoint));
            };
            let there = self.at_service(dataset);
            let graph = Rc::clone(&there.default);
            for mut solution in there.pattern(inner, &Scope { graph: &graph, outer: scope.outer })? {
                if let Some(v) = variable {
                    let name = Term::from(NamedOrBlankNode::from(oxrdf::NamedNode::new_unchecked(&endpoint)));
                    if solution.get(v).is_some_and(|t| *t != name) {
                        continue;
                    }
                    solution.insert(v.clone(), name);
                }
                all.push(solution);
            }
        }
        Ok(all)
    }
}

/// Inline data. A column whose variable was substituted keeps the rows that agree with the value.
fn values(variables: &[Variable], rows: &[Vec<Option<GroundTerm>>], scope: &Scope<'_>) -> Solutions {
    let mut all = Vec::new();
    'rows: for row in rows {
        let mut solution = Solution::new();
        for (variable, value) in variables.iter().zip(row) {
            let Some(value) = value else { continue };
            let value = Term::from(value.clone());
            match scope.outer.get(variable) {
                Some(outer) if *outer != value => continue 'rows,
                Some(_) => {}
                None => {
                    solution.insert(variable.clone(), value);
                }
            }
        }
        all.push(solution);
    }
    all
}
