//! Inferences that are brought up to date in the background: after random transactions, with others beside, they are what the rules give from nothing.

use super::super::background::{CaughtUp, Upkeeper, UpkeeperOptions};
use super::random::{data, fact, number, schema};
use super::upkeep::{check_with, inferred, transaction};
use super::upkeep_rules;
use super::{apply, apply_async, ask, by, database, update};
use crate::testing::Random;
use crate::{Database, MaterialiseOptions, QueryOptions, RuleSet};
use lode_store::{CompactOptions, WriteOptions, compact};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn catch_up(all: &Database) -> CaughtUp {
    all.catch_up(&QueryOptions::default()).unwrap()
}

fn compact_all(all: &Database) {
    let options = CompactOptions { force: true, threads: 1, ..CompactOptions::default() };
    compact(all.store(), &options, &Arc::default()).unwrap();
}

/// Whether what was inferred is known to be of the newest version, or else of which.
fn of_version(all: &Database) -> (bool, Option<u64>, u64) {
    let snapshot = all.snapshot();
    let known = all.inferences(&snapshot).unwrap().unwrap();
    (known.up_to_date, known.of_version, snapshot.version_number())
}

#[test]
fn it_is_gone_on_from_what_the_log_adds() {
    let all = database(":A rdfs:subClassOf :B . :x a :A . :B rdfs:subClassOf :C");
    apply_async(&all, &["rdfs"]);
    assert_eq!(catch_up(&all), CaughtUp::Nothing);
    let (up_to_date, of, first) = of_version(&all);
    assert!(up_to_date && of == Some(first));
    update(&all, "INSERT DATA { :y a :A . :New rdfs:subClassOf :A }");
    update(&all, "DELETE DATA { :x a :A }");
    // What is stated is there at once, what follows from it not yet.
    assert!(ask(&all, ":y a :A") && !ask(&all, ":y a :C") && ask(&all, ":x a :C"));
    assert_eq!(of_version(&all), (false, Some(first), first + 2));
    let done = catch_up(&all);
    let CaughtUp::Published { version, anew: false, is_behind: false } = done else { panic!("{done:?}") };
    assert_eq!(of_version(&all), (true, Some(version), version));
    assert!(ask(&all, ":y a :C") && !ask(&all, ":x a :C") && ask(&all, ":New rdfs:subClassOf :C"));
    assert_eq!(catch_up(&all), CaughtUp::Nothing);
}

#[test]
fn what_is_of_no_known_version_is_made_anew() {
    let all = database(":A rdfs:subClassOf :B . :x a :A");
    apply_async(&all, &["rdfs"]);
    update(&all, "INSERT DATA { :y a :A }");
    compact_all(&all);
    update(&all, "CLEAR GRAPH <http://e/none> ; INSERT DATA { :z a :A }");
    let done = catch_up(&all);
    assert!(matches!(done, CaughtUp::Published { is_behind: false, .. }), "{done:?}");
    check_with(&all, &MaterialiseOptions { maintained: Some(false), ..by(&["rdfs"]) }, &String::new);
}

#[test]
fn random_rules_after_some_commits() {
    let (sets, commits) = (number("LODE_UPKEEP_SETS", 40), number("LODE_UPKEEP_COMMITS", 8));
    let seed = number("LODE_RULES_SEED", 1);
    let mut anew = 0;
    for case in seed..seed + sets {
        let mut random = Random(case << 23);
        let text = upkeep_rules::rules(&mut random);
        let options = MaterialiseOptions { maintained: Some(false), ..by(&[&text]) };
        let logged_changes_max = [3, 100_000][random.below(2)];
        let write = WriteOptions { logged_changes_max, ..WriteOptions::default() };
        let all = Database::in_memory_with(write).unwrap();
        update(&all, "INSERT DATA { :a :p :b }");
        if all.materialise(&options).is_err() {
            continue;
        }
        let (mut there, mut done) = (Vec::new(), String::new());
        for _ in 0..commits {
            for _ in 0..=random.below(3) {
                let request = transaction(&mut random, &mut there, &upkeep_rules::fact);
                done += &format!("--\n{request}");
                update(&all, &request);
            }
            match catch_up(&all) {
                CaughtUp::Nothing => {}
                CaughtUp::Published { is_behind, anew: is_anew, .. } => {
                    assert!(!is_behind);
                    anew += u64::from(is_anew);
                }
                CaughtUp::Overtaken => panic!("nobody else is there"),
            }
            check_with(&all, &options, &|| format!("LODE_RULES_SEED={case}\n{text}\n{done}"));
        }
    }
    assert!(anew > 0 || sets < 10);
}

