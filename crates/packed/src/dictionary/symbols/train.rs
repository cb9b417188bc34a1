//! Finds the symbols for a text: encodes a sample of it with the symbols so far, counts symbols and pairs of neighbours,
//! keeps the symbols and joined pairs that save most, and begins again.

use super::encoder::Encoder;
use super::{SYMBOL_BYTES_MAX, SYMBOLS_MAX, Symbol};

/// Symbols, and from 256 on the bytes that stand for themselves.
const CODES: usize = 512;
/// How much of the sample each round looks at, in 128ths, and how often it has to see what may become a symbol. The last round
/// joins no pairs.
const ROUNDS: [(usize, u64); 5] = [(8, 1), (38, 1), (68, 2), (98, 3), (128, 2)];
/// A symbol of one byte counts as more than it saves: without it, the byte costs two.
const SINGLE_WEIGHT: u64 = 8;

/// A possible symbol and what it saves.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    symbol: Symbol,
    gain: u64,
}

/// Trains tables; keeps its memory from one to the next.
#[derive(Debug)]
pub(crate) struct Trainer {
    singles: Vec<u32>,
    pairs: Vec<u16>,
    /// The pairs that are not 0.
    seen: Vec<u32>,
    candidates: Vec<Candidate>,
}

impl Default for Trainer {
    fn default() -> Self {
        Self {
            singles: vec![0; CODES],
            pairs: vec![0; CODES * CODES],
            seen: Vec::new(),
            candidates: Vec::new(),
        }
    }
}

impl Trainer {
    /// Fills `encoder` with symbols for texts like `sample`, which is cut into pieces of `piece_bytes`.
    pub(crate) fn train(&mut self, sample: &[u8], piece_bytes: usize, encoder: &mut Encoder) {
        encoder.fill(std::iter::empty());
        let pieces = sample.len().div_ceil(piece_bytes);
        for (round, (share, count_min)) in ROUNDS.into_iter().enumerate() {
            let last = round + 1 == ROUNDS.len();
            for (number, piece) in sample.chunks(piece_bytes).enumerate() {
                // A part of the pieces, spread evenly.
                if (number + 1) * share / 128 > number * share / 128 || pieces < 128 {
                    self.count(piece, encoder, !last);
                }
            }
            self.choose(encoder, count_min, !last);
            encoder.fill(self.candidates.iter().map(|candidate| candidate.symbol));
        }
    }

    fn count(&mut self, text: &[u8], encoder: &Encoder, with_pairs: bool) {
        let mut before = None;
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let step = match rest.first_chunk() {
                Some(word) => encoder.step(u64::from_le_bytes(*word)),
                None => encoder.last_step(rest),
            };
            let code = step.wide_code(rest[0]);
            self.singles[code] += 1;
            let long = step.len() > 1;
            let literal = 256 + usize::from(rest[0]);
            if long {
                self.singles[literal] += 1;
            }
            if with_pairs {
                if let Some(before) = before {
                    self.count_pair(before, code);
                    if long {
                        self.count_pair(before, literal);
                    }
                }
                before = Some(code);
            }
            at += step.len();
        }
    }

    #[inline]
    fn count_pair(&mut self, first: usize, second: usize) {
        let pair = first * CODES + second;
        let count = &mut self.pairs[pair];
        if *count == 0 {
            self.seen.push(pair as u32);
        }
        *count = count.saturating_add(1);
    }

    /// Leaves the best candidates, best first, and sets the counts to 0.
    fn choose(&mut self, encoder: &Encoder, count_min: u64, with_pairs: bool) {
        let symbol_of = |code: usize| match code.checked_sub(256) {
            Some(byte) => Symbol::of_byte(byte as u8),
            None => encoder.symbols()[code],
        };
        self.candidates.clear();
        for (code, count) in self.singles.iter_mut().enumerate() {
            let count = u64::from(std::mem::take(count));
            if count >= count_min {
                let symbol = symbol_of(code);
                let weight = if symbol.len == 1 { SINGLE_WEIGHT } else { symbol.len as u64 };
                self.candidates.push(Candidate { symbol, gain: weight * count });
            }
        }
        for pair in self.seen.drain(..) {
            let count = u64::from(std::mem::take(&mut self.pairs[pair as usize]));
            let (first, second) = (symbol_of(pair as usize / CODES), symbol_of(pair as usize % CODES));
            if with_pairs && count >= count_min && first.len < SYMBOL_BYTES_MAX {
                let symbol = first.then(second);
                self.candidates.push(Candidate { symbol, gain: symbol.len as u64 * count });
            }
        }
        self.candidates.sort_unstable_by_key(|candidate| candidate.symbol);
        self.candidates.dedup_by(|next, kept| {
            let same = next.symbol == kept.symbol;
            kept.gain += if same { next.gain } else { 0 };
            same
        });
        // Some more than there is room for: symbols that begin alike may exclude each other.
        let most = 2 * SYMBOLS_MAX;
        let order = |candidate: &Candidate| (std::cmp::Reverse(candidate.gain), candidate.symbol);
        if self.candidates.len() > most {
            self.candidates.select_nth_unstable_by_key(most, order);
            self.candidates.truncate(most);
        }
        self.candidates.sort_unstable_by_key(order);
    }
}
