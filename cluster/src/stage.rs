//! A fragment of a query, and how it is spread over workers.

use crate::part::Part;
use crate::stages::Above;
use lode_fragment::Fragment;
use lode_rdf::ValueId;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

/// A fragment, and how it is spread.
#[derive(Debug)]
pub struct Stage {
    pub fragment: Fragment,
    /// All but its ranges and its time.
    pub part: Part,
    pub ranges: Vec<Range<ValueId>>,
    pub tasks: usize,
    pub above: Above,
    /// The variable by whose values it is cut, by name.
    pub key: Option<String>,
    /// Rows that came, and bytes of them as columns.
    pub rows: AtomicU64,
    pub bytes: AtomicU64,
}
