//! Names and paths in text: no names that say nothing, no paths of one machine, no dead references in the documents.

use super::files::SourceFile;
use super::problem::Problem;

/// Names that tell what a file is not about.
const BANNED: [&str; 8] = ["util", "utils", "common", "helper", "helpers", "misc", "manager", "impl"];

/// Folders of a particular machine. Written in two parts, or this file would break its own rule.
const MACHINE_FOLDERS: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/")];

pub fn check(files: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files {
        for part in file.path.split('/') {
            let stem = part.split('.').next().unwrap_or_default().to_ascii_lowercase();
            if BANNED.contains(&stem.as_str()) {
                problems.push(Problem::new(
                    &file.path,
                    0,
                    format!("`{part}` says nothing about what is inside"),
                ));
            }
        }
        machine_paths(file, &mut problems);
        if file.path.ends_with(".md") {
            references(file, files, &mut problems);
        }
    }
    problems
}

fn machine_paths(file: &SourceFile, problems: &mut Vec<Problem>) {
    for (number, line) in (1..).zip(file.text.lines()) {
        for folder in MACHINE_FOLDERS {
            // Part of an IRI or of a longer path if something stands before it.
            let alone = |at: usize| {
                let before = line[..at].chars().next_back();
                before.is_none_or(|c| !c.is_alphanumeric() && !"._-~}>)$".contains(c))
            };
            if line.match_indices(folder).any(|(at, _)| alone(at)) {
                problems.push(Problem::new(&file.path, number, "a path of one machine"));
            }
        }
    }
}

/// Every relative link and every `path/in/backticks` below a folder of the repository must exist, so that documents do not rot.
fn references(document: &SourceFile, files: &[SourceFile], problems: &mut Vec<Problem>) {
    const FOLDERS: [&str; 5] = ["crates/", "xtask/", "docs/", "fuzz/", ".ci/"];
    if document.path == "CHANGELOG.md" {
        return;
    }
    for (number, line) in (1..).zip(document.text.lines()) {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = target.split('#').next().unwrap_or_default();
            let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let path = if folder.is_empty() { target.to_owned() } else { resolve(folder, target) };
            if !target.is_empty() && !target.contains("://") && !exists(files, &path) {
                problems.push(Problem::new(
                    &document.path,
                    number,
                    format!("links to `{target}`, which does not exist"),
                ));
            }
        }
        for quoted in line.split('`').skip(1).step_by(2) {
            let path = quoted.trim_end_matches('/');
            let is_path = FOLDERS.iter().any(|folder| quoted.starts_with(folder))
                && !quoted.contains(['*', '{', '<', ' ', '…'])
                && !quoted.contains("NNN");
            let exists =
                || files.iter().any(|file| file.path == path || file.path.starts_with(&format!("{path}/")));
            if is_path && !exists() {
                problems.push(Problem::new(&document.path, number, format!("`{path}` does not exist")));
            }
        }
    }
}

/// A relative link in a document of a folder.
fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn exists(files: &[SourceFile], path: &str) -> bool {
    let path = path.trim_end_matches('/');
    files
        .iter()
        .any(|file| file.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}
