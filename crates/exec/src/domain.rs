//! Domains: the distinct bindings of outer variables for which a dependent plan is run.

use lode_eval::batch::{Batch, position};
use lode_eval::context::Binding;
use lode_eval::hash::IdHash;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::collections::HashSet;
use std::sync::Arc;

/// The bindings for which a dependent plan runs.
#[derive(Debug)]
pub struct Domain {
    rows: Batch,
}

impl Domain {
    /// The values that `bindings` of `vars`, which differ, have for `params`.
    pub(crate) fn new<'a>(
        params: &[VarId],
        vars: &[VarId],
        bindings: impl Iterator<Item = &'a Binding>,
    ) -> Self {
        let places: Vec<Option<usize>> = params.iter().map(|param| position(vars, *param)).collect();
        let mut rows = Batch::new(params.into());
        for binding in bindings {
            for (column, place) in rows.columns.iter_mut().zip(&places) {
                column.push(place.and_then(|at| binding.get(at)).copied().unwrap_or_default());
            }
            rows.rows += 1;
        }
        Self { rows }
    }

    /// The variables.
    pub(crate) fn vars(&self) -> &Arc<[VarId]> {
        &self.rows.vars
    }

    /// The bindings of some of the variables, each once.
    pub(crate) fn rows_of(&self, vars: &Arc<[VarId]>) -> Batch {
        let mut rows = Batch::new(Arc::clone(vars));
        let columns: Vec<&[ValueId]> =
            vars.iter().map(|var| self.rows.column(*var).unwrap_or_default()).collect();
        let mut seen: HashSet<Binding, IdHash> = HashSet::default();
        for row in 0..self.rows.rows {
            let binding: Binding = columns.iter().map(|c| c.get(row).copied().unwrap_or_default()).collect();
            if vars.len() == self.rows.vars.len() || seen.insert(binding.clone()) {
                rows.columns.iter_mut().zip(binding).for_each(|(column, id)| column.push(id));
                rows.rows += 1;
            }
        }
        rows
    }

    /// All bindings.
    pub(crate) fn bindings(&self) -> Vec<Binding> {
        let rows = 0..self.rows.rows;
        rows.map(|row| self.rows.columns.iter().map(|column| column[row]).collect()).collect()
    }
}
