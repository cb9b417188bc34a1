//! Values that depend on another column: for each code of that column (a *class*) its own frame. For objects in subject
//! order, where prices, dates, labels and links alternate, each predicate being one class.
//!
//! Values are first made dense over kinds. A class packs its numbers with one base and width for the block, or, where
//! neighbours are alike, with a base and width of its own in every mini-block, written in front of the first number of
//! the class there.
//!
//! Bytes: number of the class column, kinds, number of classes, for each a width with marks, packed bases, the length
//! of each mini-block (u16), the mini-blocks: bits of one row after another.

use super::kinds::Kinds;
use super::table::TABLE_MAX;
use super::{CLASSES, Mini};
use crate::bytes::Reader;
use crate::error::Damage;
use crate::format::{MINI_ROWS, MINIS_MAX};
use lode_base::bitpack::{pack_sequence, read_bits, sequence_bytes, width_of};
use lode_base::varint::write_varint;

/// Marks a width: the class has a base and width of its own in every mini-block.
const LOCAL: u8 = 0x80;
/// Marks a width: all values of the class are of one kind, so that its codes need not be looked up.
const ONE_KIND: u8 = 0x40;
/// Width of a width.
const WIDTH_BITS: u32 = 6;
/// Codes are below 2^62, so that widths fit [`WIDTH_BITS`].
const CODES_MAX: u64 = 1 << 62;

/// Least and greatest number, and how many.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    min: u64,
    max: u64,
    count: u32,
}

impl Bounds {
    const EMPTY: Self = Self { min: u64::MAX, max: 0, count: 0 };

    fn add(&mut self, code: u64) {
        self.min = self.min.min(code);
        self.max = self.max.max(code);
        self.count += 1;
    }

    fn width(&self) -> u32 {
        width_of(self.max.saturating_sub(self.min))
    }
}

/// Encodes columns by class; keeps its buffers between calls.
#[derive(Debug, Default)]
pub(crate) struct ClassesEncoder {
    codes: Vec<u64>,
    classes: Vec<Bounds>,
    /// The same inside the current mini-block.
    here: Vec<Bounds>,
    /// Bits that each class would take with bases in every mini-block.
    local_bits: Vec<u64>,
    local: Vec<bool>,
    packed: Vec<u8>,
    lengths: Vec<usize>,
}

/// Appends bits, lowest first.
struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    pending: u128,
    bits: u32,
}

impl BitWriter<'_> {
    #[inline]
    fn write(&mut self, value: u64, width: u32) {
        self.pending |= u128::from(value) << self.bits;
        self.bits += width;
        if self.bits >= 64 {
            self.out.extend_from_slice(&(self.pending as u64).to_le_bytes());
            self.pending >>= 64;
            self.bits -= 64;
        }
    }

    fn finish(self) {
        let rest = (self.pending as u64).to_le_bytes();
        self.out.extend_from_slice(&rest[..self.bits.div_ceil(8) as usize]);
    }
}

impl ClassesEncoder {
    /// Appends the column, whose rows have the classes `classes` (below `class_count`) in column `by`; `false`, with
    /// nothing appended, where it cannot.
    pub(super) fn encode(
        &mut self,
        values: &[u64],
        by: usize,
        classes: &[u16],
        class_count: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        self.codes.clear();
        let Some(kinds) = Kinds::build(values, &mut self.codes).filter(|kinds| kinds.codes() < CODES_MAX)
        else {
            return false;
        };
        self.measure(classes, class_count);
        self.pack(classes);
        out.extend_from_slice(&[CLASSES, by as u8]);
        kinds.encode(out);
        write_varint(out, class_count as u64);
        for (bounds, local) in self.classes.iter().zip(&self.local) {
            let one_kind = kinds.range(bounds.min).start == kinds.range(bounds.max).start;
            let marks = if *local { LOCAL } else { 0 } | if one_kind { ONE_KIND } else { 0 };
            out.push(bounds.width() as u8 | marks);
        }
        let bases: Vec<u64> = self.classes.iter().map(|bounds| bounds.min).collect();
        pack_sequence(&bases, width_of(kinds.codes()), out);
        for length in &self.lengths {
            out.extend_from_slice(&(*length as u16).to_le_bytes());
        }
        out.extend_from_slice(&self.packed);
        true
    }

