//! What a reader sees: one version of the database, unchanging while it is held.

use crate::activity::Activity;
use crate::delta::{DELTA_TERM, is_delta_term};
use crate::error::StoreError;
#[cfg(feature = "geo")]
use crate::index_files::IndexFiles;
use crate::manifest::{Inferences, Sign};
use crate::scan_rows::RowCursor;
use crate::version::{OpenSegment, Version};
use crate::word_files::Words;
use lode_base::cancel::CancelToken;
use lode_packed::{KeyHash, Order, PackedError, Permutation, ReadContext};
use lode_rdf::key::{Encoded, KeyError, blank_from_label, decode, encode, inline_term, with_term};
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, Term, TermRef, ValueId};
use std::ops::Range;
use std::sync::Arc;

pub use crate::scan::Scan;

/// Up to this many rows are scanned to count distinct values over several segments; beyond, they are estimated.
const DISTINCT_ROWS_MAX: u64 = 4096;
/// Candidates for cuts, per part asked for, that each segment offers.
const CUTS_PER_PART: usize = 4;

/// A version of the database, cheap to clone, readable from many threads.
///
/// Each quad is inserted once more than it is deleted by the layers of a version, or as often: so counts add up, with the signs of layers.
#[derive(Debug, Clone)]
pub struct Snapshot {
    version: Arc<Version>,
    activity: Arc<Activity>,
    /// Who reads, if that is known.
    context: Option<Arc<ReadContext>>,
}

fn bits(ids: &[ValueId]) -> Vec<u64> {
    ids.iter().map(|id| id.to_bits()).collect()
}

impl Snapshot {
    pub(crate) fn new(version: Arc<Version>) -> Self {
        Self { version, activity: Arc::default(), context: None }
    }

    /// The same version for who reads all of it once: the store's cache stays as it is, and what is read is kept in another one
    /// of `bytes` bytes.
    #[must_use]
    pub fn aside(&self, bytes: usize) -> Self {
        let version = self.version.aside_for(bytes, self.context.as_ref());
        Self { version: Arc::new(version), ..self.clone() }
    }

    /// The same version for a query: its reads of files end when it is cancelled.
    #[must_use]
    pub fn for_query(&self, cancel: &CancelToken) -> Self {
        Self { context: Some(ReadContext::of_query(cancel)), ..self.clone() }
    }

    /// A permutation of a segment, for who reads this snapshot.
    fn permutation(&self, segment: &OpenSegment, order: Order) -> Permutation {
        segment.permutation(order).read_by(self.context.as_ref())
    }

    /// An index of words, for who reads this snapshot.
    pub(crate) fn words(&self, words: &Words) -> Words {
        words.read_by(self.context.as_ref())
    }

    /// An index, for who reads this snapshot.
    #[cfg(feature = "geo")]
    pub(crate) fn index_files(&self, files: &IndexFiles) -> IndexFiles {
        files.read_by(self.context.as_ref())
    }

    pub(crate) fn version(&self) -> &Arc<Version> {
        &self.version
    }

    /// Quads in all graphs.
    pub fn quad_count(&self) -> u64 {
        self.version.quads()
    }

    /// The number of this version; a later one has a larger number.
    pub fn version_number(&self) -> u64 {
        self.version.number
    }

    /// The random number of the database, which its copies have as well.
    pub fn database_number(&self) -> u128 {
        self.version.manifest.database
    }

    /// What tells this version from all others that this process has seen: for who keeps what it has found in one. The number of the version, unless
    /// a reader has followed to another copy of the database, whose numbers say nothing of those before.
    pub fn state_number(&self) -> u64 {
        self.in_history(self.version.number)
    }

    /// As long as this is the same, later versions have the same terms with the same ids, and perhaps more.
    pub fn terms_number(&self) -> u64 {
        self.in_history(self.version.manifest.version)
    }

    /// No database has so many versions that their numbers reach the upper bits.
    fn in_history(&self, number: u64) -> u64 {
        number ^ self.version.history.rotate_right(16)
    }

