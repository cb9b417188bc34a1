//! The sources of a load as they turn up: their names and numbers, and what was found in each. A source may turn out to hold others
//! (an archive does), so the list grows while it is read.

use crate::error::IngestError;
use crate::quarantine::FilePart;
use lode_rdf::RdfFormat;
use lode_rdf::parse::{ParseNotes, SyntaxError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names of files that are no RDF and were skipped; more are only counted.
const SKIPPED_NAMES_MAX: usize = 100;

/// What was found in a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceReport {
    /// Its name.
    pub name: String,
    /// Its format, once it was opened.
    pub format: Option<RdfFormat>,
    /// Quads read from it.
    pub quads: u64,
    /// Statements that are wrong: set aside, or the reason why the load failed.
    pub bad: u64,
    /// What its text was transcoded from.
    pub encoding: Option<&'static str>,
    /// Whether it had relative IRIs that were resolved against its own address; and what was kept of it although it is wrong.
    pub notes: ParseNotes,
    /// Why it was set aside, or what was left of it, and which.
    pub failed: Option<(String, FilePart)>,
    /// What its text looks like, where that is not its format.
    pub(crate) looks_like: Option<RdfFormat>,
    /// Its format is a guess.
    pub(crate) guessed: bool,
    /// It only held other sources.
    pub(crate) archive: bool,
}

/// Files that are no sources, because their names are none of RDF.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// How many.
    pub files: u64,
    /// The names of the first.
    pub names: Vec<String>,
}

/// All sources so far.
#[derive(Debug, Default)]
pub(crate) struct SourceList(Mutex<List>);

#[derive(Debug, Default)]
struct List {
    sources: Vec<SourceReport>,
    skipped: Skipped,
}

impl SourceList {
    fn lock(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a source; its number.
    pub fn add(&self, name: &str) -> usize {
        let mut list = self.lock();
        list.sources.push(SourceReport { name: name.to_owned(), ..SourceReport::default() });
        list.sources.len() - 1
    }

    /// Notes a file that is no source.
    pub fn skip(&self, name: String) {
        let skipped = &mut self.lock().skipped;
        skipped.files += 1;
        if skipped.names.len() < SKIPPED_NAMES_MAX {
            skipped.names.push(name);
        }
    }

    /// Notes what was found in a source.
    pub fn note(&self, source: usize, change: impl FnOnce(&mut SourceReport)) {
        if let Some(report) = self.lock().sources.get_mut(source) {
            change(report);
        }
    }

    /// Notes that a source could not be read to its end; how much of it is set aside by that.
    pub fn fail(&self, source: usize, error: &IngestError) -> FilePart {
        let mut part = FilePart::All;
        self.note(source, |report| {
            // What is read as a whole is loaded as a whole.
            part = match report.format {
                Some(RdfFormat::RdfXml | RdfFormat::JsonLd) => FilePart::All,
                None if !report.archive => FilePart::All,
                _ => FilePart::Rest,
            };
            report.failed = Some((error.to_string(), part));
        });
        part
    }

    /// The name of a source.
    pub fn name(&self, source: usize) -> String {
        self.lock().sources.get(source).map(|report| report.name.clone()).unwrap_or_default()
    }

    /// A mistake in a source, as it is told.
    pub fn syntax(&self, source: usize, error: &SyntaxError) -> IngestError {
        let mut message = error.message.clone();
        if error.approximate {
            message = format!("near here: {message}");
        }
        if !error.excerpt.is_empty() {
            message = format!("{message}, at `{}`", error.excerpt);
        }
        if let Some(advice) = self.advice(source, error) {
            message = format!("{message} ({advice})");
        }
        IngestError::Syntax {
            source_name: self.name(source),
            line: error.line,
            column: error.column,
            message,
        }
    }

    /// What may help against a mistake: above all, another format.
    fn advice(&self, source: usize, error: &SyntaxError) -> Option<String> {
        let list = self.lock();
        let report = list.sources.get(source)?;
        match (report.looks_like, report.format) {
            (Some(format), _) => {
                Some(format!("the text looks like {format}: --format {}", format.extension()))
            }
            (None, Some(format)) if report.guessed => Some(format!(
                "nothing tells the format, so this was read as {format}: --format NAME tells it"
            )),
            _ => error.hint.map(str::to_owned),
        }
    }

    /// All sources that held statements or could have, and what was skipped.
    pub fn into_reports(self) -> (Vec<SourceReport>, Skipped) {
        let List { sources, skipped } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        (sources.into_iter().filter(|report| !report.archive || report.failed.is_some()).collect(), skipped)
    }
}
