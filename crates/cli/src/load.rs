//! `lode load`.

use crate::args::{LoadArgs, folder};
use crate::contexts::ContextFolder;
use crate::direct;
use crate::exit::{Done, unknown_format, wrong_usage};
use crate::inferring;
use crate::keep_few::keep_few;
use crate::load_failure::{Remedies, load_failed, with_code};
use crate::load_line::live_line;
use crate::load_report;
use crate::load_scratch::work_beside;
use crate::memory;
use crate::new_words::index_loaded;
use crate::number;
use crate::published::address;
use crate::skipped::SkippedFiles;
use crate::sources::Sources;
use crate::stripe::{self, Named};
use crate::talk::{say, say_found_log, tell_damaged_snapshots, write_json};
use anyhow::{Context, bail};
use lode_engine::store::CompactOptions;
use lode_engine::store::load::{LoadOptions, LoadProgress, LoadReport, Source, SourceReport, load, validate};
use lode_engine::web::is_url;
use lode_engine::{Database, OpenOptions, remove_database};
use lode_rdf::NamedNode;
use lode_rdf::format::RdfFormat;
use lode_rdf::parse::StatementLimit;
use lode_remote::Address;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The cache a load opens the database with: it reads old segments in sequence, past the cache.
pub const CACHE_BYTES: usize = 32 << 20;

pub fn run(args: &LoadArgs) -> anyhow::Result<Done> {
    if args.dry_run {
        return dry_run(args);
    }
    direct::use_if(args.direct);
    check_words(args)?;
    // What cannot be read is told before anything is loaded.
    let rules = inferring::sources(&args.materialise)?;
    let found = Sources::find(&args.files, args.source_options())?;
    let (options, quarantine) = options(args)?;
    let existed = args.database.exists();
    warn_of_work(args)?;
    stripe::ask_for(&args.database, &args.stripe, Named::Options, args.quiet)?;
    let report = load_sources(&args.database, found.sources, options, !args.no_merge, args.quiet);
    remove_if_clean(quarantine.as_deref());
    let report = report.inspect_err(|_| {
        if !existed {
            remove_if_empty(&args.database);
        }
        if let Some(path) = quarantine.as_ref().filter(|path| path.exists()) {
            say!("what was set aside so far is in {}", path.display());
        }
    })?;
    let skipped = SkippedFiles::new(&found.skipped, &report.skipped);
    skipped.tell();
    if args.json {
        write_json(&load_report::as_json(&report, &skipped))?;
    }
    let set_aside = tell_set_aside(report.quarantined, &report.sources, quarantine.as_deref());
    if rules.is_empty() {
        inferring::tell_stale(&args.database, CACHE_BYTES)?;
    } else {
        inferring::after_load(args, rules)?;
    }
    if args.text {
        index_loaded(args, CACHE_BYTES)
            .context("the data is loaded, and the words of its texts are not indexed (lode text)")?;
    }
    Ok(if set_aside { Done::Quarantined } else { Done::Ok })
}

/// Warns where a load with workers has begun on the same database: this load is the end of it.
fn warn_of_work(args: &LoadArgs) -> anyhow::Result<()> {
    let work = work_beside(&std::path::absolute(&args.database)?);
    if !args.quiet && work.is_dir() {
        say!(
            "warning: {} is the work of a load with --workers that has not ended; once this load has changed the database, that one cannot go on",
            work.display()
        );
    }
    Ok(())
}

/// Whether the database stands behind the files, and not before them.
pub fn check_words(args: &LoadArgs) -> anyhow::Result<()> {
    let (first, last) = (&args.database, args.files.last());
    if let Some(refusal) = folder::refusal(first) {
        let is_writable = matches!(address(first), Ok(Some(Address::Folder(_) | Address::Cloud(_))));
        let with_workers = if is_writable { "; --workers N loads into a new one there" } else { "" };
        return Err(wrong_usage(format!("{refusal}{with_workers}")));
    }
    let is_database = |path: &&PathBuf| path.join("MANIFEST").exists() || !path.exists();
    if !first.is_file() {
        return Ok(());
    }
    let Some(last) = last.filter(is_database).filter(|last| !is_url(&last.to_string_lossy())) else {
        return Ok(());
    };
    let others = &args.files[..args.files.len() - 1];
    let files: Vec<String> =
        std::iter::once(first).chain(others).map(|file| file.display().to_string()).collect();
    Err(wrong_usage(format!(
        "{} is a file, not a database; the database comes first, then the files: lode load {} {}",
        first.display(),
        last.display(),
        files.join(" ")
    )))
}

/// Removes the file for what is set aside, if nothing was.
fn remove_if_clean(quarantine: Option<&Path>) {
    if let Some(path) = quarantine
        && std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0)
    {
        // It stays, then, empty.
        let _ = std::fs::remove_file(path);
    }
}

