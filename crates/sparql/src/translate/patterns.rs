//! Triple patterns, triple terms, inline data.

use super::places::PlaceRelation;
use super::translator::Translator;
use crate::error::PlanError;
use crate::expr::Expr;
use crate::logical::{Logical, QuadPattern, graph_var};
use crate::plan::{GraphScope, Slot, TermSlot, VarId};
use crate::var_set::VarSet;
use lode_rdf::{NamedOrBlankNode, Term, Triple};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern, Variable};

/// Patterns that are looked up between two looks at whether anybody waits for the plan.
const CHECK_EVERY: usize = 64;

/// What a basic graph pattern turned into so far.
#[derive(Default)]
pub(super) struct Parts {
    /// Scans and paths to be joined.
    pub members: Vec<Logical>,
    /// Steps that take triple terms apart, the inner before the outer.
    pub steps: Vec<Logical>,
    /// Conditions over the join.
    pub filters: Vec<Expr>,
    /// Relations of places, which come last: what others say of their ends is of use to them.
    pub relations: Vec<PlaceRelation>,
}

impl Parts {
    /// The join.
    pub fn finish(self) -> Logical {
        let Self { mut members, steps, filters, relations: _ } = self;
        // Steps follow what binds their terms.
        members.extend(steps.into_iter().rev());
        if members.len() == 1
            && filters.is_empty()
            && let Some(only) = members.pop()
        {
            return only;
        }
        Logical::join(members, filters)
    }
}

