//! Every shape at its limit is answered, planned, explained and profiled on a thread with two MiB of stack, which is what a server's
//! threads have; one part more is a clear error.

use lode_bench::hostile::{DATA, Shape, shapes};
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::{Database, QueryOptions, QueryResults};
use lode_rdf::format::RdfFormat;
use std::sync::Arc;
use std::time::Instant;

const STACK_BYTES: usize = 2 << 20;
/// Parts beyond the limit that are certainly too many: some shapes have a few levels or operators besides their parts.
const BEYOND: usize = 40;

fn database() -> Database {
    let database = Database::in_memory().expect("a database");
    let source = Source::bytes("data.trig", DATA).with_format(RdfFormat::TriG);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default()))
        .expect("the data");
    database
}

/// Runs `work` on a thread with little stack.
fn on_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, work).expect("a thread").join().expect("no panic")
    })
}

/// How many rows or triples the answer has, or the error.
fn ask(database: &Database, text: &str) -> Result<usize, String> {
    let started = Instant::now();
    let run = || -> Result<usize, lode_engine::EngineError> {
        let options = QueryOptions { threads: 2, ..QueryOptions::default() };
        let query = database.prepare(text, &options)?;
        let planned = started.elapsed();
        let rows = match query.run()? {
            QueryResults::Solutions(mut solutions) => solutions.collect_rows()?.len(),
            QueryResults::Boolean(_) => 1,
            QueryResults::Graph(mut triples) => {
                let mut count = 0;
                while let Some(batch) = triples.next_batch()? {
                    count += batch.rows();
                }
                count
            }
        };
        let ran = started.elapsed();
        assert!(!query.explain().is_empty());
        let report = query.report();
        assert!(serde_json::to_string(&report).expect("JSON").len() > 10);
        if std::env::var("LODE_SHOW").is_ok() {
            eprintln!("  planned {planned:?}, ran {:?}, all {:?}", ran - planned, started.elapsed());
        }
        Ok(rows)
    };
    run().map_err(|error| error.to_string())
}

/// What is wrong.
fn check(database: &Database, shape: &Shape) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = (shape.query)(shape.parts_max);
    if shape.parts_max > 0 {
        let rows = ask(database, &text);
        if rows.is_err() {
            wrong.push(format!("{} of {}: {rows:?}", shape.name, shape.parts_max));
        }
    }
    if let Some(refused) = shape.refused {
        let text = (shape.query)(shape.parts_max + BEYOND);
        let answer = ask(database, &text);
        if !answer.as_ref().is_err_and(|error| error.contains(refused)) {
            wrong.push(format!("{} of {} more: {answer:?}", shape.name, BEYOND));
        }
    }
    wrong
}

#[test]
fn shapes_at_their_limits() {
    let database = database();
    let mut wrong = Vec::new();
    let only = std::env::var("LODE_SHAPE").unwrap_or_default();
    for shape in shapes().iter().filter(|shape| only.is_empty() || shape.name == only) {
        let started = Instant::now();
        eprintln!("{}", shape.name);
        wrong.extend(on_small_stack(|| check(&database, shape)));
        eprintln!("  {:?}", started.elapsed());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
