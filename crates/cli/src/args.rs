//! The command line: every option with its meaning, so that `--help` is the manual.

// What rustdoc would make links of is the text of `--help`, where angle brackets and backticks only disturb.
#![allow(rustdoc::bare_urls)]

mod backup;
mod bench_cluster;
mod bench_complete;
#[cfg(feature = "geo")]
mod bench_geo;
mod bench_report;
mod bench_target;
mod bench_text;
mod bench_update;
mod bind;
mod bsbm_run;
mod cache;
#[cfg(any(feature = "cluster", test))] // The reference of the guide has its options, too.
mod cluster;
mod cold;
mod config;
mod connections;
mod crowd;
mod dump;
mod evaluation;
pub mod examples;
pub mod folder;
#[cfg(feature = "geo")]
mod geo;
mod guard;
mod hostile;
mod io_probe;
mod limits;
mod load_worker;
mod lsp;
mod lubm;
mod manual;
mod materialise;
#[cfg(feature = "tls")]
mod oidc;
mod output;
mod publish;
mod quantity;
mod query_set;
mod reason;
mod serve;
mod shell;
mod soak;
mod stripe;
mod text;
mod top;
mod user;
mod validate;
mod warm;
mod why;

pub use backup::{BackupArgs, RestoreArgs, SnapshotCommand};
pub use bench_cluster::BenchClusterArgs;
pub use bench_complete::BenchCompleteArgs;
#[cfg(feature = "geo")]
pub use bench_geo::BenchGeoArgs;
pub use bench_report::BenchReportArgs;
pub use bench_target::TargetArgs;
pub use bench_text::{BenchTextArgs, RivalArg};
pub use bench_update::{BenchUpdateArgs, UpdateShape};
pub use bsbm_run::{BsbmRunArgs, Mix};
pub use cache::CacheArgs;
#[cfg(any(feature = "cluster", test))]
pub use cluster::{WorkerArgs, WorkersArgs};
pub use cold::{BenchColdArgs, ColdDevice, ColdPolicy};
pub use config::ConfigCommand;
pub use connections::BenchConnectionsArgs;
pub use crowd::BenchCrowdArgs;
pub use dump::DumpArgs;
pub use evaluation::{DefaultGraphArg, EvaluationArgs};
#[cfg(feature = "geo")]
pub use geo::GeoArgs;
pub use guard::GuardArgs;
pub use hostile::BenchHostileArgs;
pub use io_probe::IoProbeArgs;
pub use load_worker::{LoadWorkerArgs, LoadWorkersArgs};
pub use lsp::LspArgs;
pub use lubm::{LubmCommand, LubmGenerateArgs};
pub use manual::{CompletionsArgs, ManArgs};
pub use materialise::{MaintainArg, MaterialiseArgs};
pub use output::OutputArgs;
pub use publish::PublishArgs;
pub use query_set::QuerySetArgs;
pub use reason::BenchReasonArgs;
pub use serve::{LogFormatArg, LogLevelArg, Place, ServeArgs};
pub use shell::ShellArgs;
pub use soak::BenchSoakArgs;
pub use stripe::StripeArgs;
pub use text::TextArgs;
pub use top::{CancelArgs, LoginArgs, Named, StatusArgs, TopArgs};
pub use user::{GraphArgs, GroupCommand, PlaceArgs, TokenCommand, UserCommand};
pub use validate::ValidateArgs;
pub use warm::{WarmArgs, WarmPart};
pub use why::{WhyArgs, WhyFormat};

use crate::sources::SourceOptions;
use bind::parse_bind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use lode_engine::web::is_url;
use lode_rdf::RdfFormat;
use lode_server::Bind;
use quantity::{parse_bytes, parse_load_memory, parse_seconds};
use std::path::PathBuf;

