//! The physical plan: what execution runs. Immutable, shared by all threads of a query.

use crate::expr::{Aggregate, Expr};
use crate::id_set::IdList;
pub use crate::pattern::{
    Dataset, DatasetOverride, GraphScope, InferredGraph, NamedGraphs, Slot, SubPattern, TermSlot,
    VisibleGraphs,
};
use crate::place_search::PlaceJoin;
use crate::reuse::Reuse;
use crate::service_call::ServiceCall;
use crate::steps::PlanStep;
use crate::typing::{ClassEdges, Typing};
pub use crate::variable::{VarId, VarTable};
use lode_packed::Order;
use lode_rdf::{Term, ValueId};
use std::ops::Range;
use std::sync::Arc;

/// A quad pattern read from one permutation.
///
/// `order` is chosen such that the constants form a prefix (of S, P, O; `Gspo` when a constant graph comes first). A graph
/// condition that is not a prefix is checked row by row. Output rows come sorted in `order`.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanPattern {
    /// Subject.
    pub subject: Slot,
    /// Predicate.
    pub predicate: Slot,
    /// Object.
    pub object: Slot,
    /// Graphs.
    pub graph: GraphScope,
    /// The permutation.
    pub order: Order,
    /// Only rows whose first column after the constants lies in it are asked for; others may be left out. Never in a look-up.
    pub within: Option<Range<ValueId>>,
}

impl ScanPattern {
    /// Whether it reads the rows of another, where no variable occurs twice: they differ in the names of variables only.
    pub fn has_rows_of(&self, other: &Self) -> bool {
        let same = |(a, b): (Slot, Slot)| a == b || matches!((a, b), (Slot::Var(_), Slot::Var(_)));
        let slots =
            [(self.subject, other.subject), (self.predicate, other.predicate), (self.object, other.object)];
        let scope = (&self.graph, &self.within, self.order) == (&other.graph, &other.within, other.order);
        scope && slots.into_iter().all(same)
    }
}

/// A pattern of a [`PlanOp::MultiwayJoin`], read as a trie: its variables are levels, in the sequence that its order has them in.
#[derive(Debug, Clone, PartialEq)]
pub struct TriePattern {
    /// Subject, predicate and object are constants, which come first in the order, or variables, which differ; there is at least
    /// one. The scope has no variable and no `Any`, so that each match is one row.
    pub pattern: ScanPattern,
    /// All of it is read before the join begins, where memory suffices. Otherwise keys are sought in the permutation.
    pub whole: bool,
}

/// What becomes of the left (or input) rows of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// Matching pairs.
    Inner,
    /// Matching pairs, and left rows without a match (OPTIONAL).
    Left,
    /// Left rows with at least one match, once each (EXISTS).
    Semi,
    /// Left rows without a match (NOT EXISTS).
    Anti,
    /// SPARQL's MINUS: left rows for which no right row is compatible *and* shares a bound variable.
    Minus,
}

/// How two rows match: equality on `on` (bound on both sides in every row), SPARQL compatibility on `maybe` (variables of
/// both sides that may be unbound on one: unbound matches everything, and the output takes the bound value), and `filter`, which
/// sees both sides.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JoinCondition {
    /// Shared and certainly bound on both sides.
    pub on: Vec<VarId>,
    /// Shared and possibly unbound on at least one side.
    pub maybe: Vec<VarId>,
    /// Further condition over the joined row (the filter of an OPTIONAL, of an EXISTS).
    pub filter: Option<Expr>,
}

