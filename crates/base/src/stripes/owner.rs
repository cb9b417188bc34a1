//! The mark in an own folder that tells whose it is: where the folder of the database was when it got its stripes, or was opened for writing last. The first
//! folder whose mark is sound decides.

use super::texts::{read_text, seal, unseal, write_text};
use crate::vfs::Vfs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Its name.
pub(super) const OWNER_FILE: &str = "owner";
/// And while it is written in place of another.
pub(super) const OWNER_FILE_TMP: &str = "owner.new";
const FIRST_LINE: &str = "lodestore owner 1\n";

/// The text of a mark.
pub(super) fn encode(root: &Path) -> String {
    seal(format!("{FIRST_LINE}{}\n", root.display()))
}

/// The folder that a mark names; none where it is damaged. Those of before were that one line, without a checksum.
pub(super) fn decode(text: &str) -> Option<PathBuf> {
    let sealed = unseal(text).and_then(|text| text.strip_prefix(FIRST_LINE));
    let line = sealed.unwrap_or(text).strip_suffix('\n')?;
    let is_old = || Path::new(line).is_absolute() && !line.contains('\n');
    (sealed.is_some() || is_old()).then(|| PathBuf::from(line))
}

/// The text of the mark in an own folder, whatever it says; none where it has none.
///
/// # Errors
/// Where it cannot be read.
pub(super) fn text(vfs: &dyn Vfs, own: &Path) -> io::Result<Option<String>> {
    match read_text(vfs, &own.join(OWNER_FILE)) {
        Ok(text) => Ok(Some(text.unwrap_or_default())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The folder that the mark in an own folder names, if there is one that is sound.
pub(super) fn of(vfs: &dyn Vfs, own: &Path) -> Option<PathBuf> {
    decode(&text(vfs, own).ok()??)
}

/// Writes the mark where there is none.
pub(super) fn write(vfs: &dyn Vfs, own: &Path, root: &Path) -> io::Result<()> {
    write_text(vfs, &own.join(OWNER_FILE), &encode(root))
}

/// Writes it in place of another, durably.
pub(super) fn replace(vfs: &dyn Vfs, own: &Path, root: &Path) -> io::Result<()> {
    let tmp = own.join(OWNER_FILE_TMP);
    write_text(vfs, &tmp, &encode(root))?;
    vfs.rename(&tmp, &own.join(OWNER_FILE))?;
    vfs.sync_dir(own)
}

#[cfg(test)]
mod tests {
    //! A mark that was changed names nobody.
    use super::*;

    #[test]
    fn a_mark_names_its_folder_or_is_damaged() {
        for root in ["/data/db", "/with\nline", "/", "/checksum 0"] {
            let text = encode(Path::new(root));
            assert_eq!(decode(&text).as_deref(), Some(Path::new(root)));
            for at in 0..text.len() {
                for other in [b'/', b'\n', text.as_bytes()[at] ^ 1] {
                    let mut bytes = text.clone().into_bytes();
                    bytes[at] = other;
                    if bytes != text.as_bytes() {
                        assert_eq!(decode(&String::from_utf8_lossy(&bytes)), None, "{root:?} {at} {other}");
                    }
                }
                assert_eq!(decode(&text[..at]), None);
            }
        }
        // Of before there were checksums.
        assert_eq!(decode("/data/db\n").as_deref(), Some(Path::new("/data/db")));
        for damaged in ["", "\n", "/data/db", "data/db\n", "/data\n/db\n"] {
            assert_eq!(decode(damaged), None, "{damaged:?}");
        }
    }
}
