//! A transaction aside: it works on a version that stays as it is while others go on committing, and has no lock until it publishes.
//!
//! What it does must be about quads that nobody else changes, such as those of the graph of inferences. It ends as a flush does: the delta of its version is written as segments together with its
//! changes, without the lock, and what was committed meanwhile is the delta on top of them. Where segments have come or gone meanwhile (a load, a compaction, a flush), or somebody has
//! changed the same graph, nothing is published, and whoever wants it begins again.

use super::frozen::Frozen;
use super::{OwnBase, Transaction};
use crate::delta::{ChangeSet, Delta, Keys, OWN_TERM, Row, TermTable, delta_id, is_delta_term};
use crate::error::StoreError;
use crate::flush::{remove_segments, write_segments};
use crate::manifest::Inferences;
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::version::Version;
use crate::write_guard::{Aside, WriteGuard};
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::ValueId;
use std::sync::Arc;

/// What came of a transaction aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Number of the version of which the inferences are from now on.
    pub version: u64,
    /// Quads that appeared.
    pub inserted: u64,
    /// Quads that disappeared.
    pub deleted: u64,
    /// Whether something was committed meanwhile, which the inferences know nothing of.
    pub is_behind: bool,
}

impl Store {
    /// A transaction on the newest version that keeps nobody waiting. It cannot be committed, only published ([`Transaction::publish_aside`]).
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] where the store was opened for reading.
    pub fn begin_aside(&self, cancel: &CancelToken) -> Result<Transaction, StoreError> {
        let version = self.writer()?.freeze();
        let frozen = Frozen::new(self, &version);
        let transaction = Transaction::new(self.clone(), None, version, cancel.clone());
        Ok(Transaction { aside: Some(frozen), ..transaction })
    }
}

impl Transaction {
    /// What its version was before the changes that are in no segment yet, and these: quads (S, P, O, G; sorted) that appeared, and that disappeared.
    pub fn since_segments(&self) -> (Snapshot, [Vec<[ValueId; 4]>; 2]) {
        let number = self.base.manifest.version;
        let before = Version { delta: Delta::default(), number, ..Version::clone(&self.base) };
        let net = self.base.delta.net();
        let ids = |rows: &[Row]| rows.iter().map(|row| row.map(ValueId::from_bits)).collect();
        let [inserted, deleted] = [&net.inserts, &net.deletes].map(|set| ids(set.rows(Order::Spog)));
        (Snapshot::new(Arc::new(before)), [inserted, deleted])
    }

    /// Makes the changes of a transaction aside, all in `graph`, durable and visible, with what is to be known of inferences. What was committed meanwhile is
    /// told of as not known to them. None where something else has become of the version that it began with: then nothing was changed.
    ///
    /// # Errors
    /// Where a file cannot be read or written, the disk is full, or the work was cancelled: then nothing was changed, unless the error is
    /// [`StoreError::InDoubt`]. [`StoreError::Limit`] of a transaction that is not aside.
    pub fn publish_aside(
        mut self,
        graph: ValueId,
        inferences: &Inferences,
    ) -> Result<Option<Published>, StoreError> {
        let no_aside = || StoreError::Limit("a transaction with the write lock is committed".to_owned());
        let frozen = self.aside.take().ok_or_else(no_aside)?;
        let store = self.store.clone();
        if self.adds() {
            store.check_room()?;
        }
        self.settle()?;
        let own = self.cleared.take().unwrap_or_default();
        let published = store.with_room(|| self.publish_on(&frozen.version, graph, inferences, own.quads));
        // Where that is not known, the files stay.
        if !matches!(published, Ok(None))
            && published.as_ref().err().is_none_or(|error| matches!(error, StoreError::InDoubt { .. }))
        {
            let OwnBase { written, .. } = own;
            written.keep(&self.base);
        }
        published
    }

    fn publish_on(
        &self,
        frozen: &Version,
        graph: ValueId,
        inferences: &Inferences,
        gone: u64,
    ) -> Result<Option<Published>, StoreError> {
        let (store, first) = (&self.store, frozen.delta.term_count());
        let keys = self.keys_with_own(first)?;
        let done = with_delta_ids(&self.done, first);
        let net = ChangeSet::merge(&self.base.delta.net(), &done);
        let flushed = write_segments(store, &self.base, &keys, &net, &self.cancel)?;
        drop(keys);
        let guard = WriteGuard::lock(store, &self.cancel)
            .inspect_err(|_| remove_segments(store, &flushed.entries))?;
        let aside = Aside { frozen, base: &self.base, graph, terms: self.terms.table(), inferences };
        let Some(is_behind) = guard.publish_aside(&aside, &flushed)? else { return Ok(None) };
        Ok(Some(Published {
            version: store.version().manifest.version,
            inserted: self.done.inserts.len() as u64,
            deleted: gone + self.done.deletes.len() as u64,
            is_behind,
        }))
    }

    /// The keys of the delta's first terms, and behind them of the transaction's own.
    fn keys_with_own(&self, first: u64) -> Result<Keys, StoreError> {
        let (terms, own) = (self.base.delta.terms(), self.terms.table());
        if own.len() == 0 {
            return Ok(terms.first(first));
        }
        let all = TermTable::default();
        for table in [terms, own] {
            let mut left = if std::ptr::eq(table, terms) { first } else { own.len() };
            table.for_each_from(0, |section, key| {
                if left > 0 {
                    left -= 1;
                    all.insert_or_fail(section, key)?;
                }
                Ok::<_, StoreError>(())
            })?;
        }
        Ok(all.first(all.len()))
    }
}

/// A change set whose own terms are numbered as if they were the delta's, from `first` on.
fn with_delta_ids(change_set: &ChangeSet, first: u64) -> ChangeSet {
    let rename = |bits: u64| {
        let id = ValueId::from_bits(bits);
        if !is_delta_term(id) || id.payload() & OWN_TERM == 0 {
            return bits;
        }
        let index = id.payload() & (OWN_TERM - 1);
        let section = id.kind().and_then(lode_rdf::Kind::section);
        section.map_or(bits, |section| delta_id(section, first + index).to_bits())
    };
    let rows = |rows: &[Row]| {
        let mut rows: Vec<Row> = rows.iter().map(|row| row.map(rename)).collect();
        rows.sort_unstable();
        rows
    };
    let spog = Order::Spog;
    ChangeSet::new(rows(change_set.inserts.rows(spog)), rows(change_set.deletes.rows(spog)))
}
