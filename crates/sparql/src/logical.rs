//! The query between algebra and plan: variables numbered, constants looked up, scopes made explicit; join orders, access
//! paths and methods still open.
//!
//! Every node knows its columns (`vars`) and those of them that are bound in every row (`certain`); the constructors compute
//! both, so that no rewrite can let them drift.

use crate::expr::{Aggregate, Expr};
use crate::id_set::IdList;
use crate::plan::{GraphScope, NamedGraphs, Path, Slot, SortKey, SubPattern, TermSlot, VarId};
use crate::service_call::ServiceCall;
use crate::statistics::TextScope;
use crate::var_set::VarSet;
use lode_rdf::{Term, ValueId};
use std::ops::Range;
use std::sync::Arc;

/// A logical operator with its columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Logical {
    /// The operator.
    pub op: LogicalOp,
    /// Columns.
    pub vars: VarSet,
    /// Columns bound in every row.
    pub certain: VarSet,
}

/// A quad pattern without a permutation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuadPattern {
    /// Subject.
    pub subject: Slot,
    /// Predicate.
    pub predicate: Slot,
    /// Object.
    pub object: Slot,
    /// Graphs.
    pub graph: GraphScope,
    /// Ids of the object outside of which no row is asked for: a condition above would drop it.
    pub objects: Option<Range<ValueId>>,
}

impl QuadPattern {
    /// The same with other slots of subject, predicate and object, in this graph.
    pub fn with_slots(&self, put: impl Fn(Slot) -> Slot, graph: GraphScope) -> Self {
        Self {
            subject: put(self.subject),
            predicate: put(self.predicate),
            object: put(self.object),
            graph,
            objects: self.objects.clone(),
        }
    }

    /// The quads in which the texts are that are its objects, as far as constants say.
    pub fn text_scope(&self) -> TextScope {
        let constant = |slot: &Slot| if let Slot::Const(id) = slot { Some(*id) } else { None };
        let graph = match &self.graph {
            GraphScope::Default => Some(ValueId::DEFAULT_GRAPH),
            GraphScope::Named { slot, .. } => constant(slot),
            GraphScope::Union | GraphScope::Merge(_) => None,
        };
        TextScope { predicate: constant(&self.predicate), graph }
    }

    /// The variables that it binds.
    pub fn vars(&self) -> VarSet {
        let graph = graph_var(&self.graph);
        [self.subject, self.predicate, self.object].iter().filter_map(slot_var).chain(graph).collect()
    }
}

/// The variable of a slot.
pub(crate) fn slot_var(slot: &Slot) -> Option<VarId> {
    match slot {
        Slot::Var(var) => Some(*var),
        Slot::Const(_) | Slot::Any => None,
    }
}

/// The variable that receives the graph's name.
pub(crate) fn graph_var(graph: &GraphScope) -> Option<VarId> {
    match graph {
        GraphScope::Named { slot, .. } => slot_var(slot),
        _ => None,
    }
}

/// The variable of a term slot.
pub(crate) fn term_slot_var(slot: &TermSlot) -> Option<VarId> {
    match slot {
        TermSlot::Var(var) => Some(*var),
        TermSlot::Const(_) => None,
    }
}

