//! Golden queries: files with data, a query and the rows that it has to give, each about one point of the semantics.
//!
//! A file `golden/**/*.rqt` starts with comment lines (`#`) that say what it is about, and has sections that start with `---`:
//! `--- data` (TriG), `--- query`, and one of `--- rows`, `--- ordered rows`, `--- boolean`, `--- graph` (Turtle) and `--- error`. `--- settings`
//! may hold `union default graph`, and `engine only` where the oracle's parser fails. Rows start with a line of variables; terms are in Turtle, cells apart by ` | `, `-` is unbound.
//! With `--- update` in place of the query there is `--- dataset` (TriG), what is there afterwards, or `--- error`: then nothing has changed.
//! The prefixes `:` (`http://e/`), `xsd:` and `rdf:` are declared everywhere.

use crate::answer::{Answer, Row};
use crate::dataset::{Dataset, quad_row};
use crate::isomorphism::isomorphic;
use crate::rdf_files::{RdfFormat, parse, read_text};
use crate::subject::{QuerySettings, Subject, no_panic};
use anyhow::{Context, Result, bail, ensure};
use oxrdf::{NamedNode, Term, Variable};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const PREFIXES: &str = "PREFIX : <http://e/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n\
    PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n";
const BASE: &str = "http://e/";

/// One file.
#[derive(Debug, Clone)]
pub struct Golden {
    /// Its path below the folder of all, for messages.
    pub name: String,
    /// The data, in TriG, prefixes included.
    pub data: String,
    /// The query or the update, prefixes included.
    pub query: String,
    /// Whether it is an update.
    pub is_update: bool,
    /// Whether the default graph is the union of all.
    pub union_default_graph: bool,
    /// Whether the oracle is left out.
    engine_only: bool,
    expected: Expected,
}

#[derive(Debug, Clone)]
enum Expected {
    Answer { answer: Answer, ordered: bool },
    Dataset(Dataset),
    Error,
}

/// The folder of the files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// All files, by name.
///
/// # Errors
///
/// Where a file cannot be read, or has not the sections that it needs.
pub fn load_all() -> Result<Vec<Golden>> {
    let mut paths = Vec::new();
    collect(&folder(), &mut paths)?;
    paths.sort();
    paths.iter().map(|p| load(p).with_context(|| format!("{}", p.display()))).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|e| e == "rqt") {
            paths.push(path);
        }
    }
    Ok(())
}

fn load(path: &Path) -> Result<Golden> {
    let text = read_text(path)?;
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("---") {
            ensure!(sections.insert(name.trim(), String::new()).is_none(), "section `{name}` twice");
            current = Some(name.trim());
        } else if let Some(section) = current.and_then(|c| sections.get_mut(c)) {
            section.push_str(line);
            section.push('\n');
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            bail!("text before the first section that is no comment: {line}");
        }
    }
    let mut take = |name: &str| sections.remove(name);
    let data = take("data").unwrap_or_default();
    let update = take("update");
    let is_update = update.is_some();
    let query = update.or_else(|| take("query")).context("no query")?;
    let settings = take("settings").unwrap_or_default();
    let unknown = settings.lines().find(|l| !["", "union default graph", "engine only"].contains(&l.trim()));
    ensure!(unknown.is_none(), "unknown setting: {unknown:?}");
    let (kind, body) = sections.pop_first().context("no expectation")?;
    ensure!(sections.is_empty(), "more than one expectation, or an unknown section: {sections:?}");
    Ok(Golden {
        name: path.strip_prefix(folder()).unwrap_or(path).display().to_string(),
        data: format!("{PREFIXES}{data}"),
        query: format!("{PREFIXES}{query}"),
        is_update,
        union_default_graph: settings.contains("union default graph"),
        engine_only: settings.contains("engine only"),
        expected: expectation(kind, &body)?,
    })
}

fn expectation(kind: &str, body: &str) -> Result<Expected> {
    let (answer, ordered) = match kind {
        "rows" => (rows(body)?, false),
        "ordered rows" => (rows(body)?, true),
        "boolean" => (Answer::Boolean(body.trim().parse()?), false),
        "graph" => {
            let graph = parse(format!("{PREFIXES}{body}").as_bytes(), RdfFormat::Turtle, BASE)?;
            (Answer::Graph(graph.default_graph()), false)
        }
        "dataset" => {
            let text = format!("{PREFIXES}{body}");
            return Ok(Expected::Dataset(parse(text.as_bytes(), RdfFormat::TriG, BASE)?));
        }
        "error" => return Ok(Expected::Error),
        other => bail!("unknown section `{other}`"),
    };
    Ok(Expected::Answer { answer, ordered })
}

