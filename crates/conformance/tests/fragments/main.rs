//! Parts of plans that travel: queries whose plans are taken apart, and whose parts are run elsewhere by ranges, have the answers that they have.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod aggregates;

use lode_base::real_vfs::RealVfs;
use lode_conformance::differential;
use lode_conformance::engine_subject::{EngineSubject, load_into};
use lode_conformance::golden;
use lode_conformance::knobs::Knobs;
use lode_conformance::subject::{QuerySettings, Subject};
use lode_engine::store::OpenFiles;
use lode_engine::{CancelToken, Database, OpenOptions, QueryOptions, QueryResults};
use lode_fragment::{Came, OpenFragment, RunOptions, Wanted, ranges, read, rows, take_apart};
use lode_rdf::{Kind, NamedNode, RdfFormat, ValueId};
use lode_remote::{Address, FolderStore, PublishOptions, PublishProgress, Published, ReadOptions};

/// Random queries, or as many as the environment's `LODE_FRAGMENTS` says.
const QUERIES: u64 = 1_000;
/// The same under rules for graphs.
const RULED: u64 = 200;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}

#[test]
fn random_queries_taken_apart_agree_with_the_oracle() {
    let (seed, queries) = (number("LODE_SEED", 0), number("LODE_FRAGMENTS", QUERIES));
    let mut subject = EngineSubject::with_workers();
    let summary = differential::run(&mut subject, seed, queries, 3, &mut |_| {});
    let workers = subject.workers().unwrap();
    println!(
        "{} queries agree, {} skipped; {} with parts elsewhere, {} parts, {} of rows of others, {} ranges: {:?}",
        summary.agreed,
        summary.skipped,
        workers.queries,
        workers.fragments,
        workers.exchanges,
        workers.ranges,
        workers.operators
    );
    differential::verdict(&summary).unwrap();
    assert!(workers.queries * 3 > queries, "few queries had parts that travel");
    assert!(workers.ranges > workers.fragments, "nothing was cut");
    assert!(workers.exchanges * 50 > queries, "few rows were exchanged");
}

#[test]
fn rules_for_graphs_hold_for_parts_elsewhere() {
    let (seed, queries) = (number("LODE_SEED", 0), number("LODE_FRAGMENTS", RULED));
    let mut subject = EngineSubject::with_workers();
    differential::ruled::run_with(&mut subject, seed, queries).unwrap();
    assert!(subject.workers().unwrap().fragments > queries / 4);
}

