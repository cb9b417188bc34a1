//! What a plan node works on, in words.

use crate::expr::{Aggregate, Expr};
use crate::plan::{
    GraphScope, JoinCondition, JoinKind, NamedGraphs, Path, PlanNode, PlanOp, ScanPattern, Slot, TermSlot,
    TriePattern, VarId, VarTable,
};
use crate::service_call::ServiceCall;
use lode_rdf::{Term, ValueId};
use std::collections::BTreeMap;

/// Names of variables and constants.
pub(crate) struct Names<'a> {
    pub vars: &'a VarTable,
    pub term: &'a dyn Fn(ValueId) -> String,
    /// How many nodes read each common sub-plan.
    pub readers: BTreeMap<u32, usize>,
}

/// Whether the parser made a name up (for an aggregate, an anonymous blank node): a random number.
fn is_random(name: &str) -> bool {
    name.len() >= 24 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Longer texts are cut.
const TEXT_MAX: usize = 60;

impl Names<'_> {
    /// A variable with `?`; hidden ones (of blank nodes and of paths) as they are.
    pub fn var(&self, var: VarId) -> String {
        let name = self.vars.name(var);
        if let Some(label) = name.strip_prefix("_:") {
            if is_random(label) { format!("_:{}", var.0) } else { name.to_owned() }
        } else if let Some(hidden) = name.strip_prefix('.') {
            format!("?.{hidden}{}", var.0)
        } else if is_random(name) {
            format!("?.{}", var.0)
        } else {
            format!("?{name}")
        }
    }

    pub fn vars(&self, vars: &[VarId]) -> String {
        vars.iter().map(|v| self.var(*v)).collect::<Vec<_>>().join(" ")
    }

    fn slot(&self, slot: Slot) -> String {
        match slot {
            Slot::Const(id) => cut(&(self.term)(id)),
            Slot::Var(var) => self.var(var),
            Slot::Any => "*".to_owned(),
        }
    }

    fn term_slot(&self, slot: &TermSlot) -> String {
        match slot {
            TermSlot::Const(term) => term_text(term),
            TermSlot::Var(var) => self.var(*var),
        }
    }
}

pub(super) fn term_text(term: &Term) -> String {
    cut(&term.to_string())
}

fn cut(text: &str) -> String {
    if text.chars().count() <= TEXT_MAX {
        return text.to_owned();
    }
    let (start, end): (String, String) = (
        text.chars().take(TEXT_MAX / 2).collect(),
        text.chars().rev().take(TEXT_MAX / 2).collect::<Vec<_>>().into_iter().rev().collect(),
    );
    format!("{start}...{end}")
}

pub(super) fn detail(node: &PlanNode, names: &Names<'_>) -> String {
    match &node.op {
        PlanOp::Domain => names.vars(&node.vars),
        PlanOp::Values(rows) => format!("{} ({} rows)", names.vars(&node.vars), rows.len()),
        PlanOp::Ids(list) => format!("{} ({} terms of the index)", names.vars(&node.vars), list.ids.len()),
        PlanOp::IndexScan(pattern) => scan(pattern, names),
        PlanOp::GraphNames { slot, among } => {
            format!("{}{}", names.slot(*slot), among_text(among.as_ref().map(NamedGraphs::len)))
        }
        PlanOp::MergeJoin { kind, condition, .. } | PlanOp::HashJoin { kind, condition, .. } => {
            format!("{}{}", join_kind(*kind), join(condition, names))
        }
        PlanOp::LookupJoin { pattern, kind, condition, .. } => {
            format!("{}{} in {}", join_kind(*kind), join(condition, names), scan(pattern, names))
        }
        PlanOp::MultiwayJoin(patterns) => {
            let trie = |trie: &TriePattern| {
                format!("{}{}", scan(&trie.pattern, names), if trie.whole { "" } else { " sought" })
            };
            let patterns = patterns.iter().map(trie).collect::<Vec<_>>().join(", ");
            format!("by {} of {patterns}", names.vars(&node.vars))
        }
        PlanOp::Filter { exprs, .. } => exprs.iter().map(|e| names.expr(e)).collect::<Vec<_>>().join(" && "),
        PlanOp::Extend { var, expr, .. } => format!("{} := {}", names.var(*var), names.expr(expr)),
        PlanOp::TripleTerm { term, subject, predicate, object, .. } => format!(
            "{} = <<( {} {} {} )>>",
            names.var(*term),
            names.term_slot(subject),
            names.term_slot(predicate),
            names.term_slot(object)
        ),
        PlanOp::Project(_) => names.vars(&node.vars),
        PlanOp::Sort { keys, limit, .. } => {
            let key = |k: &crate::plan::SortKey| {
                let text = names.expr(&k.expr);
                if k.descending { format!("DESC({text})") } else { text }
            };
            let keys = keys.iter().map(key).collect::<Vec<_>>().join(" ");
            limit.map_or(keys.clone(), |l| format!("{keys} first {l}"))
        }
        PlanOp::Slice { start, length, .. } => slice(*start, *length),
        PlanOp::LimitBy { keys, start, length, .. } => {
            format!("{} for each {}", slice(*start, *length), names.vars(keys))
        }
        PlanOp::Group { keys, aggregates, sorted, .. } => group(keys, aggregates, *sorted, names),
        PlanOp::Path { subject, path, object, graph, .. } => format!(
            "{} {} {}{}",
            names.term_slot(subject),
            path_text(path, names),
            names.term_slot(object),
            graph_text(graph, names)
        ),
        PlanOp::Spool { number, columns, input } => {
            spool(*number, (&node.vars, columns), input.is_some(), names)
        }
        PlanOp::ForEachGraph { var, among, .. } => {
            format!("{}{}", names.var(*var), among_text(among.as_ref().map(NamedGraphs::len)))
        }
        PlanOp::Lateral { input, .. } => {
            let new = node.vars.iter().filter(|var| !input.vars.contains(var)).copied();
            names.vars(&new.collect::<Vec<_>>())
        }
        PlanOp::Service { input, call, kind, filter } => {
            service(input.as_deref(), call, (*kind, filter.as_ref()), names)
        }
        // Their name says it.
        _ => String::new(),
    }
}

