//! Puts new segments in the place of old ones, while others go on committing, flushing and loading.
//!
//! A merge gives terms new numbers, and does not keep anybody from writing. So what came meanwhile uses the old numbers and is
//! renamed: segments are written once more ([`added_segments`]), which is done without the write lock, until none is
//! left that came meanwhile; what is in the delta is renamed by whoever holds the write lock and becomes the beginning of a new log.

mod added_segments;

use crate::compact::compaction::Compaction;
use crate::compact::error::CompactError;
use crate::compact::id_remap::IdRemap;
use crate::manifest::SegmentEntry;
use crate::segment_builder::NewFolders;
use crate::throttle::Throttle;
use crate::write_guard::WriteGuard;
use added_segments::AddedSegments;

/// Rounds without the write lock in which segments that came meanwhile are renamed.
const ROUNDS_MAX: usize = if cfg!(test) { 2 } else { 4 };
/// After those rounds up to so many quads are renamed while everybody waits.
const LAST_QUADS_MAX: u64 = 1 << 21;

impl<'a> Compaction<'a> {
    /// Makes what was merged part of the current version.
    pub fn catch_up(
        &self,
        new: Vec<SegmentEntry>,
        remap: IdRemap,
        folders: &mut NewFolders<'a>,
    ) -> Result<(), CompactError> {
        let before = &self.version.manifest.segments;
        // What the current version must begin with: the segments that were merged, and those that were renamed.
        let mut known = before.clone();
        let mut segments: Vec<SegmentEntry> = before.iter().take(self.from).cloned().collect();
        segments.extend(new);
        let mut added = AddedSegments { compaction: self, remap, segments, folders };
        let full = Throttle::full(self.throttle.cancel());
        for round in 0.. {
            let guard = WriteGuard::lock(self.store, self.throttle.cancel())?;
            let tip = guard.tip()?;
            if !tip.manifest.segments.starts_with(&known) {
                return Err(CompactError::Overtaken);
            }
            added.remap.map.set_known(tip.manifest.terms());
            let unknown = tip.segments.get(known.len()..).unwrap_or_default();
            let quads: u64 = unknown.iter().map(|segment| segment.entry.quads).sum();
            let is_last = unknown.is_empty() || (round >= ROUNDS_MAX && quads <= LAST_QUADS_MAX);
            let guard = is_last.then_some(guard);
            // Where others wait for the lock there is no time to rest.
            let throttle = if is_last { &full } else { self.throttle };
            for segment in unknown {
                known.push(segment.entry.clone());
                added.add(segment, throttle)?;
            }
            if let Some(guard) = guard {
                added.add_terms_of(&tip.delta)?;
                let AddedSegments { remap, segments, .. } = added;
                return Ok(guard.replace_segments(segments, &|id| remap.id(id))?);
            }
        }
        Ok(())
    }
}
