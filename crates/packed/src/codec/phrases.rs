//! Few distinct values that come in few distinct sequences: a table of values, a list of *phrases* (sequences of codes),
//! and the column as phrase numbers. For predicates in subject order: most subjects of a kind have the same ones.
//!
//! Bytes: the table; number of phrases, their ends (packed), their codes (packed); number of phrase numbers, their
//! width, the numbers (packed); for each mini-block the phrase it begins in and how far into it (packed).

use super::Mini;
use super::table::{TABLE_MAX, TableBuilder, Values};
use super::tags::PHRASES;
use crate::bytes::Reader;
use crate::error::Damage;
use crate::format::{BLOCK_ROWS, MINI_ROWS, MINIS_MAX};
use lode_base::bitpack::{pack_sequence, read_bits, sequence_bytes, unpack_sequence, width_of};
use lode_base::checksum::fold;
use lode_base::varint::write_varint;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Longer sequences are cut.
const PHRASE_ROWS_MAX: usize = 64;
/// The most codes that all phrases of a block have together.
const CODES_MAX: usize = 4096;
/// Width of the place of a mini-block's first row inside its phrase.
const PLACE_BITS: u32 = width_of(PHRASE_ROWS_MAX as u64 - 1);
/// Width of a number up to the number of rows.
const ROW_BITS: u32 = width_of(BLOCK_ROWS as u64);
const CODE_BITS: u32 = width_of(TABLE_MAX as u64 - 1);

/// Finds the phrases of a column.
#[derive(Debug, Default)]
pub(crate) struct PhraseBuilder {
    /// Codes of all phrases, one after another, and where each ends.
    codes: Vec<u64>,
    ends: Vec<u64>,
    /// The column as phrase numbers.
    numbers: Vec<u64>,
    /// For each mini-block, which of `numbers` it begins in, and how far into it.
    begins: Vec<u64>,
    places: Vec<u64>,
    /// Phrase numbers by hash; those of equal hash but other codes are simply not shared.
    by_hash: HashMap<u64, usize, BuildHasherDefault<Hashed>>,
}

/// The keys are hashes already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

fn hash(codes: &[u16]) -> u64 {
    codes.iter().fold(codes.len() as u64, |hash, code| {
        fold(hash ^ u64::from(*code) ^ 0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93)
    })
}

impl PhraseBuilder {
    /// Takes in a column of codes; a phrase begins where `heads` changes (nowhere if that is empty). `false` where the phrases are too many, or too
    /// short to be worth it.
    pub(super) fn build(&mut self, codes: &[u16], heads: &[u64]) -> bool {
        let changes = heads.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if changes * 3 > codes.len() {
            return false;
        }
        self.codes.clear();
        self.ends.clear();
        self.numbers.clear();
        self.begins.clear();
        self.places.clear();
        self.by_hash.clear();
        let mut rest = codes;
        for run in heads.chunk_by(|a, b| a == b) {
            let (run, after) = rest.split_at(run.len());
            if !self.add_run(run, codes.len() - rest.len()) {
                return false;
            }
            rest = after;
        }
        self.add_run(rest, codes.len() - rest.len())
    }

    /// Adds rows that belong together.
    fn add_run(&mut self, codes: &[u16], mut row: usize) -> bool {
        for phrase in codes.chunks(PHRASE_ROWS_MAX) {
            if !self.add(phrase, row) {
                return false;
            }
            row += phrase.len();
        }
        true
    }

    fn add(&mut self, phrase: &[u16], row: usize) -> bool {
        for mini in row.div_ceil(MINI_ROWS)..(row + phrase.len()).div_ceil(MINI_ROWS) {
            self.begins.push(self.numbers.len() as u64);
            self.places.push((mini * MINI_ROWS - row) as u64);
        }
        let hash = hash(phrase);
        let number = match self.by_hash.get(&hash) {
            Some(&number) if self.is(number, phrase) => number,
            _ => {
                if self.codes.len() + phrase.len() > CODES_MAX {
                    return false;
                }
                self.codes.extend(phrase.iter().map(|code| u64::from(*code)));
                self.ends.push(self.codes.len() as u64);
                self.by_hash.insert(hash, self.ends.len() - 1);
                self.ends.len() - 1
            }
        };
        self.numbers.push(number as u64);
        true
    }

    fn is(&self, number: usize, phrase: &[u16]) -> bool {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let codes = &self.codes[start..self.ends[number] as usize];
        codes.len() == phrase.len() && codes.iter().zip(phrase).all(|(a, b)| *a == u64::from(*b))
    }

    fn number_bits(&self) -> u32 {
        width_of(self.ends.len() as u64 - 1)
    }

    /// How many bytes [`encode`] appends at most.
    pub(super) fn bytes(&self, table: &TableBuilder) -> usize {
        table.bytes()
            + 10
            + sequence_bytes(self.ends.len(), ROW_BITS)
            + sequence_bytes(self.codes.len(), CODE_BITS)
            + sequence_bytes(self.numbers.len(), self.number_bits())
            + sequence_bytes(self.begins.len(), ROW_BITS + PLACE_BITS)
    }
}

