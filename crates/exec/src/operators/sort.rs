//! ORDER BY, with or without LIMIT: key columns are computed batch by batch, threads sort their own rows, runs are merged.

use super::Operator;
use super::sort_spec::{KeyOrder, SortSpec};
use super::sorted_runs::SortedRows;
use super::sorter::Sorter;
use crate::context::QueryContext;
use crate::parallel::Source;
use crate::profile::NodeCounters;
use crate::spill_area::SpillArea;
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_eval::expr;
use lode_rdf::ValueId;
use lode_sparql::plan::SortKey;
use lode_sparql::{Expr, VarId};
use std::sync::Arc;

/// What to sort and how.
pub(crate) struct SortOptions<'a> {
    pub(crate) keys: &'a [SortKey],
    pub(crate) limit: Option<usize>,
    pub(crate) input_vars: &'a [VarId],
    pub(crate) vars: &'a Arc<[VarId]>,
}

enum State {
    Input(Source),
    Sorted(SortedRows),
    Done,
}

/// The operator.
pub(crate) struct Sort {
    spec: SortSpec,
    keys: Arc<[SortKey]>,
    /// Where the delivered columns lie in the input.
    sources: Arc<[Option<usize>]>,
    vars: Arc<[VarId]>,
    state: State,
    buffer: Batch,
}

impl Sort {
    /// Sorts `input`.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        area: &Arc<SpillArea>,
        counters: &Arc<NodeCounters>,
        input: Source,
        options: &SortOptions<'_>,
    ) -> Self {
        let key_vars = (0..options.keys.len()).map(|i| VarId(u32::MAX - u32::try_from(i).unwrap_or(0)));
        let vars: Vec<VarId> = key_vars.chain(options.vars.iter().copied()).collect();
        let descending = options.keys.iter().map(|key| key.descending).collect();
        Self {
            spec: SortSpec {
                cx: Arc::clone(cx),
                area: Arc::clone(area),
                counters: Arc::clone(counters),
                vars: vars.into(),
                keys: options.keys.len(),
                order: KeyOrder::Terms(descending),
                limit: options.limit,
            },
            keys: options.keys.into(),
            sources: options.vars.iter().map(|var| position(options.input_vars, *var)).collect(),
            vars: Arc::clone(options.vars),
            state: State::Input(input),
            buffer: Batch::default(),
        }
    }

    fn sort(&self, input: Source) -> Result<SortedRows, ExecError> {
        let spec = self.spec.clone();
        let (keys, sources) = (Arc::clone(&self.keys), Arc::clone(&self.sources));
        let make = {
            let spec = spec.clone();
            move || Ok((Sorter::new(spec.clone()), Batch::default()))
        };
        let all = spec.clone();
        let consume = move |(sorter, keyed): &mut (Sorter, Batch), batch: &mut Batch| {
            keyed.reset(&spec.vars);
            keyed.rows = batch.rows;
            let (key_columns, columns) = keyed.columns.split_at_mut(keys.len());
            for (key, column) in keys.iter().zip(key_columns) {
                match &key.expr {
                    Expr::Var(var) if let Some(values) = batch.column(*var) => {
                        column.extend_from_slice(values);
                    }
                    expr => *column = expr::evaluate(&spec.cx, expr, batch)?,
                }
            }
            for (source, column) in sources.iter().zip(columns) {
                match source {
                    Some(from) => std::mem::swap(column, &mut batch.columns[*from]),
                    None => column.resize(batch.rows, ValueId::UNDEF),
                }
            }
            sorter.push(keyed)
        };
        let mut runs = Vec::new();
        for (sorter, _) in input.drain(&self.spec.counters, make, consume)? {
            runs.extend(sorter.into_runs()?);
        }
        SortedRows::merge(all, runs)
    }
}

impl Operator for Sort {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        loop {
            match std::mem::replace(&mut self.state, State::Done) {
                State::Input(input) => self.state = State::Sorted(self.sort(input)?),
                State::Sorted(mut sorted) => {
                    if !sorted.next(&mut self.buffer)? {
                        return Ok(false);
                    }
                    self.state = State::Sorted(sorted);
                    out.rows = self.buffer.rows;
                    let columns = self.buffer.columns.iter_mut().skip(self.spec.keys);
                    for (from, to) in columns.zip(&mut out.columns) {
                        std::mem::swap(from, to);
                    }
                    return Ok(true);
                }
                State::Done => return Ok(false),
            }
        }
    }
}
