//! Labels of terms, and other texts about them.

use crate::clock::Clock;
use lode_engine::Order;
use lode_engine::store::{Snapshot, StoreError};
use lode_rdf::{NamedNode, Term, ValueId};

/// Predicates whose objects are labels, the best first.
const LABELS: [&str; 7] = [
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://xmlns.com/foaf/0.1/name",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
];
/// Predicates whose objects say more.
const COMMENTS: [&str; 5] = [
    "http://www.w3.org/2000/01/rdf-schema#comment",
    "http://www.w3.org/2004/02/skos/core#definition",
    "http://schema.org/description",
    "http://purl.org/dc/terms/description",
    "http://purl.org/dc/elements/1.1/description",
];
/// Of a subject so many are looked at for one in the best language.
const TEXTS_MAX: usize = 32;
/// Longer ones are cut.
const CHARS_MAX: usize = 300;

/// What labels and comments are called in a version.
pub(crate) struct Labels<'a> {
    snapshot: &'a Snapshot,
    labels: Vec<ValueId>,
    /// The IRIs of these.
    iris: Vec<&'static str>,
    comments: Vec<ValueId>,
}

impl<'a> Labels<'a> {
    pub fn new(snapshot: &'a Snapshot) -> Result<Self, StoreError> {
        let ids = |all: &[&'static str]| {
            let mut known = (Vec::new(), Vec::new());
            for iri in all {
                if let Some(id) = snapshot.id_of(&Term::from(NamedNode::new_unchecked(*iri)))? {
                    known.0.push(id);
                    known.1.push(*iri);
                }
            }
            Ok::<_, StoreError>(known)
        };
        let ((labels, iris), (comments, _)) = (ids(&LABELS)?, ids(&COMMENTS)?);
        Ok(Self { snapshot, labels, iris, comments })
    }

    /// The predicates of labels.
    pub fn predicates(&self) -> &[ValueId] {
        &self.labels
    }

    /// Their IRIs.
    pub fn iris(&self) -> &[&'static str] {
        &self.iris
    }

    /// The label of an IRI.
    pub fn of(&self, iri: &str, clock: &Clock) -> Result<Option<String>, StoreError> {
        self.text(iri, &self.labels, clock)
    }

    /// What is said of an IRI.
    pub fn comment(&self, iri: &str, clock: &Clock) -> Result<Option<String>, StoreError> {
        self.text(iri, &self.comments, clock)
    }

    fn text(&self, iri: &str, predicates: &[ValueId], clock: &Clock) -> Result<Option<String>, StoreError> {
        if predicates.is_empty() || clock.is_over() {
            return Ok(None);
        }
        let term = Term::from(NamedNode::new_unchecked(iri));
        let Some(subject) = self.snapshot.id_of(&term)? else { return Ok(None) };
        for predicate in predicates {
            if let Some(text) = self.best(subject, *predicate)? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// The text that reads best: in English or without a language before others.
    fn best(&self, subject: ValueId, predicate: ValueId) -> Result<Option<String>, StoreError> {
        let mut scan = self.snapshot.scan(Order::Spog, &[subject, predicate], 0b0100)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        scan.next(TEXTS_MAX, &mut columns)?;
        let [_, _, objects, _] = columns;
        let mut best: Option<(u8, String)> = None;
        self.snapshot.terms::<StoreError>(&objects, &mut |_, term| {
            let Term::Literal(literal) = term else { return Ok(()) };
            let rank = match literal.language() {
                Some("en") => 0,
                None => 1,
                Some(language) if language.starts_with("en") => 2,
                Some(_) => 3,
            };
            if best.as_ref().is_none_or(|(other, _)| rank < *other) {
                best = Some((rank, cut(literal.value())));
            }
            Ok(())
        })?;
        Ok(best.map(|(_, text)| text))
    }
}

/// A text, or its beginning.
pub(crate) fn cut(text: &str) -> String {
    let mut cut: String = text.chars().take(CHARS_MAX).collect();
    if cut.len() < text.len() {
        cut.push_str("...");
    }
    cut
}