    /// What is known of inferences in this version; none where no rules were ever applied, or they were dropped.
    pub fn inferences(&self) -> Option<Inferences> {
        let known = self.version.manifest.inferences.clone()?;
        Some(if self.version.delta.change_sets().is_empty() { known } else { known.after_commits() })
    }

    /// The version of which what was inferred is all that follows; none where that is not known, or there are no rules.
    pub fn inferred_version(&self) -> Option<u64> {
        let version = &self.version;
        let known = version.manifest.inferences.as_ref()?;
        let is_of_this = version.delta.change_sets().is_empty() || known.is_maintained();
        // A merge of segments gives the manifest a newer number, and leaves the commits behind it what they were.
        let before_commits = version.number.saturating_sub(version.delta.change_sets().len() as u64);
        let segments = version.manifest.version.min(before_commits);
        known.is_current().then_some(if is_of_this { version.number } else { segments })
    }

    /// Commits that are in no segment yet.
    pub fn commits_in_memory(&self) -> u64 {
        self.version.delta.change_sets().len() as u64
    }

    /// Whether there are rules, so that there may be inferences.
    pub fn has_inferences(&self) -> bool {
        self.version.manifest.inferences.is_some()
    }

    /// How many segments it has, of insertions and of deletions.
    pub fn segment_count(&self) -> usize {
        self.version.segments.len()
    }

    /// Insertions and deletions in memory, which are in no segment yet.
    pub fn delta_changes(&self) -> usize {
        self.version.delta.changes()
    }

    /// Bytes of memory that these take.
    pub fn delta_bytes(&self) -> usize {
        self.version.delta.memory_bytes()
    }

    /// What readers of this snapshot (and its clones) did so far.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Exact number of quads whose first columns in `order` are `prefix` (0 to 4 ids).
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged.
    pub fn count(&self, order: Order, prefix: &[ValueId]) -> Result<u64, StoreError> {
        self.activity.add_count();
        let prefix = bits(prefix);
        self.version.delta.make_countable(order, &prefix)?;
        let mut sum = i128::from(self.version.delta.count(order, &prefix));
        for segment in &*self.version.segments {
            let rows = segment.permutation(order).range(&prefix)?;
            sum += segment.entry.sign.of(rows.end - rows.start);
        }
        Ok(u64::try_from(sum).unwrap_or(0))
    }

    /// Number of quads whose first columns in `order` are `prefix` (at most three) and whose next column lies in `values`. Exact.
    ///
    /// # Errors
    /// Like [`Snapshot::count`].
    pub fn count_between(
        &self,
        order: Order,
        prefix: &[ValueId],
        values: &Range<ValueId>,
    ) -> Result<u64, StoreError> {
        self.activity.add_count();
        let (from, to) = (extended(prefix, values.start), extended(prefix, values.end));
        self.version.delta.make_readable(order, &bits(prefix))?;
        let mut sum = i128::from(self.version.delta.count_between(order, &from, &to));
        for (segment, rows) in self.ranges(order, prefix)? {
            let rows = between(segment.permutation(order), rows, &from, &to)?;
            sum += segment.entry.sign.of(rows.end - rows.start);
        }
        Ok(u64::try_from(sum).unwrap_or(0))
    }

    /// Quads whose first columns in `order` are `prefix`, sorted in `order`. Of the four columns only those in `columns`
    /// (bit `i` = column `i` of the order) are read and delivered; the others cost nothing.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged. That of what is read later is told by [`Scan::next`].
    pub fn scan(&self, order: Order, prefix: &[ValueId], columns: u8) -> Result<Scan, StoreError> {
        let ranges = self.ranges(order, prefix)?;
        let mut layers = self.delta_layers(order, prefix)?;
        // A merge compares whole rows.
        let read = if ranges.len() + layers.len() > 1 { 0b1111 } else { columns };
        layers.extend(ranges.into_iter().map(|(segment, rows)| {
            let cursor = self.permutation(segment, order).into_cursor(rows, read);
            (segment.entry.sign, RowCursor::Packed(cursor))
        }));
        Ok(Scan::new(layers, columns, Arc::clone(&self.activity)))
    }