#[test]
fn golden_queries_taken_apart() {
    let states =
        [Knobs::default(), Knobs { parts: 3, batch_rows: 3, joins_multiway: true, ..Knobs::default() }];
    let (mut subject, mut failures) = (EngineSubject::with_workers(), Vec::new());
    for knobs in &states {
        subject.configure(knobs);
        for golden in &golden::load_all().unwrap() {
            if let Err(error) = golden.check(&mut subject) {
                failures.push(format!("{} with {knobs:?}: {error:#}", golden.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The worker opens the version where it was published, by its address; the head has the folder that it was published from.
#[test]
fn a_published_version_is_the_database_of_a_worker() {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("db"), folder.path().join("published"));
    let database = Database::create_or_open(&source, &OpenOptions::default()).unwrap();
    let triple = |i: usize| {
        let (s, o) = (i / 2, i * 7919 % 20_000);
        format!(
            "<http://e/s{s}> <http://e/p{}> <http://e/s{o}> .\n<http://e/s{s}> <http://e/n> \"{o}\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n",
            i % 2
        )
    };
    let text: String = (0..40_000).map(triple).collect();
    load_into(&database, text.into_bytes(), RdfFormat::NTriples, None, 2).unwrap();
    drop(database);
    let store = FolderStore::new(RealVfs::shared(), &target);
    let (cancel, progress) = (CancelToken::default(), PublishProgress::default());
    let report =
        lode_remote::publish_folder(&source, &store, &PublishOptions::default(), &cancel, &progress).unwrap();
    // A later version is none of this query's.
    let database = Database::create_or_open(&source, &OpenOptions::default()).unwrap();
    let pinned = database.snapshot();
    let update = "INSERT DATA { <http://e/new> <http://e/p0> <http://e/s1> ; <http://e/n> 1 }";
    database.update(update, &lode_engine::UpdateOptions::default()).unwrap();
    lode_remote::publish_store(database.store(), &store, &PublishOptions::default(), &cancel, &progress)
        .unwrap();

    let address = Address::of(&format!("file://{}", target.display())).unwrap().unwrap();
    let wanted = lode_remote::Wanted::Number(report.number);
    let published = Published::open(&address, &ReadOptions { wanted, ..ReadOptions::default() }).unwrap();
    let worker = published.database(&OpenOptions::default(), OpenFiles::WhenRead).unwrap();
    for (text, count) in [
        ("SELECT ?a ?v { ?a <http://e/p0> ?b ; <http://e/n> ?v FILTER (?v > 15000) }", None),
        ("SELECT ?a ?n { ?a <http://e/p0> ?b . ?b <http://e/n> ?n } ORDER BY ?n LIMIT 50", Some(50)),
        ("SELECT ?a (COUNT(*) AS ?c) { ?a <http://e/p1> ?b ; <http://e/n> ?v } GROUP BY ?a", Some(20_000)),
    ] {
        let options = QueryOptions::default();
        let native = answer(database.prepare_at(pinned.clone(), text, &options).unwrap().run().unwrap());
        assert!(count.is_none_or(|count| native.len() == count) && !native.is_empty(), "{text}");
        let prepared = database.prepare_at(pinned.clone(), text, &options).unwrap();
        let wanted = Wanted { cost_min: 0.0, now: prepared.now(), visible: None, exchange: None };
        let apart = take_apart(prepared.plan(), &pinned, &wanted).unwrap();
        assert!(!apart.fragments.is_empty(), "{text}");
        let snapshot = worker.snapshot();
        let run = RunOptions::new(64 << 20, CancelToken::default());
        let mut parts = Vec::new();
        for (_, bytes) in &apart.fragments {
            let fragment = read(bytes, &snapshot).unwrap();
            let (_, cut) = ranges(&fragment, &snapshot, &run, 4).unwrap();
            assert!(cut.len() > 2, "{text}");
            parts.push((fragment, cut));
        }
        let open = OpenFragment::new(move |number| {
            let (fragment, cut) = parts[number as usize].clone();
            Ok(rows(fragment, snapshot.clone(), cut, run.clone()))
        });
        let found = answer(prepared.with_head(apart.head, open).run().unwrap());
        assert!(found == native, "{text}: {} and {} rows", found.len(), native.len());
        // The version after it is another.
        let later = database.snapshot();
        assert!(apart.fragments.iter().all(|(_, bytes)| read(bytes, &later).is_err()));
    }
}

/// The rows, sorted.
fn answer(results: QueryResults) -> Vec<String> {
    let QueryResults::Solutions(mut solutions) = results else { panic!("rows") };
    let mut rows: Vec<String> =
        solutions.collect_rows().unwrap().iter().map(|row| format!("{row:?}")).collect();
    rows.sort_unstable();
    rows
}

/// A part is cancelled, and keeps to its memory, as the query does.
#[test]
fn time_and_memory_of_parts_are_bounded() {
    let mut subject = EngineSubject::with_workers();
    let text: String = (0..20_000).map(|i| format!("<http://e/s{i}> <http://e/p> \"{i}\" .\n")).collect();
    let dataset =
        subject.read_rdf(text.as_bytes(), lode_conformance::rdf_files::RdfFormat::NTriples, "http://e/");
    subject.load(&dataset.unwrap()).unwrap();
    let query =
        "SELECT ?a { ?a <http://e/p> ?v . MINUS { ?a <http://e/q> ?v } FILTER (CONTAINS(?v, \"99\")) }";
    subject.configure(&Knobs { memory_bytes: 1 << 12, threads: 1, ..Knobs::default() });
    let refused = subject.query(query, &QuerySettings::default());
    subject.configure(&Knobs::default());
    assert!(subject.query(query, &QuerySettings::default()).is_ok());
    // Whether so little does is the operators' affair; a refusal says what to do.
    assert!(refused.as_ref().map_or_else(|e| format!("{e:#}").contains("--memory"), |_| true), "{refused:?}");
    let database = subject.database().unwrap();
    let snapshot = database.snapshot();
    let options = QueryOptions::default();
    let prepared = database.prepare(query, &options).unwrap();
    let wanted = Wanted { cost_min: 0.0, now: prepared.now(), visible: None, exchange: None };
    let apart = take_apart(prepared.plan(), &snapshot, &wanted).unwrap();
    let (fragment, _) = apart.fragments.into_iter().next().unwrap();
    let cancel = CancelToken::default();
    let run = RunOptions { batch_rows: 10, ..RunOptions::new(64 << 20, cancel.clone()) };
    let (_, cut) = ranges(&fragment, &snapshot, &run, 2).unwrap();
    let mut execution = lode_fragment::run(&fragment, &snapshot, &cut[0], &run).unwrap();
    assert!(execution.next().unwrap().is_some());
    cancel.cancel();
    assert!(execution.next().is_err());
    assert!(lode_fragment::run(&fragment, &snapshot, &cut[1], &run).is_err());
    drop(execution);
    assert_eq!(run.budget.used(), 0);
}

/// Rows that come from elsewhere are not believed: an id of another process's query would be another term here.
#[test]
fn rows_with_ids_that_mean_nothing_here_are_refused() {
    let database = Database::in_memory().unwrap();
    let data = "INSERT DATA { <http://e/a> <http://e/p> <http://e/b> }";
    database.update(data, &lode_engine::UpdateOptions::default()).unwrap();
    let snapshot = database.snapshot();
    let local = ValueId::new(Kind::Local, 0);
    let known = snapshot.id_of(&NamedNode::new_unchecked("http://e/a").into()).unwrap().unwrap();
    let run = |columns: usize, ids: Vec<ValueId>| {
        let prepared =
            database.prepare("SELECT ?a { ?a <http://e/p> ?b }", &QueryOptions::default()).unwrap();
        let wanted = Wanted { cost_min: 0.0, now: prepared.now(), visible: None, exchange: None };
        let apart = take_apart(prepared.plan(), &snapshot, &wanted).unwrap();
        assert_eq!(apart.fragments.len(), 1);
        let open = OpenFragment::new(move |_| {
            let mut ids = Some(ids.clone());
            Ok(Box::new(move |out: &mut Came| {
                let Some(ids) = ids.take() else { return Ok(false) };
                out.batch.rows = ids.len();
                out.batch.columns = vec![ids; columns];
                Ok(true)
            }))
        });
        let results = prepared.with_head(apart.head, open).run().unwrap();
        let QueryResults::Solutions(mut solutions) = results else { panic!("rows") };
        solutions.collect_rows()
    };
    assert_eq!(run(1, vec![known, ValueId::UNDEF, known]).unwrap().len(), 3);
    for (columns, ids) in [
        (1, vec![local]),
        (1, vec![known, ValueId::from_bits(0x7700_0000_0000_0000)]),
        (1, vec![ValueId::DEFAULT_GRAPH]),
        (2, vec![known]),
        (0, vec![known]),
    ] {
        assert!(run(columns, ids).is_err());
    }
}
