//! The engine as a subject: the data goes through a real load into files in memory, the query through planner and operators.

use crate::answer::Answer;
use crate::dataset::{Dataset, quad_row};
use crate::isomorphism::{Renaming, each_blank_node, rename, renaming};
use crate::knobs::{Changes, Knobs};
use crate::naive;
use crate::rdf_files::RdfFormat;
use crate::subject::{QuerySettings, Subject};
use crate::workers::Workers;
use anyhow::{Context, Result, anyhow};
use lode_engine::store::Transaction;
use lode_engine::store::dump::{DumpScope, dump_quads};
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::store::{CompactOptions, WriteOptions, compact};
use lode_engine::{
    CancelToken, Database, DefaultGraph, Elsewhere, GraphRules, MaterialiseOptions, OpenOptions,
    QueryOptions, QueryResults, ReadyAnswer, Reasoning, RuleSource, SchemaRules, ServiceAnswer, ServiceError,
    ServiceHandler, ServiceRequest, ServiceRows, UpdateOptions,
};
use lode_rdf::ValueId;
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term, Triple};
use spargebra::SparqlParser;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A query that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The engine.
pub struct EngineSubject {
    knobs: Knobs,
    database: Option<Database>,
    /// The graphs that there are for its queries and updates.
    rules: GraphRules,
    /// By which rules what follows is stored before a query that reasons, if it is not found by the query.
    materialises: Option<&'static str>,
    /// From the database's blank nodes to those of the data loaded.
    names: Renaming,
    /// Who runs parts of its plans, where others do.
    workers: Option<Workers>,
    /// The folder of its databases, and who has parts of plans run by others that open it.
    elsewhere: Option<(PathBuf, Arc<dyn Elsewhere>)>,
}

impl Default for EngineSubject {
    fn default() -> Self {
        Self::new(Knobs::default())
    }
}

impl EngineSubject {
    /// The engine with these knobs.
    pub fn new(knobs: Knobs) -> Self {
        Self {
            knobs,
            database: None,
            rules: GraphRules::default(),
            materialises: None,
            names: Renaming::new(),
            workers: None,
            elsewhere: None,
        }
    }

    /// The engine, which stores what follows by a set of rules before it answers a query that reasons.
    pub fn materialising(set: &'static str) -> Self {
        Self { materialises: Some(set), ..Self::default() }
    }

    /// The engine, whose plans are taken apart: what can be run elsewhere is, by who has opened the same files.
    pub fn with_workers() -> Self {
        Self { workers: Some(Workers::default()), ..Self::default() }
    }

    /// The engine over databases in this folder, of whose plans somebody has parts run by others that open it.
    pub fn in_folder(folder: PathBuf, elsewhere: Arc<dyn Elsewhere>) -> Self {
        Self { elsewhere: Some((folder, elsewhere)), ..Self::default() }
    }

    /// Who runs parts of its plans.
    pub fn workers(&self) -> Option<&Workers> {
        self.workers.as_ref()
    }

    /// The database of the last load.
    pub fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    /// Queries and updates have these rules for graphs from now on.
    pub fn set_rules(&mut self, rules: GraphRules) {
        self.rules = rules;
    }

    /// An open database as a subject; its blank nodes keep their names.
    pub fn opened(database: Database) -> Self {
        Self { database: Some(database), ..Self::default() }
    }

    fn options(&self, settings: &QuerySettings) -> QueryOptions {
        let service: Option<Arc<dyn ServiceHandler>> = match settings.services.is_empty() {
            true => None,
            false => Some(Arc::new(TestEndpoints(settings.services.clone()))),
        };
        QueryOptions {
            base_iri: settings.base.clone(),
            graphs: self.rules.clone(),
            reasoning: (settings.reasoning && self.materialises.is_none())
                .then(|| Reasoning { rules: SchemaRules::RDFS, graphs: Vec::new() }),
            default_graph: match settings.union_default_graph {
                true => DefaultGraph::Union,
                false => DefaultGraph::Separate,
            },
            cancel: CancelToken::new(Some(TIMEOUT)),
            memory_bytes: self.knobs.memory_bytes,
            threads: self.knobs.threads,
            batch_rows: self.knobs.batch_rows,
            optimize: self.knobs.optimize,
            groups_early: self.knobs.groups_early,
            joins_multiway: self.knobs.joins_multiway,
            spools_always: self.knobs.spools_always,
            service,
            elsewhere: self.elsewhere.as_ref().map(|(_, elsewhere)| Arc::clone(elsewhere)),
            ..QueryOptions::default()
        }
    }

