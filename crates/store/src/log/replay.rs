//! Reads a log: all whole records in order, and what its end looks like.
//!
//! A power cut leaves some of the bytes written since the last sync, in any order. So the first bad record ends the log,
//! unless a frame behind it or the end mark says that the bad record was durable before: then it was damaged later, and what it
//! said was promised to somebody.

use super::end_mark::{EndMark, FoundMark, mark_file};
use super::frame::{
    ALIGNMENT, FRAME_BYTES, Frame, HEADER_BYTES, Salt, check_header, encode_header, header_numbers,
    sequence_at,
};
use super::log_end::LogEnd;
use crate::error::StoreError;
use lode_base::vfs::{ReadAt, Vfs};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Read at once; a longer record by itself.
const WINDOW_BYTES: usize = 1 << 20;

/// A record of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRecord<'a> {
    /// Its number, from 0.
    pub sequence: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// What was appended.
    pub payload: &'a [u8],
}

/// What [`salvage`] found.
#[derive(Debug)]
pub struct Salvaged {
    /// Where the sound part ends.
    pub end: LogEnd,
    /// What [`replay`] would have failed with.
    pub damage: Option<StoreError>,
    /// Records at least that were written behind the sound part; 0 where nothing is damaged.
    pub lost_records: u64,
    /// Bytes that there are or were behind the sound part; 0 where nothing is damaged.
    pub lost_bytes: u64,
    /// What is wrong with the end mark. The log is read without it then.
    pub mark_damage: Option<StoreError>,
    /// Whether the end mark says that the log was durable up to its end. Else nobody can tell whether it was longer.
    pub is_marked: bool,
    /// Whether there is no such file. Then all that it told is lost.
    pub is_missing: bool,
}

impl Salvaged {
    /// Of a log that should be there and is not.
    fn missing(path: &Path, mark: &FoundMark) -> Self {
        let mark = if let FoundMark::Sound(mark) = mark { Some(mark) } else { None };
        let what = "the log is missing: what was committed to it is not in the database";
        Self {
            end: START,
            damage: Some(StoreError::corruption(path, 0, what)),
            lost_records: mark.map_or(0, |mark| mark.next_sequence),
            lost_bytes: mark.map_or(0, |mark| mark.offset),
            mark_damage: None,
            is_marked: false,
            is_missing: true,
        }
    }
}

/// The end of a log that nothing was appended to.
const START: LogEnd =
    LogEnd { offset: HEADER_BYTES as u64, next_sequence: 0, ignored_bytes: 0, is_closed: false };

