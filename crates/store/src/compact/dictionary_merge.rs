//! Merges the dictionaries of segments into one, section by section, and notes what number every term gets. Terms that no quad uses are
//! left out.

use crate::compact::id_remap::{IdRemap, Kept, TermMap};
use crate::compact::used::UsedTerms;
use crate::progress::LoadProgress;
use crate::segment_builder::{BuildError, DictionaryPipeline, OVERHEAD_BYTES, walk_keys};
use crate::throttle::Throttle;
use crate::version::OpenSegment;
use lode_packed::dictionary::Terms;
use lode_rdf::value_id::{PAYLOAD_MAX, Section};

/// How often to look at the cancel token and the memory, in terms.
const CHECK_EVERY: u64 = 1 << 14;

/// What the merge needs besides the dictionaries.
#[derive(Debug)]
pub struct TermsContext<'a> {
    /// Which terms to keep; none: all.
    pub used: Option<&'a UsedTerms>,
    /// Bytes that the map may take.
    pub map_bytes_max: usize,
    /// Threads that may read ahead, one dictionary each.
    pub helpers: usize,
    /// Asked now and then.
    pub throttle: &'a Throttle,
    /// Told now and then.
    pub progress: &'a LoadProgress,
}

/// One dictionary's terms of a section. Boxed, because where there are many they change places all the time.
struct Input {
    terms: Terms,
    /// Its place in the map.
    owner: usize,
    /// The old number of its next term.
    number: u64,
}

/// Merges the dictionaries of neighbouring segments into `pipeline`. The terms of the first begin at the numbers `start`.
pub fn merge_dictionaries(
    segments: &[OpenSegment],
    start: [u64; Section::COUNT],
    pipeline: &mut DictionaryPipeline,
    context: &TermsContext<'_>,
) -> Result<IdRemap, BuildError> {
    let total = segments.iter().flat_map(|segment| segment.entry.terms).sum();
    let kept = context.used.map(|_| Default::default());
    let mut merge = Merge { pipeline, context, map: TermMap::new(start), kept, total, done: 0 };
    for section in Section::ALL {
        let mut inputs = Vec::new();
        for segment in segments {
            let ahead = inputs.len() < context.helpers;
            inputs.extend(open(segment, section, ahead, &mut merge.map)?.map(Box::new));
        }
        merge.section(section, inputs)?;
        if !merge.map.finish(section) {
            return Err(BuildError::Inconsistent(format!("terms of {section:?} are missing")));
        }
    }
    Ok(IdRemap::new(merge.map, merge.kept, start))
}

struct Merge<'a> {
    pipeline: &'a mut DictionaryPipeline,
    context: &'a TermsContext<'a>,
    map: TermMap,
    /// Where not all are kept: which are.
    kept: Option<[Kept; Section::COUNT]>,
    /// Terms of all dictionaries.
    total: u64,
    done: u64,
}

fn open(
    segment: &OpenSegment,
    section: Section,
    ahead: bool,
    map: &mut TermMap,
) -> Result<Option<Input>, BuildError> {
    let Some(dictionary) = segment.dictionary() else { return Ok(None) };
    let count = dictionary.len(section);
    if count == 0 {
        return Ok(None);
    }
    let number = segment.base(section);
    let owner = map.add_owner(section, number, count);
    let mut terms = walk_keys(dictionary, section, ahead);
    Ok(terms.next()?.is_some().then_some(Input { terms, owner, number }))
}

impl Merge<'_> {
    #[expect(clippy::vec_box, reason = "a merge of many dictionaries moves pointers")]
    fn section(&mut self, section: Section, mut inputs: Vec<Box<Input>>) -> Result<(), BuildError> {
        inputs.sort_by(|a, b| a.terms.key().cmp(b.terms.key()));
        let (mut rank, mut since_check) = (0, 0);
        while let Some(first) = inputs.first_mut() {
            let is_kept = self.context.used.is_none_or(|used| used.contains(section, first.number));
            if is_kept {
                self.pipeline.push(section, first.terms.key())?;
            }
            if let Some(kept) = &mut self.kept {
                kept[section as usize].push(is_kept);
            }
            if self.map.push(section, first.owner, rank) > PAYLOAD_MAX {
                return Err(BuildError::Limit("terms"));
            }
            (rank, first.number) = (rank + 1, first.number + 1);
            since_check += 1;
            if since_check == CHECK_EVERY {
                self.check(since_check)?;
                since_check = 0;
            }
            if first.terms.next()?.is_none() {
                inputs.remove(0);
            } else {
                sink_first(&mut inputs);
            }
        }
        self.check(since_check)
    }

    fn check(&mut self, terms: u64) -> Result<(), BuildError> {
        self.context.throttle.check()?;
        self.context.progress.add_terms(terms);
        self.done += terms;
        let kept: usize = self.kept.iter().flatten().map(Kept::memory_bytes).sum();
        let used = self.context.used.map_or(0, UsedTerms::memory_bytes);
        let bytes = self.map.memory_bytes() + kept + used;
        self.context.progress.set_memory(bytes as u64);
        if bytes > self.context.map_bytes_max {
            let all = bytes as u128 * u128::from(self.total) / u128::from(self.done.max(1));
            let needed = OVERHEAD_BYTES.saturating_add(usize::try_from(2 * all).unwrap_or(usize::MAX));
            return Err(BuildError::Memory { what: "the new numbers of all terms", bytes: needed });
        }
        Ok(())
    }
}

/// Moves the first input, whose key has changed, to its place. Most often it stays: dictionaries of different data interleave in
/// ranges.
fn sink_first(inputs: &mut [Box<Input>]) {
    let [first, rest @ ..] = inputs else { return };
    let key = first.terms.key();
    if rest.first().is_none_or(|next| key <= next.terms.key()) {
        return;
    }
    let place = rest.partition_point(|other| other.terms.key() < key);
    inputs[..=place].rotate_left(1);
}