impl JoinCondition {
    /// How geometries of sides with these columns are related, where that is what joins them, and what else has to hold.
    pub fn place_join(&self, left: &[VarId], right: &[VarId]) -> Option<(PlaceJoin<'_>, Self)> {
        if !(self.on.is_empty() && self.maybe.is_empty()) {
            return None;
        }
        let filters = match self.filter.as_ref()? {
            Expr::And(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let (at, join) = PlaceJoin::between(filters, left, right)?;
        let others = filters.iter().enumerate().filter(|(other, _)| *other != at);
        let filter = Expr::and(others.map(|(_, filter)| filter.clone()).collect());
        Some((join, Self { filter, ..Self::default() }))
    }
}

/// A property path between two slots, over numbered predicates.
#[derive(Debug, Clone, PartialEq)]
pub enum Path {
    /// One predicate; `None`: not in the store, matches nothing.
    Predicate(Option<ValueId>),
    /// `^p`.
    Reverse(Box<Path>),
    /// `a/b`.
    Sequence(Box<Path>, Box<Path>),
    /// `a|b`.
    Alternative(Box<Path>, Box<Path>),
    /// `p*`.
    ZeroOrMore(Box<Path>),
    /// `p+`.
    OneOrMore(Box<Path>),
    /// `p?`.
    ZeroOrOne(Box<Path>),
    /// `!(a|b)`: any predicate but these.
    Negated(Vec<ValueId>),
    /// `rdf:type`, with what a schema says.
    Type(Arc<TypeStep>),
}

impl Path {
    /// Whether the path can have no length.
    pub fn is_nullable(&self) -> bool {
        match self {
            Self::Predicate(_) | Self::Negated(_) | Self::Type(_) => false,
            Self::Reverse(inner) | Self::OneOrMore(inner) => inner.is_nullable(),
            Self::Sequence(a, b) => a.is_nullable() && b.is_nullable(),
            Self::Alternative(a, b) => a.is_nullable() || b.is_nullable(),
            Self::ZeroOrMore(_) | Self::ZeroOrOne(_) => true,
        }
    }
}

/// A step along `rdf:type` inside a property path, where a schema says more than the data: to the classes above those that are stated, and to those
/// that a node is an instance of by a domain or a range. All of it is by ids: what has none is nowhere in the data. Outside of repeated paths these are
/// scans.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeStep {
    /// What states that a node is an instance of a class.
    pub stated: Path,
    /// What types a node by being there.
    pub typing: Vec<Typing>,
    /// What is above what.
    pub classes: ClassEdges,
}

/// A sort key.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey {
    /// What to sort by.
    pub expr: Expr,
    /// `DESC`.
    pub descending: bool,
}

