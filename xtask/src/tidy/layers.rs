//! The layers: which crate of the workspace may depend on which.

use super::files::SourceFile;
use super::problem::Problem;

/// The folder of a crate and the folders of those it may depend on. Tests may also use what stands below them.
const ARROWS: [(&str, &[&str]); 26] = [
    ("base", &[]),
    ("syntax", &[]),
    ("rdf", &["base"]),
    ("packed", &["base", "rdf"]),
    ("ingest", &["base", "rdf"]),
    ("store", &["geo", "ingest", "packed", "text", "rdf", "base"]),
    ("text", &[]),
    ("sparql", &["syntax", "text", "rdf", "packed"]),
    ("scheduler", &["base"]),
    ("geo", &["base"]),
    ("eval", &["geo", "sparql", "text", "store", "scheduler", "rdf", "base"]),
    ("exec", &["eval", "geo", "sparql", "store", "packed", "scheduler", "rdf", "base"]),
    ("fragment", &["exec", "sparql", "store", "packed", "rdf", "base"]),
    ("engine", &["exec", "store", "sparql", "packed", "rdf", "base"]),
    ("remote", &["engine", "store", "base"]),
    ("arrow", &["engine", "rdf"]),
    ("assist", &["engine", "sparql", "syntax", "rdf"]),
    ("shacl", &["engine", "sparql", "rdf"]),
    ("server", &["arrow", "assist", "shacl", "engine", "rdf"]),
    ("cli", &["arrow", "server", "assist", "remote", "shacl", "engine", "rdf", "bench"]),
    ("python", &["arrow", "server", "engine", "rdf"]),
    // Its tests ask the random queries of conformance.
    (
        "cluster",
        &[
            "cli",
            "conformance",
            "fragment",
            "remote",
            "engine",
            "exec",
            "store",
            "sparql",
            "scheduler",
            "rdf",
            "base",
        ],
    ),
    ("bench", &["engine", "rdf"]),
    ("conformance", &["fragment", "remote", "shacl", "engine", "sparql", "rdf", "base"]),
    ("packaging", &[]),
    ("xtask", &[]),
];

pub fn check(files: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let folder = file.path.trim_end_matches("/Cargo.toml");
        let layer = folder.strip_prefix("crates/").unwrap_or(folder);
        if layer.starts_with("fuzz") {
            continue;
        }
        match ARROWS.iter().find(|(name, _)| *name == layer) {
            Some((_, allowed)) => arrows(file, layer, allowed, &mut problems),
            None => problems.push(Problem::new(
                &file.path,
                0,
                "a crate without a place in the layers (xtask/src/tidy/layers.rs)",
            )),
        }
    }
    problems
}

fn arrows(file: &SourceFile, layer: &str, allowed: &[&str], problems: &mut Vec<Problem>) {
    let mut section = "";
    for (number, line) in (1..).zip(file.text.lines()) {
        if let Some(header) = line.trim().strip_prefix('[') {
            section = header.trim_end_matches(']');
        }
        let Some(dependency) = line.trim().strip_prefix("lode-") else { continue };
        let dependency = dependency.split(['.', ' ', '=']).next().unwrap_or_default();
        // Tests of a crate may use everything below it, which the arrows give transitively.
        let fine = match section {
            "dev-dependencies" => reaches(layer, dependency),
            _ => allowed.contains(&dependency),
        };
        if !fine {
            problems.push(Problem::new(
                &file.path,
                number,
                format!("{layer} must not depend on {dependency}"),
            ));
        }
    }
}

fn reaches(from: &str, to: &str) -> bool {
    let below = ARROWS.iter().find(|(name, _)| *name == from).map_or(&[][..], |(_, below)| below);
    below.iter().any(|layer| *layer == to || reaches(layer, to))
}
