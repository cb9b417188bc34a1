//! What becomes of inferences: updates, loads, compactions, snapshots, another open, drops.

use super::{PROLOGUE, apply, apply_async, ask, by, database, rows, triples, update};
use crate::{Database, KeptInferences, MaterialiseOptions, OpenOptions, QueryOptions, UpdateOptions};
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_rdf::RdfFormat;
use lode_store::load::{LoadOptions, LoadProgress, Source, load};
use lode_store::{CompactOptions, WriteOptions, compact};
use std::path::Path;
use std::sync::Arc;

const DATA: &str = ":Cat rdfs:subClassOf :Animal . :tom a :Cat";

fn known(all: &Database) -> KeptInferences {
    all.inferences(&all.snapshot()).unwrap().expect("rules")
}

fn is_current(all: &Database) -> bool {
    known(all).up_to_date
}

#[test]
fn the_same_again_is_nothing_to_do() {
    let all = database(DATA);
    assert!(all.inferences(&all.snapshot()).unwrap().is_none());
    let first = apply(&all, &["rdfs"]);
    assert_eq!((first.was_up_to_date, first.before, first.inferred), (false, 0, 1));
    assert!(first.rounds > 0 && first.rules.len() == 6);
    let again = apply(&all, &["rdfs"]);
    assert_eq!(
        (again.was_up_to_date, again.before, again.inferred, again.version),
        (true, 1, 1, first.version)
    );
    assert!(all.materialise(&by(&[])).unwrap().was_up_to_date);
    let others = apply(&all, &["rdfs-plus"]);
    assert_eq!((others.was_up_to_date, others.inferred), (false, 1));
    assert_eq!(
        known(&all),
        KeptInferences {
            up_to_date: true,
            of_version: Some(others.version),
            maintained: true,
            rules: vec!["rdfs-plus".to_owned()],
            all_graphs: false,
            triples: 1
        }
    );
    // Rules that give nothing are rules as well.
    assert_eq!(apply(&all, &["skos"]).inferred, 0);
    assert!(is_current(&all) && !ask(&all, ":tom a :Animal"));
}

#[test]
fn drops_take_all_of_it_and_nothing_else() {
    let all = database(&format!("{DATA} . GRAPH :g {{ :rex a :Cat }}"));
    let before = triples(&all, true);
    apply(&all, &["owl2-rl", "CONSTRUCT { ?x :new 'a term of its own' } WHERE { ?x a :Cat }"]);
    assert!(triples(&all, true).len() > before.len());
    let count = known(&all).triples;
    assert_eq!(all.drop_inferences(&QueryOptions::default()).unwrap(), count);
    assert!(all.inferences(&all.snapshot()).unwrap().is_none());
    assert_eq!((triples(&all, true), all.snapshot().quad_count()), (before, 3));
    assert_eq!(all.drop_inferences(&QueryOptions::default()).unwrap(), 0);
}

#[test]
fn changes_make_it_stale_and_the_kept_rules_make_it_current() {
    let all = database(DATA);
    apply_async(&all, &["rdfs"]);
    assert!(is_current(&all));
    update(&all, "INSERT DATA { :tom a :Cat } ; DELETE DATA { :a :b :c }");
    assert!(is_current(&all), "nothing was changed");
    update(&all, "INSERT DATA { :rex a :Cat }");
    assert!(!is_current(&all) && !ask(&all, ":rex a :Animal"));
    let report = all.materialise(&by(&[])).unwrap();
    assert_eq!((report.before, report.inferred), (1, 2));
    assert!(is_current(&all) && ask(&all, ":rex a :Animal"));
    update(&all, "DELETE DATA { :tom a :Cat }");
    assert!(!is_current(&all));
    all.materialise(&by(&[])).unwrap();
    assert!(is_current(&all) && !ask(&all, ":tom a :Animal") && ask(&all, ":rex a :Animal"));
    // What was inferred and is stated then is there once more, whatever is dropped.
    update(&all, "INSERT DATA { :rex a :Animal }");
    all.materialise(&by(&[])).unwrap();
    assert_eq!(known(&all).triples, 0);
    assert!(ask(&all, ":rex a :Animal"));
    update(&all, "DELETE DATA { :rex a :Animal }");
    assert!(!ask(&all, ":rex a :Animal"), "until the rules are applied again");
    all.materialise(&by(&[])).unwrap();
    assert!(ask(&all, ":rex a :Animal"));
}

#[test]
fn each_commit_brings_it_up_to_date() {
    let all = database(DATA);
    apply(&all, &["rdfs"]);
    let request = format!("{PROLOGUE}INSERT DATA {{ :rex a :Cat }}");
    let report = all.update(&request, &UpdateOptions::default()).unwrap();
    // What was asked for is counted, and not what follows from it.
    assert_eq!((report.inserted, report.deleted, report.inferences_stale), (1, 0, false));
    assert!(is_current(&all) && ask(&all, ":rex a :Animal") && known(&all).triples == 2);
    let report = all.update("DELETE WHERE { ?x a <http://e/Cat> }", &UpdateOptions::default()).unwrap();
    assert_eq!((report.inserted, report.deleted), (0, 2));
    assert!(is_current(&all) && known(&all).triples == 0);
    update(&all, "INSERT DATA { :tom a :Cat }");
    // What was inferred and is stated then is there once, and again inferred when it is not stated any more.
    update(&all, "INSERT DATA { :tom a :Animal }");
    assert_eq!(known(&all).triples, 0);
    update(&all, "DELETE DATA { :tom a :Animal }");
    assert!(ask(&all, ":tom a :Animal") && known(&all).triples == 1);
    update(&all, "DELETE DATA { :Cat rdfs:subClassOf :Animal }");
    assert!(!ask(&all, ":tom a :Animal"));
    update(&all, "CLEAR ALL");
    assert!(is_current(&all) && !ask(&all, "?s ?p ?o"));
    assert!(all.materialise(&by(&[])).unwrap().was_up_to_date);
}