/// An RDF quad store and SPARQL engine: load, query, update, serve.
#[derive(Debug, Parser)]
#[command(name = "lode", version, about = ABOUT, after_help = EXIT_CODES, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const ABOUT: &str =
    "An RDF quad store and SPARQL engine: load, query, update, serve. `lode demo` shows it in a minute";

const EXIT_CODES: &str = "Data goes to standard output, everything else to standard error.\n\n\
Exit codes: 0 done; 1 failed (the database is as it was, unless it says that the data is loaded); 2 wrong command line; 3 done, but statements were set aside \
(--quarantine); 4 the query, update or data has a syntax error; 5 time-out; 6 the check found damage; \
7 the data do not conform to the shapes.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Load RDF files into a database (made where there is none)
    Load(LoadArgs),
    /// Take part in a load that is shared out (lode load --workers)
    LoadWorker(LoadWorkerArgs),
    /// Run a SPARQL query
    Query(QueryArgs),
    /// Ask one query after the other, with completion and history
    Shell(ShellArgs),
    /// Change a database by a SPARQL update request
    Update(UpdateArgs),
    /// Tell what violates shapes in SHACL
    Validate(ValidateArgs),
    /// Write all quads, or those of one graph, as RDF
    Dump(DumpArgs),
    /// Show what is in a database and what it takes: quads, terms, graphs, bytes
    Stats(StatsArgs),
    /// Read and verify every block: checksums, order, counts, and that all orders hold the same quads
    Check(CheckArgs),
    /// Measure what the device of a folder can do, and keep it with the database for reading ahead
    IoProbe(IoProbeArgs),
    /// Spread the files of a database over several folders, each on a disk of its own
    Stripe(StripeArgs),
    /// Read what was in memory before, or whole orders, into the system's memory
    Warm(WarmArgs),
    /// Make one segment of all that loads have added: the smallest and fastest form of a database
    Compact(CompactArgs),
    /// Add what follows from the data by rules: RDF Schema, OWL 2 RL, SKOS, or your own
    Materialise(MaterialiseArgs),
    /// Index the words of texts, so that searches do not read all of them
    Text(TextArgs),
    /// Index where geometries are, so that conditions on them do not read all of them
    #[cfg(feature = "geo")]
    Geo(GeoArgs),
    /// Tell why a triple holds: from what it follows, and by which rules
    Why(WhyArgs),
    /// Copy a database while it is in use, or bring such a backup up to date
    Backup(BackupArgs),
    /// Make a database of a backup
    Restore(RestoreArgs),
    /// Publish a database to object storage, or bring what is published up to date
    Publish(PublishArgs),
    /// Keep versions of a database by name, to be queried later
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// Serve queries, updates (/sparql) and graphs (/data) over HTTP
    Serve(Box<ServeArgs>),
    /// Run parts of queries for other machines
    #[cfg(feature = "cluster")]
    Worker(Box<WorkerArgs>),
    /// Tell how options of `lode serve` are set
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Show how a server does: memory, cache, disk, changes, what runs
    Status(StatusArgs),
    /// Show what runs on a server: queries and updates, how far they are, what they use
    Top(TopArgs),
    /// Stop queries and updates that run on a server
    Cancel(CancelArgs),
    /// Help editors with queries: a language server
    Lsp(LspArgs),
    /// Say who may log in to a server
    #[command(subcommand)]
    User(UserCommand),
    /// Say what roles and groups of an OpenID Connect provider may do on a server
    #[command(subcommand)]
    Group(GroupCommand),
    /// Make tokens that programs log in to a server with
    #[command(subcommand)]
    Token(TokenCommand),
    /// Generate data, load it, query it, and serve it: a tour in a minute
    Demo(DemoArgs),
    /// Benchmark data and runs
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Write what a shell needs to complete this command line
    Completions(CompletionsArgs),
    /// Write the manual as pages for man(1)
    Man(ManArgs),
}

