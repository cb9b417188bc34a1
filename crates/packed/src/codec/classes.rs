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
use super::tags::CLASSES;
use super::{ColumnValues, Mini};
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

    #[inline]
    fn add(&mut self, code: u64) {
        self.min = self.min.min(code);
        self.max = self.max.max(code);
        self.count += 1;
    }

    fn width(&self) -> u32 {
        width_of(self.max.saturating_sub(self.min))
    }
}

/// What is known of a class while a column is measured.
#[derive(Debug, Clone, Copy)]
struct Measure {
    all: Bounds,
    /// Mini-blocks that have the class, and the bits its numbers take with a width of their own in each.
    minis: u32,
    local_bits: u64,
    local: bool,
}

impl Measure {
    const EMPTY: Self = Self { all: Bounds::EMPTY, minis: 0, local_bits: 0, local: false };

    /// Takes in what a mini-block has of the class.
    fn add(&mut self, here: &Bounds) {
        self.all.min = self.all.min.min(here.min);
        self.all.max = self.all.max.max(here.max);
        self.all.count += here.count;
        self.minis += 1;
        self.local_bits += u64::from(here.count * here.width());
    }

    /// Decides how the class is packed; returns the bits it takes.
    fn decide(&mut self) -> u64 {
        let width = self.all.width();
        let (plain, local) = (
            u64::from(self.all.count * width),
            self.local_bits + u64::from(self.minis * (width + WIDTH_BITS)),
        );
        self.local = local < plain;
        plain.min(local)
    }
}

/// A class inside one mini-block.
#[derive(Debug, Clone, Copy)]
struct Here {
    class: u16,
    bounds: Bounds,
}

/// How the next number of a class is packed.
#[derive(Debug, Clone, Copy)]
struct Packing {
    base: u64,
    width: u32,
    /// For local classes, the mini-block that base and width are of, from 1.
    mini: u32,
}

const NOT_LOCAL: u32 = u32::MAX;

/// Encodes columns by class; keeps its buffers between calls.
#[derive(Debug, Default)]
pub(crate) struct ClassesEncoder {
    kinds: Kinds,
    codes: Vec<u64>,
    classes: Vec<Measure>,
    /// The classes of each mini-block in the order in which they appear there; once classes are decided, the local ones only.
    here: Vec<Here>,
    /// Where in `here` each class was last.
    last_here: Vec<u32>,
    packings: Vec<Packing>,
    packed: Vec<u8>,
    lengths: Vec<usize>,
}

/// The most bytes of a mini-block: in each row a number, and a base and width before it; and room to write in words.
const MINI_BYTES_MAX: usize = MINI_ROWS * (62 + 6 + 62) / 8 + 16;
/// Wider numbers are written in two pieces.
const PIECE_BITS_MAX: u32 = 56;

/// Writes bits, lowest first.
struct BitWriter<'a> {
    out: &'a mut [u8; MINI_BYTES_MAX],
    at: usize,
    pending: u64,
    bits: u32,
}

impl BitWriter<'_> {
    #[inline]
    fn write(&mut self, value: u64, width: u32) {
        if width > PIECE_BITS_MAX {
            self.write_piece(value & 0xFFFF_FFFF, 32);
            self.write_piece(value >> 32, width - 32);
        } else {
            self.write_piece(value, width);
        }
    }

    #[inline]
    fn write_piece(&mut self, value: u64, width: u32) {
        self.pending |= value << self.bits;
        self.bits += width;
        if let Some(place) = self.out.get_mut(self.at..self.at + 8) {
            place.copy_from_slice(&self.pending.to_le_bytes());
        }
        self.at += self.bits as usize / 8;
        self.pending >>= self.bits & !7;
        self.bits &= 7;
    }

    fn bytes(&self) -> usize {
        self.at + usize::from(self.bits > 0)
    }
}

