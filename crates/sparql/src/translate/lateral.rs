//! LATERAL (SEP-0006): the pattern on the right is evaluated for each row of the left, whose values are put in for its variables.
//!
//! As an EXISTS it is a join where that is the same (see [`super::exists`]), else it is planned while the query runs: once for all rows together, with their
//! distinct bindings as the domain of a dependent join (see [`super::dependent`]).

use super::names;
use super::service;
use super::translator::Translator;
use crate::error::PlanError;
use crate::logical::Logical;
use crate::plan::{GraphScope, SubPattern, VarId};
use crate::var_set::VarSet;
use spargebra::algebra::GraphPattern;
use std::sync::Arc;

impl Translator<'_> {
    pub(super) fn lateral(
        &mut self,
        left: &GraphPattern,
        right: &GraphPattern,
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let left = self.pattern(left, graph)?;
        let params = self.params_among(&names::mentioned(right));
        let left = self.with_params(left, &params);
        if let Some((right, condition)) = self.as_join(&left, right, graph)? {
            let joined = service::join_members(vec![left, right]);
            return Ok(Logical::filter(joined, condition.into_iter().collect()));
        }
        let mut pattern = self.sub_pattern_of(right, &left.vars, graph);
        for name in names::in_scope(right) {
            if !pattern.constants.contains_key(&name) {
                let var = self.var(&name);
                pattern.scope.insert(name, var);
            }
        }
        let certain = names::certain(right);
        let bound = certain.iter().filter_map(|name| pattern.scope.get(name)).copied().collect();
        Ok(Logical::lateral(left, Arc::new(pattern), bound))
    }

    /// Translates the right side for the rows of a domain: its solutions for each of the bindings of `params`, with their columns.
    pub fn for_each_binding(
        &mut self,
        sub: &SubPattern,
        params: &[VarId],
        rows: f64,
    ) -> Result<(Logical, Vec<VarId>), PlanError> {
        let params: VarSet = params.iter().copied().collect();
        self.put_params(sub, &params, rows);
        let domain = Logical::domain(params.as_slice().to_vec(), rows);
        let visible = self.visible_vars(&sub.algebra);
        let right = match self.bind_graph(&sub.graph) {
            Some(graph) => self.pattern(&sub.algebra, &graph)?,
            None => Logical::empty(visible.clone()),
        };
        let columns = params.union(&visible).as_slice().to_vec();
        Ok((Logical::join(vec![domain, right], Vec::new()), columns))
    }
}
