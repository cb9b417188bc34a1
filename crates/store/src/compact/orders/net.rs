//! What insertions and deletions of the same quads leave.

/// Takes from both lists (sorted) what they say of the same quad: what is left is inserted or deleted once. False if a
/// quad is inserted or deleted more than once.
pub fn net<R: Copy + Ord>(inserted: &mut Vec<R>, deleted: &mut Vec<R>) -> bool {
    let (mut read, mut kept) = ([0; 2], [0; 2]);
    loop {
        let row = match (inserted.get(read[0]), deleted.get(read[1])) {
            (None, None) => break,
            (Some(row), None) | (None, Some(row)) => *row,
            (Some(a), Some(b)) => *a.min(b),
        };
        let counts = [(&*inserted, read[0]), (&*deleted, read[1])]
            .map(|(rows, from)| rows[from..].iter().take_while(|other| **other == row).count());
        read[0] += counts[0];
        read[1] += counts[1];
        if counts[0] == counts[1] {
            continue;
        }
        let (list, at) = if counts[0] > counts[1] { (&mut *inserted, 0) } else { (&mut *deleted, 1) };
        if counts[at] - counts[1 - at] != 1 {
            return false;
        }
        list[kept[at]] = row;
        kept[at] += 1;
    }
    inserted.truncate(kept[0]);
    deleted.truncate(kept[1]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::Row;

    #[test]
    fn what_is_inserted_and_deleted_is_neither() {
        let row = |number| [number, 0, 0, 0];
        let rows = |numbers: &[u64]| -> Vec<Row> { numbers.iter().map(|number| row(*number)).collect() };
        let mut inserted = rows(&[1, 2, 3, 3, 7]);
        let mut deleted = rows(&[2, 3, 5, 8, 8]);
        deleted.pop();
        assert!(net(&mut inserted, &mut deleted));
        assert_eq!(inserted, rows(&[1, 3, 7]));
        assert_eq!(deleted, rows(&[5, 8]));
        assert!(!net(&mut rows(&[1, 1, 2]), &mut rows(&[2])));
        assert!(!net(&mut rows(&[1]), &mut rows(&[2, 2])));
    }
}
