//! The triples along a path, and along the chain by which a transitive property relates two things.

use super::expand::{Binding, Expander};
use super::facts::Terms;
use super::graph::Key;
use crate::EngineError;
use lode_rdf::{Term, ValueId, Variable};
use lode_sparql::rules::Shape;
use spargebra::Query;
use spargebra::algebra::{GraphPattern, PropertyPathExpression as Path};
use spargebra::term::{NamedNodePattern, TermPattern};
use std::collections::{HashMap, VecDeque};

/// So many terms a search along stated triples looks at,
const STATED_MAX: usize = 100_000;
/// so many one that asks a query or several for each.
const ASKED_MAX: usize = 1_000;

const FROM: &str = "from";
const TO: &str = "to";
const MIDDLE: &str = "middle";

impl Expander<'_> {
    /// The triples of a way along a path, which exists; whether it was found.
    pub fn walk(
        &mut self,
        (from, path, to): (ValueId, &Path, ValueId),
        graph: ValueId,
        keys: &mut Vec<Key>,
    ) -> Result<bool, EngineError> {
        if from.is_undef() || to.is_undef() {
            return Ok(false);
        }
        match path {
            Path::NamedNode(name) => {
                let predicate = self.facts.id(&Term::from(name.clone()))?;
                keys.push([from, predicate.unwrap_or_default(), to, graph]);
                Ok(predicate.is_some())
            }
            Path::Reverse(inner) => self.walk((to, inner, from), graph, keys),
            Path::Sequence(first, second) => {
                let patterns = [(FROM, &**first, MIDDLE), (MIDDLE, &**second, TO)];
                let found = self.asked(&patterns, &[(FROM, from), (TO, to)], graph, 1)?;
                let Some(middle) = found.first().copied() else { return Ok(false) };
                Ok(self.walk((from, first, middle), graph, keys)?
                    && self.walk((middle, second, to), graph, keys)?)
            }
            Path::Alternative(one, other) => {
                // Where it holds in one way, all rows have the column that nothing binds.
                let holds = self.holds((from, one, to), graph)?;
                self.walk((from, if holds { one } else { other }, to), graph, keys)
            }
            Path::ZeroOrOne(inner) if from != to => self.walk((from, inner, to), graph, keys),
            Path::ZeroOrMore(_) | Path::ZeroOrOne(_) if from == to => Ok(true),
            Path::ZeroOrMore(inner) | Path::OneOrMore(inner) => self.steps((from, inner, to), graph, keys),
            Path::ZeroOrOne(_) | Path::NegatedPropertySet(_) => Ok(false),
        }
    }

    fn steps(
        &mut self,
        (from, step, to): (ValueId, &Path, ValueId),
        graph: ValueId,
        keys: &mut Vec<Key>,
    ) -> Result<bool, EngineError> {
        let rows_max = self.rows_max.max(ASKED_MAX);
        let found = search(
            from,
            ASKED_MAX,
            |id| id == to,
            |node| self.asked(&[(FROM, step, MIDDLE)], &[(FROM, node)], graph, rows_max),
        )?;
        let Some(terms) = found else { return Ok(false) };
        for pair in terms.windows(2) {
            if !self.walk((pair[0], step, pair[1]), graph, keys)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds(
        &mut self,
        (from, path, to): (ValueId, &Path, ValueId),
        graph: ValueId,
    ) -> Result<bool, EngineError> {
        let (query, terms) = self.query(&[(FROM, path, TO)], &[(FROM, from), (TO, to)], graph, 1)?;
        Ok(!self.facts.rows(&query, &terms)?.rows.is_empty())
    }

    /// What stands in the middle.
    fn asked(
        &mut self,
        patterns: &[(&str, &Path, &str)],
        ends: &[(&str, ValueId)],
        graph: ValueId,
        limit: usize,
    ) -> Result<Vec<ValueId>, EngineError> {
        let (query, terms) = self.query(patterns, ends, graph, limit)?;
        let found = self.facts.rows(&query, &terms)?;
        let Some(column) = found.columns.get(MIDDLE).copied() else { return Ok(Vec::new()) };
        let ids = found.rows.iter().filter_map(|row| row.get(column)).copied();
        Ok(ids.filter(|id| !id.is_undef()).collect())
    }

    fn query(
        &mut self,
        patterns: &[(&str, &Path, &str)],
        ends: &[(&str, ValueId)],
        graph: ValueId,
        limit: usize,
    ) -> Result<(Query, Terms), EngineError> {
        let end = |name: &str| TermPattern::Variable(Variable::new_unchecked(name));
        let mut pattern = GraphPattern::Bgp { patterns: Vec::new() };
        for (subject, path, object) in patterns {
            let step =
                GraphPattern::Path { subject: end(subject), path: (*path).clone(), object: end(object) };
            pattern = GraphPattern::Join { left: Box::new(pattern), right: Box::new(step) };
        }
        if !graph.is_undef() {
            let Term::NamedNode(name) = self.facts.term(graph)? else { return Ok(nothing()) };
            pattern =
                GraphPattern::Graph { name: NamedNodePattern::NamedNode(name), inner: Box::new(pattern) };
        }
        let pattern = GraphPattern::Slice { inner: Box::new(pattern), start: 0, length: Some(limit) };
        let mut terms = Terms::new();
        for (name, id) in ends {
            terms.insert((*name).to_owned(), self.facts.term(*id)?);
        }
        Ok((Query::Ask { dataset: None, pattern, base_iri: None }, terms))
    }

    /// The shortest chain of a transitive property, of stated triples or else of such as follow by other rules: one step of a proof, and not as many as
    /// it has pairs. Whether all of it is stated.
    pub fn chain(&mut self, at: usize, rule: usize, key: Key) -> Result<bool, EngineError> {
        let [s, p, o, _] = key;
        let rules = self.rules;
        let class = match &rules.rules[rule].rule.shape {
            Shape::Usual => return Ok(false),
            Shape::Transitive(_) => None,
            Shape::TransitiveOf { class } => match self.facts.id(class)? {
                Some(class) => Some(class),
                None => return Ok(false),
            },
        };
        let type_id = self.facts.id(&lode_sparql::schema::vocabulary::rdf("type"))?.unwrap_or_default();
        let mut keys = Vec::new();
        if let Some(class) = class {
            if !self.is_there([p, type_id, class])? {
                return Ok(false);
            }
            keys.push([p, type_id, class, ValueId::UNDEF]);
        }
        let is_end = |id: ValueId| id == o;
        let mut found = search(s, STATED_MAX, is_end, |node| self.facts.objects(node, p))?;
        for is_stated in [true, false] {
            if found.is_some() {
                break;
            }
            let made = self.by_rules(p, rule, is_stated)?;
            let next = |from: ValueId| made.next.get(&from).into_iter().flatten();
            found = search(s, STATED_MAX, is_end, |node| {
                let mut ends = self.facts.objects(node, p)?;
                ends.extend(next(node).map(|made| made.to));
                Ok(ends)
            })?;
            // A single step is another rule's, and told as such.
            for pair in found.iter().filter(|terms| terms.len() > 2).flat_map(|terms| terms.windows(2)) {
                if let Some(step) = next(pair[0]).find(|made| made.to == pair[1]) {
                    self.note_made([pair[0], p, pair[1]], step)?;
                }
            }
        }
        if found.is_none() {
            found = search(s, ASKED_MAX, is_end, |node| {
                let mut next = self.facts.objects(node, p)?;
                next.extend(self.by_other_rules(rule, (node, p), key)?);
                Ok(next)
            })?;
        }
        let Some(terms) = found.filter(|terms| terms.len() > 2) else { return Ok(false) };
        keys.extend(terms.windows(2).map(|pair| [pair[0], p, pair[1], ValueId::UNDEF]));
        self.note((at, rule), [s, p, o], &keys, Vec::new())
    }

    fn is_there(&mut self, [s, p, o]: [ValueId; 3]) -> Result<bool, EngineError> {
        let Term::NamedNode(predicate) = self.facts.term(p)? else { return Ok(false) };
        self.holds((s, &Path::NamedNode(predicate), o), ValueId::UNDEF)
    }

    /// What a property relates a term to by other rules than this one, in one step; but for what is to be proven, and what only follows from itself.
    fn by_other_rules(
        &mut self,
        transitive: usize,
        (from, property): (ValueId, ValueId),
        goal: Key,
    ) -> Result<Vec<ValueId>, EngineError> {
        let (rules, mut next) = (self.rules, Vec::new());
        let open = [from, property, ValueId::UNDEF, ValueId::UNDEF];
        for (number, known) in rules.rules.iter().enumerate() {
            if number == transitive {
                continue;
            }
            for head in &known.rule.head {
                let Some(unified) = self.unify(known, head, open)? else { continue };
                for way in &known.ways {
                    let rows = self.rows(way, &unified.terms)?;
                    for row in &rows.rows {
                        let binding = Binding { given: &unified.ids, columns: &rows.columns, row };
                        let [s, p, o] = self.conclusion(known, head, &binding)?;
                        let key = [s, p, o, ValueId::UNDEF];
                        let premises = self.premises(way, &binding, &mut Vec::new())?;
                        if key != goal && premises.is_some_and(|premises| !premises.contains(&key)) {
                            next.push(o);
                        }
                    }
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        Ok(next)
    }
}

fn nothing() -> (Query, Terms) {
    let pattern = GraphPattern::Values { variables: Vec::new(), bindings: Vec::new() };
    (Query::Ask { dataset: None, pattern, base_iri: None }, Terms::new())
}

/// The terms along a shortest way with a step or more; none where there is none, or more terms than so many would have to be looked at.
pub(super) fn search(
    from: ValueId,
    terms_max: usize,
    is_end: impl Fn(ValueId) -> bool,
    mut next: impl FnMut(ValueId) -> Result<Vec<ValueId>, EngineError>,
) -> Result<Option<Vec<ValueId>>, EngineError> {
    let (mut open, mut before) = (VecDeque::from([from]), HashMap::new());
    while let Some(node) = open.pop_front() {
        for other in next(node)? {
            if before.contains_key(&other) {
                continue;
            }
            before.insert(other, node);
            if is_end(other) {
                let mut terms = vec![other];
                let mut at = node;
                while at != from {
                    terms.push(at);
                    let Some(previous) = before.get(&at) else { break };
                    at = *previous;
                }
                terms.push(from);
                terms.reverse();
                return Ok(Some(terms));
            }
            open.push_back(other);
        }
        if before.len() > terms_max {
            return Ok(None);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::search;
    use lode_rdf::{Kind, ValueId};

    #[test]
    fn searches_find_shortest_ways_and_end() {
        let id = |n: u64| ValueId::new(Kind::Iri, n);
        // A ring of ten with a shorter way, and a literal cycle.
        let next = |node: ValueId| {
            let n = node.payload();
            Ok(vec![id((n + 1) % 10), id((n * 3) % 10), node])
        };
        let found = |from, to| {
            let found = search(id(from), 100, |end| end == id(to), next).unwrap();
            found.map(|terms| terms.iter().map(|term| term.payload()).collect::<Vec<_>>())
        };
        assert_eq!(found(1, 9), Some(vec![1, 3, 9]));
        assert_eq!(found(4, 4), Some(vec![4, 4]));
        assert_eq!(found(0, 11), None);
        assert_eq!(search(id(1), 1, |end| end == id(9), next).unwrap(), None);
    }
}
