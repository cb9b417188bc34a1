//! Places in a text: in UTF-16 code units outside, in bytes inside.

/// The byte at which a place is; the end for places behind it. A place inside of a character is before it.
pub(crate) fn byte_at(text: &str, position: usize) -> usize {
    let mut units = 0;
    for (byte, c) in text.char_indices() {
        if units + c.len_utf16() > position {
            return byte;
        }
        units += c.len_utf16();
    }
    text.len()
}

/// The place of a byte.
pub(crate) fn position_of(text: &str, byte: usize) -> usize {
    let mut end = byte.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).map_or(0, |before| before.chars().map(char::len_utf16).sum())
}

#[cfg(test)]
mod tests {
    use super::{byte_at, position_of};

    #[test]
    fn places_and_bytes() {
        let text = "a\u{e9}\u{1F600}b";
        for (position, byte) in [(0, 0), (1, 1), (2, 3), (4, 7), (5, 8)] {
            assert_eq!((byte_at(text, position), position_of(text, byte)), (byte, position));
        }
        assert_eq!((byte_at(text, 3), byte_at(text, 99), position_of(text, 99)), (3, 8, 5));
        assert_eq!(position_of(text, 5), 2, "inside of a character");
    }
}