/// Logical operators. See [`crate::PlanOp`] for their meaning; here only what differs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LogicalOp {
    Unit,
    Empty,
    Values {
        columns: Vec<VarId>,
        rows: Vec<Vec<Option<Term>>>,
    },
    /// Ids that are known, each once.
    Ids {
        var: VarId,
        list: Arc<IdList>,
    },
    /// The distinct bindings of outer variables for which a dependent pattern is run: at most so many rows are expected.
    Domain {
        columns: Vec<VarId>,
        rows: f64,
    },
    Scan(QuadPattern),
    GraphNames {
        slot: Slot,
        among: Option<NamedGraphs>,
    },
    Path {
        subject: TermSlot,
        path: Path,
        object: TermSlot,
        graph: GraphScope,
    },
    ForEachGraph {
        var: VarId,
        among: Option<NamedGraphs>,
        pattern: Arc<SubPattern>,
    },
    /// Reads a common sub-plan: pairs of a column here, and the sub-plan's variable that it is.
    Spool {
        number: u32,
        columns: Vec<(VarId, VarId)>,
    },
    Service {
        input: Option<Box<Logical>>,
        call: Arc<ServiceCall>,
    },
    /// Takes triple terms apart. Without `input` it is a step of a join group, to be applied where another member binds `term`.
    TripleTerm {
        input: Option<Box<Logical>>,
        term: VarId,
        subject: TermSlot,
        predicate: TermSlot,
        object: TermSlot,
    },
    /// The join of all members (in any order: SPARQL's join is associative and commutative, on bags and with unbound
    /// variables, too), and filters over the result.
    Join {
        members: Vec<Logical>,
        filters: Vec<Expr>,
    },
    LeftJoin {
        left: Box<Logical>,
        right: Box<Logical>,
        filter: Option<Expr>,
    },
    /// Rows of `left` with (or, negated, without) a partner in `right`.
    Exists {
        left: Box<Logical>,
        right: Box<Logical>,
        filter: Option<Expr>,
        negated: bool,
    },
    /// For each row of `input`, the solutions of `pattern` with the row's values put in.
    Lateral {
        input: Box<Logical>,
        pattern: Arc<SubPattern>,
        /// Variables of the pattern that each of its solutions binds.
        bound: VarSet,
    },
    Minus {
        left: Box<Logical>,
        right: Box<Logical>,
    },
    Filter {
        input: Box<Logical>,
        exprs: Vec<Expr>,
    },
    Extend {
        input: Box<Logical>,
        var: VarId,
        expr: Expr,
    },
    Union(Vec<Logical>),
    Project {
        input: Box<Logical>,
        columns: Vec<VarId>,
    },
    Distinct(Box<Logical>),
    Reduced(Box<Logical>),
    Sort {
        input: Box<Logical>,
        keys: Vec<SortKey>,
        limit: Option<usize>,
    },
    Slice {
        input: Box<Logical>,
        start: usize,
        length: Option<usize>,
    },
    /// OFFSET and LIMIT of the rows with the same keys, for each such group of rows.
    LimitBy {
        input: Box<Logical>,
        keys: Vec<VarId>,
        start: usize,
        length: Option<usize>,
    },
    Group {
        input: Box<Logical>,
        keys: Vec<VarId>,
        aggregates: Vec<Aggregate>,
    },
}

impl Logical {
    fn new(op: LogicalOp, vars: VarSet, certain: VarSet) -> Self {
        Self { op, vars, certain }
    }

    /// One row without columns.
    pub fn unit() -> Self {
        Self::new(LogicalOp::Unit, VarSet::new(), VarSet::new())
    }

    /// No rows. With no rows, every column is bound in each.
    pub fn empty(vars: VarSet) -> Self {
        Self::new(LogicalOp::Empty, vars.clone(), vars)
    }

    pub fn is_empty(&self) -> bool {
        matches!(self.op, LogicalOp::Empty)
    }

    pub fn values(columns: Vec<VarId>, rows: Vec<Vec<Option<Term>>>) -> Self {
        let vars: VarSet = columns.iter().copied().collect();
        let bound = |i: usize| rows.iter().all(|row| matches!(row.get(i), Some(Some(_))));
        let certain = columns.iter().enumerate().filter(|(i, _)| bound(*i)).map(|(_, v)| *v).collect();
        Self::new(LogicalOp::Values { columns, rows }, vars, certain)
    }

    pub fn ids(var: VarId, list: IdList) -> Self {
        let vars: VarSet = std::iter::once(var).collect();
        Self::new(LogicalOp::Ids { var, list: Arc::new(list) }, vars.clone(), vars)
    }

    /// The bindings of a dependent pattern for these of its outer variables, each once; with no columns, one row.
    pub fn domain(columns: Vec<VarId>, rows: f64) -> Self {
        if columns.is_empty() {
            return Self::unit();
        }
        let vars: VarSet = columns.iter().copied().collect();
        Self::new(LogicalOp::Domain { columns, rows }, vars.clone(), vars)
    }

