//! A transaction: changes that become visible together, or not at all.
//!
//! Changes are gathered as they come. When somebody wants to see them, or at the commit, they are compared with what is there:
//! what remains, the quads that really appear and disappear, is a [`ChangeSet`]. New terms are the transaction's own until it
//! commits; then they get the ids that everybody sees.

mod aside;
mod changes;
mod frozen;
mod inferences;
mod own_terms;
mod upkeep;

#[cfg(test)]
pub(crate) mod crash_tests;
#[cfg(test)]
mod speed_tests;
#[cfg(test)]
pub(crate) mod tests;

use crate::clear::{self, ClearOptions, Graphs, Written};
use crate::commit_check::Proposed;
use crate::delta::{ChangeSet, Row};
use crate::error::StoreError;
use crate::manifest::Inferences;
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::version::Version;
use crate::write_guard::{Commit, SaidOfInferences, WriteGuard};
pub use aside::Published;
use changes::Change;
use frozen::Frozen;
pub use inferences::{Present, Savepoint};
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_rdf::{Kind, Term, ValueId};
use own_terms::OwnTerms;
use std::sync::Arc;
pub use upkeep::CommitUpkeep;

/// Rows read at once where a graph is cleared.
const CLEAR_ROWS: usize = 1 << 16;

/// Changes that are being gathered. Dropped without a commit it leaves everything as it was.
#[derive(Debug)]
pub struct Transaction {
    store: Store,
    /// The write lock, if the transaction has it from its beginning.
    guard: Option<WriteGuard>,
    /// The version that it began with, where it needs no lock since nobody else changes what it does.
    aside: Option<Frozen>,
    /// What the changes are compared with.
    base: Arc<Version>,
    terms: OwnTerms,
    /// What has been done since the last look, in order.
    waiting: Vec<Change>,
    /// The net effect of all before.
    done: Arc<ChangeSet>,
    /// What was written for graphs that were cleared as a whole; then `base` is a version of the transaction's own.
    cleared: Option<OwnBase>,
    /// What is to be known of inferences from the commit on.
    inferences: SaidOfInferences,
    cancel: CancelToken,
    /// What orders are taken from in which its own changes are read.
    memory: MemoryBudget,
    /// The first of the last numbers for blank nodes that it has taken without a gap, and how many.
    blanks: (u64, u64),
}

/// What belongs to a base that is the transaction's own.
#[derive(Debug, Default)]
struct OwnBase {
    /// Quads that it has not and the version before had.
    quads: u64,
    written: Written,
}

impl Store {
    /// A transaction that may read: it has the write lock from now to its end, so nobody changes what it has seen.
    /// Waits for the lock.
    ///
    /// # Errors
    /// Where the store was opened for reading, its log cannot be begun or has failed, or the wait was cancelled.
    pub fn begin(&self, cancel: &CancelToken) -> Result<Transaction, StoreError> {
        self.admit(cancel)?;
        let guard = WriteGuard::lock_with_log(self, cancel)?;
        let base = guard.tip()?;
        Ok(Transaction::new(self.clone(), Some(guard), base, cancel.clone()))
    }

    /// A transaction that only inserts and deletes given quads. It takes the write lock only to commit; where commits are checked or completed, now.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] where the store was opened for reading.
    pub fn begin_blind(&self) -> Result<Transaction, StoreError> {
        self.writer()?;
        if self.commits_look() {
            return self.begin(&CancelToken::default());
        }
        Ok(Transaction::new(self.clone(), None, self.version(), CancelToken::default()))
    }
}

impl Transaction {
    fn new(store: Store, guard: Option<WriteGuard>, base: Arc<Version>, cancel: CancelToken) -> Self {
        let terms = OwnTerms::new(Snapshot::new(Arc::clone(&base)));
        let (waiting, done, cleared) = (Vec::new(), Arc::default(), None);
        let (inferences, memory, blanks) = (None, MemoryBudget::unlimited(), (0, 0));
        Self {
            store,
            guard,
            aside: None,
            base,
            terms,
            waiting,
            done,
            cleared,
            inferences,
            cancel,
            memory,
            blanks,
        }
    }

