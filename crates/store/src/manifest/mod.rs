//! The manifest: which segments make up the current version of a database, and what the next load may use.
//!
//! A small text that people can read; its last line is the checksum of all before. It is replaced as a whole: a new one
//! is written beside it, made durable, and renamed over it. `docs/format.md` describes the lines.

mod advice;
mod file_names;
mod inferences;
mod without_manifest;

use crate::error::StoreError;
use advice::MANIFEST_ADVICE;
use lode_base::vfs::Vfs;
use lode_packed::SegmentMeta;
use lode_rdf::value_id::Section;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use without_manifest::without_manifest;
use xxhash_rust::xxh3::xxh3_64;

pub(crate) use advice::{LOG_ADVICE, advised};
pub use file_names::{
    BACKUP, BACKUP_TMP, LOCK, MANIFEST, MANIFEST_COPY, MANIFEST_COPY_TMP, MANIFEST_TMP, PUBLISHER,
    PUBLISHER_TMP, RESERVE, RESTORING, SET_ASIDE, SNAPSHOTS, log_file, log_number, log_of, segment_folder,
    segment_number, spill_folder,
};
pub use inferences::{Currency, Inferences, RULES_BYTES_MAX};
pub(crate) use without_manifest::is_disposable;

/// Version of the manifest and of the way files play together, at most.
pub const FORMAT_VERSION: u32 = 5;
/// That of a database without inferences, which programs of before read as well.
const FORMAT_VERSION_PLAIN: u32 = 4;
/// A manifest of more bytes is none.
const BYTES_MAX: u64 = 64 << 20;

/// Whether a segment adds its quads to the database or takes them away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// The quads of the segment are in the database, unless another segment takes them away.
    Insertions,
    /// The quads of the segment, which others add, are not in the database.
    Deletions,
    /// All quads of the segment have been deleted; its terms are still in use.
    TermsOnly,
}

impl Sign {
    /// A number of quads, with the sign.
    pub fn of(self, quads: u64) -> i128 {
        match self {
            Self::Insertions => i128::from(quads),
            Self::Deletions => -i128::from(quads),
            Self::TermsOnly => 0,
        }
    }
}

/// A segment as the manifest knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentEntry {
    /// Number, which gives the folder its name; never used twice.
    pub number: u64,
    /// Random number, which its description has, too.
    pub identity: u128,
    /// What its quads are.
    pub sign: Sign,
    /// Quads in it.
    pub quads: u64,
    /// Terms in each section of its dictionary.
    pub terms: [u64; Section::COUNT],
    /// The order-independent fingerprint of its quads.
    pub fingerprint: u64,
}

impl SegmentEntry {
    /// The line of a segment with this description.
    pub fn of(meta: &SegmentMeta) -> Self {
        Self {
            number: meta.origin.number,
            identity: meta.origin.identity,
            sign: if meta.origin.is_deletions { Sign::Deletions } else { Sign::Insertions },
            quads: meta.quads(),
            terms: meta.terms(),
            fingerprint: meta.fingerprint(),
        }
    }

    /// Whether this is the line of a segment with this description. Of one that inserts quads only the terms may count.
    pub fn is_of(&self, meta: &SegmentMeta) -> bool {
        let found = Self::of(meta);
        let sign = if self.sign == Sign::TermsOnly { Sign::Insertions } else { self.sign };
        found == Self { sign, ..self.clone() }
    }

    /// Name of the segment's folder.
    pub fn folder(&self) -> String {
        segment_folder(self.number)
    }
}

/// One version of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Random number of the database, so that files of two databases are not mixed up.
    pub database: u128,
    /// Counts the versions.
    pub version: u64,
    /// First blank node number not used.
    pub next_blank: u64,
    /// First segment number not used.
    pub next_segment: u64,
    /// First log number not used.
    pub next_log: u64,
    /// Number of the log that goes on from here; 0: none was begun yet.
    pub log: u64,
    /// The name of the snapshot whose manifest it is; none in the manifest of a database.
    pub snapshot: Option<String>,
    /// What is known of inferences.
    pub inferences: Option<Inferences>,
    /// The segments; their dictionaries share out the numbers of terms in this order.
    pub segments: Vec<SegmentEntry>,
}

