//! Any bytes as parts of the indexes of permutations and dictionaries, below their checksums: a part or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((blocks, bytes)) = data.split_first() else { return };
    lode_packed::hostile::decode_index_parts(usize::from(*blocks), bytes);
});
