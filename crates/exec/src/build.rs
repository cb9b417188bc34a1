//! From plan nodes to operators.

use crate::key_filter::KeyFilter;
use crate::morsel::Assignment;
use crate::operator::{BoxOp, Operator};
use crate::operators::count_scan::{CountScan, Countable};
use crate::operators::distinct::{Distinct, DistinctSorted, DistinctSpec, Reduced};
use crate::operators::extend::{self, Extend};
use crate::operators::filter::Filter;
use crate::operators::for_each_graph::ForEachGraph;
use crate::operators::fragment::Fragment;
use crate::operators::graph_names::GraphNames;
use crate::operators::group::{HashGroup, SortedGroup};
use crate::operators::group_table::GroupSpec;
use crate::operators::hash_join::{self, HashJoin};
use crate::operators::index_scan::IndexScan;
use crate::operators::join_output::JoinOutput;
use crate::operators::lateral::Lateral;
use crate::operators::limit_by::LimitBy;
use crate::operators::lookup_join::LookupJoin;
use crate::operators::merge_join::MergeJoin;
use crate::operators::merge_union::MergeUnion;
use crate::operators::multiway_join::MultiwayJoin;
use crate::operators::path::PathOp;
use crate::operators::project::Project;
use crate::operators::service::Service;
use crate::operators::slice::Slice;
use crate::operators::sort::{Sort, SortOptions};
use crate::operators::spool::{self, Spool};
use crate::operators::triple_term::TripleTerm;
use crate::operators::union::Union;
use crate::operators::values::Values;
use crate::parallel::{Source, operator};
use crate::pattern::Pattern;
use crate::profile::NodeCounters;
use crate::shared::{Factory, Shared};
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_scheduler::turns::breathe;
use lode_sparql::plan::JoinCondition;
use lode_sparql::{JoinKind, PlanNode, PlanOp, ScanPattern, VarId, stack};
use std::sync::Arc;

/// A LIMIT up to this many batches that ends a much larger input early is better served by one thread.
const SMALL_SLICE_BATCHES: usize = 4;

/// Makes the operators of plans.
pub(crate) const FACTORY: Factory = Factory {
    build: |shared, assignment, node, ordered| Builder { shared, assignment }.build_here(node, ordered),
    prepare,
};

/// Makes what a node needs once; `true`: that went to disk.
fn prepare(shared: &Arc<Shared>, node: &PlanNode) -> Result<bool, ExecError> {
    match &node.op {
        PlanOp::HashJoin { .. } => hash_join::prepare(shared, node),
        PlanOp::Spool { .. } => spool::prepare(shared, node).map(|()| false),
        _ => Ok(false),
    }
}

/// Builds operators for one thread.
struct Builder<'a> {
    shared: &'a Arc<Shared>,
    assignment: Assignment<'a>,
}

