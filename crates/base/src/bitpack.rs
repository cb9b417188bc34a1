//! Bit packing of unsigned numbers: groups of 128 in two interleaved lanes (the shape compilers turn into vector code),
//! and plain sequences of any length.
//!
//! A *group* of width `w` is `w` pairs of little-endian 64-bit words. Value `2r + l` is bits `r*w .. (r+1)*w` of the bit
//! string made of word `l` of each pair. A *sequence* holds value `i` in bits `i*w .. (i+1)*w`, lowest bit first.

/// Values in a group.
pub const GROUP: usize = 128;

/// Bits needed for `max` (0 for 0).
#[inline]
pub const fn width_of(max: u64) -> u32 {
    64 - max.leading_zeros()
}

/// Bytes of a group of this width.
#[inline]
pub const fn group_bytes(width: u32) -> usize {
    16 * width as usize
}

/// Bytes of a sequence.
#[inline]
pub const fn sequence_bytes(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

const fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

fn word_at(bytes: &[u8]) -> u64 {
    bytes.first_chunk::<8>().map_or(0, |b| u64::from_le_bytes(*b))
}

/// Calls `$row!(r)` for the 64 rows of a group, written out so that every shift is a constant.
macro_rules! each_row {
    ($row:ident) => {
        $row!(0);
        $row!(1);
        $row!(2);
        $row!(3);
        $row!(4);
        $row!(5);
        $row!(6);
        $row!(7);
        $row!(8);
        $row!(9);
        $row!(10);
        $row!(11);
        $row!(12);
        $row!(13);
        $row!(14);
        $row!(15);
        $row!(16);
        $row!(17);
        $row!(18);
        $row!(19);
        $row!(20);
        $row!(21);
        $row!(22);
        $row!(23);
        $row!(24);
        $row!(25);
        $row!(26);
        $row!(27);
        $row!(28);
        $row!(29);
        $row!(30);
        $row!(31);
        $row!(32);
        $row!(33);
        $row!(34);
        $row!(35);
        $row!(36);
        $row!(37);
        $row!(38);
        $row!(39);
        $row!(40);
        $row!(41);
        $row!(42);
        $row!(43);
        $row!(44);
        $row!(45);
        $row!(46);
        $row!(47);
        $row!(48);
        $row!(49);
        $row!(50);
        $row!(51);
        $row!(52);
        $row!(53);
        $row!(54);
        $row!(55);
        $row!(56);
        $row!(57);
        $row!(58);
        $row!(59);
        $row!(60);
        $row!(61);
        $row!(62);
        $row!(63);
    };
}

/// Calls `$call!(w)` with the width as a constant; `$other` where it is over 64.
macro_rules! for_width {
    ($width:expr, $call:ident, $other:expr) => {
        for_width!(
            $width, $call, $other,
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
            28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52,
            53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64
        )
    };
    ($width:expr, $call:ident, $other:expr, $($w:literal),*) => {
        match $width {
            $($w => $call!($w),)*
            _ => $other,
        }
    };
}

#[inline]
fn pack_width<const W: usize>(values: &[u64; GROUP], out: &mut Vec<u8>) {
    let mask = mask(W as u32);
    let mut words = [[0_u64; 2]; W];
    macro_rules! row {
        ($r:literal) => {{
            let (word, shift) = ($r * W / 64, $r * W % 64);
            let (a, b) = (values[2 * $r] & mask, values[2 * $r + 1] & mask);
            words[word][0] |= a << shift;
            words[word][1] |= b << shift;
            if shift + W > 64 {
                words[word + 1][0] = a >> (64 - shift);
                words[word + 1][1] = b >> (64 - shift);
            }
        }};
    }
    each_row!(row);
    let start = out.len();
    out.resize(start + 16 * W, 0);
    let places = out.get_mut(start..).unwrap_or_default();
    for (place, [a, b]) in places.chunks_exact_mut(16).zip(words) {
        let (first, second) = place.split_at_mut(8);
        first.copy_from_slice(&a.to_le_bytes());
        second.copy_from_slice(&b.to_le_bytes());
    }
}

/// Appends a group. Bits of the values above `width` are dropped.
pub fn pack_group(values: &[u64; GROUP], width: u32, out: &mut Vec<u8>) {
    macro_rules! pack {
        ($w:literal) => {
            pack_width::<$w>(values, out)
        };
    }
    for_width!(width, pack, ());
}

#[inline]
fn unpack_width<const W: usize>(bytes: &[u8], out: &mut [u64; GROUP]) -> Option<()> {
    let bytes = bytes.get(..16 * W)?;
    let mut words = [[0_u64; 2]; W];
    for (pair, chunk) in words.iter_mut().zip(bytes.chunks_exact(16)) {
        *pair = [word_at(chunk), word_at(&chunk[8..])];
    }
    let mask = mask(W as u32);
    macro_rules! row {
        ($r:literal) => {{
            let (word, shift) = ($r * W / 64, $r * W % 64);
            let [mut a, mut b] = words[word];
            a >>= shift;
            b >>= shift;
            if shift + W > 64 {
                let [c, d] = words[word + 1];
                a |= c << (64 - shift);
                b |= d << (64 - shift);
            }
            out[2 * $r] = a & mask;
            out[2 * $r + 1] = b & mask;
        }};
    }
    each_row!(row);
    Some(())
}

/// Unpacks a group from the front of `bytes`; `None` where they are too few or the width is over 64.
pub fn unpack_group(bytes: &[u8], width: u32, out: &mut [u64; GROUP]) -> Option<()> {
    macro_rules! unpack {
        ($w:literal) => {
            unpack_width::<$w>(bytes, out)
        };
    }
    if width == 0 {
        *out = [0; GROUP];
        return Some(());
    }
    for_width!(width, unpack, None)
}

/// One value of a group, without unpacking it; 0 where the bytes are too few.
#[inline]
pub fn group_value(bytes: &[u8], width: u32, index: usize) -> u64 {
    let bit = (index / 2) * width as usize;
    let (word, shift, lane) = (bit / 64, bit as u32 % 64, index % 2);
    let at = |word: usize| bytes.get(16 * word + 8 * lane..).map_or(0, word_at);
    let mut value = at(word) >> shift;
    if shift + width > 64 {
        value |= at(word + 1) << (64 - shift);
    }
    value & mask(width)
}

/// Appends a sequence. Bits of the values above `width` are dropped.
pub fn pack_sequence(values: &[u64], width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let mask = mask(width);
    let (mut pending, mut bits) = (0_u128, 0);
    for value in values {
        pending |= u128::from(value & mask) << bits;
        bits += width;
        if bits >= 64 {
            out.extend_from_slice(&(pending as u64).to_le_bytes());
            pending >>= 64;
            bits -= 64;
        }
    }
    let rest = (pending as u64).to_le_bytes();
    out.extend_from_slice(&rest[..bits.div_ceil(8) as usize]);
}

/// `width` bits from bit `bit` on; bytes past the end count as zeros.
#[inline]
pub fn read_bits(bytes: &[u8], bit: usize, width: u32) -> u64 {
    let (start, shift) = (bit / 8, bit as u32 % 8);
    let Some(rest) = bytes.get(start..) else { return 0 };
    if let Some(chunk) = rest.first_chunk::<8>()
        && shift + width <= 64
    {
        return (u64::from_le_bytes(*chunk) >> shift) & mask(width);
    }
    read_bits_slow(rest, shift, width)
}

fn read_bits_slow(rest: &[u8], shift: u32, width: u32) -> u64 {
    let mut chunk = [0_u8; 16];
    let count = rest.len().min(16);
    chunk[..count].copy_from_slice(&rest[..count]);
    ((u128::from_le_bytes(chunk) >> shift) as u64) & mask(width)
}

/// Unpacks a sequence; `None` where the bytes are too few or the width is over 64.
pub fn unpack_sequence(bytes: &[u8], width: u32, out: &mut [u64]) -> Option<()> {
    if width > 64 || bytes.len() < sequence_bytes(out.len(), width) {
        return None;
    }
    if width == 0 {
        out.fill(0);
        return Some(());
    }
    let mut bit = 0;
    for value in out {
        *value = read_bits(bytes, bit, width);
        bit += width as usize;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spread(seed: u64, width: u32) -> [u64; GROUP] {
        std::array::from_fn(|i| {
            let x = (seed ^ i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (x ^ (x >> 29)) & mask(width)
        })
    }

    #[test]
    fn groups_of_every_width() {
        for width in 0..=64 {
            let values = spread(7, width);
            let mut bytes = Vec::new();
            pack_group(&values, width, &mut bytes);
            assert_eq!(bytes.len(), group_bytes(width));
            let mut out = [1; GROUP];
            unpack_group(&bytes, width, &mut out).unwrap();
            assert_eq!(out, values, "width {width}");
            for (i, value) in values.iter().enumerate() {
                assert_eq!(group_value(&bytes, width, i), *value, "width {width} value {i}");
            }
            if width > 0 {
                assert!(unpack_group(&bytes[1..], width, &mut out).is_none());
            }
        }
        assert!(unpack_group(&[0; 2000], 65, &mut [0; GROUP]).is_none());
    }

    #[test]
    fn golden_group() {
        let values: [u64; GROUP] = std::array::from_fn(|i| i as u64 % 4);
        let mut bytes = Vec::new();
        pack_group(&values, 2, &mut bytes);
        // Lane 0 holds 0, 2, 0, 2, ...; lane 1 holds 1, 3, 1, 3, ...
        let mut expected = [[0x88_u8; 8], [0xDD; 8]].concat();
        expected.extend_from_within(..);
        assert_eq!(bytes, expected);
    }

    proptest! {
        #[test]
        fn sequences(width in 0_u32..=64, raw in proptest::collection::vec(any::<u64>(), 0..300)) {
            let values: Vec<u64> = raw.iter().map(|v| v & mask(width)).collect();
            let mut bytes = Vec::new();
            pack_sequence(&raw, width, &mut bytes);
            prop_assert_eq!(bytes.len(), sequence_bytes(values.len(), width));
            let mut out = vec![9; values.len()];
            unpack_sequence(&bytes, width, &mut out).unwrap();
            prop_assert_eq!(out, values);
        }
    }
}