    pub fn scan(pattern: QuadPattern) -> Self {
        let vars = pattern.vars();
        Self::new(LogicalOp::Scan(pattern), vars.clone(), vars)
    }

    pub fn graph_names(slot: Slot, among: Option<NamedGraphs>) -> Self {
        let vars: VarSet = slot_var(&slot).into_iter().collect();
        Self::new(LogicalOp::GraphNames { slot, among }, vars.clone(), vars)
    }

    pub fn path(subject: TermSlot, path: Path, object: TermSlot, graph: GraphScope) -> Self {
        let ends = [&subject, &object].into_iter().filter_map(term_slot_var);
        let vars: VarSet = ends.chain(graph_var(&graph)).collect();
        Self::new(LogicalOp::Path { subject, path, object, graph }, vars.clone(), vars)
    }

    pub fn for_each_graph(var: VarId, among: Option<NamedGraphs>, pattern: Arc<SubPattern>) -> Self {
        let mut vars: VarSet = pattern.scope.values().copied().collect();
        vars.insert(var);
        let certain = std::iter::once(var).collect();
        Self::new(LogicalOp::ForEachGraph { var, among, pattern }, vars, certain)
    }

    /// A reader of a common sub-plan; `certain`: the sub-plan's variables that every row binds.
    pub fn spool(number: u32, columns: Vec<(VarId, VarId)>, certain: &VarSet) -> Self {
        let vars: VarSet = columns.iter().map(|(here, _)| *here).collect();
        let bound =
            columns.iter().filter(|(_, there)| certain.contains(*there)).map(|(here, _)| *here).collect();
        Self::new(LogicalOp::Spool { number, columns }, vars, bound)
    }

    pub fn service(input: Option<Self>, call: Arc<ServiceCall>) -> Self {
        let (mut vars, mut certain): (VarSet, VarSet) =
            (call.columns.iter().copied().collect(), call.certain.iter().copied().collect());
        if let Some(input) = &input {
            vars.extend(&input.vars);
            certain.extend(&input.certain);
        }
        Self::new(LogicalOp::Service { input: input.map(Box::new), call }, vars, certain)
    }

    pub fn triple_term(input: Option<Self>, term: VarId, slots: [TermSlot; 3]) -> Self {
        let mut vars: VarSet = slots.iter().filter_map(term_slot_var).collect();
        vars.insert(term);
        let mut certain = vars.clone();
        if let Some(input) = &input {
            vars.extend(&input.vars);
            certain.extend(&input.certain);
        }
        let [subject, predicate, object] = slots;
        let input = input.map(Box::new);
        Self::new(LogicalOp::TripleTerm { input, term, subject, predicate, object }, vars, certain)
    }

    /// A join group; nothing is simplified.
    pub fn join(members: Vec<Self>, filters: Vec<Expr>) -> Self {
        let (mut vars, mut certain) = (VarSet::new(), VarSet::new());
        for member in &members {
            vars.extend(&member.vars);
            certain.extend(&member.certain);
        }
        Self::new(LogicalOp::Join { members, filters }, vars, certain)
    }

    /// A join group, or what it comes to where it has one member.
    pub fn group_of(mut members: Vec<Self>, filters: Vec<Expr>) -> Self {
        match members.len() {
            1 => Self::filter(members.swap_remove(0), filters),
            _ => Self::join(members, filters),
        }
    }

    pub fn left_join(left: Self, right: Self, filter: Option<Expr>) -> Self {
        let (vars, certain) = (left.vars.union(&right.vars), left.certain.clone());
        Self::new(LogicalOp::LeftJoin { left: Box::new(left), right: Box::new(right), filter }, vars, certain)
    }

    pub fn exists(left: Self, right: Self, filter: Option<Expr>, negated: bool) -> Self {
        let (vars, certain) = (left.vars.clone(), left.certain.clone());
        let (left, right) = (Box::new(left), Box::new(right));
        Self::new(LogicalOp::Exists { left, right, filter, negated }, vars, certain)
    }

