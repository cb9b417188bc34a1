//! Triple patterns over what a schema implies: a pattern is the union of scans from each of whose rows its triple follows, as a set, so that
//! what follows in several ways is one solution ([`Schema`]). Nothing is stored: the triples that a scan reads are those of the pattern's
//! graphs.

mod classes;
mod properties;
mod types;

use super::translator::Translator;
use crate::error::PlanError;
use crate::expr::Expr;
use crate::function::Callee;
use crate::logical::{Logical, graph_var, term_slot_var};
use crate::plan::{GraphScope, TermSlot, VarId};
use crate::schema::{Directed, Schema, TABLE_ROWS_MAX, vocabulary::rdf};
use crate::var_set::VarSet;
use lode_rdf::Term;

/// A triple pattern in a scope.
#[derive(Debug, Clone)]
struct Triple<'a> {
    subject: TermSlot,
    predicate: TermSlot,
    object: TermSlot,
    graph: &'a GraphScope,
}

impl Triple<'_> {
    /// Its variables, in the order of its slots.
    fn columns(&self) -> Vec<VarId> {
        let slots = [&self.subject, &self.predicate, &self.object];
        let vars: VarSet = slots.into_iter().filter_map(term_slot_var).chain(graph_var(self.graph)).collect();
        vars.as_slice().to_vec()
    }
}

impl Translator<'_> {
    /// The solutions of one triple pattern: those in the data, and those that follow by the dataset's schema.
    pub(super) fn triples(
        &mut self,
        subject: TermSlot,
        predicate: TermSlot,
        object: TermSlot,
        graph: &GraphScope,
    ) -> Logical {
        let Some(schema) = self.dataset.schema.clone() else {
            return self.scan(subject, predicate, object, graph);
        };
        let triple = Triple { subject, predicate, object, graph };
        let branches = self.branches(&schema, &triple);
        self.as_set(&triple, branches)
    }

    /// An error where a pattern was refused.
    pub(super) fn check_refused(&mut self) -> Result<(), PlanError> {
        self.refused.take().map_or(Ok(()), Err)
    }

    /// The pairs of each of `lower` with what is above it; none where they would be too many, or nobody waits any more.
    fn pairs<T>(
        &mut self,
        lower: &[T],
        above: impl Fn(&T) -> Vec<(Term, Term)>,
        what: &str,
    ) -> Vec<(Term, Term)> {
        let mut pairs = Vec::new();
        for one in lower {
            if self.stats.is_cancelled() {
                return Vec::new();
            }
            pairs.extend(above(one));
            if pairs.len() > TABLE_ROWS_MAX {
                self.refused = Some(PlanError::TooComplex(format!(
                    "the schema has more than {TABLE_ROWS_MAX} pairs of a {what} and one above it: \
                     write the {what} in place of the variable, or ask without reasoning"
                )));
                return Vec::new();
            }
        }
        pairs
    }

    fn branches(&mut self, schema: &Schema, triple: &Triple<'_>) -> Vec<Logical> {
        match &triple.predicate {
            TermSlot::Const(predicate) if *predicate == rdf("type") => self.instances(schema, triple),
            TermSlot::Const(predicate) => self.related(schema, &predicate.clone(), triple),
            TermSlot::Var(predicate) => self.related_by_any(schema, *predicate, triple),
        }
    }

    /// The union of branches as a set of the pattern's solutions.
    fn as_set(&mut self, triple: &Triple<'_>, mut branches: Vec<Logical>) -> Logical {
        branches.retain(|branch| !branch.is_empty());
        let columns = triple.columns();
        if let [only] = branches.as_slice()
            && only.vars.as_slice() == columns
        {
            return branches.remove(0);
        }
        let projected = |branch| Logical::project(branch, columns.clone());
        let mut branches: Vec<Logical> = branches.into_iter().map(projected).collect();
        match branches.len() {
            0 => Logical::empty(columns.into_iter().collect()),
            1 => Logical::distinct(branches.remove(0)),
            _ => Logical::distinct(Logical::union(branches)),
        }
    }

    /// A scan for a property in its direction. What stands in the place of an object need not be a subject: literals are left out there.
    fn scan_directed(
        &mut self,
        property: TermSlot,
        inverse: bool,
        (subject, object): (TermSlot, TermSlot),
        graph: &GraphScope,
    ) -> Logical {
        if !inverse {
            return self.scan(subject, property, object, graph);
        }
        let scan = self.scan(object, property, subject.clone(), graph);
        self.subjects_only(scan, &subject)
    }

    /// The rows in which a term is what a subject can be.
    fn subjects_only(&self, input: Logical, subject: &TermSlot) -> Logical {
        let subject = match subject {
            TermSlot::Var(subject) => subject,
            TermSlot::Const(Term::NamedNode(_) | Term::BlankNode(_)) => return input,
            TermSlot::Const(_) => return Logical::empty(input.vars),
        };
        let call = |name: &str| {
            let callee = Callee::new(name, self.stats.function(name));
            Expr::Call(callee, vec![Expr::Var(*subject)])
        };
        Logical::filter(input, vec![Expr::Or(vec![call("isIRI"), call("isBLANK")])])
    }

    /// The slot of a scan for a property that is one of several, and the table that says which.
    fn one_of(&mut self, terms: Vec<Term>, hint: &str) -> (TermSlot, Option<Logical>) {
        match <[Term; 1]>::try_from(terms) {
            Ok([only]) => (TermSlot::Const(only), None),
            Err(terms) => {
                let var = self.fresh(hint);
                let rows = terms.into_iter().map(|term| vec![Some(term)]).collect();
                (TermSlot::Var(var), Some(Logical::values(vec![var], rows)))
            }
        }
    }

    /// Whether the data has triples with a property.
    fn is_used(&self, property: &Term) -> bool {
        use lode_packed::Order;
        self.stats.id_of(property).is_some_and(|id| self.stats.holds(Order::Posg, &[id]))
    }
}

/// The properties of a direction.
fn in_direction(properties: &[Directed], inverse: bool) -> Vec<Term> {
    properties.iter().filter(|p| p.inverse == inverse).map(|p| p.property.clone()).collect()
}

/// Rows of a table joined with a scan.
fn with_table(table: Option<Logical>, scan: Logical) -> Logical {
    match table {
        Some(table) => Logical::join(vec![table, scan], Vec::new()),
        None => scan,
    }
}

/// A table of pairs.
fn pairs(columns: [VarId; 2], rows: Vec<(Term, Term)>) -> Logical {
    let rows = rows.into_iter().map(|(a, b)| vec![Some(a), Some(b)]).collect();
    Logical::values(columns.to_vec(), rows)
}
