//! What a load in tasks loads, and into how many parts: decided once, before the first task, and the same for all workers.

use super::frame_range::{LINE_STARTS, holds_text};
use super::record::{Record, RecordReader};
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::load::options::LoadOptions;
use crate::manifest::Manifest;
use lode_base::identity::random_identity;
use lode_base::vfs::{ReadAt, Vfs};
use lode_ingest::IngestError;
use lode_rdf::RdfFormat;
use lode_rdf::input::frame_starts;
use lode_rdf::parse::StatementLimit;
use lode_rdf::value_id::Section;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of lines are read in pieces of about so many bytes, and of no fewer.
const SHARD_BYTES: (u64, u64) = (16 << 20, 256 << 20);
/// What is compressed holds about so many times as many bytes.
const COMPRESSED: u64 = 8;
/// Shards that there should be for each part, where the files can be cut so: a worker that is behind then keeps few waiting.
const SHARDS_PER_PART: u64 = 4;
/// The most parts, each of which becomes a segment.
pub const PARTS_MAX: usize = 256;
/// Files in archives have numbers beside that of the archive.
pub const SOURCES_PER_FILE: u32 = 1 << 12;
/// The version of the plan and of all that tasks write.
const VERSION: u64 = 3;

/// What is loaded, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Random number of the load.
    pub identity: u128,
    /// What is read, by one task each.
    pub shards: Vec<Shard>,
    /// Segments to make.
    pub parts: usize,
    /// Bytes of memory of a task.
    pub memory_bytes: usize,
    /// How to read.
    pub read: ReadPlan,
    /// What the database holds that is loaded into; none where that is new.
    pub base: Option<Base>,
}

/// A version of a database that more is loaded into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The folder of the database.
    pub folder: PathBuf,
    /// The version, all of it in segments, with the numbers that the load may take.
    pub manifest: Manifest,
}

/// How files are read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadPlan {
    /// See [`LoadOptions::format`].
    pub format: Option<RdfFormat>,
    /// See [`LoadOptions::base_iri`].
    pub base_iri: Option<String>,
    /// See [`LoadOptions::graph`].
    pub graph: Option<String>,
    /// See [`LoadOptions::lenient`].
    pub lenient: bool,
    /// See [`LoadOptions::statement_limit`].
    pub statement_bytes_max: Option<usize>,
}

/// A file, or a part of one that has a statement on each line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// The file.
    pub path: PathBuf,
    /// Its number among all, which scopes its blank nodes.
    pub file: u32,
    /// Bytes that the file has.
    pub file_bytes: u64,
    /// From where to where lines begin that are read, or of a compressed file, which frames are; none where the file is read as a whole.
    pub range: Option<(u64, u64)>,
}

impl Plan {
    /// A plan for these files.
    ///
    /// # Errors
    /// Where a file cannot be opened, or there are too many.
    pub fn new(
        vfs: &dyn Vfs,
        files: &[PathBuf],
        parts: usize,
        memory_bytes: usize,
        read: ReadPlan,
    ) -> Result<Self, LoadError> {
        Self::cut(vfs, files, parts, (memory_bytes, SHARD_BYTES), read)
    }

    pub(super) fn cut(
        vfs: &dyn Vfs,
        files: &[PathBuf],
        parts: usize,
        (memory_bytes, shard_bytes): (usize, (u64, u64)),
        read: ReadPlan,
    ) -> Result<Self, LoadError> {
        let mut found = Vec::new();
        for path in files {
            let file = vfs.open(path).map_err(StoreError::io(path))?;
            found.push((path.clone(), file));
        }
        let parts = parts.clamp(1, PARTS_MAX);
        let total: u64 = found.iter().map(|(_, file)| file.len()).sum();
        let wanted = total / (parts as u64 * SHARDS_PER_PART);
        let wanted = wanted.clamp(shard_bytes.0, shard_bytes.1);
        let mut shards = Vec::new();
        for (number, (path, opened)) in found.into_iter().enumerate() {
            let file = u32::try_from(number).ok().filter(|file| *file < u32::MAX / SOURCES_PER_FILE);
            let file = file.ok_or(LoadError::limit("files"))?;
            let file_bytes = opened.len();
            let shard = |range| Shard { path: path.clone(), file, file_bytes, range };
            let pieces = read.pieces(&path, &opened, wanted).map_err(StoreError::io(&path))?;
            shards.extend(pieces.into_iter().map(shard));
        }
        Ok(Self { identity: random_identity(), shards, parts, memory_bytes, read, base: None })
    }

    /// Whether it is of the same files and does the same as another, whatever the database holds.
    pub fn is_like(&self, other: &Self) -> bool {
        *self == Self { identity: self.identity, base: self.base.clone(), ..other.clone() }
    }

    /// Terms that the database has already, by section.
    pub fn old_terms(&self) -> [u64; Section::COUNT] {
        self.base.as_ref().map_or([0; Section::COUNT], |base| base.manifest.terms())
    }

