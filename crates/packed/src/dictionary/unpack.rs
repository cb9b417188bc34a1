//! Decompression of blocks. Making a zstd context takes as long as decompressing a block, so each thread keeps one.

use std::cell::RefCell;
use std::io;
use zstd::bulk::Decompressor;

thread_local! {
    static CONTEXT: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Decompresses a zstd frame into `raw`; returns how many bytes there were.
pub(super) fn decompress(frame: &[u8], raw: &mut [u8]) -> io::Result<usize> {
    CONTEXT.with_borrow_mut(|context| {
        let context = match context {
            Some(context) => context,
            none => none.insert(Decompressor::new()?),
        };
        context.decompress_to_buffer(frame, raw)
    })
}