/// Reads all whole records in order. A torn tail is no error but counted in [`LogEnd::ignored_bytes`]; a bad record that was
/// durable when a later one was written is [`StoreError::Corruption`]. The records before it have been visited then.
///
/// # Errors
/// [`StoreError::Corruption`] for damage as told above; the first of `visit`; where a file cannot be read.
pub fn replay(
    vfs: &dyn Vfs,
    path: &Path,
    database: u128,
    number: u64,
    visit: &mut dyn FnMut(LogRecord<'_>) -> Result<(), StoreError>,
) -> Result<LogEnd, StoreError> {
    let found = salvage(vfs, path, database, number, visit)?;
    found.damage.map_or(Ok(found.end), Err)
}

/// The same, but damage only ends the log, and damage of its header not even that; one that is missing ends where it began. A log that
/// is damaged must not be reopened.
///
/// # Errors
/// [`StoreError::Corruption`] where it is the log of another database; the first of `visit`; where a file cannot be read.
pub fn salvage(
    vfs: &dyn Vfs,
    path: &Path,
    database: u128,
    number: u64,
    visit: &mut dyn FnMut(LogRecord<'_>) -> Result<(), StoreError>,
) -> Result<Salvaged, StoreError> {
    let (_, salt) = encode_header(database, number);
    // Before the file is opened, which may grow: it is never shorter than the mark says.
    let mark = EndMark::read(vfs, path, salt)?;
    let mut reader = match Reader::open(vfs, path) {
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(Salvaged::missing(path, &mark));
        }
        other => other?,
    };
    let mut damage = match reader.header() {
        Ok(found) if found == salt => None,
        Ok(_) => return Err(StoreError::corruption(path, 0, "the log of another database, or another log")),
        Err(error @ StoreError::Corruption { .. }) => Some(error),
        Err(error) => return Err(error),
    };
    let (mut mark, mut mark_damage) = match mark {
        FoundMark::None => (None, None),
        FoundMark::Sound(mark) => (Some(mark), None),
        FoundMark::Damaged(error) => (None, Some(error)),
    };
    let (mut end, mut fits) = (START, false);
    loop {
        fits |= mark.is_some_and(|mark| mark.is_at(&end));
        let Some(frame) = reader.frame(end.offset, salt)? else { break };
        if frame.sequence != end.next_sequence {
            let what = format!("record {} where {} should be", frame.sequence, end.next_sequence);
            damage = damage.or_else(|| Some(StoreError::corruption(path, end.offset, what)));
            break;
        }
        let Some(payload) = reader.payload(end.offset, &frame, salt)? else { break };
        visit(LogRecord { sequence: frame.sequence, offset: end.offset, payload })?;
        end.offset += frame.record_bytes() as u64;
        end.next_sequence += 1;
    }
    if mark.is_some_and(|mark| mark.offset <= end.offset) && !fits {
        let what = "the end mark of a log with other records";
        mark_damage = Some(StoreError::corruption(&mark_file(path), 0, what));
        mark = None;
    }
    end.ignored_bytes = reader.len.saturating_sub(end.offset);
    end.offset = end.offset.min(reader.len);
    end.is_closed = end.ignored_bytes == 0 && mark.is_some_and(|mark| mark.is_closed && mark.is_at(&end));
    damage = match damage {
        None => reader.damage_at(&end, mark.as_ref(), salt)?,
        damage => damage,
    };
    let (mut lost_records, mut lost_bytes) = (0, 0);
    if damage.is_some() {
        let (records, bytes) = mark.map_or((0, 0), |mark| mark.behind(&end));
        lost_records = records.max(reader.records_behind(&end, salt)?);
        lost_bytes = bytes.max(end.ignored_bytes);
    }
    let is_marked = mark.is_some_and(|mark| mark.is_at(&end));
    Ok(Salvaged { end, damage, lost_records, lost_bytes, mark_damage, is_marked, is_missing: false })
}

/// The number of the database that a log belongs to, and its own, as its header says.
///
/// # Errors
/// Where the file cannot be read, or its header is damaged.
pub fn header(vfs: &dyn Vfs, path: &Path) -> Result<(u128, u64), StoreError> {
    let mut reader = Reader::open(vfs, path)?;
    reader.header()?;
    let header = reader.view(0, HEADER_BYTES)?.and_then(<[u8]>::first_chunk);
    header.map(header_numbers).ok_or_else(|| StoreError::corruption(path, 0, "the header of the log"))
}

/// The salt of a log that is to be gone on with.
pub fn read_salt(vfs: &dyn Vfs, path: &Path) -> Result<Salt, StoreError> {
    Reader::open(vfs, path)?.header()
}

/// A file read through a window that moves on.
struct Reader<'a> {
    path: &'a Path,
    file: Arc<dyn ReadAt>,
    len: u64,
    window: Vec<u8>,
    /// Where the window begins in the file.
    start: u64,
}

impl<'a> Reader<'a> {
    fn open(vfs: &dyn Vfs, path: &'a Path) -> Result<Self, StoreError> {
        let file = vfs.open(path).map_err(StoreError::io(path))?;
        Ok(Self { path, len: file.len(), file, window: Vec::new(), start: 0 })
    }

    fn header(&mut self) -> Result<Salt, StoreError> {
        let path = self.path;
        let header = self.view(0, HEADER_BYTES)?.and_then(<[u8]>::first_chunk);
        check_header(header.ok_or_else(|| StoreError::corruption(path, 0, "the header of the log"))?, path)
    }

    fn frame(&mut self, offset: u64, salt: Salt) -> Result<Option<Frame>, StoreError> {
        let bytes = self.view(offset, FRAME_BYTES)?.and_then(<[u8]>::first_chunk);
        Ok(bytes.and_then(|bytes| Frame::read(bytes, offset, salt)))
    }

