//! Property paths, by the definitions of SPARQL 1.1 section 18.4: a path is the multiset of pairs of terms that it connects.

use super::bgp::{ground, match_term};
use super::evaluator::Evaluator;
use super::options::NaiveError;
use super::scope::{Graph, Scope};
use super::solution::{Solution, Solutions};
use oxrdf::Term;
use spargebra::algebra::PropertyPathExpression as Path;
use spargebra::term::TermPattern;
use std::collections::HashSet;

type Pairs = Vec<(Term, Term)>;

/// What is fixed of a pair.
#[derive(Clone, Copy)]
struct Ends<'a> {
    start: Option<&'a Term>,
    end: Option<&'a Term>,
}

impl Ends<'_> {
    fn allow(self, start: &Term, end: &Term) -> bool {
        self.start.is_none_or(|s| s == start) && self.end.is_none_or(|e| e == end)
    }
}

impl Evaluator<'_> {
    pub(super) fn path_pattern(
        &self,
        subject: &TermPattern,
        path: &Path,
        object: &TermPattern,
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let (start, end) = (ground(subject, scope.outer), ground(object, scope.outer));
        let ends = Ends { start: start.as_ref(), end: end.as_ref() };
        let mut solutions = Vec::new();
        for (s, o) in self.pairs(path, ends, scope.graph)? {
            let mut solution = Solution::new();
            let fits = (start.is_some() || match_term(subject, &s, scope.outer, &mut solution))
                && (end.is_some() || match_term(object, &o, scope.outer, &mut solution));
            if fits {
                solutions.push(solution);
            }
        }
        Ok(solutions)
    }

    fn pairs(&self, path: &Path, ends: Ends<'_>, graph: &Graph) -> Result<Pairs, NaiveError> {
        self.step()?;
        match path {
            Path::NamedNode(p) => self.edges(ends, graph, |q| q == p),
            Path::NegatedPropertySet(list) => self.edges(ends, graph, |q| !list.contains(q)),
            Path::Reverse(p) => {
                let pairs = self.pairs(p, Ends { start: ends.end, end: ends.start }, graph)?;
                Ok(pairs.into_iter().map(|(s, o)| (o, s)).collect())
            }
            Path::Sequence(a, b) => self.sequence(a, b, ends, graph),
            Path::Alternative(a, b) => {
                let mut pairs = self.pairs(a, ends, graph)?;
                pairs.extend(self.pairs(b, ends, graph)?);
                Ok(pairs)
            }
            Path::ZeroOrOne(p) => {
                let mut pairs = zero_length(ends, graph);
                pairs.extend(self.pairs(p, ends, graph)?);
                Ok(distinct(pairs))
            }
            Path::ZeroOrMore(p) => self.arbitrary_length(p, ends, graph, true),
            Path::OneOrMore(p) => self.arbitrary_length(p, ends, graph, false),
        }
    }

    fn edges(
        &self,
        ends: Ends<'_>,
        graph: &Graph,
        wanted: impl Fn(&oxrdf::NamedNode) -> bool,
    ) -> Result<Pairs, NaiveError> {
        let mut pairs = Vec::new();
        for triple in graph.iter() {
            self.step()?;
            let subject = Term::from(triple.subject.clone());
            if wanted(&triple.predicate) && ends.allow(&subject, &triple.object) {
                pairs.push((subject, triple.object.clone()));
            }
        }
        Ok(pairs)
    }

    /// `a/b` is the join of two patterns over a fresh variable, so the middle is free on both sides.
    fn sequence(&self, a: &Path, b: &Path, ends: Ends<'_>, graph: &Graph) -> Result<Pairs, NaiveError> {
        let left = self.pairs(a, Ends { start: ends.start, end: None }, graph)?;
        let right = self.pairs(b, Ends { start: None, end: ends.end }, graph)?;
        let mut pairs = Vec::new();
        for (s, middle) in &left {
            for (other, o) in &right {
                self.step()?;
                if middle == other {
                    pairs.push((s.clone(), o.clone()));
                }
            }
        }
        Ok(pairs)
    }

    /// `p*` (`zero`) and `p+`: from each start the nodes that ALP visits, each once.
    fn arbitrary_length(
        &self,
        path: &Path,
        ends: Ends<'_>,
        graph: &Graph,
        zero: bool,
    ) -> Result<Pairs, NaiveError> {
        if let (None, Some(end)) = (ends.start, ends.end) {
            let reached = self.reach(path, end, graph, zero, false)?;
            return Ok(reached.into_iter().map(|n| (n, end.clone())).collect());
        }
        let starts = match ends.start {
            Some(start) => vec![start.clone()],
            None => nodes(graph),
        };
        let mut pairs = Vec::new();
        for start in starts {
            for node in self.reach(path, &start, graph, zero, true)? {
                if ends.allow(&start, &node) {
                    pairs.push((start.clone(), node));
                }
            }
        }
        Ok(pairs)
    }

    /// ALP of section 18.4: what `path` reaches from `start` in any number of steps (at least one unless `zero`).
    fn reach(
        &self,
        path: &Path,
        start: &Term,
        graph: &Graph,
        zero: bool,
        forward: bool,
    ) -> Result<Vec<Term>, NaiveError> {
        let mut visited = HashSet::new();
        let mut order = Vec::new();
        let mut open = if zero { vec![start.clone()] } else { self.one_step(path, start, graph, forward)? };
        while let Some(node) = open.pop() {
            if visited.insert(node.clone()) {
                open.extend(self.one_step(path, &node, graph, forward)?);
                order.push(node);
            }
        }
        Ok(order)
    }

    fn one_step(
        &self,
        path: &Path,
        node: &Term,
        graph: &Graph,
        forward: bool,
    ) -> Result<Vec<Term>, NaiveError> {
        let ends = if forward {
            Ends { start: Some(node), end: None }
        } else {
            Ends { start: None, end: Some(node) }
        };
        let pairs = self.pairs(path, ends, graph)?;
        Ok(pairs.into_iter().map(|(s, o)| if forward { o } else { s }).collect())
    }
}

/// The pairs of a path of length zero: a fixed end with itself, whether or not the graph has it; else every node with itself.
fn zero_length(ends: Ends<'_>, graph: &Graph) -> Pairs {
    match (ends.start, ends.end) {
        (Some(s), Some(o)) if s != o => Vec::new(),
        (Some(n), _) | (None, Some(n)) => vec![(n.clone(), n.clone())],
        (None, None) => nodes(graph).into_iter().map(|n| (n.clone(), n)).collect(),
    }
}

/// All subjects and objects, each once.
fn nodes(graph: &Graph) -> Vec<Term> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for triple in graph.iter() {
        for term in [Term::from(triple.subject.clone()), triple.object.clone()] {
            if seen.insert(term.clone()) {
                all.push(term);
            }
        }
    }
    all
}

fn distinct(pairs: Pairs) -> Pairs {
    let mut seen = HashSet::new();
    pairs.into_iter().filter(|p| seen.insert(p.clone())).collect()
}
