//! The real binary, as a person or a script runs it: every command, its output, its errors and exit codes.

mod kill;
mod load;
mod lode;
mod query;
mod serve;