/// `lode load`.
#[derive(Debug, Args)]
#[command(
    after_help = "Syntax by --format, else by extension (.nt .nq .ttl .trig .rdf .jsonld, also with .gz .bz2 .zst .xz), \
else by content. Compression is recognised by the first bytes. Of a folder, and of a tar archive, all files are loaded whose names \
have one of these extensions; others are skipped, counted and told, and so is what is no regular file (FIFOs, links that lead nowhere). Text in UTF-16 (by its byte order mark) and RDF/XML in the encoding \
that it declares are transcoded. Nothing is visible until all files are loaded: a load that \
fails or is killed leaves the database as it was.\n\n\
Every load adds a segment. Where there are more than eight, the newest are merged once the load is done, so that a database is quick \
after any number of small loads; --no-merge leaves that to lode compact or to a later load.\n\n\
Exit codes: 0 all was loaded (or, with --dry-run, all is well); 1 failed, such as a file that cannot be read; 2 wrong command line; \
3 loaded, but bad statements or files were set aside (--quarantine); 4 a statement is wrong, nothing was loaded."
)]
pub struct LoadArgs {
    /// The database folder; with --workers also an address, where the database is published
    pub database: PathBuf,
    /// Files, folders and tar archives to load; - is standard input
    #[arg(required_unless_present = "dry_run")]
    pub files: Vec<PathBuf>,
    /// Only read and check everything, and tell the errors: the first 20 of each file (of RDF/XML and JSON-LD the first one), and how
    /// many there are; DB is not touched and may be left out
    #[arg(long)]
    pub dry_run: bool,
    /// Take http:// and https:// addresses for files
    #[arg(long)]
    pub allow_url: bool,
    /// RDF syntax of all files: nt, nq, ttl, trig, rdf, jsonld
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Put triples that are in no graph into this one
    #[arg(long, value_name = "IRI")]
    pub graph: Option<String>,
    /// Resolve relative IRIs against this one (default: the file's own, file:///folder/name, or its address on the web; of a file in an
    /// archive, the archive's and its name; standard input has none)
    #[arg(long, value_name = "IRI")]
    pub base: Option<String>,
    /// Write bad statements to this file, which must not exist yet (nor is made where nothing is wrong), and go on; of RDF/XML and JSON-LD whole files are left out, and so are files that cannot be read
    #[arg(long, value_name = "FILE")]
    pub quarantine: Option<PathBuf>,
    /// Keep what can be kept although the standards forbid it (IRIs with blanks and the like, language tags, escapes), and count it
    #[arg(long)]
    pub lenient: bool,
    /// Take JSON-LD contexts that are named by IRIs from this folder (https://schema.org/ from DIR/schema.org.jsonld, others likewise
    /// by host and path, or as DIR/index.json says: an object of IRIs and file names)
    #[arg(long, value_name = "DIR")]
    pub contexts: Option<PathBuf>,
    /// Leave the segments as they are, however many there are
    #[arg(long)]
    pub no_merge: bool,
    /// Then add what follows by these rules, as lode materialise --rules does: rdfs, rdfs-plus, owl2-rl, skos, or a file with rules; repeatable
    #[arg(long, value_name = "SET|FILE", conflicts_with = "dry_run")]
    pub materialise: Vec<String>,
    /// Then make an index of the words of all texts, as lode text does, and keep it from now on
    #[arg(long, conflicts_with = "dry_run")]
    pub text: bool,
    /// How it is shared out to several processes.
    #[command(flatten)]
    pub shared: LoadWorkersArgs,
    /// Threads (default: one a core)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Memory the load may use, such as 512MiB or 2GiB; beyond it, it works on disk; at least 48MiB (default: a quarter
    /// of the machine's, 2GiB at most)
    #[arg(long, value_name = "BYTES", value_parser = parse_load_memory)]
    pub memory: Option<usize>,
    /// Write past the memory of the system (O_DIRECT), which is left to others; where the file system refuses, that is told
    #[arg(long)]
    pub direct: bool,
    /// Spread the files of the database over these folders, best each on a disk of its own, from now on (see lode stripe); repeatable
    #[arg(long, value_name = "DIR", conflicts_with = "dry_run")]
    pub stripe: Vec<PathBuf>,
    /// The longest statement (a line, or what is between two triples): some times as much memory is taken (default: a sixteenth of
    /// --memory)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub statement_bytes_max: Option<usize>,
    /// Write the report as JSON to standard output
    #[arg(long)]
    pub json: bool,
    /// No progress line and no summary: errors only
    #[arg(long, short)]
    pub quiet: bool,
}

