//! The write lock: whoever holds it makes the next version, logs it, and gives it back before the log is durable.
//!
//! So there are two newest versions: the *tip*, on which the next writer builds, and the *current* one, which readers get. The
//! tip becomes current when its record is durable. Where the log fails, all that is not durable has failed with it: the tip goes
//! back to the current version, and the next writer begins a new log.

use crate::delta::{ChangeSet, Delta, QuadSet, TermTable};
use crate::error::StoreError;
use crate::flush::{Flushed, remove_segments, write_segments};
use crate::log::{Changes, Log, LogEnd, remove_log};
use crate::log_rewrite::for_each_record;
use crate::manifest::{Inferences, MANIFEST, Manifest, SegmentEntry, log_file};
use crate::store::Store;
use crate::version::{OpenSegment, Version};
use crate::writer::{State, VersionLog, Writer, add};
use lode_base::cancel::CancelToken;
use lode_packed::Order as SortOrder;
use lode_rdf::ValueId;
use std::sync::Arc;

/// What a commit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Commit {
    /// Quads that were not there before.
    pub inserted: u64,
    /// Quads that are not there any more.
    pub deleted: u64,
    /// Number of the version that it made.
    pub version: u64,
    /// Whether inferences, which commits bring up to date, are not that from now on: what follows from this one was too much.
    pub is_stale: bool,
}

/// What a transaction says of inferences, if it says anything: that there are such, or no rules any more.
pub(crate) type SaidOfInferences = Option<Option<Inferences>>;

/// A transaction aside that is to be published.
pub(crate) struct Aside<'a> {
    /// The version that it began with.
    pub frozen: &'a Version,
    /// That, or one of its own without some graph.
    pub base: &'a Version,
    /// The graph that it changes.
    pub graph: ValueId,
    /// Terms that it brings.
    pub terms: &'a TermTable,
    /// What is to be known of inferences.
    pub inferences: &'a Inferences,
}

impl Aside<'_> {
    /// Whether what was committed later is about the same graph, or brings the same terms.
    fn meets(&self, later: &Delta) -> bool {
        let graph = self.graph.to_bits();
        let is_about = |set: &QuadSet| set.rows(SortOrder::Spog).iter().any(|row| row[3] == graph);
        let has_term = |section, key: &[u8]| match later.terms().find(section, key) {
            Some(_) => Err(()),
            None => Ok(()),
        };
        later.change_sets().iter().any(|set| is_about(&set.inserts) || is_about(&set.deletes))
            || self.terms.for_each_from(0, has_term).is_err()
    }
}

/// The write lock; left when dropped.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    store: Store,
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.store.write_lock().unlock();
    }
}

impl Store {
    /// Lets one caller at a time make the next version, of segments alone: what transactions have changed is in segments before.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        cancel: &CancelToken,
        work: impl FnOnce(&Arc<Version>) -> Result<T, E>,
    ) -> Result<T, E> {
        let guard = WriteGuard::lock(self, cancel)?;
        guard.settle(cancel)?;
        let result = work(&self.version());
        guard.has_published()?;
        result
    }
}

impl WriteGuard {
    /// Waits for the write lock, and puts right what a failure has left.
    pub(crate) fn lock(store: &Store, cancel: &CancelToken) -> Result<Self, StoreError> {
        let writer = store.writer()?;
        store.write_lock().lock(cancel)?;
        let guard = Self { store: store.clone() };
        guard.settle_doubt()?;
        let mut state = writer.state();
        if let Some(failed) = state.log.clone().filter(|log| log.has_failed()) {
            state.tip = store.version();
            if guard.resume_log(&mut state, &failed).is_none() {
                writer.set_log(&mut state, None);
                // Not within the time of whoever happens to come first: who has little would leave the same to all others.
                guard.flush(&mut state, &ChangeSet::default(), &CancelToken::default())?;
            }
        }
        drop(state);
        Ok(guard)
    }

