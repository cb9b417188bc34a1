//! A published version: which it is, who published it, which segments and log it consists of, and the manifest that the store reads. A text like that
//! of a manifest; its last line is the checksum of all before.

use crate::error::RemoteError;
use lode_base::checksum::checksum;
use lode_store::KeptPrefixes;
use lode_store::manifest::{Manifest, ManifestError};
use std::fmt::Write as _;

/// Version of this text, of segments' indexes, and of the way objects play together.
pub const FORMAT_VERSION: u32 = 1;
/// A longer object is no manifest: this is one of some ten thousand segments. A server may send one without end.
pub const BYTES_MAX: u64 = 8 << 20;

const HEAD: &str = "lodestore-published ";
const MANIFEST: &str = "\nmanifest\n";
/// Begins the last line.
const CHECKSUM: &str = "checksum ";
/// Longest name of a version.
const NAME_CHARS_MAX: usize = 64;

/// An object that a manifest names, with what tells whether it is the one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectRef<Sum> {
    /// Its length.
    pub bytes: u64,
    /// The checksum of its bytes.
    pub checksum: Sum,
}

/// A published version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedVersion {
    /// Its number: that of the one before, and 1.
    pub number: u64,
    /// How often the right to publish has gone over to another copy of the database.
    pub epoch: u64,
    /// The copy that published it.
    pub publisher: u128,
    /// When, in seconds since 1970.
    pub time: u64,
    /// The name by which it is kept.
    pub name: Option<String>,
    /// Number of the version of the database.
    pub version: u64,
    /// Quads in it.
    pub quads: u64,
    /// The indexes of its segments, in the order of the manifest.
    pub indexes: Vec<ObjectRef<u64>>,
    /// The log with what came after the segments.
    pub log: Option<ObjectRef<u128>>,
    /// The prefixes that the database keeps.
    pub prefixes: KeptPrefixes,
    /// The manifest of the database.
    pub manifest: Manifest,
}

/// Whether this can be the name of a version.
pub fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    // One of digits alone is a number.
    !name.is_empty()
        && name.len() <= NAME_CHARS_MAX
        && name.chars().all(is_allowed)
        && !name.bytes().all(|b| b.is_ascii_digit())
}

impl PublishedVersion {
    /// Whether it has the same content, published by the same copy of the database under the same name.
    pub fn is_same_content(&self, other: &Self) -> bool {
        let without_place = |version: &Self| Self { number: 0, time: 0, ..version.clone() };
        without_place(self) == without_place(other)
    }

    /// The text.
    pub fn encode(&self) -> String {
        let mut text = format!(
            "{HEAD}{FORMAT_VERSION}\nnumber {}\nepoch {}\npublisher {:032x}\ntime {}\nversion {}\nquads {}\n",
            self.number, self.epoch, self.publisher, self.time, self.version, self.quads
        );
        if let Some(name) = &self.name {
            let _ = writeln!(text, "name {name}");
        }
        for (prefix, iri) in &*self.prefixes {
            let _ = writeln!(text, "prefix {prefix} {iri}");
        }
        for index in &self.indexes {
            let _ = writeln!(text, "index {} {:016x}", index.bytes, index.checksum);
        }
        if let Some(log) = &self.log {
            let _ = writeln!(text, "log {} {:032x}", log.bytes, log.checksum);
        }
        text += "manifest\n";
        text += &self.manifest.encode();
        let sum = checksum(text.as_bytes());
        let _ = writeln!(text, "checksum {sum:016x}");
        text
    }

    /// Reads what [`PublishedVersion::encode`] wrote; `object` is for error messages.
    ///
    /// # Errors
    /// Where the text is damaged, or of another version of the format.
    pub fn decode(bytes: &[u8], object: &str) -> Result<Self, RemoteError> {
        let damaged = |what: &str| RemoteError::damaged(object, 0, what);
        let text =
            std::str::from_utf8(bytes).map_err(|_| damaged("not the manifest of a published database"))?;
        let format = text.strip_prefix(HEAD).and_then(|rest| rest.split('\n').next());
        let format = format.ok_or_else(|| damaged("not the manifest of a published database"))?;
        let last = text.strip_suffix('\n').and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
        let (body, sum) = text.split_at(last);
        let fits = sum == format!("{CHECKSUM}{:016x}\n", checksum(body.as_bytes()));
        match format.parse() {
            Ok(FORMAT_VERSION) => {}
            // A later format ends as it likes; with a checksum that does not fit, it is this number that is damaged.
            Ok(found) if fits || !sum.starts_with(CHECKSUM) => {
                let object = object.to_owned();
                return Err(RemoteError::Format { object, found, supported: FORMAT_VERSION });
            }
            Ok(_) => {}
            Err(_) => return Err(damaged("no version number")),
        }
        if !fits {
            return Err(damaged("the checksum does not fit the text"));
        }
        let (head, manifest) = body.split_once(MANIFEST).ok_or_else(|| damaged("no manifest in it"))?;
        let manifest = Manifest::decode(manifest.as_bytes()).map_err(|error| match error {
            ManifestError::Damaged(what) => damaged(what),
            ManifestError::Version(found) => {
                let supported = lode_store::manifest::FORMAT_VERSION;
                RemoteError::Format { object: object.to_owned(), found, supported }
            }
        })?;
        parse(head, manifest).ok_or_else(|| damaged("a line that is not understood"))
    }
}

fn parse(head: &str, manifest: Manifest) -> Option<PublishedVersion> {
    let mut lines = head.lines();
    lines.next()?;
    let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
    let number = field("number")?.parse().ok()?;
    let epoch = field("epoch")?.parse().ok()?;
    let publisher = u128::from_str_radix(field("publisher")?, 16).ok()?;
    let time = field("time")?.parse().ok()?;
    let version = field("version")?.parse().ok()?;
    let quads = field("quads")?.parse().ok()?;
    let (mut name, mut prefixes, mut indexes, mut log) = (None, Vec::new(), Vec::new(), None);
    for line in lines {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "name" if name.is_none() && is_name(rest) => name = Some(rest.to_owned()),
            "prefix" => {
                let (prefix, iri) = rest.split_once(' ')?;
                prefixes.push((prefix.to_owned(), iri.to_owned()));
            }
            "index" => {
                let (bytes, sum) = rest.split_once(' ')?;
                let checksum = u64::from_str_radix(sum, 16).ok()?;
                indexes.push(ObjectRef { bytes: bytes.parse().ok()?, checksum });
            }
            "log" if log.is_none() => {
                let (bytes, sum) = rest.split_once(' ')?;
                let checksum = u128::from_str_radix(sum, 16).ok()?;
                log = Some(ObjectRef { bytes: bytes.parse().ok()?, checksum });
            }
            _ => return None,
        }
    }
    let fits = indexes.len() == manifest.segments.len() && log.is_some() == (manifest.log != 0);
    fits.then_some(PublishedVersion {
        number,
        epoch,
        publisher,
        time,
        name,
        version,
        quads,
        indexes,
        log,
        prefixes: prefixes.into(),
        manifest,
    })
}
