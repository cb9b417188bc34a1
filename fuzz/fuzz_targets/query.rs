//! Texts of queries and updates: each parses, plans and runs over a small store, on a thread with little stack and for a short time, or is
//! refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::{CancelToken, Database, QueryOptions, QueryResults, UpdateOptions};
use lode_rdf::format::RdfFormat;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What a server's threads have.
const STACK_BYTES: usize = 2 << 20;
/// How long a query may take.
const TIMEOUT: Duration = Duration::from_millis(200);
/// What its operators may hold.
const MEMORY_BYTES: usize = 64 << 20;
const DATA: &str = "@prefix : <http://e/> .
:a :p :b . :b :p :c . :c :p :a . :a :q 1 . :b :q 2.5 . :c :q \"c\"@en .
:g { :a :p :c . :c :q true }
";

fn database() -> &'static Database {
    static DATABASE: OnceLock<Database> = OnceLock::new();
    DATABASE.get_or_init(|| {
        let database = Database::in_memory().expect("a database");
        let source = Source::bytes("data.trig", DATA).with_format(RdfFormat::TriG);
        load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default()))
            .expect("the data");
        database
    })
}

fn options(optimize: bool) -> QueryOptions {
    QueryOptions {
        base_iri: Some("http://e/".to_owned()),
        cancel: CancelToken::new(Some(TIMEOUT)),
        memory_bytes: MEMORY_BYTES,
        threads: 2,
        optimize,
        ..QueryOptions::default()
    }
}

fn run(text: &str, optimize: bool) {
    let Ok(query) = database().prepare(text, &options(optimize)) else { return };
    let _ = query.explain();
    match query.run() {
        Ok(QueryResults::Solutions(mut solutions)) => while let Ok(Some(_)) = solutions.next_batch() {},
        Ok(QueryResults::Graph(mut triples)) => while let Ok(Some(_)) = triples.next_batch() {},
        Ok(QueryResults::Boolean(_)) | Err(_) => {}
    }
    let _ = query.report();
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    std::thread::scope(|scope| {
        let work = || {
            [false, true].into_iter().for_each(|optimize| run(text, optimize));
            // A database of its own: what one input does to the data must not decide what the next one finds.
            if lode_sparql::parse_update(text, Some("http://e/")).is_ok()
                && let Ok(database) = Database::in_memory()
            {
                let options = UpdateOptions { evaluation: options(true), ..UpdateOptions::default() };
                let _ = database.update(text, &options);
            }
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        assert!(thread.expect("a thread").join().is_ok(), "a panic");
    });
});