    /// Goes on with the file of a log that has found no room; none where that cannot be, or not now.
    fn resume_log(&self, state: &mut State, failed: &VersionLog) -> Option<()> {
        let (store, writer) = (&self.store, self.writer().ok()?);
        let path = store.folder().join(log_file(state.tip.manifest.log));
        let log = Log::reopen(store.vfs(), &path, failed.resumable_end()?, writer.options.durability).ok()?;
        failed.retire();
        add(&mut state.ended_logs, failed.counters());
        writer.set_log(state, Some(Arc::new(log)));
        Some(())
    }

    /// Finds out whether a version that was in doubt is the one on the disk, and goes on with the one that is. Nothing is written
    /// until that is known.
    fn settle_doubt(&self) -> Result<(), StoreError> {
        let (store, writer) = (&self.store, self.writer()?);
        let Some(doubted) = writer.in_doubt().clone() else { return Ok(()) };
        let now = Manifest::read_current(&**store.vfs(), store.folder())?;
        // Not only synced: what a sync that failed was to make durable may be lost, whatever the next one says.
        now.publish(&**store.vfs(), store.folder())?;
        if now == doubted.manifest {
            store.make_current(doubted);
        }
        let current = store.version();
        if now != current.manifest {
            let what =
                "another program has changed the database: close it, and see with `lode check` what it is";
            return Err(StoreError::corruption(&store.folder().join(MANIFEST), 0, what));
        }
        let mut state = writer.state();
        if state.tip.manifest.log != current.manifest.log {
            // Nobody has that log open: the next commit begins another.
            writer.set_log(&mut state, None);
        }
        state.tip = current;
        *writer.in_doubt() = None;
        Ok(())
    }

    /// Waits for the write lock, with a log to write to: before terms get ids, since a new log is also a new table of terms.
    pub(crate) fn lock_with_log(store: &Store, cancel: &CancelToken) -> Result<Self, StoreError> {
        let guard = Self::lock(store, cancel)?;
        let mut state = store.writer()?.state();
        if state.log.is_none() {
            guard.flush(&mut state, &ChangeSet::default(), &CancelToken::default())?;
        }
        drop(state);
        Ok(guard)
    }

    fn writer(&self) -> Result<&Writer, StoreError> {
        self.store.writer()
    }

    /// The newest version, which may not be durable yet.
    pub(crate) fn tip(&self) -> Result<Arc<Version>, StoreError> {
        Ok(Arc::clone(&self.writer()?.state().tip))
    }

    /// Makes a change set the next version: logged if it is small, else as a segment. Returns once it is durable.
    pub(crate) fn commit(self, change_set: ChangeSet, cancel: &CancelToken) -> Result<Commit, StoreError> {
        let store = self.store.clone();
        let writer = store.writer()?;
        let mut state = writer.state();
        let (inserted, deleted) = (change_set.inserts.len() as u64, change_set.deletes.len() as u64);
        if self.is_large(&state, &change_set)? {
            self.flush(&mut state, &change_set, cancel)?;
            return Ok(Commit { inserted, deleted, version: state.tip.number, is_stale: false });
        }
        if !change_set.is_empty() {
            self.append(&mut state, change_set)?;
        }
        let (log, last, version) = (state.log.clone(), state.last, state.tip.number);
        writer.tell_fullness(&state);
        drop(state);
        drop(self);
        // Also a transaction that changed nothing has seen what must not be lost.
        if let (Some(log), Some(last)) = (log, last) {
            log.wait(last, &|version| store.make_current(version)).inspect_err(|error| {
                if error.is_disk_full() {
                    store.give_up_reserve();
                }
            })?;
            writer.log_watch.wake();
        }
        Ok(Commit { inserted, deleted, version, is_stale: false })
    }

    /// Makes a change set on another version than the tip the next version: one that is the tip but for segments that no manifest names yet, and
    /// for what they say. `gone` quads of the tip are not in it.
    pub(crate) fn commit_on(
        self,
        base: &Version,
        gone: u64,
        change_set: &ChangeSet,
        said: &SaidOfInferences,
        cancel: &CancelToken,
    ) -> Result<Commit, StoreError> {
        let mut state = self.writer()?.state();
        self.store.with_room(|| self.flush_from(&mut state, base, change_set, said, cancel))?;
        let (inserted, deleted) = (change_set.inserts.len() as u64, gone + change_set.deletes.len() as u64);
        Ok(Commit { inserted, deleted, version: state.tip.number, is_stale: false })
    }

