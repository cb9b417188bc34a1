//! Loads that take the place of something: what they leave, and power cuts, errors and full disks at every operation of one.

use super::*;
use crate::crash_tests::{assert_sound, contents, read_all};
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::{commit, open};
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_rdf::NamedNode;
use std::collections::BTreeSet;
use std::path::Path;

const BASE: &str = "<http://a> <http://p> \"1\" .\n<http://a> <http://p> \"2\" <http://g> .\n<http://b> <http://p> \"2\" <http://g> .\n\
                    <http://a> <http://p> \"3\" <http://h> .\n_:n <http://p> <http://a> <http://h> .\n";
/// Quads of old and of new terms, one of which is there already in each graph.
const NEW: &str = "<http://a> <http://p> \"1\" .\n<http://a> <http://p> \"2\" .\n<http://c> <http://p> \"4\" .\n_:n <http://q> \"new\" .\n";

/// A database with segments, and with changes in memory.
fn prepared() -> MemVfs {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    replacing(&store, None, None, BASE).unwrap();
    commit(&store, 2).unwrap();
    vfs
}

fn replacing(
    store: &Store,
    replace: Option<Replace>,
    graph: Option<&str>,
    text: &str,
) -> Result<LoadReport, LoadError> {
    let options = LoadOptions {
        threads: 1,
        memory_bytes: 1 << 20,
        graph: graph.map(NamedNode::new_unchecked),
        replace,
        ..LoadOptions::default()
    };
    load(store, vec![Source::bytes("new.nq", text)], options, &Arc::default())
}

/// How many quads there are in a graph, of what [`contents`] lists.
fn in_graph(quads: &BTreeSet<String>, graph: &str) -> usize {
    quads.iter().filter(|quad| quad.rsplit(' ').next() == Some(graph)).count()
}

#[test]
fn what_was_there_goes() {
    for (replace, graph, counts) in [
        (Some(Replace::Graph), None, [4, 2, 2, 0]),
        (Some(Replace::Graph), Some("http://g"), [3, 4, 2, 0]),
        (Some(Replace::Graph), Some("http://new"), [3, 2, 2, 4]),
        (Some(Replace::All), None, [4, 0, 0, 0]),
        (None, Some("http://g"), [3, 5, 2, 0]),
    ] {
        let vfs = prepared();
        let store = open(Arc::new(vfs.clone())).unwrap();
        let before = store.snapshot();
        let held = read_all(&before).unwrap();
        assert_eq!(in_graph(&held, ""), 3, "{held:?}");
        let report = replacing(&store, replace, graph, NEW).unwrap();
        let found = read_all(&store.snapshot()).unwrap();
        let name = |graph: &str| format!("<http://{graph}>");
        let graphs = [String::new(), name("g"), name("h"), name("new")];
        assert_eq!(graphs.map(|graph| in_graph(&found, &graph)), counts, "{replace:?} {graph:?}: {found:?}");
        let quads = (held.len() as u64 - report.removed) + report.added;
        assert_eq!((store.snapshot().quad_count(), found.len() as u64), (quads, quads));
        // Whoever reads the version before goes on reading it.
        assert_eq!(read_all(&before).unwrap(), held);
        // And transactions go on from there.
        commit(&store, 4).unwrap();
        drop(store);
        assert_sound(&vfs);
    }
}

#[test]
fn nothing_may_take_the_place_of_something() {
    let vfs = prepared();
    let store = open(Arc::new(vfs.clone())).unwrap();
    let report = replacing(&store, Some(Replace::Graph), Some("http://g"), "# nothing\n").unwrap();
    assert_eq!((report.added, report.removed, report.segment), (0, 2, None));
    let report = replacing(&store, Some(Replace::All), None, "").unwrap();
    assert_eq!((report.added, report.removed), (0, 5));
    assert_eq!(store.snapshot().quad_count(), 0);
    replacing(&store, Some(Replace::All), None, BASE).unwrap();
    assert_eq!(store.snapshot().quad_count(), 5);
    drop(store);
    assert_sound(&vfs);
}

#[test]
fn what_is_wrong_replaces_nothing() {
    let vfs = prepared();
    let store = open(Arc::new(vfs.clone())).unwrap();
    let before = read_all(&store.snapshot()).unwrap();
    let names = vfs.list(Path::new(FOLDER)).unwrap();
    assert!(replacing(&store, Some(Replace::All), None, "<http://a> <http://p> .\n").is_err());
    let options = LoadOptions { one_graph: true, replace: Some(Replace::Graph), ..LoadOptions::default() };
    let error = load(&store, vec![Source::bytes("new.nq", BASE)], options, &Arc::default()).unwrap_err();
    assert!(error.to_string().starts_with("new.nq: names a graph"), "{error}");
    assert_eq!(read_all(&store.snapshot()).unwrap(), before);
    assert_eq!(vfs.list(Path::new(FOLDER)).unwrap(), names);
}

/// One load that replaces everything, with a fault somewhere.
fn run(vfs: &FaultVfs) -> Result<BTreeSet<String>, LoadError> {
    let store = open(Arc::new(vfs.clone()))?;
    let result = replacing(&store, Some(Replace::All), None, NEW);
    if result.as_ref().is_err_and(|error| !error.is_in_doubt())
        && let Ok(found) = read_all(&store.snapshot())
    {
        assert_eq!(found.len(), 7, "{found:?}");
    }
    result?;
    Ok(read_all(&store.snapshot())?)
}

#[test]
fn faults_and_power_cuts_leave_the_old_or_the_new() {
    let before = contents(&prepared()).unwrap();
    for (fault, reads_count) in [(Fault::PowerCut, false), (Fault::Error, true), (Fault::DiskFull, false)] {
        let counting = FaultVfs::counting(prepared(), reads_count);
        let after = run(&counting).unwrap();
        assert_eq!((before.len(), after.len()), (7, 4));
        for at in 0..counting.operations() {
            let vfs = FaultVfs::new(prepared(), fault, at, reads_count);
            let done = run(&vfs).is_ok();
            for kind in [CrashKind::LoseAll, CrashKind::Torn(at)] {
                let found = vfs.after_crash(kind);
                let quads = contents(&found).unwrap();
                let fits = quads == after || !done && quads == before;
                assert!(fits, "{fault:?} at {at}, {kind:?}, done {done}: {quads:?}");
                assert_sound(&found);
                // What was left over is cleared away, and the next one works.
                let store = open(Arc::new(found.clone())).unwrap();
                replacing(&store, Some(Replace::All), None, BASE).unwrap();
                assert_eq!(store.snapshot().quad_count(), 5);
            }
        }
    }
}
