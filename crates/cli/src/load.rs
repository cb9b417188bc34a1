//! `lode load`.

use crate::args::LoadArgs;
use crate::exit::{DataSyntaxError, Done};
use crate::number;
use crate::progress::{LiveLine, RateMeter};
use crate::talk::say;
use anyhow::{Context, bail};
use lode_engine::store::load::{
    LoadError, LoadOptions, LoadProgress, LoadReport, ProgressSample, Source, Stage, load,
};
use lode_engine::{Database, OpenOptions};
use lode_rdf::NamedNode;
use lode_rdf::format::RdfFormat;
use lode_rdf::value_id::Section;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The cache a load opens the database with: it reads old segments in sequence, past the cache.
const CACHE_BYTES: usize = 32 << 20;

pub fn run(args: &LoadArgs) -> anyhow::Result<Done> {
    let (options, quarantine) = options(args)?;
    let existed = args.database.exists();
    let report = load_files(&args.database, &args.files, options, args.quiet).inspect_err(|_| {
        if !existed {
            remove_if_empty(&args.database);
        }
        if let Some(path) = &quarantine {
            say!("lines set aside so far are in {}", path.display());
        }
    })?;
    if args.json {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &as_json(&report))?;
        writeln!(out)?;
    }
    if report.quarantined == 0 {
        return Ok(Done::Ok);
    }
    if let Some(path) = &quarantine {
        say!("set aside: {} bad lines, in {}", number::grouped(report.quarantined), path.display());
    }
    Ok(Done::Quarantined)
}

fn options(args: &LoadArgs) -> anyhow::Result<(LoadOptions, Option<PathBuf>)> {
    let mut options = LoadOptions { base_iri: args.base.clone(), ..LoadOptions::default() };
    if let Some(name) = &args.format {
        let format = RdfFormat::from_name(name);
        options.format = Some(
            format.with_context(|| format!("unknown format {name}: use nt, nq, ttl, trig, rdf or jsonld"))?,
        );
    }
    if let Some(graph) = &args.graph {
        options.graph =
            Some(NamedNode::new(graph).with_context(|| format!("--graph {graph} is not an IRI"))?);
    }
    if let Some(threads) = args.threads {
        options.threads = threads.max(1);
    }
    if let Some(memory) = args.memory {
        options.memory_bytes = memory;
    }
    if let Some(path) = &args.quarantine {
        let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
        options.quarantine = Some(Box::new(BufWriter::new(file)));
    }
    Ok((options, args.quarantine.clone()))
}

/// Loads files (`-`: standard input) with a live line and a summary on standard error.
pub fn load_files(
    database: &Path,
    files: &[PathBuf],
    options: LoadOptions,
    quiet: bool,
) -> anyhow::Result<LoadReport> {
    let sources = files.iter().map(source).collect::<anyhow::Result<Vec<_>>>()?;
    let database = Database::create_or_open(database, &OpenOptions { cache_bytes: CACHE_BYTES })?;
    let progress = Arc::new(LoadProgress::default());
    let start = Instant::now();
    let shown = Arc::clone(&progress);
    let mut text = LineText { reading: RateMeter::new(), writing: None };
    let line = LiveLine::start(quiet, move || text.show(shown.sample()));
    let result = load(database.store(), sources, options, &progress);
    drop(line);
    let report = result.map_err(|error| match error {
        error @ LoadError::Syntax { .. } => anyhow::Error::new(DataSyntaxError(error.to_string())),
        other => other.into(),
    })?;
    if !quiet {
        summary(&report, start.elapsed());
    }
    Ok(report)
}

fn source(path: &PathBuf) -> anyhow::Result<Source> {
    if path.as_os_str() == "-" {
        return Ok(Source::reader("standard input", Box::new(std::io::stdin())));
    }
    if path.is_dir() {
        bail!("{} is a folder: name the files in it", path.display());
    }
    // Opened here as well, so that a name that is wrong is told before anything is read.
    File::open(path).with_context(|| format!("opening {}", path.display()))?;
    Ok(Source::path(path))
}

