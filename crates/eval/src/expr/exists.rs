//! EXISTS inside expressions: asked for the distinct bindings of the outer variables that the pattern knows, all together.

use super::column::{Column, Tri};
use super::eval::Evaluator;
use crate::context::Binding;
use crate::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use lode_sparql::plan::SubPattern;
use std::collections::HashMap;

impl Evaluator<'_> {
    /// Whether the pattern has a solution, for every row.
    pub fn exists<'e>(&self, pattern: &SubPattern) -> Result<Column<'e>, ExecError> {
        let mut vars: Vec<VarId> = pattern.scope.values().copied().collect();
        vars.sort_unstable();
        vars.dedup();
        let columns: Vec<Vec<ValueId>> = vars
            .iter()
            .map(|var| match self.batch.column(*var) {
                Some(_) => self.variable(*var),
                None => vec![ValueId::UNDEF; self.rows()],
            })
            .collect();
        let mut numbers: HashMap<Binding, usize> = HashMap::new();
        let mut bindings: Vec<Binding> = Vec::new();
        let mut places = Vec::with_capacity(self.rows());
        for row in 0..self.rows() {
            let binding: Binding =
                columns.iter().map(|column| column.get(row).copied().unwrap_or_default()).collect();
            let place = *numbers.entry(binding).or_insert_with_key(|binding| {
                bindings.push(binding.clone());
                bindings.len() - 1
            });
            places.push(place);
        }
        let truths = self.cx.sub_queries.exist(self.cx, pattern, &vars, &bindings)?;
        let truth = |place: usize| Tri::from(truths.get(place).copied().unwrap_or(false));
        Ok(Column::Bools(places.into_iter().map(truth).collect()))
    }
}
