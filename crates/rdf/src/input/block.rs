//! Plain bytes on their way from a decoder to whoever cuts them into pieces: handed over whole, not copied.

use std::io::{self, Read};
use std::ops::Range;

/// Plain bytes of a block: what a processor's own cache holds.
pub(super) const BLOCK_BYTES: usize = 256 << 10;

/// A buffer, and the part of it that holds bytes not yet taken.
#[derive(Debug, Default)]
pub struct Block {
    buffer: Vec<u8>,
    range: Range<usize>,
}

impl Block {
    pub(super) fn new(buffer: Vec<u8>, range: Range<usize>) -> Self {
        Self { buffer, range }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.buffer.get(self.range.clone()).unwrap_or_default()
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The buffer, to be used again.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}

impl Read for Block {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.as_bytes().read(buffer)?;
        self.range.start += read;
        Ok(read)
    }
}
