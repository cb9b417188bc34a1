//! The licences of what the program is made of, as their authors ask for: with every copy.

use crate::metadata::Package;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Names of files that are such texts, without their ends.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// C libraries have theirs in a folder of the package.
const DEPTH: usize = 2;
const LINE: &str = "==============================================================================";

/// One text with all of them: each once, below the names of the packages that have it.
pub fn notices(parts: &[&Package]) -> String {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.source.is_some()) {
        let name = format!("{} {}", part.name, part.version);
        let mut found = Vec::new();
        collect(part.manifest_path.parent().unwrap_or(Path::new("")), DEPTH, &mut found);
        if found.is_empty() {
            let licence = part.license.as_deref().unwrap_or("unknown");
            found.push(format!("(The package has no text of its licence, {licence}.)"));
        }
        found.sort_unstable();
        found.dedup();
        for text in found {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let mut sections: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, names)| (names, text)).collect();
    sections.sort_unstable();
    let mut all = "lode is made of these packages, each under the licence that follows it.\n".to_owned();
    for (names, text) in sections {
        let _ = write!(all, "\n{LINE}\n{}\n{LINE}\n\n{text}\n", names.join("\n"));
    }
    all
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().to_uppercase());
        if path.is_dir() {
            if depth > 1 {
                collect(&path, depth - 1, found);
            }
        } else if NAMES.iter().any(|start| name.starts_with(start)) && !name.ends_with(".RS") {
            found.extend(std::fs::read_to_string(&path).ok().map(|text| text.trim().to_owned()));
        }
    }
}