    /// A new database in a folder, in the place of the last one.
    fn create_in(folder: &Path, write: WriteOptions) -> Result<Database> {
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        Ok(Database::create_or_open_for_writing(folder, &OpenOptions::default(), write)?)
    }

    fn write_options(&self) -> WriteOptions {
        let default = WriteOptions::default();
        match self.knobs.changes {
            Changes::InMemory | Changes::Compacted => default,
            Changes::Segments => WriteOptions { logged_changes_max: 0, ..default },
            Changes::Sometimes => WriteOptions { log_bytes_max: 4096, ..default },
        }
    }

    /// A term of an answer, with the data's names for its blank nodes.
    fn term(&self, term: &Term) -> Term {
        let mut names = Renaming::new();
        each_blank_node(term, &mut |node| {
            let name = match self.names.get(node) {
                Some(name) => name.clone(),
                None => BlankNode::new_unchecked(format!("new{}", node.as_str())),
            };
            names.insert(node.clone(), name);
        });
        rename(term, &names)
    }
}

/// Loads a document.
///
/// # Errors
///
/// Where the document is wrong, or the database cannot be written.
pub fn load_into(
    database: &Database,
    bytes: Vec<u8>,
    format: lode_rdf::RdfFormat,
    base: Option<&str>,
    threads: usize,
) -> Result<()> {
    let options = LoadOptions { threads, base_iri: base.map(str::to_owned), ..LoadOptions::default() };
    let source = Source::bytes("test", bytes).with_format(format);
    load(database.store(), vec![source], options, &Arc::new(LoadProgress::default()))?;
    Ok(())
}

/// All quads of a database.
///
/// # Errors
///
/// Where the database cannot be read.
pub fn dump(database: &Database) -> Result<Dataset> {
    let mut dataset = Dataset::new();
    dump_quads(&database.snapshot(), DumpScope::All, &CancelToken::default(), &mut |quad| {
        dataset.insert(quad.into_owned());
        Ok(())
    })?;
    Ok(dataset)
}

impl Subject for EngineSubject {
    fn name(&self) -> &'static str {
        "engine"
    }

    fn read_rdf(&mut self, bytes: &[u8], format: RdfFormat, base: &str) -> Result<Dataset> {
        let database = Database::in_memory()?;
        load_into(&database, bytes.to_vec(), store_format(format), Some(base), self.knobs.threads)?;
        dump(&database)
    }

    fn configure(&mut self, knobs: &Knobs) {
        self.knobs = knobs.clone();
    }

    fn load(&mut self, dataset: &Dataset) -> Result<()> {
        let write = self.write_options();
        self.database = None;
        let database = match (&mut self.workers, &self.elsewhere) {
            (Some(workers), _) => workers.create(write)?,
            (None, Some((folder, _))) => Self::create_in(folder, write)?,
            (None, None) => Database::in_memory_with(write)?,
        };
        let quads = dataset.quads();
        let (changed, loaded): (Vec<_>, Vec<_>) =
            (0..quads.len()).partition(|number| self.knobs.parts > 2 && number % 5 == 4);
        let (changed, loaded) = (changed.iter().map(|n| &quads[*n]), loaded.iter().map(|n| &quads[*n]));
        let (changed, kept): (Vec<_>, Vec<_>) = changed.partition(|quad| !has_blank_node(quad));
        let wrong = if self.knobs.parts > 2 { others(quads) } else { Vec::new() };
        for part in parts(loaded.chain(kept).chain(&wrong), self.knobs.parts) {
            load_into(&database, part.into_bytes(), lode_rdf::RdfFormat::NQuads, None, self.knobs.threads)?;
        }
        change(&database, &changed, &wrong)?;
        let stored = dump(&database)?;
        let rows = |d: &Dataset| d.quads().iter().map(quad_row).collect::<Vec<_>>();
        let names = renaming(&rows(&stored), &rows(dataset));
        self.names = names.with_context(|| {
            format!(
                "the dump differs from what was loaded: {} and {} quads",
                stored.quads().len(),
                dataset.quads().len()
            )
        })?;
        self.database = Some(database);
        Ok(())
    }

    fn query(&mut self, text: &str, settings: &QuerySettings) -> Result<Answer> {
        let database = self.database.as_ref().context("nothing is loaded")?;
        if let Some(set) = self.materialises.filter(|_| settings.reasoning) {
            let rules = vec![RuleSource::Set(set.to_owned())];
            database.materialise(&MaterialiseOptions { rules, ..MaterialiseOptions::default() })?;
        }
        if self.knobs.related_plans {
            // Their plans may be used for the query; whether they are right themselves does not matter.
            for exchanged in [NEXT, OTHER_KINDS] {
                drop(database.prepare(&related(text, exchanged), &self.options(settings)));
            }
        }
        let options = self.options(settings);
        let results = match &mut self.workers {
            Some(workers) => workers.query(database, text, &options)?,
            None => database.query(text, &options)?,
        };
        Ok(match results {
            QueryResults::Boolean(value) => Answer::Boolean(value),
            QueryResults::Solutions(mut solutions) => {
                let variables = solutions.variables().to_vec();
                let rows = solutions.collect_rows()?;
                let rows = rows
                    .into_iter()
                    .map(|r| r.into_iter().map(|t| t.map(|t| self.term(&t))).collect())
                    .collect();
                Answer::Solutions { variables, rows }
            }
            QueryResults::Graph(mut triples) => {
                let mut all = Vec::new();
                while let Some(batch) = triples.next_batch()? {
                    for triple in batch.triples() {
                        all.push(self.triple(&triple.into_owned())?);
                    }
                }
                Answer::Graph(all)
            }
        })
    }

    fn explain(&self, text: &str, settings: &QuerySettings) -> Option<String> {
        let prepared = self.database.as_ref()?.prepare(text, &self.options(settings)).ok()?;
        Some(prepared.explain())
    }

    fn update(&mut self, text: &str, settings: &QuerySettings) -> Result<()> {
        let database = self.database.as_ref().context("nothing is loaded")?;
        let options = UpdateOptions { evaluation: self.options(settings), ..UpdateOptions::default() };
        database.update(text, &options)?;
        if self.knobs.changes == Changes::Compacted {
            let options = CompactOptions { force: true, ..CompactOptions::default() };
            compact(database.store(), &options, &Arc::new(LoadProgress::default())).context("compacting")?;
        }
        Ok(())
    }

    fn contents(&mut self) -> Result<Dataset> {
        let mut named = Dataset::new();
        for quad in dump(self.database.as_ref().context("nothing is loaded")?)?.quads() {
            named.insert(self.quad(quad)?);
        }
        Ok(named)
    }

    fn has_services(&self) -> bool {
        true
    }

    fn has_reasoning(&self) -> bool {
        true
    }

    fn parse_query(&self, text: &str, base: &str) -> Result<()> {
        lode_sparql::parse_query(text, Some(base)).map(|_| ()).map_err(|e| anyhow!("{e}"))
    }

    fn parse_update(&self, text: &str, base: &str) -> Result<()> {
        lode_sparql::parse_update(text, Some(base)).map(|_| ()).map_err(|e| anyhow!("{e}"))
    }
}