    /// Bounds of all classes, and whether each is smaller with bases in every mini-block.
    fn measure(&mut self, classes: &[u16], class_count: usize) {
        self.classes.clear();
        self.classes.resize(class_count, Bounds::EMPTY);
        for (class, code) in classes.iter().zip(&self.codes) {
            self.classes[usize::from(*class)].add(*code);
        }
        self.local_bits.clear();
        self.local_bits.resize(class_count, 0);
        for (classes, codes) in classes.chunks(MINI_ROWS).zip(self.codes.chunks(MINI_ROWS)) {
            bounds_here(&mut self.here, class_count, classes, codes);
            for class in classes {
                let class = usize::from(*class);
                let here = &mut self.here[class];
                if here.count > 0 {
                    let head = self.classes[class].width() + WIDTH_BITS;
                    self.local_bits[class] += u64::from(head + here.count * here.width());
                    here.count = 0;
                }
            }
        }
        self.local.clear();
        let smaller = |(bounds, local): (&Bounds, &u64)| *local < u64::from(bounds.count * bounds.width());
        self.local.extend(self.classes.iter().zip(&self.local_bits).map(smaller));
    }

    fn pack(&mut self, classes: &[u16]) {
        self.packed.clear();
        self.lengths.clear();
        let class_count = self.classes.len();
        for (classes, codes) in classes.chunks(MINI_ROWS).zip(self.codes.chunks(MINI_ROWS)) {
            let start = self.packed.len();
            bounds_here(&mut self.here, class_count, classes, codes);
            let mut writer = BitWriter { out: &mut self.packed, pending: 0, bits: 0 };
            for (class, code) in classes.iter().zip(codes) {
                let class = usize::from(*class);
                let bounds = &self.classes[class];
                if !self.local[class] {
                    writer.write(code - bounds.min, bounds.width());
                    continue;
                }
                let here = &mut self.here[class];
                if here.count > 0 {
                    writer.write(here.min - bounds.min, bounds.width());
                    writer.write(u64::from(here.width()), WIDTH_BITS);
                    here.count = 0;
                }
                writer.write(code - here.min, here.width());
            }
            writer.finish();
            self.lengths.push(self.packed.len() - start);
        }
    }
}

fn bounds_here(here: &mut Vec<Bounds>, class_count: usize, classes: &[u16], codes: &[u64]) {
    here.resize(class_count, Bounds::EMPTY);
    for class in classes {
        here[usize::from(*class)] = Bounds::EMPTY;
    }
    for (class, code) in classes.iter().zip(codes) {
        here[usize::from(*class)].add(*code);
    }
}

/// A class: how its first number in a mini-block is read.
#[derive(Debug, Clone, Copy)]
struct Class {
    base: u64,
    width: u32,
    one_kind: bool,
}

/// How the numbers of a class are read: `value + step * number`.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// The value of number 0; its code where codes have to be looked up.
    value: u64,
    step: u64,
    mask: u64,
    width: u32,
    state: FrameState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameState {
    /// One kind, at most [`FAST_WIDTH`] bits.
    Fast,
    /// Wider.
    Wide,
    /// Codes have to be looked up.
    Kinds,
    /// A local class whose frame was not yet read in this mini-block.
    Unread,
}

/// One read of 8 bytes holds this many bits from any bit on.
const FAST_WIDTH: u32 = 57;

impl Frame {
    fn new(kinds: &Kinds, code: u64, width: u32, one_kind: bool) -> Self {
        let mask = 1_u64.checked_shl(width).map_or(u64::MAX, |bit| bit - 1);
        if !one_kind {
            return Self { value: code, step: 1, mask, width, state: FrameState::Kinds };
        }
        let state = if width <= FAST_WIDTH { FrameState::Fast } else { FrameState::Wide };
        Self { value: kinds.value(code), step: kinds.range(code).stride, mask, width, state }
    }

    #[inline]
    fn at(&self, number: u64) -> u64 {
        self.value.wrapping_add(number.wrapping_mul(self.step))
    }
}

/// The frames of the block that a reader has open, as they are inside the mini-block it decodes.
#[derive(Debug, Default)]
pub(crate) struct ClassScratch {
    /// The column they are of.
    column: Option<usize>,
    frames: Vec<Frame>,
}

impl ClassScratch {
    /// Forgets the block.
    pub(crate) fn clear(&mut self) {
        self.column = None;
    }
}

/// A parsed column.
#[derive(Debug)]
pub(crate) struct Classes {
    rows: usize,
    by: usize,
    kinds: Kinds,
    classes: Vec<Class>,
    /// The frame of each class at the start of a mini-block.
    frames: Vec<Frame>,
    /// The local classes.
    local: Vec<u16>,
    packed_at: usize,
    starts: [u32; MINIS_MAX + 1],
}

const SHORT: Damage = Damage("a mini-block of classes ends too early");
const NO_CLASS: Damage = Damage("no such class");