impl LoadArgs {
    /// How to take the names of files.
    pub fn source_options(&self) -> SourceOptions {
        SourceOptions {
            format_is_told: self.format.is_some(),
            allow_url: self.allow_url,
            sets_aside: self.quarantine.is_some(),
        }
    }

    /// Whether the first name is that of a database. A dry run needs none, so there it may be a file.
    pub fn database_is_named(&self) -> bool {
        let path = &self.database;
        let is_source = path.is_file()
            || path.as_os_str() == "-"
            || path.to_str().is_some_and(|name| is_url(name) || RdfFormat::from_file_name(name).is_some());
        let holds_files = || {
            let mut entries = std::fs::read_dir(path).into_iter().flatten();
            entries.next().is_some() && !path.join("MANIFEST").exists()
        };
        !(self.files.is_empty() || is_source || holds_files())
    }
}

/// How plans and profiles are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanForm {
    /// For people
    Text,
    /// For programs, on one line
    Json,
}

/// `lode query`.
#[derive(Debug, Args)]
#[command(
    after_help = "On a terminal, tables have its width: cells are cut, IRIs have the prefixes of the query and the usual ones, counts have bars, and \
what is longer than the screen goes through a pager. In files and pipes, and with --full, nothing is cut and terms are whole. Turtle and TriG have prefixes.\n\n\
In place of a folder, the address of a lode serve or of any SPARQL endpoint may stand (http://127.0.0.1:7878, of one with several databases with \
/NAME behind it; or the endpoint itself). Then --default-graph, --threads, --memory and what is said of SERVICE are the server's own.\n\n\
A database that lode publish has put somewhere is read in place: file:///srv/published, or of a web server lode+https://data.example.org/published (http:// and \
https:// alone are SPARQL endpoints). What comes over the network is kept in --cache-dir; --at takes the number or the name of a published version.\n\n\
Exit codes: 0 done; 1 failed; 2 wrong command line; 4 the query has a syntax error; 5 time-out."
)]
pub struct QueryArgs {
    /// The database folder, the address of a server, or that of a published database
    #[arg(value_name = "DB|URL")]
    pub database: PathBuf,
    /// The query; -, or without it or -f: standard input
    pub query: Option<String>,
    /// Read the query from this file
    #[arg(short = 'f', long = "file", value_name = "FILE", conflicts_with = "query")]
    pub file: Option<PathBuf>,
    /// table, json, jsonl, xml, csv, tsv for rows; nt, nq, ttl, trig, rdf, jsonld for graphs (default: table and ttl); arrow, parquet for both, in a
    /// build with the feature arrow (with -struct, -text behind the name: all columns as structs, as plain texts)
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Show the plan instead of running it
    #[arg(long, value_enum, value_name = "text|json", num_args = 0..=1, require_equals = true, default_missing_value = "text",
          hide_possible_values = true, conflicts_with = "profile")]
    pub explain: Option<PlanForm>,
    /// The database as this snapshot has kept it (see lode snapshot)
    #[arg(long, value_name = "NAME")]
    pub at: Option<String>,
    /// Run, then show on standard error what each operator did
    #[arg(long, value_enum, value_name = "text|json", num_args = 0..=1, require_equals = true, default_missing_value = "text",
          hide_possible_values = true)]
    pub profile: Option<PlanForm>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<std::time::Duration>,
    /// Resolve relative IRIs in the query against this one
    #[arg(long, value_name = "IRI")]
    pub base: Option<String>,
    /// How answers are shown.
    #[command(flatten)]
    pub output: OutputArgs,
    /// How to be let in, of a server.
    #[command(flatten, next_help_heading = "With a URL")]
    pub login: LoginArgs,
    /// What is kept of a published database.
    #[command(flatten, next_help_heading = "With a published database")]
    pub cache: CacheArgs,
    /// Who runs parts of it.
    #[cfg(feature = "cluster")]
    #[command(flatten, next_help_heading = "With workers")]
    pub workers: WorkersArgs,
    /// Evaluation.
    #[command(flatten, next_help_heading = "Evaluation")]
    pub evaluation: EvaluationArgs,
}

