//! The real binary, as a person or a script runs it: every command, its output, its errors and exit codes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod archives;
mod bench;
mod dry_run;
mod full;
mod kill;
mod load;
mod lode;
mod mistakes;
mod query;
mod serve;
mod update;
mod web;
