//! Patterns that depend on rows around them, for all those rows at once: the domain of a dependent join (Neumann and Kemper, "Unnesting
//! Arbitrary Queries", BTW 2015).
//!
//! An EXISTS is defined by substitution: each row's values replace the *parameters*, variables of the row that the pattern mentions. Here they stay
//! variables instead, as columns. What a pattern comes to has the column of each parameter that it mentions, bound in every row, and for each
//! binding in the *domain* the rows with that binding are the solutions of the pattern with the binding put in. (Rows for other bindings mean
//! nothing: a join with the domain drops them.) Triple patterns have the columns anyway. What mentions a parameter and does not bind it, a
//! FILTER or a BIND, is joined with the domain; what looks at several rows, an aggregate or a LIMIT, does so per binding.
//!
//! The variable of a GRAPH is such a column as well, whose domain are the names of the graphs. Both are called *keys*.

use super::exists;
use super::names::{self, Names};
use super::translator::{Parameters, Translator};
use crate::error::PlanError;
use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp, graph_var};
use crate::plan::{GraphScope, Path, SubPattern, TermSlot, VarId};
use crate::var_set::VarSet;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::TermPattern;

/// Whether a pattern can be translated for all rows of a domain at once.
pub(crate) fn is_dependent(sub: &SubPattern) -> bool {
    !names::any(&sub.algebra, &|p| super::graph::is_remote(p) || searches_triple_terms(p))
}

/// Whether a pattern is a path that is searched from or to a triple term. With outer variables in it that is a term by substitution, which
/// may be that of a path without length also where no graph has it; here it would be one of the terms of a graph.
fn searches_triple_terms(pattern: &GraphPattern) -> bool {
    let is_triple = |end: &TermPattern| matches!(end, TermPattern::Triple(_));
    let GraphPattern::Path { subject, object, .. } = pattern else { return false };
    super::graph::is_search(pattern) && (is_triple(subject) || is_triple(object))
}

