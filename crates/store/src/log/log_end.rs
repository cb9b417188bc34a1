//! Where a log ends.

/// Where a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEnd {
    /// The first byte behind the last whole record.
    pub offset: u64,
    /// The number of the next record.
    pub next_sequence: u64,
    /// Bytes of the file behind `offset`.
    pub ignored_bytes: u64,
    /// Whether the log was closed there. Else somebody may have seen records behind it that are gone.
    pub is_closed: bool,
}
