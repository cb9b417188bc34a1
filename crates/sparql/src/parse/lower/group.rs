//! Group graph patterns (SPARQL 1.1 section 18.2.2).

use super::chain::{Joined, together};
use super::links::{Link, join, pattern};
use super::triples::triples_of;
use super::{Lowering, Result, Wrong, visible};
use lode_rdf::Variable;
use lode_syntax::{At, Node};
use spargebra::algebra::{Expression, GraphPattern};
use std::collections::HashSet;

/// What a group is made of.
struct Parts {
    joined: Joined,
    filters: Vec<Expression>,
    /// Variables in scope so far, where BIND asks for them.
    seen: Option<HashSet<Variable>>,
}

impl Parts {
    fn push(&mut self, part: GraphPattern) {
        if let Some(seen) = &mut self.seen {
            visible::each(&part, &mut |variable| {
                seen.insert(variable.clone());
            });
        }
        self.joined.push(part);
    }

    /// Variables of a part that is no operand of a join.
    fn see(&mut self, part: &GraphPattern) {
        if let Some(seen) = &mut self.seen {
            visible::each(part, &mut |variable| {
                seen.insert(variable.clone());
            });
        }
    }
}

impl<'t> Lowering<'t> {
    /// A group as a pattern, its filters in it.
    pub(super) fn group(&mut self, at: At<'t>) -> Result<GraphPattern> {
        let (pattern, filter) = self.group_and_filter(at)?;
        Ok(match filter {
            Some(expr) => GraphPattern::Filter { expr, inner: Box::new(pattern) },
            None => pattern,
        })
    }

    /// The same for a group inside of an expression: the pattern around it goes on behind it.
    pub(super) fn nested(&mut self, at: At<'t>) -> Result<GraphPattern> {
        let block = self.block;
        let group = self.group(at);
        self.block = block;
        group
    }

    /// A group and its filters, which OPTIONAL takes for conditions of its join.
    fn group_and_filter(&mut self, at: At<'t>) -> Result<(GraphPattern, Option<Expression>)> {
        self.begin_block();
        if let Some(select) = at.first().filter(|first| first.node() == Node::Select) {
            return Ok((self.select(select)?, None));
        }
        let has_bind = at.children().skip(1).any(|part| part.node() == Node::Bind);
        let mut parts =
            Parts { joined: Joined::default(), filters: Vec::new(), seen: has_bind.then(HashSet::new) };
        let mut links = Vec::new();
        let mut rest = at.children();
        while let Some(part) = rest.next() {
            if part.node() == Node::Triples {
                if links.is_empty() {
                    let block = rest.clone().take_while(|part| part.node() == Node::Triples);
                    links.reserve_exact(triples_of(std::iter::once(part).chain(block)));
                }
                self.triples(part, &mut links)?;
                continue;
            }
            self.end_of_triples(&mut links, &mut parts)?;
            self.part(part, &mut parts)?;
        }
        self.end_of_triples(&mut links, &mut parts)?;
        let and = |a, b| Expression::And(a, b);
        Ok((parts.joined.take(), together(parts.filters, and)))
    }

    fn end_of_triples(&mut self, links: &mut Vec<Link>, parts: &mut Parts) -> Result<()> {
        if links.iter().any(|link| matches!(link, Link::Search(_))) {
            let pattern = self.with_searches(std::mem::take(links))?;
            parts.push(pattern);
        } else if parts.seen.is_none() {
            join(links, &mut parts.joined);
        } else if !links.is_empty() {
            parts.push(pattern(std::mem::take(links)));
        }
        Ok(())
    }