    /// Makes segments of all there is, and says that what was inferred is what follows from these: what is logged from now on is not known to it.
    pub(crate) fn leave_inferences(&self, cancel: &CancelToken) -> Result<(), StoreError> {
        let mut state = self.writer()?.state();
        let tip = Arc::clone(&state.tip);
        let said = Some(tip.manifest.inferences.clone().map(Inferences::of_segments));
        self.store.with_room(|| self.flush_from(&mut state, &tip, &ChangeSet::default(), &said, cancel))
    }

    /// Whether a change set is too large for the log: by its changes, or by the terms that it brings.
    fn is_large(&self, state: &State, change_set: &ChangeSet) -> Result<bool, StoreError> {
        let options = &self.writer()?.options;
        let delta = &state.tip.delta;
        let bytes = || delta.terms().bytes_from(delta.term_count());
        Ok(change_set.len() > options.logged_changes_max
            || (!change_set.is_empty() && bytes() > options.logged_bytes_max))
    }

    fn append(&self, state: &mut State, change_set: ChangeSet) -> Result<(), StoreError> {
        let writer = self.writer()?;
        let no_log = || StoreError::Limit("changes without a log to write them to".to_owned());
        let log = state.log.as_ref().ok_or_else(no_log)?;
        let delta = &state.tip.delta;
        let mut terms = Vec::new();
        let first_term = delta.term_count();
        delta.terms().for_each_from(first_term, |section, key| {
            terms.push((section, key.into()));
            Ok::<_, StoreError>(())
        })?;
        let (number, next_blank) = (state.tip.number + 1, writer.next_blank());
        let rows = |set: &crate::delta::QuadSet| set.rows(SortOrder::Spog).to_vec();
        let changes = Changes {
            version: number,
            next_blank,
            first_term,
            terms,
            inserts: rows(&change_set.inserts),
            deletes: rows(&change_set.deletes),
        };
        let mut payload = Vec::new();
        changes.encode(&mut payload);
        let tip = Version {
            delta: delta.with_changes(change_set),
            number,
            next_blank,
            ..Version::clone(&state.tip)
        };
        let tip = Arc::new(tip);
        state.last = Some(log.append(&payload, Arc::clone(&tip))?);
        state.tip = tip;
        Ok(())
    }

    /// Makes sure that all there is is in segments, and that the manifest names no log but one that goes on.
    pub(crate) fn settle(&self, cancel: &CancelToken) -> Result<(), StoreError> {
        let mut state = self.writer()?.state();
        let is_settled = state.tip.number == state.tip.manifest.version && state.tip.delta.is_empty();
        if is_settled && !state.has_given_up_log() {
            return Ok(());
        }
        self.flush(&mut state, &ChangeSet::default(), cancel)
    }

    /// The newest version, all of it durable, and the end of its log.
    pub(crate) fn version_and_log(
        &self,
        cancel: &CancelToken,
    ) -> Result<(Arc<Version>, Option<LogEnd>), StoreError> {
        let mut state = self.writer()?.state();
        if state.has_given_up_log() {
            self.flush(&mut state, &ChangeSet::default(), cancel)?;
        }
        self.drain(&state)?;
        Ok((Arc::clone(&state.tip), state.log.as_ref().map(|log| log.committed())))
    }

    /// Says that another version has been published.
    pub(crate) fn has_published(&self) -> Result<(), StoreError> {
        self.writer()?.state().tip = self.store.version();
        Ok(())
    }

    /// Writes the delta and a change set as segments, and begins a new log. Also on a full disk, if nothing is added.
    fn flush(
        &self,
        state: &mut State,
        change_set: &ChangeSet,
        cancel: &CancelToken,
    ) -> Result<(), StoreError> {
        let tip = Arc::clone(&state.tip);
        if !change_set.inserts.is_empty() {
            return self.flush_from(state, &tip, change_set, &None, cancel);
        }
        self.store.with_room(|| self.flush_from(state, &tip, change_set, &None, cancel))
    }

