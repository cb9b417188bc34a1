//! A piece of a compressed file of lines: its frames from one place to another, and of the lines in them those that begin behind the first line end and not
//! behind the first line end after the last frame. Pieces that follow each other have each line once, although nobody knows what a frame begins with before
//! it is decoded.

use lode_base::vfs::ReadAt;
use lode_rdf::input::Input;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

/// What a statement, or what may be before one, begins with in the formats of lines.
pub const LINE_STARTS: &[u8] = b"<_# \t\r\n";

/// Reads the lines.
pub struct FrameRange {
    /// The frames of the piece, then what comes behind.
    inputs: [BufReader<Input<'static>>; 2],
    /// What comes behind is read to its first line end.
    is_behind: bool,
    has_ended: bool,
}

/// Whether what a compressed file holds begins as statements on lines do.
pub fn holds_text(file: &Arc<dyn ReadAt>) -> io::Result<bool> {
    let bytes = Bytes { file: Arc::clone(file), range: 0..file.len() };
    let mut first = Vec::new();
    Input::new(Box::new(bytes), Arc::default())?.take(1).read_to_end(&mut first)?;
    Ok(first.iter().all(|byte| LINE_STARTS.contains(byte)))
}

impl FrameRange {
    /// The lines of the frames from one place to another.
    pub fn new(file: &Arc<dyn ReadAt>, range: Range<u64>) -> io::Result<Self> {
        let open = |range: Range<u64>| {
            let bytes = Bytes { file: Arc::clone(file), range };
            Ok::<_, io::Error>(BufReader::new(Input::new(Box::new(bytes), Arc::default())?))
        };
        let mut inputs = [open(range.clone())?, open(range.end..file.len())?];
        let mut has_ended = false;
        if range.start > 0 {
            // That line, or the end of one, is of the piece before. Where it goes on behind these frames, so are these.
            has_ended = !skip_line(&mut inputs[0])?;
        }
        Ok(Self { inputs, is_behind: false, has_ended })
    }
}

/// Passes over all bytes to the next line end; whether there is one.
fn skip_line(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let found = bytes.iter().position(|byte| *byte == b'\n');
        let passed = found.map_or(bytes.len(), |at| at + 1);
        input.consume(passed);
        if found.is_some() {
            return Ok(true);
        }
    }
}

impl Read for FrameRange {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.has_ended || buf.is_empty() {
            return Ok(0);
        }
        if !self.is_behind {
            let count = self.inputs[0].read(buf)?;
            if count > 0 {
                return Ok(count);
            }
            self.is_behind = true;
        }
        let bytes = self.inputs[1].fill_buf()?;
        let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let count = end.unwrap_or(bytes.len()).min(buf.len());
        buf[..count].copy_from_slice(&bytes[..count]);
        self.inputs[1].consume(count);
        self.has_ended = count == 0 || end == Some(count);
        Ok(count)
    }
}

/// The bytes of a file from one place to another.
struct Bytes {
    file: Arc<dyn ReadAt>,
    range: Range<u64>,
}

impl Read for Bytes {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.range.end.saturating_sub(self.range.start);
        let count = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let buf = buf.get_mut(..count).unwrap_or_default();
        self.file.read_exact_at(buf, self.range.start)?;
        self.range.start += count as u64;
        self.file.will_read(self.range.start, self.range.end);
        Ok(count)
    }
}

#[cfg(test)]
pub mod tests {
    //! Lines that lie in frames in all ways.
    use super::*;
    use lode_base::mem_vfs::MemVfs;
    use lode_base::vfs::Vfs;
    use proptest::prelude::*;
    use std::path::Path;

    /// A frame of Zstandard with these bytes as they are.
    pub fn frame(plain: &[u8]) -> Vec<u8> {
        let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0xE0];
        frame.extend_from_slice(&(plain.len() as u64).to_le_bytes());
        frame.extend_from_slice(&((plain.len() as u32) << 3 | 1).to_le_bytes()[..3]);
        frame.extend_from_slice(plain);
        frame
    }

    proptest! {
        #[test]
        fn each_line_is_in_one_piece(
            frames in proptest::collection::vec(proptest::collection::vec(prop_oneof![3 => Just(b'x'), 1 => Just(b'\n'), 1 => any::<u8>()], 0..9), 1..9),
        ) {
            let (vfs, path) = (MemVfs::new(), Path::new("/f"));
            let mut out = vfs.create(path).unwrap();
            let mut starts = Vec::new();
            let mut at = 0;
            for plain in &frames {
                let bytes = frame(plain);
                starts.push(at);
                at += bytes.len() as u64;
                out.write_all(&bytes).unwrap();
            }
            starts.push(at);
            let file = vfs.open(path).unwrap();
            let mut all = Vec::new();
            for two in starts.windows(2) {
                let mut piece = Vec::new();
                FrameRange::new(&file, two[0]..two[1]).unwrap().read_to_end(&mut piece).unwrap();
                // All but the last of the file are whole lines.
                prop_assert!(piece.is_empty() || piece.ends_with(b"\n") || frames.concat().ends_with(&piece));
                all.extend(piece);
            }
            prop_assert_eq!(all, frames.concat());
        }
    }
}
