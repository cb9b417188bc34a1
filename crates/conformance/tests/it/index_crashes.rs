//! Power cuts, errors and full disks at every operation of making an index of either kind: afterwards there is none, or a whole one, and nothing of the database is lost.

use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::memory_budget::MemoryBudget;
use lode_base::vfs::Vfs;
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::store::{
    PlacesOptions, Snapshot, Store, StoreError, TextScope, WordsOf, WordsOptions, check, index_places,
    index_words, keep_words_of,
};
use lode_geo::vocabulary::WKT_LITERAL;
use lode_geo::window::{Search, Test};
use lode_geo::{Unit, read};
use lode_rdf::NamedNode;
use lode_text::{Dialect, Prepared};
use std::path::Path;
use std::sync::Arc;

pub const FOLDER: &str = "/db";

/// An index of a kind, and what it is made of.
pub struct Kind {
    /// The object of the n-th triple.
    object: fn(usize) -> String,
    pub triples: usize,
    /// How many terms it is of.
    pub terms: u64,
    /// Makes it, also where there is one; of how many terms.
    index: fn(&Store) -> Result<u64, StoreError>,
    /// How many terms it finds; none where there is no index.
    found: fn(&Snapshot) -> Option<usize>,
    /// It finds so many.
    all: usize,
}

pub const WORDS: Kind = Kind {
    object: |n| format!("\"a fox and {n}\""),
    triples: 40,
    terms: 40,
    index: |store| index_words(store, &words_options(1 << 20)).map(|report| report.texts),
    found: |snapshot| foxes(snapshot, TextScope::default()),
    all: 40,
};

/// Of the texts behind one of two properties.
const SOME_WORDS: Kind = Kind {
    terms: 20,
    index: |store| {
        let of = WordsOf { predicates: vec!["http://e/p0".to_owned()], graphs: Vec::new() };
        keep_words_of(store, &of, &CancelToken::default())?;
        index_words(store, &words_options(1 << 20)).map(|report| report.texts)
    },
    found: |snapshot| {
        let predicate = NamedNode::new_unchecked("http://e/p0").into();
        foxes(snapshot, TextScope { predicate: snapshot.id_of(&predicate).unwrap(), graph: None })
    },
    all: 20,
    ..WORDS
};

fn foxes(snapshot: &Snapshot, scope: TextScope) -> Option<usize> {
    let query = Prepared::parse("fox", Dialect::Lucene).unwrap();
    let (budget, cancel) = (MemoryBudget::unlimited(), CancelToken::default());
    let hits = snapshot.text_hits(&query, scope, &budget, &cancel).unwrap()?;
    assert!(hits.is_exact);
    Some(hits.iter().count())
}

const PLACES: Kind = Kind {
    object: |n| format!("\"POINT({} {})\"^^<{WKT_LITERAL}>", n % 90, n / 90),
    triples: 300,
    terms: 300,
    index: |store| {
        let options = PlacesOptions { memory_bytes: 1 << 20, force: true, cancel: CancelToken::default() };
        index_places(store, &options).map(|report| report.geometries)
    },
    found: |snapshot| {
        let place = read::literal("POINT(7 1)", WKT_LITERAL).unwrap();
        let test = Test::Distance { most: 1000.0, unit: Unit::METRE };
        let near = Search::new(place, false, test).unwrap();
        snapshot.place_candidates(&near, &CancelToken::default()).unwrap().map(|ids| ids.len())
    },
    all: 1,
};

pub fn words_options(memory_bytes: usize) -> WordsOptions {
    WordsOptions { memory_bytes, threads: 2, force: true, cancel: CancelToken::default() }
}

pub fn open(vfs: &MemVfs) -> Store {
    Store::create_or_open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20).unwrap()
}

