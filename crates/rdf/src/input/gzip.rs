//! gzip: members one after the other, decoded into blocks that are handed on without being copied.

use super::block::{BLOCK_BYTES, Block};
use sirocco::Format;
use sirocco::inflate::{Decoder, Error, MIN_BUFFER_LEN};
use std::io::{self, BufRead};

/// How far back gzip data may refer; so much of the last output the decoder needs to find before the next.
const HISTORY_BYTES: usize = MIN_BUFFER_LEN - 1;
/// Less room than this at a buffer's end is not worth beginning a member in.
const ROOM_BYTES_MIN: usize = 16 << 10;

/// Decodes all members of a gzip stream.
pub(super) struct GzipReader<R> {
    source: R,
    decoder: Box<Decoder>,
    buffer: Vec<u8>,
    /// Where the member's output begins in the buffer, or the history that the decoder has of it.
    base: usize,
    /// Where output begins that has not been handed over.
    start: usize,
    /// Where output ends.
    end: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has been read yet.
    Unread,
    /// Inside a member.
    Member,
    /// Past a member: another one may begin.
    Between,
    /// At the end of the source, or after an error.
    End,
}

impl<R: BufRead> GzipReader<R> {
    pub(super) fn new(source: R) -> Self {
        let decoder = Box::new(Decoder::new(Format::Gzip));
        Self { source, decoder, buffer: Vec::new(), base: 0, start: 0, end: 0, state: State::Unread }
    }

    /// The source, if nothing has been read of it.
    pub(super) fn into_unread(self) -> Result<R, Self> {
        if self.state == State::Unread { Ok(self.source) } else { Err(self) }
    }

    /// What comes next; empty at the end. `spare` is decoded into after that.
    pub(super) fn next_block(&mut self, spare: Vec<u8>) -> io::Result<Block> {
        if self.buffer.is_empty() {
            self.buffer.resize(HISTORY_BYTES + BLOCK_BYTES, 0);
        }
        // A block is handed over when it is full, or when there is no more.
        let mut full = false;
        while !full && self.state != State::End {
            let result = self.decode();
            // After an error there is nothing to go on with.
            full = result.inspect_err(|_| self.state = State::End)?;
        }
        Ok(self.hand_over(spare))
    }

    /// Decodes what input there is into what room there is; whether the room is used up.
    fn decode(&mut self) -> io::Result<bool> {
        if self.state == State::Between {
            return self.begin_member();
        }
        self.state = State::Member;
        let input = self.source.fill_buf()?;
        let (decoder, room) = (&mut self.decoder, self.buffer.get_mut(self.base..).unwrap_or_default());
        let (consumed, decoded, done, full) = guarded(|| {
            let progress = decoder.decompress(input, room, input.is_empty())?;
            Ok((progress.consumed, progress.output.len(), progress.done, progress.full))
        })?;
        self.source.consume(consumed);
        self.end += decoded;
        if done {
            self.state = State::Between;
        }
        Ok(full)
    }

    /// Looks what follows a member: another one, zeros that fill up a medium, or nothing. Whether there is too little room
    /// for another one.
    fn begin_member(&mut self) -> io::Result<bool> {
        let input = self.source.fill_buf()?;
        match input.first() {
            None => self.state = State::End,
            Some(0) => {
                let zeros = input.iter().take_while(|byte| **byte == 0).count();
                let only_zeros = zeros == input.len();
                self.source.consume(zeros);
                if !only_zeros {
                    return Err(trailing());
                }
            }
            Some(0x1F) => {
                self.base = self.end;
                self.state = State::Member;
                return Ok(self.buffer.len() - self.end < ROOM_BYTES_MIN);
            }
            Some(_) => return Err(trailing()),
        }
        Ok(false)
    }

    /// Swaps buffers. What the decoder may still refer to goes to the front of the new one.
    fn hand_over(&mut self, mut spare: Vec<u8>) -> Block {
        spare.resize(self.buffer.len(), 0);
        let written = self.end - self.base;
        let history = self.buffer.get(self.base..self.end).unwrap_or_default();
        let mut kept = 0;
        if self.state == State::Member && written > HISTORY_BYTES {
            // The decoder expects it where it left it, and then moves it to the front.
            let tail = written - HISTORY_BYTES..written;
            copy(history.get(tail.clone()), spare.get_mut(tail));
            self.decoder.make_room(&mut spare);
            kept = HISTORY_BYTES;
        } else if self.state == State::Member {
            copy(Some(history), spare.get_mut(..written));
            kept = written;
        }
        let block = Block::new(std::mem::replace(&mut self.buffer, spare), self.start..self.end);
        (self.base, self.start, self.end) = (0, kept, kept);
        block
    }
}

fn copy(from: Option<&[u8]>, to: Option<&mut [u8]>) {
    if let (Some(from), Some(to)) = (from, to) {
        to.copy_from_slice(from);
    }
}

fn trailing() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "after its end comes something that is not gzip")
}

/// Runs a decoder. A panic in there is a bug of the library, but no reason to end a load in any other way than damage does.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Result<T, Error>) -> io::Result<T> {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode));
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
    match result {
        Ok(Ok(decoded)) => Ok(decoded),
        Ok(Err(Error::Truncated)) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(Err(Error::ChecksumMismatch)) => Err(invalid("its checksum does not match")),
        Ok(Err(error)) => Err(invalid(&error.to_string())),
        Err(_) => Err(invalid("the decoder failed on this data, which is a bug in it")),
    }
}