const SECTION_NAMES: [&str; Section::COUNT] =
    ["iri", "string", "lang_string", "typed_literal", "triple_term"];

/// First word of the line that says which snapshot it is.
const SNAPSHOT: &str = "snapshot";
/// First words of a segment's line.
const INSERTIONS: &str = "segment";
const DELETIONS: &str = "deletions";
const TERMS_ONLY: &str = "terms";

impl Manifest {
    /// The manifest of a new, empty database.
    pub fn new(database: u128) -> Self {
        Self {
            database,
            version: 0,
            next_blank: 0,
            next_segment: 1,
            next_log: 1,
            log: 0,
            snapshot: None,
            inferences: None,
            segments: Vec::new(),
        }
    }

    /// Quads that the segments add up to.
    pub fn quads(&self) -> u64 {
        let sum: i128 = self.segments.iter().map(|segment| segment.sign.of(segment.quads)).sum();
        u64::try_from(sum).unwrap_or(0)
    }

    /// Terms in each section, over all segments.
    pub fn terms(&self) -> [u64; Section::COUNT] {
        let mut sums = [0_u64; Section::COUNT];
        for segment in &self.segments {
            for (sum, count) in sums.iter_mut().zip(segment.terms) {
                *sum = sum.saturating_add(count);
            }
        }
        sums
    }

    /// The text.
    pub fn encode(&self) -> String {
        let format = if self.inferences.is_some() { FORMAT_VERSION } else { FORMAT_VERSION_PLAIN };
        let mut text = format!(
            "lodestore {format}\ndatabase {:032x}\nversion {}\nnext_blank {}\nnext_segment {}\nnext_log {}\nlog {}\n",
            self.database, self.version, self.next_blank, self.next_segment, self.next_log, self.log
        );
        if let Some(name) = &self.snapshot {
            let _ = writeln!(text, "{SNAPSHOT} {name}");
        }
        if let Some(inferences) = &self.inferences {
            let _ = writeln!(text, "{}", inferences.line());
        }
        for segment in &self.segments {
            let word = match segment.sign {
                Sign::Insertions => INSERTIONS,
                Sign::Deletions => DELETIONS,
                Sign::TermsOnly => TERMS_ONLY,
            };
            let (number, identity, quads) = (segment.number, segment.identity, segment.quads);
            let _ = write!(text, "{word} {number} id={identity:032x} quads={quads}");
            for (name, count) in SECTION_NAMES.iter().zip(segment.terms) {
                let _ = write!(text, " {name}={count}");
            }
            let _ = writeln!(text, " fingerprint={:016x}", segment.fingerprint);
        }
        let sum = xxh3_64(text.as_bytes());
        let _ = writeln!(text, "checksum {sum:016x}");
        text
    }

    /// Reads a text that [`Self::encode`] wrote; the error says what is wrong with it.
    ///
    /// # Errors
    /// Where the text is of another version of the format, or damaged.
    pub fn decode(text: &[u8]) -> Result<Self, ManifestError> {
        let text = std::str::from_utf8(text).map_err(|_| ManifestError::Damaged("text that is not UTF-8"))?;
        let version = text.strip_prefix("lodestore ").and_then(|rest| rest.split('\n').next());
        let version = version.ok_or(ManifestError::Damaged("no `lodestore` line"))?;
        match version.parse::<u32>() {
            Ok(FORMAT_VERSION_PLAIN | FORMAT_VERSION) => {}
            Ok(found) => return Err(ManifestError::Version(found)),
            Err(_) => return Err(ManifestError::Damaged("no version number")),
        }
        let last = text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
        let (body, sum) = text.split_at(last);
        if sum != format!("checksum {:016x}\n", xxh3_64(body.as_bytes())) {
            return Err(ManifestError::Damaged("the checksum does not fit the text"));
        }
        parse_body(body).ok_or(ManifestError::Damaged("a line that is not understood"))
    }

