//! Joins by a hash table over the right input, probed with the left one.

use super::hash_join_build::{BuildColumns, Built};
use super::hash_join_spill::SpilledJoin;
use super::hash_table::{HashTable, Prober};
use super::join_output::{JoinOutput, Pairs};
use super::spatial::SpatialTest;
use super::{BoxOp, Operator};
use crate::key_filter::KeyFilter;
use crate::shared::{Once, Shared};
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::{JoinKind, PlanNode, PlanOp, VarId, stack};
use std::sync::Arc;

enum State {
    Start,
    Probe(Arc<Built>),
    Spilled(Box<SpilledJoin>),
    Done,
}

/// The operator.
pub(crate) struct HashJoin {
    shared: Arc<Shared>,
    build: Arc<Once<Built>>,
    node: u32,
    kind: JoinKind,
    ordered: bool,
    vars: Arc<[VarId]>,
    input: Option<BoxOp>,
    output: JoinOutput,
    prober: Prober,
    /// Of a spatial join: its test, and the left rows that are expected.
    spatial: Option<(SpatialTest, f64)>,
    /// The variables that both sides always bind, in the order of the table's filters, each with the rows that [`filterable_rows`] tells.
    on: Vec<(VarId, f64)>,
    left: Batch,
    pairs: Pairs,
    state: State,
}

impl HashJoin {
    /// The join of `node`, probed with `input`. `ordered`: the left's order matters.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        node: &PlanNode,
        input: BoxOp,
        vars: &Arc<[VarId]>,
        ordered: bool,
    ) -> Result<Self, ExecError> {
        let PlanOp::HashJoin { left, right, kind, condition } = &node.op else {
            return Err(ExecError::Internal("not a hash join".into()));
        };
        let columns = BuildColumns::new(right, condition, vars);
        let spatial = SpatialTest::of(left, right, condition);
        let checked = spatial.as_ref().map_or(condition, |(_, rest)| rest);
        let output = JoinOutput::new(*kind, checked, &left.vars, &columns.vars, vars);
        let one_suffices = output.first_match_suffices();
        // Pairs of columns must correspond: variables that one side lacks are compared by neither.
        let both = |list: &[VarId]| -> Vec<usize> {
            let shared = list.iter().filter(|var| columns.vars.contains(var));
            shared.filter_map(|var| position(&left.vars, *var)).collect()
        };
        let must_share = *kind == JoinKind::Minus;
        let prober = Prober::new(both(&condition.on), both(&condition.maybe), must_share, one_suffices)
            .with_spatial(spatial.as_ref().map(|(test, _)| test));
        Ok(Self {
            shared: Arc::clone(shared),
            build: shared.once(node.id),
            node: node.id,
            kind: *kind,
            ordered,
            vars: Arc::clone(vars),
            input: Some(input),
            output,
            prober,
            spatial: spatial.map(|(test, _)| (test, left.rows)),
            on: (condition.on.iter().filter(|var| columns.vars.contains(var)))
                .map(|var| {
                    (*var, if filters_input(*kind) { filterable_rows(left, *var, false) } else { 0.0 })
                })
                .collect(),
            left: Batch::default(),
            pairs: Pairs::default(),
            state: State::Start,
        })
    }

    fn start(&mut self) -> Result<(), ExecError> {
        let built = self.build.get(&self.shared)?;
        let empty = matches!(&*built, Built::Table(table) if table.is_empty());
        if empty && matches!(self.kind, JoinKind::Inner | JoinKind::Semi) {
            self.input = None;
            self.state = State::Done;
            return Ok(());
        }
        self.state = match &*built {
            Built::Table(table) => {
                self.filter_input(table);
                self.filter_places(table)?;
                State::Probe(built)
            }
            Built::Spilled(_) => {
                let node = self.shared.node(self.node)?;
                let Some(input) = self.input.take() else { return Ok(()) };
                let join = SpilledJoin::new(&self.shared, node, input, built, &self.vars, self.ordered)?;
                State::Spilled(Box::new(join))
            }
        };
        Ok(())
    }

    /// Lets the left side of a spatial join leave out geometries that an index of them tells to be elsewhere.
    fn filter_places(&mut self, table: &HashTable) -> Result<(), ExecError> {
        let Some(input) = self.input.as_mut().filter(|_| filters_input(self.kind)) else { return Ok(()) };
        if let (Some((test, left_rows)), Some(index)) = (&self.spatial, &table.spatial)
            && let Some(filter) = index.near(&self.shared.cx, test, *left_rows)?
        {
            input.keep_keys(test.left(), &filter);
        }
        Ok(())
    }

    /// Lets the left side leave out what matches nothing.
    fn filter_input(&mut self, table: &HashTable) {
        let Some(input) = self.input.as_mut().filter(|_| filters_input(self.kind)) else { return };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let rows = table.rows.rows as f64;
        for (number, (var, filterable)) in self.on.iter().enumerate() {
            // Tests filter whatever it saves.
            let pays = cfg!(test) || KeyFilter::are_few(table.rows.rows) || *filterable >= rows;
            if let Some(filter) = pays.then(|| table.filter(number)).flatten() {
                input.keep_keys(*var, filter);
            }
        }
    }

    fn probe(&mut self, built: &Built, out: &mut Batch) -> Result<bool, ExecError> {
        let (Built::Table(table), Some(input)) = (built, &mut self.input) else { return Ok(false) };
        let cx = &self.shared.cx;
        self.output.reset(out);
        while out.rows == 0 {
            if self.prober.is_done(&self.left) {
                if !input.next(&mut self.left)? {
                    return Ok(false);
                }
                self.prober.begin();
                self.output.begin();
            }
            self.pairs.clear();
            let complete = self.prober.candidates(cx, table, &self.left, &mut self.pairs, cx.batch_rows)?;
            // Behind the look-ups: of a query that is cancelled their index may be incomplete.
            cx.cancel.check()?;
            let complete = u32::try_from(complete).unwrap_or(u32::MAX - 1);
            self.output.filter(cx, &self.left, &table.rows, &mut self.pairs)?;
            self.output.settle(&self.left, &table.rows, &mut self.pairs, complete, out);
        }
        Ok(true)
    }
}