/// Rows are read as one Turtle document with a triple per cell, so that blank node labels mean the same in all cells.
fn rows(body: &str) -> Result<Answer> {
    let mut lines = body.lines().filter(|l| !l.trim().is_empty());
    let header = lines.next().context("no header")?;
    let variables: Vec<Variable> = header
        .split_whitespace()
        .map(|v| Ok(Variable::new(v.strip_prefix('?').context("a variable without `?`")?)?))
        .collect::<Result<_>>()?;
    let mut document = PREFIXES.to_owned();
    let mut number = 0;
    for line in lines {
        let cells: Vec<_> = line.split(" | ").map(str::trim).collect();
        ensure!(cells.len() == variables.len() || variables.is_empty(), "not one cell per variable: {line}");
        for (column, cell) in cells.iter().enumerate().filter(|(_, c)| **c != "-" && !variables.is_empty()) {
            document.push_str(&format!("<urn:row:{number}> <urn:column:{column}> {cell} .\n"));
        }
        number += 1;
    }
    let graph = parse(document.as_bytes(), RdfFormat::Turtle, BASE)?.default_graph();
    let mut rows: Vec<Row> = vec![vec![None; variables.len()]; number];
    for triple in graph {
        let row = index(&triple.subject.into(), "urn:row:")?;
        let column = index(&triple.predicate.into(), "urn:column:")?;
        let cell = rows.get_mut(row).and_then(|r| r.get_mut(column)).context("a cell outside of the rows")?;
        *cell = Some(triple.object);
    }
    Ok(Answer::Solutions { variables, rows })
}

fn index(term: &Term, prefix: &str) -> Result<usize> {
    match term {
        Term::NamedNode(n) => number_after(n, prefix),
        other => bail!("{other} is not a cell's name"),
    }
}

fn number_after(name: &NamedNode, prefix: &str) -> Result<usize> {
    Ok(name.as_str().strip_prefix(prefix).context("not a cell's name")?.parse()?)
}

impl Golden {
    /// Loads the data and runs the query; complains unless the answer is the expected one.
    ///
    /// # Errors
    ///
    /// Where the data cannot be loaded, or as [`Golden::check_query`].
    pub fn check(&self, subject: &mut dyn Subject) -> Result<()> {
        if self.engine_only && subject.name() != "engine" {
            return Ok(());
        }
        subject.load(&parse(self.data.as_bytes(), RdfFormat::TriG, BASE).context("data")?)?;
        self.check_query(subject)
    }

    /// Runs the query over what is loaded.
    ///
    /// # Errors
    ///
    /// Where the subject fails, or gives another answer than the expected one.
    pub fn check_query(&self, subject: &mut dyn Subject) -> Result<()> {
        let settings = QuerySettings {
            base: Some(BASE.to_owned()),
            union_default_graph: self.union_default_graph,
            ..QuerySettings::default()
        };
        if self.is_update {
            return self.check_update(subject, &settings);
        }
        let answer = no_panic(|| subject.query(&self.query, &settings));
        match (&self.expected, answer) {
            (Expected::Error, Err(_)) => Ok(()),
            (Expected::Error, Ok(answer)) => bail!("expected an error, got {}", answer.describe()),
            (Expected::Dataset(_), _) => bail!("a query leaves no dataset"),
            (Expected::Answer { .. }, Err(error)) => Err(error),
            (Expected::Answer { answer: wanted, ordered }, Ok(answer)) => {
                ensure!(
                    wanted.same(&answer, *ordered),
                    "expected {}\n  got {}",
                    wanted.describe(),
                    answer.describe()
                );
                Ok(())
            }
        }
    }

    fn check_update(&self, subject: &mut dyn Subject, settings: &QuerySettings) -> Result<()> {
        let before = subject.contents()?;
        let result = no_panic(|| subject.update(&self.query, settings));
        let wanted = match (&self.expected, result) {
            (Expected::Error, Err(_)) => &before,
            (Expected::Error, Ok(())) => bail!("expected an error"),
            (Expected::Dataset(wanted), Ok(())) => wanted,
            (Expected::Dataset(_), Err(error)) => return Err(error),
            (Expected::Answer { .. }, _) => bail!("an update has no answer"),
        };
        let after = subject.contents()?;
        let rows = |dataset: &Dataset| dataset.quads().iter().map(quad_row).collect::<Vec<_>>();
        let show = |dataset: &Dataset| {
            dataset.quads().iter().map(|quad| format!("    {quad} .\n")).collect::<String>()
        };
        ensure!(
            isomorphic(&rows(wanted), &rows(&after)),
            "expected\n{}  got\n{}",
            show(wanted),
            show(&after)
        );
        Ok(())
    }
}