    /// Reads the manifest of the database in `folder`; where it is damaged, the error says what to do.
    ///
    /// # Errors
    /// Like [`Manifest::read`].
    pub fn read_current(vfs: &dyn Vfs, folder: &Path) -> Result<Self, StoreError> {
        Self::read(vfs, folder).map_err(|error| advised(error, vfs, folder, MANIFEST_ADVICE))
    }

    /// Reads the manifest in `folder`.
    ///
    /// # Errors
    /// Where there is none, which says what else there is; where it cannot be read, is damaged, of another version of the format, or one of a
    /// snapshot.
    pub fn read(vfs: &dyn Vfs, folder: &Path) -> Result<Self, StoreError> {
        Self::read_own(vfs, &folder.join(MANIFEST))?.ok_or_else(|| without_manifest(vfs, folder))
    }

    /// Reads the copy of the manifest, if there is one.
    ///
    /// # Errors
    /// Where it cannot be read, is damaged, of another version of the format, or one of a snapshot.
    pub fn read_copy(vfs: &dyn Vfs, folder: &Path) -> Result<Option<Self>, StoreError> {
        Self::read_own(vfs, &folder.join(MANIFEST_COPY))
    }

    /// One of a database, not of a snapshot.
    fn read_own(vfs: &dyn Vfs, path: &Path) -> Result<Option<Self>, StoreError> {
        match Self::read_file(vfs, path)? {
            Some(Self { snapshot: Some(name), .. }) => {
                Err(StoreError::corruption(path, 0, format!("the manifest of a snapshot, {name}")))
            }
            found => Ok(found),
        }
    }

    /// `None` where there is no such file.
    ///
    /// # Errors
    /// Where it cannot be read, is damaged, or of another version of the format.
    pub fn read_file(vfs: &dyn Vfs, path: &Path) -> Result<Option<Self>, StoreError> {
        let file = match vfs.open(path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                return Err(StoreError::corruption(path, 0, "a folder is in its place"));
            }
            Err(source) => return Err(StoreError::Io { path: path.to_owned(), source }),
        };
        if file.len() > BYTES_MAX {
            return Err(StoreError::corruption(path, 0, "the manifest is too long"));
        }
        let mut text = vec![0; file.len() as usize];
        file.read_exact_at(&mut text, 0).map_err(StoreError::io(path))?;
        let manifest = Self::decode(&text).map_err(|error| match error {
            ManifestError::Damaged(what) => StoreError::corruption(path, 0, what),
            ManifestError::Version(found) => {
                StoreError::Version { file: path.display().to_string(), found, supported: FORMAT_VERSION }
            }
        })?;
        Ok(Some(manifest))
    }

    /// Makes this the manifest in `folder`, durably and in one step. After [`StoreError::InDoubt`] it may be
    /// this one or the one before, and may change from one to the other once more if the power goes: all that either
    /// names must be kept. After any other error it is the one before.
    ///
    /// # Errors
    /// [`StoreError::InDoubt`] where the file system did not confirm the new name; where it refuses to write.
    pub fn publish(&self, vfs: &dyn Vfs, folder: &Path) -> Result<(), StoreError> {
        let (tmp, path) = (folder.join(MANIFEST_TMP), folder.join(MANIFEST));
        // What cannot be removed now is removed when the database is next opened for writing.
        let remove_tmp = || drop(vfs.remove(&tmp));
        if let Err(source) = self.write_file(vfs, &tmp) {
            remove_tmp();
            return Err(StoreError::Io { path: tmp, source });
        }
        if let Err(source) = vfs.rename(&tmp, &path) {
            let in_doubt = match Self::read(vfs, folder) {
                Ok(now) => now == *self,
                Err(error) => !error.is_without_manifest(),
            };
            if in_doubt {
                return Err(StoreError::InDoubt { path, source });
            }
            remove_tmp();
            return Err(StoreError::Io { path, source });
        }
        // Putting the old manifest back would fail as well, or leave three possible outcomes instead of two.
        vfs.sync_dir(folder).map_err(|source| StoreError::InDoubt { path, source })
    }

    /// The same for the manifest of a database, of which there is a copy: that is durable before, and so never older. It counts only
    /// where the manifest is lost.
    ///
    /// # Errors
    /// Like [`Manifest::publish`]; where the copy cannot be written.
    pub fn publish_with_copy(&self, vfs: &dyn Vfs, folder: &Path) -> Result<(), StoreError> {
        let published = self.write_copy(vfs, folder).and_then(|()| self.publish(vfs, folder));
        if published.as_ref().is_err_and(|error| !matches!(error, StoreError::InDoubt { .. }))
            && let Ok(before) = Self::read(vfs, folder)
        {
            // What this one names will go. A copy that names it is found to be wrong, too, but then it is of no use.
            let _ = before.write_copy(vfs, folder);
        }
        published
    }

    /// Makes this the copy of the manifest, durably. A database that holds nothing has none: without its manifest it is none.
    ///
    /// # Errors
    /// Where the file system refuses to write.
    pub fn write_copy(&self, vfs: &dyn Vfs, folder: &Path) -> Result<(), StoreError> {
        if self.version == 0 {
            return Ok(());
        }
        let (tmp, path) = (folder.join(MANIFEST_COPY_TMP), folder.join(MANIFEST_COPY));
        let write = || -> io::Result<()> {
            self.write_file(vfs, &tmp)?;
            vfs.rename(&tmp, &path)?;
            vfs.sync_dir(folder)
        };
        write().map_err(|source| {
            let _ = vfs.remove(&tmp);
            StoreError::Io { path, source }
        })
    }

    /// Writes it to a file, durably but for its name.
    ///
    /// # Errors
    /// Where the file system refuses to write.
    pub fn write_file(&self, vfs: &dyn Vfs, path: &Path) -> io::Result<()> {
        let mut file = vfs.create(path)?;
        file.write_all(self.encode().as_bytes())?;
        file.sync()
    }
}

