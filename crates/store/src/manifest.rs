//! The manifest: which segments make up the current version of a database, and what the next load may use.
//!
//! A small text that people can read; its last line is the checksum of all before. It is replaced as a whole: a new one
//! is written beside it, made durable, and renamed over it. `docs/format.md` describes the lines.

use crate::error::StoreError;
use lode_base::vfs::Vfs;
use lode_rdf::value_id::Section;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Name of the manifest in the folder of a database.
pub const MANIFEST: &str = "MANIFEST";
/// Name of the next manifest while it is being written.
pub const MANIFEST_TMP: &str = "MANIFEST.tmp";
/// Name of the empty file that says that a folder is a backup; locked by whoever writes it.
pub const BACKUP: &str = "BACKUP";
/// Name of the next log of a backup while it is being written.
pub const BACKUP_TMP: &str = "BACKUP.tmp";
/// Version of the manifest and of the way files play together.
pub const FORMAT_VERSION: u32 = 3;
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
    /// Name of the segment's folder.
    pub fn folder(&self) -> String {
        segment_folder(self.number)
    }
}

/// Name of the folder of segment `number`.
pub fn segment_folder(number: u64) -> String {
    format!("segment-{number:06}")
}

/// Name of the folder for temporary files of the load that makes segment `number`.
pub fn spill_folder(number: u64) -> String {
    format!("spill-{number:06}")
}

/// Name of log `number`.
pub fn log_file(number: u64) -> String {
    format!("log-{number:06}")
}

/// Whether a name in a database's folder is one that the store gives to its own files.
pub fn is_own_name(name: &str) -> bool {
    [MANIFEST, MANIFEST_TMP, crate::store::LOCK, BACKUP, BACKUP_TMP].contains(&name)
        || ["segment-", "spill-", "log-"].iter().any(|prefix| {
            name.strip_prefix(prefix)
                .is_some_and(|number| number.len() >= 6 && number.bytes().all(|b| b.is_ascii_digit()))
        })
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
    /// Number of the log that goes on from here; 0: none was begun yet.
    pub log: u64,
    /// The segments; their dictionaries share out the numbers of terms in this order.
    pub segments: Vec<SegmentEntry>,
}

const SECTION_NAMES: [&str; Section::COUNT] =
    ["iri", "string", "lang_string", "typed_literal", "triple_term"];

/// First words of a segment's line.
const INSERTIONS: &str = "segment";
const DELETIONS: &str = "deletions";
const TERMS_ONLY: &str = "terms";

impl Manifest {
    /// The manifest of a new, empty database.
    pub fn new(database: u128) -> Self {
        Self { database, version: 0, next_blank: 0, next_segment: 1, log: 0, segments: Vec::new() }
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
        let mut text = format!(
            "lodestore {FORMAT_VERSION}\ndatabase {:032x}\nversion {}\nnext_blank {}\nnext_segment {}\nlog {}\n",
            self.database, self.version, self.next_blank, self.next_segment, self.log
        );
        for segment in &self.segments {
            let word = match segment.sign {
                Sign::Insertions => INSERTIONS,
                Sign::Deletions => DELETIONS,
                Sign::TermsOnly => TERMS_ONLY,
            };
            let _ = write!(text, "{word} {} quads={}", segment.number, segment.quads);
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
    pub fn decode(text: &[u8]) -> Result<Self, ManifestError> {
        let text = std::str::from_utf8(text).map_err(|_| ManifestError::Damaged("text that is not UTF-8"))?;
        let version = text.strip_prefix("lodestore ").and_then(|rest| rest.split('\n').next());
        let version = version.ok_or(ManifestError::Damaged("no `lodestore` line"))?;
        match version.parse::<u32>() {
            Ok(FORMAT_VERSION) => {}
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

    /// Reads the manifest of the database in `folder`.
    pub fn read(vfs: &dyn Vfs, folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(MANIFEST);
        let file = vfs.open(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => missing(vfs, folder),
            _ => StoreError::Io { path: path.clone(), source },
        })?;
        if file.len() > BYTES_MAX {
            return Err(StoreError::corruption(&path, 0, "the manifest is too long"));
        }
        let mut text = vec![0; file.len() as usize];
        file.read_exact_at(&mut text, 0).map_err(StoreError::io(&path))?;
        Self::decode(&text).map_err(|error| match error {
            ManifestError::Damaged(what) => StoreError::corruption(&path, 0, what),
            ManifestError::Version(found) => {
                StoreError::Version { file: path.display().to_string(), found, supported: FORMAT_VERSION }
            }
        })
    }

    /// Makes this the manifest of the database in `folder`, durably and in one step. After [`StoreError::InDoubt`] it may be
    /// this one or the one before, and may change from one to the other once more if the power goes: all that either
    /// names must be kept. After any other error it is the one before.
    pub fn publish(&self, vfs: &dyn Vfs, folder: &Path) -> Result<(), StoreError> {
        let tmp = folder.join(MANIFEST_TMP);
        let write = || -> io::Result<()> {
            let mut file = vfs.create(&tmp)?;
            file.write_all(self.encode().as_bytes())?;
            file.sync()
        };
        // What cannot be removed now is removed when the database is next opened for writing.
        let remove_tmp = || drop(vfs.remove(&tmp));
        if let Err(source) = write() {
            remove_tmp();
            return Err(StoreError::Io { path: tmp, source });
        }
        let path = folder.join(MANIFEST);
        if let Err(source) = vfs.rename(&tmp, &path) {
            let in_doubt = match Self::read(vfs, folder) {
                Ok(now) => now == *self,
                Err(error) => !matches!(error, StoreError::Missing { .. }),
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
}

/// What is at a path that has no manifest.
fn missing(vfs: &dyn Vfs, folder: &Path) -> StoreError {
    let path = folder.to_owned();
    let foreign = match vfs.list(folder) {
        Ok(names) => names.iter().any(|name| !is_own_name(&name.to_string_lossy())),
        Err(_) => vfs.exists(folder),
    };
    if foreign { StoreError::NotADatabase { path } } else { StoreError::Missing { path } }
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
    let log = field("log")?.parse().ok()?;
    let segments = lines.map(parse_segment).collect::<Option<Vec<_>>>()?;
    Some(Manifest { database, version, next_blank, next_segment, log, segments })
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
    let quads = field("quads")?.parse().ok()?;
    let mut terms = [0; Section::COUNT];
    for (count, name) in terms.iter_mut().zip(SECTION_NAMES) {
        *count = field(name)?.parse().ok()?;
    }
    let fingerprint = u64::from_str_radix(field("fingerprint")?, 16).ok()?;
    words.next().is_none().then_some(SegmentEntry { number, sign, quads, terms, fingerprint })
}
