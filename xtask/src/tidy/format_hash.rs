//! `docs/format.md` carries a hash of the sources that define the bytes on disk. When they change, whoever changed them has to
//! look at the document, bring it up to date, and run `cargo xtask format-hash`.

use std::path::Path;
use std::{fs, io};

use super::files::{self, SourceFile};
use super::problem::Problem;

/// The description of the bytes.
pub const DOCUMENT: &str = "docs/format.md";

/// The sources that fix what has no golden bytes of its own: sizes and magic numbers, orders, ids and keys, the log, the manifest.
const SOURCES: [&str; 8] = [
    "crates/packed/src/format.rs",
    "crates/packed/src/order.rs",
    "crates/rdf/src/key.rs",
    "crates/rdf/src/value_id.rs",
    "crates/store/src/log/frame.rs",
    "crates/store/src/log/record.rs",
    "crates/store/src/manifest/file_names.rs",
    "crates/store/src/manifest/mod.rs",
];

const MARK: &str = "<!-- format sources: ";
const MARK_END: &str = " -->";

pub fn check(files: &[SourceFile]) -> Vec<Problem> {
    let Some(document) = files.iter().find(|file| file.path == DOCUMENT) else {
        return vec![Problem::new(DOCUMENT, 0, "is missing")];
    };
    let hash = match hash(files) {
        Ok(hash) => hash,
        Err(missing) => return vec![Problem::new(missing, 0, "defines the format, but is missing")],
    };
    let found = (1..).zip(document.text.lines()).find(|(_, line)| line.starts_with(MARK));
    match found {
        Some((_, line)) if line == mark(hash) => Vec::new(),
        Some((number, _)) => vec![Problem::new(
            DOCUMENT,
            number,
            "the sources of the format changed: bring the document up to date, then run `cargo xtask format-hash`",
        )],
        None => vec![Problem::new(DOCUMENT, 0, format!("lacks the line `{MARK}…{MARK_END}`"))],
    }
}

/// Writes the current hash into the document.
pub fn refresh(root: &Path) -> io::Result<()> {
    let files = files::collect(root)?;
    let hash = hash(&files).map_err(|path| io::Error::new(io::ErrorKind::NotFound, path))?;
    let path = root.join(DOCUMENT);
    let old = fs::read_to_string(&path)?;
    let mut text = String::with_capacity(old.len() + 64);
    for line in old.lines().filter(|line| !line.starts_with(MARK)) {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&mark(hash));
    text.push('\n');
    fs::write(path, text)
}

fn mark(hash: u64) -> String {
    format!("{MARK}{hash:016x}{MARK_END}")
}

/// FNV-1a over the code: comments, blank lines and indentation do not matter.
fn hash(files: &[SourceFile]) -> Result<u64, &'static str> {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for path in SOURCES {
        let file = files.iter().find(|file| file.path == path).ok_or(path)?;
        let code = file.code_lines().map(|(_, line)| line.split("//").next().unwrap_or_default().trim());
        for byte in code.filter(|line| !line.is_empty()).flat_map(str::bytes) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
    }
    Ok(hash)
}
