//! The operators straight from their definitions: nested loops over vectors of rows.

use crate::context::QueryContext;
use lode_eval::aggregate::{Accumulator, COUNT, COUNT_ROWS};
use lode_eval::batch::Batch;
use lode_eval::expr;
use lode_rdf::ValueId;
use lode_sparql::plan::{JoinCondition, NamedGraphs, SortKey};
use lode_sparql::{Aggregate, Expr, GraphScope, JoinKind, PlanNode, PlanOp, ScanPattern, Slot, VarId};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

pub(crate) type Row = Vec<ValueId>;

/// Rows with their columns.
pub(crate) struct Table {
    pub(crate) vars: Vec<VarId>,
    pub(crate) rows: Vec<Row>,
}

/// The context, and all quads as subject, predicate, object, graph.
pub(crate) struct World<'a> {
    pub(crate) cx: &'a QueryContext,
    pub(crate) quads: &'a [[ValueId; 4]],
    /// The rows of common sub-plans, by their numbers.
    pub(crate) spools: RefCell<HashMap<u32, Table>>,
}

/// More rows than tests are patient for.
pub(crate) const ROWS_MAX: usize = 20_000;

fn at(vars: &[VarId], row: &[ValueId], var: VarId) -> ValueId {
    vars.iter().position(|v| *v == var).map_or(ValueId::UNDEF, |i| row[i])
}

fn batch_of(vars: &[VarId], row: &[ValueId]) -> Batch {
    let columns = row.iter().map(|id| vec![*id]).collect();
    Batch { vars: vars.into(), columns, rows: 1 }
}

fn value(cx: &QueryContext, expr: &Expr, vars: &[VarId], row: &[ValueId]) -> ValueId {
    expr::evaluate(cx, expr, &batch_of(vars, row)).unwrap()[0]
}

fn holds(cx: &QueryContext, expr: &Expr, vars: &[VarId], row: &[ValueId]) -> bool {
    !expr::select(cx, expr, &batch_of(vars, row)).unwrap().is_empty()
}

/// The rows of a node; `None` when they are too many.
pub(crate) fn eval(world: &World<'_>, node: &PlanNode) -> Option<Table> {
    let cx = world.cx;
    let table = match &node.op {
        PlanOp::Unit => Table { vars: Vec::new(), rows: vec![Vec::new()] },
        PlanOp::Empty => Table { vars: node.vars.clone(), rows: Vec::new() },
        PlanOp::Values(rows) => {
            let id = |term: &Option<_>| term.as_ref().map_or(ValueId::UNDEF, |t| cx.intern(t).unwrap());
            let rows = rows.iter().map(|row| row.iter().map(id).collect()).collect();
            Table { vars: node.vars.clone(), rows }
        }
        PlanOp::Ids(list) => {
            Table { vars: node.vars.clone(), rows: list.ids.iter().map(|id| vec![*id]).collect() }
        }
        PlanOp::IndexScan(pattern) => scan(world, pattern),
        PlanOp::MultiwayJoin(tries) => {
            let mut joined = Table { vars: Vec::new(), rows: vec![Vec::new()] };
            for trie in tries {
                let right = scan(world, &trie.pattern);
                let on = right.vars.iter().copied().filter(|var| joined.vars.contains(var)).collect();
                let condition = JoinCondition { on, ..JoinCondition::default() };
                joined = join(cx, &joined, &right, JoinKind::Inner, &condition)?;
            }
            joined.rows = project(&joined, &node.vars);
            joined.rows.sort_unstable();
            Table { vars: node.vars.clone(), rows: joined.rows }
        }
        PlanOp::LookupJoin { input, pattern, kind, condition } => {
            join(cx, &eval(world, input)?, &scan(world, pattern), *kind, condition)?
        }
        PlanOp::GraphNames { slot, among } => graph_names(world, *slot, among.as_ref()),
        PlanOp::Path { input, subject, path, object, graph } => {
            let alone = super::naive_path::eval(world, (subject, object), path, graph)?;
            match input {
                None => alone,
                Some(input) => {
                    let input = eval(world, input)?;
                    let shared = input.vars.iter().copied().filter(|var| alone.vars.contains(var));
                    let condition = JoinCondition { maybe: shared.collect(), ..JoinCondition::default() };
                    join(cx, &input, &alone, JoinKind::Inner, &condition)?
                }
            }
        }
        PlanOp::MergeJoin { left, right, kind, condition }
        | PlanOp::HashJoin { left, right, kind, condition } => {
            join(cx, &eval(world, left)?, &eval(world, right)?, *kind, condition)?
        }
        PlanOp::Filter { input, exprs } => {
            let Table { vars, mut rows } = eval(world, input)?;
            rows.retain(|row| exprs.iter().all(|expr| holds(cx, expr, &vars, row)));
            Table { vars, rows }
        }
        PlanOp::Extend { input, var, expr } => {
            let Table { mut vars, mut rows } = eval(world, input)?;
            for row in &mut rows {
                row.push(value(cx, expr, &vars, row));
            }
            vars.push(*var);
            Table { vars, rows }
        }
        PlanOp::Union(inputs) | PlanOp::MergeUnion(inputs) => {
            let mut rows = Vec::new();
            for input in inputs {
                rows.extend(project(&eval(world, input)?, &node.vars));
            }
            Table { vars: node.vars.clone(), rows }
        }
        PlanOp::Spool { number, columns, input } => {
            if let Some(input) = input {
                let table = eval(world, input)?;
                world.spools.borrow_mut().insert(*number, table);
            }
            let spools = world.spools.borrow();
            Table { vars: node.vars.clone(), rows: project(&spools[number], columns) }
        }
        PlanOp::Project(input) => eval(world, input)?,
        PlanOp::Distinct(input) | PlanOp::Reduced(input) => {
            let Table { vars, rows } = eval(world, input)?;
            let mut distinct: Vec<Row> = Vec::new();
            for row in rows {
                if !distinct.contains(&row) {
                    distinct.push(row);
                }
            }
            Table { vars, rows: distinct }
        }
        PlanOp::Sort { input, keys, limit } => {
            let Table { vars, mut rows } = eval(world, input)?;
            rows.sort_by(|a, b| compare(cx, keys, &vars, a, b));
            rows.truncate(limit.unwrap_or(usize::MAX));
            Table { vars, rows }
        }
        PlanOp::Slice { input, start, length } => {
            let Table { vars, rows } = eval(world, input)?;
            let rows = rows.into_iter().skip(*start).take(length.unwrap_or(usize::MAX)).collect();
            Table { vars, rows }
        }
        PlanOp::Group { input, keys, aggregates, .. } => group(cx, &eval(world, input)?, keys, aggregates),
        other => panic!("no naive {other:?}"),
    };
    let rows = project(&table, &node.vars);
    (rows.len() <= ROWS_MAX).then(|| Table { vars: node.vars.clone(), rows })
}