    /// The change sets of the delta that have rows under a prefix.
    pub(crate) fn delta_layers(
        &self,
        order: Order,
        prefix: &[ValueId],
    ) -> Result<Vec<(Sign, RowCursor)>, StoreError> {
        let prefix = bits(prefix);
        self.version.delta.make_readable(order, &prefix)?;
        let mut layers = Vec::new();
        for change_set in self.version.delta.change_sets() {
            for (sign, set) in
                [(Sign::Insertions, &change_set.inserts), (Sign::Deletions, &change_set.deletes)]
            {
                let cursor = set.cursor(order, &prefix);
                if cursor.head().is_some() {
                    layers.push((sign, RowCursor::Memory(cursor)));
                }
            }
        }
        Ok(layers)
    }

    /// The segments that have rows under a prefix, and those rows.
    pub(crate) fn ranges(
        &self,
        order: Order,
        prefix: &[ValueId],
    ) -> Result<Vec<(&OpenSegment, Range<u64>)>, StoreError> {
        let prefix = bits(prefix);
        let mut ranges = Vec::new();
        for segment in self.version.segments.iter().filter(|segment| segment.entry.sign != Sign::TermsOnly) {
            let rows = segment.permutation(order).range(&prefix)?;
            if rows.start < rows.end {
                ranges.push((segment, rows));
            }
        }
        Ok(ranges)
    }

    /// Splits the quads under `prefix` whose next column lies in `values` into at most `parts` key ranges of about equal size, for
    /// morsels: the bounds are values of that column, half open; no two ranges share a value; together they are `values`.
    ///
    /// # Errors
    /// Where an index cannot be read or is damaged.
    pub fn split(
        &self,
        order: Order,
        prefix: &[ValueId],
        values: Range<ValueId>,
        parts: usize,
    ) -> Result<Vec<Range<ValueId>>, StoreError> {
        self.split_together(&[(order, prefix.to_vec(), values.clone())], values, parts)
    }

    /// The same for several of them, of which the next columns have the same values: a range has about equally many quads of all of them together.
    /// Of each only those in its own range count.
    ///
    /// # Errors
    /// Where an index cannot be read or is damaged.
    pub fn split_together(
        &self,
        scans: &[(Order, Vec<ValueId>, Range<ValueId>)],
        values: Range<ValueId>,
        parts: usize,
    ) -> Result<Vec<Range<ValueId>>, StoreError> {
        if parts <= 1 || scans.iter().any(|(_, prefix, _)| prefix.len() >= 4) {
            return Ok(vec![values]);
        }
        let mut cuts = Vec::new();
        for (order, prefix, values) in scans {
            self.weighted_cuts(*order, prefix, values, parts, &mut cuts)?;
        }
        cuts.sort_unstable();
        let total: u64 = cuts.iter().map(|(_, weight)| weight).sum();
        let (mut ranges, mut start, mut sum) = (Vec::new(), values.start, 0);
        for (value, weight) in cuts {
            let share = (ranges.len() as u128 + 1) * u128::from(total);
            // The weight of a cut is what lies before it.
            sum += weight;
            let enough = u128::from(sum) * parts as u128 >= share;
            if enough && ranges.len() + 1 < parts && value > start && value < values.end {
                ranges.push(start..value);
                start = value;
            }
        }
        ranges.push(start..values.end);
        Ok(ranges)
    }

