//! Encoding with a table of symbols: always the longest symbol that fits. Each step waits for the one before it, since only then
//! it is known where the next symbol begins; so several blocks are encoded at once, a step of each in turn, and the waits
//! overlap.

use super::{ESCAPE, SYMBOL_BYTES_MAX, Symbol, SymbolTable};
use std::hint::select_unpredictable;
use std::ops::Range;

/// Blocks that are encoded at the same time.
const LANES: usize = 3;
/// Places for symbols of three bytes and more.
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 10;
/// Three bytes that every symbol of a slot has.
const PREFIX: u64 = 0xFF_FFFF;

/// A code, and how far it leads: the code in bits 0 to 7, bit 8 for an escape, the length in bits 12 to 15.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step(u16);

impl Step {
    const ESCAPE: Self = Self(ESCAPE as u16 | 1 << 8 | 1 << 12);

    fn new(code: u8, len: usize) -> Self {
        Self(u16::from(code) | (len as u16) << 12)
    }

    /// Bytes of text that the step takes.
    #[inline]
    pub(super) fn len(self) -> usize {
        usize::from(self.0 >> 12)
    }

    #[inline]
    fn code(self) -> u8 {
        self.0 as u8
    }

    /// Bytes that the step writes.
    #[inline]
    fn written(self) -> usize {
        1 + usize::from(self.0 >> 8 & 1)
    }

    /// The code, and from 256 on the bytes that stand for themselves.
    pub(super) fn wide_code(self, byte: u8) -> usize {
        if self.written() == 2 { 256 + usize::from(byte) } else { usize::from(self.code()) }
    }
}

/// The one symbol of three bytes and more that may begin with the bytes of a slot.
#[derive(Debug, Clone, Copy)]
struct Slot {
    symbol: u64,
    /// The mask of the symbol's bytes, but for the lowest 16 bits, in which the step is.
    mask_step: u64,
}

/// Finds the longest symbol at a place.
#[derive(Debug)]
pub(crate) struct Encoder {
    /// By the next byte.
    ones: [Step; 256],
    /// By the next two bytes, the first of them in the low bits.
    twos: Box<[Step; 1 << 16]>,
    slots: Box<[Slot; SLOTS]>,
    symbols: Vec<Symbol>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            ones: [Step::ESCAPE; 256],
            twos: Box::new([Step::ESCAPE; 1 << 16]),
            slots: Box::new(std::array::from_fn(empty_slot)),
            symbols: Vec::with_capacity(super::SYMBOLS_MAX),
        }
    }
}

/// No text finds it: it holds eight bytes that belong into another slot.
fn empty_slot(number: usize) -> Slot {
    Slot { symbol: u64::from(number == slot_of(0)), mask_step: !0 }
}