/// Whether a quad's graph is one that `scope` looks into.
pub(crate) fn in_scope(scope: &GraphScope, graph: ValueId) -> bool {
    match scope {
        GraphScope::Default => graph == ValueId::DEFAULT_GRAPH,
        GraphScope::Union => true,
        GraphScope::Merge(graphs) => graphs.contains(&graph),
        GraphScope::Named { slot, among } => {
            let named = graph != ValueId::DEFAULT_GRAPH;
            let fits = !matches!(slot, Slot::Const(name) if *name != graph);
            named && fits && among.as_ref().is_none_or(|among| among.contains(&graph))
        }
    }
}

/// The quads in scope; of those that differ in their graph only, one, where the scope is a merge.
pub(crate) fn quads_in(world: &World<'_>, scope: &GraphScope) -> Vec<[ValueId; 4]> {
    let mut quads: Vec<_> = world.quads.iter().copied().filter(|quad| in_scope(scope, quad[3])).collect();
    if matches!(scope, GraphScope::Union | GraphScope::Merge(_)) {
        quads.sort_unstable();
        quads.dedup_by_key(|[s, p, o, _]| (*s, *p, *o));
    }
    quads
}

fn scan(world: &World<'_>, pattern: &ScanPattern) -> Table {
    let graph = match &pattern.graph {
        GraphScope::Named { slot, .. } => *slot,
        _ => Slot::Any,
    };
    let slots = [pattern.subject, pattern.predicate, pattern.object, graph];
    let mut vars: Vec<VarId> = Vec::new();
    for slot in slots {
        if let Slot::Var(var) = slot
            && !vars.contains(&var)
        {
            vars.push(var);
        }
    }
    let mut rows = Vec::new();
    for quad in quads_in(world, &pattern.graph) {
        let mut row = vec![ValueId::UNDEF; vars.len()];
        let mut fits = true;
        for (slot, id) in slots.iter().zip(quad) {
            match slot {
                Slot::Const(constant) => fits &= *constant == id,
                Slot::Any => {}
                Slot::Var(var) => {
                    let i = vars.iter().position(|v| v == var).unwrap();
                    fits &= row[i].is_undef() || row[i] == id;
                    row[i] = id;
                }
            }
        }
        if let Some(within) = &pattern.within {
            let constant = |position: &lode_packed::Position| {
                // A default graph that is a constant comes last, where no column is left to be confined.
                matches!(slots[*position as usize], Slot::Const(_))
            };
            let first_free = pattern.order.positions().into_iter().find(|position| !constant(position));
            fits &= first_free.is_none_or(|position| within.contains(&quad[position as usize]));
        }
        if fits {
            rows.push(row);
        }
    }
    Table { vars, rows }
}

fn graph_names(world: &World<'_>, slot: Slot, among: Option<&NamedGraphs>) -> Table {
    let mut names: Vec<ValueId> = world.quads.iter().map(|quad| quad[3]).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| *name != ValueId::DEFAULT_GRAPH);
    if let Some(among) = among {
        names = among.ids.to_vec();
    }
    match slot {
        Slot::Const(id) => {
            let rows = names.iter().filter(|name| **name == id).map(|_| Vec::new()).collect();
            Table { vars: Vec::new(), rows }
        }
        Slot::Var(var) => Table { vars: vec![var], rows: names.iter().map(|name| vec![*name]).collect() },
        Slot::Any => Table { vars: Vec::new(), rows: names.iter().map(|_| Vec::new()).collect() },
    }
}