    /// From the least value of the column after a prefix up to behind the greatest, of all quads that a segment has under it; none where there are none.
    ///
    /// # Errors
    /// Where an index cannot be read or is damaged.
    pub fn extent(&self, order: Order, prefix: &[ValueId]) -> Result<Option<Range<ValueId>>, StoreError> {
        let column = prefix.len();
        let mut extent: Option<Range<ValueId>> = None;
        for (segment, rows) in self.ranges(order, prefix)? {
            let permutation = segment.permutation(order);
            let value = |row| Ok::<_, StoreError>(permutation.row(row)?.get(column).copied().unwrap_or(0));
            let (first, last) = (value(rows.start)?, value(rows.end - 1)?);
            let own = ValueId::from_bits(first)..ValueId::from_bits(last.saturating_add(1));
            extent = Some(match extent {
                Some(other) => own.start.min(other.start)..own.end.max(other.end),
                None => own,
            });
        }
        Ok(extent)
    }

    /// Values at which the rows under a prefix may be cut, each with the number of rows since the one before.
    fn weighted_cuts(
        &self,
        order: Order,
        prefix: &[ValueId],
        values: &Range<ValueId>,
        parts: usize,
        cuts: &mut Vec<(ValueId, u64)>,
    ) -> Result<(), StoreError> {
        let (from, to) = (extended(prefix, values.start), extended(prefix, values.end));
        for (segment, rows) in self.ranges(order, prefix)? {
            let permutation = segment.permutation(order);
            let rows = between(permutation, rows, &from, &to)?;
            let mut last = rows.start;
            for cut in permutation.split(rows.clone(), parts.saturating_mul(CUTS_PER_PART))? {
                let value = permutation.row(cut)?.get(prefix.len()).copied().unwrap_or(0);
                cuts.push((ValueId::from_bits(value), cut - last));
                last = cut;
            }
            cuts.push((ValueId::MAX, rows.end - last));
        }
        Ok(())
    }

    /// The id of a term, or `None` where neither the dictionary holds it nor the id itself can. Blank nodes in queries
    /// are variables, so a blank node term is looked up only when it came out of this database (`_:b<number>`).
    ///
    /// # Errors
    /// Where a dictionary cannot be read or is damaged.
    pub fn id_of(&self, term: &Term) -> Result<Option<ValueId>, StoreError> {
        if let Term::BlankNode(node) = term {
            let known = |id: &ValueId| id.payload() < self.version.next_blank;
            return Ok(blank_from_label(node.as_str()).filter(known));
        }
        let mut key = Vec::new();
        match encode(term.as_ref(), &mut key) {
            Encoded::Inline(id) => Ok(Some(id)),
            Encoded::Key(section) => self.id_of_key(section, &key),
            Encoded::Blank => Ok(None),
        }
    }

    /// The id of the term with this dictionary key.
    ///
    /// # Errors
    /// Like [`Snapshot::id_of`].
    pub fn id_of_key(&self, section: Section, key: &[u8]) -> Result<Option<ValueId>, StoreError> {
        self.activity.add_term_lookup();
        let hash = KeyHash::of(key);
        for segment in &*self.version.segments {
            let Some(dictionary) = segment.dictionary() else { continue };
            if let Some(rank) = dictionary.find_hashed(section, key, hash)? {
                return Ok(Some(ValueId::new(section.kind(), segment.base(section) + rank)));
            }
        }
        Ok(self.version.delta.id_of_key(section, key))
    }

    /// The segment whose dictionary has the number `number` of a section.
    pub(crate) fn owner(&self, section: Section, number: u64) -> Option<&OpenSegment> {
        let segments = &self.version.segments;
        let after = segments.partition_point(|segment| segment.base(section) <= number);
        let segment = segments
            .get(..after)?
            .iter()
            .rev()
            .find(|segment| segment.dictionary().is_some_and(|dictionary| dictionary.len(section) > 0))?;
        let dictionary = segment.dictionary()?;
        (number - segment.base(section) < dictionary.len(section)).then_some(segment)
    }

    /// The ids of `range` that a segment's dictionary has, ascending. The range must lie inside one kind; other ids than those of
    /// dictionaries are left out.
    pub fn dictionary_ids(&self, range: Range<ValueId>) -> Vec<ValueId> {
        let Some(section) = range.start.kind().and_then(Kind::section) else { return Vec::new() };
        let mut ids = Vec::new();
        for segment in self.version.segments.iter() {
            let Some(dictionary) = segment.dictionary() else { continue };
            let base = segment.base(section);
            let first = range.start.max(ValueId::new(section.kind(), base));
            let end = range.end.min(ValueId::new(section.kind(), base + dictionary.len(section)));
            ids.extend((first.to_bits()..end.to_bits()).map(ValueId::from_bits));
        }
        ids
    }

