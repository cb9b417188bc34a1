//! The program `lode` with workers.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    lode_cli::main_with(&lode_cluster::Program)
}
