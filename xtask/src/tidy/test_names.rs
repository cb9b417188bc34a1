//! Files named like tests hold tests: product code in a `tests.rs` or `*_tests.rs` would escape the rules, and the eyes of readers.

use super::files::SourceFile;
use super::modules;
use super::problem::Problem;

pub fn check(files: &[SourceFile]) -> Vec<Problem> {
    let crates = modules::crates(files);
    let product = crates
        .iter()
        .flat_map(modules::Crate::files)
        .filter(|file| file.is_test() && !file.text.contains("#![cfg(test)]"));
    let what = "is named like tests, but its module is not under `#[cfg(test)]`";
    product.map(|file| Problem::new(&file.path, 0, what)).collect()
}
