//! The numbers that a run's terms got in the merge: in memory for runs in memory, else in one temporary file for all of them.

use crate::load::run::{NumberList, Run, TermStore};
use crate::segment_builder::{Class, TermIndex};
use lode_base::frame_file::{FrameWriter, read_frame};
use lode_base::huge;
use lode_base::vfs::{ReadAt, Vfs};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An entry in the file: number in the run (u32), [`TermIndex`] (u64).
const ENTRY_BYTES: usize = 12;
/// The frames of a run lie between those of others, so that each is on some disk: so many are on their way at once.
const FRAMES_AHEAD: usize = 16;

/// Takes the numbers while they are found.
#[derive(Debug)]
pub struct CodeSink {
    runs: Vec<Sink>,
    file: Option<CodeFile>,
}

#[derive(Debug)]
struct CodeFile {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    writer: FrameWriter,
    frame_bytes: usize,
}

#[derive(Debug)]
enum Sink {
    Memory { codes: Vec<TermIndex> },
    File { buffer: Vec<u8>, frames: Vec<u64>, terms: u32 },
}

impl CodeSink {
    /// A sink for these runs; frames in the file have `frame_bytes`.
    pub fn new(runs: &[Run], vfs: &Arc<dyn Vfs>, folder: &Path, frame_bytes: usize) -> io::Result<Self> {
        let spilled = runs.iter().any(|run| matches!(run.store, TermStore::File { .. }));
        let file = if spilled {
            let path = folder.join("codes");
            let writer = FrameWriter::new(vfs.create(&path)?);
            Some(CodeFile { vfs: Arc::clone(vfs), path, writer, frame_bytes })
        } else {
            None
        };
        let runs = runs.iter().map(Sink::new).collect();
        Ok(Self { runs, file })
    }

    /// Sets the number of one term of a run.
    #[inline]
    pub fn set(&mut self, run: usize, number: u32, index: TermIndex) -> io::Result<()> {
        match self.runs.get_mut(run) {
            Some(Sink::Memory { codes }) => {
                if let Some(code) = codes.get_mut(number as usize) {
                    *code = index;
                }
                Ok(())
            }
            Some(Sink::File { buffer, frames, .. }) => {
                buffer.extend_from_slice(&number.to_le_bytes());
                buffer.extend_from_slice(&index.0.to_le_bytes());
                match &mut self.file {
                    Some(file) if buffer.len() >= file.frame_bytes => put(buffer, frames, file),
                    _ => Ok(()),
                }
            }
            None => Ok(()),
        }
    }

    /// Writes out what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        for sink in &mut self.runs {
            if let Sink::File { buffer, frames, .. } = sink {
                put(buffer, frames, file)?;
            }
        }
        file.writer.flush()
    }

    /// The numbers of a run's blank nodes, once all of them are set.
    pub fn blank_numbers(&mut self, run: usize) -> io::Result<BlankNumbers> {
        self.flush()?;
        let mut map = HashMap::new();
        let mut add = |number: u32, index: TermIndex| {
            let blank = index.class() == Class::Blank;
            if blank {
                map.insert(number, index.number());
            }
            blank
        };
        match (self.runs.get(run), &self.file) {
            (Some(Sink::Memory { codes }), _) => {
                for (number, index) in (0_u32..).zip(codes) {
                    add(number, *index);
                }
            }
            (Some(Sink::File { frames, .. }), Some(file)) => {
                let reader = file.vfs.open(&file.path)?;
                let mut bytes = Vec::new();
                for frame in frames {
                    read_frame(&*reader, *frame, &mut bytes)?;
                    // Blank nodes are the first class.
                    if !entries(&bytes).all(|(number, index)| add(number, index)) {
                        break;
                    }
                }
            }
            _ => {}
        }
        Ok(BlankNumbers(map))
    }

    /// Ends the input.
    pub fn finish(mut self) -> io::Result<Vec<RunCodes>> {
        self.flush()?;
        let reader = match &self.file {
            Some(file) => Some(file.vfs.open(&file.path)?),
            None => None,
        };
        // With what is around it, and the entry that made it full.
        let frame_bytes = self.file.as_ref().map_or(0, |file| (file.frame_bytes + 2 * ENTRY_BYTES) as u64);
        let mut out = Vec::new();
        for sink in self.runs {
            out.push(match (sink, &reader) {
                (Sink::Memory { codes }, _) => RunCodes::Memory(codes),
                (Sink::File { frames, terms, .. }, Some(file)) => {
                    RunCodes::File { file: Arc::clone(file), frames, terms, frame_bytes }
                }
                (Sink::File { .. }, None) => RunCodes::Memory(Vec::new()),
            });
        }
        Ok(out)
    }
}

