//! Hilbert's curve through the cells of a plane, and sides of boxes in few bits: a box is a row of 128 bits that sorts along the curve.

/// Bits of a side.
pub const SIDE_BITS: u32 = 14;
const MANTISSA_BITS: u32 = SIDE_BITS - 5;

/// The place of a cell on the curve.
pub fn index(x: u32, y: u32) -> u64 {
    let (mut x, mut y, mut at) = (x, y, 0_u64);
    for bit in (0..u32::BITS).rev() {
        let (right, top) = (x >> bit & 1, y >> bit & 1);
        at = at << 2 | u64::from((3 * right) ^ top);
        turn(&mut x, &mut y, right, top);
    }
    at
}

/// The cell at a place on the curve.
pub fn cell(at: u64) -> (u32, u32) {
    let (mut x, mut y) = (0_u32, 0_u32);
    for bit in 0..u32::BITS {
        let quarter = (at >> (2 * bit)) & 3;
        let right = u32::from(quarter >= 2);
        let top = u32::from(quarter == 1 || quarter == 2);
        // Only the bits that are known so far are turned.
        let known = (1_u64 << bit) - 1;
        if top == 0 {
            if right == 1 {
                (x, y) = (!x, !y);
            }
            (x, y) = (y, x);
        }
        #[expect(clippy::cast_possible_truncation, reason = "fewer than 32 bits")]
        let known = known as u32;
        (x, y) = (x & known | right << bit, y & known | top << bit);
    }
    (x, y)
}

/// Turns a quarter of the plane as the curve goes through it.
fn turn(x: &mut u32, y: &mut u32, right: u32, top: u32) {
    if top == 0 {
        if right == 1 {
            (*x, *y) = (!*x, !*y);
        }
        (*x, *y) = (*y, *x);
    }
}

/// A side in few bits: as long, or longer by less than a part in two hundred.
pub fn pack_side(side: u32) -> u16 {
    let exponent = (u32::BITS - side.leading_zeros()).saturating_sub(MANTISSA_BITS);
    let mut mantissa = u64::from(side).div_ceil(1 << exponent);
    let mut exponent = exponent;
    if mantissa >> MANTISSA_BITS > 0 {
        mantissa = mantissa.div_ceil(2);
        exponent += 1;
    }
    #[expect(clippy::cast_possible_truncation, reason = "14 bits")]
    let packed = (exponent << MANTISSA_BITS | mantissa as u32) as u16;
    packed
}

/// The side.
pub fn unpack_side(packed: u16) -> u32 {
    let (exponent, mantissa) =
        (u32::from(packed) >> MANTISSA_BITS, u64::from(packed) & ((1 << MANTISSA_BITS) - 1));
    u32::try_from(mantissa << exponent).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{SIDE_BITS, cell, index, pack_side, unpack_side};

    #[test]
    fn cells_come_back_and_neighbours_on_the_curve_are_neighbours() {
        let numbers = [0, 1, 2, 3, 77, 1 << 16, (1 << 31) - 1, 1 << 31, u32::MAX - 1, u32::MAX];
        for x in numbers {
            for y in numbers {
                let at = index(x, y);
                assert_eq!(cell(at), (x, y), "{x} {y}");
                if let Some(next) = at.checked_add(1) {
                    let (a, b) = cell(next);
                    assert_eq!(a.abs_diff(x) + b.abs_diff(y), 1, "after {x} {y}");
                }
            }
        }
    }

    #[test]
    fn sides_are_as_long_or_little_longer() {
        let near = |n: u32| [n.saturating_sub(1), n, n.saturating_add(1)];
        for side in (0..32).flat_map(|bit| near(1 << bit)).chain([u32::MAX, 511, 513, 1023, 123_456_789]) {
            let packed = pack_side(side);
            let back = unpack_side(packed);
            assert!(packed >> SIDE_BITS == 0 && back >= side, "{side} {back}");
            assert!(u64::from(back) <= u64::from(side) + u64::from(side) / 200, "{side} {back}");
        }
    }
}
