//! The real binary, as a person or a script runs it: every command, its output, its errors and exit codes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod administration;
mod archives;
mod backup;
mod bench;
mod bench_queries;
mod clients;
mod damage;
mod databases;
mod dirt;
mod dry_run;
mod endpoint;
mod fillings;
mod full;
mod hostile_memory;
mod isolation;
mod kill;
mod kill_serve;
mod limits;
mod load;
mod lode;
mod lost_manifest;
mod many_loads;
mod mistakes;
mod newcomer;
mod operations;
mod origins;
mod query;
mod query_memory;
mod rdf_graph;
mod running;
mod serve;
mod serve_data;
mod serve_update;
mod service;
mod snapshot;
mod soak;
mod stopping;
mod tls;
mod update;
mod users;
mod w3c;
mod web;