impl Sink {
    fn new(run: &Run) -> Self {
        match run.store {
            TermStore::Memory { .. } => Self::Memory { codes: huge::zeros(run.terms as usize) },
            TermStore::File { .. } => Self::File { buffer: Vec::new(), frames: Vec::new(), terms: run.terms },
        }
    }
}

fn put(buffer: &mut Vec<u8>, frames: &mut Vec<u64>, file: &mut CodeFile) -> io::Result<()> {
    if !buffer.is_empty() {
        frames.push(file.writer.frame(buffer)?);
        buffer.clear();
    }
    Ok(())
}

fn entries(bytes: &[u8]) -> impl Iterator<Item = (u32, TermIndex)> + '_ {
    bytes.chunks_exact(ENTRY_BYTES).filter_map(|entry| {
        let (number, index) = entry.split_first_chunk::<4>()?;
        Some((u32::from_le_bytes(*number), TermIndex(u64::from_le_bytes(*index.first_chunk()?))))
    })
}

/// Numbers of blank nodes by their numbers in a run.
#[derive(Debug)]
pub struct BlankNumbers(HashMap<u32, u64>);

impl FromIterator<(u32, u64)> for BlankNumbers {
    fn from_iter<I: IntoIterator<Item = (u32, u64)>>(numbers: I) -> Self {
        Self(numbers.into_iter().collect())
    }
}

impl BlankNumbers {
    /// The number of one.
    pub fn get(&self, number: u32) -> Option<u64> {
        self.0.get(&number).copied()
    }
}

/// The numbers of a run's terms.
#[derive(Debug)]
pub enum RunCodes {
    /// By number in the run.
    Memory(Vec<TermIndex>),
    /// In a temporary file.
    File {
        /// The file.
        file: Arc<dyn ReadAt>,
        /// Its frames that belong to this run.
        frames: Vec<u64>,
        /// Terms of the run.
        terms: u32,
        /// Bytes of a frame at most.
        frame_bytes: u64,
    },
}

impl RunCodes {
    /// The numbers of these terms of a run in memory; none of a run in a file.
    pub fn in_memory<'a>(&'a self, terms: &'a NumberList) -> impl Iterator<Item = TermIndex> + 'a {
        let (codes, terms) = match (self, terms) {
            (Self::Memory(codes), NumberList::Memory(terms)) => (codes.as_slice(), terms.as_slice()),
            _ => Default::default(),
        };
        terms.iter().filter_map(|term| codes.get(*term as usize).copied())
    }

    /// All numbers, by number in the run.
    pub fn load(self) -> io::Result<Vec<TermIndex>> {
        let terms = match self {
            Self::Memory(codes) => return Ok(codes),
            Self::File { terms, .. } => terms,
        };
        let mut codes: Vec<TermIndex> = huge::zeros(terms as usize);
        self.for_each(&mut |number, index| {
            if let Some(code) = codes.get_mut(number as usize) {
                *code = index;
            }
        })?;
        Ok(codes)
    }

    /// Hands on the numbers of all terms, in any order, each with that in the run.
    pub fn for_each(&self, take: &mut dyn FnMut(u32, TermIndex)) -> io::Result<()> {
        match self {
            Self::Memory(codes) => (0_u32..).zip(codes).for_each(|(number, index)| take(number, *index)),
            Self::File { file, frames, frame_bytes, .. } => {
                let mut bytes = Vec::new();
                let mut ahead = frames.iter();
                let mut announce = |frames: usize| {
                    ahead.by_ref().take(frames).for_each(|next| file.will_read(*next, next + frame_bytes));
                };
                announce(FRAMES_AHEAD);
                for frame in frames {
                    read_frame(&**file, *frame, &mut bytes)?;
                    announce(1);
                    entries(&bytes).for_each(|(number, index)| take(number, index));
                }
            }
        }
        Ok(())
    }
}
