//! No mutual imports of modules inside a crate: where A uses B, B uses nothing of A, so that each can be read, tested and changed
//! with what stands below it alone.
//!
//! What counts:
//! - A use is a `use` declaration or a path in the code (`crate::a::b`, `super::c`, `self::d`, a child module's name). It is
//!   followed through re-exports and other `use` declarations to the module that defines the name. Tests are left out. Methods
//!   called on a value of another module's type, and `impl` blocks in a child for a type of its parent, are not seen.
//! - Modules are compared with their siblings: a use between two files is an arrow between their ancestors at the level where the
//!   paths part. Hence a folder is one module for the rest of the crate, and knots inside it are its own.
//! - The code in a module's own file is one of the siblings of its children, called `(own)`. `mod x; pub use x::Y;` alone is
//!   no use: declaring and re-exporting children is what such a file is for. But where the file's code uses a child and the
//!   child uses what the file defines, this is a pair like any other: the shared types belong into a child of their own.
//! - A pair uses each other directly. A knot is a strongly connected component at one level: a circle may be longer than two.
//!
//! There are none. One that comes is told as `pair LEVEL A B` or `knot LEVEL MEMBERS`, where the level is the parent's path.
//! `cargo xtask imports` prints where they come from.

mod knots;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::files::SourceFile;
use super::modules::source::Path;
use super::modules::{Crate, Site, crates};
use super::problem::Problem;
use knots::knots;

/// How the list and the reports call the code in a module's own file, beside its children.
const OWN: &str = "(own)";

/// Pairs or knots: each without its size, and the size of a knot.
type Entries = BTreeMap<String, Entry>;

struct Entry {
    /// 2 for a pair.
    size: usize,
    /// A use that belongs to it, one in each direction for a pair.
    sites: Vec<Site>,
}

/// What was found in one crate.
struct Findings {
    name: String,
    pairs: Entries,
    knots: Entries,
    /// The largest strongly connected component of files.
    largest_file_knot: usize,
}

/// Refuses all pairs and knots.
pub fn check(files: &[SourceFile]) -> Vec<Problem> {
    let crates = crates(files);
    let all = crates.iter().map(findings).flat_map(|found| found.pairs.into_iter().chain(found.knots));
    all.filter_map(|(key, entry)| problem(&key, &entry)).collect()
}

fn problem(key: &str, entry: &Entry) -> Option<Problem> {
    let (site, back) = entry.sites.split_first()?;
    let mut what = format!("`{}` makes modules use each other ({key}", site.path);
    if key.starts_with("knot") {
        let _ = write!(what, " {}", entry.size);
    }
    for site in back {
        let _ = write!(what, "; back: {}:{} `{}`", site.file, site.line, site.path);
    }
    what.push(')');
    Some(Problem::new(&site.file, site.line, what))
}

/// All pairs and knots, for people: per crate and with the uses that make them. Only the crate `only` if one is named.
pub fn report(files: &[SourceFile], only: Option<&str>) -> String {
    let mut text = String::new();
    for findings in
        crates(files).iter().map(findings).filter(|findings| only.is_none_or(|only| only == findings.name))
    {
        let members = findings.knots.values().map(|entry| entry.size).max().unwrap_or(0);
        let _ = writeln!(
            text,
            "{}: {} pairs, largest knot of siblings {members}, of files {}",
            findings.name,
            findings.pairs.len(),
            findings.largest_file_knot
        );
        for (key, entry) in findings.pairs.iter().chain(&findings.knots) {
            let size = if key.starts_with("knot") { format!(" {}", entry.size) } else { String::new() };
            let _ = writeln!(text, "{key}{size}");
            for site in &entry.sites {
                let _ = writeln!(text, "    {}:{} {}", site.file, site.line, site.path);
            }
        }
    }
    text
}

/// A use between siblings: `from` and `to` are children of `parent`, or `OWN`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    parent: Path,
    from: String,
    to: String,
}

impl Arrow {
    /// What a use between files is: an arrow at the level where their paths part.
    fn between(from: &[String], to: &[String]) -> Self {
        let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let name = |path: &[String]| path.get(shared).map_or(OWN.to_owned(), String::clone);
        Self { parent: from[..shared].to_vec(), from: name(from), to: name(to) }
    }
}

fn findings(code: &Crate) -> Findings {
    let (name, uses) = (code.name.clone(), code.uses());
    let mut arrows: BTreeMap<Arrow, Site> = BTreeMap::new();
    for ((from, to), site) in &uses {
        arrows.entry(Arrow::between(from, to)).or_insert_with(|| site.clone());
    }
    let level = |parent: &[String]| {
        let mut level = name.clone();
        for part in parent {
            let _ = write!(level, "::{part}");
        }
        level
    };
    let mut pairs = Entries::new();
    let mut levels: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for (arrow, site) in &arrows {
        let Arrow { parent, from, to } = arrow;
        levels.entry(level(parent)).or_default().insert((from.clone(), to.clone()));
        let back = Arrow { parent: parent.clone(), from: to.clone(), to: from.clone() };
        if let Some(back) = arrows.get(&back).filter(|_| from < to) {
            let entry = Entry { size: 2, sites: vec![site.clone(), back.clone()] };
            pairs.insert(format!("pair {} {from} {to}", level(parent)), entry);
        }
    }
    let found = levels.iter().filter_map(|(level, arrows)| knot(level, arrows)).collect();
    let files: BTreeSet<(Path, Path)> = uses.keys().cloned().collect();
    let largest_file_knot = knots(&files).first().map_or(0, Vec::len);
    Findings { name, pairs, knots: found, largest_file_knot }
}

/// The entry of a level for what is in circles there.
fn knot(level: &str, arrows: &BTreeSet<(String, String)>) -> Option<(String, Entry)> {
    let found = knots(arrows);
    let size = found.first()?.len();
    let site = |knot: &Vec<String>| Site { file: level.to_owned(), line: 0, path: knot.join(" ") };
    Some((format!("knot {level}"), Entry { size, sites: found.iter().map(site).collect() }))
}