impl Translator<'_> {
    pub(super) fn bgp(
        &mut self,
        patterns: &[TriplePattern],
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        if patterns.is_empty() {
            return Ok(self.scoped_unit(graph));
        }
        let mut parts = Parts::default();
        for (number, pattern) in patterns.iter().enumerate() {
            if number % CHECK_EVERY == 0 && self.stats.is_cancelled() {
                return Ok(Logical::empty(VarSet::new()));
            }
            self.triple_pattern(pattern, graph, &mut parts);
            self.check_refused()?;
        }
        for relation in std::mem::take(&mut parts.relations) {
            let related = self.related_places(relation, graph, &parts.members);
            self.check_refused()?;
            parts.members.push(related);
        }
        Ok(parts.finish())
    }

    fn triple_pattern(&mut self, pattern: &TriplePattern, graph: &GraphScope, parts: &mut Parts) {
        let slots = self.triple_slots(pattern, parts);
        match slots {
            Some(slots) => {
                if let Some(relation) = self.place_relation(&slots) {
                    parts.relations.push(relation);
                    return;
                }
                let [s, p, o] = slots;
                let triples = self.triples(s, p, o, graph);
                parts.members.push(triples);
            }
            None => parts.members.push(self.no_match(pattern, graph)),
        }
    }

    /// No rows, with the columns that the pattern would have had.
    fn no_match(&mut self, pattern: &TriplePattern, graph: &GraphScope) -> Logical {
        let mut vars = VarSet::new();
        let mut ignored = Parts::default();
        for slot in [
            self.term_slot(&pattern.subject, &mut ignored),
            Some(self.predicate_slot(&pattern.predicate)),
            self.term_slot(&pattern.object, &mut ignored),
        ] {
            if let Some(TermSlot::Var(var)) = slot {
                vars.insert(var);
            }
        }
        vars.extend(&Logical::join(ignored.steps, Vec::new()).vars);
        graph_var(graph).into_iter().for_each(|v| {
            vars.insert(v);
        });
        Logical::empty(vars)
    }

    /// The slots of a triple pattern; `None` where it can match no triple whatever the data.
    fn triple_slots(&mut self, pattern: &TriplePattern, parts: &mut Parts) -> Option<[TermSlot; 3]> {
        let subject = self.term_slot(&pattern.subject, parts)?;
        let predicate = self.predicate_slot(&pattern.predicate);
        let object = self.term_slot(&pattern.object, parts)?;
        Some([subject, predicate, object])
    }

    /// A scan for one triple pattern, or no rows if a constant is not in the data.
    pub(super) fn scan(
        &mut self,
        subject: TermSlot,
        predicate: TermSlot,
        object: TermSlot,
        graph: &GraphScope,
    ) -> Logical {
        let slots = [self.slot(&subject), self.slot(&predicate), self.slot(&object)];
        let no_graph = matches!(graph, GraphScope::Merge(graphs) if graphs.is_empty());
        if let ([Some(subject), Some(predicate), Some(object)], false) = (slots, no_graph) {
            return Logical::scan(QuadPattern {
                subject,
                predicate,
                object,
                graph: graph.clone(),
                objects: None,
            });
        }
        let vars = slots.into_iter().flatten().filter_map(|s| crate::logical::slot_var(&s));
        Logical::empty(vars.chain(graph_var(graph)).collect())
    }

    /// The slot of a scan; `None` for a term that the data lacks.
    fn slot(&self, slot: &TermSlot) -> Option<Slot> {
        match slot {
            TermSlot::Var(var) => Some(Slot::Var(*var)),
            TermSlot::Const(term) => self.stats.id_of(term).map(Slot::Const),
        }
    }

    /// A variable, or the term that it stands for.
    pub(super) fn var_slot(&mut self, name: &str) -> TermSlot {
        let var = self.var(name);
        match self.constants.get(&var) {
            Some(term) => TermSlot::Const(term.clone()),
            None => TermSlot::Var(var),
        }
    }

    pub(super) fn predicate_slot(&mut self, predicate: &NamedNodePattern) -> TermSlot {
        match predicate {
            NamedNodePattern::NamedNode(iri) => TermSlot::Const(iri.clone().into()),
            NamedNodePattern::Variable(v) => self.var_slot(v.as_str()),
        }
    }

    /// The slot of a subject or object. A triple term with variables becomes a fresh variable and a step that takes it apart.
    pub(super) fn term_slot(&mut self, term: &TermPattern, parts: &mut Parts) -> Option<TermSlot> {
        Some(match term {
            TermPattern::NamedNode(iri) => TermSlot::Const(iri.clone().into()),
            TermPattern::Literal(literal) => TermSlot::Const(literal.clone().into()),
            TermPattern::BlankNode(node) => TermSlot::Var(self.blank(node.as_str())),
            TermPattern::Variable(v) => self.var_slot(v.as_str()),
            TermPattern::Triple(triple) => self.triple_term(triple, parts)?,
        })
    }

    fn triple_term(&mut self, triple: &TriplePattern, parts: &mut Parts) -> Option<TermSlot> {
        let mut slots = self.triple_slots(triple, parts)?;
        if let [TermSlot::Const(s), TermSlot::Const(p), TermSlot::Const(o)] = &slots {
            return ground_triple(s, p, o).map(TermSlot::Const);
        }
        // One variable in two places: the second gets a name of its own, and a condition.
        for i in 1..slots.len() {
            if let TermSlot::Var(var) = slots[i]
                && slots[..i].contains(&TermSlot::Var(var))
            {
                let other = self.fresh("same");
                slots[i] = TermSlot::Var(other);
                parts.filters.push(Expr::SameTerm(Box::new(Expr::Var(var)), Box::new(Expr::Var(other))));
            }
        }
        let term = self.fresh("triple");
        parts.steps.push(Logical::triple_term(None, term, slots));
        Some(TermSlot::Var(term))
    }

    /// VALUES. Columns that stand for terms only select rows.
    pub(super) fn values(&mut self, variables: &[Variable], bindings: &[Vec<Option<GroundTerm>>]) -> Logical {
        let vars: Vec<VarId> = variables.iter().map(|v| self.var(v.as_str())).collect();
        let mut rows = Vec::with_capacity(bindings.len());
        for binding in bindings {
            let row: Vec<Option<Term>> = binding.iter().map(|t| t.clone().map(Term::from)).collect();
            let fits = vars.iter().zip(&row).all(|(var, term)| match (self.constants.get(var), term) {
                (Some(known), Some(term)) => known == term,
                _ => true,
            });
            if fits {
                let open = vars.iter().zip(row).filter(|(v, _)| !self.constants.contains_key(v));
                rows.push(open.map(|(_, term)| term).collect());
            }
        }
        let columns = vars.into_iter().filter(|v| !self.constants.contains_key(v)).collect();
        let values = Logical::values(columns, rows);
        // UNDEF goes with each value of a parameter.
        let params = values.vars.intersect(&self.params.vars);
        if params.is_subset(&values.certain) { values } else { self.confined_rows(values) }
    }

    /// Joins something that looks into no graph with the names of the graphs, where a variable wants them.
    pub(super) fn in_graph(&self, logical: Logical, graph: &GraphScope) -> Logical {
        match self.scoped_unit(graph) {
            names if graph_var(graph).is_some() => Logical::join(vec![names, logical], Vec::new()),
            _ => logical,
        }
    }

    /// The empty group in a scope: one row, or one for each graph.
    pub(super) fn scoped_unit(&self, graph: &GraphScope) -> Logical {
        match graph {
            GraphScope::Named { slot: slot @ Slot::Var(_), .. } => {
                Logical::graph_names(*slot, self.dataset.named.clone())
            }
            _ => Logical::unit(),
        }
    }
}

fn ground_triple(subject: &Term, predicate: &Term, object: &Term) -> Option<Term> {
    let subject = match subject {
        Term::NamedNode(node) => NamedOrBlankNode::from(node.clone()),
        Term::BlankNode(node) => node.clone().into(),
        Term::Literal(_) | Term::Triple(_) => return None,
    };
    let Term::NamedNode(predicate) = predicate else { return None };
    Some(Term::Triple(Box::new(Triple { subject, predicate: predicate.clone(), object: object.clone() })))
}
