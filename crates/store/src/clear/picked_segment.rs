//! A segment of some of the quads of others: those that are in some graphs, or all others. Nothing is sorted: each order is read in its
//! order, the orders side by side. Blocks of which nothing is wanted are not read, those that are wanted wholly are copied as
//! they are, and of others columns are picked.

use crate::clear::graph_reader::{Reader, Step, Wanted};
use crate::clear::graphs::Graphs;
use crate::layer_merge::{Layer, LayerMerge};
use crate::manifest::SegmentEntry;
use crate::segment_builder::{BuildError, NewFiles, NewOrigin, OrderOutput, each_order, seal_segment};
use crate::store::Store;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_packed::{Order, PermutationInfo};
use lode_rdf::value_id::Section;
use std::path::Path;

/// Rows between two looks at the cancel token where several segments are merged.
const ROWS_PER_CHECK: usize = 1 << 16;

/// What a new segment is made of.
#[derive(Clone, Copy)]
pub enum Picked<'a> {
    /// The quads of a segment that are not in the graphs.
    Others(&'a OpenSegment),
    /// The quads in the graphs that these segments add up to.
    Cleared(&'a [OpenSegment]),
}

/// A segment that is written.
pub struct PickedSegment<'a> {
    /// The database.
    pub store: &'a Store,
    /// The graphs that are cleared.
    pub graphs: Graphs,
    /// Its quads.
    pub picked: Picked<'a>,
    /// How many these are.
    pub quads: u64,
    /// What it is.
    pub origin: NewOrigin,
    /// Its folder, which is there.
    pub folder: &'a Path,
    /// Terms of the dictionaries before it.
    pub bases: [u64; Section::COUNT],
    /// Threads.
    pub threads: usize,
    /// Asked for each block.
    pub cancel: &'a CancelToken,
}

impl PickedSegment<'_> {
    /// Writes it, durably; its line in the manifest.
    pub fn write(&self) -> Result<SegmentEntry, BuildError> {
        let permutations = self.write_orders()?;
        let first = permutations[Order::Spog as usize];
        for info in &permutations {
            // The order that begins with the graph has named graphs only.
            let same =
                info.order == Order::Gspo || (info.rows, info.fingerprint) == (self.quads, first.fingerprint);
            if !same {
                let what = format!("{} is not all that is picked", info.order.name());
                return Err(BuildError::Inconsistent(what));
            }
        }
        let files = NewFiles { permutations, dictionary: None, bases: self.bases };
        let check = || self.cancel.check();
        Ok(seal_segment(self.store, files, self.origin.clone(), self.folder, &check)?.entry)
    }

    fn write_orders(&self) -> Result<[PermutationInfo; Order::COUNT], BuildError> {
        let mut written = each_order(self.threads, &|order| self.write_order(order))?;
        written.sort_by_key(|info| info.order);
        let missing = |_| BuildError::Inconsistent("an order was not written".to_owned());
        written.try_into().map_err(missing)
    }

    fn write_order(&self, order: Order) -> Result<PermutationInfo, BuildError> {
        let mut output = OrderOutput::create(&**self.store.vfs(), self.folder, order)?;
        match self.picked {
            Picked::Others(segment) => self.pick(self.reader(segment, order, true), &mut output)?,
            Picked::Cleared([segment]) => self.pick(self.reader(segment, order, false), &mut output)?,
            Picked::Cleared(segments) => self.pick_merged(segments, order, &mut output)?,
        }
        output.finish()
    }

    /// Picks rows of one segment, block by block.
    fn pick(&self, mut reader: Reader<'_>, output: &mut OrderOutput) -> Result<(), BuildError> {
        loop {
            self.cancel.check()?;
            match reader.step()? {
                Step::End => return Ok(()),
                Step::Whole(block) => output.write(|writer| writer.push_block(reader.permutation, block))?,
                Step::Picked => {
                    let columns = reader.columns.each_ref().map(Vec::as_slice);
                    output.write(|writer| writer.push(columns))?;
                }
            }
        }
    }

    /// Picks what several segments add up to, of the rows of the graphs: what other segments say of others is not asked for here.
    fn pick_merged(
        &self,
        segments: &[OpenSegment],
        order: Order,
        output: &mut OrderOutput,
    ) -> Result<(), BuildError> {
        let layers =
            segments.iter().map(|segment| Layer::new(segment.entry.sign, self.reader(segment, order, false)));
        let mut merge = LayerMerge::new(layers);
        loop {
            self.cancel.check()?;
            let rows = merge.next(ROWS_PER_CHECK, &mut |reader, rows| {
                let columns = reader.next_columns(rows);
                output.write(|writer| writer.push(columns))
            })?;
            if rows == 0 {
                return Ok(());
            }
        }
    }

    fn reader<'a>(&self, segment: &'a OpenSegment, order: Order, others: bool) -> Reader<'a> {
        Reader::new(segment.permutation(order), Wanted { graphs: self.graphs, others })
    }
}
