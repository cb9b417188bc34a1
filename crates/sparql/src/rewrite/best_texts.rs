//! Of the first rows by `text:score(?text, "query")`, descending, those of the best texts are enough, where there is an index of words: as many texts as make so many rows, and all others
//! that are as good as the worst of them, where anything else decides among these.
//!
//! How many rows a text makes is counted: the quads of the pattern that have it, in the graphs that are asked, and, where further patterns say something of the same subject, the quads of
//! these. It may be told too low, never too high: more texts are looked at then. OPTIONAL makes rows more and never fewer, so it may stand above.

use super::texts::{objects, of_text, search};
use crate::expr::Expr;
use crate::id_set::IdList;
use crate::logical::{Logical, LogicalOp as Op, QuadPattern};
use crate::plan::{GraphScope, Slot, VarId};
use crate::statistics::{RowsOf, Statistics};
use crate::text_search::SCORE;
use lode_packed::{Order, Position};
use lode_rdf::ValueId;

/// Quads of a text, or of a subject, that are looked at one by one.
const QUADS_MAX: usize = 64;

/// Looks up the texts of first rows.
pub(super) fn look_up(logical: Logical, stats: &dyn Statistics) -> Logical {
    let logical = match logical.op {
        Op::Slice { input, start, length: Some(length) } => {
            let rows = start.saturating_add(length);
            Logical::slice(best_first(*input, rows, stats), start, Some(length))
        }
        op => Logical { op, ..logical },
    };
    logical.map_inputs(&mut |input| look_up(input, stats))
}

/// The same first rows of a sort by score, of few texts.
fn best_first(logical: Logical, rows: usize, stats: &dyn Statistics) -> Logical {
    match logical.op {
        Op::Project { input, columns } => Logical::project(best_first(*input, rows, stats), columns),
        Op::Sort { input, keys, limit } => {
            let input = match keys.first() {
                Some(key) if key.descending => {
                    let wanted = Wanted { rows: rows as u64, all_equals: keys.len() > 1, stats };
                    wanted.restrict(*input, &key.expr)
                }
                _ => *input,
            };
            Logical::sort(input, keys, limit)
        }
        op => Logical { op, ..logical },
    }
}

/// How many of the first rows are wanted, and whether something else than the score decides among those that are equally good.
#[derive(Clone, Copy)]
struct Wanted<'s> {
    rows: u64,
    all_equals: bool,
    stats: &'s dyn Statistics,
}

impl Wanted<'_> {
    /// The rows with the greatest values of `by`, and perhaps others.
    fn restrict(self, logical: Logical, by: &Expr) -> Logical {
        match logical.op {
            Op::Project { input, columns } => Logical::project(self.restrict(*input, by), columns),
            Op::Extend { input, var, expr } => {
                let by = if *by == Expr::Var(var) { &expr } else { by };
                let input = self.restrict(*input, by);
                Logical::extend(input, var, expr)
            }
            Op::Distinct(input) => Logical::distinct(self.restrict_distinct(*input, by)),
            Op::LeftJoin { left, right, filter } => {
                Logical::left_join(self.restrict(*left, by), *right, filter)
            }
            Op::Join { mut members, filters } => match self.best(&members, &filters, by, false) {
                Some((var, list)) => {
                    members.push(Logical::ids(var, list));
                    Logical::join(members, Vec::new())
                }
                None => Logical::join(members, filters),
            },
            Op::Filter { input, exprs } => match self.best(std::slice::from_ref(&input), &exprs, by, false) {
                Some((var, list)) => Logical::join(vec![*input, Logical::ids(var, list)], Vec::new()),
                None => Logical::filter(*input, exprs),
            },
            op => Logical { op, ..logical },
        }
    }

    /// The same below a DISTINCT: each text is a row.
    fn restrict_distinct(self, logical: Logical, by: &Expr) -> Logical {
        let Op::Project { input, columns } = logical.op else { return logical };
        let input = match input.op {
            Op::Filter { input: pattern, exprs } if columns.len() == 1 => {
                match self.best(std::slice::from_ref(&pattern), &exprs, by, true) {
                    Some((var, list)) => Logical::join(vec![*pattern, Logical::ids(var, list)], Vec::new()),
                    None => Logical::filter(*pattern, exprs),
                }
            }
            op => Logical { op, ..*input },
        };
        Logical::project(input, columns)
    }

    /// The best objects of a pattern of which one condition is wanted, a search, by the score of the same search. All other patterns are of its subject.
    fn best(
        self,
        members: &[Logical],
        filters: &[Expr],
        by: &Expr,
        distinct: bool,
    ) -> Option<(VarId, IdList)> {
        let [filter] = filters else { return None };
        let (var, query) = search(filter)?;
        if of_text(by, SCORE) != Some((var, query)) {
            return None;
        }
        let at = members.iter().position(|member| objects(member, var).is_some())?;
        let pattern = objects(members.get(at)?, var)?;
        let others: Vec<&QuadPattern> = members
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, member)| scan(member))
            .collect::<Option<_>>()?;
        let counting = Counting { pattern, others: &others, stats: self.stats };
        if !counting.is_possible() {
            return None;
        }
        let mut rows_of = |id: ValueId| match counting.rows_of(id) {
            RowsOf::AtLeast(rows) if distinct => RowsOf::AtLeast(rows.min(1)),
            rows => rows,
        };
        let scope = pattern.text_scope();
        let list = self.stats.best_texts(query, scope, self.rows, self.all_equals, &mut rows_of)?;
        Some((var, list))
    }
}