/// `lode update`.
#[derive(Debug, Args)]
#[command(
    after_help = "A request is one transaction: all of its operations happen, or none. Each sees what those before it did. The database is \
made where there is none with --create only.\n\n\
A graph exists as long as it has quads: CREATE GRAPH changes nothing (and fails where there is the graph), DROP and CLEAR are the same, and \
COPY, MOVE and ADD fail where there is no such source. LOAD reads nothing but what --allow-load names: plain or compressed documents, syntax by \
name, Content-Type or content.\n\n\
In place of a folder, the address of a lode serve or of any SPARQL endpoint may stand; then the server says what LOAD reads and what memory there is.\n\n\
Exit codes: 0 done; 1 failed, the database is as it was; 2 wrong command line; 4 the request has a syntax error; 5 time-out."
)]
pub struct UpdateArgs {
    /// The database folder, or the address of a server
    #[arg(value_name = "DB|URL", value_parser = folder::folder_or_server())]
    pub database: PathBuf,
    /// The request; - or without it and -f, standard input
    pub update: Option<String>,
    /// Read the request from this file
    #[arg(short = 'f', long = "file", value_name = "FILE", conflicts_with = "update")]
    pub file: Option<PathBuf>,
    /// Make an empty database where there is none
    #[arg(long)]
    pub create: bool,
    /// Let LOAD read this file, files in this folder and below, or addresses that begin so; repeatable, none by default
    #[arg(long, value_name = "PREFIX")]
    pub allow_load: Vec<String>,
    /// Shapes that the changes must keep.
    #[command(flatten)]
    pub guard: GuardArgs,
    /// The longest statement (a line, or what is between two triples) in what LOAD reads: some times as much memory is taken (default:
    /// 64MiB, or a sixteenth of --memory)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub statement_bytes_max: Option<usize>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<std::time::Duration>,
    /// Resolve relative IRIs in the request against this one
    #[arg(long, value_name = "IRI")]
    pub base: Option<String>,
    /// Write what was changed as JSON to standard output
    #[arg(long)]
    pub json: bool,
    /// No progress line and no summary: errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// How to be let in, of a server.
    #[command(flatten, next_help_heading = "With a URL")]
    pub login: LoginArgs,
    /// Evaluation of WHERE.
    #[command(flatten, next_help_heading = "Evaluation")]
    pub evaluation: EvaluationArgs,
}

/// `lode stats`.
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// The database folder, the address of a server, or that of a published database
    #[arg(value_name = "DB|URL")]
    pub database: PathBuf,
    /// The database as this snapshot has kept it (see lode snapshot), or the published version of this number or name
    #[arg(long, value_name = "NAME")]
    pub at: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Read files past the memory of the system, where the file system lets that be
    #[arg(long)]
    pub direct: bool,
    /// What is kept of a published database.
    #[command(flatten, next_help_heading = "With a published database")]
    pub published: CacheArgs,
    /// How to be let in, of a server.
    #[command(flatten, next_help_heading = "With a URL")]
    pub login: LoginArgs,
}

