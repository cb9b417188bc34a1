//! The `lode` command: reads the command line, runs one command, and turns its outcome into an exit code. A library, since the program of the crate
//! `cluster` is the same one with workers.

mod again;
mod allocator;
mod args;
mod backup;
mod bench;
mod bench_bsbm_run;
mod bench_clients;
mod bench_cluster;
mod bench_cold;
mod bench_complete;
mod bench_connections;
mod bench_crowd;
mod bench_data;
#[cfg(feature = "geo")]
mod bench_geo;
mod bench_hostile;
mod bench_load;
mod bench_lubm;
mod bench_queries;
mod bench_reason;
mod bench_report;
mod bench_scratch;
mod bench_soak;
mod bench_target;
mod bench_update;
mod check;
#[cfg(feature = "cluster")]
mod cluster;
mod compact;
mod config;
mod config_file;
mod contexts;
mod contradictions;
mod demo;
mod direct;
mod dump;
mod dump_graph;
#[cfg(feature = "arrow")]
mod dump_tables;
mod exit;
#[cfg(feature = "geo")]
mod geo;
mod group;
mod inferring;
mod interrupt;
mod io_probe;
mod keep_few;
mod link_thread;
mod load;
mod load_failure;
mod load_line;
mod load_report;
mod load_scratch;
mod load_target;
mod load_tasks;
mod load_worker;
mod look;
mod lsp;
mod manual;
mod marked;
mod materialise;
mod memory;
mod new_words;
#[cfg(feature = "geo")]
mod no_geometries;
mod notify;
mod number;
mod opening;
mod plan_table;
mod progress;
mod publish;
mod published;
mod query;
#[cfg(test)]
mod reference;
mod remote;
mod screen;
mod serve;
mod serve_config;
mod serve_log;
mod server_client;
mod shapes;
mod shell;
mod signals;
mod skipped;
mod slips;
mod snapshot;
mod sources;
mod stats;
mod status;
mod stripe;
mod supplied;
mod talk;
mod text;
mod token;
mod top;
mod update;
mod user;
mod validate;
mod warm;
mod why;
mod written;

#[cfg(feature = "cluster")]
pub use cluster::{Cluster, RunningWorker, WorkerArgs, WorkerMemory, WorkersArgs, warn};

use args::{BenchCommand, Cli, Command};
use lode_bench::{analytic, paths};
use std::process::ExitCode;

/// What the command line of this process says, with workers.
#[cfg(feature = "cluster")]
pub fn main_with(cluster: &'static dyn Cluster) -> ExitCode {
    cluster::hand_in(cluster);
    main()
}

/// What the command line of this process says.
pub fn main() -> ExitCode {
    // Before the first file of a database is opened: files are kept open as far as there are descriptors.
    lode_engine::raise_descriptor_limit();
    let mut args: Vec<_> = std::env::args_os().collect();
    if slips::asks_for_version(&args) {
        args[1] = "--version".into();
    }
    let command = match serve_config::parse(&args) {
        Ok(Cli { command }) => command,
        Err(error) => return exit::code(Err(error)),
    };
    let outcome = match command {
        Command::Load(args) => match args.shared.workers {
            Some(workers) => load_tasks::run(&args, workers.into()),
            None => load::run(&args),
        },
        Command::LoadWorker(args) => load_worker::run(&args),
        Command::Query(args) => query::run(&args),
        Command::Shell(args) => shell::run(&args),
        Command::Update(args) => update::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Check(args) => check::run(&args),
        Command::IoProbe(args) => io_probe::run(&args),
        Command::Stripe(args) => stripe::run(&args),
        Command::Warm(args) => warm::run(&args),
        Command::Compact(args) => compact::run(&args),
        Command::Materialise(args) => materialise::run(&args),
        Command::Text(args) => text::run(&args),
        #[cfg(feature = "geo")]
        Command::Geo(args) => geo::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Backup(args) => backup::run(&args),
        Command::Restore(args) => backup::restore(&args),
        Command::Publish(args) => publish::run(&args),
        Command::Snapshot(command) => snapshot::run(&command),
        Command::Serve(args) => serve::run(&args),
        #[cfg(feature = "cluster")]
        Command::Worker(args) => cluster::run(&args),
        Command::Config(command) => config::run(&command),
        Command::Status(args) => status::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Lsp(args) => lsp::run(&args),
        Command::User(command) => user::run(&command),
        Command::Group(command) => group::run(&command),
        Command::Token(command) => token::run(&command),
        Command::Cancel(args) => top::cancel(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::pages(&args),
        Command::Bench(BenchCommand::Bsbm(command)) => bench::run(&command),
        Command::Bench(BenchCommand::Analytic(args)) => {
            bench_queries::run("analytic", &analytic::QUERIES, &args)
        }
        Command::Bench(BenchCommand::Paths(args)) => bench_queries::run("paths", &paths::QUERIES, &args),
        Command::Bench(BenchCommand::Text(args)) => bench_queries::run_text(&args),
        Command::Bench(BenchCommand::Lubm(command)) => bench_lubm::run(&command),
        Command::Bench(BenchCommand::Reason(args)) => bench_reason::run(&args),
        #[cfg(feature = "geo")]
        Command::Bench(BenchCommand::Geo(args)) => bench_geo::run(&args),
        Command::Bench(BenchCommand::Load(args)) => bench_load::run(&args),
        Command::Bench(BenchCommand::Cold(args)) => bench_cold::run(&args),
        Command::Bench(BenchCommand::Report(args)) => bench_report::run(&args),
        Command::Bench(BenchCommand::Update(args)) => bench_update::run(&args),
        Command::Bench(BenchCommand::Soak(args)) => bench_soak::run(&args),
        Command::Bench(BenchCommand::Crowd(args)) => bench_crowd::run(&args),
        Command::Bench(BenchCommand::Complete(args)) => bench_complete::run(&args),
        Command::Bench(BenchCommand::Hostile(args)) => bench_hostile::run(&args),
        Command::Bench(BenchCommand::Connections(args)) => bench_connections::run(&args),
        Command::Bench(BenchCommand::Cluster(args)) => bench_cluster::run(&args),
    };
    lode_engine::wait_for_removals();
    exit::code(outcome)
}
