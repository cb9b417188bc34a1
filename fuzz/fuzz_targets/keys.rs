//! Dictionary keys: any bytes decode to a term whose key they are, or are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_rdf::key::{Encoded, decode, encode};
use lode_rdf::value_id::Section;

fuzz_target!(|data: &[u8]| {
    for section in Section::ALL {
        let Ok(term) = decode(section, data) else { continue };
        let mut key = Vec::new();
        if let Encoded::Key(again) = encode(term.as_ref(), &mut key)
            && again == section
            && let Ok(same) = decode(section, &key)
        {
            assert_eq!(term, same);
        }
    }
});
