//! Others who run parts of a query's plan: they have opened the same files by themselves, and know of the query what comes as bytes.

use anyhow::{Context, Result, ensure};
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_engine::store::{OpenFiles, Snapshot, WriteOptions};
use lode_engine::{Database, OpenOptions, PreparedQuery, QueryOptions, QueryResults};
use lode_fragment::{
    Came, Exchange, Fragment, FragmentRows, Input, OpenFragment, RunOptions, Wanted, ranges, read,
    read_ranges, rows, rows_over, take_apart, write, write_ranges,
};
use lode_rdf::ValueId;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A fragment is run over so many ranges, if there are so many.
const RANGES: usize = 5;
/// Rows of fragments that others are made of are spread over so many.
const PLACES: u64 = 3;
const FOLDER: &str = "/db";

/// The workers, and what they have done.
#[derive(Debug, Default)]
pub struct Workers {
    vfs: Option<Arc<dyn Vfs>>,
    opened: Option<Database>,
    /// Queries of which they were asked for parts.
    pub queries: u64,
    /// Parts.
    pub fragments: u64,
    /// Those of them that are made of rows of others.
    pub exchanges: u64,
    /// Ranges over which these were run.
    pub ranges: u64,
    /// Operators in them, by name.
    pub operators: std::collections::BTreeMap<&'static str, u64>,
}

impl Workers {
    /// A new database whose files they can open.
    ///
    /// # Errors
    ///
    /// Where it cannot be made.
    pub fn create(&mut self, write: WriteOptions) -> Result<Database> {
        let vfs: Arc<dyn Vfs> = Arc::new(MemVfs::default());
        let options = OpenOptions::default();
        let database = Database::create_on_for_writing(Arc::clone(&vfs), Path::new(FOLDER), &options, write)?;
        (self.vfs, self.opened) = (Some(vfs), None);
        Ok(database)
    }

    /// Asks a query; what can be run by workers is.
    ///
    /// # Errors
    ///
    /// Where the query fails, or a part of its plan is not the same at a worker.
    pub fn query(&mut self, database: &Database, text: &str, options: &QueryOptions) -> Result<QueryResults> {
        let prepared = self.apart(database.prepare(text, options)?, options)?;
        Ok(prepared.run()?)
    }

    /// The version of a query, as a worker sees it.
    fn opened_at(&mut self, version: u64) -> Result<&Database> {
        let is_that = |database: &Database| database.snapshot().version_number() == version;
        if !self.opened.as_ref().is_some_and(is_that) {
            let vfs = Arc::clone(self.vfs.as_ref().context("no files")?);
            let options = OpenOptions::default();
            self.opened = Some(Database::open_on(vfs, Path::new(FOLDER), &options, OpenFiles::Now)?);
        }
        let opened = self.opened.as_ref().filter(|database| is_that(database));
        opened.context("workers see another version")
    }

    fn apart(&mut self, prepared: PreparedQuery, options: &QueryOptions) -> Result<PreparedQuery> {
        let snapshot = prepared.snapshot().clone();
        let visible = options.graphs.visible(&snapshot, &options.cancel)?;
        // Whatever can be exchanged is.
        let exchange = Some(Exchange { rows_min: 0.0, row_cost: 0.0, parts: RANGES, begin_cost: 0.0 });
        let wanted = Wanted { cost_min: 0.0, now: prepared.now(), visible, exchange };
        let apart = take_apart(prepared.plan(), &snapshot, &wanted)?;
        if apart.fragments.is_empty() {
            return Ok(prepared);
        }
        self.queries += 1;
        let worker = self.opened_at(snapshot.version_number())?.snapshot();
        let mut sent = Vec::new();
        for (fragment, bytes) in &apart.fragments {
            let came = read(bytes, &worker)?;
            ensure!(came.plan.root == fragment.plan.root, "a fragment is another when it was read");
            ensure!(
                (&came.visible, came.now) == (&fragment.visible, fragment.now),
                "what goes along is another"
            );
            ensure!(write(&came, &worker)? == *bytes, "a fragment is written in other bytes again");
            let run = RunOptions {
                threads: options.threads,
                batch_rows: options.batch_rows,
                ..RunOptions::new(options.memory_bytes, options.cancel.clone())
            };
            self.fragments += 1;
            self.exchanges += u64::from(!fragment.inputs.is_empty());
            self.count(&came);
            // The head cuts, where it has no more than the workers have.
            let cut = match fragment.inputs.is_empty() {
                true => read_ranges(&write_ranges(&ranges(fragment, &snapshot, &run, RANGES)?.1))?,
                false => Vec::new(),
            };
            self.ranges += cut.len() as u64;
            sent.push(Sent { fragment: came, inputs: fragment.inputs.clone(), cut, run });
        }
        let sent = Arc::new(Site { sent, worker });
        let open = OpenFragment::new(move |number| Ok(sent.rows(number)));
        Ok(prepared.with_head(apart.head, open))
    }

    fn count(&mut self, fragment: &Fragment) {
        let mut open = vec![&fragment.plan.root];
        while let Some(node) = open.pop() {
            *self.operators.entry(node.op.name()).or_default() += 1;
            open.extend(node.children());
        }
    }
}

/// A fragment at the workers.
struct Sent {
    fragment: Fragment,
    inputs: Vec<Input>,
    cut: Vec<Range<ValueId>>,
    run: RunOptions,
}

/// All of them.
struct Site {
    sent: Vec<Sent>,
    worker: Snapshot,
}

impl Site {
    /// The rows of a fragment: of one range after the other, or of one place after the other to which those of its inputs are spread.
    fn rows(self: &Arc<Self>, number: u32) -> FragmentRows {
        let Sent { fragment, inputs, cut, run } = &self.sent[number as usize];
        let (fragment, worker) = (fragment.clone(), self.worker.clone());
        if inputs.is_empty() {
            return rows(fragment, worker, cut.clone(), run.clone());
        }
        let at_place = |place| {
            let (site, inputs) = (Arc::clone(self), inputs.clone());
            OpenFragment::new(move |number| {
                let input = inputs[number as usize].clone();
                Ok(at_place(site.rows(input.fragment), input.by, place))
            })
        };
        rows_over(fragment, worker, (0..PLACES).map(at_place).collect(), run.clone())
    }
}

/// Those of some rows that go to a place, by what is in some columns.
fn at_place(mut rows: FragmentRows, by: Vec<usize>, place: u64) -> FragmentRows {
    Box::new(move |out| {
        let more = rows(out)?;
        let here = |row: &usize| {
            let mut hasher = DefaultHasher::new();
            by.iter().for_each(|column| out.batch.columns[*column][*row].to_bits().hash(&mut hasher));
            hasher.finish() % PLACES == place
        };
        let kept: Vec<u32> =
            (0..out.batch.rows).filter(here).filter_map(|row| u32::try_from(row).ok()).collect();
        keep(out, &kept);
        Ok(more)
    })
}

fn keep(came: &mut Came, kept: &[u32]) {
    came.batch.select(kept);
    came.terms.retain_mut(|term| {
        let place = kept.iter().position(|row| *row as usize == term.row);
        term.row = place.unwrap_or(term.row);
        place.is_some()
    });
}
