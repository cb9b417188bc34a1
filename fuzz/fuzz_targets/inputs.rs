//! Archives of every kind: any bytes give plain bytes or an error, the same as one stream and as members.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_rdf::input::{Input, MemberBatch, MemberDecoder};
use std::io::{self, Read};
use std::sync::Arc;

/// More plain bytes are not looked at.
const PLAIN_BYTES_MAX: u64 = 1 << 22;

fuzz_target!(|data: &[u8]| {
    let mut plain = Vec::new();
    let whole = Input::new(Box::new(data), Arc::default())
        .and_then(|input| input.take(PLAIN_BYTES_MAX).read_to_end(&mut plain));
    let Ok(Ok(members)) = Input::new(Box::new(data), Arc::default()).map(Input::into_members) else { return };
    let mut parts = Vec::new();
    let decode = || -> io::Result<()> {
        let (mut members, mut decoder) = (members, None);
        while (parts.len() as u64) < PLAIN_BYTES_MAX {
            match members.next_batch(Vec::new())? {
                MemberBatch::Members(batch) => {
                    let decoder = decoder.get_or_insert_with(|| MemberDecoder::new(&members));
                    parts.extend_from_slice(decoder.decode(&batch, Vec::new())?.as_bytes());
                }
                MemberBatch::Other(input) => drop(input.take(PLAIN_BYTES_MAX).read_to_end(&mut parts)?),
                MemberBatch::End => break,
            }
        }
        Ok(())
    };
    if decode().is_ok() && whole.is_ok() && (parts.len() as u64) < PLAIN_BYTES_MAX {
        assert_eq!(plain, parts);
    }
});