fn scan(member: &Logical) -> Option<&QuadPattern> {
    if let Op::Scan(pattern) = &member.op { Some(pattern) } else { None }
}

/// Counts the rows of texts.
struct Counting<'c> {
    /// Whose objects they are.
    pattern: &'c QuadPattern,
    /// What else is said of its subjects.
    others: &'c [&'c QuadPattern],
    stats: &'c dyn Statistics,
}

impl Counting<'_> {
    /// Whether rows can be counted: each pattern binds variables of its own beside the subject.
    fn is_possible(&self) -> bool {
        let var = |slot: &Slot| if let Slot::Var(var) = slot { Some(*var) } else { None };
        let graph = |pattern: &QuadPattern| match &pattern.graph {
            GraphScope::Named { slot, .. } => var(slot),
            _ => None,
        };
        let all: Vec<&QuadPattern> =
            std::iter::once(self.pattern).chain(self.others.iter().copied()).collect();
        let mut vars: Vec<VarId> = Vec::new();
        for pattern in &all {
            vars.extend(
                [var(&pattern.predicate), var(&pattern.object), graph(pattern)].into_iter().flatten(),
            );
        }
        let subject = var(&self.pattern.subject);
        vars.extend(subject);
        let count = vars.len();
        vars.sort_unstable();
        vars.dedup();
        let is_of_subject = |other: &&QuadPattern| {
            other.subject == self.pattern.subject && matches!(other.predicate, Slot::Const(_))
        };
        vars.len() == count
            && all.iter().all(|pattern| pattern.objects.is_none())
            && self.others.iter().all(is_of_subject)
            && (self.others.is_empty() || subject.is_some())
    }

    /// The rows of a text.
    fn rows_of(&self, id: ValueId) -> RowsOf {
        let (order, prefix) = match (self.pattern.subject, self.pattern.predicate) {
            (Slot::Const(subject), Slot::Const(predicate)) => (Order::Spog, vec![subject, predicate, id]),
            (Slot::Const(subject), _) => (Order::Sopg, vec![subject, id]),
            (_, Slot::Const(predicate)) => (Order::Posg, vec![predicate, id]),
            _ => (Order::Ospg, vec![id]),
        };
        if self.others.is_empty() {
            return self.quads(self.pattern, order, &prefix);
        }
        let Some((rows, is_all)) = self.rows(self.pattern, order, &prefix) else { return RowsOf::AtLeast(0) };
        let all = rows.iter().map(|row| self.others_of(row.subject));
        let sum = all.fold(RowsOf::None, |sum, next| match (sum, next) {
            (RowsOf::AtLeast(a), RowsOf::AtLeast(b)) => RowsOf::AtLeast(a.saturating_add(b)),
            (RowsOf::None, other) | (other, RowsOf::None) => other,
        });
        if sum == RowsOf::None && !is_all { RowsOf::AtLeast(0) } else { sum }
    }

    /// How many rows what else is said makes of a subject.
    fn others_of(&self, subject: ValueId) -> RowsOf {
        self.others.iter().fold(RowsOf::AtLeast(1), |product, other| {
            let RowsOf::AtLeast(before) = product else { return product };
            let prefix: Vec<ValueId> = match (other.predicate, other.object) {
                (Slot::Const(predicate), Slot::Const(object)) => vec![subject, predicate, object],
                (Slot::Const(predicate), _) => vec![subject, predicate],
                _ => return RowsOf::AtLeast(0),
            };
            match self.quads(other, Order::Spog, &prefix) {
                RowsOf::AtLeast(count) => RowsOf::AtLeast(before.saturating_mul(count)),
                RowsOf::None => RowsOf::None,
            }
        })
    }

    /// How many rows the quads under a prefix are.
    fn quads(&self, pattern: &QuadPattern, order: Order, prefix: &[ValueId]) -> RowsOf {
        let count = if self.is_counted(pattern) {
            self.stats.count(order, prefix)
        } else {
            match self.rows(pattern, order, prefix) {
                Some((rows, is_all)) if is_all || !rows.is_empty() => rows.len() as u64,
                _ => return RowsOf::AtLeast(0),
            }
        };
        if count == 0 { RowsOf::None } else { RowsOf::AtLeast(count) }
    }

    /// Rows that quads under a prefix are, and whether these are all; none where nobody tells.
    fn rows(&self, pattern: &QuadPattern, order: Order, prefix: &[ValueId]) -> Option<(Vec<Row>, bool)> {
        let quads = self.stats.first_quads(order, prefix, QUADS_MAX)?;
        let is_all = quads.len() < QUADS_MAX;
        let [subject, predicate, object, graph] =
            [Position::S, Position::P, Position::O, Position::G].map(|position| order.column_of(position));
        let row = |quad: [ValueId; 4]| Row {
            subject: quad[subject],
            predicate: quad[predicate],
            object: quad[object],
            graph: quad[graph],
        };
        Some((in_scope(&pattern.graph, quads.into_iter().map(row).collect()), is_all))
    }

    /// Whether each quad under a prefix is a row, so that counting them is enough.
    fn is_counted(&self, pattern: &QuadPattern) -> bool {
        matches!(pattern.graph, GraphScope::Default | GraphScope::Union) && !self.stats.has_named_graphs()
    }
}

/// A quad, or a triple of merged graphs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    subject: ValueId,
    predicate: ValueId,
    object: ValueId,
    graph: ValueId,
}

/// What is a row in the graphs that are asked: duplicates across graphs count once, where these are merged.
fn in_scope(scope: &GraphScope, mut rows: Vec<Row>) -> Vec<Row> {
    let default = ValueId::DEFAULT_GRAPH;
    match scope {
        GraphScope::Default => rows.retain(|row| row.graph == default),
        GraphScope::Union => {}
        GraphScope::Merge(graphs) => rows.retain(|row| graphs.contains(&row.graph)),
        GraphScope::Named { slot, among } => rows.retain(|row| {
            let is_asked = match slot {
                Slot::Const(graph) => row.graph == *graph,
                Slot::Var(_) | Slot::Any => row.graph != default,
            };
            is_asked && among.as_ref().is_none_or(|among| among.contains(&row.graph))
        }),
    }
    if matches!(scope, GraphScope::Union | GraphScope::Merge(_)) {
        rows.iter_mut().for_each(|row| row.graph = default);
        rows.sort_unstable();
        rows.dedup();
    }
    rows
}
