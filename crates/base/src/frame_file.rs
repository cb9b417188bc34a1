//! Temporary files of checksummed frames, and streams of bytes over them.
//!
//! A frame is its length (u32), that many bytes, and the XXH3 of both (u64). One file takes the spilled runs of a worker one after
//! the other, so that thousands of runs need a handful of open files.

use crate::vfs::{ReadAt, WriteFile};
use std::io;
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Streams are cut into frames of about this many bytes.
pub const FRAME_BYTES: usize = 64 << 10;
/// Bytes of the length that a frame begins with.
pub(crate) const LENGTH_BYTES: usize = 4;
/// No frame is longer.
const FRAME_BYTES_MAX: usize = 1 << 30;

fn checksum(length: [u8; 4], bytes: &[u8]) -> [u8; 8] {
    let mut hash = Xxh3::new();
    hash.update(&length);
    hash.update(bytes);
    hash.digest().to_le_bytes()
}

/// Appends frames to a new file.
#[derive(Debug)]
pub struct FrameWriter {
    file: Box<dyn WriteFile>,
    buffer: Vec<u8>,
    frame_bytes: usize,
    offset: u64,
}

impl FrameWriter {
    /// Writes to an empty file.
    pub fn new(file: Box<dyn WriteFile>) -> Self {
        Self::with_frames_of(file, FRAME_BYTES)
    }

    /// Writes to an empty file; streams are cut into frames of about `frame_bytes`.
    pub fn with_frames_of(file: Box<dyn WriteFile>, frame_bytes: usize) -> Self {
        Self { file, buffer: Vec::new(), frame_bytes: frame_bytes.max(1), offset: 0 }
    }

    /// Appends one frame and returns where it starts. Bytes of [`Self::write`] not yet in a frame come first.
    ///
    /// # Errors
    ///
    /// `InvalidInput` where there are more bytes than a frame may have; else where the file cannot be written.
    pub fn frame(&mut self, bytes: &[u8]) -> io::Result<u64> {
        self.end_frame()?;
        let at = self.offset;
        self.put(bytes)?;
        Ok(at)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > FRAME_BYTES_MAX {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?.to_le_bytes();
        self.file.write_all(&length)?;
        self.file.write_all(bytes)?;
        self.file.write_all(&checksum(length, bytes))?;
        self.offset += 12 + bytes.len() as u64;
        Ok(())
    }

    /// Appends to a stream of bytes. However many they are, no frame is longer than twice what was wanted.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > self.frame_bytes {
            return bytes.chunks(self.frame_bytes).try_for_each(|part| self.write(part));
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= self.frame_bytes { self.end_frame() } else { Ok(()) }
    }

    fn end_frame(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.buffer);
        let put = self.put(&bytes);
        self.buffer = bytes;
        self.buffer.clear();
        put
    }

    /// Ends the current frame and returns where the next one will start: the end of a stream and the start of another.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written.
    pub fn cut(&mut self) -> io::Result<u64> {
        self.end_frame()?;
        Ok(self.offset)
    }

    /// Makes everything readable (not durable: the file is temporary).
    ///
    /// # Errors
    ///
    /// Where the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.end_frame()?;
        self.file.flush()
    }
}

/// Makes a frame of a buffer that begins with [`LENGTH_BYTES`] bytes of room for its length.
pub(crate) fn seal_frame(frame: &mut Vec<u8>) -> io::Result<()> {
    let length = u32::try_from(frame.len().saturating_sub(LENGTH_BYTES)).map_err(io::Error::other)?;
    if let Some(head) = frame.first_chunk_mut() {
        *head = length.to_le_bytes();
    }
    let sum = xxh3_64(frame);
    frame.extend_from_slice(&sum.to_le_bytes());
    Ok(())
}

/// Reads the frame at `offset` into `bytes` (replacing them) and returns where the next one starts.
///
/// # Errors
///
/// `InvalidData` where there is no whole frame with the right checksum; else where the file cannot be read.
pub fn read_frame(file: &dyn ReadAt, offset: u64, bytes: &mut Vec<u8>) -> io::Result<u64> {
    read_frame_within(file, offset, FRAME_BYTES_MAX, bytes)
}

