//! Files named like tests hold tests: product code in a `tests.rs` or `*_tests.rs` would escape the rules, and the eyes of readers.

use super::files::SourceFile;
use super::modules;
use super::problem::Problem;

/// Those that exist. The list may only shrink.
const KNOWN: [&str; 1] = ["crates/exec/src/expr/text_tests.rs"];

pub fn check(files: &[SourceFile]) -> Vec<Problem> {
    let crates = modules::crates(files);
    let product: Vec<&str> = crates
        .iter()
        .flat_map(modules::Crate::files)
        .filter(|file| file.is_test() && !file.text.contains("#![cfg(test)]"))
        .map(|file| file.path.as_str())
        .collect();
    let new = product.iter().filter(|path| !KNOWN.contains(path));
    let mut problems: Vec<Problem> = new
        .map(|path| Problem::new(path, 0, "is named like tests, but its module is not under `#[cfg(test)]`"))
        .collect();
    for known in KNOWN.iter().filter(|known| !product.contains(known) && has_source(files, known)) {
        let what = format!("{known} is no exception any more: remove it from the list");
        problems.push(Problem::new("xtask/src/tidy/test_names.rs", 0, what));
    }
    problems
}

/// Whether the files are those of the workspace, and not the few of a test.
fn has_source(files: &[SourceFile], known: &str) -> bool {
    let folder = known.split("/src/").next().unwrap_or_default();
    files.iter().any(|file| file.path == format!("{folder}/src/lib.rs"))
}
