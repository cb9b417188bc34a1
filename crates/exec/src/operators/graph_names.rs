//! The named graphs of the dataset: `GRAPH ?g {}`, `GRAPH <g> {}`.

use super::Operator;
use crate::context::QueryContext;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::plan::NamedGraphs;
use lode_sparql::{Slot, VarId};
use std::sync::Arc;

/// The operator.
pub(crate) struct GraphNames {
    vars: Arc<[VarId]>,
    names: Vec<ValueId>,
    /// The column that receives the name.
    column: Option<usize>,
    position: usize,
    batch_rows: usize,
}

impl GraphNames {
    /// The named graphs, all or those listed, that `slot` matches.
    pub(crate) fn new(
        cx: &QueryContext,
        slot: Slot,
        among: Option<&NamedGraphs>,
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        let mut names = named_graphs(cx, among)?;
        if let Slot::Const(name) = slot {
            names.retain(|n| *n == name);
        }
        let column = match slot {
            Slot::Var(var) => lode_eval::batch::position(vars, var),
            _ => None,
        };
        Ok(Self { vars: Arc::clone(vars), names, column, position: 0, batch_rows: cx.batch_rows })
    }
}

/// The dataset's named graphs, sorted by id: those of the store that have quads, or all that are listed.
pub(crate) fn named_graphs(
    cx: &QueryContext,
    among: Option<&NamedGraphs>,
) -> Result<Vec<ValueId>, ExecError> {
    let Some(among) = among else { return Ok(cx.snapshot.named_graphs()?) };
    let mut names = among.ids.to_vec();
    for name in among.unknown.iter() {
        names.push(cx.intern(name)?);
    }
    names.sort_unstable();
    Ok(names)
}

impl Operator for GraphNames {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        let end = self.names.len().min(self.position + self.batch_rows);
        let names = &self.names[self.position..end];
        for (i, column) in out.columns.iter_mut().enumerate() {
            if Some(i) == self.column {
                column.extend_from_slice(names);
            } else {
                column.resize(names.len(), ValueId::UNDEF);
            }
        }
        out.rows = names.len();
        self.position = end;
        Ok(out.rows > 0)
    }
}
