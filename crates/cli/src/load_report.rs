//! What `lode load` tells at its end: to people on standard error, to programs as JSON on standard output.

use crate::number;
use crate::skipped::SkippedFiles;
use crate::stats::section_name;
use crate::talk::say;
use lode_engine::Order;
use lode_engine::store::load::{FilePart, LoadReport, SourceReport, Stage, ValidateReport};
use lode_rdf::parse::{KeptExample, Mistake};
use lode_rdf::value_id::Section;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The stages that take time.
const STAGES: [Stage; 5] = [Stage::Reading, Stage::Terms, Stage::Sorting, Stage::Writing, Stage::Publishing];
/// Names of files that are told.
const NAMES_SHOWN_MAX: usize = 5;
/// Files set aside that are named; the others are in the quarantine and in the JSON.
const FILES_SHOWN_MAX: usize = 20;
/// Examples of each kind of mistake that are told.
const EXAMPLES_SHOWN_MAX: usize = 3;

/// The summary of a load.
pub fn summary(report: &LoadReport, time: Duration) {
    let count = number::grouped;
    say!(
        "loaded {} in {}, {} ({} distinct: {} new, {} already there; {})",
        number::of(report.quads, "quad"),
        number::duration(time),
        number::rate(report.quads, time),
        count(report.added + report.existing),
        count(report.added),
        count(report.existing),
        number::of(report.duplicates, "duplicate"),
    );
    let terms: u64 = report.new_terms.iter().sum();
    say!("{}, {}", number::of(terms, "new term"), number::of(report.blank_nodes, "blank node"));
    let seconds = STAGES.map(|stage| format!("{} {:.2} s", stage.name(), report.seconds.of(stage)));
    say!("{}{}", seconds.join(", "), resources(report.processor_seconds, report.peak_resident_bytes));
    if let Some(segment) = &report.segment {
        let quads = segment.quads().max(1) as f64;
        let files: Vec<String> = files(report)
            .iter()
            .map(|(name, bytes)| format!("{name} {:.2}", *bytes as f64 / quads))
            .collect();
        let per_quad = segment.bytes() as f64 / quads;
        say!("{} on disk, {per_quad:.1} bytes a quad: {}", number::bytes(segment.bytes()), files.join(", "));
    }
    notes(&report.sources);
}

/// Tells which files could not be read to their end and were set aside; how many these are.
pub fn set_aside(sources: &[SourceReport]) -> u64 {
    let failed: Vec<_> = sources.iter().filter_map(|source| source.failed.as_ref()).collect();
    for (error, part) in failed.iter().take(FILES_SHOWN_MAX) {
        let what = match part {
            FilePart::All => "nothing of this file was loaded",
            FilePart::Rest => "the rest of this file was not loaded",
        };
        say!("set aside: {error} ({what})");
    }
    if failed.len() > 1 {
        say!("set aside: {} files that could not be read as a whole", number::grouped(failed.len() as u64));
    }
    failed.len() as u64
}

/// Tells what is worth knowing about sources.
fn notes(sources: &[SourceReport]) {
    no_statements(sources);
    transcoded(sources);
    own_addresses(sources);
    kept(sources);
}

/// A file without statements is allowed, but seldom meant.
fn no_statements(sources: &[SourceReport]) {
    for source in
        sources.iter().filter(|source| source.quads == 0 && source.bad == 0 && source.failed.is_none())
    {
        say!("warning: {} holds no statements", source.name);
    }
}

fn transcoded(sources: &[SourceReport]) {
    let found: Vec<_> = sources.iter().filter_map(|source| Some((&source.name, source.encoding?))).collect();
    for (name, encoding) in found.iter().take(NAMES_SHOWN_MAX) {
        say!("{name}: transcoded from {encoding}");
    }
    if found.len() > NAMES_SHOWN_MAX {
        say!("{} files in all were transcoded", number::grouped(found.len() as u64));
    }
}

fn own_addresses(sources: &[SourceReport]) {
    let found: Vec<_> = sources.iter().filter(|source| source.notes.used_own_address).collect();
    match found.as_slice() {
        [] => {}
        [one] => {
            say!("{} had relative IRIs; its own address was used: --base IRI sets another", one.name);
        }
        many => say!(
            "{} files had relative IRIs; their own addresses were used: --base IRI sets another",
            number::grouped(many.len() as u64)
        ),
    }
}

/// Tells what lenient loading kept, by kind, with examples.
fn kept(sources: &[SourceReport]) {
    for mistake in Mistake::ALL {
        let count = kept_count(sources, mistake);
        if count > 0 {
            let examples: Vec<String> = kept_examples(sources, mistake)
                .map(|(name, example)| format!("{} `{}`", place(name, example), example.text))
                .collect();
            say!("kept: {} {}, such as {}", number::grouped(count), mistake.plural(), examples.join(", "));
        }
    }
}

fn kept_count(sources: &[SourceReport], mistake: Mistake) -> u64 {
    sources.iter().map(|source| source.notes.kept.count(mistake)).sum()
}

fn kept_examples(sources: &[SourceReport], mistake: Mistake) -> impl Iterator<Item = (&str, &KeptExample)> {
    let all = sources.iter().flat_map(|source| {
        source.notes.kept.examples().iter().map(|example| (source.name.as_str(), example))
    });
    all.filter(move |(_, example)| example.mistake == mistake).take(EXAMPLES_SHOWN_MAX)
}

