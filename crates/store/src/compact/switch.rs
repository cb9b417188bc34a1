//! Puts new segments in the place of old ones, while others go on committing, flushing and loading.
//!
//! A merge gives terms new numbers, and does not keep anybody from writing. So what came meanwhile uses the old numbers and is
//! renamed: segments are written once more, which needs no sorting and is done without the writer's place, until none is
//! left that came meanwhile; what is in the delta is renamed by whoever holds the place and becomes the beginning of a new log.

use crate::compact::Compaction;
use crate::compact::folders::NewFolders;
use crate::compact::merge::{OrdersJob, copy_file};
use crate::compact::pace::Pace;
use crate::compact::term_map::TermMap;
use crate::error::StoreError;
use crate::load::LoadError;
use crate::manifest::{SegmentEntry, Sign};
use crate::version::OpenSegment;
use crate::writer::WriterPlace;
use lode_packed::SegmentMeta;
use lode_packed::segment::DICTIONARY_FILE;

/// Rounds without the writer's place in which segments that came meanwhile are renamed.
const ROUNDS_MAX: usize = if cfg!(test) { 2 } else { 4 };
/// After those rounds up to so many quads are renamed while everybody waits.
const LAST_QUADS_MAX: u64 = 1 << 21;

impl Compaction<'_> {
    /// Makes what was merged part of the current version.
    pub fn switch(
        &self,
        new: Vec<SegmentEntry>,
        mut map: TermMap,
        folders: &mut NewFolders<'_>,
    ) -> Result<(), LoadError> {
        let before = &self.version.manifest.segments;
        // What the current version must begin with: the segments that were merged, and those that were renamed.
        let mut known = before.clone();
        let mut segments: Vec<SegmentEntry> = before.iter().take(self.from).cloned().collect();
        segments.extend(new);
        let full = Pace::full(self.pace.cancel());
        for round in 0.. {
            let place = WriterPlace::enter(self.store, self.pace.cancel())?;
            let tip = place.tip()?;
            if !tip.manifest.segments.starts_with(&known) {
                return Err(StoreError::Limit(
                    "the segments have changed while they were compacted".to_owned(),
                )
                .into());
            }
            map.set_known(tip.manifest.terms());
            let later = tip.segments.get(known.len()..).unwrap_or_default();
            let quads: u64 = later.iter().map(|segment| segment.entry.quads).sum();
            let is_last = later.is_empty() || (round >= ROUNDS_MAX && quads <= LAST_QUADS_MAX);
            let place = is_last.then_some(place);
            // Where others wait for the place there is no time to rest.
            let pace = if is_last { &full } else { self.pace };
            for segment in later {
                known.push(segment.entry.clone());
                segments.push(self.rename(segment, &map, pace, folders)?);
            }
            if let Some(place) = place {
                return Ok(place.replace_segments(segments, &|id| map.id(id))?);
            }
        }
        Ok(())
    }

    /// Writes a segment once more, with the new numbers of terms.
    fn rename(
        &self,
        segment: &OpenSegment,
        map: &TermMap,
        pace: &Pace,
        folders: &mut NewFolders<'_>,
    ) -> Result<SegmentEntry, LoadError> {
        if map.is_identity() {
            return Ok(segment.entry.clone());
        }
        let (number, folder) = folders.create()?;
        let old = segment.segment.meta();
        if old.dictionary.is_some() {
            let from = self.store.folder().join(segment.entry.folder()).join(DICTIONARY_FILE);
            copy_file(&**self.store.vfs(), &from, &folder.join(DICTIONARY_FILE))?;
        }
        let job = OrdersJob {
            layers: &[(segment, Sign::Insertions)],
            map,
            insertions: &folder,
            deletions: None,
            pace,
        };
        let permutations = self.merge_orders(&job)?.insertions;
        let meta = SegmentMeta { permutations, dictionary: old.dictionary, bases: old.bases };
        Ok(self.seal(meta, number, segment.entry.sign, &folder)?.entry)
    }
}
