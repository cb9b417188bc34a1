//! The description of a segment: any bytes decode to one that encodes the same, or are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_packed::SegmentMeta;

fuzz_target!(|data: &[u8]| {
    if let Ok(meta) = SegmentMeta::decode(data, "file") {
        assert_eq!(meta.encode(), data);
    }
});
