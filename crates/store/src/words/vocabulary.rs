//! The words that a thread has met, numbered as they come.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// What a word takes beside its letters, about: its entries here, its number among all, and its names.
const WORD_BYTES: usize = 96;

/// Words by number and numbers by word.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    table: HashTable<u32>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// By word: the text that had it last, and its row.
    last: Vec<(u32, u32)>,
    /// The present text, from 1.
    text: u32,
}

impl Vocabulary {
    /// The number of a word.
    pub(super) fn number(&mut self, word: &[u8]) -> u32 {
        let Self { table, bytes, ends, last, .. } = self;
        let key = |number: u32| key(bytes, ends, number as usize);
        let hash = xxh3_64(word);
        if let Some(number) = table.find(hash, |number| key(*number) == word) {
            return *number;
        }
        #[expect(clippy::cast_possible_truncation, reason = "memory ends before")]
        let number = ends.len() as u32;
        table.insert_unique(hash, number, |number| xxh3_64(key(*number)));
        bytes.extend_from_slice(word);
        ends.push(bytes.len());
        last.push((0, 0));
        number
    }

    /// Begins a text.
    pub(super) fn begin_text(&mut self) {
        self.text = self.text.wrapping_add(1);
        if self.text == 0 {
            self.last.fill((0, 0));
            self.text = 1;
        }
    }

    /// The row of a word in the present text; `next`, which is given to it, where it had none.
    pub(super) fn row(&mut self, number: u32, next: usize) -> usize {
        let Some((text, row)) = self.last.get_mut(number as usize) else { return next };
        if *text != self.text {
            *text = self.text;
            *row = u32::try_from(next).unwrap_or(u32::MAX);
        }
        *row as usize
    }

    /// Its words, by number.
    pub(super) fn words(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|number| key(&self.bytes, &self.ends, number))
    }

    /// Bytes that it takes, and what comes of it.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.len() * 2 + self.ends.len() * WORD_BYTES
    }
}

fn key<'b>(bytes: &'b [u8], ends: &[usize], number: usize) -> &'b [u8] {
    let start = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(number).copied().unwrap_or(start);
    bytes.get(start..end).unwrap_or_default()
}