#[inline]
fn slot_of(word: u64) -> usize {
    ((word & PREFIX) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> (64 - SLOT_BITS)
}

impl Encoder {
    /// Takes the first symbols of `wanted` that there is room for.
    pub(super) fn fill(&mut self, wanted: impl Iterator<Item = Symbol>) {
        self.symbols.clear();
        self.ones.fill(Step::ESCAPE);
        for (number, slot) in self.slots.iter_mut().enumerate() {
            *slot = empty_slot(number);
        }
        for symbol in wanted {
            if self.symbols.len() == super::SYMBOLS_MAX {
                break;
            }
            let step = Step::new(self.symbols.len() as u8, symbol.len);
            match symbol.len {
                1 => self.ones[symbol.bytes as usize & 0xFF] = step,
                2 => {}
                _ => {
                    let slot = &mut self.slots[slot_of(symbol.bytes)];
                    if slot.mask_step != !0 {
                        continue;
                    }
                    let mask = !0 >> (8 * (SYMBOL_BYTES_MAX - symbol.len));
                    *slot = Slot { symbol: symbol.bytes, mask_step: mask & !0xFFFF | u64::from(step.0) };
                }
            }
            self.symbols.push(symbol);
        }
        for row in self.twos.chunks_exact_mut(256) {
            row.copy_from_slice(&self.ones);
        }
        for (code, symbol) in self.symbols.iter().enumerate().filter(|(_, symbol)| symbol.len == 2) {
            self.twos[symbol.bytes as usize & 0xFFFF] = Step::new(code as u8, 2);
        }
    }

    /// What [`SymbolTable::decode`] needs to read what this encoder writes.
    pub(crate) fn table(&self) -> SymbolTable {
        SymbolTable::new(&self.symbols)
    }

    pub(super) fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The longest symbol at the start of eight bytes of text.
    #[inline]
    pub(super) fn step(&self, word: u64) -> Step {
        let two = self.twos[word as usize & 0xFFFF];
        let slot = &self.slots[slot_of(word)];
        let same = (word ^ slot.symbol) & (slot.mask_step | PREFIX) == 0;
        Step(select_unpredictable(same, slot.mask_step as u16, two.0))
    }

    /// The longest symbol at the start of fewer than eight bytes of text.
    pub(super) fn last_step(&self, text: &[u8]) -> Step {
        let mut bytes = [0; 8];
        let known = text.len().min(8);
        bytes[..known].copy_from_slice(&text[..known]);
        let word = u64::from_le_bytes(bytes);
        let step = self.step(word);
        if step.len() <= known {
            return step;
        }
        let two = self.twos[word as usize & 0xFFFF];
        if two.len() <= known { two } else { self.ones[usize::from(bytes[0])] }
    }

    /// Encodes the parts `blocks` of `raw`, each to the same place of `packed`. `on_block` hears of each, in any order, how
    /// long it became; `None` if that is not shorter than before.
    pub(crate) fn encode(
        &self,
        raw: &[u8],
        blocks: &[Range<usize>],
        packed: &mut [u8],
        on_block: &mut dyn FnMut(usize, Option<usize>),
    ) {
        let mut waiting = blocks.iter().cloned().enumerate();
        let mut lanes: [Lane; LANES] = std::array::from_fn(|_| Lane::new(waiting.next()));
        'full: loop {
            let mut steps = usize::MAX;
            for lane in &mut lanes {
                while lane.sure_steps() == 0 {
                    lane.finish(self, raw, packed, on_block);
                    *lane = Lane::new(waiting.next());
                    if lane.block.is_none() {
                        break 'full;
                    }
                }
                steps = steps.min(lane.sure_steps());
            }
            let mut places = lanes.map(|lane| lane.place);
            for _ in 0..steps {
                for place in &mut places {
                    place.step(self, raw, packed);
                }
            }
            for (lane, place) in lanes.iter_mut().zip(places) {
                lane.place = place;
            }
        }
        for lane in &mut lanes {
            lane.finish(self, raw, packed, on_block);
        }
    }
}

/// One of the blocks that are being encoded.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    block: Option<usize>,
    start: usize,
    place: Place,
    end: usize,
}

/// Where the next step reads and writes. With 32 bits the compiler sees that sums do not overflow.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    at: u32,
    out: u32,
}

impl Place {
    /// The step at a place that has eight bytes to read and two to write.
    #[inline]
    fn step(&mut self, encoder: &Encoder, raw: &[u8], packed: &mut [u8]) {
        let (at, out) = (self.at as usize, self.out as usize);
        let Some(Ok(text)) = raw.get(at..at + 8).map(<[u8; 8]>::try_from) else { return };
        let Some(room) = packed.get_mut(out..out + 2) else { return };
        let word = u64::from_le_bytes(text);
        let step = encoder.step(word);
        room.copy_from_slice(&(u16::from(step.code()) | (word << 8) as u16).to_le_bytes());
        self.at += step.len() as u32;
        self.out += step.written() as u32;
    }
}

impl Lane {
    fn new(block: Option<(usize, Range<usize>)>) -> Self {
        let Some((block, range)) = block else { return Self::default() };
        let at = range.start as u32;
        Self { block: Some(block), start: range.start, place: Place { at, out: at }, end: range.end }
    }

    /// Steps that neither read nor write beyond the end, however long the symbols are.
    fn sure_steps(&self) -> usize {
        ((self.end - self.place.at as usize) / SYMBOL_BYTES_MAX).min((self.end - self.place.out as usize) / 2)
    }

    /// Encodes what is left.
    fn finish(
        &mut self,
        encoder: &Encoder,
        raw: &[u8],
        packed: &mut [u8],
        on_block: &mut dyn FnMut(usize, Option<usize>),
    ) {
        let Some(block) = self.block.take() else { return };
        while self.sure_steps() > 0 {
            self.place.step(encoder, raw, packed);
        }
        let Place { at, out } = self.place;
        let (mut at, mut out) = (at as usize, out as usize);
        while at < self.end {
            let text = &raw[at..self.end];
            let step = encoder.last_step(text);
            if out + step.written() >= self.end {
                return on_block(block, None);
            }
            packed[out] = step.code();
            if step.written() == 2 {
                packed[out + 1] = text[0];
            }
            at += step.len();
            out += step.written();
        }
        on_block(block, Some(out - self.start));
    }
}