/// An operator with its inputs.
///
/// Every variable that an expression mentions is a column of its operator's input (joins: of one of the two). Filter, Extend,
/// TripleTerm, Project, Distinct, Reduced, Slice, LimitBy, a Path with input, and all joins keep the order of their (left)
/// input; Distinct keeps the first of equal rows. This holds for any order, that of `sorted_by` and that of a Sort below.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanOp {
    /// One row without columns (the empty group).
    Unit,
    /// No rows.
    Empty,
    /// Inline data; columns are the node's `vars`, `None` is UNDEF.
    Values(Vec<Vec<Option<Term>>>),
    /// These ids in the node's only column: texts that an index found.
    Ids(Arc<IdList>),
    /// The distinct bindings of outer variables for which a dependent plan (an EXISTS) is run: those of the node's `vars`, each once. Who runs
    /// the plan hands them in.
    Domain,
    /// The rows of a sub-plan that others run, by the number it has there: in the order of `sorted_by`, of terms that the store knows, or inline. Who
    /// runs the plan hands them in.
    Fragment { number: u32 },
    /// Reads one permutation.
    IndexScan(ScanPattern),
    /// The named graphs of the dataset, into the variable or filtered to the constant (`GRAPH ?g {}`).
    GraphNames { slot: Slot, among: Option<NamedGraphs> },
    /// Both inputs sorted by `on` (in this order, ascending ids), all of `on` certainly bound. Kinds: Inner, Left, Semi, Anti.
    /// Output keeps the left's order.
    MergeJoin { left: Arc<PlanNode>, right: Arc<PlanNode>, kind: JoinKind, condition: JoinCondition },
    /// Builds a table from `right`, probes with `left`; all kinds. With `condition.on` empty, a nested loop, or a spatial join
    /// ([`JoinCondition::place_join`]). Keeps the left's order.
    HashJoin { left: Arc<PlanNode>, right: Arc<PlanNode>, kind: JoinKind, condition: JoinCondition },
    /// Looks up `pattern` for each input row, in sorted batches: variables of the pattern that `input` binds (certainly) act as constants
    /// and together with the pattern's constants form a prefix of its order. Kinds: Inner, Left, Semi, Anti. `condition.filter` may be set.
    /// All variables that input and pattern share are in `condition.on`, none in `maybe`. Output keeps the input's order.
    LookupJoin { input: Arc<PlanNode>, pattern: ScanPattern, kind: JoinKind, condition: JoinCondition },
    /// The join of all patterns at once, one variable after the other (leapfrog triejoin). The node's `vars` are the sequence of
    /// variables: each pattern's order has its own in the same sequence. Rows come sorted by them, and none comes twice.
    MultiwayJoin(Vec<TriePattern>),
    /// Keeps rows for which all hold.
    Filter { input: Arc<PlanNode>, exprs: Vec<Expr> },
    /// Adds a column (BIND, select expressions); an error leaves it unbound.
    Extend { input: Arc<PlanNode>, var: VarId, expr: Expr },
    /// Matches the triple term (RDF 1.2) in `term` against a pattern: binds or compares its components. Rows whose `term` is no triple
    /// term vanish. A variable that the input binds is compared (unbound there: bound).
    TripleTerm { input: Arc<PlanNode>, term: VarId, subject: TermSlot, predicate: TermSlot, object: TermSlot },
    /// Bag union; columns are the node's `vars`, those that an input lacks are unbound.
    Union(Vec<PlanNode>),
    /// The same of two or more inputs that have the node's columns, in any sequence, and come sorted by the node's `sorted_by`, all of which is
    /// certainly bound: keeps that order.
    MergeUnion(Vec<PlanNode>),
    /// Keeps the node's `vars` (in this order; one that the input lacks is unbound).
    Project(Arc<PlanNode>),
    /// One of each row.
    Distinct(Arc<PlanNode>),
    /// May drop duplicates.
    Reduced(Arc<PlanNode>),
    /// Sorts; with `limit` keeps only the first so many (top-k). Stable.
    Sort { input: Arc<PlanNode>, keys: Vec<SortKey>, limit: Option<usize> },
    /// Rows `start..start + length`.
    Slice { input: Arc<PlanNode>, start: usize, length: Option<usize> },
    /// Rows `start..start + length` of those that have the same `keys`, for each combination of them; in the order of the input.
    LimitBy { input: Arc<PlanNode>, keys: Vec<VarId>, start: usize, length: Option<usize> },
    /// Groups. With `keys` empty there is exactly one group, also over no rows. `sorted`: the input comes grouped by its keys,
    /// so the groups stream.
    Group { input: Arc<PlanNode>, keys: Vec<VarId>, aggregates: Vec<Aggregate>, sorted: bool },
    /// A path that needs a search (`*`, `+`, `?`) or was not taken apart; ends that are variables bound by `input` are
    /// looked up from there; without `input` the path stands alone. Set semantics of `*`, `+`, `?` per spec.
    ///
    /// With `input` the result is exactly the join of the input with the path standing alone: a term that comes from the input
    /// matches itself by a path of length zero only if it occurs as subject or object in the graph (a constant of the path
    /// always does). Where the name of `graph` is a variable, the path is searched in each graph and the variable is a column; an `input` then
    /// has it and an end, and a path that may have no length has no constant end without it. The name is never `Any`.
    Path { input: Option<Arc<PlanNode>>, subject: TermSlot, path: Path, object: TermSlot, graph: GraphScope },
    /// For each graph of `among` (or each named graph): plan and run `pattern` with `graph` set to it, and bind `var` to it.
    /// Rows whose own binding of `var` differs vanish.
    ForEachGraph { var: VarId, among: Option<NamedGraphs>, pattern: Arc<SubPattern> },
    /// For each row of the input: plan and run `pattern` with the row's values put in, for the distinct bindings of many rows at once, and join the row with
    /// what comes of it (LATERAL). Columns are the input's, and those of the pattern's `scope` that it lacks. In any order.
    Lateral { input: Arc<PlanNode>, pattern: Arc<SubPattern> },
    /// The rows of a sub-plan that the query has several times: made once, when they are first asked for, and read by each node with
    /// this `number`. The first of them in the plan (parents before children, left before right) has the sub-plan as `input`. The node's
    /// `vars` are the sub-plan's `columns`, one for one; a variable of the sub-plan means nothing outside of it. Keeps the sub-plan's order.
    Spool { number: u32, columns: Vec<VarId>, input: Option<Arc<PlanNode>> },
    /// A federated query. With `input` the result is the join of its rows (the left side) with those of the endpoint, by compatibility, in any
    /// order: bindings of the variables that both have are sent along, a block of them at a time. Kinds: Inner, Left, Semi, Anti; `filter` is the
    /// join's. Without `input`: all rows, Inner.
    Service { input: Option<Arc<PlanNode>>, call: Arc<ServiceCall>, kind: JoinKind, filter: Option<Expr> },
}

