//! Writes segments, for loads, flushes, compactions and the clearing of graphs: folders, dictionaries, sorted orders, and the description
//! that makes a segment whole. No manifest names a segment before its builder is done.
//!
//! Rows with ids come from [`direct`] (a flush, a large transaction), packed rows from a load or a compaction: both are packed into integers
//! ([`layout`]), sorted and written in all orders ([`orders`]). Rows that come in an order already go straight to its file
//! ([`order_output`]). [`seal`] ends a segment.

mod build_error;
mod class;
mod copy_file;
mod dictionary_pipeline;
mod direct;
mod each_order;
mod groups;
mod inline_values;
mod keys_ahead;
mod layout;
mod name_fields;
mod new_folders;
mod order_output;
mod order_writer;
mod orders;
mod orders_context;
mod row_set;
mod seal;
mod term_codes;
mod term_index;
mod working_memory;

pub use build_error::BuildError;
pub(crate) use class::Class;
pub(crate) use copy_file::copy_file;
pub(crate) use dictionary_pipeline::{DictionaryPipeline, NewFile};
pub(crate) use direct::{DirectSegment, remove_segment};
pub(crate) use each_order::each_order;
pub(crate) use inline_values::InlineValues;
pub(crate) use keys_ahead::walk_keys;
pub(crate) use layout::{Layout, PackedRow, RowShape};
pub(crate) use name_fields::NameFields;
pub(crate) use new_folders::NewFolders;
pub(crate) use order_output::OrderOutput;
pub(crate) use orders::write_orders;
pub(crate) use orders_context::OrdersContext;
pub(crate) use row_set::RowSet;
pub(crate) use seal::{NewFiles, NewOrigin, NewSegment, seal_segment};
pub(crate) use term_codes::{ClassCounts, TermCodes};
pub(crate) use term_index::TermIndex;
pub(crate) use working_memory::{OVERHEAD_BYTES, memory_bytes_default, working_bytes};
