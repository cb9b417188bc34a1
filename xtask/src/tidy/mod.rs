//! `cargo xtask tidy`: the rules of the house that the compiler does not check. Also a test, so that `cargo test` fails too.
//!
//! One file per rule. A rule takes the list of files and gives the problems it found.

mod error_docs;
mod files;
pub mod format_hash;
mod imports;
mod layers;
mod modules;
mod names;
mod problem;
mod restricted;
mod sizes;
mod test_names;
#[cfg(test)]
mod tests;
mod tokens;

use std::path::Path;

pub use problem::Problem;

/// Checks the workspace at `root`.
pub fn check(root: &Path) -> Vec<Problem> {
    let files = match files::collect(root) {
        Ok(files) => files,
        Err(error) => return vec![Problem::new(".", 0, format!("cannot be read: {error}"))],
    };
    let list = |path: &str| files.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str());
    let rules = [
        sizes::check(&files, list(sizes::EXCEPTIONS)),
        names::check(&files),
        restricted::check(&files),
        layers::check(&files),
        imports::check(&files),
        test_names::check(&files),
        error_docs::check(&files),
        format_hash::check(&files),
    ];
    rules.into_iter().flatten().collect()
}

/// The mutual imports of the workspace at `root`, or of one crate, for people.
pub fn imports(root: &Path, only: Option<&str>) -> std::io::Result<String> {
    Ok(imports::report(&files::collect(root)?, only))
}