/// A place as errors have it; of some syntaxes only the line is known.
fn place(name: &str, example: &KeptExample) -> String {
    match example.column {
        0 => format!("{name}:{}", example.line),
        column => format!("{name}:{}:{column}", example.line),
    }
}

fn kept_json(sources: &[SourceReport]) -> Map<String, Value> {
    let of = |mistake: Mistake| {
        let examples: Vec<Value> = kept_examples(sources, mistake)
            .map(|(name, example)| json!({"place": place(name, example), "text": example.text}))
            .collect();
        (mistake.key().to_owned(), json!({"count": kept_count(sources, mistake), "examples": examples}))
    };
    Mistake::ALL.into_iter().filter(|mistake| kept_count(sources, *mistake) > 0).map(of).collect()
}

fn failed_files(sources: &[SourceReport]) -> usize {
    sources.iter().filter(|source| source.failed.is_some()).count()
}

fn resources(processor_seconds: Option<f64>, peak: Option<u64>) -> String {
    let processors = processor_seconds.map(|seconds| format!("; {seconds:.2} s of processors"));
    let memory = peak.map(|bytes| format!("; peak memory {}", number::bytes(bytes)));
    processors.unwrap_or_default() + &memory.unwrap_or_default()
}

/// The files of the new segment and their lengths.
fn files(report: &LoadReport) -> Vec<(&'static str, u64)> {
    let Some(segment) = &report.segment else { return Vec::new() };
    let orders = Order::ALL.iter().zip(&segment.permutations).map(|(order, info)| (order.name(), info.bytes));
    orders.chain([("dictionary", segment.dictionary.map_or(0, |info| info.bytes))]).collect()
}

/// The report of a load; its keys stay.
pub fn as_json(report: &LoadReport, skipped: &SkippedFiles<'_>) -> Value {
    let seconds: Map<String, Value> =
        STAGES.iter().map(|stage| (stage.name().to_owned(), json!(report.seconds.of(*stage)))).collect();
    let terms: Map<String, Value> = Section::ALL
        .iter()
        .zip(report.new_terms)
        .map(|(section, terms)| (section_name(*section).to_owned(), json!(terms)))
        .collect();
    let files: Map<String, Value> =
        files(report).into_iter().map(|(name, bytes)| (name.to_owned(), json!(bytes))).collect();
    json!({
        "quads": report.quads,
        "distinct": report.added + report.existing,
        "added": report.added,
        "duplicates": report.duplicates,
        "existing": report.existing,
        "quarantined": report.quarantined,
        "failed_files": failed_files(&report.sources),
        "kept": kept_json(&report.sources),
        "skipped_files": skipped.count(),
        "skipped": skipped.as_json(),
        "new_terms": terms,
        "blank_nodes": report.blank_nodes,
        "inline_values": report.inline_values,
        "source_bytes": report.source_bytes,
        "segment_bytes": report.segment.as_ref().map(|segment| segment.bytes()),
        "file_bytes": files,
        "block_fill": report.segment.as_ref().map(|segment| segment.block_fill()),
        "seconds": seconds,
        "seconds_total": report.seconds.total(),
        "processor_seconds": report.processor_seconds,
        "peak_resident_bytes": report.peak_resident_bytes,
        "sources": sources(&report.sources),
    })
}

fn sources(sources: &[SourceReport]) -> Vec<Value> {
    let of = |source: &SourceReport| {
        json!({
            "name": source.name,
            "format": source.format.map(lode_rdf::RdfFormat::extension),
            "quads": source.quads,
            "bad": source.bad,
            "encoding": source.encoding,
            "used_own_address": source.notes.used_own_address,
            "kept": source.notes.kept.total(),
            "failed": source.failed.as_ref().map(|(error, _)| error),
        })
    };
    sources.iter().map(of).collect()
}

/// The errors that a dry run found, and unless `quiet` its summary.
pub fn dry_summary(report: &ValidateReport, quiet: bool) {
    let count = number::grouped;
    for error in &report.errors {
        say!("error: {error}");
    }
    if quiet {
        return;
    }
    for source in &report.sources {
        let format = source.format.map_or(String::new(), |format| format!(" ({format})"));
        let bad = if source.bad > 0 { format!(", {} bad", count(source.bad)) } else { String::new() };
        say!("{}: {}{bad}{format}", source.name, number::of(source.quads, "quad"));
    }
    let time = Duration::from_secs_f64(report.seconds);
    say!(
        "read {} in {}, {}; {}, {} that cannot be read{}",
        number::of(report.quads, "quad"),
        number::duration(time),
        number::rate(report.quads, time),
        number::of(report.bad, "bad statement"),
        number::of(report.failed, "file"),
        resources(report.processor_seconds, report.peak_resident_bytes),
    );
    notes(&report.sources);
}

/// The report of a dry run; its keys stay.
pub fn dry_as_json(report: &ValidateReport, skipped: &SkippedFiles<'_>) -> Value {
    let errors: Vec<String> = report.errors.iter().map(ToString::to_string).collect();
    json!({
        "quads": report.quads,
        "bad": report.bad,
        "quarantined": report.quarantined,
        "failed_files": report.failed,
        "kept": kept_json(&report.sources),
        "skipped_files": skipped.count(),
        "skipped": skipped.as_json(),
        "source_bytes": report.source_bytes,
        "seconds_total": report.seconds,
        "processor_seconds": report.processor_seconds,
        "peak_resident_bytes": report.peak_resident_bytes,
        "sources": sources(&report.sources),
        "errors": errors,
    })
}
