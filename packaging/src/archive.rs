//! Archives whose bytes follow from what is put in: entries in order, one time, one owner.

use flate2::{Compression, GzBuilder};
use std::io::{self, Write as _};
use tar::{Builder, EntryType, Header};

/// Something in an archive.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Relative, with slashes.
    pub path: String,
    pub mode: u32,
    /// A folder has none.
    pub bytes: Option<Vec<u8>>,
}

impl Entry {
    pub fn file(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o644, bytes: Some(bytes.into()) }
    }

    pub fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { mode: 0o755, ..Self::file(path, bytes) }
    }

    pub fn folder(path: impl Into<String>) -> Self {
        Self { path: path.into(), mode: 0o755, bytes: None }
    }
}

/// The same with all folders that are above them, each before what is in it.
pub fn with_folders(entries: Vec<Entry>) -> Vec<Entry> {
    let mut all = std::collections::BTreeMap::new();
    for entry in entries {
        for (at, _) in entry.path.match_indices('/') {
            let above = entry.path[..at].to_owned();
            all.entry(above.clone()).or_insert_with(|| Entry::folder(above));
        }
        all.insert(entry.path.clone(), entry);
    }
    all.into_values().collect()
}

/// A compressed archive; names begin with `prefix`.
///
/// # Errors
/// A path that is too long for it.
pub fn tar_gz(entries: &[Entry], prefix: &str, time: u64) -> io::Result<Vec<u8>> {
    let mut archive = Builder::new(GzBuilder::new().write(Vec::new(), Compression::default()));
    for entry in entries {
        let mut header = Header::new_gnu();
        let bytes = entry.bytes.as_deref().unwrap_or_default();
        header.set_mode(entry.mode);
        header.set_mtime(time);
        header.set_uid(0);
        header.set_gid(0);
        header.set_username("root")?;
        header.set_groupname("root")?;
        header.set_size(bytes.len() as u64);
        let is_folder = entry.bytes.is_none();
        header.set_entry_type(if is_folder { EntryType::Directory } else { EntryType::Regular });
        let end = if is_folder { "/" } else { "" };
        archive.append_data(&mut header, format!("{prefix}{}{end}", entry.path), bytes)?;
    }
    archive.into_inner()?.finish()
}

/// Compressed alone.
///
/// # Errors
/// None that memory has.
pub fn gz(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = GzBuilder::new().write(Vec::new(), Compression::best());
    writer.write_all(bytes)?;
    writer.finish()
}

/// An archive of `ar`, as Debian's packages are.
pub fn ar(members: &[(&str, &[u8])], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let header = format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 100_644, bytes.len());
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

/// Hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
