//! `lode text`.

use crate::args::TextArgs;
use crate::exit::{Done, wrong_usage};
use crate::load::CACHE_BYTES;
use crate::memory;
use crate::new_words::index_all;
use crate::talk::{say, say_found_log, write_json};
use lode_assist::{Prefix, kept_prefixes, usual_prefixes};
use lode_engine::store::{
    WordsOf, WordsOptions, WriteOptions, drop_words, keep_words_of, keeps_words, words_of,
};
use lode_engine::{Database, OpenOptions};
use lode_rdf::NamedNode;
use serde_json::json;
use std::time::Instant;

/// So many IRIs of a setting are shown.
const SHOWN_MAX: usize = 3;
/// How the default graph is written.
const DEFAULT_GRAPH: &str = "default";

pub fn run(args: &TextArgs) -> anyhow::Result<Done> {
    let mut options = WordsOptions { force: args.force, ..WordsOptions::default() };
    if let Some(threads) = args.threads {
        options.threads = threads.max(1);
    }
    if let Some(memory) = args.memory {
        options.memory_bytes = memory;
    }
    memory::keep_to(options.memory_bytes);
    let open = OpenOptions::with_cache(CACHE_BYTES);
    let database = Database::open_for_writing(&args.database, &open, WriteOptions::default())?;
    say_found_log(&database);
    if args.drop {
        let was_there = keeps_words(database.store());
        drop_words(database.store())?;
        if !args.quiet {
            say!("{}", if was_there { "the index of words is gone" } else { "there was no index of words" });
        }
        return Ok(Done::Ok);
    }
    let start = Instant::now();
    let of = match wanted(args, &database)? {
        Some(of) => {
            keep_words_of(database.store(), &of, &options.cancel)?;
            Some(of)
        }
        None => words_of(database.store())?,
    };
    let report = index_all(&database, &options, args.quiet)?;
    let is_of_some = of.as_ref().is_some_and(|of| !(of.predicates.is_empty() && of.graphs.is_empty()));
    if is_of_some && report.segments > 0 && report.texts == 0 {
        say!(
            "warning: no text stands behind these predicates in these graphs: are they written as in the data?"
        );
    }
    if args.json {
        let of = of.unwrap_or_default();
        write_json(&json!({
            "predicates": of.predicates,
            "graphs": of.graphs,
            "segments": report.segments,
            "segments_left_as_they_are": report.others,
            "texts": report.texts,
            "bytes": report.bytes,
            "seconds": start.elapsed().as_secs_f64(),
        }))?;
    }
    Ok(Done::Ok)
}

/// Which texts are to be indexed from now on, if that is said.
fn wanted(args: &TextArgs, database: &Database) -> anyhow::Result<Option<WordsOf>> {
    if args.predicates.is_empty() && args.graphs.is_empty() {
        return Ok(args.all_literals.then(WordsOf::default));
    }
    let prefixes = kept_prefixes(database);
    let iris =
        |words: &[String]| words.iter().map(|word| iri(word, &prefixes)).collect::<anyhow::Result<Vec<_>>>();
    let is_default = |word: &&String| word.as_str() == DEFAULT_GRAPH;
    let named: Vec<String> = args.graphs.iter().filter(|word| !is_default(word)).cloned().collect();
    let mut graphs = iris(&named)?;
    graphs.extend(args.graphs.iter().find(is_default).cloned());
    let (predicates, kept) = (iris(&args.predicates)?, words_of(database.store())?.unwrap_or_default());
    let predicates = given_or_kept("--predicates", predicates, kept.predicates, args.quiet);
    let graphs = given_or_kept("--graphs", graphs, kept.graphs, args.quiet);
    Ok(Some(WordsOf { predicates, graphs }))
}

/// What is given, or what was given before, which is said.
fn given_or_kept(option: &str, given: Vec<String>, kept: Vec<String>, quiet: bool) -> Vec<String> {
    if !given.is_empty() {
        return given;
    }
    if !kept.is_empty() && !quiet {
        let more = if kept.len() > SHOWN_MAX { ",..." } else { "" };
        let shown = kept.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(",");
        say!("as before: {option} {shown}{more} (lode text DB --all-literals indexes all texts again)");
    }
    kept
}

/// An IRI, with or without brackets, or a name with a prefix.
fn iri(word: &str, prefixes: &[Prefix]) -> anyhow::Result<String> {
    let word = word.trim();
    let bare = word.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let known = word.split_once(':').and_then(|(name, rest)| {
        let kept = prefixes.iter().find(|prefix| prefix.name == name).map(|prefix| prefix.iri.as_str());
        let usual = || usual_prefixes().find(|(other, _)| *other == name).map(|(_, iri)| iri);
        Some(format!("{}{rest}", kept.or_else(usual)?))
    });
    let iri = bare.map(str::to_owned).or(known).unwrap_or_else(|| word.to_owned());
    NamedNode::new(iri.as_str()).map(NamedNode::into_string).map_err(|_| {
        wrong_usage(format!(
            "{word} is no IRI, and no name with a prefix that is usual or that loaded documents declare"
        ))
    })
}