pub(super) fn encode(table: &TableBuilder, phrases: &PhraseBuilder, out: &mut Vec<u8>) {
    out.push(PHRASES);
    table.encode(out);
    write_varint(out, phrases.ends.len() as u64);
    pack_sequence(&phrases.ends, ROW_BITS, out);
    pack_sequence(&phrases.codes, CODE_BITS, out);
    write_varint(out, phrases.numbers.len() as u64);
    let width = phrases.number_bits();
    out.push(width as u8);
    pack_sequence(&phrases.numbers, width, out);
    pack_sequence(&phrases.begins, ROW_BITS, out);
    pack_sequence(&phrases.places, PLACE_BITS, out);
}

/// A parsed column.
#[derive(Debug)]
pub(crate) struct Phrases {
    rows: usize,
    values: Values,
    codes: Vec<u64>,
    ends: Vec<u64>,
    count: usize,
    width: u32,
    numbers_at: usize,
    begins_at: usize,
    places_at: usize,
}

impl Phrases {
    pub(super) fn parse(reader: &mut Reader<'_>, rows: usize) -> Result<Self, Damage> {
        let values = Values::parse(reader)?;
        let short = Damage("phrases end too early");
        let mut ends = vec![0; reader.count(CODES_MAX)?];
        unpack_sequence(reader.take(sequence_bytes(ends.len(), ROW_BITS))?, ROW_BITS, &mut ends)
            .ok_or(short)?;
        let total = ends.last().copied().unwrap_or(0) as usize;
        if total == 0 || total > CODES_MAX || ends.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Damage("phrases are empty or out of order"));
        }
        let mut codes = vec![0; total];
        unpack_sequence(reader.take(sequence_bytes(total, CODE_BITS))?, CODE_BITS, &mut codes)
            .ok_or(short)?;
        let count = reader.count(rows)?;
        let width = u32::from(reader.u8()?);
        if width > ROW_BITS {
            return Err(Damage("phrase numbers are too wide"));
        }
        let minis = rows.div_ceil(MINI_ROWS).min(MINIS_MAX);
        let numbers_at = reader.position();
        reader.take(sequence_bytes(count, width))?;
        let begins_at = reader.position();
        reader.take(sequence_bytes(minis, ROW_BITS))?;
        let places_at = reader.position();
        reader.take(sequence_bytes(minis, PLACE_BITS))?;
        Ok(Self { rows, values, codes, ends, count, width, numbers_at, begins_at, places_at })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.values.memory_bytes() + (self.codes.capacity() + self.ends.capacity()) * 8
    }

    /// The codes of the phrase that is `index` in the sequence of phrase numbers.
    #[inline]
    fn phrase(&self, bytes: &[u8], index: usize) -> Result<&[u64], Damage> {
        let find = || {
            let numbers = bytes.get(self.numbers_at..).filter(|_| index < self.count)?;
            let number = read_bits(numbers, index * self.width as usize, self.width) as usize;
            let start = number.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before))?;
            self.codes.get(*start as usize..*self.ends.get(number)? as usize)
        };
        find().ok_or(Damage("no such phrase"))
    }

    /// Where a mini-block begins: a phrase, by its index in the sequence, and a place in it.
    fn begin(&self, bytes: &[u8], mini: usize) -> (usize, usize) {
        let at = |at: usize, width: u32| {
            read_bits(bytes.get(at..).unwrap_or(&[]), mini * width as usize, width) as usize
        };
        (at(self.begins_at, ROW_BITS), at(self.places_at, PLACE_BITS))
    }

    /// The codes of a mini-block instead of the values.
    pub(super) fn codes(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        let rows = self.rows.saturating_sub(mini * MINI_ROWS).min(MINI_ROWS);
        let (mut index, place) = self.begin(bytes, mini);
        let mut rest = out.get_mut(..rows).unwrap_or_default();
        let mut phrase = self.phrase(bytes, index)?.get(place..).unwrap_or(&[]);
        while !rest.is_empty() {
            let length = phrase.len().min(rest.len());
            let (slots, after) = rest.split_at_mut(length);
            slots.copy_from_slice(phrase.get(..length).unwrap_or(&[]));
            rest = after;
            index += 1;
            if !rest.is_empty() {
                phrase = self.phrase(bytes, index)?;
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn decode(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        self.codes(bytes, mini, out)?;
        let rows = self.rows.saturating_sub(mini * MINI_ROWS).min(MINI_ROWS);
        self.values.look_up(out.get_mut(..rows).unwrap_or_default())
    }

    pub(super) fn first_code(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        let (index, place) = self.begin(bytes, mini);
        self.phrase(bytes, index)?.get(place).copied().ok_or(Damage("no such place in a phrase"))
    }

    pub(super) fn first(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        self.values.get(self.first_code(bytes, mini)?)
    }
}
