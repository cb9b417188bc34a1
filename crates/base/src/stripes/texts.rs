//! Short texts in files: read whole, written whole and durable. Where a wrong one would lead to others' files, a last line has a checksum.

use crate::checksum::checksum;
use crate::vfs::Vfs;
use std::io;
use std::path::Path;

const TEXT_BYTES_MAX: u64 = 1 << 20;
const SEAL: &str = "checksum ";

/// A text with the line that tells its checksum. It ends with a line end.
pub(super) fn seal(text: String) -> String {
    let sum = checksum(text.as_bytes());
    format!("{text}{SEAL}{sum:016x}\n")
}

/// A text that was sealed, without that line; none where it has changed since.
pub(super) fn unseal(text: &str) -> Option<&str> {
    let at = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let (text, line) = text.split_at(at);
    let sum = line.strip_prefix(SEAL)?.strip_suffix('\n')?;
    (sum == format!("{:016x}", checksum(text.as_bytes()))).then_some(text)
}

/// None where it is no text, or a very long one.
pub(super) fn read_text(vfs: &dyn Vfs, path: &Path) -> io::Result<Option<String>> {
    let file = vfs.open(path)?;
    if file.len() > TEXT_BYTES_MAX {
        return Ok(None);
    }
    let mut bytes = vec![0; file.len() as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8(bytes).ok())
}

pub(super) fn write_text(vfs: &dyn Vfs, path: &Path, text: &str) -> io::Result<()> {
    let mut file = vfs.create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync()
}