impl Builder<'_> {
    /// Where a consumer without need for order gets the rows of `node`.
    fn source(&self, node: &PlanNode) -> Result<Source, ExecError> {
        Source::new(self.shared, self.assignment, node)
    }

    /// The operator of `node`. `ordered`: the consumer relies on the order that the plan promises.
    fn build(&self, node: &PlanNode, ordered: bool) -> Result<BoxOp, ExecError> {
        operator(self.shared, self.assignment, node, ordered)
    }

    /// The operator of an input along which its consumer would have been split into morsels: if the consumer was not, neither is the input,
    /// which has less to do. To ask again at each operator of a chain would take as long as the square of its length.
    fn build_input(&self, node: &PlanNode, ordered: bool) -> Result<BoxOp, ExecError> {
        self.build_here(node, ordered)
    }

    fn build_here(&self, node: &PlanNode, ordered: bool) -> Result<BoxOp, ExecError> {
        self.shared.cx.cancel.check()?;
        let counters = self.shared.counters(node.id);
        let vars: Arc<[VarId]> = node.vars.as_slice().into();
        let inner = stack::room(|| counters.measure(|| self.operator(node, ordered, &vars, &counters)))?;
        let counts_rows = !self.shared.counters.are_inner();
        Ok(Box::new(Profiled { inner, vars, counters, counts_rows }))
    }

    fn operator(
        &self,
        node: &PlanNode,
        ordered: bool,
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
    ) -> Result<BoxOp, ExecError> {
        let cx = &self.shared.cx;
        Ok(match &node.op {
            PlanOp::Unit => Box::new(Values::unit(vars)),
            PlanOp::Empty => Box::new(Values::empty(vars)),
            PlanOp::Values(rows) => Box::new(Values::new(cx, rows, vars)?),
            PlanOp::Ids(list) => Box::new(Values::of_ids(cx, &list.ids, vars)),
            PlanOp::Domain => {
                let rows = cx.domain.as_ref().map(|domain| domain.rows_of(vars));
                let rows = rows.ok_or_else(|| ExecError::Internal("a plan without its domain".into()))?;
                Box::new(Values::of(rows, cx.batch_rows))
            }
            PlanOp::Fragment { number } => Box::new(Fragment::new(cx, *number, vars)),
            PlanOp::IndexScan(pattern) => self.index_scan(node, pattern, vars, counters)?,
            PlanOp::GraphNames { slot, among } => Box::new(GraphNames::new(cx, *slot, among.as_ref(), vars)?),
            PlanOp::ForEachGraph { var, among, pattern } => {
                Box::new(ForEachGraph::new(self.shared, counters, *var, (among.as_ref(), pattern), vars)?)
            }
            PlanOp::Lateral { input, pattern } => {
                let rows = (self.build(input, false)?, input.vars.as_slice());
                Box::new(Lateral::new(self.shared, counters, rows, pattern, vars)?)
            }
            PlanOp::MergeJoin { left, right, kind, condition } => {
                let inputs = (&**left, &**right);
                self.merge_join(inputs, (*kind, condition), vars, counters)?
            }
            PlanOp::HashJoin { left, .. } => {
                let input = self.build_input(left, ordered)?;
                Box::new(HashJoin::new(self.shared, node, input, vars, ordered || has_sort(left))?)
            }
            PlanOp::LookupJoin { input, pattern, kind, condition } => {
                let left = self.build_input(input, ordered)?;
                self.lookup_join((left, input), pattern, (*kind, condition), vars, counters)
            }
            PlanOp::MultiwayJoin(patterns) => {
                let range = self.assignment.range(node.id).cloned();
                Box::new(MultiwayJoin::new(self.shared, node, patterns, range)?)
            }
            PlanOp::Spool { .. } => {
                let part = self.assignment.part(node.id).cloned();
                Box::new(Spool::new(self.shared, node, vars, part)?)
            }
            PlanOp::Union(inputs) => self.union(node.id, inputs, vars)?,
            PlanOp::MergeUnion(inputs) => {
                let input = |node: &PlanNode| {
                    Ok(Box::new(Project::new(self.build(node, true)?, &node.vars, vars)) as BoxOp)
                };
                let inputs = inputs.iter().map(input).collect::<Result<_, ExecError>>()?;
                Box::new(MergeUnion::new(cx, inputs, &node.sorted_by, vars))
            }
            PlanOp::Group { .. } => self.group(node, vars, counters)?,
            PlanOp::Distinct(input) => self.distinct(input, ordered, vars, counters)?,
            PlanOp::Path { input, .. } | PlanOp::Service { input, .. } => {
                self.path_or_service(node, input.as_deref(), ordered, vars, counters)?
            }
            _ => self.row_operator(node, ordered, vars, counters)?,
        })
    }

    /// Operators that take the rows of one input as they come, and the sort.
    fn row_operator(
        &self,
        node: &PlanNode,
        ordered: bool,
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
    ) -> Result<BoxOp, ExecError> {
        let cx = &self.shared.cx;
        Ok(match &node.op {
            PlanOp::Filter { input, exprs } => {
                let filter = Filter::new(cx, self.build_input(input, ordered)?, exprs);
                Box::new(Project::new(Box::new(filter), &input.vars, vars))
            }
            PlanOp::Extend { .. } => {
                let (exprs, input) = extend::chain(node);
                let child = self.build_input(input, ordered)?;
                Box::new(Extend::new(cx, child, &input.vars, &exprs, vars))
            }
            PlanOp::TripleTerm { input, term, subject, predicate, object } => {
                let child = self.build_input(input, ordered)?;
                let parts = [subject, predicate, object];
                Box::new(TripleTerm::new(cx, (child, &input.vars), *term, parts, vars)?)
            }
            PlanOp::Project(input) => {
                Box::new(Project::new(self.build_input(input, ordered)?, &input.vars, vars))
            }
            PlanOp::Reduced(input) => {
                let project = Project::new(self.build_input(input, ordered)?, &input.vars, vars);
                Box::new(Reduced::new(Box::new(project)))
            }
            PlanOp::Sort { input, keys, limit } => {
                let options = SortOptions { keys, limit: *limit, input_vars: &input.vars, vars };
                let source = self.source(input)?;
                Box::new(Sort::new(cx, &self.shared.area, counters, source, &options))
            }
            PlanOp::Slice { input, start, length } => {
                let want = length.unwrap_or(usize::MAX).saturating_add(*start);
                let small = want <= SMALL_SLICE_BATCHES * cx.batch_rows;
                #[expect(clippy::cast_precision_loss, reason = "an estimate")]
                let early = small && input.rows >= 4.0 * want as f64;
                let child = self.build(input, ordered || early)?;
                let child = Project::new(child, &input.vars, vars);
                Box::new(Slice::new(Box::new(child), *start, *length))
            }
            PlanOp::LimitBy { input, keys, start, length } => {
                let child = Project::new(self.build(input, ordered)?, &input.vars, vars);
                let (columns, range) = ((&**vars, keys.as_slice()), (*start, *length));
                Box::new(LimitBy::new(cx, counters, Box::new(child), columns, range)?)
            }
            _ => return Err(ExecError::Internal("an operator that nobody builds".into())),
        })
    }

    fn path_or_service(
        &self,
        node: &PlanNode,
        input: Option<&PlanNode>,
        ordered: bool,
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
    ) -> Result<BoxOp, ExecError> {
        let input = match input {
            Some(input) if matches!(node.op, PlanOp::Path { .. }) => {
                Some((self.build_input(input, ordered)?, input.vars.as_slice()))
            }
            Some(input) => Some((self.build(input, false)?, input.vars.as_slice())),
            None => None,
        };
        Ok(match &node.op {
            PlanOp::Path { subject, path, object, graph, .. } => {
                let ends = (subject, object);
                Box::new(PathOp::new(self.shared, counters, input, (ends, path, graph), vars)?)
            }
            PlanOp::Service { call, kind, filter, .. } => {
                let join = (*kind, filter.as_ref());
                Box::new(Service::new(&self.shared.cx, counters, input, (call, join), vars)?)
            }
            _ => return Err(ExecError::Internal("neither a path nor a SERVICE".into())),
        })
    }

    fn index_scan(
        &self,
        node: &PlanNode,
        pattern: &ScanPattern,
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
    ) -> Result<BoxOp, ExecError> {
        let shared = self.shared;
        let pattern = Pattern::new(pattern, |_| false, |var| vars.contains(&var), shared.single_graph);
        let range = self.assignment.range(node.id);
        let scan = IndexScan::new(&shared.cx, Arc::clone(counters), pattern, vars, range)?;
        Ok(Box::new(match self.assignment.queue(node.id) {
            Some(queue) => scan.giving_to(queue),
            None => scan,
        }))
    }

    fn merge_join(
        &self,
        (left, right): (&PlanNode, &PlanNode),
        (kind, condition): (JoinKind, &JoinCondition),
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
    ) -> Result<BoxOp, ExecError> {
        let output = JoinOutput::new(kind, condition, &left.vars, &right.vars, vars);
        Ok(Box::new(MergeJoin::new(
            &self.shared.cx,
            Arc::clone(counters),
            (self.build(left, true)?, &left.vars),
            (self.build(right, true)?, &right.vars),
            (kind, condition),
            output,
        )?))
    }

    fn lookup_join(
        &self,
        (left, input): (BoxOp, &PlanNode),
        pattern: &ScanPattern,
        (kind, condition): (JoinKind, &JoinCondition),
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
    ) -> BoxOp {
        let bound = |var| condition.on.contains(&var) || input.certain.contains(&var);
        // A filter may mention any variable of the pattern; one of the left that may be unbound is compared pair by pair.
        let needed = |var| condition.filter.is_some() || vars.contains(&var) || input.vars.contains(&var);
        let bound = |var| bound(var) && input.vars.contains(&var);
        let pattern = Pattern::new(pattern, bound, needed, self.shared.single_graph);
        let cx = &self.shared.cx;
        Box::new(LookupJoin::new(cx, Arc::clone(counters), left, &input.vars, pattern, |right| {
            JoinOutput::new(kind, condition, &input.vars, right, vars)
        }))
    }

    fn union(&self, id: u32, inputs: &[PlanNode], vars: &Arc<[VarId]>) -> Result<BoxOp, ExecError> {
        let only = self.assignment.branch(id);
        let chosen = inputs.iter().enumerate().filter(|(i, _)| only.is_none_or(|only| only == *i));
        let inputs = chosen
            .map(|(_, input)| Ok((self.build_input(input, false)?, input.vars.as_slice())))
            .collect::<Result<Vec<_>, ExecError>>()?;
        Ok(Box::new(Union::new(inputs, vars)))
    }

    fn group(
        &self,
        node: &PlanNode,
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
    ) -> Result<BoxOp, ExecError> {
        let PlanOp::Group { input, keys, aggregates, sorted } = &node.op else {
            return Err(ExecError::Internal("not a Group".into()));
        };
        let (cx, shared) = (&self.shared.cx, self.shared);
        if let Some(countable) = Countable::new(input, keys, aggregates) {
            let pattern = Pattern::new(countable.pattern, |_| false, |_| false, shared.single_graph);
            let rows = shared.scan_rows(countable.scan, &pattern)?;
            if countable.pays(cx, &pattern, rows)? {
                let range = self.assignment.range(countable.scan);
                let counters = Arc::clone(counters);
                let scan = CountScan::new(cx, counters, &countable, pattern, vars, range)?;
                return Ok(Box::new(scan));
            }
        }
        let input_vars: Arc<[VarId]> = input.vars.as_slice().into();
        let area = &shared.area;
        let spec = GroupSpec::new(cx, area, Arc::clone(counters), &input_vars, keys, aggregates);
        Ok(if *sorted {
            Box::new(SortedGroup::new(spec, self.build(input, true)?, vars))
        } else {
            Box::new(HashGroup::new(spec, self.source(input)?, vars))
        })
    }

    fn distinct(
        &self,
        input: &PlanNode,
        ordered: bool,
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
    ) -> Result<BoxOp, ExecError> {
        let cx = &self.shared.cx;
        let sorted = vars
            .iter()
            .all(|var| input.sorted_by.get(..vars.len()).is_some_and(|leading| leading.contains(var)));
        if sorted && (ordered || !self.assignment.is_whole() || cx.threads < 2) {
            let child = Project::new(self.build(input, true)?, &input.vars, vars);
            return Ok(Box::new(DistinctSorted::new(cx, Box::new(child), vars, &input.sorted_by)));
        }
        let spec = DistinctSpec {
            cx: Arc::clone(cx),
            area: Arc::clone(&self.shared.area),
            counters: Arc::clone(counters),
            vars: Arc::clone(vars),
            ordered: ordered || has_sort(input),
        };
        let child = if ordered {
            self.build(input, true)?
        } else {
            // Threads drop what they saw shortly before: so less goes through the one set.
            self.source(input)?.each_thread(|rows| Box::new(Reduced::new(rows))).into_operator()
        };
        let child = Project::new(child, &input.vars, vars);
        Ok(Box::new(Distinct::new(spec, Box::new(child))))
    }
}