    /// Stops the transaction, also while it waits for the write lock, once `cancel` says so.
    #[must_use]
    pub fn with_cancel(self, cancel: &CancelToken) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// Takes the orders in which its own changes are read from `memory`. The changes themselves are for the caller to count.
    #[must_use]
    pub fn within(self, memory: &MemoryBudget) -> Self {
        Self { memory: memory.clone(), ..self }
    }

    /// What the transaction sees now: what was committed when it began, and its own changes so far.
    ///
    /// # Errors
    /// Where a file that the changes so far need cannot be read or is damaged, or the work was cancelled.
    pub fn snapshot(&mut self) -> Result<Snapshot, StoreError> {
        let done = match self.guard.is_some() || self.aside.is_some() {
            true => {
                self.settle()?;
                Arc::clone(&self.done)
            }
            // Compared again at the commit, perhaps with another version: what changes nothing here may change something there.
            false => {
                let change_set = self.compare(&changes::last_of_each(self.waiting.clone()))?;
                Arc::new(change_set.within(&self.memory))
            }
        };
        let mut version = Version::clone(&self.base);
        version.delta = version.delta.with_own(&done, self.terms.table());
        version.next_blank = self.store.next_blank();
        Ok(Snapshot::new(Arc::new(version)))
    }

    /// The id of a term: the one it has, or a new one. `None` for a blank node that did not come out of this database.
    ///
    /// # Errors
    /// Where a dictionary cannot be read or is damaged.
    pub fn intern(&mut self, term: &Term) -> Result<Option<ValueId>, StoreError> {
        let known_blanks = self.store.next_blank();
        self.terms.intern(term, known_blanks)
    }

    /// Bytes of the terms that are new, as far as is known.
    pub fn new_term_bytes(&self) -> usize {
        self.terms.table().bytes_from(0)
    }

    /// A new blank node.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] where the store was opened for reading.
    pub fn fresh_blank(&mut self) -> Result<ValueId, StoreError> {
        let number = self.store.writer()?.take_blanks(1);
        self.blanks = match self.blanks {
            (first, taken) if first + taken == number => (first, taken + 1),
            // Others have taken some meanwhile: those before cannot be given back.
            _ => (number, 1),
        };
        Ok(ValueId::new(Kind::Blank, number))
    }

    /// Inserts a quad: S, P, O, G, with [`ValueId::DEFAULT_GRAPH`] for none. Later changes of a quad win over earlier ones.
    pub fn insert(&mut self, quad: [ValueId; 4]) {
        self.waiting.push(Change::insert(quad));
    }

    /// Deletes a quad.
    pub fn delete(&mut self, quad: [ValueId; 4]) {
        self.waiting.push(Change::delete(quad));
    }

    /// Deletes all quads of a graph; [`ValueId::DEFAULT_GRAPH`] for those in no named graph.
    ///
    /// # Errors
    /// Like [`Transaction::clear`].
    pub fn clear_graph(&mut self, graph: ValueId) -> Result<(), StoreError> {
        self.clear(Graphs::One(graph))
    }

    /// Deletes all quads of graphs. Many are not held in memory but cleared at once, in segments of the transaction's own; then a quad
    /// that is inserted again counts as deleted and inserted.
    ///
    /// # Errors
    /// Where a file cannot be read, is damaged or cannot be written, or the work was cancelled.
    pub fn clear(&mut self, graphs: Graphs) -> Result<(), StoreError> {
        if self.clears_at_once(graphs)? {
            return self.clear_at_once(graphs);
        }
        let snapshot = self.snapshot()?;
        let (order, prefix) = graphs.order();
        let mut scan = snapshot.scan(order, prefix, 0b1111)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        loop {
            self.cancel.check()?;
            columns.iter_mut().for_each(Vec::clear);
            let rows = scan.next(CLEAR_ROWS, &mut columns)?;
            if rows == 0 {
                return Ok(());
            }
            for at in 0..rows {
                let mut quad = [ValueId::UNDEF; 4];
                for (position, column) in order.positions().into_iter().zip(&columns) {
                    quad[position as usize] = column[at];
                }
                if graphs.contain(quad[3].to_bits()) {
                    self.delete(quad);
                }
            }
        }
    }

