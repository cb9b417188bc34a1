//! The walk over groups: which variables have values where.

use super::found::{HintKind, InGraph, Role};
use super::walk::{Around, Names, Parts, Place, Rows, Walk, is_one_row, name};
use lode_syntax::{At, Node};

impl<'t> Walk<'t> {
    /// A group; its variables.
    pub(super) fn group(&mut self, at: At<'t>, around: &Around<'_, 't>) -> Names<'t> {
        crate::stack::room(|| match at.first().filter(|first| first.node() == Node::Select) {
            Some(select) => self.select(select, around),
            None => self.parts(at, around),
        })
    }

    /// The parts of a group, or of what is a pattern as well as a template.
    pub(super) fn parts(&mut self, at: At<'t>, around: &Around<'_, 't>) -> Names<'t> {
        let mut names = Names::new();
        let mut parts = Parts::default();
        let inner = Around { optional: None, joined: None, ..*around };
        for part in at.children().filter(|part| part.node() != Node::Filter) {
            let mut own = Names::new();
            let mut rows = Rows::Unknown;
            match part.node() {
                Node::Triples => {
                    self.triples(part, &inner, &mut own);
                    rows = Rows::Triples;
                }
                Node::Union => {
                    own = self.union(part, &inner);
                    let is_single = part.children().count() == 1;
                    if is_single && part.first().and_then(At::first).is_some_and(is_one_row) {
                        rows = Rows::Few;
                    }
                }
                Node::Optional | Node::Lateral => {
                    let visible =
                        Around { optional: Some(&names), joined: Some(&names), is_required: false, ..inner };
                    own = part.first().map(|group| self.group(group, &visible)).unwrap_or_default();
                }
                Node::Minus => {
                    parts.link(part);
                    self.minus(part, &names, &inner);
                    continue;
                }
                Node::Graph => own = self.in_graph(part, &inner),
                // Of DELETE WHERE.
                Node::QuadsOfGraph => own = self.in_graph(part, &inner),
                // What is there is evaluated elsewhere.
                Node::Service => self.all_of(part, &mut own),
                Node::Bind => {
                    if let Some(value) = part.first() {
                        self.expression(value, &names, around, Place::Bind);
                        parts.link(value);
                    }
                    own.extend(part.children().nth(1).map(name));
                    self.bound.extend(&own);
                    parts.link(part);
                    names.extend(own);
                    continue;
                }
                Node::Values => {
                    own.extend(part.children().filter(|part| part.node() == Node::Variable).map(name));
                    rows = Rows::Few;
                }
                _ => continue,
            }
            self.bound.extend(&own);
            // Conditions in it may compare what is around.
            if part.node() != Node::Triples {
                parts.link(part);
            }
            parts.push(part, rows, &own);
            names.extend(own);
        }
        for filter in at.children().filter(|part| part.node() == Node::Filter) {
            parts.link(filter);
            let Some(condition) = filter.first() else { continue };
            match around.optional {
                None => self.expression(condition, &names, around, Place::Filter),
                Some(outside) => {
                    let visible = names.union(outside).copied().collect();
                    self.expression(condition, &visible, around, Place::Filter);
                }
            }
        }
        self.unjoined(parts, around);
        names
    }

    /// Groups with UNION between them; a single one is as good as its parts.
    fn union(&mut self, at: At<'t>, around: &Around<'_, 't>) -> Names<'t> {
        let is_required = around.is_required && at.children().count() == 1;
        let mut names = Names::new();
        for group in at.children() {
            names.extend(self.group(group, &Around { is_required, ..*around }));
        }
        names
    }

    fn minus(&mut self, at: At<'t>, names: &Names<'t>, around: &Around<'_, 't>) {
        let Some(group) = at.first() else { return };
        let own = self.group(group, &Around { joined: Some(names), is_required: false, ..*around });
        let mut all = Names::new();
        self.all_of(group, &mut all);
        // Where a name is in an inner query only, it may be a mistake of another kind.
        if own.is_disjoint(names) && all.is_disjoint(names) {
            let span = at.span();
            self.found.hint(
                HintKind::MinusOfNothing,
                span.start..span.start + "MINUS".len(),
                "MINUS has no variable in common with what is before it, so it removes nothing".to_owned(),
                "use a variable of the pattern in it, or write FILTER NOT EXISTS { ... }".to_owned(),
            );
        }
    }

    fn in_graph(&mut self, at: At<'t>, around: &Around<'_, 't>) -> Names<'t> {
        let mut own = Names::new();
        let Some(graph) = at.first() else { return own };
        let in_graph = if graph.node() == Node::Variable {
            own.insert(name(graph));
            InGraph::Any
        } else {
            self.constant(graph, Role::Graph, InGraph::Any, around.is_required);
            InGraph::Named(graph)
        };
        let around = Around { graph: in_graph, ..*around };
        match at.child(Node::Group) {
            Some(group) => own.extend(self.group(group, &around)),
            None => own.extend(crate::stack::room(|| self.parts(at, &around))),
        }
        own
    }

    /// All variables in a node.
    pub(super) fn all_of(&self, at: At<'t>, names: &mut Names<'t>) {
        if at.node() == Node::Variable {
            names.insert(name(at));
        }
        for child in at.children() {
            crate::stack::room(|| self.all_of(child, names));
        }
    }

    /// A SELECT; what it selects.
    pub(super) fn select(&mut self, at: At<'t>, around: &Around<'_, 't>) -> Names<'t> {
        // Of what is around it only EXISTS gives variables their values, and those by way of what is selected.
        let group = at.child(Node::Group);
        let inside = Around { optional: None, joined: None, ..*around };
        let mut names = group.map(|group| self.group(group, &inside)).unwrap_or_default();
        if let Some(values) = at.child(Node::Values) {
            names.extend(values.children().filter(|part| part.node() == Node::Variable).map(name));
            self.bound.extend(&names);
        }
        let Some(selection) = at.child(Node::Selection) else { return names };
        if let Some(clause) = at.child(Node::GroupBy) {
            self.clause(clause, &mut names, around);
        }
        let mut selected = Names::new();
        for part in selection.children() {
            match part.node() {
                Node::As => {
                    if let Some(value) = part.first() {
                        self.expression(value, &names, around, Place::Selected);
                    }
                    let made = part.children().nth(1).map(name);
                    names.extend(made);
                    selected.extend(made);
                    self.bound.extend(made);
                }
                _ => {
                    self.used(part, &names, Some(around.substituted), Place::Selected);
                    selected.insert(name(part));
                }
            }
        }
        self.modifiers(at, &mut names, around);
        if selection.first().is_none() { names } else { selected }
    }

    /// HAVING, ORDER BY, and GROUP BY of forms other than SELECT.
    pub(super) fn modifiers(&mut self, at: At<'t>, names: &mut Names<'t>, around: &Around<'_, 't>) {
        for clause in at.children() {
            match clause.node() {
                Node::GroupBy if at.node() != Node::Select => self.clause(clause, names, around),
                Node::Having | Node::OrderBy => self.clause(clause, names, around),
                _ => {}
            }
        }
    }

    fn clause(&mut self, clause: At<'t>, names: &mut Names<'t>, around: &Around<'_, 't>) {
        for part in clause.children() {
            if part.node() == Node::As {
                if let Some(value) = part.first() {
                    self.expression(value, names, around, Place::Modifier);
                }
                let made = part.children().nth(1).map(name);
                names.extend(made);
                self.bound.extend(made);
            } else {
                self.expression(part, names, around, Place::Modifier);
            }
        }
    }
}