impl Kind {
    pub fn database(&self) -> MemVfs {
        let vfs = MemVfs::new();
        let triple = |n| format!("<http://e/{n}> <http://e/p{}> {} .\n", n % 2, (self.object)(n));
        let text: String = (0..self.triples).map(triple).collect();
        let sources = vec![Source::bytes("all.nt", text)];
        load(&open(&vfs), sources, LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
        vfs
    }

    fn index(&self, vfs: &FaultVfs) -> Result<u64, StoreError> {
        let vfs = Arc::new(vfs.clone());
        (self.index)(&Store::open_existing(vfs, Path::new(FOLDER), 1 << 16, Default::default())?)
    }

    /// Whether there is an index, which is whole then, as the database is.
    fn has_index(&self, vfs: &MemVfs, when: &str) -> bool {
        let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
        let report = check(&shared, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
        assert!(report.problems.is_empty(), "{when}: {:?}", report.problems);
        let snapshot = open(vfs).snapshot();
        assert_eq!(snapshot.quad_count(), self.triples as u64, "{when}");
        let found = (self.found)(&snapshot);
        assert!(found.is_none_or(|found| found == self.all), "{found:?} {when}");
        found.is_some()
    }

    fn power_cuts_leave_no_index_or_a_whole_one(&self) {
        let before = self.database();
        assert!(!self.has_index(&before, "before"));
        let counting = FaultVfs::counting(before.deep_copy(), false);
        assert_eq!(self.index(&counting).unwrap(), self.terms);
        assert!(self.has_index(counting.inner(), "after"));
        let mut outcomes = [0, 0];
        for again in [false, true] {
            // Also while an index is made that is there.
            let before = if again { counting.inner() } else { &before };
            for at in 0..=counting.operations() {
                for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Torn(at ^ 0x5A5A)] {
                    let vfs = FaultVfs::new(before.deep_copy(), Fault::PowerCut, at, false);
                    let done = self.index(&vfs);
                    let has = self.has_index(&vfs.after_crash(kind), &format!("after a power cut at {at}"));
                    assert!(has || done.is_err(), "lost at {at}");
                    outcomes[usize::from(has)] += 1;
                }
            }
        }
        assert!(outcomes[0] > 10 && outcomes[1] > 10, "{outcomes:?}");
    }

    fn errors_and_full_disks_leave_no_index_or_a_whole_one(&self) {
        let before = self.database();
        let operations = |reads_count| {
            let counting = FaultVfs::counting(before.deep_copy(), reads_count);
            self.index(&counting).unwrap();
            counting.operations()
        };
        for (fault, reads_count) in [(Fault::Error, true), (Fault::DiskFull, false)] {
            for at in 0..operations(reads_count) {
                let vfs = FaultVfs::new(before.deep_copy(), fault, at, reads_count);
                let done = self.index(&vfs).is_ok();
                let when = format!("after {fault:?} at {at}");
                assert!(self.has_index(vfs.inner(), &when) || !done, "{when}");
            }
        }
    }
}

#[test]
fn power_cuts_leave_no_index_of_words_or_a_whole_one() {
    WORDS.power_cuts_leave_no_index_or_a_whole_one();
}

#[test]
fn power_cuts_leave_no_index_of_some_words_or_a_whole_one() {
    SOME_WORDS.power_cuts_leave_no_index_or_a_whole_one();
}

#[test]
fn errors_and_full_disks_leave_no_index_of_some_words_or_a_whole_one() {
    SOME_WORDS.errors_and_full_disks_leave_no_index_or_a_whole_one();
}

#[test]
fn power_cuts_leave_no_index_of_geometries_or_a_whole_one() {
    PLACES.power_cuts_leave_no_index_or_a_whole_one();
}

#[test]
fn errors_and_full_disks_leave_no_index_of_words_or_a_whole_one() {
    WORDS.errors_and_full_disks_leave_no_index_or_a_whole_one();
}

#[test]
fn errors_and_full_disks_leave_no_index_of_geometries_or_a_whole_one() {
    PLACES.errors_and_full_disks_leave_no_index_or_a_whole_one();
}
