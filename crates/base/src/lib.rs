//! What every layer needs and no layer owns: files, checksums, integer coding, memory budgets, cancellation.

pub mod cancel;
pub mod memory_budget;
pub mod vfs;
