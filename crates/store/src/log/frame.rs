//! The bytes of a log file: its header, and the frame around each record.
//!
//! All checks of a file are salted with its header's, so bytes of another log, left on the disk, are never taken for this
//! one's. Each record says up to where the file was durable when the record was written. That is what tells damage
//! from a torn tail: a bad record was torn by a power cut unless something behind it was written after it was durable.

use crate::error::StoreError;
use std::path::Path;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const MAGIC: [u8; 8] = *b"LODElogs";
/// Version of the format that brought the log.
const VERSION: u32 = 4;
/// Bytes of the header of a file.
pub const HEADER_BYTES: usize = 48;
/// Bytes in front of a record's payload.
pub const FRAME_BYTES: usize = 32;
/// Records begin at multiples of this, so that a search for them looks at few places.
pub const ALIGNMENT: usize = 8;
/// The longest payload.
pub const PAYLOAD_BYTES_MAX: usize = 1 << 30;

/// What the checks of a log's records are salted with: the check of its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Salt(u64);

impl Salt {
    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// The header of a log, and the salt of its records.
pub fn encode_header(database: u128, number: u64) -> ([u8; HEADER_BYTES], Salt) {
    let mut header = [0; HEADER_BYTES];
    let (fields, check) = header.split_at_mut(HEADER_BYTES - 8);
    fields[..8].copy_from_slice(&MAGIC);
    fields[8..12].copy_from_slice(&VERSION.to_le_bytes());
    fields[16..32].copy_from_slice(&database.to_le_bytes());
    fields[32..].copy_from_slice(&number.to_le_bytes());
    let salt = xxh3_64(fields);
    check.copy_from_slice(&salt.to_le_bytes());
    (header, Salt(salt))
}

/// The salt in a header whose bytes are sound.
pub fn check_header(header: &[u8; HEADER_BYTES], path: &Path) -> Result<Salt, StoreError> {
    let (fields, check) = header.split_at(HEADER_BYTES - 8);
    let salt = xxh3_64(fields);
    if fields[..8] != MAGIC || check != salt.to_le_bytes() {
        return Err(StoreError::corruption(path, 0, "the header of the log"));
    }
    match u32::from_le_bytes([fields[8], fields[9], fields[10], fields[11]]) {
        VERSION => Ok(Salt(salt)),
        found => Err(StoreError::Version { file: path.display().to_string(), found, supported: VERSION }),
    }
}

/// The number of the database, and that of the log, that a sound header names.
pub fn header_numbers(header: &[u8; HEADER_BYTES]) -> (u128, u64) {
    let (mut database, mut number) = ([0; 16], [0; 8]);
    database.copy_from_slice(&header[16..32]);
    number.copy_from_slice(&header[32..40]);
    (u128::from_le_bytes(database), u64::from_le_bytes(number))
}

/// What stands in front of a record's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Bytes of the payload.
    pub length: usize,
    /// Number of the record.
    pub sequence: u64,
    /// The file was durable up to this byte when the record was written.
    pub durable: u64,
    payload_check: u64,
}

impl Frame {
    /// The frame at the front of `bytes`, which begin at `offset`; `None` if there is none.
    #[inline]
    pub fn read(bytes: &[u8; FRAME_BYTES], offset: u64, salt: Salt) -> Option<Self> {
        let (length, durable) = (word(bytes, 0) as u32 as usize, word(bytes, 16));
        let fits = length <= PAYLOAD_BYTES_MAX && durable >= HEADER_BYTES as u64 && durable <= offset;
        let found = (word(bytes, 0) >> 32) as u32;
        (fits && found == frame_check(bytes, salt)).then(|| Self {
            length,
            sequence: word(bytes, 8),
            durable,
            payload_check: word(bytes, 24),
        })
    }

    /// Bytes from the start of the record to the start of the next.
    pub fn record_bytes(&self) -> usize {
        record_bytes(self.length)
    }

    /// Whether this is what follows the frame: the payload and the zeros up to the next record.
    pub fn fits(&self, payload: &[u8], padding: &[u8], salt: Salt) -> bool {
        payload_check(payload, salt) == self.payload_check && padding.iter().all(|byte| *byte == 0)
    }
}

/// The sequence number at the front of `bytes`, if a frame begins there: what a search looks at first.
#[inline]
pub fn sequence_at(bytes: &[u8; FRAME_BYTES]) -> u64 {
    word(bytes, 8)
}

/// Bytes of a record with so many of payload.
pub fn record_bytes(payload_bytes: usize) -> usize {
    FRAME_BYTES + payload_bytes.next_multiple_of(ALIGNMENT)
}

/// The check of a payload. The frame's check covers it, and so ties the payload to its place.
pub fn payload_check(payload: &[u8], salt: Salt) -> u64 {
    xxh3_64_with_seed(payload, salt.0)
}

/// Appends a record, which [`seal`] completes.
pub fn append(out: &mut Vec<u8>, sequence: u64, payload: &[u8], payload_check: u64) {
    let end = out.len() + record_bytes(payload.len());
    let mut frame = [0; FRAME_BYTES];
    frame[..8].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    frame[8..16].copy_from_slice(&sequence.to_le_bytes());
    frame[24..].copy_from_slice(&payload_check.to_le_bytes());
    out.reserve(end - out.len());
    out.extend_from_slice(&frame);
    out.extend_from_slice(payload);
    out.resize(end, 0);
}

/// Completes the frames of records that are about to be written to a file that is durable up to `durable`.
pub fn seal(mut records: &mut [u8], durable: u64, salt: Salt) {
    while let Some((frame, rest)) = records.split_first_chunk_mut::<FRAME_BYTES>() {
        frame[16..24].copy_from_slice(&durable.to_le_bytes());
        let check = frame_check(frame, salt);
        frame[4..8].copy_from_slice(&check.to_le_bytes());
        let length = word(frame, 0) as u32 as usize;
        records = rest.get_mut(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
    }
}

/// Covers the frame but for the check itself.
fn frame_check(frame: &[u8; FRAME_BYTES], salt: Salt) -> u32 {
    let mut bytes = *frame;
    bytes[4..8].fill(0);
    xxh3_64_with_seed(&bytes, salt.0) as u32
}

#[inline]
fn word(bytes: &[u8; FRAME_BYTES], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}
