//! Terms that a transaction brings: its own until it commits, then everybody's.

use crate::delta::{ChangeSet, OWN_TERM, Row, TermTable, is_delta_term, own_id};
use crate::error::StoreError;
use crate::snapshot::Snapshot;
use crate::transaction::changes::Change;
use crate::version::Version;
use crate::write_guard::WriteGuard;
use lode_rdf::key::{Encoded, blank_from_label, encode};
use lode_rdf::value_id::Section;
use lode_rdf::{Term, ValueId};
use std::collections::HashMap;
use std::sync::Arc;

/// Terms whose ids are remembered: predicates and classes come again and again.
const KNOWN_MAX: usize = 1 << 16;
/// Longer keys are not among these.
const KNOWN_BYTES_MAX: usize = 256;

/// Finds ids of terms, and gives ids to those that have none.
#[derive(Debug)]
pub struct OwnTerms {
    snapshot: Snapshot,
    table: Arc<TermTable>,
    /// Keys whose ids are known, and these ids.
    known: TermTable,
    known_ids: Vec<ValueId>,
    key: Vec<u8>,
}

impl OwnTerms {
    /// None yet; others' are those of `snapshot`.
    pub fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            table: Arc::default(),
            known: TermTable::default(),
            known_ids: Vec::new(),
            key: Vec::new(),
        }
    }

    /// The table of own terms.
    pub fn table(&self) -> &Arc<TermTable> {
        &self.table
    }

    /// The id of a term; blank nodes have one if their number is below `blanks`.
    pub fn intern(&mut self, term: &Term, blanks: u64) -> Result<Option<ValueId>, StoreError> {
        let is_known = |id: &ValueId| id.payload() < blanks;
        if let Term::BlankNode(node) = term {
            return Ok(blank_from_label(node.as_str()).filter(is_known));
        }
        let mut key = std::mem::take(&mut self.key);
        let id = match encode(term.as_ref(), &mut key) {
            Encoded::Inline(id) => Ok(Some(id)),
            Encoded::Key(section) => self.intern_key(section, &key).map(Some),
            Encoded::Blank => Ok(None),
        };
        self.key = key;
        id
    }

    fn intern_key(&mut self, section: Section, key: &[u8]) -> Result<ValueId, StoreError> {
        if let Some(id) = self.known.find(section, key).and_then(|at| self.known_ids.get(at as usize)) {
            return Ok(*id);
        }
        let id = match self.snapshot.id_of_key(section, key)? {
            Some(id) => id,
            None => own_id(section, self.table.insert_or_fail(section, key)?),
        };
        if self.known_ids.len() < KNOWN_MAX
            && key.len() <= KNOWN_BYTES_MAX
            && self.known.insert(section, key).is_some()
        {
            self.known_ids.push(id);
        }
        Ok(id)
    }

    /// The ids that everybody sees from now on, by number of the own term. Where segments have come or gone since the beginning,
    /// they may have terms that the transaction takes for new ones.
    fn final_ids(&self, guard: &WriteGuard, segments_changed: bool) -> Result<Vec<u64>, StoreError> {
        let mut ids = Vec::with_capacity(self.table.len() as usize);
        let snapshot = Snapshot::new(guard.tip()?);
        self.table.for_each_from(0, |section, key| {
            let known = if segments_changed { snapshot.id_of_key(section, key)? } else { None };
            let id = match known {
                Some(id) => id,
                None => snapshot.version().delta.add_term(section, key)?,
            };
            ids.push(id.to_bits());
            Ok::<_, StoreError>(())
        })?;
        Ok(ids)
    }

    /// The change set of a transaction that had the write lock all the time, with final ids.
    pub fn publish(&self, change_set: &ChangeSet, guard: &WriteGuard) -> Result<ChangeSet, StoreError> {
        if self.table.len() == 0 {
            return Ok(change_set.clone().uncounted());
        }
        let ids = self.final_ids(guard, false)?;
        let rename = |rows: &[Row]| {
            let mut rows: Vec<Row> = rows.iter().map(|row| row.map(|id| final_id(id, &ids))).collect();
            rows.sort_unstable();
            rows
        };
        let spog = lode_packed::Order::Spog;
        Ok(ChangeSet::new(rename(change_set.inserts.rows(spog)), rename(change_set.deletes.rows(spog))))
    }

    /// Changes with final ids. `before`: the version that gave the other ids, if segments have come or gone since.
    pub fn rename(
        &self,
        changes: Vec<Change>,
        guard: &WriteGuard,
        before: Option<&Version>,
    ) -> Result<Vec<Change>, StoreError> {
        if self.table.len() == 0 && before.is_none() {
            return Ok(changes);
        }
        let ids = self.final_ids(guard, before.is_some())?;
        let Some(before) = before else {
            return Ok(changes.into_iter().map(|change| change.with_ids(|id| final_id(id, &ids))).collect());
        };
        let (old, new) = (Snapshot::new(Arc::new(before.clone())), Snapshot::new(guard.tip()?));
        let mut renamed = HashMap::new();
        let mut result = Ok(());
        let changes = changes.into_iter().map(|change| {
            change.with_ids(|bits| {
                if is_own(bits) {
                    return final_id(bits, &ids);
                }
                *renamed.entry(bits).or_insert_with(|| {
                    rename_by_text(ValueId::from_bits(bits), &old, &new).unwrap_or_else(|error| {
                        result = Err(error);
                        bits
                    })
                })
            })
        });
        let changes = changes.collect();
        result.map(|()| changes)
    }
}

/// The id that a term has now which had `id` before segments were compacted or written.
fn rename_by_text(id: ValueId, old: &Snapshot, new: &Snapshot) -> Result<u64, StoreError> {
    let Some(section) = id.kind().and_then(lode_rdf::Kind::section) else { return Ok(id.to_bits()) };
    let mut key = Vec::new();
    old.keys(&[id], &mut |_, found| {
        key.extend_from_slice(found);
        Ok::<_, StoreError>(())
    })?;
    let id = match new.id_of_key(section, &key)? {
        Some(id) => id,
        None => new.version().delta.add_term(section, &key)?,
    };
    Ok(id.to_bits())
}

fn is_own(bits: u64) -> bool {
    let id = ValueId::from_bits(bits);
    is_delta_term(id) && id.payload() & OWN_TERM != 0
}

fn final_id(bits: u64, ids: &[u64]) -> u64 {
    if !is_own(bits) {
        return bits;
    }
    let index = ValueId::from_bits(bits).payload() & (OWN_TERM - 1);
    ids.get(index as usize).copied().unwrap_or(bits)
}