    /// The same with the segments and the delta of `from`.
    fn flush_from(
        &self,
        state: &mut State,
        from: &Version,
        change_set: &ChangeSet,
        said: &SaidOfInferences,
        cancel: &CancelToken,
    ) -> Result<(), StoreError> {
        let store = &self.store;
        self.drain(state)?;
        let before = from.delta.net();
        let merged = (!before.is_empty()).then(|| ChangeSet::merge(&before, change_set));
        // Each order that is ready would be copied.
        let net = merged.as_ref().unwrap_or(change_set);
        let flushed = from.delta.terms().with_keys(|keys| write_segments(store, from, keys, net, cancel))?;
        self.add_segments(state, from, &flushed.entries, Delta::default(), said)
    }

    /// Publishes what was written of a version whose delta was frozen, with what came later as the delta. False, and the segments are
    /// removed, where something else has become of that version meanwhile.
    pub(crate) fn publish_flushed(&self, frozen: &Version, flushed: &Flushed) -> Result<bool, StoreError> {
        let Flushed { entries, final_ids } = flushed;
        let mut state = self.writer()?.state();
        let later = || -> Result<Option<Delta>, StoreError> {
            self.drain(&state)?;
            if state.tip.manifest != frozen.manifest {
                return Ok(None);
            }
            state.tip.delta.since(&frozen.delta, &|id| final_ids.id(id))
        };
        match later() {
            Ok(Some(delta)) => {
                self.add_segments(&mut state, frozen, entries, delta, &None)?;
                Ok(true)
            }
            other => {
                remove_segments(&self.store, entries);
                other.map(|_| false)
            }
        }
    }

    /// Publishes what was written of a transaction aside, with what came later as the delta, and whether there is such. None, and the segments are removed, where
    /// something else has become of the version that it began with, or later changes are about the same graph or bring the same terms.
    pub(crate) fn publish_aside(
        &self,
        aside: &Aside<'_>,
        flushed: &Flushed,
    ) -> Result<Option<bool>, StoreError> {
        let mut state = self.writer()?.state();
        let later = || -> Result<Option<Delta>, StoreError> {
            self.drain(&state)?;
            if state.tip.manifest != aside.frozen.manifest {
                return Ok(None);
            }
            let later = state.tip.delta.since(&aside.frozen.delta, &|id| flushed.final_ids.id(id))?;
            Ok(later.filter(|later| !aside.meets(later)))
        };
        match later() {
            Ok(Some(delta)) => {
                let is_behind = !delta.change_sets().is_empty();
                let inferences = aside.inferences.clone();
                let inferences = if is_behind { inferences.of_segments() } else { inferences };
                let said = Some(Some(inferences));
                self.add_segments(&mut state, aside.base, &flushed.entries, delta, &said)?;
                Ok(Some(is_behind))
            }
            other => {
                remove_segments(&self.store, &flushed.entries);
                other.map(|_| None)
            }
        }
    }

    /// Publishes a version with segments more than `from`; removes them where that fails.
    fn add_segments(
        &self,
        state: &mut State,
        from: &Version,
        entries: &[SegmentEntry],
        delta: Delta,
        said: &SaidOfInferences,
    ) -> Result<(), StoreError> {
        let mut segments = from.manifest.segments.clone();
        segments.extend(entries.iter().cloned());
        let before = &state.tip.manifest;
        let inferences = said.clone().unwrap_or_else(|| {
            let known = before.inferences.clone();
            // What else is the same has the same quads.
            if segments == before.segments { known } else { known.map(Inferences::after_commits) }
        });
        let switched = self.switch(state, segments, inferences, &from.segments, delta);
        if switched.as_ref().is_err_and(|error| !matches!(error, StoreError::InDoubt { .. })) {
            remove_segments(&self.store, entries);
        }
        switched
    }

