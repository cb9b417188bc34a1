//! DESCRIBE: concise bounded descriptions, that is all triples of a resource in the default graph, and of the blank nodes they
//! lead to, and so on. Each resource is described once.

use super::row_set::RowSet;
use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::pattern::{Columns, Pattern};
use crate::reservation::cover;
use crate::shared::Shared;
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, gather, position};
use lode_eval::error::ExecError;
use lode_eval::hash::hash_id;
use lode_packed::Order;
use lode_rdf::{Kind, ValueId};
use lode_sparql::{ScanPattern, Slot, VarId};
use lode_store::Scan;
use std::sync::Arc;

const PREDICATE: VarId = VarId(1);
const OBJECT: VarId = VarId(2);

/// A resource whose triples are being read.
struct Current {
    subject: ValueId,
    scan: Scan,
    pattern: Pattern,
    last: Option<Vec<ValueId>>,
}

/// The operator.
pub(crate) struct Describe {
    cx: Arc<QueryContext>,
    input: BoxOp,
    /// The columns whose values are described.
    sources: Vec<usize>,
    single_graph: bool,
    rows: Batch,
    row: usize,
    /// Resources seen.
    seen: RowSet,
    /// Resources yet to describe.
    waiting: Vec<ValueId>,
    current: Option<Current>,
    reservation: Reservation,
    vars: Arc<[VarId]>,
}

impl Describe {
    /// Describes the values of `resources` in `input`, whose columns are `input_vars`; delivers `vars`: subject, predicate, object.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        input: BoxOp,
        input_vars: &[VarId],
        resources: &[VarId],
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        Ok(Self {
            cx: Arc::clone(&shared.cx),
            input,
            sources: resources.iter().filter_map(|var| position(input_vars, *var)).collect(),
            single_graph: shared.single_graph,
            rows: Batch::default(),
            row: 0,
            seen: RowSet::new(1),
            waiting: Vec::new(),
            current: None,
            reservation: shared.cx.budget.reserve(0)?,
            vars: Arc::clone(vars),
        })
    }

    fn want(&mut self, resource: ValueId) -> Result<(), ExecError> {
        let is_resource = matches!(resource.kind(), Some(Kind::Iri | Kind::Blank));
        if !is_resource || !self.seen.insert(hash_id(resource), std::iter::once(resource)).1 {
            return Ok(());
        }
        self.waiting.push(resource);
        let bytes = self.seen.bytes() + self.waiting.capacity() * size_of::<ValueId>();
        Ok(cover(&mut self.reservation, bytes)?)
    }

    fn open(&self, subject: ValueId) -> Result<Current, ExecError> {
        let pattern = ScanPattern {
            subject: Slot::Const(subject),
            predicate: Slot::Var(PREDICATE),
            object: Slot::Var(OBJECT),
            graph: self.cx.dataset.default.clone(),
            order: Order::Spog,
            within: None,
        };
        let pattern = Pattern::new(&pattern, |_| false, |_| true, self.single_graph);
        let mut scan = self.cx.snapshot.scan(pattern.order, &pattern.prefix(), pattern.mask())?;
        if pattern.impossible {
            scan.limit_to(&[ValueId::UNDEF])?;
        }
        Ok(Current { subject, scan, pattern, last: None })
    }

    /// Reads on in the current resource's triples; `false` at their end.
    fn read(&mut self, current: &mut Current, out: &mut Batch) -> Result<bool, ExecError> {
        let mut columns = Columns::default();
        let rows = current.scan.next(self.cx.batch_rows, &mut columns)?;
        let mut selection = Vec::new();
        current.pattern.select(&columns, 0, rows, &mut current.last, &mut selection);
        for (var, column) in &current.pattern.outputs {
            let to = &mut out.columns[if *var == PREDICATE { 1 } else { 2 }];
            gather(&columns[*column], &selection, to);
        }
        let end = out.rows + selection.len();
        out.columns[0].resize(end, current.subject);
        for row in out.rows..end {
            let object = out.columns[2][row];
            if object.kind() == Some(Kind::Blank) {
                self.want(object)?;
            }
        }
        out.rows = end;
        Ok(rows > 0 && !current.pattern.impossible)
    }

    /// Notes the resources of the next row; `false` at the end.
    fn next_row(&mut self) -> Result<bool, ExecError> {
        if self.row >= self.rows.rows {
            self.row = 0;
            if !self.input.next(&mut self.rows)? {
                self.rows.clear();
                return Ok(false);
            }
        }
        for i in 0..self.sources.len() {
            self.want(self.rows.columns[self.sources[i]][self.row])?;
        }
        self.row += 1;
        Ok(true)
    }
}

impl Operator for Describe {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        while out.rows < self.cx.batch_rows {
            self.cx.cancel.check()?;
            if let Some(mut current) = self.current.take() {
                if self.read(&mut current, out)? {
                    self.current = Some(current);
                }
            } else if let Some(subject) = self.waiting.pop() {
                self.current = Some(self.open(subject)?);
            } else if !self.next_row()? {
                break;
            }
        }
        Ok(out.rows > 0)
    }
}
