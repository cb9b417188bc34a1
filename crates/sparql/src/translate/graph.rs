//! GRAPH: pushed into the patterns inside as their graph position where that is the same, or with the graph as a key; with a SERVICE inside run graph
//! by graph.

use super::names::{self, Names};
use super::path_shape;
use super::translator::Translator;
use crate::error::PlanError;
use crate::expr::Expr;
use crate::logical::Logical;
use crate::plan::{GraphScope, NamedGraphs, Slot, SubPattern, TermSlot, VarId};
use lode_rdf::{NamedNode, Term};
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};
use spargebra::term::NamedNodePattern;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Translator<'_> {
    /// `outer`: the scope that this GRAPH stands in. It only matters if a variable wants the names of *its* graphs.
    pub(super) fn graph(
        &mut self,
        name: &NamedNodePattern,
        inner: &GraphPattern,
        outer: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let slot = match name {
            NamedNodePattern::NamedNode(iri) => TermSlot::Const(iri.clone().into()),
            NamedNodePattern::Variable(v) => self.var_slot(v.as_str()),
        };
        let logical = match (&slot, name) {
            (TermSlot::Const(term), _) => self.constant_graph(term, inner)?,
            (TermSlot::Var(_), NamedNodePattern::Variable(v)) => {
                let found = self.variable_graph(v.as_str(), inner)?;
                self.without_hidden(v.as_str(), found)
            }
            (TermSlot::Var(_), NamedNodePattern::NamedNode(_)) => {
                return Err(PlanError::Unsupported("a constant that is a variable".into()));
            }
        };
        Ok(self.in_graph(logical, outer))
    }

    fn constant_graph(&mut self, name: &Term, inner: &GraphPattern) -> Result<Logical, PlanError> {
        // A graph that vanishes leaves such a plan with no rows, as is right; any other plan must be made anew.
        match self.named_graph(name, needs_quads(inner)) {
            Some(scope) => self.pattern(inner, &scope),
            None => Ok(Logical::empty(self.visible_vars(inner))),
        }
    }

    /// Without the solutions in graphs that are found by name only.
    fn without_hidden(&mut self, graph: &str, found: Logical) -> Logical {
        let hidden = Arc::clone(&self.dataset.hidden);
        // Those that are listed are there.
        if hidden.is_empty() || self.dataset.named.is_some() {
            return found;
        }
        let var = self.var(graph);
        let is_other = |name: &NamedNode| {
            let same = Expr::SameTerm(Box::new(Expr::Var(var)), Box::new(Expr::Const(name.clone().into())));
            Expr::Not(Box::new(same))
        };
        Logical::filter(found, hidden.iter().map(is_other).collect())
    }

    fn variable_graph(&mut self, name: &str, inner: &GraphPattern) -> Result<Logical, PlanError> {
        let var = self.var(name);
        let listed = self.dataset.named.clone();
        if listed.as_ref().is_some_and(NamedGraphs::is_empty) {
            let mut vars = self.visible_vars(inner);
            vars.insert(var);
            return Ok(Logical::empty(vars));
        }
        let among = listed.as_ref().map(|graphs| Arc::clone(&graphs.ids));
        let own = |slot| GraphScope::Named { slot: Slot::Var(slot), among: among.clone() };
        if !self.is_param(var) && runs_by_graph(inner, name) {
            return Ok(self.for_each_graph(var, inner));
        }
        let direct = |name| distributes(inner, name) || !names::mentioned(inner).contains(name);
        if self.is_param(var) || direct(name) {
            return self.pattern(inner, &own(var));
        }
        // What the pattern says of ?g is not of its graph: that has a name of its own, until both meet in a join.
        let hidden = self.fresh("graph");
        let logical = self.pattern(inner, &own(hidden))?;
        let names = Logical::graph_names(Slot::Var(hidden), listed);
        let names = Logical::extend(names, var, Expr::Var(hidden));
        let joined = Logical::join(vec![names, logical], Vec::new());
        let columns = joined.vars.iter().filter(|v| *v != hidden).collect();
        Ok(Logical::project(joined, columns))
    }

    /// A pattern that is run graph by graph.
    fn for_each_graph(&mut self, var: VarId, inner: &GraphPattern) -> Logical {
        let listed = self.dataset.named.clone();
        let among = listed.as_ref().map(|graphs| Arc::clone(&graphs.ids));
        let mut scope = BTreeMap::new();
        let mut constants: BTreeMap<String, Term> = BTreeMap::new();
        for name in names::mentioned(inner) {
            let known = self.known_var(&name);
            if let Some(term) = known.and_then(|v| self.constants.get(&v)) {
                constants.insert(name, term.clone());
            }
        }
        for name in names::in_scope(inner) {
            if !constants.contains_key(&name) {
                let var = self.var(&name);
                scope.insert(name, var);
            }
        }
        let pattern = SubPattern {
            algebra: inner.clone(),
            scope,
            constants,
            graph: GraphScope::Named { slot: Slot::Any, among },
            dataset: Arc::clone(&self.dataset),
        };
        Logical::for_each_graph(var, listed, Arc::new(pattern))
    }
}

