//! Others who run parts of a query's plan: they have opened the same files by themselves, and know of the query what comes as bytes.

use anyhow::{Context, Result, ensure};
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_engine::store::{OpenFiles, WriteOptions};
use lode_engine::{Database, OpenOptions, PreparedQuery, QueryOptions, QueryResults};
use lode_fragment::{
    Fragment, OpenFragment, RunOptions, Wanted, ranges, read, read_ranges, rows, take_apart, write,
    write_ranges,
};
use std::path::Path;
use std::sync::Arc;

/// A fragment is run over so many ranges, if there are so many.
const RANGES: usize = 5;
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
        let wanted = Wanted { cost_min: 0.0, now: prepared.now(), visible };
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
            // The head cuts, where it has no more than the workers have.
            let (_, cut) = ranges(fragment, &snapshot, &run, RANGES)?;
            let cut = read_ranges(&write_ranges(&cut))?;
            self.fragments += 1;
            self.ranges += cut.len() as u64;
            self.count(&came);
            sent.push((came, cut, run));
        }
        let open = OpenFragment::new(move |number| {
            let (fragment, cut, run) = &sent[number as usize];
            Ok(rows(fragment.clone(), worker.clone(), cut.clone(), run.clone()))
        });
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