    /// Whether what is behind the last whole record was durable once, as a frame behind it or the end mark says: that tells damage from
    /// a torn tail.
    fn damage_at(
        &mut self,
        end: &LogEnd,
        mark: Option<&EndMark>,
        salt: Salt,
    ) -> Result<Option<StoreError>, StoreError> {
        let durable = mark.map_or(0, |mark| mark.offset);
        let what = if durable > self.len {
            "the log has been cut: it was longer; the records before are whole"
        } else if durable > end.offset {
            "a record of the log that was durable; those before it are whole"
        } else if self.search(end.offset, end.next_sequence, salt, &mut |frame| frame.durable > end.offset)? {
            "a record of the log that later ones follow; those before it are whole"
        } else {
            return Ok(None);
        };
        Ok(Some(StoreError::corruption(self.path, end.offset, what)))
    }

    /// Records at least that were written behind the sound part.
    fn records_behind(&mut self, end: &LogEnd, salt: Salt) -> Result<u64, StoreError> {
        let mut records = u64::from(end.ignored_bytes > 0);
        self.search(end.offset, end.next_sequence, salt, &mut |frame| {
            records = records.max(frame.sequence - end.next_sequence + 1);
            false
        })?;
        Ok(records)
    }

    /// The payload of the record at `offset`, if it is what was written.
    fn payload(&mut self, offset: u64, frame: &Frame, salt: Salt) -> Result<Option<&[u8]>, StoreError> {
        let Some(record) = self.view(offset, frame.record_bytes())? else { return Ok(None) };
        let (payload, padding) = record.split_at(FRAME_BYTES + frame.length);
        let payload = payload.get(FRAME_BYTES..).unwrap_or_default();
        Ok(frame.fits(payload, padding, salt).then_some(payload))
    }

    /// Whether `is_it` says yes of a frame behind `offset`, where record `sequence` should be.
    fn search(
        &mut self,
        offset: u64,
        sequence: u64,
        salt: Salt,
        is_it: &mut dyn FnMut(&Frame) -> bool,
    ) -> Result<bool, StoreError> {
        let last_sequence = sequence.saturating_add(self.len / FRAME_BYTES as u64);
        let mut at = offset.saturating_add(ALIGNMENT as u64);
        while at < self.len {
            let bytes = usize::try_from(self.len - at).unwrap_or(usize::MAX).min(WINDOW_BYTES);
            let Some(view) = self.view(at, bytes)? else { break };
            let last = view.len().saturating_sub(FRAME_BYTES);
            let mut i = 0;
            while i <= last {
                let Some(frame) = view.get(i..).and_then(<[u8]>::first_chunk) else { break };
                let plausible = sequence_at(frame) > sequence && sequence_at(frame) <= last_sequence;
                let found = if plausible { Frame::read(frame, at + i as u64, salt) } else { None };
                if found.is_some_and(|frame| is_it(&frame)) {
                    return Ok(true);
                }
                i += ALIGNMENT;
            }
            // At least one step: a view shorter than a frame is the last.
            at += i.max(ALIGNMENT) as u64;
        }
        Ok(false)
    }

    /// So many bytes from `offset`; `None` where the file ends before.
    fn view(&mut self, offset: u64, bytes: usize) -> Result<Option<&[u8]>, StoreError> {
        let Some(rest) = self.len.checked_sub(offset).filter(|rest| *rest >= bytes as u64) else {
            return Ok(None);
        };
        let held = offset.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        let held = held.filter(|at| *at <= self.window.len());
        if held.is_none_or(|at| self.window.len() - at < bytes) {
            let kept = held.map_or(0, |at| {
                self.window.copy_within(at.., 0);
                self.window.len() - at
            });
            let wanted = bytes.max(WINDOW_BYTES).min(usize::try_from(rest).unwrap_or(usize::MAX));
            if wanted < self.window.capacity() / 2 {
                // The window was made for one long record.
                self.window.truncate(wanted);
                self.window.shrink_to(wanted);
            }
            self.window.resize(wanted, 0);
            self.start = offset;
            let fresh = self.window.get_mut(kept..).unwrap_or_default();
            self.file.read_exact_at(fresh, offset + kept as u64).map_err(StoreError::io(self.path))?;
        }
        let at = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        Ok(self.window.get(at..).and_then(|rest| rest.get(..bytes)))
    }
}
