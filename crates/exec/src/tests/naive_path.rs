//! Property paths as sets and bags of pairs.

use super::naive::{ROWS_MAX, Table, World, quads_in};
use lode_rdf::{Kind, ValueId};
use lode_sparql::plan::{Path, TermSlot, TypeStep};
use lode_sparql::typing::Typing;
use lode_sparql::{GraphScope, Slot, VarId};
use std::collections::BTreeSet;

type Pair = (ValueId, ValueId);

struct Graph {
    triples: Vec<[ValueId; 3]>,
    nodes: Vec<ValueId>,
}

/// The solutions of a path that stands alone: in one graph, or in each with its name.
pub(crate) fn eval(
    world: &World<'_>,
    ends: (&TermSlot, &TermSlot),
    path: &Path,
    scope: &GraphScope,
) -> Option<Table> {
    let GraphScope::Named { slot: Slot::Var(graph_var), among } = scope else {
        return in_one_graph(world, ends, path, scope);
    };
    let mut graphs: Vec<ValueId> = quads_in(world, scope).into_iter().map(|[_, _, _, g]| g).collect();
    graphs.sort_unstable();
    graphs.dedup();
    let (mut vars, mut rows) = (Vec::new(), Vec::new());
    for graph in graphs {
        let scope = GraphScope::Named { slot: Slot::Const(graph), among: among.clone() };
        let found = in_one_graph(world, ends, path, &scope)?;
        vars = found.vars;
        let with_graph = |mut row: Vec<ValueId>| {
            row.push(graph);
            row
        };
        rows.extend(found.rows.into_iter().map(with_graph));
    }
    if vars.is_empty() {
        let var = |slot: &TermSlot| match slot {
            TermSlot::Var(var) => Some(*var),
            TermSlot::Const(_) => None,
        };
        vars.extend(var(ends.0));
        vars.extend(var(ends.1).filter(|other| var(ends.0) != Some(*other)));
    }
    vars.push(*graph_var);
    Some(Table { vars, rows })
}

fn in_one_graph(
    world: &World<'_>,
    (subject, object): (&TermSlot, &TermSlot),
    path: &Path,
    scope: &GraphScope,
) -> Option<Table> {
    let triples: Vec<_> = quads_in(world, scope).into_iter().map(|[s, p, o, _]| [s, p, o]).collect();
    let mut nodes: Vec<ValueId> = triples.iter().flat_map(|[s, _, o]| [*s, *o]).collect();
    for slot in [subject, object] {
        if let TermSlot::Const(term) = slot {
            nodes.push(world.cx.intern(term).unwrap());
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    let pairs = pairs(path, &Graph { triples, nodes })?;
    let mut vars: Vec<VarId> = Vec::new();
    for slot in [subject, object] {
        if let TermSlot::Var(var) = slot
            && !vars.contains(var)
        {
            vars.push(*var);
        }
    }
    let mut rows = Vec::new();
    for (x, y) in pairs {
        let mut row = vec![ValueId::UNDEF; vars.len()];
        let mut fits = true;
        for (slot, id) in [(subject, x), (object, y)] {
            match slot {
                TermSlot::Const(term) => fits &= world.cx.intern(term).unwrap() == id,
                TermSlot::Var(var) => {
                    let i = vars.iter().position(|v| v == var).unwrap();
                    fits &= row[i].is_undef() || row[i] == id;
                    row[i] = id;
                }
            }
        }
        if fits {
            rows.push(row);
        }
    }
    Some(Table { vars, rows })
}

fn pairs(path: &Path, graph: &Graph) -> Option<Vec<Pair>> {
    let found = match path {
        Path::Predicate(predicate) => {
            let edges = graph.triples.iter().filter(|[_, p, _]| Some(*p) == *predicate);
            edges.map(|[s, _, o]| (*s, *o)).collect()
        }
        Path::Negated(excluded) => {
            let edges = graph.triples.iter().filter(|[_, p, _]| !excluded.contains(p));
            edges.map(|[s, _, o]| (*s, *o)).collect()
        }
        Path::Type(step) => types(step, graph)?,
        Path::Reverse(inner) => pairs(inner, graph)?.into_iter().map(|(x, y)| (y, x)).collect(),
        Path::Sequence(a, b) => compose(&pairs(a, graph)?, &pairs(b, graph)?)?,
        Path::Alternative(a, b) => {
            let mut all = pairs(a, graph)?;
            all.extend(pairs(b, graph)?);
            all
        }
        Path::ZeroOrOne(inner) => set(pairs(inner, graph)?, graph, true),
        Path::OneOrMore(inner) => closure(pairs(inner, graph)?)?,
        Path::ZeroOrMore(inner) => set(closure(pairs(inner, graph)?)?, graph, true),
    };
    (found.len() <= ROWS_MAX).then_some(found)
}

/// What is an instance of what: stated, or by a property that has it as domain or range, and the classes above.
fn types(step: &TypeStep, graph: &Graph) -> Option<Vec<Pair>> {
    let mut stated: BTreeSet<Pair> = pairs(&step.stated, graph)?.into_iter().collect();
    for Typing { property, inverse, classes } in &step.typing {
        for [s, _, o] in graph.triples.iter().filter(|[_, p, _]| p == property) {
            let node = if *inverse { *o } else { *s };
            if matches!(node.kind(), Some(Kind::Iri | Kind::Blank)) {
                stated.extend(classes.iter().map(|class| (node, *class)));
            }
        }
    }
    let mut all = stated;
    loop {
        let above = all
            .iter()
            .flat_map(|(node, class)| step.classes.next_to(*class, true).iter().map(|above| (*node, *above)));
        let more: Vec<Pair> = above.filter(|pair| !all.contains(pair)).collect();
        if more.is_empty() {
            return Some(all.into_iter().collect());
        }
        all.extend(more);
    }
}

fn compose(a: &[Pair], b: &[Pair]) -> Option<Vec<Pair>> {
    let mut all = Vec::new();
    for (x, y) in a {
        all.extend(b.iter().filter(|(from, _)| from == y).map(|(_, z)| (*x, *z)));
        if all.len() > ROWS_MAX {
            return None;
        }
    }
    Some(all)
}

fn set(mut pairs: Vec<Pair>, graph: &Graph, zero: bool) -> Vec<Pair> {
    if zero {
        pairs.extend(graph.nodes.iter().map(|node| (*node, *node)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn closure(step: Vec<Pair>) -> Option<Vec<Pair>> {
    let mut all = step.clone();
    loop {
        all.sort_unstable();
        all.dedup();
        let before = all.len();
        let more = compose(&all, &step)?;
        all.extend(more);
        all.sort_unstable();
        all.dedup();
        if all.len() == before {
            return Some(all);
        }
    }
}