    /// The term of an id that is not in a dictionary.
    fn plain_term(&self, id: ValueId) -> Result<Term, StoreError> {
        let beyond = id.kind() == Some(Kind::Blank) && id.payload() >= self.version.next_blank;
        match inline_term(id) {
            Some(term) if !beyond => Ok(term),
            _ => Err(StoreError::UnknownId(id)),
        }
    }

    /// The term of an id.
    ///
    /// # Errors
    /// [`StoreError::UnknownId`] for ids that this database never gave (and for `Kind::Local` and `Kind::Special`); where a dictionary cannot be
    /// read or is damaged.
    pub fn term(&self, id: ValueId) -> Result<Term, StoreError> {
        let Some(section) = id.kind().and_then(Kind::section) else { return self.plain_term(id) };
        self.activity.add_terms_read(1);
        if is_delta_term(id) {
            return self.delta_key(id, |section, key| decode_key(section, key, id))?;
        }
        let unknown = StoreError::UnknownId(id);
        let Some(segment) = self.owner(section, id.payload()) else { return Err(unknown) };
        let Some(dictionary) = segment.dictionary() else { return Err(unknown) };
        let mut key = Vec::new();
        dictionary.get(section, id.payload() - segment.base(section), &mut key)?;
        decode_key(section, &key, id)
    }

    /// Calls `visit` with the key of an id of the delta.
    fn delta_key<T>(&self, id: ValueId, visit: impl FnOnce(Section, &[u8]) -> T) -> Result<T, StoreError> {
        self.version.delta.with_key(id, visit).ok_or(StoreError::UnknownId(id))
    }

    /// Calls `visit(index, term)` for every id, in an order that is cheap (sorted by id, block by block). Its first error ends that.
    ///
    /// # Errors
    /// The first of `visit`, and those of [`Snapshot::term`].
    pub fn terms<E: From<StoreError>>(
        &self,
        ids: &[ValueId],
        visit: &mut dyn FnMut(usize, Term) -> Result<(), E>,
    ) -> Result<(), E> {
        self.term_refs(ids, &mut |index, term| visit(index, term.into_owned()))
    }

