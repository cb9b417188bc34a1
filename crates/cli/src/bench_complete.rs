//! `lode bench complete`: how long completion takes, and whether what it offers gives answers.

mod cut;
mod server;

use crate::args::BenchCompleteArgs;
use crate::exit::Done;
use crate::talk::say;
use anyhow::Context;
use cut::{Cut, cut};
use lode_assist::{Item, ItemKind};
use lode_bench::bsbm::{ParameterPools, Random, bi_queries, explore_queries};
use server::{Answer, Server};
use std::io::{Write, stdout};
use std::time::{Duration, Instant};

/// Of the best items so many may be taken.
const TAKEN_OF: usize = 10;
/// What may be missing behind what was taken.
const TAILS: [&str; 4] = ["", " .", " ?lode_o", " ?lode_p ?lode_o"];

/// What became of all places.
#[derive(Default)]
struct Tally {
    times: Vec<Duration>,
    nothing: usize,
    answers: usize,
    unproven: usize,
    unproven_answers: usize,
    none: usize,
    unknown: usize,
}

pub fn run(args: &BenchCompleteArgs) -> anyhow::Result<Done> {
    let server = Server::new(&args.url);
    let products = server.number("SELECT (COUNT(*) AS ?n) { ?s <http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/producer> ?o }")?;
    let pools = ParameterPools::new(products.max(1), lode_bench::bsbm::DEFAULT_SEED);
    let mut random = Random::new(args.seed);
    let (mut tally, mut queries) = (Tally::default(), Vec::new());
    while tally.times.len() < args.positions {
        if queries.is_empty() {
            queries = benchmark(&server, &pools, &mut random)?;
        }
        let own = random.percent(50);
        let text = match (own, queries.pop()) {
            (false, Some(text)) => text,
            _ => walk(&server, &pools, &mut random)?,
        };
        if let Some(place) = cut(&text, &mut random) {
            one(&server, &text, &place, &mut random, args.verbose, &mut tally)?;
        }
    }
    tally.report()?;
    Ok(Done::Ok)
}

/// The queries of the benchmark that have answers.
fn benchmark(server: &Server, pools: &ParameterPools, random: &mut Random) -> anyhow::Result<Vec<String>> {
    let mut queries = explore_queries(pools, random);
    queries.extend(bi_queries(pools, random));
    let mut texts = Vec::new();
    for (_, text) in queries {
        if server.ask(&text)? == Answer::Some {
            texts.push(text);
        }
    }
    Ok(texts)
}

/// A query about what a walk through the data has met: what is met is a variable, so that others fit as well.
fn walk(server: &Server, pools: &ParameterPools, random: &mut Random) -> anyhow::Result<String> {
    let start = match random.below(4) {
        0 => pools.random_product(random),
        1 => pools.random_offer(random),
        2 => pools.random_review(random),
        _ => pools.random_producer(random),
    };
    let mut node = if start.starts_with('<') { start } else { format!("<{start}>") };
    let (mut patterns, mut subject, mut number) = (String::new(), "?s".to_owned(), 0);
    for _ in 0..=random.below(3) {
        let properties = server.properties(&node)?;
        let mut next = None;
        for _ in 0..=random.below(3) {
            let place = usize::try_from(random.below(properties.len().max(1) as u64)).unwrap_or(0);
            let Some((predicate, object)) = properties.get(place) else { break };
            number += 1;
            let is_iri = object.starts_with('<');
            let is_named = is_iri && random.percent(30);
            let shown = if is_named { object.clone() } else { format!("?v{number}") };
            patterns += &format!("{subject} {predicate} {shown} . ");
            if is_iri && !is_named {
                next = Some((object.clone(), shown));
            }
        }
        match next {
            Some(met) => (node, subject) = met,
            None => break,
        }
    }
    Ok(format!("SELECT * WHERE {{ {patterns}}} LIMIT 10"))
}

/// Completes at a place, takes something, and asks.
fn one(
    server: &Server,
    text: &str,
    place: &Cut,
    random: &mut Random,
    verbose: bool,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let completion = server.complete(&place.text, place.position).with_context(|| place.text.clone())?;
    tally.times.push(started.elapsed());
    let is_of_data = |item: &&Item| {
        matches!(
            item.kind,
            ItemKind::Predicate | ItemKind::Class | ItemKind::Term | ItemKind::Graph | ItemKind::Variable
        )
    };
    let offered: Vec<&Item> = completion.items.iter().filter(is_of_data).take(TAKEN_OF).collect();
    if offered.is_empty() {
        tally.nothing += 1;
        if verbose {
            say!("nothing is offered: {}\n  at {} of {}", text, place.position, place.text);
        }
        return Ok(());
    }
    let chosen = usize::try_from(random.below(offered.len() as u64)).unwrap_or(0);
    let Some(item) = offered.get(chosen) else { return Ok(()) };
    let units: Vec<u16> = place.text.encode_utf16().collect();
    let part = |range: std::ops::Range<usize>| String::from_utf16_lossy(units.get(range).unwrap_or(&[]));
    let (before, after) = (part(0..completion.from), part(completion.to..units.len()));
    let prefix = item.prefix.as_ref().map_or(String::new(), |p| format!("PREFIX {}: <{}>\n", p.name, p.iri));
    let mut answer = Answer::Error(String::new());
    for tail in if place.is_open { &TAILS[..] } else { &TAILS[..1] } {
        let whole = format!("{prefix}{before}{}{tail}{after}{}", item.insert, place.closing);
        answer = server.ask(&whole)?;
        if !matches!(answer, Answer::Error(_)) {
            break;
        }
    }
    if item.unproven {
        tally.unproven += 1;
        tally.unproven_answers += usize::from(answer == Answer::Some);
        return Ok(());
    }
    match &answer {
        Answer::Some => tally.answers += 1,
        Answer::None => tally.none += 1,
        Answer::Error(_) => tally.unknown += 1,
    }
    if verbose && answer != Answer::Some {
        say!("{answer:?}: {} ({:?}) at {} of {}", item.insert, item.kind, place.position, place.text);
    }
    Ok(())
}

impl Tally {
    fn report(mut self) -> anyhow::Result<()> {
        self.times.sort_unstable();
        let at = |percent: usize| {
            let place = (self.times.len() * percent / 100).min(self.times.len().saturating_sub(1));
            self.times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        let mut out = stdout().lock();
        writeln!(out, "places            {}", self.times.len())?;
        writeln!(out, "  nothing offered {}", self.nothing)?;
        writeln!(out, "taken, proven     {}", self.answers + self.none + self.unknown)?;
        writeln!(out, "  with answers    {}", self.answers)?;
        writeln!(out, "  without         {}", self.none)?;
        writeln!(out, "  not known       {}", self.unknown)?;
        writeln!(out, "taken, unproven   {}", self.unproven)?;
        writeln!(out, "  with answers    {}", self.unproven_answers)?;
        for (name, percent) in [("median", 50), ("90 %", 90), ("99 %", 99), ("most", 100)] {
            writeln!(out, "  {name:<8} {:>9.1} ms", at(percent))?;
        }
        Ok(())
    }
}