#[test]
fn what_cannot_be_gone_on_from_is_made_anew_or_stale() {
    // Its own triples are not kept, so nobody can go on from them.
    let own = "PREFIX own: <urn:lodestore:rules:> CONSTRUCT { ?x own:half ?y } WHERE { ?x :p ?y } ; CONSTRUCT { ?x :q ?y } WHERE { ?x own:half ?y }";
    let all = database(":a :p :b");
    apply(&all, &[own]);
    update(&all, "INSERT DATA { :a :p :c }");
    assert!(is_current(&all) && ask(&all, ":a :q :b, :c"));
    let many: Vec<String> = (0..25_000).map(|i| format!(":n :is {i}")).collect();
    let request = format!("{PROLOGUE}INSERT DATA {{ {} }}", many.join(" . "));
    let report = all.update(&request, &UpdateOptions::default()).unwrap();
    assert!(report.inferences_stale && report.inserted == 25_000 && !is_current(&all));
    let report = all.update("INSERT DATA { <e:a> <e:b> 1 }", &UpdateOptions::default()).unwrap();
    assert!(!report.inferences_stale, "that is told once");
    all.materialise(&by(&[])).unwrap();
    assert!(is_current(&all));
}

fn load_text(all: &Database, text: &str) {
    let source = Source::bytes("more.ttl", text.to_owned()).with_format(RdfFormat::Turtle);
    load(all.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
}

#[test]
fn loads_make_it_stale_and_compactions_do_not() {
    let vfs: Arc<dyn Vfs> = Arc::new(MemVfs::default());
    let open = || Database::create_on(Arc::clone(&vfs), Path::new("/db"), &OpenOptions::default()).unwrap();
    let all = open();
    load_text(
        &all,
        "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :Cat rdfs:subClassOf :Animal . :tom a :Cat .",
    );
    apply_async(&all, &["rdfs"]);
    let options = CompactOptions { force: true, ..CompactOptions::default() };
    compact(all.store(), &options, &Arc::new(LoadProgress::default())).unwrap();
    assert!(is_current(&all) && ask(&all, ":tom a :Animal"));
    drop(all);
    let all = open();
    assert!(is_current(&all) && ask(&all, ":tom a :Animal") && known(&all).triples == 1);
    all.store().create_snapshot("current", &Default::default()).unwrap();
    load_text(&all, "@prefix : <http://e/> . :rex a :Cat .");
    assert!(!is_current(&all));
    compact(all.store(), &options, &Arc::new(LoadProgress::default())).unwrap();
    assert!(!is_current(&all), "compactions change nothing of that either");
    let before = all.snapshot_at(Some("current")).unwrap();
    assert!(all.inferences(&before).unwrap().unwrap().up_to_date);
    update(&all, "INSERT DATA { :kit a :Cat }");
    all.materialise(&by(&[])).unwrap();
    assert!(is_current(&all) && ask(&all, ":rex a :Animal . :kit a :Animal"));
    update(&all, "INSERT DATA { :joe a :Cat }");
    drop(all);
    let all = open();
    assert!(!is_current(&all), "also where the change is in the log alone");
    all.materialise(&MaterialiseOptions { maintained: Some(true), ..by(&[]) }).unwrap();
    update(&all, "INSERT DATA { :zoe a :Cat }");
    drop(all);
    let all = open();
    assert!(is_current(&all) && ask(&all, ":zoe a :Animal"), "what follows is in the log, too");
    compact(all.store(), &options, &Arc::new(LoadProgress::default())).unwrap();
    update(&all, "DELETE DATA { :zoe a :Cat }");
    assert!(is_current(&all) && !ask(&all, ":zoe a :Animal"));
    load_text(&all, "@prefix : <http://e/> . :kim a :Cat .");
    assert!(!is_current(&all) && known(&all).maintained);
}

#[test]
fn more_than_the_log_holds_goes_to_segments() {
    let write = WriteOptions { logged_changes_max: 16, ..WriteOptions::default() };
    let all = Database::in_memory_with(write).unwrap();
    let things: Vec<String> = (0..40).map(|i| format!(":x{i} a :C{}", i % 7)).collect();
    let classes: Vec<String> = (0..7).map(|i| format!(":C{i} rdfs:subClassOf :C{}", i + 1)).collect();
    update(&all, &format!("INSERT DATA {{ {} . {} }}", things.join(" . "), classes.join(" . ")));
    for _ in 0..2 {
        apply(&all, &["rdfs"]);
        let found = rows(&all, "SELECT ?x { ?x a :C7 }", &QueryOptions::default());
        assert_eq!(found.len(), 40);
        update(&all, "INSERT DATA { :y :p 1 }");
    }
    let count = known(&all).triples;
    assert_eq!(all.materialise(&by(&[])).unwrap().inferred, count);
    assert_eq!(all.drop_inferences(&QueryOptions::default()).unwrap(), count);
    assert_eq!(all.snapshot().quad_count(), 48);
}