/// Whether the order of the rows of `node` comes from a sort: then it is the query's, and must be kept.
fn has_sort(mut node: &PlanNode) -> bool {
    loop {
        node = match node.ordered_input() {
            Some(input) => input,
            None => return matches!(node.op, PlanOp::Sort { .. }),
        };
    }
}

/// Counts what an operator delivers and how long it takes, and has stack for those below: plans may be deep.
struct Profiled {
    inner: BoxOp,
    vars: Arc<[VarId]>,
    counters: Arc<NodeCounters>,
    counts_rows: bool,
}

impl Operator for Profiled {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        breathe();
        let result = stack::room(|| self.counters.measure(|| self.inner.next(out)));
        if self.counts_rows {
            self.counters.batch(out.rows);
        }
        result
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        stack::room(|| self.counters.measure(|| self.inner.skip_to(vars, key)))
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        // Below, the name may stand for something else.
        if self.vars.contains(&var) {
            stack::room(|| self.counters.measure(|| self.inner.keep_keys(var, filter)));
        }
    }
}

impl Drop for Profiled {
    fn drop(&mut self) {
        let inner = std::mem::replace(&mut self.inner, Box::new(Ended));
        stack::room(|| drop(inner));
    }
}

/// What is in the place of an operator that is being dropped.
struct Ended;

impl Operator for Ended {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.clear();
        Ok(false)
    }
}
