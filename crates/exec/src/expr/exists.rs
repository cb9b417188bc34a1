//! EXISTS inside expressions: asked once per distinct binding of the outer variables that the pattern knows.

use super::column::{Column, Tri};
use super::eval::Evaluator;
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
        vars.retain(|var| self.batch.column(*var).is_some());
        let columns: Vec<Vec<ValueId>> = vars.iter().map(|var| self.variable(*var)).collect();
        let mut known: HashMap<Vec<ValueId>, Tri> = HashMap::new();
        let mut result = Vec::with_capacity(self.rows());
        for row in 0..self.rows() {
            let key: Vec<ValueId> =
                columns.iter().map(|column| column.get(row).copied().unwrap_or_default()).collect();
            if let Some(truth) = known.get(&key) {
                result.push(*truth);
                continue;
            }
            self.cx.cancel.check()?;
            let bindings: Vec<(VarId, ValueId)> =
                vars.iter().copied().zip(key.iter().copied()).filter(|(_, id)| !id.is_undef()).collect();
            let truth = Tri::from(crate::exists::exists(self.cx, pattern, &bindings)?);
            known.insert(key, truth);
            result.push(truth);
        }
        Ok(Column::Bools(result))
    }
}
