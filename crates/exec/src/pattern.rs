//! A scan pattern made ready to run: what each column of its order must equal, which columns must be read, and which rows
//! of what was read are answers.

use lode_packed::{Order, Position};
use lode_rdf::ValueId;
use lode_sparql::{GraphScope, ScanPattern, Slot, VarId};
use std::ops::Range;
use std::sync::Arc;

/// The four columns of an order; those not read are empty.
pub(crate) type Columns = [Vec<ValueId>; 4];

/// What a column must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    /// This id.
    Const(ValueId),
    /// The value of a variable that the left side of a look-up binds.
    Bound(VarId),
    /// Anything; the variable receives it.
    Free(VarId),
    /// Anything.
    Any,
}

/// A condition on rows that the key range does not express.
#[derive(Debug, Clone)]
enum Check {
    Equal(usize, ValueId),
    Same(usize, usize),
    NotDefault(usize),
    Among(usize, Arc<[ValueId]>),
}

/// A pattern ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// The permutation.
    pub(crate) order: Order,
    /// By column of the order.
    pub(crate) cells: [Cell; 4],
    /// Leading columns that are constants.
    pub(crate) consts: usize,
    /// Leading columns that are constants or bound: the key of a look-up.
    pub(crate) keys: usize,
    /// Columns to deliver: the variable, and its column.
    pub(crate) outputs: Vec<(VarId, usize)>,
    /// Bound variables outside the key, to be compared pair by pair.
    pub(crate) residual: Vec<(VarId, usize)>,
    /// Values of the first column after the constants outside of which no row is asked for.
    pub(crate) within: Option<Range<ValueId>>,
    /// No row can match.
    pub(crate) impossible: bool,
    checks: Vec<Check>,
    /// Whether equal triples of different graphs count once, and the columns in which triples of one key differ.
    distinct: Option<Vec<usize>>,
}

/// Which graphs' quads a pattern may see, as a cell and further conditions.
struct GraphCondition {
    cell: Cell,
    not_default: bool,
    among: Option<Arc<[ValueId]>>,
    distinct: bool,
    impossible: bool,
}

impl Pattern {
    /// Prepares `pattern`. `bound` tells the variables that come from outside, `needed` those that somebody reads.
    /// `single_graph`: all quads are in the default graph, which saves checks.
    pub(crate) fn new(
        pattern: &ScanPattern,
        bound: impl Fn(VarId) -> bool,
        needed: impl Fn(VarId) -> bool,
        single_graph: bool,
    ) -> Self {
        let graph = graph_condition(&pattern.graph, pattern.order, single_graph);
        let cell = |slot: Slot| match slot {
            Slot::Const(id) => Cell::Const(id),
            Slot::Var(var) => Cell::Free(var),
            Slot::Any => Cell::Any,
        };
        let cells = pattern.order.positions().map(|position| {
            let cell = match position {
                Position::S => cell(pattern.subject),
                Position::P => cell(pattern.predicate),
                Position::O => cell(pattern.object),
                Position::G => graph.cell,
            };
            match cell {
                Cell::Free(var) if bound(var) => Cell::Bound(var),
                other => other,
            }
        });
        let leading = |ok: fn(&Cell) -> bool| cells.iter().take_while(|c| ok(c)).count();
        let mut this = Self {
            order: pattern.order,
            cells,
            consts: leading(|c| matches!(c, Cell::Const(_))),
            keys: leading(|c| matches!(c, Cell::Const(_) | Cell::Bound(_))),
            outputs: Vec::new(),
            residual: Vec::new(),
            within: pattern.within.clone(),
            impossible: graph.impossible,
            checks: Vec::new(),
            distinct: None,
        };
        this.add_checks(&needed);
        this.add_graph_checks(&graph);
        this
    }

    fn add_checks(&mut self, needed: &impl Fn(VarId) -> bool) {
        let mut seen: Vec<(VarId, usize)> = Vec::new();
        for (column, cell) in self.cells.iter().enumerate() {
            match *cell {
                Cell::Const(id) if column >= self.keys => self.checks.push(Check::Equal(column, id)),
                Cell::Bound(var) if column >= self.keys => self.residual.push((var, column)),
                Cell::Free(var) => match seen.iter().find(|(v, _)| *v == var) {
                    Some((_, first)) => self.checks.push(Check::Same(*first, column)),
                    None => {
                        seen.push((var, column));
                        if needed(var) {
                            self.outputs.push((var, column));
                        }
                    }
                },
                _ => {}
            }
        }
    }

    fn add_graph_checks(&mut self, graph: &GraphCondition) {
        let column = self.order.column_of(Position::G);
        if graph.not_default {
            self.checks.push(Check::NotDefault(column));
        }
        if let Some(among) = &graph.among {
            self.checks.push(Check::Among(column, Arc::clone(among)));
        }
        if graph.distinct {
            self.distinct = Some((self.keys..4).filter(|c| *c != column).collect());
        }
    }

