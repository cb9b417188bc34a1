//! The payload of a log's record: any bytes decode to changes that come back from what they encode to, or are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_store::log::{Changes, LogRecord};
use std::path::Path;

fn decode(payload: &[u8]) -> Option<Changes> {
    Changes::decode(&LogRecord { sequence: 0, offset: 0, payload }, Path::new("log")).ok()
}

fuzz_target!(|data: &[u8]| {
    if let Some(changes) = decode(data) {
        let mut payload = Vec::new();
        changes.encode(&mut payload);
        assert_eq!(decode(&payload), Some(changes));
    }
});
