//! The headers of the members of blocked gzip: they tell how long their members are.

/// Bytes of a member that tell how long it is.
pub(super) const HEADER_BYTES: usize = 18;

/// The length of a member that tells it.
pub(super) fn member_bytes(header: &[u8]) -> Option<usize> {
    match header {
        [0x1F, 0x8B, 8, 4, _, _, _, _, _, _, 6, 0, b'B', b'C', 2, 0, low, high, ..] => {
            Some(usize::from(u16::from_le_bytes([*low, *high])) + 1)
        }
        _ => None,
    }
}
