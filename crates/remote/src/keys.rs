//! Names of objects.

use lode_store::manifest::SegmentEntry;

/// The folder of the manifests of published versions.
pub const MANIFESTS: &str = "manifest";
/// The copy of the newest manifest, for stores that do not tell what they hold.
pub const LATEST: &str = "manifest/latest";
/// What garbage collection is about to remove.
pub const GARBAGE: &str = "garbage";
/// Name of a segment's index among its objects.
pub const INDEX: &str = "index";
/// The work of a load that makes a database here.
pub const WORK: &str = "load";
/// What folders of segments begin with.
pub const SEGMENT: &str = "segment-";
/// What logs begin with.
pub const LOG: &str = "log-";

const DIGITS: usize = 20;

/// The manifest of a version.
pub fn manifest(number: u64) -> String {
    format!("{MANIFESTS}/{number:0DIGITS$}")
}

/// The number of the version whose manifest has this name in its folder.
pub fn manifest_number(name: &str) -> Option<u64> {
    (name.len() == DIGITS && name.bytes().all(|b| b.is_ascii_digit())).then(|| name.parse().ok()).flatten()
}

/// The folder of a segment's objects.
pub fn segment(entry: &SegmentEntry) -> String {
    segment_of(entry.identity)
}

/// The same by its random number.
pub fn segment_of(identity: u128) -> String {
    format!("{SEGMENT}{identity:032x}")
}

/// A log, by what is in it.
pub fn log(checksum: u128) -> String {
    format!("{LOG}{checksum:032x}")
}
