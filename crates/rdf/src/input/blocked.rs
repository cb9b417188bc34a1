//! Blocked gzip, as `bgzip` makes it: members of at most 64 KiB whose headers tell how long they are, so that several threads can
//! decode one file.

use super::block::Block;
use super::gzip::guarded;
use super::member_header::{HEADER_BYTES, member_bytes};
use super::{Decoder as InputDecoder, Explain, Input, Source};
use sirocco::Format;
use sirocco::inflate::Decoder;
use std::io::{self, Read};

/// The most plain bytes of a member.
const MEMBER_BYTES_MAX: usize = 64 << 10;
/// Members decoded at once.
const MEMBERS: usize = 8;
/// The member without content that ends a file.
pub(super) const END: [u8; 28] =
    [0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0, 0x1B, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// A stream of blocked gzip, taken apart but not decoded.
pub struct Members<'r> {
    source: Option<Source<'r>>,
    explain: Explain,
    /// The header of a member that is to come.
    header: Vec<u8>,
    /// The last member so far is the one that ends a file.
    ended: bool,
}

/// Some of a stream of blocked gzip.
pub enum MemberBatch<'r> {
    /// Whole members.
    Members(Vec<u8>),
    /// What follows is gzip of another kind.
    Other(Box<Input<'r>>),
    /// Nothing follows.
    End,
}

impl<'r> Input<'r> {
    /// The members of a stream that several threads can decode; the stream itself where it is none, or has been read from.
    ///
    /// # Errors
    ///
    /// The stream itself: this is no failure.
    pub fn into_members(mut self) -> Result<Members<'r>, Box<Self>> {
        if !self.blocked {
            return Err(Box::new(self));
        }
        self.decoder = match self.decoder {
            InputDecoder::Gzip(reader) => match reader.into_unread() {
                Ok(source) => return Ok(Members::new(source, self.explain)),
                Err(reader) => InputDecoder::Gzip(reader),
            },
            other => other,
        };
        Err(Box::new(self))
    }
}

impl<'r> Members<'r> {
    fn new(source: Source<'r>, explain: Explain) -> Self {
        Self { source: Some(source), explain, header: Vec::new(), ended: false }
    }

    /// The next members, in a buffer that may have been used before.
    ///
    /// # Errors
    ///
    /// `InvalidData` where the file is damaged or has been cut; else what the source fails with.
    pub fn next_batch(&mut self, spare: Vec<u8>) -> io::Result<MemberBatch<'r>> {
        let explain = self.explain.clone();
        self.gather(spare).map_err(|error| explain.damage(error))
    }

    fn gather(&mut self, mut batch: Vec<u8>) -> io::Result<MemberBatch<'r>> {
        batch.clear();
        let Some(source) = &mut self.source else { return Ok(MemberBatch::End) };
        for _ in 0..MEMBERS {
            if self.header.is_empty() {
                source.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut self.header)?;
            }
            let Some(length) = member_bytes(&self.header) else { break };
            let rest = length.checked_sub(self.header.len()).ok_or_else(bad_length)?;
            let start = batch.len();
            batch.append(&mut self.header);
            if source.by_ref().take(rest as u64).read_to_end(&mut batch)? < rest {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.ended = batch.get(start..) == Some(&END[..]);
        }
        if !batch.is_empty() {
            return Ok(MemberBatch::Members(batch));
        }
        if !self.header.is_empty() {
            let header = std::mem::take(&mut self.header);
            let other = self.source.take().map(|source| Input::gzip(header, source, self.explain.clone()));
            return Ok(other.map_or(MemberBatch::End, |input| MemberBatch::Other(Box::new(input))));
        }
        // Without its last member a file has been cut, even if no member has.
        if self.ended { Ok(MemberBatch::End) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

fn bad_length() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a member tells an impossible length")
}

/// Decodes batches of members.
pub struct MemberDecoder {
    decoder: Box<Decoder>,
    explain: Explain,
}

impl MemberDecoder {
    /// A decoder for the members of a stream.
    pub fn new(members: &Members<'_>) -> Self {
        Self { decoder: Box::new(Decoder::new(Format::Gzip)), explain: members.explain.clone() }
    }

    /// Decodes a batch into a buffer that may have been used before.
    ///
    /// # Errors
    ///
    /// `InvalidData` where a member is damaged.
    pub fn decode(&mut self, batch: &[u8], spare: Vec<u8>) -> io::Result<Block> {
        self.inflate(batch, spare).map_err(|error| self.explain.damage(error))
    }

    fn inflate(&mut self, batch: &[u8], mut buffer: Vec<u8>) -> io::Result<Block> {
        if buffer.len() < MEMBERS * MEMBER_BYTES_MAX {
            buffer.resize(MEMBERS * MEMBER_BYTES_MAX, 0);
        }
        let (mut rest, mut end) = (batch, 0);
        while !rest.is_empty() {
            let length = member_bytes(rest).ok_or_else(bad_length)?;
            let (member, after) = rest.split_at_checked(length).ok_or_else(bad_length)?;
            let room = buffer.get_mut(end..).unwrap_or_default();
            self.decoder.reset();
            let (consumed, decoded) = guarded(|| {
                let progress = self.decoder.decompress(member, room, true)?;
                Ok((progress.consumed, progress.output.len()))
            })?;
            if consumed != length {
                return Err(bad_length());
            }
            end += decoded;
            rest = after;
        }
        Ok(Block::new(buffer, 0..end))
    }
}
