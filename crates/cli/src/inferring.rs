//! Rules that are named on the command line, and what was done by them: for `lode materialise`, and for loads that end with that.

use crate::args::LoadArgs;
use crate::contradictions;
use crate::memory::SharedMemory;
use crate::number;
use crate::progress::LiveLine;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_engine::store::OpenFiles;
use lode_engine::{
    Database, MaterialiseOptions, MaterialiseProgress, MaterialiseReport, OpenOptions, RuleSet, RuleSource,
};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Rules that the summary names: those that took longest.
const RULES_SHOWN: usize = 3;

/// Adds what follows from what was just loaded.
pub fn after_load(args: &LoadArgs, rules: Vec<RuleSource>) -> anyhow::Result<()> {
    let memory = SharedMemory::of(args.memory, None);
    let database =
        Database::open_for_writing(&args.database, &memory.open_options(), memory.write_options())?;
    let mut evaluation = memory.options();
    if let Some(threads) = args.threads {
        evaluation.threads = threads.max(1);
    }
    let options =
        MaterialiseOptions { rules, evaluation: evaluation.clone(), ..MaterialiseOptions::default() };
    apply(&database, options, args.quiet)
        .context("the data is loaded, and nothing was inferred from it (lode materialise)")?;
    contradictions::warn(&database, evaluation, contradictions::TOLD, args.quiet);
    Ok(())
}

/// Warns where a load has left what was inferred behind: queries would answer without what follows from what is new.
pub fn tell_stale(path: &Path, cache_bytes: usize) -> anyhow::Result<()> {
    let database =
        Database::open_for_reading(path, &OpenOptions::with_cache(cache_bytes), OpenFiles::WhenRead)?;
    let kept = database.inferences(&database.snapshot())?;
    if kept.is_some_and(|kept| !kept.up_to_date) {
        say!(
            "warning: nothing was inferred from what is new: queries answer without it until lode materialise {} (or load with --materialise)",
            path.display()
        );
    }
    Ok(())
}

/// Applies rules, with a live line and a summary.
pub fn apply(
    database: &Database,
    mut options: MaterialiseOptions,
    quiet: bool,
) -> anyhow::Result<MaterialiseReport> {
    let progress = Arc::new(MaterialiseProgress::default());
    options.progress = Some(Arc::clone(&progress));
    let line = LiveLine::start(quiet, move || {
        let triples = number::of(progress.triples(), "triple");
        format!("round {}, {triples} so far, rule {}", progress.round(), progress.rule())
    });
    let result = database.materialise(&options);
    drop(line);
    let report = result?;
    if !quiet {
        summary(&report);
    }
    Ok(report)
}

/// Rules as they are named on the command line.
pub fn sources(named: &[String]) -> anyhow::Result<Vec<RuleSource>> {
    named.iter().map(|rules| source(rules)).collect()
}

/// A text of rules has so many bytes at most.
const RULES_BYTES_MAX: u64 = 16 << 20;

/// A set by its name, or a file.
fn source(text: &str) -> anyhow::Result<RuleSource> {
    if RuleSet::from_name(text).is_some() {
        return Ok(RuleSource::Set(text.to_owned()));
    }
    let path = Path::new(text);
    let mut rules = String::new();
    let file = File::open(path).map(|file| file.take(RULES_BYTES_MAX + 1));
    file.and_then(|mut file| file.read_to_string(&mut rules)).with_context(|| {
        let sets = RuleSet::ALL.map(RuleSet::name).join(", ");
        format!("--rules {text}: it is none of the sets ({sets}), and cannot be read as a file")
    })?;
    if rules.len() as u64 > RULES_BYTES_MAX {
        bail!(
            "--rules {text}: it has more than {RULES_BYTES_MAX} bytes, which is the most that rules may have"
        );
    }
    let name = path.file_name().map_or_else(|| text.into(), |name| name.to_string_lossy());
    Ok(RuleSource::Text { name: name.into_owned(), text: rules })
}

fn summary(report: &MaterialiseReport) {
    if report.was_up_to_date {
        say!("nothing to do: {} up to date", number::of(report.inferred, "inferred triple"));
        return;
    }
    let time = Duration::from_secs_f64(report.seconds);
    say!(
        "inferred {} in {} and {}, {}; version {}",
        number::of(report.inferred, "triple"),
        number::of(report.rounds, "round"),
        number::duration(time),
        number::rate(report.inferred, time),
        report.version
    );
    let mut rules: Vec<_> = report.rules.iter().collect();
    rules.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let longest = rules.iter().take(RULES_SHOWN).map(|rule| {
        let took = number::duration(Duration::from_secs_f64(rule.seconds));
        format!("{} {took} ({})", rule.rule, number::of(rule.triples, "triple"))
    });
    if !rules.is_empty() {
        say!("longest: {}", longest.collect::<Vec<_>>().join(", "));
    }
    if report.lists_too_long > 0 {
        let lists = number::of(report.lists_too_long, "list");
        say!(
            "warning: {lists} of property chains and keys with more than four members: nothing was inferred from them"
        );
    }
}