/// A load that failed leaves no database where none was.
fn remove_if_empty(database: &Path) {
    let holds_data = Database::open(database, &OpenOptions { cache_bytes: CACHE_BYTES })
        .map_or(true, |database| database.snapshot().quad_count() > 0);
    if !holds_data {
        // What is left is the next load's to clean up.
        let _ = std::fs::remove_dir_all(database);
    }
}

struct LineText {
    reading: RateMeter,
    writing: Option<RateMeter>,
}

impl LineText {
    fn show(&mut self, sample: ProgressSample) -> String {
        let quads = number::grouped(sample.quads);
        let memory = number::bytes(sample.memory);
        let average = number::rate(sample.quads, self.reading.elapsed());
        match sample.stage {
            Stage::Reading => {
                let rate = number::short(self.reading.current(sample.quads));
                let left =
                    sample.bytes_total.and_then(|total| self.reading.time_left(sample.bytes_read, total));
                let share = sample.bytes_total.map_or(String::new(), |total| {
                    format!(" {:.0} %,", 100.0 * sample.bytes_read as f64 / total.max(1) as f64)
                });
                format!(
                    "reading:{share} {quads} quads, {rate}/s now, {average} on average, memory {memory}{}",
                    left_text(left)
                )
            }
            Stage::Writing if sample.rows_to_write > 0 => {
                let meter = self.writing.get_or_insert_with(RateMeter::new);
                let left = meter.time_left(sample.rows_written, sample.rows_to_write);
                let share = 100.0 * sample.rows_written as f64 / sample.rows_to_write as f64;
                format!("writing indexes: {share:.0} %, {quads} quads, memory {memory}{}", left_text(left))
            }
            stage => format!(
                "{}: {quads} quads, {} terms, memory {memory}",
                stage.name(),
                number::grouped(sample.terms)
            ),
        }
    }
}

fn left_text(left: Option<Duration>) -> String {
    left.map_or(String::new(), |left| format!(", about {} left in this stage", number::duration(left)))
}

fn summary(report: &LoadReport, time: Duration) {
    let count = number::grouped;
    say!(
        "loaded {} quads in {}, {} ({} new, {} duplicates, {} already there)",
        count(report.quads),
        number::duration(time),
        number::rate(report.quads, time),
        count(report.added),
        count(report.duplicates),
        count(report.existing),
    );
    let terms: u64 = report.new_terms.iter().sum();
    let stages = [Stage::Reading, Stage::Terms, Stage::Sorting, Stage::Writing, Stage::Publishing];
    let seconds = stages.map(|stage| format!("{} {:.2} s", stage.name(), report.seconds.of(stage)));
    say!("{} new terms, {} blank nodes; {}", count(terms), count(report.blank_nodes), seconds.join(", "));
    if let Some(segment) = &report.segment {
        let per_quad = segment.bytes() as f64 / segment.quads().max(1) as f64;
        let peak = report
            .peak_resident_bytes
            .map_or(String::new(), |bytes| format!("; peak memory {}", number::bytes(bytes)));
        say!("{} on disk, {per_quad:.1} bytes a quad{peak}", number::bytes(segment.bytes()));
    }
}

fn as_json(report: &LoadReport) -> serde_json::Value {
    let stages = [Stage::Reading, Stage::Terms, Stage::Sorting, Stage::Writing, Stage::Publishing];
    let seconds: serde_json::Map<String, serde_json::Value> =
        stages.iter().map(|stage| (stage.name().to_owned(), json!(report.seconds.of(*stage)))).collect();
    let terms: serde_json::Map<String, serde_json::Value> = Section::ALL
        .iter()
        .zip(report.new_terms)
        .map(|(section, terms)| (crate::stats::section_name(*section).to_owned(), json!(terms)))
        .collect();
    json!({
        "quads": report.quads,
        "added": report.added,
        "duplicates": report.duplicates,
        "existing": report.existing,
        "quarantined": report.quarantined,
        "new_terms": terms,
        "blank_nodes": report.blank_nodes,
        "source_bytes": report.source_bytes,
        "segment_bytes": report.segment.as_ref().map(|segment| segment.bytes()),
        "seconds": seconds,
        "peak_resident_bytes": report.peak_resident_bytes,
    })
}