impl EngineSubject {
    fn quad(&self, quad: &Quad) -> Result<Quad> {
        let triple = self.triple(&quad.clone().into())?;
        let graph_name = match &quad.graph_name {
            GraphName::BlankNode(node) => match self.term(&node.clone().into()) {
                Term::BlankNode(node) => node.into(),
                _ => quad.graph_name.clone(),
            },
            other => other.clone(),
        };
        Ok(triple.in_graph(graph_name))
    }

    fn triple(&self, triple: &Triple) -> Result<Triple> {
        let subject = self.term(&triple.subject.clone().into());
        let object = self.term(&triple.object);
        Ok(Triple::from_terms(subject, triple.predicate.clone(), object)?)
    }
}

/// Constants for some nodes and numbers, as [`related`] exchanges them.
const NEXT: &[(&str, &str)] = &[
    (":a", ":b"),
    (":b", ":c"),
    (":c", ":d"),
    (":d", ":e"),
    (":e", ":a"),
    ("1", "2"),
    ("2", "3"),
    ("3", "1"),
];
/// The same with literals for IRIs, and with predicates and graphs, which occur in paths and datasets.
const OTHER_KINDS: &[(&str, &str)] = &[
    (":a", ":p"),
    (":b", ":g1"),
    (":c", "2"),
    (":d", ":q"),
    (":e", ":g2"),
    ("1", ":a"),
    ("2", ":c"),
    ("3", ":b"),
];

/// A query like this one, with other constants.
fn related(text: &str, exchanged: &[(&str, &str)]) -> String {
    let is_end =
        |c: char| !c.is_alphanumeric() && !matches!(c, ':' | '_' | '-' | '.' | '"' | '@' | '^' | '?');
    let word = |word: &str| {
        let next = exchanged.iter().find(|(constant, _)| *constant == word);
        next.map_or_else(|| word.to_owned(), |(_, next)| (*next).to_owned())
    };
    text.split_inclusive(is_end)
        .map(|part| match part.char_indices().next_back() {
            Some((at, last)) if is_end(last) => format!("{}{last}", word(&part[..at])),
            _ => word(part),
        })
        .collect()
}

