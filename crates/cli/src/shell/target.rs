//! What the shell asks: a database in a folder, or a server.

use crate::args::{EvaluationArgs, ShellArgs};
use crate::keep_few::keep_few;
use crate::look::Look;
use crate::memory::SharedMemory;
use crate::query::default_format;
use crate::remote::{self, Asked, Remote};
use crate::talk::{say, say_warnings};
use crate::update::summary;
use crate::written::write_results;
use lode_assist::{Prefix, kept_prefixes};
use lode_engine::store::CompactOptions;
use lode_engine::{
    CancelToken, Database, LoadAllow, OutputFormat, QueryOptions, QueryResults, ResultKind, UpdateOptions,
};
use lode_rdf::Term;
use lode_rdf::parse::StatementLimit;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Where statements go.
pub enum Target {
    Folder(Box<Folder>),
    Server(Remote),
}

/// A database in a folder.
pub struct Folder {
    pub path: PathBuf,
    memory: SharedMemory,
    /// Opened for reading; anew where somebody has written since.
    opened: Option<(Version, Arc<Database>)>,
}

/// What tells that somebody has written to a database: names, sizes and times of its manifest and its logs.
type Version = Vec<(std::ffi::OsString, u64, Option<SystemTime>)>;

impl Target {
    pub fn open(args: &ShellArgs) -> anyhow::Result<Self> {
        if let Some(url) = remote::url(&args.database) {
            remote::refuse_own_options(&args.evaluation)?;
            return Ok(Self::Server(Remote::new(url, &args.login)?));
        }
        let memory = SharedMemory::new(&args.evaluation);
        let mut folder = Folder { path: args.database.clone(), memory, opened: None };
        folder.database()?;
        Ok(Self::Folder(Box::new(folder)))
    }

    /// What it is called, however it was named.
    pub fn name(&self) -> String {
        match self {
            Self::Server(server) => server.base().to_owned(),
            Self::Folder(folder) => {
                folder.path.canonicalize().unwrap_or_else(|_| folder.path.clone()).display().to_string()
            }
        }
    }

    /// Writes the answer to a query; tells its rows, where it has some.
    pub fn query(
        &mut self,
        text: &str,
        format: Option<OutputFormat>,
        look: &Look,
        evaluation: &EvaluationArgs,
        cancel: &CancelToken,
        out: &mut dyn Write,
    ) -> anyhow::Result<Option<u64>> {
        match self {
            Self::Server(server) => {
                let format = format.unwrap_or(OutputFormat::Table);
                // What cannot be written so is written in another way.
                let accept = format!(
                    "{}, text/turtle;q=0.1, application/sparql-results+json;q=0.1",
                    remote::accepted(format)
                );
                let response = server.query(&asked(text, &accept, remote::reasoning(evaluation)), cancel)?;
                let shown = remote::show(response, format, look, cancel, out)?;
                Ok(shown.rows.or(shown.triples))
            }
            Self::Folder(folder) => {
                let options = folder.options(evaluation, cancel)?;
                let query = folder.database()?.prepare(text, &options)?;
                say_warnings(query.warnings(), text, 0);
                let (results, kind) = (query.run()?, query.kind());
                let format = format.map_or_else(|| default_format(kind), |format| fitting(format, kind));
                let rows = write_results(results, format, look, out)?;
                Ok((kind != ResultKind::Boolean).then_some(rows))
            }
        }
    }

    /// What a query finds for its first variable, without a word about it.
    pub fn values(
        &mut self,
        text: &str,
        evaluation: &EvaluationArgs,
        cancel: &CancelToken,
    ) -> anyhow::Result<Vec<String>> {
        match self {
            Self::Server(server) => {
                let first = |row: serde_json::Value| {
                    let term = row.as_object()?.values().next()?;
                    Some(term.get("value")?.as_str()?.to_owned())
                };
                Ok(remote::rows(server, text, None, cancel)?.into_iter().filter_map(first).collect())
            }
            Self::Folder(folder) => {
                let options = folder.options(evaluation, cancel)?;
                let mut values = Vec::new();
                if let QueryResults::Solutions(mut solutions) = folder.database()?.query(text, &options)? {
                    while let Some(batch) = solutions.next_batch()? {
                        values.extend((0..batch.rows()).filter_map(|row| batch.get(row, 0)).map(value_of));
                    }
                }
                Ok(values)
            }
        }
    }