impl Classes {
    pub(super) fn parse(reader: &mut Reader<'_>, rows: usize) -> Result<Self, Damage> {
        let by = usize::from(reader.u8()?);
        let kinds = Kinds::parse(reader)?;
        if kinds.codes() >= CODES_MAX {
            return Err(Damage("ranges of kinds are too large"));
        }
        let count = reader.count(TABLE_MAX)?;
        let widths = reader.take(count)?;
        let base_bits = width_of(kinds.codes());
        let bases = reader.take(sequence_bytes(count, base_bits))?;
        let (mut classes, mut frames) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut local = Vec::new();
        for (i, width) in widths.iter().enumerate() {
            let base = read_bits(bases, i * base_bits as usize, base_bits);
            let one_kind = width & ONE_KIND != 0;
            let mut frame = Frame::new(&kinds, base, u32::from(width & !(LOCAL | ONE_KIND)), one_kind);
            classes.push(Class { base, width: frame.width, one_kind });
            if width & LOCAL != 0 {
                frame.state = FrameState::Unread;
                local.push(i as u16);
            }
            frames.push(frame);
        }
        let mut starts = [0_u32; MINIS_MAX + 1];
        let mut end = 0;
        for start in starts.iter_mut().skip(1).take(rows.div_ceil(MINI_ROWS)) {
            end += u32::from(reader.u16()?);
            *start = end;
        }
        let packed_at = reader.position();
        reader.take(end as usize)?;
        Ok(Self { rows, by, kinds, classes, frames, local, packed_at, starts })
    }

    /// The column that holds the classes.
    pub(crate) fn by(&self) -> usize {
        self.by
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.kinds.memory_bytes()
            + self.classes.capacity() * size_of::<Class>()
            + self.frames.capacity() * size_of::<Frame>()
            + self.local.capacity() * 2
    }

    /// Decodes the first rows of a mini-block, whose classes are `codes`, into `out`. This is column `column` of the block
    /// for which `scratch` is kept.
    pub(crate) fn decode(
        &self,
        bytes: &[u8],
        (column, mini): (usize, usize),
        codes: &[u64],
        scratch: &mut ClassScratch,
        out: &mut Mini,
    ) -> Result<(), Damage> {
        let (start, end) = self.starts.get(mini).zip(self.starts.get(mini + 1)).ok_or(SHORT)?;
        // Reads may look past the mini-block, at bits they then mask out.
        let packed = bytes.get(self.packed_at + *start as usize..).ok_or(SHORT)?;
        let rows = self.rows.saturating_sub(mini * MINI_ROWS).min(codes.len());
        self.prepare(column, scratch);
        let mut bit = 0;
        for (slot, code) in out.iter_mut().zip(codes).take(rows) {
            let frame = scratch.frames.get_mut(*code as usize).ok_or(NO_CLASS)?;
            *slot = match packed.get(bit / 8..).and_then(|rest| rest.first_chunk::<8>()) {
                Some(chunk) if frame.state == FrameState::Fast => {
                    frame.at((u64::from_le_bytes(*chunk) >> (bit % 8)) & frame.mask)
                }
                _ => self.slow_value(packed, *code as usize, &mut bit, frame)?,
            };
            bit += frame.width as usize;
        }
        if bit > (end - start) as usize * 8 { Err(SHORT) } else { Ok(()) }
    }

    fn prepare(&self, column: usize, scratch: &mut ClassScratch) {
        if scratch.column != Some(column) {
            scratch.frames.clone_from(&self.frames);
            scratch.column = Some(column);
            return;
        }
        for local in &self.local {
            if let Some(frame) = scratch.frames.get_mut(usize::from(*local)) {
                frame.state = FrameState::Unread;
            }
        }
    }

    /// Reads a number that is not [`FrameState::Fast`]: the frame before it if need be, and then `bit` is moved behind that.
    fn slow_value(
        &self,
        packed: &[u8],
        code: usize,
        bit: &mut usize,
        frame: &mut Frame,
    ) -> Result<u64, Damage> {
        if frame.state == FrameState::Unread {
            let class = self.classes.get(code).ok_or(NO_CLASS)?;
            let base = class.base.wrapping_add(read_bits(packed, *bit, class.width));
            let width = read_bits(packed, *bit + class.width as usize, WIDTH_BITS) as u32;
            *frame = Frame::new(&self.kinds, base, width, class.one_kind);
            *bit += (class.width + WIDTH_BITS) as usize;
        }
        let number = read_bits(packed, *bit, frame.width);
        Ok(match frame.state {
            FrameState::Kinds => self.kinds.value(frame.at(number)),
            _ => frame.at(number),
        })
    }
}
