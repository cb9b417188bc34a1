//! The files of the repository, as the rules see them.

use std::path::Path;
use std::{fs, io};

/// A file of the repository.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path from the root, with `/`.
    pub path: String,
    pub bytes: u64,
    /// The content; empty if it is not text.
    pub text: String,
}

impl SourceFile {
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether the file holds nothing but tests.
    pub fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let in_folder = ["tests/", "benches/", "examples/"]
            .iter()
            .any(|folder| self.path.starts_with(folder) || self.path.contains(&format!("/{folder}")));
        in_folder || name == "tests.rs" || name.ends_with("_tests.rs")
    }

    /// The lines of code before a test module at the end of the file, with their numbers.
    pub fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut lines = (1..).zip(self.text.lines()).peekable();
        std::iter::from_fn(move || {
            let (number, line) = lines.next()?;
            let opens_tests =
                |next: &&(usize, &str)| next.1.trim_start().starts_with("mod ") && next.1.ends_with('{');
            if line.trim() == "#[cfg(test)]" && lines.peek().as_ref().is_some_and(opens_tests) {
                return None;
            }
            Some((number, line))
        })
    }
}

/// All files below `root`, sorted; without version control, build results and what git ignores by name.
pub fn collect(root: &Path) -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    walk(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<SourceFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if is_ignored(&path) {
            continue;
        } else if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() {
            let bytes = fs::read(entry.path())?;
            let length = bytes.len() as u64;
            files.push(SourceFile {
                path,
                bytes: length,
                text: String::from_utf8(bytes).unwrap_or_default(),
            });
        }
    }
    Ok(())
}

fn is_ignored(path: &str) -> bool {
    const FOLDERS: [&str; 6] = [".git", "target", "data", "fuzz/target", "fuzz/corpus", "fuzz/artifacts"];
    // What Python leaves beside its sources, wherever it runs.
    const OF_PYTHON: [&str; 3] = ["__pycache__", ".pytest_cache", ".mypy_cache"];
    let name = path.rsplit('/').next().unwrap_or_default();
    FOLDERS.contains(&path)
        || OF_PYTHON.contains(&name)
        || path == "python/target"
        || path == "cluster/target"
        || path.ends_with(".lode")
}