/// `lode check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Damage of segments is mended by a backup only. With --salvage, a MANIFEST that is missing or damaged is made again, from \
its copy or else from what the segments say of themselves: what cannot be decided is told, and files that it does not name are moved into the \
folder set-aside. A log that is damaged keeps the database from being written to: with --salvage everything before the damage is kept, what was \
committed after it is given up and counted, and the damaged file stays as log-NNNNNN.damaged. Of a log that is missing all is given up; a damaged \
end mark of a log is written again. A snapshot whose manifest is damaged or missing is dropped by \
lode snapshot drop.\n\n\
Of a published database (see lode publish) all objects that the newest version names, or the one of --at, are read and compared with what was published. \
Of one that is spread over several disks each stripe folder is named, and what in it belongs to nobody.\n\n\
Exit codes: 0 sound; 1 it could not be checked; 2 wrong command line; 6 something is damaged or missing."
)]
pub struct CheckArgs {
    /// The database folder, or the address of a published database
    #[arg(value_name = "DB|URL")]
    pub database: PathBuf,
    /// Check this version of a published database: its number or name
    #[arg(long, value_name = "VERSION", conflicts_with = "salvage")]
    pub at: Option<String>,
    /// First make a lost manifest again, and where the log is damaged or missing, a database of what is before the damage
    #[arg(long)]
    pub salvage: bool,
    /// No progress line
    #[arg(long, short)]
    pub quiet: bool,
}

/// `lode compact`.
#[derive(Debug, Args)]
#[command(
    after_help = "Every load adds a segment; many segments take more room and make queries slower. Needs room for the database \
once more while it runs, and no temporary files. Where memory is short for all segments at once, the newest are merged first, in as many \
rounds as it takes. Readers go on reading; the old segments go when the new one is in place and nobody reads them any more. A \
compaction that fails or is killed leaves what is in the database as it was."
)]
pub struct CompactArgs {
    /// The database folder
    #[arg(value_parser = folder::folder())]
    pub database: PathBuf,
    /// Threads (default: one a core)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Memory the compaction may use, such as 512MiB or 2GiB; it needs about a byte for each term of the dictionary, and is
    /// fastest with 32 more for each quad; with less, there are more rounds (default: a quarter of the machine's, 2GiB at most)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<usize>,
    /// Read and write past the memory of the system (O_DIRECT), which is left to others; where the file system refuses, that is told
    #[arg(long)]
    pub direct: bool,
    /// Also write a database anew that has one segment only
    #[arg(long)]
    pub force: bool,
    /// Write the report as JSON to standard output
    #[arg(long)]
    pub json: bool,
    /// No progress line
    #[arg(long, short)]
    pub quiet: bool,
}

/// `lode demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Where to put the database (default: a folder that goes when the demo ends)
    #[arg(long, value_name = "FOLDER")]
    pub database: Option<PathBuf>,
    /// Size, in products; each has about 355 triples
    #[arg(long, default_value_t = 2848, value_name = "N")]
    pub products: u64,
    /// End instead of serving
    #[arg(long)]
    pub once: bool,
    /// Address and port to listen on, or a port of 127.0.0.1 alone
    #[arg(long, default_value = "127.0.0.1:7878", value_name = "ADDRESS", value_parser = parse_bind)]
    pub bind: Bind,
}

