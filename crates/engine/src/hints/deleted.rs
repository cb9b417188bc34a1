//! What DELETE DATA is to delete and is not there, though all of its terms are: most likely another value, or another graph, is meant.

use super::Look;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, ValueId};
use lode_sparql::parse::hints::{Deleted, Hint, HintKind, Role};
use lode_store::StoreError;

/// Values and graphs that are named for one that is not there.
const NAMED_MAX: usize = 3;
/// Characters that are shown of a value.
const CHARS_MAX: usize = 60;
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

impl Look<'_> {
    pub(super) fn deleted(&mut self, deleted: &Deleted) -> Result<(), StoreError> {
        let Some([s, p, o, g]) = self.ids(deleted)? else { return Ok(()) };
        if self.snapshot.count(Order::Spog, &[s, p, o, g])? > 0 {
            return Ok(());
        }
        let graph = match &deleted.graph {
            Some(graph) => format!("the graph {}", self.found.short(graph)),
            None => "the default graph".to_owned(),
        };
        let [subject, predicate, object] = [&deleted.subject, &deleted.predicate, &deleted.object];
        let triple = [subject, predicate, object].map(|term| self.written(term)).join(" ");
        let message = format!("{graph} has no triple {triple}, so there is nothing to delete");
        let elsewhere = self.behind(&[s, p, o])?;
        let help = if elsewhere.is_empty() {
            let values = self.behind(&[s, p])?;
            match values.is_empty() {
                true => String::new(),
                false => format!("{} has {}", self.written(predicate), values.join(", ")),
            }
        } else {
            format!("it is in {}", elsewhere.join(", "))
        };
        self.hints.push(Hint { kind: HintKind::NotThere, span: deleted.span.clone(), message, help });
        Ok(())
    }

    /// The ids of a quad, where each of its terms is in quads there: of one that is not, that is told.
    fn ids(&self, deleted: &Deleted) -> Result<Option<[ValueId; 4]>, StoreError> {
        let graph = deleted.graph.as_ref().map(|graph| Term::from(NamedNode::new_unchecked(graph)));
        let mut ids = [ValueId::DEFAULT_GRAPH; 4];
        let terms = [&deleted.subject, &deleted.predicate, &deleted.object].into_iter().chain(graph.as_ref());
        let roles = [Role::Subject, Role::Predicate, Role::Object, Role::Graph];
        for ((id, term), role) in ids.iter_mut().zip(terms).zip(roles) {
            match self.snapshot.id_of(term)? {
                // Of literals nothing is told by themselves.
                Some(known) if term.is_literal() || self.count(role, known)? > 0 => *id = known,
                _ => return Ok(None),
            }
        }
        Ok(Some(ids))
    }

    /// What stands behind the beginning of a quad, as far as it is named.
    fn behind(&self, prefix: &[ValueId]) -> Result<Vec<String>, StoreError> {
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        let mut scan = self.snapshot.scan(Order::Spog, prefix, 1 << prefix.len())?;
        scan.next(NAMED_MAX, &mut columns)?;
        let mut found: Vec<String> = Vec::new();
        for id in columns.get(prefix.len()).into_iter().flatten().take(NAMED_MAX) {
            found.push(match *id {
                ValueId::DEFAULT_GRAPH => "the default graph".to_owned(),
                id => self.written(&self.snapshot.term(id)?),
            });
        }
        found.dedup();
        Ok(found)
    }

    /// A term as the text would have it, or its beginning.
    fn written(&self, term: &Term) -> String {
        let whole = match term {
            Term::NamedNode(iri) => return self.found.short(iri.as_str()),
            Term::Literal(literal)
                if literal.datatype().as_str().starts_with(XSD) && literal.language().is_none() =>
            {
                let plain = Term::from(lode_rdf::Literal::new_simple_literal(literal.value())).to_string();
                match &literal.datatype().as_str()[XSD.len()..] {
                    "string" => plain,
                    name => format!("{plain}^^xsd:{name}"),
                }
            }
            other => other.to_string(),
        };
        match whole.char_indices().nth(CHARS_MAX) {
            Some((end, _)) => format!("{}...", &whole[..end]),
            None => whole,
        }
    }
}