    fn part(&mut self, at: At<'t>, parts: &mut Parts) -> Result<()> {
        if at.node() == Node::Filter {
            let filter = self.without_aggregates(|lowering| lowering.inner(at))?;
            parts.filters.push(filter);
            return Ok(());
        }
        self.begin_block();
        match at.node() {
            Node::Union => {
                let groups = at.children().map(|group| self.group(group)).collect::<Result<Vec<_>>>()?;
                let union = together(groups, |left, right| GraphPattern::Union { left, right });
                parts.push(union.unwrap_or_default());
            }
            Node::Optional => {
                let (pattern, expression) = self.group_and_filter(inside(at)?)?;
                parts.see(&pattern);
                let right = Box::new(pattern);
                parts.joined.replace(|left| GraphPattern::LeftJoin { left, right, expression });
            }
            Node::Minus => {
                let right = Box::new(self.group(inside(at)?)?);
                parts.joined.replace(|left| GraphPattern::Minus { left, right });
            }
            Node::Graph => {
                let (name, inner) = self.named_group(at)?;
                parts.push(GraphPattern::Graph { name, inner });
            }
            Node::Service => {
                let outside = std::mem::replace(&mut self.in_service, true);
                let named = self.named_group(at);
                self.in_service = outside;
                let (name, inner) = named?;
                parts.push(GraphPattern::Service { name, inner, silent: at.has_word(1, "SILENT") });
            }
            Node::Bind => self.bind(at, parts)?,
            Node::Values => parts.push(self.values(at)?),
            Node::Lateral => {
                let right = self.group(inside(at)?)?;
                let left = parts.joined.take();
                if let Some(variable) = visible::assigned_again(&left, &right) {
                    let message =
                        format!("LATERAL gives ?{} a value, which has one before it", variable.as_str());
                    return Err(Wrong::at(at, message)
                        .help("give the value another name, or compare: FILTER (?a = ...)"));
                }
                parts.see(&right);
                parts.joined.push(GraphPattern::Lateral { left: Box::new(left), right: Box::new(right) });
            }
            _ => return Err(Wrong::at(at, "this is no part of a group")),
        }
        // What follows is another basic graph pattern.
        self.begin_block();
        Ok(())
    }

    fn named_group(&mut self, at: At<'t>) -> Result<(spargebra::term::NamedNodePattern, Box<GraphPattern>)> {
        let name = at.first().ok_or_else(|| Wrong::at(at, "a name is missing"))?;
        Ok((self.name_or_variable(name)?, Box::new(self.group(inside(at)?)?)))
    }

    fn bind(&mut self, at: At<'t>, parts: &mut Parts) -> Result<()> {
        let expression = self.without_aggregates(|lowering| lowering.inner(at))?;
        let Some(name) = at.children().nth(1) else { return Err(Wrong::at(at, "BIND without a name")) };
        let variable = Self::variable(name);
        if let Some(seen) = &mut parts.seen
            && !seen.insert(variable.clone())
        {
            let message = format!("{} was used before in this group", name.text());
            return Err(
                Wrong::at(name, message).help("give the value another name, or compare: FILTER (?a = ...)")
            );
        }
        parts.joined.replace(|inner| GraphPattern::Extend { inner, variable, expression });
        Ok(())
    }

    /// VALUES.
    pub(super) fn values(&mut self, at: At<'t>) -> Result<GraphPattern> {
        let has_rows = at.token(1) == "(";
        let (mut variables, mut bindings) = (Vec::new(), Vec::new());
        let mut known = HashSet::new();
        for part in at.children() {
            match part.node() {
                Node::Variable => {
                    if !known.insert(part.text().trim_start_matches(['?', '$'])) {
                        return Err(Wrong::at(part, format!("{} stands twice in VALUES", part.text())));
                    }
                    variables.push(Self::variable(part));
                }
                Node::Row if has_rows => {
                    bindings.push(part.children().map(|cell| self.data(cell)).collect::<Result<Vec<_>>>()?);
                }
                _ => bindings.push(vec![self.data(part)?]),
            }
        }
        Ok(GraphPattern::Values { variables, bindings })
    }
}

fn inside(at: At<'_>) -> Result<At<'_>> {
    at.child(Node::Group).ok_or_else(|| Wrong::at(at, "a pattern in braces is missing"))
}