fn store_format(format: RdfFormat) -> lode_rdf::RdfFormat {
    match format {
        RdfFormat::NTriples => lode_rdf::RdfFormat::NTriples,
        RdfFormat::NQuads => lode_rdf::RdfFormat::NQuads,
        RdfFormat::Turtle => lode_rdf::RdfFormat::Turtle,
        RdfFormat::TriG => lode_rdf::RdfFormat::TriG,
        RdfFormat::RdfXml => lode_rdf::RdfFormat::RdfXml,
        RdfFormat::JsonLd => lode_rdf::RdfFormat::JsonLd,
    }
}

/// The quads as N-Quads texts, one per load. Blank nodes mean something within one load only, so quads with any stay together.
fn parts<'a>(quads: impl Iterator<Item = &'a Quad>, count: usize) -> Vec<String> {
    let mut parts = vec![String::new(); count.max(1)];
    for (number, quad) in quads.enumerate() {
        let at = if has_blank_node(quad) { 0 } else { number % parts.len() };
        if let Some(part) = parts.get_mut(at) {
            part.push_str(&format!("{quad} .\n"));
        }
    }
    parts
}

/// Quads of the terms of `quads` that are not among them.
fn others(quads: &[Quad]) -> Vec<Quad> {
    let mix = |pair: &[Quad]| {
        let [first, second] = pair else { return None };
        let mixed = Quad { object: second.object.clone(), ..first.clone() };
        (!has_blank_node(&mixed) && !quads.contains(&mixed)).then_some(mixed)
    };
    quads.windows(2).step_by(3).filter_map(mix).collect()
}

/// Inserts and deletes quads without blank nodes, in two transactions.
fn change(database: &Database, insert: &[&Quad], delete: &[Quad]) -> Result<()> {
    let mut transaction = database.store().begin_blind()?;
    for quad in insert {
        let row = row(&mut transaction, quad)?;
        transaction.insert(row);
    }
    transaction.commit()?;
    let mut transaction = database.store().begin(&CancelToken::default())?;
    for quad in delete {
        let row = row(&mut transaction, quad)?;
        transaction.delete(row);
    }
    transaction.commit()?;
    Ok(())
}

fn row(transaction: &mut Transaction, quad: &Quad) -> Result<[ValueId; 4]> {
    let mut row = [ValueId::DEFAULT_GRAPH; 4];
    for (id, term) in row.iter_mut().zip(quad_row(quad)) {
        if let Some(term) = term {
            *id = transaction.intern(&term)?.context("a blank node cannot be named")?;
        }
    }
    Ok(row)
}

fn has_blank_node(quad: &Quad) -> bool {
    let mut found = false;
    for term in quad_row(quad).into_iter().flatten() {
        each_blank_node(&term, &mut |_| found = true);
    }
    found || matches!(quad.subject, NamedOrBlankNode::BlankNode(_))
}

/// SERVICE, answered by the oracle.
struct TestEndpoints(BTreeMap<String, Dataset>);

impl ServiceHandler for TestEndpoints {
    fn ask(&self, request: ServiceRequest) -> Box<dyn ServiceAnswer> {
        match self.answer(&request) {
            Ok(rows) => Box::new(InParts(rows)),
            Err(message) => Box::new(ReadyAnswer::new(Err(ServiceError::Failed(message)))),
        }
    }
}

/// An answer that comes a part at a time, as it does from a real endpoint.
struct InParts(ServiceRows);

impl ServiceAnswer for InParts {
    fn next(&mut self) -> Result<Option<ServiceRows>, ServiceError> {
        const ROWS: usize = 100;
        let rows = &mut self.0.rows;
        let part: Vec<_> = rows.drain(..rows.len().min(ROWS)).collect();
        let variables = self.0.variables.clone();
        Ok((!part.is_empty()).then_some(ServiceRows { variables, rows: part }))
    }

    fn bytes_received(&self) -> u64 {
        0
    }
}

impl TestEndpoints {
    fn answer(&self, request: &ServiceRequest) -> Result<ServiceRows, String> {
        let endpoint = &request.endpoint;
        let dataset = self.0.get(endpoint).ok_or_else(|| format!("no endpoint <{endpoint}>"))?;
        let query = SparqlParser::new().parse_query(&request.query).map_err(|e| e.to_string())?;
        let options = naive::Options { services: self.0.clone(), ..naive::Options::default() };
        match naive::evaluate(&query, dataset, &options).map_err(|e| e.to_string())? {
            Answer::Solutions { variables, rows } => {
                let variables = variables.iter().map(|v| v.as_str().to_owned()).collect();
                Ok(ServiceRows { variables, rows })
            }
            _ => Err("the endpoint was not asked for solutions".to_owned()),
        }
    }
}
