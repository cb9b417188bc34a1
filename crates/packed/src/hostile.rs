//! Decoders below the checksums, for fuzz targets: what they get here, a reader gets only from a file that was made to deceive.

/// Decodes bytes as each part of an index that there is, as if it were of `blocks` blocks.
pub fn decode_index_parts(blocks: usize, bytes: &[u8]) {
    crate::dictionary::decode_index_parts(blocks, bytes);
    crate::permutation::decode_index_parts(blocks, bytes);
}

#[cfg(test)]
mod tests {
    use super::decode_index_parts;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_decode_or_fail(blocks in 0..600_usize, bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            decode_index_parts(blocks, &bytes);
        }
    }
}
