//! The lines of a file that begin within a range of its bytes: what one of several who share the file reads. Ranges that follow each other have each
//! line once.

use lode_base::cancel::CancelToken;
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

/// Which line of a file the `line`th from a line start on is, from 1, and the byte where it begins; none where that cannot be read, or is called off.
pub fn place_in_file(file: &dyn ReadAt, start: u64, line: u64, cancel: &CancelToken) -> Option<(u64, u64)> {
    let (mut lines, mut wanted, mut from) = (0, line.saturating_sub(1), 0);
    let mut bytes = Vec::new();
    while from < start || wanted > 0 {
        cancel.check().ok()?;
        let until = if from < start { start } else { file.len() };
        bytes.resize(LOOK_BYTES.min(until - from) as usize, 0);
        if bytes.is_empty() {
            break;
        }
        file.read_exact_at(&mut bytes, from).ok()?;
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at as u64 + 1);
        if from < start {
            lines += ends.count() as u64;
            from += bytes.len() as u64;
            continue;
        }
        let taken = ends.take(usize::try_from(wanted).unwrap_or(usize::MAX));
        let (found, last) = taken.fold((0, 0), |(found, _), end| (found + 1, end));
        wanted -= found;
        from += if wanted == 0 { last } else { bytes.len() as u64 };
    }
    Some((lines + line, from))
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

#[cfg(test)]
mod tests {
    //! Places in whole files.
    use super::*;
    use lode_base::mem_vfs::MemVfs;
    use lode_base::vfs::Vfs;
    use std::path::Path;

    #[test]
    fn lines_of_a_piece_have_places_in_the_file() {
        let vfs = MemVfs::new();
        let lines: Vec<String> = (0..3000).map(|line| format!("{}\n", "x".repeat(line % 90))).collect();
        vfs.create(Path::new("/file")).unwrap().write_all(lines.concat().as_bytes()).unwrap();
        let file = vfs.open(Path::new("/file")).unwrap();
        let starts: Vec<u64> = lines
            .iter()
            .scan(0, |at, line| {
                let start = *at;
                *at += line.len() as u64;
                Some(start)
            })
            .collect();
        let cancel = CancelToken::default();
        for first in [0, 1, 2, 700, 2999] {
            for line in
                [first, first + 1, 1500, 2998, 2999].into_iter().filter(|line| (first..3000).contains(line))
            {
                let place = place_in_file(&*file, starts[first], (line - first) as u64 + 1, &cancel);
                assert_eq!(place, Some((line as u64 + 1, starts[line])), "{first} {line}");
            }
        }
        // A line that is behind the end, as of a file that has changed.
        assert_eq!(place_in_file(&*file, 0, 5000, &cancel), Some((5000, file.len())));
        cancel.cancel();
        assert_eq!(place_in_file(&*file, 0, 5, &cancel), None);
    }
}