/// Others commit, ask and compact all the while; at rest it is what the rules give.
fn beside_others(case: u64, maintained: bool) {
    let mut random = Random(case << 25);
    let set = [RuleSet::RdfsPlus, RuleSet::Owl2Rl][random.below(2)];
    let first = data(&mut random, set);
    let all = Arc::new(database(&first));
    match maintained {
        true => apply(&all, &[set.name()]),
        false => apply_async(&all, &[set.name()]),
    };
    let options = UpkeeperOptions {
        look_every: Duration::from_millis(1),
        rest: Duration::from_millis(random.below(20) as u64),
        ..UpkeeperOptions::default()
    };
    let upkeeper = Upkeeper::start(all.store(), options).unwrap();
    update(&all, "INSERT DATA { :always a :Thing }");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                // Of any version what is stated is there.
                assert!(ask(&all, ":always a :Thing"));
            }
        });
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                compact_all(&all);
                std::thread::sleep(Duration::from_millis(30));
            }
        });
        let mut there = Vec::new();
        let new = |random: &mut Random| match random.below(4) {
            0 => schema(random, if set == RuleSet::RdfsPlus { 9 } else { 20 }),
            _ => fact(random, set),
        };
        for _ in 0..30 {
            update(&all, &transaction(&mut random, &mut there, &new));
            std::thread::sleep(Duration::from_millis(random.below(10) as u64));
        }
        is_done.store(true, Ordering::Relaxed);
    });
    let start = Instant::now();
    while !of_version(&all).0 || upkeeper.status().is_running {
        let status = upkeeper.status();
        assert!(start.elapsed() < Duration::from_secs(120), "case {case}: {status:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = upkeeper.status();
    assert_eq!((status.failures, status.last_error), (0, None), "case {case}");
    drop(upkeeper);
    let options = MaterialiseOptions { maintained: Some(maintained), ..by(&[set.name()]) };
    check_with(&all, &options, &|| format!("case {case}, {}", set.name()));
}

#[test]
fn at_rest_it_is_what_the_rules_give() {
    for case in 1..=number("LODE_UPKEEP_BESIDE", 6) {
        beside_others(case, false);
    }
}

#[test]
fn a_merge_of_segments_makes_nothing_newer() {
    let all = database(":A rdfs:subClassOf :B . :x a :A");
    apply_async(&all, &["rdfs"]);
    let (_, of, first) = of_version(&all);
    assert_eq!(of, Some(first));
    update(&all, "INSERT DATA { :y a :A }");
    update(&all, "DELETE DATA { :x a :A }");
    compact_all(&all);
    let (up_to_date, of, newest) = of_version(&all);
    assert!(!up_to_date && of.is_none_or(|of| of == first && of < newest), "{of:?} of {first}, {newest}");
    assert!(!ask(&all, ":y a :B"));
    assert!(matches!(catch_up(&all), CaughtUp::Published { is_behind: false, .. }));
    assert!(ask(&all, ":y a :B") && !ask(&all, ":x a :B"));
}

#[test]
fn what_commits_could_not_keep_up_with_is_put_right() {
    use super::super::upkeep::ROWS;
    let all = database(":A rdfs:subClassOf :B . :x a :A");
    apply(&all, &["rdfs"]);
    // As a bulk load does.
    let mut blind = all.store().begin_blind().unwrap();
    let mut id = |text: &str| {
        let term = lode_rdf::Term::from(lode_rdf::NamedNode::new_unchecked(text));
        blind.intern(&term).unwrap().unwrap()
    };
    let quad = [id("http://e/y"), id("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), id("http://e/A")];
    let [s, p, o] = quad;
    blind.insert([s, p, o, lode_rdf::ValueId::DEFAULT_GRAPH]);
    ROWS.set(Some(0));
    blind.commit().unwrap();
    ROWS.set(None);
    let _ = catch_up(&all);
    assert!(of_version(&all).0 && ask(&all, ":y a :B"));
    beside_others(77, true);
}

#[test]
fn what_was_begun_before_commits_keep_up_is_gone_on_from() {
    let all = database(":A rdfs:subClassOf :B . :x a :A");
    let mut blind = all.store().begin_blind().unwrap();
    let mut id = |text: &str| {
        let term = lode_rdf::Term::from(lode_rdf::NamedNode::new_unchecked(text));
        blind.intern(&term).unwrap().unwrap()
    };
    let [s, p, o] =
        ["http://e/new", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://e/A"].map(&mut id);
    blind.insert([s, p, o, lode_rdf::ValueId::DEFAULT_GRAPH]);
    apply(&all, &["rdfs"]);
    update(&all, "INSERT DATA { :y a :A }");
    let commit = blind.commit().unwrap();
    assert!(commit.is_stale && commit.inserted == 1);
    let (up_to_date, of, newest) = of_version(&all);
    assert!(!up_to_date && of.is_some_and(|of| of < newest), "{of:?}, {newest}");
    assert!(ask(&all, ":new a :A") && ask(&all, ":y a :B") && !ask(&all, ":new a :B"));
    let done = catch_up(&all);
    assert!(matches!(done, CaughtUp::Published { anew: false, is_behind: false, .. }), "{done:?}");
    assert!(ask(&all, ":new a :B"));
    update(&all, "INSERT DATA { :z a :A }");
    assert!(ask(&all, ":z a :B") && of_version(&all).0);
}

#[test]
fn writers_wait_only_for_its_end() {
    // It is at work on a version, and somebody commits twice before it publishes.
    let all = database(":A rdfs:subClassOf :B . :x a :A");
    apply_async(&all, &["rdfs"]);
    update(&all, "INSERT DATA { :y a :A }");
    let mut aside = all.store().begin_aside(&crate::CancelToken::default()).unwrap();
    update(&all, "INSERT DATA { :z a :A, <http://e/NewTerm> }");
    update(&all, "DELETE DATA { :x a :A }");
    let graph = super::super::graph_of(&mut aside).unwrap();
    let known = aside.before().inferences().unwrap();
    let kept = super::super::kept::KeptRules::decode(&known.rules).unwrap();
    let remembered = super::super::upkeep::Remembered::default();
    assert!(super::super::upkeep::go_on_from_segments(&mut aside, &known.rules, &remembered).unwrap());
    let published = aside.publish_aside(graph, &kept.applied(known.rules)).unwrap().unwrap();
    assert!(published.is_behind);
    assert_eq!((published.inserted, published.deleted), (1, 0));
    // What was committed meanwhile is there, and is not known.
    assert!(ask(&all, ":z a <http://e/NewTerm>") && !ask(&all, ":x a :A") && ask(&all, ":y a :B"));
    let (up_to_date, of, newest) = of_version(&all);
    assert!(!up_to_date && of == Some(published.version) && newest > published.version);
    assert!(matches!(catch_up(&all), CaughtUp::Published { anew: false, is_behind: false, .. }));
    assert!(!ask(&all, ":x a :B") && ask(&all, ":z a :B"));
    assert_eq!(inferred(&all).len(), 2);
    // Others that come between are noticed: then nothing is published.
    update(&all, "INSERT DATA { :w a :A }");
    let aside = all.store().begin_aside(&crate::CancelToken::default()).unwrap();
    compact_all(&all);
    all.materialise(&by(&[])).unwrap();
    let known = all.snapshot().inferences().unwrap();
    assert_eq!(aside.publish_aside(graph, &known).unwrap(), None);
    assert!(of_version(&all).0);
}
