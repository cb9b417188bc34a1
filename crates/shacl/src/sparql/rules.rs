//! What a query with pre-bound variables may not do: what would ignore or replace their values.

use lode_sparql::syntax::{At, Node};
use std::collections::BTreeSet;

/// What is wrong with a query, whose part that is used is `top`; `bound` are the names of its pre-bound variables.
pub fn broken(top: At<'_>, bound: &[&str]) -> Option<String> {
    let mut open = vec![top];
    while let Some(at) = open.pop() {
        let problem = match at.node() {
            Node::Minus => Some(
                "MINUS is not allowed: it would not see pre-bound variables; write FILTER NOT EXISTS".into(),
            ),
            Node::Values => Some("VALUES is not allowed: write FILTER (... IN ...)".into()),
            Node::Service => Some("SERVICE is not allowed".into()),
            Node::As | Node::Bind => at.children().last().and_then(|target| assigned(target, bound)),
            Node::Select if at.index() != top.index() => hidden(at, bound),
            _ => None,
        };
        if problem.is_some() {
            return problem;
        }
        open.extend(at.children());
    }
    None
}

fn assigned(target: At<'_>, bound: &[&str]) -> Option<String> {
    let name = variable(target)?;
    bound.contains(&name).then(|| {
        format!("${name} has a value already, and cannot be given another one: take another variable")
    })
}

/// A sub-select that does not hand on a variable knows nothing of its value.
fn hidden(select: At<'_>, bound: &[&str]) -> Option<String> {
    let selected = selected(select);
    let missing = bound.iter().find(|name| !selected.contains(**name))?;
    Some(format!("a sub-select has to select ${missing}, or its value is not known in it"))
}

/// The name of a variable.
pub fn variable<'t>(at: At<'t>) -> Option<&'t str> {
    if at.node() == Node::Variable { at.text().strip_prefix(['?', '$']) } else { None }
}

/// The names of the variables that a SELECT hands on.
pub fn selected<'t>(select: At<'t>) -> BTreeSet<&'t str> {
    let Some(selection) = select.child(Node::Selection) else { return BTreeSet::new() };
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for item in selection.children() {
        let named = if item.node() == Node::As { item.children().last() } else { Some(item) };
        names.extend(named.and_then(variable));
    }
    if names.is_empty() {
        select
            .children()
            .filter(|child| child.node() == Node::Group)
            .for_each(|group| in_scope(group, &mut names));
    }
    names
}

/// The variables that patterns of a group certainly or maybe bind: those of triples, of BIND, and of what is in it but filters.
fn in_scope<'t>(group: At<'t>, names: &mut BTreeSet<&'t str>) {
    let mut open = vec![group];
    while let Some(at) = open.pop() {
        match at.node() {
            Node::Filter | Node::Minus => {}
            Node::Select => names.extend(selected(at)),
            Node::Bind => names.extend(at.children().last().and_then(variable)),
            _ => {
                names.extend(variable(at));
                open.extend(at.children());
            }
        }
    }
}