/// Whether a pattern in `GRAPH ?g` cannot have the graph as a column.
fn runs_by_graph(pattern: &GraphPattern, g: &str) -> bool {
    !distributes(pattern, g) && names::any(pattern, &is_remote)
}

/// Whether a pattern is a property path that is searched.
pub(super) fn is_search(pattern: &GraphPattern) -> bool {
    matches!(pattern, GraphPattern::Path { path, .. } if !path_shape::is_plain(path))
}

/// Whether a pattern is evaluated elsewhere.
pub(super) fn is_remote(pattern: &GraphPattern) -> bool {
    matches!(pattern, GraphPattern::Service { .. })
}

/// Whether each solution of a pattern needs a quad of its graph, so that a graph without quads has none.
fn needs_quads(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => !patterns.is_empty(),
        GraphPattern::Path { path, .. } => has_steps(path),
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            needs_quads(left) || needs_quads(right)
        }
        GraphPattern::Union { left, right } => needs_quads(left) && needs_quads(right),
        GraphPattern::LeftJoin { left, .. } | GraphPattern::Minus { left, .. } => needs_quads(left),
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => needs_quads(inner),
        // Without keys there is a row also of nothing.
        GraphPattern::Group { inner, variables, .. } => !variables.is_empty() && needs_quads(inner),
        GraphPattern::Values { .. } | GraphPattern::Graph { .. } | GraphPattern::Service { .. } => false,
        #[expect(unreachable_patterns, reason = "variants behind features that other crates may switch on")]
        _ => false,
    }
}

/// Whether a path has a step at least.
fn has_steps(path: &PropertyPathExpression) -> bool {
    match path {
        PropertyPathExpression::NamedNode(_) | PropertyPathExpression::NegatedPropertySet(_) => true,
        PropertyPathExpression::Reverse(path) | PropertyPathExpression::OneOrMore(path) => has_steps(path),
        PropertyPathExpression::Sequence(a, b) => has_steps(a) || has_steps(b),
        PropertyPathExpression::Alternative(a, b) => has_steps(a) && has_steps(b),
        PropertyPathExpression::ZeroOrMore(_) | PropertyPathExpression::ZeroOrOne(_) => false,
    }
}

/// Whether `GRAPH ?g { pattern }` is the same as `pattern` with `?g` in the graph position of each triple pattern: each part
/// then binds `?g`, and joins over it keep the graphs apart.
fn distributes(pattern: &GraphPattern, g: &str) -> bool {
    match pattern {
        GraphPattern::Bgp { .. } => true,
        GraphPattern::Path { path, .. } => path_shape::is_plain(path),
        GraphPattern::Join { left, right } | GraphPattern::Union { left, right } => {
            distributes(left, g) && distributes(right, g)
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            // A right side that binds ?g itself, to another name, matches: that row goes, and no row without the right side comes.
            let free = expression.as_ref().is_none_or(|e| is_free_of(e, g)) && !binds(right, g);
            free && distributes(left, g) && distributes(right, g)
        }
        GraphPattern::Filter { expr, inner } => is_free_of(expr, g) && distributes(inner, g),
        GraphPattern::Extend { inner, variable, expression } => {
            variable.as_str() != g && is_free_of(expression, g) && distributes(inner, g)
        }
        GraphPattern::Minus { left, right } => {
            // With the graph a common variable the sides are never disjoint: so they must not have been before.
            let shared: Names = &names::certain(left) & &names::certain(right);
            // A right side that binds ?g itself removes whatever name it is bound to.
            let free = !binds(right, g);
            free && shared.iter().any(|n| n != g) && distributes(left, g) && distributes(right, g)
        }
        GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner } => distributes(inner, g),
        GraphPattern::OrderBy { inner, expression } => {
            use spargebra::algebra::OrderExpression::{Asc, Desc};
            let free = expression.iter().all(|(Asc(e) | Desc(e))| is_free_of(e, g));
            free && distributes(inner, g)
        }
        // A value of ?g here would meet the graph's name in this part only, not in the whole: still a join.
        GraphPattern::Values { .. } => true,
        GraphPattern::Graph { .. }
        | GraphPattern::Group { .. }
        | GraphPattern::Slice { .. }
        | GraphPattern::Lateral { .. }
        | GraphPattern::Service { .. } => false,
        #[expect(unreachable_patterns, reason = "variants behind features that other crates may switch on")]
        _ => false,
    }
}

/// Whether a solution of the pattern may bind the variable.
fn binds(pattern: &GraphPattern, name: &str) -> bool {
    names::in_scope(pattern).iter().any(|n| n == name)
}

/// Whether an expression depends neither on ?g nor, through a pattern inside, on the graph.
fn is_free_of(expr: &Expression, g: &str) -> bool {
    !names::mentioned_in_expr(expr).contains(g)
}