/// `lode bench`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// The Berlin SPARQL Benchmark
    #[command(subcommand)]
    Bsbm(BsbmCommand),
    /// Run queries of many classes (joins, texts, aggregates, exports, cycles) over BSBM data of any size
    Analytic(QuerySetArgs),
    /// Run property paths over BSBM data of any size
    Paths(QuerySetArgs),
    /// Search the reviews of BSBM data of any size for words and strings
    Text(BenchTextArgs),
    /// The Lehigh University Benchmark
    #[command(subcommand)]
    Lubm(LubmCommand),
    /// Infer from data of several kinds by rules, beside other reasoners where they are installed
    Reason(BenchReasonArgs),
    /// Load places, and ask for windows, what is nearest, and a join, with and without an index
    #[cfg(feature = "geo")]
    Geo(BenchGeoArgs),
    /// Load data of many sizes and forms, and make a table of what it took
    Load(BenchLoadArgs),
    /// Tell how long a database is slow whose blocks come from an emulated disk, flash or object storage
    Cold(BenchColdArgs),
    /// Make tables and plots of what several stores needed for the same queries
    Report(BenchReportArgs),
    /// Let many clients commit small transactions to a database, and tell what that took
    Update(BenchUpdateArgs),
    /// Put a server under mixed load for long, kill it now and then, and check that nothing is lost
    Soak(BenchSoakArgs),
    /// Tell how long light queries take at a server behind many clients with heavy ones
    Crowd(BenchCrowdArgs),
    /// Tell what queries that ask for trouble do to a server, and to light queries meanwhile
    Hostile(BenchHostileArgs),
    /// Tell how long completion takes at a server, and whether what it offers gives answers
    Complete(BenchCompleteArgs),
    /// Tell what many connections that do next to nothing do to a server, and to light queries meanwhile
    Connections(BenchConnectionsArgs),
    /// Predict times of queries on many machines from costs on one
    Cluster(BenchClusterArgs),
}

/// `lode bench load`.
#[derive(Debug, Args)]
#[command(
    after_help = "Data are made on first use and kept in the folder: about 260 bytes a triple and file. Each load is a process of \
its own; the table has the medians of their wall times, with everything made durable."
)]
pub struct BenchLoadArgs {
    /// Folder for data and databases
    #[arg(long, default_value = "bench-data", value_name = "DIR")]
    pub folder: PathBuf,
    /// Only these cases (see --list), separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub cases: Vec<String>,
    /// Only cases of at most so many triples, unless cases are named
    #[arg(long, default_value_t = 12_000_000, value_name = "TRIPLES")]
    pub up_to: u64,
    /// Loads of each case
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub runs: usize,
    /// Show the cases
    #[arg(long)]
    pub list: bool,
    /// Also put the table into this Markdown file, between the lines that mark its place
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write reports as JSON instead of the table
    #[arg(long)]
    pub json: bool,
}

/// `lode bench bsbm`.
#[derive(Debug, Subcommand)]
pub enum BsbmCommand {
    /// Write a data set; the same seed gives the same bytes
    Generate(BsbmGenerateArgs),
    /// Write instances of the Explore or BI queries
    Queries(BsbmQueriesArgs),
    /// Run whole query mixes on an endpoint, or on a database in this process, and tell what they took
    Run(BsbmRunArgs),
}

/// `lode bench bsbm generate`.
#[derive(Debug, Args)]
pub struct BsbmGenerateArgs {
    /// Size, in products; 2,848 make about 1 million triples, 28,480 about 10 million
    #[arg(long, value_name = "N")]
    pub products: u64,
    /// nt, ttl, or nq (a named graph for each source)
    #[arg(long, default_value = "nt", value_name = "NAME")]
    pub format: String,
    /// Seed of all random choices
    #[arg(long, default_value_t = 808_080, value_name = "N")]
    pub seed: u64,
    /// Write here (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No progress line
    #[arg(long, short)]
    pub quiet: bool,
}

/// `lode bench bsbm queries`.
#[derive(Debug, Args)]
pub struct BsbmQueriesArgs {
    /// Size of the data set that they will run on, in products
    #[arg(long, value_name = "N")]
    pub products: u64,
    /// Which mix
    #[arg(long, value_enum, default_value = "explore")]
    pub mix: Mix,
    /// Seed of the data set
    #[arg(long, default_value_t = 808_080, value_name = "N")]
    pub data_seed: u64,
    /// Seed of the parameters
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}

#[cfg(test)]
mod tests;
