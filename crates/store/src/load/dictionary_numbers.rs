//! Numbers of dictionary terms during a load: those of the dictionaries there are, and for new terms those of a new one.

use crate::load::error::LoadError;
use crate::load::term_merge::TermNumbers;
use crate::segment_builder::{DictionaryPipeline, NewFile, walk_keys};
use crate::version::{OpenSegment, Version};
use lode_packed::dictionary::Terms;
use lode_packed::{Dictionary, DictionaryInfo};
use lode_rdf::value_id::{PAYLOAD_MAX, Section};
use std::cmp::{Ordering, Reverse};

/// A dictionary is read from front to back if it has at most this many terms per term looked for.
const SCAN_RATIO: u64 = 16;

/// Finds or gives numbers.
#[derive(Debug)]
pub struct DictionaryNumbers<'a> {
    /// Numbers that the older dictionaries have given, by section.
    old: [u64; Section::COUNT],
    known: Vec<Known<'a>>,
    pipeline: DictionaryPipeline,
    given: [u64; Section::COUNT],
}

/// A dictionary of the database.
#[derive(Debug)]
struct Known<'a> {
    segment: &'a OpenSegment,
    dictionary: &'a Dictionary,
    /// Where the walk through a section is, if it is read from front to back.
    walk: Option<Walk>,
    scan: bool,
    /// Whether another thread reads ahead of the walk.
    ahead: bool,
}

#[derive(Debug)]
struct Walk {
    section: Section,
    terms: Terms,
    /// Of the current key.
    rank: u64,
    ended: bool,
}

impl<'a> DictionaryNumbers<'a> {
    /// Numbers for a load that has about `terms` distinct terms; new ones go to `pipeline`. The largest of the dictionaries are
    /// read ahead by `helpers` threads, one each.
    pub fn new(version: &'a Version, pipeline: DictionaryPipeline, terms: u64, helpers: usize) -> Self {
        let known = version.segments.iter().filter_map(|segment| {
            let dictionary = segment.dictionary()?;
            let size: u64 = Section::ALL.into_iter().map(|section| dictionary.len(section)).sum();
            let scan = size <= terms.saturating_mul(SCAN_RATIO);
            Some(Known { segment, dictionary, walk: None, scan, ahead: false })
        });
        let mut known: Vec<Known<'_>> = known.collect();
        let mut scanned: Vec<&mut Known<'_>> = known.iter_mut().filter(|known| known.scan).collect();
        scanned.sort_by_key(|known| Reverse(known.dictionary.info().bytes));
        scanned.into_iter().take(helpers).for_each(|known| known.ahead = true);
        Self { old: version.manifest.terms(), known, pipeline, given: [0; Section::COUNT] }
    }

    /// Numbers there were before, by section.
    pub fn old(&self) -> [u64; Section::COUNT] {
        self.old
    }

    /// New numbers, by section.
    pub fn given(&self) -> [u64; Section::COUNT] {
        self.given
    }

    /// Ends the new dictionary, if there is one. Its file has yet to be made durable.
    pub fn finish(self) -> Result<Option<(DictionaryInfo, NewFile)>, LoadError> {
        Ok(self.pipeline.finish()?)
    }
}

impl TermNumbers for DictionaryNumbers<'_> {
    fn number(&mut self, section: Section, key: &[u8]) -> Result<u64, LoadError> {
        for known in &mut self.known {
            if let Some(rank) = known.find(section, key)? {
                return Ok(known.segment.base(section) + rank);
            }
        }
        let rank = self.pipeline.push(section, key)?;
        self.given[section as usize] = rank + 1;
        let number = self.old[section as usize] + rank;
        if number > PAYLOAD_MAX { Err(LoadError::limit("terms")) } else { Ok(number) }
    }
}

impl Known<'_> {
    fn find(&mut self, section: Section, key: &[u8]) -> Result<Option<u64>, LoadError> {
        if !self.scan {
            return Ok(self.dictionary.find(section, key)?);
        }
        let fresh = self.walk.as_ref().is_none_or(|walk| walk.section != section);
        if fresh {
            let mut terms = walk_keys(self.dictionary, section, self.ahead);
            let ended = terms.next()?.is_none();
            self.walk = Some(Walk { section, terms, rank: 0, ended });
        }
        let Some(walk) = &mut self.walk else { return Ok(None) };
        while !walk.ended {
            match walk.terms.key().cmp(key) {
                Ordering::Less => walk.step()?,
                Ordering::Equal => return Ok(Some(walk.rank)),
                Ordering::Greater => break,
            }
        }
        Ok(None)
    }
}

impl Walk {
    fn step(&mut self) -> Result<(), LoadError> {
        self.rank += 1;
        self.ended = self.terms.next()?.is_none();
        Ok(())
    }
}
