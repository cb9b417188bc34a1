//! How large what travels may be: what is larger stays where it is, and bytes that say otherwise are refused.

/// Bytes of a fragment.
pub const BYTES_MAX: usize = 4 << 20;
/// Operators, expressions, terms, columns and whatever else is counted in a fragment, all together: each takes some hundred bytes of memory at most.
pub const PARTS_MAX: usize = 1 << 17;
/// Levels of operators and expressions, one below the other.
pub const LEVELS_MAX: usize = 200;
/// Variables of a fragment's query.
pub const VARS_MAX: usize = 1 << 16;
/// Columns of an operator's rows.
pub const COLUMNS_MAX: usize = 1 << 10;
/// Ranges of a list.
pub const RANGES_MAX: usize = 1 << 16;
/// Inputs of a fragment over rows of others.
pub const INPUTS_MAX: u32 = 16;