    /// Writes the plan of a query.
    pub fn explain(
        &mut self,
        text: &str,
        evaluation: &EvaluationArgs,
        cancel: &CancelToken,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        match self {
            Self::Server(server) => {
                let parameters = ["explain=1".to_owned()].into_iter().chain(remote::reasoning(evaluation));
                let response = server.query(&asked(text, "application/json", parameters), cancel)?;
                let told = remote::text_of(response, cancel)?;
                Ok(out.write_all(remote::plan_text(&told).unwrap_or(told).as_bytes())?)
            }
            Self::Folder(folder) => {
                let options = folder.options(evaluation, cancel)?;
                let query = folder.database()?.prepare(text, &options)?;
                Ok(out.write_all(query.explain().as_bytes())?)
            }
        }
    }

    /// Changes the data; tells what became of it.
    pub fn update(
        &mut self,
        text: &str,
        evaluation: &EvaluationArgs,
        cancel: &CancelToken,
    ) -> anyhow::Result<String> {
        match self {
            Self::Server(server) => {
                let changed = remote::update(server, text, cancel)?;
                changed.warnings.iter().for_each(|warning| say!("warning: {warning}"));
                Ok(changed.summary)
            }
            Self::Folder(folder) => folder.update(text, evaluation, cancel),
        }
    }
}

/// A term without what marks its kind.
fn value_of(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => literal.value().to_owned(),
        other => other.to_string(),
    }
}

/// The format for these results; the usual one where it cannot hold them.
fn fitting(format: OutputFormat, kind: ResultKind) -> OutputFormat {
    match (format.of_kind(kind), kind) {
        (OutputFormat::Results(_) | OutputFormat::JsonLines, ResultKind::Graph)
        | (OutputFormat::Rdf(_), ResultKind::Solutions | ResultKind::Boolean) => default_format(kind),
        (format, _) => format,
    }
}

fn asked<'a>(text: &'a str, accept: &'a str, parameters: impl IntoIterator<Item = String>) -> Asked<'a> {
    let parameters = parameters.into_iter().collect::<Vec<_>>().join("&");
    Asked { media_type: "application/sparql-query", text, accept, parameters }
}

impl Folder {
    fn options(&self, evaluation: &EvaluationArgs, cancel: &CancelToken) -> anyhow::Result<QueryOptions> {
        Ok(QueryOptions { cancel: cancel.clone(), ..self.memory.query_options(evaluation)? })
    }

    /// The database as it is now.
    fn database(&mut self) -> anyhow::Result<Arc<Database>> {
        let version = version(&self.path);
        if let Some((opened, database)) = &self.opened
            && *opened == version
        {
            return Ok(Arc::clone(database));
        }
        self.opened = None;
        let database = Arc::new(Database::open(&self.path, &self.memory.open_options())?);
        self.opened = Some((version, Arc::clone(&database)));
        Ok(database)
    }

    /// The prefixes that are kept with the data.
    pub fn prefixes(&mut self) -> Option<Vec<Prefix>> {
        self.database().ok().map(|database| kept_prefixes(&database))
    }

    fn update(
        &mut self,
        text: &str,
        evaluation: &EvaluationArgs,
        cancel: &CancelToken,
    ) -> anyhow::Result<String> {
        let options = UpdateOptions {
            evaluation: self.options(evaluation, cancel)?,
            load: LoadAllow::new(&[]).map_err(anyhow::Error::msg)?,
            statement_limit: StatementLimit::new(self.memory.statement_bytes_max()),
            unpacked_max: None,
            progress: None,
        };
        // Its cache is of a version that soon is none any more.
        self.opened = None;
        let (open, write) = (self.memory.open_options(), self.memory.write_options());
        let database = Database::open_for_writing(&self.path, &open, write)?;
        let report = database.update(text, &options)?;
        let memory_bytes = CompactOptions::default().memory_bytes.min(self.memory.bytes());
        keep_few(&database, &CompactOptions { memory_bytes, ..CompactOptions::default() }, true);
        say_warnings(&report.warnings, text, 0);
        Ok(summary(&report))
    }
}

fn version(folder: &Path) -> Version {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let told = entries.filter_map(|entry| {
        let name = entry.file_name();
        let counts = name.to_str().is_some_and(|name| name == "MANIFEST" || name.starts_with("log-"));
        let found = entry.metadata().ok().filter(|_| counts)?;
        Some((name, found.len(), found.modified().ok()))
    });
    let mut version: Version = told.collect();
    version.sort();
    version
}
