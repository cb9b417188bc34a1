//! Property paths (SPARQL 1.1 section 9 and 18.4). What is only an abbreviation becomes joins, unions and scans, with bag semantics;
//! `*`, `+` and `?` stay paths, with set semantics.

use super::names;
use super::patterns::Parts;
use super::translator::Translator;
use crate::error::PlanError;
use crate::expr::Expr;
use crate::logical::{Logical, graph_var};
use crate::plan::{GraphScope, Path, TermSlot};
use lode_rdf::{NamedNode, Term};
use spargebra::algebra::PropertyPathExpression as PathExpr;
use spargebra::term::TermPattern;

impl Translator<'_> {
    pub(super) fn path_pattern(
        &mut self,
        subject: &TermPattern,
        path: &PathExpr,
        object: &TermPattern,
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let mut parts = Parts::default();
        let (s, o) = (self.term_slot(subject, &mut parts), self.term_slot(object, &mut parts));
        let (Some(s), Some(o)) = (s, o) else {
            // A triple term that cannot exist; zero-length paths need it as a term, and there is none.
            return Ok(Logical::empty(graph_var(graph).into_iter().collect()));
        };
        let member = self.path(s, path, o, graph)?;
        self.check_refused()?;
        parts.members.push(member);
        Ok(parts.finish())
    }

    fn path(
        &mut self,
        subject: TermSlot,
        path: &PathExpr,
        object: TermSlot,
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        match path {
            PathExpr::NamedNode(iri) => {
                let slots = [subject, TermSlot::Const(iri.clone().into()), object];
                if let Some(relation) = self.place_relation(&slots) {
                    return Ok(self.related_places(relation, graph, &[]));
                }
                let [subject, predicate, object] = slots;
                Ok(self.triples(subject, predicate, object, graph))
            }
            PathExpr::Reverse(inner) => self.path(object, inner, subject, graph),
            PathExpr::Sequence(..) => self.sequence(subject, path, object, graph),
            PathExpr::Alternative(..) => {
                let mut branches = Vec::new();
                for part in alternatives(path) {
                    branches.push(self.path(subject.clone(), part, object.clone(), graph)?);
                }
                Ok(self.union_of(branches))
            }
            PathExpr::NegatedPropertySet(predicates) => Ok(self.negated(subject, predicates, object, graph)),
            PathExpr::ZeroOrMore(_) | PathExpr::OneOrMore(_) | PathExpr::ZeroOrOne(_) => {
                let path = self.closure(path);
                Ok(self.search(subject, path, object, graph))
            }
        }
    }

    fn sequence(
        &mut self,
        subject: TermSlot,
        path: &PathExpr,
        object: TermSlot,
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let parts = names::spine(path, |p| match p {
            PathExpr::Sequence(a, b) => Some((a, b)),
            _ => None,
        });
        let last = parts.len() - 1;
        let mut from = subject;
        let mut members = Vec::with_capacity(parts.len());
        for (i, part) in parts.into_iter().enumerate() {
            let to = if i == last { object.clone() } else { TermSlot::Var(self.fresh("path")) };
            members.push(self.path(from, part, to.clone(), graph)?);
            from = to;
        }
        Ok(super::service::join_members(members))
    }

    /// `!(a|b)`: each triple whose predicate is none of these.
    fn negated(
        &mut self,
        subject: TermSlot,
        predicates: &[NamedNode],
        object: TermSlot,
        graph: &GraphScope,
    ) -> Logical {
        let var = self.fresh("predicate");
        let scan = self.triples(subject, TermSlot::Var(var), object, graph);
        let known: Vec<Term> = predicates
            .iter()
            .map(|p| Term::from(p.clone()))
            .filter(|p| self.stats.id_of(p).is_some())
            .collect();
        let filters = known
            .into_iter()
            .map(|p| Expr::Not(Box::new(Expr::SameTerm(Box::new(Expr::Var(var)), Box::new(Expr::Const(p))))));
        Logical::filter(scan, filters.collect())
    }

    /// A path that stays one.
    fn closure(&self, path: &PathExpr) -> Path {
        let one = |p: &PathExpr| Box::new(self.closure(p));
        let id = |iri: &NamedNode| self.stats.id_of(&Term::from(iri.clone()));
        match path {
            PathExpr::NamedNode(iri) => match &self.dataset.schema {
                Some(schema) => self.path_of(schema, &iri.clone().into()),
                None => Path::Predicate(id(iri)),
            },
            PathExpr::Reverse(p) => Path::Reverse(one(p)),
            PathExpr::Sequence(a, b) => Path::Sequence(one(a), one(b)),
            PathExpr::Alternative(a, b) => Path::Alternative(one(a), one(b)),
            PathExpr::ZeroOrMore(p) => repeated(self.closure(p), true),
            PathExpr::OneOrMore(p) => repeated(self.closure(p), false),
            PathExpr::ZeroOrOne(p) => match self.closure(p) {
                Path::ZeroOrMore(p) | Path::OneOrMore(p) => Path::ZeroOrMore(p),
                Path::ZeroOrOne(p) => Path::ZeroOrOne(p),
                path => Path::ZeroOrOne(Box::new(path)),
            },
            PathExpr::NegatedPropertySet(predicates) => match &self.dataset.schema {
                Some(schema) => self.path_of_others(schema, predicates),
                None => Path::Negated(predicates.iter().filter_map(id).collect()),
            },
        }
    }
}

/// `path*`, or (where `empty` is false) `path+`. What may be repeated need not be repeated inside: `(a|b+)*` is `(a|b)*`, and a search that
/// has such closures in closures would search each as often as the one around it has steps.
fn repeated(path: Path, mut empty: bool) -> Path {
    fn once(path: Path, empty: &mut bool) -> Path {
        match path {
            Path::OneOrMore(inner) => once(*inner, empty),
            Path::ZeroOrMore(inner) | Path::ZeroOrOne(inner) => {
                *empty = true;
                once(*inner, empty)
            }
            Path::Alternative(a, b) => {
                let (a, b) = (once(*a, empty), once(*b, empty));
                Path::Alternative(Box::new(a), Box::new(b))
            }
            other => other,
        }
    }
    let step = Box::new(once(path, &mut empty));
    if empty { Path::ZeroOrMore(step) } else { Path::OneOrMore(step) }
}

fn alternatives(path: &PathExpr) -> Vec<&PathExpr> {
    names::spine(path, |p| match p {
        PathExpr::Alternative(a, b) => Some((a, b)),
        _ => None,
    })
}
