//! Compression of dictionary text by a table of symbols (FSST: Boncz, Neumann, Leis, VLDB 2020). A symbol is 1 to 8 bytes that
//! come often; there are up to 255, and a code is one byte. Code 255 says that the byte after it stands for itself. Decoding
//! needs nothing but the table, so the parts of a text can be encoded apart and at the same time.

mod encoder;
mod train;

use crate::bytes::Reader;
use crate::error::Damage;
pub(crate) use encoder::Encoder;
pub(crate) use train::Trainer;

/// The code before a byte that stands for itself.
const ESCAPE: u8 = 255;
/// Most symbols of a table.
const SYMBOLS_MAX: usize = ESCAPE as usize;
/// The longest symbol.
const SYMBOL_BYTES_MAX: usize = 8;

/// Some bytes that one code stands for; the first is the lowest, those beyond the length are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    bytes: u64,
    len: usize,
}

impl Symbol {
    fn of_byte(byte: u8) -> Self {
        Self { bytes: u64::from(byte), len: 1 }
    }

    /// Both, one after the other, cut at the longest that a symbol can be.
    fn then(self, next: Self) -> Self {
        if self.len == SYMBOL_BYTES_MAX {
            return self;
        }
        let bytes = self.bytes | next.bytes << (8 * self.len);
        Self { bytes, len: (self.len + next.len).min(SYMBOL_BYTES_MAX) }
    }
}

/// What each code stands for: enough to decode.
#[derive(Debug, Clone)]
pub(crate) struct SymbolTable {
    symbols: [u64; 256],
    /// 0 for codes that stand for nothing.
    lens: [u8; 256],
}

impl Default for SymbolTable {
    fn default() -> Self {
        Self { symbols: [0; 256], lens: [0; 256] }
    }
}

impl SymbolTable {
    /// A table of at most [`SYMBOLS_MAX`] symbols, numbered in their order.
    fn new(symbols: &[Symbol]) -> Self {
        let mut table = Self::default();
        let slots = table.symbols.iter_mut().zip(&mut table.lens);
        for ((bytes, len), symbol) in slots.zip(symbols.iter().take(SYMBOLS_MAX)) {
            (*bytes, *len) = (symbol.bytes, symbol.len as u8);
        }
        table
    }

    fn symbols(&self) -> impl Iterator<Item = Symbol> {
        let symbols = self.symbols.iter().zip(&self.lens).take_while(|(_, len)| **len > 0);
        symbols.map(|(bytes, len)| Symbol { bytes: *bytes, len: usize::from(*len) })
    }

    /// Bytes that [`SymbolTable::write`] appends.
    pub(crate) fn stored_bytes(&self) -> usize {
        self.symbols().map(|symbol| 1 + symbol.len).sum::<usize>() + 1
    }

    /// Appends the table: number of symbols, lengths, bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let count = self.symbols().count();
        out.push(count as u8);
        out.extend_from_slice(&self.lens[..count]);
        for symbol in self.symbols() {
            out.extend_from_slice(&symbol.bytes.to_le_bytes()[..symbol.len]);
        }
    }

    /// Reads what [`SymbolTable::write`] wrote.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Damage> {
        let count = usize::from(reader.u8()?);
        let lens = reader.take(count)?;
        let mut table = Self::default();
        for (code, &len) in lens.iter().enumerate() {
            if len == 0 || usize::from(len) > SYMBOL_BYTES_MAX {
                return Err(Damage("a symbol of a dictionary has no length that there is"));
            }
            let mut bytes = [0; 8];
            bytes[..usize::from(len)].copy_from_slice(reader.take(usize::from(len))?);
            (table.symbols[code], table.lens[code]) = (u64::from_le_bytes(bytes), len);
        }
        Ok(table)
    }

    /// No text that these codes stand for is longer.
    pub(crate) fn raw_bytes_max(codes: &[u8]) -> usize {
        codes.len().saturating_mul(SYMBOL_BYTES_MAX)
    }

    /// Decodes into `raw`, which has to become exactly full.
    pub(crate) fn decode(&self, packed: &[u8], raw: &mut [u8]) -> Result<(), Damage> {
        let (mut codes, mut at) = (packed, 0);
        // Eight codes at a time while there is room for eight of the longest symbols.
        while let Some((eight, rest)) = codes.split_first_chunk::<8>() {
            let Some(room) = raw.get_mut(at..).and_then(|room| room.first_chunk_mut::<64>()) else { break };
            if has_escape(u64::from_le_bytes(*eight)) {
                let escape = eight.iter().position(|code| *code == ESCAPE).unwrap_or(0);
                let mut end = 0;
                for code in &eight[..escape] {
                    end = self.put(*code, room, end);
                }
                let Some(literal) = codes.get(escape + 1) else { break };
                room[end] = *literal;
                at += end + 1;
                codes = &codes[escape + 2..];
                continue;
            }
            let mut end = 0;
            for code in eight {
                end = self.put(*code, room, end);
            }
            at += end;
            codes = rest;
        }
        self.decode_slowly(codes, raw.get_mut(at..).unwrap_or_default())
    }

    /// Writes eight bytes of a symbol at `end`; returns where it really ends.
    #[inline]
    fn put(&self, code: u8, room: &mut [u8; 64], end: usize) -> usize {
        // At most seven symbols of eight bytes are before; the mask only tells the compiler so.
        let end = end & 63;
        if let Some(place) = room.get_mut(end..end + 8) {
            place.copy_from_slice(&self.symbols[usize::from(code)].to_le_bytes());
        }
        end + usize::from(self.lens[usize::from(code)])
    }

    /// Decodes where the end is near.
    fn decode_slowly(&self, codes: &[u8], raw: &mut [u8]) -> Result<(), Damage> {
        const WRONG: Damage = Damage("a block does not have its length before compression");
        let mut codes = codes.iter();
        let mut room = raw;
        while let Some(&code) = codes.next() {
            let literal;
            let symbol = self.symbols[usize::from(code)].to_le_bytes();
            let bytes = if code == ESCAPE {
                literal = [*codes.next().ok_or(WRONG)?];
                &literal[..]
            } else {
                &symbol[..usize::from(self.lens[usize::from(code)])]
            };
            let (place, rest) = room.split_at_mut_checked(bytes.len()).ok_or(WRONG)?;
            place.copy_from_slice(bytes);
            room = rest;
        }
        if room.is_empty() { Ok(()) } else { Err(WRONG) }
    }
}

/// Whether one of eight codes is 255.
#[inline]
fn has_escape(codes: u64) -> bool {
    const LOW: u64 = 0x0101_0101_0101_0101;
    // The usual search for a zero byte, in the complement.
    (!codes).wrapping_sub(LOW) & codes & (LOW << 7) != 0
}

#[cfg(test)]
mod tests;
