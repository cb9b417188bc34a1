//! Damaged databases.

use super::bytes::damage_file;
use super::{Outcome, Verdict, dice, with_patience};
use crate::answer::Answer;
use crate::dataset::Dataset;
use crate::engine_subject::{EngineSubject, dump, load_into};
use crate::generate::{Case, Random};
use crate::rdf_files::{RdfFormat, parse};
use crate::subject::{QuerySettings, Subject};
use anyhow::{Context, Result, bail, ensure};
use lode_engine::{CancelToken, Database, OpenOptions, check_database};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Queries that between them read every order, the dictionary both ways, and run most operators.
const QUERIES: &[&str] = &[
    "SELECT * { ?s ?p ?o }",
    "SELECT * { GRAPH ?g { ?s ?p ?o } }",
    "SELECT (COUNT(*) AS ?n) ?p { ?s ?p ?o } GROUP BY ?p",
    "SELECT ?s ?o { ?s <http://e/p> ?o . ?o <http://e/q> ?x }",
    "SELECT ?s { ?s ?p \"a\" } ORDER BY ?s",
    "SELECT ?o { <http://e/a> ?p ?o FILTER(ISNUMERIC(?o) || STRLEN(STR(?o)) > 0) }",
    "SELECT ?x ?y { ?x <http://e/p>+ ?y }",
    "SELECT ?s { ?s ?p ?o MINUS { ?s <http://e/q> ?z } }",
    "SELECT ?s ?z { ?s <http://e/p> ?o OPTIONAL { GRAPH <http://e/g1> { ?s ?q ?z } } }",
    "DESCRIBE <http://e/b>",
];

/// A database on disk, and what it says while it is whole.
struct Whole {
    folder: tempfile::TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
    answers: Vec<Answer>,
    dump: Dataset,
}

/// Damages one file at a time, `count` times, and asks everything of each variant.
///
/// # Errors
///
/// Where the sound database cannot be made, read or stored.
pub fn damaged_databases(seed: u64, count: u64, progress: &mut dyn FnMut(&Outcome)) -> Result<Outcome> {
    let whole = Arc::new(build(seed)?);
    let mut outcome = Outcome::default();
    for number in 0..count {
        let seed = seed.wrapping_add(number);
        outcome.add(seed, variant(&whole, seed));
        progress(&outcome);
    }
    Ok(outcome)
}

/// Two segments with terms of all kinds in several graphs, enough for several blocks of the dictionary.
fn build(seed: u64) -> Result<Whole> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("db");
    let database = Database::create_or_open(&path, &OpenOptions::default())?;
    for part in 0..2 {
        let mut text = String::new();
        for number in 0..40 {
            let case = Case::new(seed.wrapping_add(part * 1000 + number));
            let data = parse(case.data_text().as_bytes(), RdfFormat::TriG, "http://e/")?;
            for quad in data.quads() {
                text.push_str(&format!("{quad} .\n"));
            }
        }
        for number in 0..600 {
            text.push_str(&format!("<http://e/s{number}> <http://e/p> \"value {number} of {part}\" .\n"));
        }
        load_into(&database, text.into_bytes(), lode_rdf::RdfFormat::NQuads, None, 1)?;
    }
    drop(database);
    let (answers, dump) = ask_everything(&path)?;
    let mut files = Vec::new();
    collect(&path, &mut files)?;
    files.sort();
    ensure!(files.len() > 3, "a database of {} files", files.len());
    Ok(Whole { folder, files, answers, dump })
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.file_name().is_some_and(|n| n != "LOCK") {
            let bytes = std::fs::read(&path)?;
            files.push((path, bytes));
        }
    }
    Ok(())
}

