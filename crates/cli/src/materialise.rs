//! `lode materialise`.

use crate::args::{DefaultGraphArg, MaterialiseArgs};
use crate::exit::Done;
use crate::load::write_json;
use crate::look;
use crate::memory::SharedMemory;
use crate::number;
use crate::progress::LiveLine;
use crate::talk::{say, say_found_log, tell_damaged_snapshots};
use anyhow::{Context, bail};
use lode_assist::kept_prefixes;
use lode_engine::store::OpenFiles;
use lode_engine::{
    CancelToken, Consistency, Database, DefaultGraph, MaterialiseOptions, MaterialiseProgress,
    MaterialiseReport, QueryOptions, RuleSet, RuleSource, WhyOptions,
};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Rules that the summary names: those that took longest.
const RULES_SHOWN: usize = 3;

pub fn run(args: &MaterialiseArgs) -> anyhow::Result<Done> {
    if args.check {
        return check(args);
    }
    let rules = args.rules.iter().map(|rules| source(rules)).collect::<anyhow::Result<Vec<_>>>()?;
    let memory = SharedMemory::of(args.memory, None);
    let database =
        Database::open_for_writing(&args.database, &memory.open_options(), memory.write_options())?;
    say_found_log(&database);
    tell_damaged_snapshots(&database);
    let mut evaluation = memory.options();
    evaluation.cancel = CancelToken::new(args.timeout);
    if let Some(threads) = args.threads {
        evaluation.threads = threads.max(1);
    }
    if args.drop {
        return drop_all(args, &database, &evaluation);
    }
    let checking = WhyOptions {
        evaluation: evaluation.clone(),
        proofs_max: args.contradictions.into(),
        ..WhyOptions::default()
    };
    let progress = Arc::new(MaterialiseProgress::default());
    let options = MaterialiseOptions {
        rules,
        default_graph: args.default_graph.map(|which| match which {
            DefaultGraphArg::Separate => DefaultGraph::Separate,
            DefaultGraphArg::Union => DefaultGraph::Union,
        }),
        evaluation,
        progress: Some(Arc::clone(&progress)),
        ..MaterialiseOptions::default()
    };
    let line = LiveLine::start(args.quiet, move || {
        let triples = number::of(progress.triples(), "triple");
        format!("round {}, {triples} so far, rule {}", progress.round(), progress.rule())
    });
    let result = database.materialise(&options);
    drop(line);
    let report = result?;
    if !args.quiet {
        summary(&report);
    }
    let consistency = match database.consistency(database.snapshot(), &checking) {
        Ok(consistency) => consistency,
        Err(error) => {
            // What was to be done is done.
            say!("warning: whether the data are contradictory was not found out: {error}");
            return Ok(Done::Ok);
        }
    };
    if !args.quiet {
        warn(&database, &consistency);
    }
    if args.json {
        let mut value = serde_json::to_value(&report)?;
        value["consistency"] = serde_json::to_value(&consistency)?;
        write_json(&value)?;
    }
    Ok(Done::Ok)
}

/// Tells what is contradictory, and changes nothing.
fn check(args: &MaterialiseArgs) -> anyhow::Result<Done> {
    let memory = SharedMemory::of(args.memory, None);
    let database = Database::open_for_reading(&args.database, &memory.open_options(), OpenFiles::Now)?;
    let mut evaluation = memory.options();
    evaluation.cancel = CancelToken::new(args.timeout);
    let proofs_max = args.contradictions.into();
    let checking = WhyOptions { evaluation, proofs_max, ..WhyOptions::default() };
    let consistency = database.consistency(database.snapshot(), &checking)?;
    if args.json {
        write_json(&serde_json::to_value(&consistency)?)?;
    } else {
        let mut out = Vec::new();
        consistency.write_text(&look::prefixes(&[], &kept_prefixes(&database)), &mut out)?;
        std::io::stdout().write_all(&out)?;
    }
    if !args.quiet {
        let state = match (consistency.rules, consistency.contradictions.len()) {
            (0, _) => "the rules that the database keeps, if any, say of nothing that it is contradictory"
                .to_owned(),
            (_, 0) => "nothing is contradictory".to_owned(),
            (_, found) => told(found, &consistency),
        };
        say!("{state}");
        if consistency.is_stale {
            say!("the data have changed since rules were applied: lode materialise brings that up to date");
        }
    }
    Ok(if consistency.contradictions.is_empty() { Done::Ok } else { Done::Violated })
}

/// Warns of what is contradictory.
fn warn(database: &Database, consistency: &Consistency) {
    let mut text = Vec::new();
    let prefixes = look::prefixes(&[], &kept_prefixes(database));
    if consistency.write_text(&prefixes, &mut text).is_ok() && !text.is_empty() {
        say!("warning: {}", told(consistency.contradictions.len(), consistency));
        say!("{}", String::from_utf8_lossy(&text).trim_end());
    }
}

fn told(found: usize, consistency: &Consistency) -> String {
    let more = if consistency.is_complete { "" } else { ", and there are more" };
    let count = number::of(found as u64, "contradiction");
    format!("the data are contradictory: {count}{more} (lode why DB false tells why)")
}

fn drop_all(args: &MaterialiseArgs, database: &Database, evaluation: &QueryOptions) -> anyhow::Result<Done> {
    let dropped = database.drop_inferences(evaluation)?;
    if !args.quiet {
        say!("dropped {}; there are no rules any more", number::of(dropped, "inferred triple"));
    }
    if args.json {
        write_json(&serde_json::json!({ "dropped": dropped }))?;
    }
    Ok(Done::Ok)
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