impl Translator<'_> {
    /// Translates an EXISTS for the rows of a domain: which of the bindings of `params` the pattern has a solution for, and their columns.
    pub fn dependent(
        &mut self,
        sub: &SubPattern,
        params: &[VarId],
        rows: f64,
    ) -> Result<(Logical, Vec<VarId>), PlanError> {
        self.put_params(sub, &params.iter().copied().collect(), rows);
        let columns = self.params.vars.as_slice().to_vec();
        let Some(graph) = self.bind_graph(&sub.graph) else {
            return Ok((Logical::empty(self.params.vars.clone()), columns));
        };
        let (body, conditions) = exists::strip_filters(&sub.algebra);
        let mut right = self.pattern(body, &graph)?;
        let domain = Logical::domain(columns.clone(), rows);
        let mut over_both = Vec::new();
        for condition in conditions {
            let joined = domain.vars.union(&right.vars);
            let vars = self.expr(condition, &joined, &graph)?.vars();
            if names::has_exists(condition) || vars.is_subset(&right.certain) {
                right = self.filter(right, condition, &graph)?;
            } else {
                over_both.push(self.expr(condition, &joined, &graph)?);
            }
        }
        let Some(filter) = Expr::and(over_both) else {
            let parts = self.parts(right);
            let found = parts.into_iter().fold(domain, |rows, part| {
                let part = if part.vars.is_disjoint(&self.params.vars) {
                    Logical::slice(part, 0, Some(1))
                } else {
                    self.confined(part)
                };
                Logical::exists(rows, part, None, false)
            });
            return Ok((found, columns));
        };
        let right = self.confined(right);
        Ok((Logical::exists(domain, right, Some(filter), false), columns))
    }

    /// Gives the names of a pattern their meanings: those of `params` mean the columns of a domain with so many rows.
    pub(super) fn put_params(&mut self, sub: &SubPattern, params: &VarSet, rows: f64) {
        self.put_names(sub);
        self.params = Parameters { vars: params.clone(), rows };
    }

    /// The parts of a join that share no variable but parameters: each by itself tells whether it has a solution.
    fn parts(&self, logical: Logical) -> Vec<Logical> {
        let members = match logical.op {
            LogicalOp::Join { members, filters } if filters.is_empty() => members,
            op => return vec![Logical { op, ..logical }],
        };
        let mut parts: Vec<(VarSet, Vec<Logical>)> = Vec::new();
        for member in members {
            let mut vars = member.vars.minus(&self.params.vars);
            let mut together = vec![member];
            let apart = |(others, _): &(VarSet, Vec<Logical>)| others.is_disjoint(&vars);
            let (apart, connected): (Vec<_>, Vec<_>) = parts.into_iter().partition(apart);
            for (others, members) in connected.into_iter().rev() {
                vars.extend(&others);
                together.splice(0..0, members);
            }
            parts = apart;
            parts.push((vars, together));
        }
        parts.into_iter().map(|(_, members)| Logical::group_of(members, Vec::new())).collect()
    }

    /// Rows for bindings of the domain only, so that what is above need not look at others. A single pattern is looked up anyway.
    fn confined(&self, logical: Logical) -> Logical {
        let params = logical.vars.intersect(&self.params.vars);
        if params.is_empty() || matches!(logical.op, LogicalOp::Scan(_)) {
            return logical;
        }
        self.within_domain(logical, &params)
    }

    /// The same for what looks at several rows: an aggregate, or a sort.
    pub(super) fn confined_rows(&self, logical: Logical) -> Logical {
        let params = logical.vars.intersect(&self.params.vars);
        if params.is_empty() { logical } else { self.within_domain(logical, &params) }
    }

    fn within_domain(&self, logical: Logical, params: &VarSet) -> Logical {
        let domain = Logical::domain(params.as_slice().to_vec(), self.params.rows);
        Logical::join(vec![domain, logical], Vec::new())
    }

    /// `logical` with the columns of these variables, of those that are parameters.
    pub(super) fn with_params(&self, logical: Logical, vars: &VarSet) -> Logical {
        let missing = vars.intersect(&self.params.vars).minus(&logical.vars);
        if missing.is_empty() {
            return logical;
        }
        // Bindings of several variables belong together.
        let params = logical.vars.intersect(&self.params.vars).union(&missing);
        self.within_domain(logical, &params)
    }

    /// `logical` with the columns of all parameters that an expression mentions.
    pub(super) fn with_params_of(&self, logical: Logical, expr: &Expression) -> Logical {
        if self.params.vars.is_empty() {
            return logical;
        }
        let vars = self.params_among(&names::mentioned_in_expr(expr));
        self.with_params(logical, &vars)
    }

    pub(super) fn params_among(&self, names: &Names) -> VarSet {
        let known = names.iter().filter_map(|name| self.known_var(name));
        known.filter(|var| self.params.vars.contains(*var)).collect()
    }

    /// The columns that keep solutions for different bindings and of different graphs apart.
    pub(super) fn keys(&self, vars: &VarSet, graph: &GraphScope) -> VarSet {
        let mut keys = vars.intersect(&self.params.vars);
        if let Some(var) = graph_var(graph).filter(|v| vars.contains(*v)) {
            keys.insert(var);
        }
        keys
    }

    /// UNION: what only some branches mention, all must have.
    pub(super) fn union_of(&self, branches: Vec<Logical>) -> Logical {
        let mut params = VarSet::new();
        branches.iter().for_each(|branch| params.extend(&branch.vars.intersect(&self.params.vars)));
        Logical::union(branches.into_iter().map(|branch| self.with_params(branch, &params)).collect())
    }

    /// MINUS. Keys are no variables that the sides could share: with none but those, nothing is removed.
    pub(super) fn minus(
        &mut self,
        left: &GraphPattern,
        right: &GraphPattern,
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let left = self.pattern(left, graph)?;
        let mut right = self.isolated(&left.vars, |t| t.pattern(right, graph))?;
        let keys = self.keys(&right.vars, graph);
        let shared = left.vars.intersect(&right.vars).minus(&keys);
        if keys.is_empty() || shared.is_empty() {
            return Ok(if shared.is_empty() { left } else { Logical::minus(left, right) });
        }
        let left = self.with_params(left, &keys);
        if !shared.is_disjoint(&left.certain.intersect(&right.certain)) {
            return Ok(Logical::minus(left, right));
        }
        // A key would make up for a shared variable that is unbound on either side: the condition in words.
        let (mut compatible, mut columns, mut any) = (Vec::new(), keys.as_slice().to_vec(), Vec::new());
        for var in shared.iter() {
            let other = self.fresh("minus");
            right = Logical::extend(right, other, Expr::Var(var));
            columns.push(other);
            let (mine, its) = (Box::new(Expr::Var(var)), Box::new(Expr::Var(other)));
            let unbound = |v| Expr::Not(Box::new(Expr::Bound(v)));
            compatible.push(Expr::Or(vec![unbound(var), unbound(other), Expr::SameTerm(mine, its)]));
            any.push(Expr::And(vec![Expr::Bound(var), Expr::Bound(other)]));
        }
        compatible.push(Expr::Or(any));
        let right = Logical::project(right, columns);
        Ok(Logical::exists(left, right, Expr::and(compatible), true))
    }

    /// A path that is searched. One that may have no length leads from a parameter, or in each of many graphs from a constant, to itself, also
    /// where no graph has that term.
    pub(super) fn search(
        &mut self,
        subject: TermSlot,
        path: Path,
        object: TermSlot,
        graph: &GraphScope,
    ) -> Logical {
        let ends = (&subject, &object);
        let itself = match (self.param_at(ends), graph_var(graph)) {
            _ if !path.is_nullable() => None,
            (Some(param), _) => Some(self.param_itself(param, ends, graph)),
            (None, Some(_)) => self.constant_itself(ends, graph),
            (None, None) => None,
        };
        let Some(itself) = itself else { return Logical::path(subject, path, object, graph.clone()) };
        let step = match path {
            Path::ZeroOrMore(inner) => Path::OneOrMore(inner),
            Path::ZeroOrOne(inner) => *inner,
            other => other,
        };
        let further = self.confined(Logical::path(subject, step, object, graph.clone()));
        Logical::distinct(Logical::union(vec![itself, further]))
    }

    fn param_at(&self, (subject, object): (&TermSlot, &TermSlot)) -> Option<VarId> {
        [subject, object].into_iter().find_map(|slot| match slot {
            TermSlot::Var(var) if self.is_param(*var) => Some(*var),
            _ => None,
        })
    }

    /// A path of no length from or to a parameter.
    fn param_itself(&mut self, param: VarId, ends: (&TermSlot, &TermSlot), graph: &GraphScope) -> Logical {
        let vars: VarSet = [ends.0, ends.1].into_iter().filter_map(crate::logical::term_slot_var).collect();
        let domain = Logical::domain(vars.intersect(&self.params.vars).as_slice().to_vec(), self.params.rows);
        let same = |a: Expr, b: Expr| vec![Expr::SameTerm(Box::new(a), Box::new(b))];
        let other = if *ends.0 == TermSlot::Var(param) { ends.1 } else { ends.0 };
        let itself = match other {
            TermSlot::Var(var) if *var == param => domain,
            TermSlot::Var(var) if domain.vars.contains(*var) => {
                Logical::filter(domain, same(Expr::Var(*var), Expr::Var(param)))
            }
            TermSlot::Var(var) => Logical::extend(domain, *var, Expr::Var(param)),
            TermSlot::Const(term) => {
                Logical::filter(domain, same(Expr::Var(param), Expr::Const(term.clone())))
            }
        };
        match graph_var(graph) {
            Some(_) => Logical::join(vec![self.scoped_unit(graph), itself], Vec::new()),
            None => itself,
        }
    }

    /// A path of no length from or to a constant, in each graph; `None` where there is no constant.
    fn constant_itself(&mut self, ends: (&TermSlot, &TermSlot), graph: &GraphScope) -> Option<Logical> {
        let graphs = self.scoped_unit(graph);
        Some(match ends {
            (TermSlot::Var(_), TermSlot::Var(_)) => return None,
            (TermSlot::Var(var), TermSlot::Const(term)) | (TermSlot::Const(term), TermSlot::Var(var)) => {
                Logical::extend(graphs, *var, Expr::Const(term.clone()))
            }
            (TermSlot::Const(one), TermSlot::Const(other)) if one == other => graphs,
            (TermSlot::Const(_), TermSlot::Const(_)) => Logical::empty(graphs.vars),
        })
    }
}