impl ClassesEncoder {
    /// Takes in a column whose rows have the classes `classes`, numbers below `class_count`. Returns how many bytes
    /// [`ClassesEncoder::encode`] then needs, or `None` where it cannot encode this column.
    pub(super) fn prepare(
        &mut self,
        column: &ColumnValues<'_>,
        classes: &[u16],
        class_count: usize,
    ) -> Option<usize> {
        self.kinds = Kinds::build(column, &mut self.codes).filter(|kinds| kinds.codes() < CODES_MAX)?;
        self.measure(classes, class_count);
        let bits: u64 = self.classes.iter_mut().map(Measure::decide).sum();
        let table = class_count + sequence_bytes(class_count, width_of(self.kinds.codes()));
        let minis = 2 * column.rows.div_ceil(MINI_ROWS);
        Some(self.kinds.bytes() + table + minis + bits.div_ceil(8) as usize)
    }

    fn measure(&mut self, classes: &[u16], class_count: usize) {
        self.here.clear();
        self.last_here.clear();
        self.last_here.resize(class_count, u32::MAX);
        for (classes, codes) in classes.chunks(MINI_ROWS).zip(self.codes.chunks(MINI_ROWS)) {
            let start = self.here.len();
            for (class, code) in classes.iter().zip(codes) {
                let last = &mut self.last_here[usize::from(*class)];
                match self.here.get_mut(*last as usize).filter(|_| *last as usize >= start) {
                    Some(here) => here.bounds.add(*code),
                    None => {
                        *last = self.here.len() as u32;
                        let bounds = Bounds { min: *code, max: *code, count: 1 };
                        self.here.push(Here { class: *class, bounds });
                    }
                }
            }
        }
        self.classes.clear();
        self.classes.resize(class_count, Measure::EMPTY);
        for here in &self.here {
            self.classes[usize::from(here.class)].add(&here.bounds);
        }
    }

    /// Appends the column last prepared, whose rows have the classes `classes` in column `by`.
    pub(super) fn encode(&mut self, by: usize, classes: &[u16], out: &mut Vec<u8>) {
        self.pack(classes);
        out.extend_from_slice(&[CLASSES, by as u8]);
        self.kinds.encode(out);
        write_varint(out, self.classes.len() as u64);
        for class in &self.classes {
            let (min, max) = (class.all.min, class.all.max);
            let one_kind = self.kinds.range(min).start == self.kinds.range(max).start;
            let marks = if class.local { LOCAL } else { 0 } | if one_kind { ONE_KIND } else { 0 };
            out.push(class.all.width() as u8 | marks);
        }
        let bases: Vec<u64> = self.classes.iter().map(|class| class.all.min).collect();
        pack_sequence(&bases, width_of(self.kinds.codes()), out);
        for length in &self.lengths {
            out.extend_from_slice(&(*length as u16).to_le_bytes());
        }
        out.extend_from_slice(&self.packed);
    }

    fn pack(&mut self, classes: &[u16]) {
        self.packed.clear();
        self.lengths.clear();
        let all = &self.classes;
        self.here.retain(|here| all[usize::from(here.class)].local);
        self.packings.clear();
        self.packings.extend(all.iter().map(|class| {
            let mini = if class.local { 0 } else { NOT_LOCAL };
            Packing { base: class.all.min, width: class.all.width(), mini }
        }));
        let mut here = self.here.iter();
        let mut buffer = [0; MINI_BYTES_MAX];
        for (mini, (classes, codes)) in (1..).zip(classes.chunks(MINI_ROWS).zip(self.codes.chunks(MINI_ROWS)))
        {
            let mut writer = BitWriter { out: &mut buffer, at: 0, pending: 0, bits: 0 };
            for (class, code) in classes.iter().zip(codes) {
                let packing = &mut self.packings[usize::from(*class)];
                if packing.mini != mini && packing.mini != NOT_LOCAL {
                    let Some(Here { class, bounds }) = here.next() else { return };
                    let all = &self.classes[usize::from(*class)].all;
                    *packing = Packing { base: bounds.min, width: bounds.width(), mini };
                    writer.write(bounds.min - all.min, all.width());
                    writer.write(u64::from(packing.width), WIDTH_BITS);
                }
                writer.write(code - packing.base, packing.width);
            }
            let bytes = writer.bytes();
            self.lengths.push(bytes);
            self.packed.extend_from_slice(&buffer[..bytes]);
        }
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
        let mut end = 0_u32;
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
        if bit > end.saturating_sub(*start) as usize * 8 { Err(SHORT) } else { Ok(()) }
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