    /// The first number for blank nodes.
    pub fn first_blank(&self) -> u64 {
        self.base.as_ref().map_or(0, |base| base.manifest.next_blank)
    }

    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut record = Record::default();
        record.number(VERSION);
        record.bytes(&self.identity.to_le_bytes());
        record.number(self.parts as u64);
        record.number(self.memory_bytes as u64);
        record.option(self.read.format, |record, format| record.bytes(format.extension().as_bytes()));
        record.option(self.read.base_iri.as_deref(), |record, iri| record.bytes(iri.as_bytes()));
        record.option(self.read.graph.as_deref(), |record, iri| record.bytes(iri.as_bytes()));
        record.number(u64::from(self.read.lenient));
        record.option(self.read.statement_bytes_max, |record, bytes| record.number(bytes as u64));
        record.option(self.base.as_ref(), |record, base| {
            record.bytes(base.folder.as_os_str().as_encoded_bytes());
            record.bytes(base.manifest.encode().as_bytes());
        });
        record.number(self.shards.len() as u64);
        for shard in &self.shards {
            record.bytes(shard.path.as_os_str().as_encoded_bytes());
            record.number(u64::from(shard.file));
            record.number(shard.file_bytes);
            record.option(shard.range, |record, (start, end)| {
                record.number(start);
                record.number(end);
            });
        }
        record.into_sealed_bytes()
    }

    /// Reads what [`Self::encode`] wrote to a file.
    ///
    /// # Errors
    /// Where it is damaged, or of another version of the program.
    pub fn decode(path: &Path, bytes: Vec<u8>) -> Result<Self, StoreError> {
        let wrong = |what: &str| StoreError::corruption(path, 0, what.to_owned());
        // The checksum is newer than the first versions.
        if RecordReader::new(path, bytes.clone()).number()? != VERSION {
            return Err(wrong("the plan of a load by another version of this program"));
        }
        let mut record = RecordReader::sealed(path, bytes)?;
        record.number()?;
        let identity = record.bytes()?.first_chunk().map(|bytes| u128::from_le_bytes(*bytes));
        let identity = identity.ok_or_else(|| wrong("a load without an identity"))?;
        let parts = record.number()? as usize;
        if !(1..=PARTS_MAX).contains(&parts) {
            return Err(wrong("a load with too many parts, or with none"));
        }
        let memory_bytes = record.number()? as usize;
        let read = ReadPlan {
            format: record.option(RecordReader::text)?.and_then(|name| RdfFormat::from_extension(&name)),
            base_iri: record.option(RecordReader::text)?,
            graph: record.option(RecordReader::text)?,
            lenient: record.number()? != 0,
            statement_bytes_max: record.option(RecordReader::number)?.map(|bytes| bytes as usize),
        };
        let base = record.option(|record| Ok((record.text()?, record.bytes()?)))?;
        let base = base.map(|(folder, manifest)| {
            let manifest = Manifest::decode(&manifest)
                .map_err(|_| wrong("a load into a database of another version"))?;
            Ok::<_, StoreError>(Base { folder: PathBuf::from(folder), manifest })
        });
        let base = base.transpose()?;
        let count = record.count()?;
        let mut shards = Vec::with_capacity(count);
        for _ in 0..count {
            shards.push(Shard {
                path: PathBuf::from(record.text()?),
                file: u32::try_from(record.number()?).map_err(|_| wrong("a file without a number"))?,
                file_bytes: record.number()?,
                range: record.option(|record| Ok((record.number()?, record.number()?)))?,
            });
        }
        Ok(Self { identity, shards, parts, memory_bytes, read, base })
    }
}

/// Whether a file begins with what a statement may begin with: one that is compressed or not in UTF-8 is read as a whole.
pub fn begins_as_text(file: &dyn ReadAt) -> io::Result<bool> {
    let mut first = [b'#'];
    if !file.is_empty() {
        file.read_exact_at(&mut first, 0)?;
    }
    Ok(LINE_STARTS.contains(&first[0]))
}

impl ReadPlan {
    /// Whether a file has a statement on each line.
    fn is_of_lines(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        RdfFormat::from_file_name(&name).is_some_and(RdfFormat::is_line_based)
            && self.format.is_none_or(RdfFormat::is_line_based)
    }

    /// From where to where the bytes of a file are read, each by a task, so that each has about so many; no place where it is read as a whole.
    fn pieces(
        &self,
        path: &Path,
        file: &Arc<dyn ReadAt>,
        wanted: u64,
    ) -> io::Result<Vec<Option<(u64, u64)>>> {
        let whole = Ok(vec![None]);
        if !self.is_of_lines(path) {
            return whole;
        }
        let end = file.len();
        if begins_as_text(&**file)? {
            let pieces = end.div_ceil(wanted).max(1);
            let at = |piece: u64| (u128::from(end) * u128::from(piece) / u128::from(pieces)) as u64;
            return Ok((0..pieces).map(|piece| Some((at(piece), at(piece + 1)))).collect());
        }
        let starts = frame_starts(&**file, (wanted / COMPRESSED).max(1))?;
        // What cannot be decoded is told by who reads it.
        if starts.is_empty() || !holds_text(file).unwrap_or(false) {
            return whole;
        }
        let begins = [0].into_iter().chain(starts.iter().copied());
        Ok(begins.zip(starts.iter().copied().chain([end])).map(Some).collect())
    }

    /// The options of a load that reads so.
    ///
    /// # Errors
    /// Where the name of the graph is no IRI.
    pub fn options(&self, memory_bytes: usize) -> Result<LoadOptions, LoadError> {
        let graph = self.graph.as_deref().map(lode_rdf::NamedNode::new).transpose().map_err(|error| {
            let source_name = "graph".to_owned();
            LoadError::Source(IngestError::Format { source_name, message: error.to_string() })
        })?;
        Ok(LoadOptions {
            threads: 1,
            memory_bytes,
            format: self.format,
            base_iri: self.base_iri.clone(),
            statement_limit: self.statement_bytes_max.map(StatementLimit::new),
            graph,
            lenient: self.lenient,
            ..LoadOptions::default()
        })
    }
}
