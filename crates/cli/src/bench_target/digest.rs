//! What is kept of an answer to tell it from another one.

use std::fmt;

/// Rows, and a checksum that does not depend on their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digest {
    pub rows: u64,
    sum: u64,
}

impl Digest {
    /// Counts a row.
    pub fn add(&mut self, row: &str) {
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hash(row.as_bytes()));
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.sum)
    }
}

/// FNV-1a, and a mix of its bits at the end, because they are added up. The same everywhere and for good.
fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&str]) -> Digest {
        let mut digest = Digest::default();
        rows.iter().for_each(|row| digest.add(row));
        digest
    }

    #[test]
    fn order_is_nothing_and_number_is_something() {
        assert_eq!(of(&["a", "b", "a"]), of(&["a", "a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["a", "c"]));
        assert_ne!(of(&["a", "a"]), of(&["b", "b"]));
        assert_ne!(of(&["a"]), of(&["a", "a"]));
        assert_eq!(of(&["a"]).to_string().len(), 16);
    }
}
