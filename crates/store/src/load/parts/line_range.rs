//! The lines of a file that begin within a range of its bytes: what one of several who share the file reads. Ranges that follow each other have each
//! line once.

use lode_base::vfs::ReadAt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

/// Bytes looked through at once for the end of a line.
const LOOK_BYTES: u64 = 64 << 10;

/// Reads them.
#[derive(Debug)]
pub struct LineRange {
    file: Arc<dyn ReadAt>,
    range: Range<u64>,
}

impl LineRange {
    /// The lines of a file that begin within a range.
    pub fn new(file: Arc<dyn ReadAt>, range: Range<u64>) -> io::Result<Self> {
        let start = line_start(&*file, range.start)?;
        let end = line_start(&*file, range.end)?;
        Ok(Self { file, range: start..end })
    }

    /// Where the first of them begins.
    pub fn start(&self) -> u64 {
        self.range.start
    }
}

/// The first place at or behind one where a line begins.
fn line_start(file: &dyn ReadAt, at: u64) -> io::Result<u64> {
    let end = file.len();
    if at == 0 {
        return Ok(0);
    }
    let mut from = at - 1;
    let mut bytes = Vec::new();
    while from < end {
        bytes.resize(LOOK_BYTES.min(end - from) as usize, 0);
        file.read_exact_at(&mut bytes, from)?;
        if let Some(found) = bytes.iter().position(|byte| *byte == b'\n') {
            return Ok(from + found as u64 + 1);
        }
        from += bytes.len() as u64;
    }
    Ok(end)
}

impl Read for LineRange {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.range.end.saturating_sub(self.range.start);
        let count = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let buf = buf.get_mut(..count).unwrap_or_default();
        self.file.read_exact_at(buf, self.range.start)?;
        self.file.will_read(self.range.start + count as u64, self.range.end);
        self.range.start += count as u64;
        Ok(count)
    }
}
