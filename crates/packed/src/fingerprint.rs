//! A fingerprint of a set of quads that does not depend on their order, so that permutations of one set agree.

use crate::order::Order;
use lode_base::checksum::fold;

/// Hash of one quad, given in the positions S, P, O, G. Part of the format.
#[inline]
pub fn quad_hash(quad: [u64; 4]) -> u64 {
    let [s, p, o, g] = quad;
    let sp = fold(s ^ 0xA076_1D64_78BD_642F, p ^ 0xE703_7ED1_A0B4_28DB);
    let og = fold(o ^ 0x8EBC_6AF0_9C88_C6E3, g ^ 0x5899_65CC_7537_4CC3);
    fold(sp ^ 0x1D8E_4E27_C47D_124F, og ^ 0xEB44_ACCA_B455_D165)
}

/// The wrapping sum of the hashes of rows given as columns of `order`.
pub fn fingerprint(order: Order, columns: [&[u64]; 4]) -> u64 {
    let mut by_position = [&[][..]; 4];
    for (column, position) in columns.into_iter().zip(order.positions()) {
        by_position[position as usize] = column;
    }
    let [s, p, o, g] = by_position;
    let mut sum = 0_u64;
    for (((&s, &p), &o), &g) in s.iter().zip(p).zip(o).zip(g) {
        sum = sum.wrapping_add(quad_hash([s, p, o, g]));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_in_all_orders() {
        let quads = [[1, 2, 3, 4], [9, 2, 3, 4], [4, 3, 2, 1], [0, 0, 0, 1_u64]];
        let sums: Vec<u64> = Order::ALL
            .into_iter()
            .map(|order| {
                let column = |c: usize| -> Vec<u64> {
                    quads.iter().rev().map(|q| q[order.positions()[c] as usize]).collect()
                };
                let columns: Vec<Vec<u64>> = (0..4).map(column).collect();
                fingerprint(order, [&columns[0], &columns[1], &columns[2], &columns[3]])
            })
            .collect();
        assert!(sums.iter().all(|s| *s == sums[0]), "{sums:?}");
        assert_ne!(quad_hash([1, 2, 3, 4]), quad_hash([2, 1, 3, 4]));
        assert_ne!(quad_hash([1, 2, 3, 4]), quad_hash([1, 2, 4, 3]));
    }
}