fn project(table: &Table, vars: &[VarId]) -> Vec<Row> {
    let project = |row: &Row| vars.iter().map(|var| at(&table.vars, row, *var)).collect();
    table.rows.iter().map(project).collect()
}

pub(crate) fn compare(
    cx: &QueryContext,
    keys: &[SortKey],
    vars: &[VarId],
    a: &[ValueId],
    b: &[ValueId],
) -> Ordering {
    for key in keys {
        let (a, b) = (value(cx, &key.expr, vars, a), value(cx, &key.expr, vars, b));
        let order = expr::compare(cx, a, b).unwrap();
        let order = if key.descending { order.reverse() } else { order };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

fn join(
    cx: &QueryContext,
    left: &Table,
    right: &Table,
    kind: JoinKind,
    condition: &JoinCondition,
) -> Option<Table> {
    let mut vars = left.vars.clone();
    vars.extend(right.vars.iter().filter(|var| !left.vars.contains(var)));
    let mut rows = Vec::new();
    for l in &left.rows {
        let mut matched = false;
        for r in &right.rows {
            if !compatible(left, right, l, r, condition) {
                continue;
            }
            let shares =
                |var: &VarId| !at(&left.vars, l, *var).is_undef() && !at(&right.vars, r, *var).is_undef();
            if kind == JoinKind::Minus && !condition.on.iter().chain(&condition.maybe).any(shares) {
                continue;
            }
            let merge = |var: &VarId| {
                Some(at(&left.vars, l, *var)).filter(|id| !id.is_undef()).unwrap_or(at(&right.vars, r, *var))
            };
            let joined: Row = vars.iter().map(merge).collect();
            if condition.filter.as_ref().is_some_and(|filter| !holds(cx, filter, &vars, &joined)) {
                continue;
            }
            matched = true;
            if matches!(kind, JoinKind::Inner | JoinKind::Left) {
                rows.push(joined);
            }
        }
        let keep = match kind {
            JoinKind::Inner => false,
            JoinKind::Semi => matched,
            JoinKind::Left | JoinKind::Anti | JoinKind::Minus => !matched,
        };
        if keep {
            rows.push(vars.iter().map(|var| at(&left.vars, l, *var)).collect());
        }
        if rows.len() > ROWS_MAX {
            return None;
        }
    }
    Some(Table { vars, rows })
}

fn compatible(left: &Table, right: &Table, l: &[ValueId], r: &[ValueId], condition: &JoinCondition) -> bool {
    let ends = |var: &VarId| (at(&left.vars, l, *var), at(&right.vars, r, *var));
    condition.on.iter().map(ends).all(|(a, b)| a == b)
        && condition.maybe.iter().map(ends).all(|(a, b)| a == b || a.is_undef() || b.is_undef())
}

fn group(cx: &QueryContext, input: &Table, keys: &[VarId], aggregates: &[Aggregate]) -> Table {
    let mut groups: Vec<(Row, Vec<&Row>)> = Vec::new();
    if keys.is_empty() {
        groups.push((Vec::new(), Vec::new()));
    }
    for row in &input.rows {
        let key: Row = keys.iter().map(|key| at(&input.vars, row, *key)).collect();
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    let mut vars = keys.to_vec();
    vars.extend(aggregates.iter().map(|aggregate| aggregate.output));
    let finish = |(mut key, rows): (Row, Vec<&Row>)| {
        for aggregate in aggregates {
            key.push(reduce(cx, input, aggregate, &rows));
        }
        key
    };
    Table { vars, rows: groups.into_iter().map(finish).collect() }
}

fn reduce(cx: &QueryContext, input: &Table, aggregate: &Aggregate, rows: &[&Row]) -> ValueId {
    let integer = |n: usize| cx.intern(&lode_rdf::Literal::from(n as i64).into()).unwrap();
    if *aggregate.function == COUNT_ROWS {
        let mut rows = rows.to_vec();
        if aggregate.distinct {
            rows.sort();
            rows.dedup();
        }
        return integer(rows.len());
    }
    let argument = aggregate.argument.as_ref().unwrap();
    let mut values: Row = rows.iter().map(|row| value(cx, argument, &input.vars, row)).collect();
    if aggregate.distinct {
        let mut distinct = Row::new();
        for value in values {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        values = distinct;
    }
    if *aggregate.function == COUNT {
        return integer(values.iter().filter(|id| !id.is_undef()).count());
    }
    // The accumulators have tests of their own: here they only meet all rows of the group at once.
    let mut states = Accumulator::new(aggregate.function, None, false);
    states.resize(1);
    states.update(cx, &vec![0; values.len()], &values).unwrap();
    states.finish(cx, 0).unwrap()
}
