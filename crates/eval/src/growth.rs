//! How large vectors grow. What an operator holds is accounted once it is there, so a vector must not become much larger at once: one that
//! doubles is, with the old one that is copied, three times what was accounted.

/// Vectors of fewer bytes double.
const BYTES_SMALL: usize = 1 << 20;

/// Makes room for `more` values: in a large vector for a quarter more than it has, at least.
#[inline]
pub fn make_room<T>(values: &mut Vec<T>, more: usize) {
    if values.capacity() - values.len() < more {
        grow(values, more);
    }
}

#[cold]
fn grow<T>(values: &mut Vec<T>, more: usize) {
    if values.len().saturating_mul(size_of::<T>()) < BYTES_SMALL {
        values.reserve(more);
    } else {
        values.reserve_exact(more.max(values.len() / 4));
    }
}

/// The room of columns with room for `room` rows of so many bytes, once they grow for `rows`: twice as much where that is little, else a
/// quarter more.
pub fn room_for(rows: usize, room: usize, row_bytes: usize) -> usize {
    let is_small = room.saturating_mul(row_bytes) < BYTES_SMALL;
    rows.max(if is_small { room * 2 } else { room + room / 4 })
}

#[cfg(test)]
mod tests {
    use super::{BYTES_SMALL, make_room, room_for};

    #[test]
    fn room_doubles_while_it_is_little() {
        assert_eq!(room_for(10, 0, 8), 10);
        assert_eq!(room_for(101, 100, 8), 200);
        assert_eq!(room_for(BYTES_SMALL / 8 + 1, BYTES_SMALL / 8, 8), BYTES_SMALL / 8 * 5 / 4);
    }

    #[test]
    fn small_ones_double_and_large_ones_grow_by_a_quarter() {
        let mut values: Vec<u64> = Vec::new();
        let (mut grown, mut last) = (0, 0);
        for number in 0..4_000_000 {
            make_room(&mut values, 1);
            values.push(number);
            if values.capacity() > last {
                assert!(
                    last < 1 << 17 || values.capacity() <= last + last / 4 + 1,
                    "{last} {}",
                    values.capacity()
                );
                (grown, last) = (grown + 1, values.capacity());
            }
        }
        assert!(grown < 50, "{grown}");
        let mut wide: Vec<u64> = vec![0; 1 << 18];
        make_room(&mut wide, 1 << 20);
        assert!(wide.capacity() >= (1 << 20) + (1 << 18));
    }
}