/// Whom it asks what, and which bindings go with it.
fn service(
    input: Option<&PlanNode>,
    call: &ServiceCall,
    (kind, filter): (JoinKind, Option<&Expr>),
    names: &Names<'_>,
) -> String {
    let mut text = String::new();
    if let Some(input) = input {
        let shared: Vec<VarId> = call.columns.iter().filter(|v| input.vars.contains(v)).copied().collect();
        text.push_str(join_kind(kind));
        if !shared.is_empty() {
            text.push_str(&format!(" by blocks of {}", names.vars(&shared)));
        }
        if let Some(filter) = filter {
            text.push_str(&format!(" where {}", names.expr(filter)));
        }
        text.push_str(" with ");
    }
    let silent = if call.silent { "SILENT " } else { "" };
    format!("{text}{silent}{} {{ {} }}", names.term_slot(&call.endpoint), cut(call.body.trim_end()))
}

fn slice(start: usize, length: Option<usize>) -> String {
    match length {
        Some(length) => format!("offset {start} limit {length}"),
        None => format!("offset {start}"),
    }
}

/// Columns with their names in the sub-plan, where these are others than here.
fn spool(number: u32, (here, there): (&[VarId], &[VarId]), is_first: bool, names: &Names<'_>) -> String {
    let column = |(here, there): (&VarId, &VarId)| match (names.var(*here), names.var(*there)) {
        (here, there) if here == there => here,
        (here, there) => format!("{there} as {here}"),
    };
    let columns = here.iter().zip(there).map(column).collect::<Vec<_>>().join(" ");
    let readers = names.readers.get(&number).copied().unwrap_or(0);
    let what = if is_first { format!("made once, read {readers} times") } else { "read again".to_owned() };
    format!("{columns} of common sub-plan {} ({what})", number + 1)
}

fn join_kind(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "inner",
        JoinKind::Left => "left",
        JoinKind::Semi => "semi",
        JoinKind::Anti => "anti",
        JoinKind::Minus => "minus",
    }
}

fn join(condition: &JoinCondition, names: &Names<'_>) -> String {
    let mut text = String::new();
    if !condition.on.is_empty() {
        text.push_str(&format!(" on {}", names.vars(&condition.on)));
    }
    if !condition.maybe.is_empty() {
        text.push_str(&format!(" maybe {}", names.vars(&condition.maybe)));
    }
    if let Some(filter) = &condition.filter {
        text.push_str(&format!(" where {}", names.expr(filter)));
    }
    text
}

fn scan(pattern: &ScanPattern, names: &Names<'_>) -> String {
    format!(
        "{} {{ {} {} {}{} }}{}",
        pattern.order.name(),
        names.slot(pattern.subject),
        names.slot(pattern.predicate),
        names.slot(pattern.object),
        if pattern.within.is_some() { " in a range" } else { "" },
        graph_text(&pattern.graph, names)
    )
}

fn graph_text(graph: &GraphScope, names: &Names<'_>) -> String {
    match graph {
        GraphScope::Default => String::new(),
        GraphScope::Union => " in all graphs".to_owned(),
        GraphScope::Merge(graphs) => format!(" in the merge of {} graphs", graphs.len()),
        GraphScope::Named { slot, among } => {
            format!(" in graph {}{}", names.slot(*slot), among_text(among.as_deref().map(<[_]>::len)))
        }
    }
}

fn among_text(among: Option<usize>) -> String {
    among.map_or(String::new(), |graphs| format!(" of {graphs}"))
}

fn group(keys: &[VarId], aggregates: &[Aggregate], sorted: bool, names: &Names<'_>) -> String {
    let mut parts = Vec::new();
    if !keys.is_empty() {
        parts.push(format!("by {}", names.vars(keys)));
    }
    for aggregate in aggregates {
        let distinct = if aggregate.distinct { "DISTINCT " } else { "" };
        let argument = aggregate.argument.as_ref().map_or("*".to_owned(), |a| names.expr(a));
        let name = aggregate.function.keyword();
        parts.push(format!("{} := {name}({distinct}{argument})", names.var(aggregate.output)));
    }
    let text = parts.join(", ");
    if sorted { format!("{text} (streaming)") } else { text }
}

fn path_text(path: &Path, names: &Names<'_>) -> String {
    let one = |p: &Path| path_text(p, names);
    match path {
        Path::Predicate(Some(id)) => cut(&(names.term)(*id)),
        Path::Predicate(None) => "(nothing)".to_owned(),
        Path::Reverse(p) => format!("^{}", one(p)),
        Path::Sequence(a, b) => format!("({}/{})", one(a), one(b)),
        Path::Alternative(a, b) => format!("({}|{})", one(a), one(b)),
        Path::ZeroOrMore(p) => format!("{}*", one(p)),
        Path::OneOrMore(p) => format!("{}+", one(p)),
        Path::ZeroOrOne(p) => format!("{}?", one(p)),
        Path::Negated(ids) => {
            let ids: Vec<String> = ids.iter().map(|id| cut(&(names.term)(*id))).collect();
            format!("!({})", ids.join("|"))
        }
        Path::Type(step) => {
            let by = if step.typing.is_empty() { "" } else { ", domains and ranges" };
            format!("({} and classes above{by})", one(&step.stated))
        }
    }
}