/// So many rows are read, by the planner's estimate, by scans that can drop those with other values of `var` than a join above `node` has
/// use for, and save other operators (`joined`: there are some) work with them. The way down is that of [`Operator::keep_keys`].
fn filterable_rows(node: &PlanNode, var: VarId, joined: bool) -> f64 {
    if !node.vars.contains(&var) {
        return 0.0;
    }
    stack::room(|| match &node.op {
        PlanOp::IndexScan(_) if joined => node.rows,
        PlanOp::Project(input) | PlanOp::Reduced(input) => filterable_rows(input, var, joined),
        PlanOp::Union(inputs) | PlanOp::MergeUnion(inputs) => {
            inputs.iter().map(|input| filterable_rows(input, var, joined)).sum()
        }
        PlanOp::MergeJoin { left, right, kind: JoinKind::Inner, .. } => {
            filterable_rows(left, var, true).max(filterable_rows(right, var, true))
        }
        PlanOp::Filter { input, .. }
        | PlanOp::Extend { input, .. }
        | PlanOp::TripleTerm { input, .. }
        | PlanOp::Path { input: Some(input), .. }
        | PlanOp::LookupJoin { input, .. }
        | PlanOp::Group { input, .. }
        | PlanOp::Distinct(input)
        | PlanOp::HashJoin { left: input, .. }
        | PlanOp::MergeJoin { left: input, .. } => filterable_rows(input, var, true),
        _ => 0.0,
    })
}

/// Whether left rows that match nothing can be left out.
fn filters_input(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::Inner | JoinKind::Semi)
}

/// Has the build side of `node`, a hash join, made; `true`: it went to disk.
pub(crate) fn prepare(shared: &Arc<Shared>, node: &PlanNode) -> Result<bool, ExecError> {
    let built = shared.once::<Built>(node.id).get(shared)?;
    Ok(matches!(*built, Built::Spilled(_)))
}

impl Operator for HashJoin {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        if matches!(self.state, State::Start) {
            self.start()?;
        }
        match &mut self.state {
            State::Probe(built) => {
                let built = Arc::clone(built);
                self.probe(&built, out)
            }
            State::Spilled(join) => join.next(out),
            State::Start | State::Done => {
                self.output.reset(out);
                Ok(false)
            }
        }
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        match &mut self.input {
            Some(input) => input.skip_to(vars, key),
            None => Ok(()),
        }
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        if let Some(input) = &mut self.input {
            input.keep_keys(var, filter);
        }
    }
}
