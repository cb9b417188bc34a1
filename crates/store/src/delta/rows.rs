//! Sorted rows of ids in memory: set operations that copy whole stretches where one side has few rows.

use lode_packed::Order;

/// A quad as the bits of its ids: S, P, O, G, or the columns of an order.
pub type Row = [u64; 4];

/// The columns of a quad (S, P, O, G) in an order.
pub fn column_order(quad: &Row, order: Order) -> Row {
    order.positions().map(|position| quad[position as usize])
}

/// The first of `rows[from..]` that is not before `row`, found by steps of growing width: cheap when it is near.
pub fn gallop(rows: &[Row], from: usize, row: &Row) -> usize {
    lode_base::gallop::gallop(from, rows.len(), |at| rows.get(at).is_some_and(|at| at < row))
}

/// The rows of either; there must be none that both have.
pub fn union(a: &[Row], b: &[Row]) -> Vec<Row> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut out = Vec::with_capacity(a.len() + b.len());
    let mut at = 0;
    for row in short {
        let next = gallop(long, at, row);
        out.extend_from_slice(&long[at..next]);
        out.push(*row);
        at = next;
    }
    out.extend_from_slice(&long[at..]);
    out
}

/// Of more new rows than one in so many, each place is passed anyway.
const FEW: usize = 16;

/// Adds rows (sorted; none of which is there) to sorted rows in place: what comes after them is moved once, and nothing is copied elsewhere.
pub fn insert_all(rows: &mut Vec<Row>, new: &[Row]) {
    let (mut old, mut left) = (rows.len(), new.len());
    if rows.capacity() - old < left {
        // Some room for the next ones, and not as much again.
        rows.reserve_exact(left.max(old / FEW));
    }
    rows.resize(old + left, Row::default());
    let is_few = left < old / FEW;
    while let Some(row) = left.checked_sub(1).and_then(|last| new.get(last)) {
        let start = match is_few {
            true => rows[..old].partition_point(|other| other < row),
            false => old - rows[..old].iter().rev().take_while(|other| *other > row).count(),
        };
        rows.copy_within(start..old, start + left);
        rows[start + left - 1] = *row;
        (old, left) = (start, left - 1);
    }
}

/// The rows of `a` that `b` does not have.
pub fn difference(a: &[Row], b: &[Row]) -> Vec<Row> {
    let mut out = Vec::with_capacity(a.len());
    let (mut at, mut at_b) = (0, 0);
    while let Some(row) = a.get(at) {
        at_b = gallop(b, at_b, row);
        match b.get(at_b) {
            None => {
                out.extend_from_slice(&a[at..]);
                break;
            }
            Some(other) if other == row => at += 1,
            Some(other) => {
                let next = gallop(a, at, other);
                out.extend_from_slice(&a[at..next]);
                at = next;
            }
        }
    }
    out
}
