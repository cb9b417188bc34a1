//! Terms, each once: what follows refers to them by their place in a table. Ids of the database become terms, and terms ids again.

use super::bytes::{Reader, Writer};
use crate::error::FragmentError;
use lode_rdf::key::{Encoded, blank_from_label, decode, encode, inline_term};
use lode_rdf::value_id::Section;
use lode_rdf::{BlankNode, Term, ValueId};
use lode_store::Snapshot;
use std::collections::HashMap;

/// Behind the tags of sections: ids that are their terms, and blank nodes.
const INLINE: u8 = 16;
const BLANK: u8 = 17;

/// The table that is written.
pub(super) struct TermsWritten<'a> {
    snapshot: &'a Snapshot,
    table: Writer,
    count: u64,
    of_term: HashMap<Term, u64>,
    of_id: HashMap<ValueId, u64>,
}

impl<'a> TermsWritten<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let (of_term, of_id) = (HashMap::new(), HashMap::new());
        Self { snapshot, table: Writer::default(), count: 0, of_term, of_id }
    }

    /// The place of a term.
    pub(super) fn term(&mut self, term: &Term) -> Result<u64, FragmentError> {
        if let Some(place) = self.of_term.get(term) {
            return Ok(*place);
        }
        let mut key = Vec::new();
        match (encode(term.as_ref(), &mut key), term) {
            (Encoded::Inline(id), _) => {
                self.table.byte(INLINE);
                self.table.fixed(id.to_bits());
            }
            (Encoded::Key(section), _) => {
                self.table.byte(section as u8);
                self.table.slice(&key);
            }
            (Encoded::Blank, Term::BlankNode(node)) if blank_from_label(node.as_str()).is_some() => {
                self.table.byte(BLANK);
                self.table.slice(&key);
            }
            (Encoded::Blank, _) => return Err(FragmentError::Stays("a blank node that no database has")),
        }
        let place = self.count;
        self.count += 1;
        self.of_term.insert(term.clone(), place);
        Ok(place)
    }

    /// The place of the term of an id.
    pub(super) fn id(&mut self, id: ValueId) -> Result<u64, FragmentError> {
        if let Some(place) = self.of_id.get(&id) {
            return Ok(*place);
        }
        let term = self.snapshot.term(id)?;
        let place = self.term(&term)?;
        self.of_id.insert(id, place);
        Ok(place)
    }

    /// Puts the table down, before what refers to it.
    pub(super) fn finish(self, to: &mut Writer) {
        to.number(self.count);
        to.bytes.extend(self.table.bytes);
    }
}

/// The table that was read.
pub(super) struct TermsRead<'a> {
    snapshot: &'a Snapshot,
    terms: Vec<(Term, Option<ValueId>)>,
}

impl<'a> TermsRead<'a> {
    pub(super) fn new(reader: &mut Reader<'_>, snapshot: &'a Snapshot) -> Result<Self, FragmentError> {
        let terms = reader.list(|reader| Ok((read(reader)?, None)))?;
        Ok(Self { snapshot, terms })
    }

    fn at(&mut self, place: u64) -> Result<&mut (Term, Option<ValueId>), FragmentError> {
        let found = usize::try_from(place).ok().and_then(|place| self.terms.get_mut(place));
        found.ok_or(FragmentError::Damaged("a term that is not in its table"))
    }

    /// The term at a place.
    pub(super) fn term(&mut self, place: u64) -> Result<Term, FragmentError> {
        Ok(self.at(place)?.0.clone())
    }

    /// Its id here.
    pub(super) fn id(&mut self, place: u64) -> Result<ValueId, FragmentError> {
        let snapshot = self.snapshot;
        let (term, id) = self.at(place)?;
        if let Some(id) = id {
            return Ok(*id);
        }
        let found = snapshot.id_of(term)?;
        let found =
            found.ok_or_else(|| FragmentError::UnknownTerm(term.to_string().chars().take(100).collect()))?;
        *id = Some(found);
        Ok(found)
    }
}

fn read(reader: &mut Reader<'_>) -> Result<Term, FragmentError> {
    let damaged = || FragmentError::Damaged("a term that is none");
    let tag = reader.byte()?;
    match tag {
        INLINE => inline_term(ValueId::from_bits(reader.fixed()?)).ok_or_else(damaged),
        BLANK => {
            let label = reader.text()?;
            blank_from_label(label).ok_or_else(damaged)?;
            Ok(BlankNode::new_unchecked(label).into())
        }
        _ => {
            let section = Section::ALL.into_iter().find(|section| *section as u8 == tag);
            decode(section.ok_or_else(damaged)?, reader.slice()?).map_err(|_| damaged())
        }
    }
}
