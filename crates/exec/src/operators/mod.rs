//! The operators: pull iterators over batches, one file each.

pub(crate) mod construct;
pub(crate) mod count_scan;
pub(crate) mod describe;
pub(crate) mod distinct;
pub(crate) mod extend;
pub(crate) mod filter;
pub(crate) mod for_each_graph;
pub(crate) mod graph_names;
mod graph_nodes;
pub(crate) mod group;
pub(crate) mod group_table;
mod hash_index;
pub(crate) mod hash_join;
pub(crate) mod hash_join_build;
pub(crate) mod hash_join_spill;
pub(crate) mod hash_table;
pub(crate) mod index_scan;
pub(crate) mod join_output;
mod key_skips;
mod key_test;
pub(crate) mod limit_by;
pub(crate) mod lookup_join;
mod marks;
pub(crate) mod merge_join;
pub(crate) mod multiway_join;
pub(crate) mod path;
mod path_closure;
mod path_edges;
mod path_search;
mod path_starts;
pub(crate) mod project;
pub(crate) mod row_set;
pub(crate) mod service;
mod service_answer;
mod service_block;
mod service_values;
pub(crate) mod slice;
pub(crate) mod sort;
pub(crate) mod sort_spec;
mod sorted_runs;
mod sorter;
pub(crate) mod spool;
pub(crate) mod trie;
pub(crate) mod trie_cursor;
pub(crate) mod triple_term;
pub(crate) mod union;
pub(crate) mod values;

use crate::batch::Batch;
use crate::error::ExecError;
use crate::key_filter::KeyFilter;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

/// A running operator: the state of one thread.
pub(crate) trait Operator: Send {
    /// Replaces `out` by the next rows. `true`: there is at least one; `false`: the end, and `out` is empty.
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError>;

    /// A hint: the caller has no use for rows whose values of `vars` (a leading part of this operator's sort order) come before
    /// `key`, so they may be skipped.
    fn skip_to(&mut self, _vars: &[VarId], _key: &[ValueId]) -> Result<(), ExecError> {
        Ok(())
    }

    /// A hint, before the first row is asked for: the caller has no use for rows that bind `var` to a value that is not in `filter`.
    fn keep_keys(&mut self, _var: VarId, _filter: &Arc<KeyFilter>) {}
}

/// Any operator.
pub(crate) type BoxOp = Box<dyn Operator>;