    pub fn lateral(input: Self, pattern: Arc<SubPattern>, bound: VarSet) -> Self {
        let vars = input.vars.union(&pattern.scope.values().copied().collect());
        let certain = input.certain.union(&bound);
        Self::new(LogicalOp::Lateral { input: Box::new(input), pattern, bound }, vars, certain)
    }

    pub fn minus(left: Self, right: Self) -> Self {
        let (vars, certain) = (left.vars.clone(), left.certain.clone());
        Self::new(LogicalOp::Minus { left: Box::new(left), right: Box::new(right) }, vars, certain)
    }

    pub fn filter(input: Self, exprs: Vec<Expr>) -> Self {
        if exprs.is_empty() {
            return input;
        }
        let (vars, certain) = (input.vars.clone(), input.certain.clone());
        Self::new(LogicalOp::Filter { input: Box::new(input), exprs }, vars, certain)
    }

    pub fn extend(input: Self, var: VarId, expr: Expr) -> Self {
        let (mut vars, mut certain) = (input.vars.clone(), input.certain.clone());
        vars.insert(var);
        let bound = match &expr {
            Expr::Const(_) | Expr::Bound(_) => true,
            Expr::Var(v) => input.certain.contains(*v),
            _ => false,
        };
        if bound {
            certain.insert(var);
        }
        Self::new(LogicalOp::Extend { input: Box::new(input), var, expr }, vars, certain)
    }

    pub fn union(branches: Vec<Self>) -> Self {
        let mut vars = VarSet::new();
        for branch in &branches {
            vars.extend(&branch.vars);
        }
        let certain = vars.iter().filter(|v| branches.iter().all(|b| b.certain.contains(*v))).collect();
        Self::new(LogicalOp::Union(branches), vars, certain)
    }

    /// Columns that the input lacks are unbound.
    pub fn project(input: Self, columns: Vec<VarId>) -> Self {
        let vars: VarSet = columns.iter().copied().collect();
        let certain = input.certain.intersect(&vars);
        Self::new(LogicalOp::Project { input: Box::new(input), columns }, vars, certain)
    }

    pub fn distinct(input: Self) -> Self {
        let (vars, certain) = (input.vars.clone(), input.certain.clone());
        Self::new(LogicalOp::Distinct(Box::new(input)), vars, certain)
    }

    pub fn reduced(input: Self) -> Self {
        let (vars, certain) = (input.vars.clone(), input.certain.clone());
        Self::new(LogicalOp::Reduced(Box::new(input)), vars, certain)
    }

    pub fn sort(input: Self, keys: Vec<SortKey>, limit: Option<usize>) -> Self {
        let (vars, certain) = (input.vars.clone(), input.certain.clone());
        Self::new(LogicalOp::Sort { input: Box::new(input), keys, limit }, vars, certain)
    }

    pub fn slice(input: Self, start: usize, length: Option<usize>) -> Self {
        let (vars, certain) = (input.vars.clone(), input.certain.clone());
        Self::new(LogicalOp::Slice { input: Box::new(input), start, length }, vars, certain)
    }

    /// A slice of the rows with each combination of `keys`.
    pub fn limit_by(input: Self, keys: Vec<VarId>, start: usize, length: Option<usize>) -> Self {
        if keys.is_empty() {
            return Self::slice(input, start, length);
        }
        let (vars, certain) = (input.vars.clone(), input.certain.clone());
        Self::new(LogicalOp::LimitBy { input: Box::new(input), keys, start, length }, vars, certain)
    }

    pub fn group(input: Self, keys: Vec<VarId>, aggregates: Vec<Aggregate>) -> Self {
        let mut vars: VarSet = keys.iter().copied().collect();
        let mut certain = input.certain.intersect(&vars);
        for aggregate in &aggregates {
            vars.insert(aggregate.output);
            if aggregate.function.always_bound {
                certain.insert(aggregate.output);
            }
        }
        Self::new(LogicalOp::Group { input: Box::new(input), keys, aggregates }, vars, certain)
    }
}