    /// Like [`Snapshot::terms`], without a term of their own for those of dictionaries.
    ///
    /// # Errors
    /// Like [`Snapshot::terms`].
    pub fn term_refs<E: From<StoreError>>(
        &self,
        ids: &[ValueId],
        visit: &mut dyn FnMut(usize, TermRef<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut in_dictionary = Vec::new();
        for (index, id) in ids.iter().enumerate() {
            if id.kind().is_some_and(|kind| kind.section().is_some()) {
                in_dictionary.push((*id, index));
            } else {
                visit(index, self.plain_term(*id)?.as_ref())?;
            }
        }
        self.visit_sorted(in_dictionary, &mut |id, section, index, key| {
            with_term(section, key, |term| visit(index, term)).map_err(|error| damaged_key(id, &error))?
        })
    }

    /// Dictionary keys (see `lode_rdf::key`) instead of terms: no parsing, no allocation per term. `ids` must be of
    /// dictionary kinds.
    ///
    /// # Errors
    /// Like [`Snapshot::terms`].
    pub fn keys<E: From<StoreError>>(
        &self,
        ids: &[ValueId],
        visit: &mut dyn FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let pairs = ids.iter().enumerate().map(|(index, id)| (*id, index)).collect();
        self.visit_sorted(pairs, &mut |_, _, index, key| visit(index, key))
    }

    /// Visits the keys of ids of dictionary kinds, block by block.
    fn visit_sorted<E: From<StoreError>>(
        &self,
        mut ids: Vec<(ValueId, usize)>,
        visit: &mut dyn FnMut(ValueId, Section, usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.activity.add_terms_read(ids.len() as u64);
        if !ids.is_sorted() {
            ids.sort_unstable();
        }
        // What cannot be asked for is an error once it is read.
        let _asked = self.ask_for_keys_of(&ids);
        let mut ranks = Vec::new();
        let mut rest = ids.as_slice();
        while let Some((first, _)) = rest.first() {
            let unknown = || StoreError::UnknownId(*first);
            let section = first.kind().and_then(Kind::section).ok_or_else(unknown)?;
            if is_delta_term(*first) {
                let (id, index) = (*first, rest.first().map_or(0, |(_, index)| *index));
                // Copied: `visit` may ask for other terms, and the table must not be locked then.
                let key = self.delta_key(id, |_, key| key.to_vec())?;
                visit(id, section, index, &key)?;
                rest = rest.split_first().map_or(&[], |(_, later)| later);
                continue;
            }
            let segment = self.owner(section, first.payload()).ok_or_else(unknown)?;
            let dictionary = segment.dictionary().ok_or_else(unknown)?;
            let base = segment.base(section);
            let end = ValueId::new(section.kind(), base + dictionary.len(section));
            let (here, later) = rest.split_at(rest.partition_point(|(id, _)| *id < end));
            ranks.clear();
            ranks.extend(here.iter().map(|(id, _)| id.payload() - base));
            let dictionary = dictionary.read_by(self.context.as_ref());
            let visited = dictionary.visit_sorted(section, &ranks, &mut |at, key| match here.get(at) {
                Some((id, index)) => visit(*id, section, *index, key).map_err(VisitError),
                None => Ok(()),
            });
            visited.map_err(|VisitError(error)| error)?;
            rest = later;
        }
        Ok(())
    }

    /// Whether all ids of dictionary kinds compare like their keys in this version (true while there is one dictionary).
    pub fn ids_are_ordered(&self) -> bool {
        !self.version.delta.has_terms() && self.version.dictionaries <= 1
    }

    /// The ids of the terms of a section whose keys begin with `start`; `None` where ids of the section do not compare like keys.
    ///
    /// # Errors
    /// Where a dictionary cannot be read or is damaged.
    pub fn ids_with_prefix(
        &self,
        section: Section,
        start: &[u8],
    ) -> Result<Option<Range<ValueId>>, StoreError> {
        if !self.ids_are_ordered() {
            return Ok(None);
        }
        let id = |number: u64| ValueId::new(section.kind(), number);
        for segment in self.version.segments.iter() {
            let Some(dictionary) = segment.dictionary().filter(|dictionary| dictionary.len(section) > 0)
            else {
                continue;
            };
            // No key has this byte: texts are UTF-8, and nothing that parts or escapes them is greater.
            let end = [start, &[0xFF]].concat();
            let base = segment.base(section);
            let range = dictionary.lower_bound(section, start)?..dictionary.lower_bound(section, &end)?;
            return Ok(Some(id(base + range.start)..id(base + range.end)));
        }
        Ok(Some(id(0)..id(0)))
    }

    /// Whether two ids of one dictionary kind compare like their keys: those of one dictionary do.
    #[inline]
    pub fn are_ordered(&self, a: ValueId, b: ValueId) -> bool {
        let is_new = |id: ValueId| id.payload() & DELTA_TERM != 0;
        if is_new(a) || is_new(b) {
            return false;
        }
        self.version.dictionaries <= 1 || self.are_of_one_dictionary(a, b)
    }

    fn are_of_one_dictionary(&self, a: ValueId, b: ValueId) -> bool {
        let Some(section) = a.kind().and_then(Kind::section) else { return false };
        let of = |id: ValueId| self.version.segments.partition_point(|s| s.base(section) <= id.payload());
        of(a) == of(b)
    }

    /// The named graphs, sorted by id.
    ///
    /// # Errors
    /// Like [`Snapshot::count`].
    pub fn named_graphs(&self) -> Result<Vec<ValueId>, StoreError> {
        let mut scan = self.scan(Order::Gspo, &[], 0b0001)?;
        let (mut graphs, mut columns): (Vec<ValueId>, [Vec<ValueId>; 4]) = Default::default();
        while scan.next(1, &mut columns)? > 0 {
            let Some(graph) = columns[0].pop() else { break };
            graphs.push(graph);
            let Some(next) = graph.to_bits().checked_add(1) else { break };
            scan.seek(&[ValueId::from_bits(next)])?;
        }
        Ok(graphs)
    }

    /// Whether any quad is in a named graph.
    pub fn has_named_graphs(&self) -> bool {
        // An index that cannot be read is an error of the scans that follow; until then there may be graphs.
        self.count(Order::Gspo, &[]).is_ok_and(|quads| quads > 0)
    }

    /// Number of distinct values of column `prefix.len()` under `prefix`; exact where cheap, else an estimate.
    ///
    /// # Errors
    /// Like [`Snapshot::count`].
    pub fn distinct(&self, order: Order, prefix: &[ValueId]) -> Result<u64, StoreError> {
        let ranges = self.ranges(order, prefix)?;
        let mut counts = Vec::new();
        for (segment, rows) in &ranges {
            let permutation = segment.permutation(order);
            counts.push(if prefix.is_empty() {
                permutation.distinct(&[])?
            } else {
                permutation.distinct_in(prefix.len(), rows.clone())?
            });
        }
        let sum: u64 = counts.iter().sum();
        let in_bits = bits(prefix);
        self.version.delta.make_countable(order, &in_bits)?;
        let changed = !self.version.delta.is_untouched(order, &in_bits);
        if ranges.len() <= 1 && !changed {
            return Ok(sum);
        }
        let rows = self.count(order, prefix)?;
        // The rows under three columns differ in the fourth.
        if prefix.len() >= 3 {
            return Ok(rows);
        }
        if rows <= DISTINCT_ROWS_MAX {
            return self.count_distinct(order, prefix);
        }
        // Between all values shared and none.
        let most = counts.iter().copied().max().unwrap_or(0);
        Ok(u64::midpoint(most, sum).clamp(1, rows))
    }

    fn count_distinct(&self, order: Order, prefix: &[ValueId]) -> Result<u64, StoreError> {
        let column = prefix.len();
        let mut scan = self.scan(order, prefix, 1 << column)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        while scan.next(usize::MAX, &mut columns)? > 0 {}
        let values = columns.get_mut(column).map(std::mem::take).unwrap_or_default();
        Ok(values.chunk_by(|a, b| a == b).count() as u64)
    }
}

/// An error of a visit to the terms of a dictionary, whichever kind the visitor has.
struct VisitError<E>(E);

impl<E: From<StoreError>> From<PackedError> for VisitError<E> {
    fn from(error: PackedError) -> Self {
        Self(StoreError::from(error).into())
    }
}

/// The bits of a prefix and a value of the next column.
fn extended(prefix: &[ValueId], value: ValueId) -> Vec<u64> {
    prefix.iter().chain([&value]).map(|id| id.to_bits()).collect()
}

/// Those of `rows` that are not before `from`, but before `to`.
fn between(
    permutation: &Permutation,
    rows: Range<u64>,
    from: &[u64],
    to: &[u64],
) -> Result<Range<u64>, StoreError> {
    let start = permutation.lower_bound(from, rows.clone())?;
    Ok(start..permutation.lower_bound(to, start..rows.end)?)
}

fn decode_key(section: Section, key: &[u8], id: ValueId) -> Result<Term, StoreError> {
    decode(section, key).map_err(|error| damaged_key(id, &error))
}

fn damaged_key(id: ValueId, error: &KeyError) -> StoreError {
    StoreError::Corruption {
        file: lode_packed::segment::DICTIONARY_FILE.to_owned(),
        offset: 0,
        what: format!("the term of {id:?}: {error}"),
    }
}