/// Why a text is not a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestError {
    /// Of another version.
    Version(u32),
    /// Not what was written.
    Damaged(&'static str),
}

fn parse_body(body: &str) -> Option<Manifest> {
    let mut lines = body.lines();
    lines.next()?;
    let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
    let database = u128::from_str_radix(field("database")?, 16).ok()?;
    let version = field("version")?.parse().ok()?;
    let next_blank = field("next_blank")?.parse().ok()?;
    let next_segment = field("next_segment")?.parse().ok()?;
    let next_log = field("next_log")?.parse().ok()?;
    let log = field("log")?.parse().ok()?;
    let mut lines = lines.peekable();
    let name = lines.peek().and_then(|line| line.strip_prefix(SNAPSHOT)?.strip_prefix(' '));
    let snapshot = name.map(str::to_owned);
    if snapshot.is_some() {
        lines.next();
    }
    let inferences = match lines.peek().filter(|line| Inferences::is_line(line)) {
        Some(line) => Some(Inferences::parse(line)?),
        None => None,
    };
    if inferences.is_some() {
        lines.next();
    }
    let segments = lines.map(parse_segment).collect::<Option<Vec<_>>>()?;
    Some(Manifest {
        database,
        version,
        next_blank,
        next_segment,
        next_log,
        log,
        snapshot,
        inferences,
        segments,
    })
}

fn parse_segment(line: &str) -> Option<SegmentEntry> {
    let mut words = line.split(' ');
    let sign = match words.next()? {
        INSERTIONS => Sign::Insertions,
        DELETIONS => Sign::Deletions,
        TERMS_ONLY => Sign::TermsOnly,
        _ => return None,
    };
    let number = words.next()?.parse().ok()?;
    let mut field = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=');
    let identity = u128::from_str_radix(field("id")?, 16).ok()?;
    let quads = field("quads")?.parse().ok()?;
    let mut terms = [0; Section::COUNT];
    for (count, name) in terms.iter_mut().zip(SECTION_NAMES) {
        *count = field(name)?.parse().ok()?;
    }
    let fingerprint = u64::from_str_radix(field("fingerprint")?, 16).ok()?;
    words.next().is_none().then_some(SegmentEntry { number, identity, sign, quads, terms, fingerprint })
}