    /// Whether graphs have so many quads that they are cleared at once, so that no deletions are held.
    ///
    /// # Errors
    /// Where an index cannot be read or is damaged.
    pub fn clears_at_once(&self, graphs: Graphs) -> Result<bool, StoreError> {
        if self.guard.is_none() && self.aside.is_none() {
            return Ok(false);
        }
        let most = self.store.writer()?.options.logged_changes_max as u64;
        Ok(clear::quads_in_segments(&self.base, graphs)? > most)
    }

    /// Goes on with a version that has nothing of the graphs, and forgets what was done to them.
    fn clear_at_once(&mut self, graphs: Graphs) -> Result<(), StoreError> {
        self.settle()?;
        let threads = self.store.writer()?.options.threads;
        let options = ClearOptions { threads, cancel: &self.cancel };
        let cleared = self.store.with_room(|| clear::clear(&self.store, &self.base, graphs, options))?;
        self.base = cleared.version;
        let kept = ChangeSet::without(&self.done, &|quad| graphs.contain(quad[3]));
        if !Arc::ptr_eq(&kept, &self.done) {
            self.done = Arc::new(Arc::unwrap_or_clone(kept).within(&self.memory));
        }
        let own = self.cleared.get_or_insert_default();
        own.quads += cleared.quads;
        own.written.extend(cleared.written);
        Ok(())
    }

    /// Compares what was done since the last time with what is there.
    fn settle(&mut self) -> Result<(), StoreError> {
        if !self.waiting.is_empty() {
            let changes = changes::last_of_each(std::mem::take(&mut self.waiting));
            let merged = ChangeSet::merge_within(&self.done, &self.compare(&changes)?, &self.memory);
            self.done = Arc::new(merged.map_err(StoreError::OutOfMemory)?);
        }
        Ok(())
    }

    /// The version that the transaction began with, and what it has done before the changes that wait.
    fn seen(&self) -> Version {
        let delta = self.base.delta.with_own(&self.done, self.terms.table());
        Version { delta, ..Version::clone(&self.base) }
    }

    /// What changes (sorted, one of each quad) change of what the transaction has seen.
    fn compare(&self, changes: &[Change]) -> Result<ChangeSet, StoreError> {
        let rows: Vec<Row> = changes.iter().map(Change::quad).collect();
        let held = self.base.held_by_segments(&rows)?;
        Ok(changes::effective(changes, &self.seen().visible(&rows, &held)))
    }

    /// Whether it inserts something, or would if that were not there already.
    fn adds(&self) -> bool {
        !self.done.inserts.is_empty() || self.waiting.iter().any(Change::is_insertion)
    }

    /// Makes the changes durable and visible. On a full disk only deletions are.
    ///
    /// # Errors
    /// Where it adds something and the disk is full, too many changes wait to be written, a file cannot be read or written, or the work was cancelled: then nothing was
    /// changed, unless the error is [`StoreError::InDoubt`].
    pub fn commit(self) -> Result<Commit, StoreError> {
        let store = self.store.clone();
        let commit = self.commit_changes()?;
        // The commit is durable in the log: what becomes of the delta is no matter of its client's.
        store.flush_if_full();
        Ok(commit)
    }

    fn commit_changes(mut self) -> Result<Commit, StoreError> {
        if self.aside.is_some() {
            return Err(StoreError::Limit("a transaction aside is published".to_owned()));
        }
        if self.adds() {
            let (first, taken) = self.blanks;
            let give_back = |_: &StoreError| {
                if let Ok(writer) = self.store.writer() {
                    writer.give_back_blanks(first, taken, 0);
                }
            };
            self.store.check_room().inspect_err(give_back)?;
        }
        let told = self.keep_up()?;
        self.check()?;
        let is_stale = told.is_some() && self.inferences.is_some();
        match self.guard.take() {
            Some(guard) => {
                self.settle()?;
                let change_set = self.terms.publish(&self.done, &guard)?;
                let commit = match self.cleared.take() {
                    None if self.inferences.is_none() => guard.commit(change_set, &self.cancel),
                    own => self.commit_cleared(own.unwrap_or_default(), &change_set, guard),
                }?;
                let commit = Commit { is_stale, ..commit };
                Ok(told.map_or(commit, |[inserted, deleted]| Commit { inserted, deleted, ..commit }))
            }
            None => self.commit_blind(),
        }
    }

