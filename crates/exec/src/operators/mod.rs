//! The operators: pull iterators over batches, one file each.

pub(crate) mod construct;
pub(crate) mod count_scan;
pub(crate) mod describe;
pub(crate) mod distinct;
pub(crate) mod extend;
pub(crate) mod filter;
pub(crate) mod for_each_graph;
pub(crate) mod fragment;
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
pub(crate) mod lateral;
pub(crate) mod limit_by;
pub(crate) mod lookup_join;
pub(crate) mod merge_join;
pub(crate) mod merge_union;
pub(crate) mod multiway_join;
pub(crate) mod path;
mod path_closure;
mod path_edges;
mod path_search;
mod path_starts;
mod path_types;
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
#[cfg(feature = "geo")]
mod spatial;
#[cfg(not(feature = "geo"))]
#[path = "spatial_off.rs"]
mod spatial;
pub(crate) mod spool;
pub(crate) mod trie;
pub(crate) mod trie_cursor;
pub(crate) mod triple_term;
pub(crate) mod union;
pub(crate) mod values;
mod visited;

pub(crate) use crate::operator::{BoxOp, Operator};