/// The same; a frame of more than `bytes_max` bytes is damage.
pub(crate) fn read_frame_within(
    file: &dyn ReadAt,
    offset: u64,
    bytes_max: usize,
    bytes: &mut Vec<u8>,
) -> io::Result<u64> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a temporary file is damaged");
    let mut length = [0; 4];
    file.read_exact_at(&mut length, offset)?;
    let count = u32::from_le_bytes(length) as usize;
    if count > bytes_max || offset.saturating_add(12 + count as u64) > file.len() {
        return Err(damaged());
    }
    bytes.resize(count + 8, 0);
    file.read_exact_at(bytes, offset + 4)?;
    let (body, sum) = bytes.split_at(count);
    if checksum(length, body) != *sum {
        return Err(damaged());
    }
    bytes.truncate(count);
    Ok(offset + 12 + count as u64)
}

/// Reads all frames of a file, and nothing else may be in it. `check` is asked before each.
///
/// # Errors
///
/// As [`read_frame`], and where `check` says so.
pub fn check_frames(file: &dyn ReadAt, check: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    let (mut at, mut bytes) = (0, Vec::new());
    while at < file.len() {
        check()?;
        at = read_frame(file, at, &mut bytes)?;
        file.will_read(at, file.len());
    }
    Ok(())
}

/// Reads a stream that [`FrameWriter::write`] made.
#[derive(Debug)]
pub struct FrameReader {
    file: Arc<dyn ReadAt>,
    next: u64,
    end: u64,
    bytes: Vec<u8>,
    at: usize,
    frame: Vec<u8>,
}

impl FrameReader {
    /// Reads the frames of a file from `start` to `end`.
    pub fn new(file: Arc<dyn ReadAt>, start: u64, end: u64) -> Self {
        Self { file, next: start, end, bytes: Vec::new(), at: 0, frame: Vec::new() }
    }

    /// Whether there are more bytes.
    pub fn at_end(&self) -> bool {
        self.at >= self.bytes.len() && self.next >= self.end
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` where fewer bytes follow, `InvalidData` where the file is damaged; else where it cannot be
    /// read.
    pub fn take(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.bytes.len() - self.at < count {
            if self.next >= self.end {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            self.next = read_frame(&*self.file, self.next, &mut self.frame)?;
            self.file.will_read(self.next, self.end);
            self.bytes.drain(..self.at);
            self.at = 0;
            self.bytes.extend_from_slice(&self.frame);
        }
        let taken = self.bytes.get(self.at..self.at + count).unwrap_or_default();
        self.at += count;
        Ok(taken)
    }

    /// Some of the next bytes without taking them: at least one, and at most `count`, which is not 0.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.at >= self.bytes.len() {
            if self.next >= self.end {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            self.next = read_frame(&*self.file, self.next, &mut self.bytes)?;
            self.file.will_read(self.next, self.end);
            self.at = 0;
        }
        let end = self.bytes.len().min(self.at.saturating_add(count));
        Ok(self.bytes.get(self.at..end).unwrap_or_default())
    }

    /// Appends the next `count` bytes to `out`; no more than a frame of them is held besides.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub fn append_to(&mut self, out: &mut Vec<u8>, mut count: usize) -> io::Result<()> {
        while count > 0 {
            let some = self.peek(count)?;
            out.extend_from_slice(some);
            let taken = some.len();
            self.at += taken;
            count -= taken;
        }
        Ok(())
    }

    /// Passes over the next `count` bytes.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub fn skip(&mut self, mut count: usize) -> io::Result<()> {
        while count > 0 {
            let passed = self.peek(count)?.len();
            self.at += passed;
            count -= passed;
        }
        Ok(())
    }

    /// Another reader at the same place.
    pub fn fork(&self) -> Self {
        Self {
            file: Arc::clone(&self.file),
            next: self.next,
            end: self.end,
            bytes: self.bytes.get(self.at..).unwrap_or_default().to_vec(),
            at: 0,
            frame: Vec::new(),
        }
    }

    /// The next byte.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub fn byte(&mut self) -> io::Result<u8> {
        self.take(1).map(|bytes| bytes.first().copied().unwrap_or(0))
    }

    /// The next LEB128 number.
    ///
    /// # Errors
    ///
    /// `InvalidData` where it does not fit 64 bits; else as [`Self::take`].
    pub fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "a number in a temporary file is too long"))
    }
}
