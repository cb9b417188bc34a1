//! LEB128: small numbers in few bytes, seven bits each, lowest first.

/// The longest a `u64` gets.
pub const VARINT_BYTES_MAX: usize = 10;

/// Appends `value`.
#[inline]
pub fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// How many bytes [`write_varint`] appends.
#[inline]
pub const fn varint_bytes(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Takes a number off the front of `input`; `None` where it ends too early or does not fit 64 bits.
#[inline]
pub fn read_varint(input: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = input.split_first()?;
    if first < 0x80 {
        *input = rest;
        return Some(u64::from(first));
    }
    read_long(input)
}

fn read_long(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for (i, &byte) in input.iter().take(VARINT_BYTES_MAX).enumerate() {
        let bits = u64::from(byte & 0x7F);
        let shift = 7 * i as u32;
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            *input = input.get(i + 1..)?;
            return Some(value);
        }
    }
    None
}

/// Maps signed to unsigned so that numbers near zero stay small.
#[inline]
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Undoes [`zigzag`].
#[inline]
pub const fn unzigzag(value: u64) -> i64 {
    ((value >> 1) as i64) ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trip(values in proptest::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..50)) {
            let mut bytes = Vec::new();
            for &v in &values {
                let before = bytes.len();
                write_varint(&mut bytes, v);
                prop_assert_eq!(bytes.len() - before, varint_bytes(v));
            }
            let mut input = &bytes[..];
            for &v in &values {
                prop_assert_eq!(read_varint(&mut input), Some(v));
            }
            prop_assert!(input.is_empty());
        }

        #[test]
        fn signs(v in any::<i64>()) {
            prop_assert_eq!(unzigzag(zigzag(v)), v);
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            let mut input = &bytes[..];
            let _ = read_varint(&mut input);
        }
    }

    #[test]
    fn too_long_and_too_large() {
        assert_eq!(read_varint(&mut &[0x80_u8; 3][..]), None);
        assert_eq!(read_varint(&mut &[0xFF_u8; 11][..]), None);
        let mut ten = [0xFF_u8; 10];
        ten[9] = 1;
        assert_eq!(read_varint(&mut &ten[..]), Some(u64::MAX));
        ten[9] = 2;
        assert_eq!(read_varint(&mut &ten[..]), None);
    }
}
