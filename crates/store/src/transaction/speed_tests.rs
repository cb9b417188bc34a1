//! Measures commits on the real disk; run with `--ignored --nocapture`, in release mode.

use crate::Store;
use crate::write_options::WriteOptions;
use lode_base::real_vfs::RealVfs;
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use std::path::Path;
use std::time::Instant;

fn commit(store: &Store, number: u64, size: u64) {
    let iri = |text: String| Term::from(NamedNode::new_unchecked(text));
    let mut transaction = store.begin_blind().unwrap();
    for i in 0..size {
        let n = number * size + i;
        let terms = [
            iri(format!("http://example.org/thing/{}", n / 10)),
            iri(format!("http://example.org/p{}", n % 10)),
            Literal::from(format!("value {n}")).into(),
        ];
        let mut row = [ValueId::DEFAULT_GRAPH; 4];
        for (id, term) in row.iter_mut().zip(terms) {
            *id = transaction.intern(&term).unwrap().unwrap();
        }
        transaction.insert(row);
    }
    transaction.commit().unwrap();
}

fn measure(clients: u64, each: u64, size: u64) {
    let folder = tempfile::tempdir_in("../../target").unwrap();
    let path: &Path = folder.path();
    let store =
        Store::open_for_writing(RealVfs::shared(), &path.join("db"), 64 << 20, WriteOptions::default())
            .unwrap();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..clients {
            let store = store.clone();
            scope.spawn(move || (0..each).for_each(|n| commit(&store, client * each + n, size)));
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let commits = clients * each;
    println!(
        "{clients} clients, {size} a transaction: {:.0} commits/s, {:.0} triples/s, {:.1} commits a sync, {:.2} s",
        commits as f64 / seconds,
        (commits * size) as f64 / seconds,
        commits as f64 / store.log_counters().syncs as f64,
        seconds
    );
    assert_eq!(store.snapshot().quad_count(), commits * size);
}

#[test]
#[ignore = "measures"]
fn commits() {
    measure(1, 2000, 1);
    measure(16, 1000, 1);
    measure(10, 100, 1000);
}