/// A plan node: an operator, and what is known of its output.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanNode {
    /// Number in the plan, for profiles; unique, dense from 0.
    pub id: u32,
    /// The operator.
    pub op: PlanOp,
    /// Output columns, in order.
    pub vars: Vec<VarId>,
    /// Those bound in every row; sorted.
    pub certain: Vec<VarId>,
    /// Ids ascend by these columns, most significant first (empty: no known order).
    pub sorted_by: Vec<VarId>,
    /// Estimated rows.
    pub rows: f64,
    /// Estimated cost, this node and all below, in nanoseconds.
    pub cost: f64,
}

impl PlanNode {
    /// No rows, and no columns.
    fn nothing() -> Self {
        let (vars, certain, sorted_by) = (Vec::new(), Vec::new(), Vec::new());
        Self { id: 0, op: PlanOp::Empty, vars, certain, sorted_by, rows: 0.0, cost: 0.0 }
    }
}

/// What a query returns.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryForm {
    /// Rows of these variables, in order.
    Select(Vec<VarId>),
    /// Whether there is a row.
    Ask,
    /// Triples from a template; blank nodes are fresh per row; variables by id.
    Construct(Vec<ConstructTriple>),
    /// Descriptions (concise bounded) of all terms bound to these variables.
    Describe(Vec<VarId>),
}

/// A position of a CONSTRUCT template.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstructTerm {
    /// A ground term.
    Const(Term),
    /// A variable's value.
    Var(VarId),
    /// A blank node, fresh for each row, the same for the same number within a row.
    Blank(u32),
    /// A triple term.
    Triple(Box<ConstructTriple>),
}

/// A triple of a CONSTRUCT template.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstructTriple {
    /// Subject.
    pub subject: ConstructTerm,
    /// Predicate.
    pub predicate: ConstructTerm,
    /// Object.
    pub object: ConstructTerm,
}

/// A planned query.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The top operator.
    pub root: PlanNode,
    /// Result form.
    pub form: QueryForm,
    /// All variables.
    pub vars: VarTable,
    /// Dataset, for patterns planned while running.
    pub dataset: Arc<Dataset>,
    /// Number of nodes (ids are below it).
    pub node_count: u32,
    /// For which data and constants it is right.
    pub reuse: Reuse,
    /// Whether it is right only for the literals that the query had.
    pub uses_literals: bool,
    /// Levels, with those of expressions and of patterns that are planned while it runs: for [`crate::stack::deep`].
    pub depth: usize,
    /// How it was made.
    pub steps: Vec<PlanStep>,
}

/// Plans that are no deeper are dropped where they are.
const LOW: usize = 64;

impl Drop for Plan {
    fn drop(&mut self) {
        if self.depth > LOW {
            let root = std::mem::replace(&mut self.root, PlanNode::nothing());
            crate::stack::deep(self.depth, || drop(root));
        }
    }
}
