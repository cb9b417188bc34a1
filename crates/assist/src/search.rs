//! Terms by how they begin: IRIs, and what has a label that begins so. Keys of a dictionary are sorted, so these are ranges of it. What has a label with a word that begins so
//! is found by the index of words, where there is one.

use crate::ask::Data;
use crate::clock::Clock;
use crate::labels::{Labels, cut};
use lode_engine::Order;
use lode_engine::store::{Snapshot, StoreError};
use lode_rdf::key::escape;
use lode_rdf::value_id::Section;
use lode_rdf::{Term, ValueId};

/// Labels that are looked at for a beginning.
const LABELS_MAX: usize = 200;
/// Subjects of a label.
const SUBJECTS_MAX: usize = 8;

/// The IRIs that begin so, `most` of them.
pub(crate) fn iris(snapshot: &Snapshot, start: &str, most: usize) -> Result<Vec<String>, StoreError> {
    let ids = snapshot.some_ids_with_prefix(Section::Iri, start.as_bytes(), most)?;
    named(snapshot, &ids)
}

/// The IRIs that have a label which begins so, in any usual case of letters.
pub(crate) fn labelled(
    snapshot: &Snapshot,
    labels: &Labels<'_>,
    start: &str,
    clock: &Clock,
    most: usize,
) -> Result<Vec<String>, StoreError> {
    let mut subjects: Vec<ValueId> = Vec::new();
    for start in cases(start) {
        let mut key = Vec::new();
        escape(start.as_bytes(), &mut key);
        for (section, key) in [(Section::String, start.as_bytes()), (Section::LangString, key.as_slice())] {
            for text in snapshot.some_ids_with_prefix(section, key, LABELS_MAX)? {
                for predicate in labels.predicates() {
                    let mut scan = snapshot.scan(Order::Posg, &[*predicate, text], 0b0100)?;
                    let mut columns: [Vec<ValueId>; 4] = Default::default();
                    scan.next(SUBJECTS_MAX, &mut columns)?;
                    let [_, _, found, _] = columns;
                    subjects.extend(found);
                }
                if subjects.len() >= most || clock.is_over() {
                    subjects.truncate(most);
                    return named(snapshot, &distinct(subjects));
                }
            }
        }
    }
    named(snapshot, &distinct(subjects))
}

/// What has a label with a word that begins so, the best first, and that label, and whether there may be more; nothing where texts would have to be read for it.
pub(crate) fn with_word(
    data: &Data<'_>,
    labels: &Labels<'_>,
    start: &str,
    clock: &Clock,
    most: usize,
) -> (Vec<(Term, String)>, bool) {
    let mut found: Vec<(Term, String)> = Vec::new();
    // An identifier may have several words, of which all but the last are whole.
    let words: Vec<&str> =
        start.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let Some((last, whole)) = words.split_last().filter(|_| data.snapshot.has_words()) else {
        return (found, false);
    };
    let query: String = whole.iter().map(|word| format!("+\"{word}\" ")).collect();
    for iri in labels.iris() {
        if clock.is_over() || found.len() >= most {
            break;
        }
        let text = format!(
            "SELECT ?s ?label {{ (?s ?score ?label) <urn:lodestore:text:query> (<{iri}> '{query}+{last}*' {most}) }} ORDER BY DESC(?score)"
        );
        for (term, label) in data.pairs(&text, clock) {
            if let (Term::NamedNode(_), Term::Literal(label)) = (&term, label)
                && found.len() < most
                && found.iter().all(|(other, _)| *other != term)
            {
                let label = cut(label.value());
                found.push((term, label));
            }
        }
    }
    let is_part = clock.is_over() || found.len() >= most;
    (found, is_part)
}

/// Each once, in their order.
fn distinct(ids: Vec<ValueId>) -> Vec<ValueId> {
    let mut seen = std::collections::BTreeSet::new();
    ids.into_iter().filter(|id| seen.insert(*id)).collect()
}

/// The IRIs among terms, in the order of their ids.
fn named(snapshot: &Snapshot, ids: &[ValueId]) -> Result<Vec<String>, StoreError> {
    let mut iris = Vec::new();
    snapshot.terms::<StoreError>(ids, &mut |_, term| {
        if let Term::NamedNode(node) = term {
            iris.push(node.into_string());
        }
        Ok(())
    })?;
    Ok(iris)
}

/// A text as it was typed, with a capital, in small letters and in capitals.
fn cases(text: &str) -> Vec<String> {
    let small = text.to_lowercase();
    let mut chars = small.chars();
    let capital: String =
        chars.next().into_iter().flat_map(char::to_uppercase).chain(chars.clone()).collect();
    let mut cases = vec![text.to_owned(), capital, small, text.to_uppercase()];
    let mut at = 0;
    while at < cases.len() {
        if cases.get(..at).is_some_and(|before| before.contains(&cases[at])) {
            cases.remove(at);
        } else {
            at += 1;
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::cases;

    #[test]
    fn each_case_once() {
        assert_eq!(cases("ali"), ["ali", "Ali", "ALI"]);
        assert_eq!(cases("iPhone"), ["iPhone", "Iphone", "iphone", "IPHONE"]);
        assert_eq!(cases("12"), ["12"]);
    }
}