fn variant(whole: &Arc<Whole>, seed: u64) -> Result<Verdict> {
    let mut random = dice(seed);
    let (what, changed) = damage(whole, &mut random)?;
    let this = Arc::clone(whole);
    let verdict = with_patience(move || judge(&this)).with_context(|| what);
    for path in changed {
        if let Some((path, bytes)) = whole.files.iter().find(|(p, _)| *p == path) {
            std::fs::write(path, bytes)?;
        }
    }
    verdict
}

/// Changes files on disk; says what was done, and to which files.
fn damage(whole: &Whole, random: &mut Random) -> Result<(String, Vec<PathBuf>)> {
    let (path, bytes) = random.pick(&whole.files);
    let name = path.strip_prefix(whole.folder.path()).unwrap_or(path).display().to_string();
    match random.below(25) {
        0 => {
            std::fs::remove_file(path)?;
            Ok((format!("{name} removed"), vec![path.clone()]))
        }
        1 => {
            let (other, other_bytes) = random.pick(&whole.files);
            std::fs::write(path, other_bytes)?;
            std::fs::write(other, bytes)?;
            Ok((format!("{name} exchanged with {}", other.display()), vec![path.clone(), other.clone()]))
        }
        _ => {
            let (what, damaged) = damage_file(random, bytes);
            std::fs::write(path, damaged)?;
            Ok((format!("{name} ({} bytes): {what}", bytes.len()), vec![path.clone()]))
        }
    }
}

/// All answers and all quads.
fn ask_everything(path: &Path) -> Result<(Vec<Answer>, Dataset)> {
    let mut subject = EngineSubject::opened(Database::open(path, &OpenOptions::default())?);
    let mut answers = Vec::new();
    for query in QUERIES {
        answers.push(subject.query(query, &QuerySettings::default())?);
    }
    let database = subject.database().context("no database")?;
    Ok((answers, dump(database)?))
}

/// Each query by itself: an error or the right answer. A check that finds nothing promises that all answers are right.
fn judge(whole: &Whole) -> Result<Verdict> {
    let path = whole.folder.path().join("db");
    let sound = match check_database(&path, &CancelToken::default(), &mut |_| {}) {
        Ok(report) => report.problems.is_empty(),
        Err(_) => false,
    };
    let Ok(database) = Database::open(&path, &OpenOptions::default()) else {
        ensure!(!sound, "the check finds nothing, but the database cannot be opened");
        return Ok(Verdict::Refused);
    };
    let mut subject = EngineSubject::opened(database);
    let mut refused = false;
    for (query, wanted) in QUERIES.iter().zip(&whole.answers) {
        match subject.query(query, &QuerySettings::default()) {
            Err(_) => refused = true,
            Ok(answer) if identical(wanted, &answer) => {}
            Ok(answer) => bail!(
                "a wrong answer to {query}\nexpected {}\n  got {}",
                wanted.describe(),
                answer.describe()
            ),
        }
    }
    match dump(subject.database().context("no database")?) {
        Err(_) => refused = true,
        Ok(quads) => ensure!(same_quads(&whole.dump, &quads), "the dump differs"),
    }
    ensure!(!(refused && sound), "the check finds nothing, but a query fails");
    Ok(if refused || !sound { Verdict::Refused } else { Verdict::Right })
}

/// The same database names its blank nodes alike, so no renaming is needed.
fn identical(a: &Answer, b: &Answer) -> bool {
    let lines = |answer: &Answer| -> Vec<String> {
        let mut lines: Vec<String> = match answer {
            Answer::Boolean(value) => vec![value.to_string()],
            Answer::Graph(triples) => triples.iter().map(ToString::to_string).collect(),
            Answer::Solutions { rows, .. } => rows.iter().map(|r| format!("{r:?}")).collect(),
        };
        lines.sort();
        lines
    };
    lines(a) == lines(b)
}

fn same_quads(a: &Dataset, b: &Dataset) -> bool {
    let lines = |d: &Dataset| {
        let mut lines: Vec<String> = d.quads().iter().map(ToString::to_string).collect();
        lines.sort();
        lines
    };
    lines(a) == lines(b)
}
