//! What tests of indexes share: numbers that look random, a database whose contents change, answers as sorted texts, and damage.

use lode_engine::store::CompactOptions;
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::{
    Database, DefaultGraph, OpenOptions, QueryOptions, QueryResults, UpdateOptions, check_database,
};
use lode_rdf::format::RdfFormat;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    pub fn of<'a>(&mut self, things: &[&'a str]) -> &'a str {
        things[self.below(things.len())]
    }
}

pub fn open(folder: &Path) -> Database {
    Database::create_or_open(folder, &OpenOptions::default()).unwrap()
}

/// All is read, and nothing looked up.
pub fn reading() -> QueryOptions {
    QueryOptions { optimize: false, ..QueryOptions::default() }
}

pub fn compact(database: &Database) {
    let options = CompactOptions { force: true, ..CompactOptions::default() };
    lode_engine::store::compact(database.store(), &options, &Arc::new(LoadProgress::default())).unwrap();
}

pub fn is_sound(folder: &Path) -> bool {
    check_database(folder, &Default::default(), &mut |_| {}).unwrap().problems.is_empty()
}

/// The folders of a database's segments.
fn segments(folder: &Path) -> Vec<PathBuf> {
    let is_segment = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("segment-");
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_segment).collect()
}

/// Calls `asked` with a database of which a byte of an index is wrong, for several bytes of each of its two files, and at last with half an index.
pub fn with_damage(folder: &Path, files: [&str; 2], asked: &mut dyn FnMut(&Database)) {
    let mut damages = 0;
    let both = |segment: &PathBuf| files.map(|name| segment.join(name));
    for file in segments(folder).iter().flat_map(both).filter(|file| file.exists()) {
        let bytes = std::fs::read(&file).unwrap();
        for part in [5, 3, 2] {
            let mut damaged = bytes.clone();
            let at = damaged.len() / part;
            damaged[at] ^= 0x55;
            std::fs::write(&file, &damaged).unwrap();
            asked(&open(folder));
            assert!(!is_sound(folder), "{} at {at}", file.display());
            damages += 1;
        }
        std::fs::write(&file, &bytes).unwrap();
        assert!(is_sound(folder));
    }
    assert!(damages >= 6);
    // Half an index is none.
    for segment in segments(folder) {
        let _ = std::fs::remove_file(segment.join(files[1]));
    }
    asked(&open(folder));
}

/// The prefixes that documents, queries and updates of a test begin with.
#[derive(Clone, Copy)]
pub struct Prologue(pub &'static str);

impl Prologue {
    pub fn load(self, database: &Database, turtle: &str) {
        let text = format!("{} {turtle}", self.0.replace("PREFIX", "\nPREFIX"));
        let source = Source::bytes("all.ttl", text).with_format(RdfFormat::Turtle);
        let progress = Arc::new(LoadProgress::default());
        load(database.store(), vec![source], LoadOptions::default(), &progress).unwrap();
    }

    pub fn update(self, database: &Database, request: &str) {
        let text = format!("{}{request}", self.0);
        database
            .update(&text, &UpdateOptions::default())
            .unwrap_or_else(|error| panic!("{request}: {error}"));
    }

    pub fn rows(self, database: &Database, query: &str, options: &QueryOptions) -> Vec<String> {
        let answer = database.query(&format!("{}{query}", self.0), options);
        let answer = answer.unwrap_or_else(|error| panic!("{query}: {error}"));
        let QueryResults::Solutions(mut solutions) = answer else { panic!("{query}: a SELECT") };
        let rows = solutions.collect_rows().unwrap_or_else(|error| panic!("{query}: {error}"));
        rows.iter().map(|row| format!("{row:?}")).collect()
    }

    pub fn sorted_rows(self, database: &Database, query: &str, options: &QueryOptions) -> Vec<String> {
        let mut rows = self.rows(database, query, options);
        rows.sort();
        rows
    }

    /// The rows, which are the same by reading.
    pub fn compared(self, database: &Database, query: &str) -> Vec<String> {
        self.compared_in(database, query, DefaultGraph::default())
    }

    /// The same with a default graph.
    pub fn compared_in(self, database: &Database, query: &str, default_graph: DefaultGraph) -> Vec<String> {
        let options = QueryOptions { default_graph, ..QueryOptions::default() };
        let found = self.sorted_rows(database, query, &options);
        let reading = QueryOptions { optimize: false, ..options };
        assert_eq!(found, self.sorted_rows(database, query, &reading), "{query}");
        found
    }

    pub fn plan(self, database: &Database, query: &str) -> String {
        database.prepare(&format!("{}{query}", self.0), &QueryOptions::default()).unwrap().explain()
    }
}
