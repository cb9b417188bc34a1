//! Stack for recursion over queries, whose depth is the writer's choice.
//!
//! Trees of a query are bounded in depth ([`crate::parse::depth::DEPTH_MAX`]), but at that depth a thread of two MiB is too small for what
//! walks them. So who enters a recursion makes sure that there is room for it: [`deep`] for all levels at once, also where the code
//! that recurses is not ours (parsers, derived clones and comparisons, drops), [`room`] for one level more.

/// What one level of a tree may take on the stack, whoever walks it: measured in builds without optimisation, and doubled.
const LEVEL_BYTES: usize = 16 << 10;
/// What is needed besides.
const BASE_BYTES: usize = 256 << 10;
/// Where less is left, one level more gets a new piece: half of what threads have, so that it does for comparing or dropping a whole tree,
const ROOM_BYTES: usize = 1 << 20;
/// of this size. What is not touched takes no memory.
const PIECE_BYTES: usize = 8 << 20;

/// Runs `work`, which walks a tree of so many levels, with as much stack as that may take.
pub fn deep<T>(levels: usize, work: impl FnOnce() -> T) -> T {
    let bytes = BASE_BYTES + levels.saturating_mul(LEVEL_BYTES);
    stacker::maybe_grow(bytes, bytes, work)
}

/// Runs one level of a recursion, with enough stack to go down another.
pub fn room<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(ROOM_BYTES, PIECE_BYTES, work)
}