    /// The values of the leading constants.
    pub(crate) fn prefix(&self) -> Vec<ValueId> {
        let value = |cell: &Cell| match cell {
            Cell::Const(id) => Some(*id),
            _ => None,
        };
        self.cells.iter().map_while(value).collect()
    }

    /// Where values of the first column after the constants lie that are asked for and that `part` has.
    pub(crate) fn range(&self, part: Option<&Range<ValueId>>) -> Option<Range<ValueId>> {
        match (&self.within, part) {
            (None, part) => part.cloned(),
            (Some(within), None) => Some(within.clone()),
            (Some(within), Some(part)) => {
                let start = within.start.max(part.start);
                Some(start..within.end.min(part.end).max(start))
            }
        }
    }

    /// Whether the rows may be divided by ranges of the first column after the constants: graphs that hold one triple are one row, which
    /// parts that are ranges of graphs would each deliver.
    pub(crate) fn is_divisible(&self) -> bool {
        let first = self.consts;
        first < 4 && self.distinct.as_ref().is_none_or(|distinct| distinct.contains(&first))
    }

    /// The columns that must be read (bit `i` = column `i`), not counting key columns.
    pub(crate) fn mask(&self) -> u8 {
        let mut mask = 0;
        for (_, column) in self.outputs.iter().chain(&self.residual) {
            mask |= 1 << column;
        }
        for check in &self.checks {
            mask |= match check {
                Check::Equal(c, _) | Check::NotDefault(c) | Check::Among(c, _) => 1 << c,
                Check::Same(a, b) => (1 << a) | (1 << b),
            };
        }
        self.distinct.iter().flatten().fold(mask, |mask, column| mask | (1 << column))
    }

    /// Whether every row in the key range is an answer.
    pub(crate) fn is_plain(&self) -> bool {
        self.checks.is_empty() && self.distinct.is_none()
    }

    /// The rows among `start..end` of `columns` that pass all checks, appended to `selection`. `last` carries the last row
    /// of the part before, for the removal of duplicates; `None` where a new key range begins.
    pub(crate) fn select(
        &self,
        columns: &Columns,
        start: usize,
        end: usize,
        last: &mut Option<Vec<ValueId>>,
        selection: &mut Vec<u32>,
    ) {
        let first = selection.len();
        #[expect(clippy::cast_possible_truncation, reason = "batches are far shorter than 4 G rows")]
        selection.extend(start as u32..end as u32);
        for check in &self.checks {
            retain(selection, first, |row| match check {
                Check::Equal(c, id) => columns[*c][row] == *id,
                Check::Same(a, b) => columns[*a][row] == columns[*b][row],
                Check::NotDefault(c) => columns[*c][row] != ValueId::DEFAULT_GRAPH,
                Check::Among(c, ids) => ids.binary_search(&columns[*c][row]).is_ok(),
            });
        }
        if let Some(distinct) = &self.distinct {
            retain(selection, first, |row| {
                let new = match last {
                    Some(last) => distinct.iter().zip(last.iter()).any(|(c, id)| columns[*c][row] != *id),
                    None => true,
                };
                if new {
                    let last = last.get_or_insert_default();
                    last.clear();
                    last.extend(distinct.iter().map(|c| columns[*c][row]));
                }
                new
            });
        }
    }
}

/// `Vec::retain` from element `first` on.
fn retain(selection: &mut Vec<u32>, first: usize, mut keep: impl FnMut(usize) -> bool) {
    let mut kept = first;
    for i in first..selection.len() {
        let row = selection[i];
        if keep(row as usize) {
            selection[kept] = row;
            kept += 1;
        }
    }
    selection.truncate(kept);
}

fn graph_condition(scope: &GraphScope, order: Order, single_graph: bool) -> GraphCondition {
    let mut condition = GraphCondition {
        cell: Cell::Any,
        not_default: false,
        among: None,
        distinct: false,
        impossible: false,
    };
    match scope {
        GraphScope::Default if single_graph && order != Order::Gspo => {}
        GraphScope::Default => condition.cell = Cell::Const(ValueId::DEFAULT_GRAPH),
        GraphScope::Union => condition.distinct = !single_graph,
        GraphScope::Merge(graphs) => match graphs.as_ref() {
            [] => condition.impossible = true,
            [graph] => condition.cell = Cell::Const(*graph),
            _ => {
                let mut sorted = graphs.to_vec();
                sorted.sort_unstable();
                condition.among = Some(sorted.into());
                condition.distinct = true;
            }
        },
        GraphScope::Named { slot: Slot::Const(graph), among } => {
            condition.cell = Cell::Const(*graph);
            condition.impossible = among.as_ref().is_some_and(|a| a.binary_search(graph).is_err());
        }
        GraphScope::Named { slot, among } => {
            condition.cell = match slot {
                Slot::Var(var) => Cell::Free(*var),
                _ => Cell::Any,
            };
            condition.not_default = order != Order::Gspo;
            condition.among.clone_from(among);
            condition.impossible = single_graph;
        }
    }
    condition
}
