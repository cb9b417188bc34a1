//! Names of files and folders in the folder of a database.

/// Name of the manifest in the folder of a database.
pub const MANIFEST: &str = "MANIFEST";
/// Name of the next manifest while it is being written.
pub const MANIFEST_TMP: &str = "MANIFEST.tmp";
/// Name of the copy of the manifest, which counts where that is lost.
pub const MANIFEST_COPY: &str = "MANIFEST.copy";
/// Name of the next copy while it is being written.
pub const MANIFEST_COPY_TMP: &str = "MANIFEST.copy.tmp";
/// Name of the empty file of a database that is being restored.
pub const RESTORING: &str = "RESTORING";
/// Folder of the files that no manifest named when a lost one was made again.
pub const SET_ASIDE: &str = "set-aside";
/// Name of the empty file that says that a folder is a backup; locked by whoever writes it.
pub const BACKUP: &str = "BACKUP";
/// Name of the next log of a backup while it is being written.
pub const BACKUP_TMP: &str = "BACKUP.tmp";
/// Name of the file that a write locks.
pub const LOCK: &str = "LOCK";
/// Name of the file with the number by which publications from this folder are known.
pub const PUBLISHER: &str = "PUBLISHER";
/// What the name of that file begins with while it is being written.
pub const PUBLISHER_TMP: &str = "PUBLISHER.tmp-";
/// Name of the reserve of room in the folder of a database.
pub const RESERVE: &str = "reserve";
/// The folder of the named snapshots in that of the database.
pub const SNAPSHOTS: &str = "snapshots";

/// Name of the folder of segment `number`.
pub fn segment_folder(number: u64) -> String {
    format!("segment-{number:06}")
}

/// The number of the segment whose folder has this name.
pub fn segment_number(name: &str) -> Option<u64> {
    numbered(name, "segment-")
}

/// The number of the log that has this name.
pub fn log_number(name: &str) -> Option<u64> {
    numbered(name, "log-")
}

fn numbered(name: &str, prefix: &str) -> Option<u64> {
    let number = name.strip_prefix(prefix)?;
    let is_number = number.len() >= 6 && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| number.parse().ok()).flatten()
}

/// Name of the folder for temporary files of the load that makes segment `number`.
pub fn spill_folder(number: u64) -> String {
    format!("spill-{number:06}")
}

/// Name of log `number`.
pub fn log_file(number: u64) -> String {
    format!("log-{number:06}")
}

/// The log to which a file belongs: itself, or the one whose end mark it is.
pub fn log_of(name: &str) -> &str {
    name.strip_suffix(".end").or_else(|| name.strip_suffix(".end.tmp")).unwrap_or(name)
}
