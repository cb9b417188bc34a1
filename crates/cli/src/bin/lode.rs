//! The program `lode`.

use std::process::ExitCode;

/// A query is made of many small allocations, some freed by other threads than made them
/// ([what this allocator is worth, and costs](../../../../docs/design/019-short-queries.md)).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    lode_cli::main()
}