    /// Has the check of commits look at what the transaction makes of the database.
    fn check(&mut self) -> Result<(), StoreError> {
        let store = self.store.clone();
        let Some(check) = store.commit_check() else { return Ok(()) };
        if self.guard.is_none() {
            // Begun before there was a check: what it would be committed on top of is not known.
            return Err(StoreError::Refused("commits are checked from now on: try again".into()));
        }
        self.settle()?;
        if self.done.is_empty() && self.cleared.is_none() {
            return Ok(());
        }
        let snapshot = self.snapshot()?;
        let changes = self.cleared.is_none().then_some(&*self.done);
        check.check(&Proposed::new(&snapshot, changes, &self.cancel))
    }

    fn commit_cleared(
        &self,
        own: OwnBase,
        change_set: &ChangeSet,
        guard: WriteGuard,
    ) -> Result<Commit, StoreError> {
        let commit = guard.commit_on(&self.base, own.quads, change_set, &self.inferences, &self.cancel);
        if commit.as_ref().map_or_else(|error| matches!(error, StoreError::InDoubt { .. }), |_| true) {
            own.written.keep(&self.base);
        }
        commit
    }

    /// Compares with the segments before the write lock is taken, and with the delta once it is.
    fn commit_blind(mut self) -> Result<Commit, StoreError> {
        let quads = changes::last_of_each(std::mem::take(&mut self.waiting));
        let rows: Vec<Row> = quads.iter().map(Change::quad).collect();
        let held = self.base.held_by_segments(&rows)?;
        self.store.admit(&self.cancel)?;
        let guard = WriteGuard::lock_with_log(&self.store, &self.cancel)?;
        let tip = guard.tip()?;
        if tip.manifest.inferences.as_ref().is_some_and(Inferences::is_maintained) {
            return self.commit_unmaintained(quads, guard);
        }
        if tip.manifest.version != self.base.manifest.version {
            // Terms and quads may be in segments now, under other ids.
            return self.commit_later(quads, guard);
        }
        let renamed = self.terms.rename(quads, &guard, None)?;
        let (quads, held) = changes::sorted(renamed, held);
        let rows: Vec<Row> = quads.iter().map(Change::quad).collect();
        let visible = tip.visible(&rows, &held);
        guard.commit(changes::effective(&quads, &visible), &self.cancel)
    }

    /// Commits where inferences were made since the beginning, and are to be kept up to date: nobody has brought them there.
    fn commit_unmaintained(&self, quads: Vec<Change>, guard: WriteGuard) -> Result<Commit, StoreError> {
        let compared = |guard: &WriteGuard| -> Result<ChangeSet, StoreError> {
            let tip = guard.tip()?;
            let quads = changes::last_of_each(self.terms.rename(quads.clone(), guard, Some(&self.base))?);
            let rows: Vec<Row> = quads.iter().map(Change::quad).collect();
            let held = tip.held_by_segments(&rows)?;
            Ok(changes::effective(&quads, &tip.visible(&rows, &held)))
        };
        let change_set = compared(&guard)?;
        if change_set.is_empty() {
            return guard.commit(change_set, &self.cancel);
        }
        // So that they are known to be of what there was before: whoever brings them up to date goes on from there.
        guard.leave_inferences(&self.cancel)?;
        let change_set = compared(&guard)?;
        let commit = guard.commit(change_set, &self.cancel)?;
        Ok(Commit { is_stale: true, ..commit })
    }

    /// Commits where segments have come or gone since the beginning.
    fn commit_later(self, quads: Vec<Change>, guard: WriteGuard) -> Result<Commit, StoreError> {
        let tip = guard.tip()?;
        let quads = changes::last_of_each(self.terms.rename(quads, &guard, Some(&self.base))?);
        let rows: Vec<Row> = quads.iter().map(Change::quad).collect();
        let held = tip.held_by_segments(&rows)?;
        let visible = tip.visible(&rows, &held);
        guard.commit(changes::effective(&quads, &visible), &self.cancel)
    }
}