/// Tells what was set aside, if anything was.
fn tell_set_aside(statements: u64, sources: &[SourceReport], quarantine: Option<&Path>) -> bool {
    let Some(path) = quarantine else { return false };
    let files = load_report::set_aside(sources);
    if statements > 0 {
        say!("set aside: {} bad statements, in {}", number::grouped(statements), path.display());
    }
    statements > 0 || files > 0
}

fn options(args: &LoadArgs) -> anyhow::Result<(LoadOptions, Option<PathBuf>)> {
    let mut options =
        LoadOptions { base_iri: args.base.clone(), lenient: args.lenient, ..LoadOptions::default() };
    if let Some(folder) = &args.contexts {
        let contexts = ContextFolder::open(folder)?;
        options.contexts = Some(Arc::new(move |iri: &str| contexts.load(iri)));
    }
    if let Some(name) = &args.format {
        options.format = Some(RdfFormat::from_name(name).ok_or_else(|| unknown_format(name))?);
    }
    if let Some(graph) = &args.graph {
        let name = NamedNode::new(graph)
            .map_err(|error| wrong_usage(format!("--graph {graph} is not an absolute IRI: {error}")))?;
        options.graph = Some(name);
    }
    if let Some(threads) = args.threads {
        options.threads = threads.max(1);
    }
    if let Some(memory) = args.memory {
        options.memory_bytes = memory;
    }
    memory::keep_to(options.memory_bytes);
    options.statement_limit = args.statement_bytes_max.map(StatementLimit::new);
    if let Some(path) = &args.quarantine {
        // What is there already is not written over: it could be one of the sources.
        if std::fs::metadata(path).is_ok_and(|found| found.len() > 0) {
            bail!(
                "--quarantine {}: there is such a file already; give the name of a new one",
                path.display()
            );
        }
        let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
        options.quarantine = Some(Box::new(BufWriter::new(file)));
    }
    Ok((options, args.quarantine.clone()))
}

/// Loads sources with a live line and a summary on standard error, and merges segments where there are too many then.
pub fn load_sources(
    database: &Path,
    sources: Vec<Source>,
    options: LoadOptions,
    merges: bool,
    quiet: bool,
) -> anyhow::Result<LoadReport> {
    let database = Database::create_or_open(database, &OpenOptions::with_cache(CACHE_BYTES))?;
    say_found_log(&database);
    tell_damaged_snapshots(&database);
    let progress = Arc::new(LoadProgress::default());
    let start = Instant::now();
    let line = live_line(quiet, &progress);
    let (threads, memory_bytes) = (options.threads, options.memory_bytes);
    let remedies = Remedies::left(&options, sources.len());
    let result = load(database.store(), sources, options, &progress);
    drop(line);
    let report = result.map_err(|error| load_failed(&error, database.snapshot().quad_count(), remedies))?;
    if !quiet {
        load_report::summary(&report, start.elapsed());
    }
    if merges {
        keep_few(&database, &CompactOptions { threads, memory_bytes, ..CompactOptions::default() }, quiet);
    }
    Ok(report)
}

/// Reads and checks everything that a load would read, and says what is wrong with it. No database is touched.
fn dry_run(args: &LoadArgs) -> anyhow::Result<Done> {
    let mut names = args.files.clone();
    if !args.database_is_named() {
        names.insert(0, args.database.clone());
    }
    let found = Sources::find(&names, args.source_options())?;
    let (options, quarantine) = options(args)?;
    let progress = Arc::new(LoadProgress::default());
    let line = live_line(args.quiet, &progress);
    let result = validate(found.sources, options, &progress);
    drop(line);
    remove_if_clean(quarantine.as_deref());
    let report = result.map_err(|error| with_code(&error, error.to_string()))?;
    load_report::dry_summary(&report, args.quiet);
    let skipped = SkippedFiles::new(&found.skipped, &report.skipped);
    skipped.tell();
    if args.json {
        write_json(&load_report::dry_as_json(&report, &skipped))?;
    }
    if tell_set_aside(report.quarantined, &report.sources, quarantine.as_deref()) {
        return Ok(Done::Quarantined);
    }
    Ok(match &report {
        report if report.bad > 0 => Done::Invalid,
        report if report.failed > 0 => Done::Unreadable,
        _ => Done::Ok,
    })
}

/// A load or an update that failed leaves no database where none was.
pub fn remove_if_empty(database: &Path) {
    let holds_data = Database::open(database, &OpenOptions::with_cache(CACHE_BYTES))
        .map_or(true, |database| database.snapshot().quad_count() > 0);
    if !holds_data {
        // What is left is the next load's to clean up.
        let _ = remove_database(database);
    }
}