    /// Makes other segments the current version, which hold the same quads under the ids that `new_id` tells; the delta gets
    /// these ids, too.
    pub(crate) fn replace_segments(
        &self,
        segments: Vec<SegmentEntry>,
        new_id: &dyn Fn(u64) -> Option<u64>,
    ) -> Result<(), StoreError> {
        let mut state = self.writer()?.state();
        self.drain(&state)?;
        let tip = Arc::clone(&state.tip);
        // A log speaks of the ids of the segments that it began with, also one that is empty still.
        let is_settled = tip.number == tip.manifest.version && tip.delta.is_empty();
        if is_settled && tip.manifest.log == 0 {
            let manifest = self.manifest_after(&tip, segments)?;
            let published = self.store.publish(manifest);
            state.tip = self.store.version();
            return published;
        }
        let delta = if is_settled { Delta::default() } else { tip.delta.renamed(new_id)? };
        self.switch(&mut state, segments, tip.manifest.inferences.clone(), &tip.segments, delta)
    }

    fn drain(&self, state: &State) -> Result<(), StoreError> {
        let Some(log) = &state.log else { return Ok(()) };
        log.drain(&|version| self.store.make_current(version))
    }

    fn manifest_after(&self, tip: &Version, segments: Vec<SegmentEntry>) -> Result<Manifest, StoreError> {
        let manifest = Manifest { version: tip.number + 1, segments, ..tip.manifest.clone() };
        Ok(self.writer()?.numbered(manifest))
    }

    /// Publishes a version of these segments (`known` are some that are open), with a new log that holds this delta.
    fn switch(
        &self,
        state: &mut State,
        segments: Vec<SegmentEntry>,
        inferences: Option<Inferences>,
        known: &[OpenSegment],
        delta: Delta,
    ) -> Result<(), StoreError> {
        let (store, before) = (&self.store, state.tip.manifest.log);
        let number = self.writer()?.take_log();
        let manifest = Manifest { log: number, inferences, ..self.manifest_after(&state.tip, segments)? };
        let published = self
            .begin_log(manifest, known, delta)
            .and_then(|(log, version)| store.publish_version(version).map(|()| log));
        // What cannot be removed now is removed when the database is next opened for writing.
        let remove = |number| drop(remove_log(&**store.vfs(), &store.folder().join(log_file(number))));
        match published {
            Ok(log) => {
                if let Some(ended) = &state.log {
                    add(&mut state.ended_logs, ended.counters());
                    ended.retire();
                }
                let writer = self.writer()?;
                writer.set_log(state, Some(Arc::new(log)));
                state.tip = store.version();
                writer.tell_fullness(state);
                remove(before);
                Ok(())
            }
            Err(error) => {
                if matches!(error, StoreError::InDoubt { .. }) {
                    // Nobody knows which log goes on: the next writer begins another.
                    state.tip = store.version();
                    self.writer()?.set_log(state, None);
                } else {
                    remove(number);
                }
                Err(error)
            }
        }
    }

    /// Writes a new log that holds a delta. The version of the manifest, with this delta.
    fn begin_log(
        &self,
        manifest: Manifest,
        known: &[OpenSegment],
        delta: Delta,
    ) -> Result<(VersionLog, Arc<Version>), StoreError> {
        let (store, durability) = (&self.store, self.writer()?.options.durability);
        let path = store.folder().join(log_file(manifest.log));
        let log = Log::create(store.vfs(), &path, manifest.database, manifest.log, durability)?;
        let next_blank = manifest.next_blank;
        let empty = Arc::new(store.open_with(manifest, known)?);
        let first = empty.number + 1;
        let records = for_each_record(&delta, first, next_blank, &mut |payload| {
            log.append(payload, Arc::clone(&empty)).map(|_| ())
        })?;
        // Nothing becomes public before the manifest names this log.
        log.drain(&|_| {})?;
        if records > 0 {
            // They are not the last group that a power cut may have torn, as they would seem to be.
            log.mark()?;
        }
        let number = empty.number + records;
        Ok((log, Arc::new(Version { delta, number, ..Version::clone(&empty) })))
    }
}
