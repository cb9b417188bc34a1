//! What it takes to open very many segments: requests and bytes that are read, and bytes that stay in memory, from which follows what segments take that
//! are too large for a test.

use crate::load::LoadOptions;
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::test_data::{FOLDER, load_files};
use lode_base::device_vfs::{DeviceModel, DeviceVfs};
use lode_base::fault_vfs::FaultVfs;
use lode_base::host::resident_bytes;
use lode_base::mem_vfs::MemVfs;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs;
use lode_packed::Order;
use lode_rdf::{GraphName, Literal, NamedNode, Quad};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SEGMENTS: usize = 100;
/// Rows of a page of an order: 512 blocks of 8,192.
const PAGE_ROWS: u64 = 512 * 8192;
/// Terms of a page of a dictionary.
const PAGE_TERMS: u64 = 32_768;

fn quads(range: std::ops::Range<usize>) -> Vec<Quad> {
    let iri = |text: String| NamedNode::new_unchecked(format!("http://example.org/{text}"));
    let quad = |number: usize| {
        let noise = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let text = Literal::from(format!("text {noise:x} of {number}"));
        Quad::new(
            iri(format!("{:07}", number / 3)),
            iri(format!("p{}", number % 3)),
            text,
            GraphName::DefaultGraph,
        )
    };
    range.map(quad).collect()
}

fn add(vfs: &MemVfs, name: &str, range: std::ops::Range<usize>) {
    let store = Store::create_or_open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20).unwrap();
    let options = LoadOptions { threads: 1, memory_bytes: 1 << 30, ..LoadOptions::default() };
    load_files(&store, &[(name.to_owned(), quads(range))], options).unwrap();
}

/// Bytes of the indexes of orders and of dictionaries in memory.
fn index_bytes(snapshot: &Snapshot) -> (usize, usize) {
    let version = snapshot.version();
    let segments = || version.segments.iter();
    let orders = segments().flat_map(|open| Order::ALL.map(|order| open.permutation(order).index_bytes()));
    let dictionaries = segments().filter_map(|open| open.dictionary()).map(|found| found.index_bytes());
    (orders.sum(), dictionaries.sum())
}

#[test]
fn a_hundred_segments_take_few_requests_and_little_memory() {
    let vfs = MemVfs::new();
    for number in 0..SEGMENTS {
        add(&vfs, &format!("f{number}"), number * 30..number * 30 + 30);
    }
    let counting = FaultVfs::counting(vfs.clone(), true);
    let store = Store::open(Arc::new(counting.clone()), Path::new(FOLDER), 1 << 20).unwrap();
    assert_eq!(store.version().segments.len(), SEGMENTS);
    // Each of nine files is opened and its end read, and so is the description; the manifest is read twice.
    let operations = counting.operations() as usize;
    assert!(operations <= SEGMENTS * 21 + 20, "{operations} requests");
    let device = DeviceVfs::new(Arc::new(vfs), DeviceModel::INSTANT);
    let store = Store::open(Arc::new(device.clone()), Path::new(FOLDER), 1 << 20).unwrap();
    let (requests, bytes) = device.served();
    assert!(requests as usize <= SEGMENTS * 11 + 20, "{requests} reads");
    assert!(bytes <= SEGMENTS as u64 * 10 * 4096, "{bytes} bytes");
    let (orders, dictionaries) = index_bytes(&store.snapshot());
    assert!(orders + dictionaries < SEGMENTS * 4096, "{orders} and {dictionaries} bytes");
}

/// 100 segments of 100 million triples, with as many terms for each triple as BSBM has (2.7 million for 10 million).
#[test]
fn a_hundred_large_segments_would_take_less_than_20_megabytes() {
    let measured = |quads: usize| {
        let vfs = MemVfs::new();
        add(&vfs, "f", 0..quads);
        let store = Store::open(Arc::new(vfs), Path::new(FOLDER), 1 << 20).unwrap();
        let snapshot = store.snapshot();
        let terms: u64 = snapshot.version().segments.iter().flat_map(|open| open.entry.terms).sum();
        let (orders, dictionaries) = index_bytes(&snapshot);
        (orders as u64, dictionaries as u64, terms.div_ceil(PAGE_TERMS))
    };
    let (_, few_bytes, few_pages) = measured(60_000);
    let (orders, many_bytes, many_pages) = measured(180_000);
    assert!(many_pages >= few_pages + 4, "{few_pages} and {many_pages} pages");
    let of_page = (many_bytes - few_bytes) / (many_pages - few_pages);
    // Each order here has one page, and what is at the end besides, but for that of the graphs, which has none.
    let of_order = orders / 6;
    let order_pages = 7 * 100_000_000_u64.div_ceil(PAGE_ROWS);
    let large = order_pages * of_order + 27_000_000_u64.div_ceil(PAGE_TERMS) * of_page;
    let all = SEGMENTS as u64 * large;
    println!(
        "a page of an order {of_order} bytes, of a dictionary {of_page}: 100 large segments {all} bytes"
    );
    assert!(all < 20_000_000, "{of_order} bytes a page of an order, {of_page} of a dictionary: {all} bytes");
}

/// What opening takes on this machine: run with `--ignored --nocapture`; `LODE_SEGMENTS` and `LODE_QUADS` (of each segment) say how much is made,
/// `LODE_DATABASE` names a database that is there, instead.
#[test]
#[ignore = "tells times"]
fn what_opening_takes() {
    let number = |name: &str, otherwise: usize| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let scratch = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("LODE_DATABASE").map_or_else(|| scratch.path().join("db"), Into::into);
    let vfs = RealVfs::shared();
    if !folder.exists() {
        let each = number("LODE_QUADS", 20_000);
        for segment in 0..number("LODE_SEGMENTS", SEGMENTS) {
            let store = Store::create_or_open(Arc::clone(&vfs), &folder, 1 << 20).unwrap();
            let options = LoadOptions { threads: 2, memory_bytes: 1 << 30, ..LoadOptions::default() };
            load_files(
                &store,
                &[(format!("f{segment}"), quads(segment * each..(segment + 1) * each))],
                options,
            )
            .unwrap();
        }
    }
    let open = |vfs: Arc<dyn Vfs>| Store::open(vfs, &folder, 1 << 20).unwrap();
    let before = resident_bytes().unwrap_or(0);
    let held: Vec<Store> = (0..10).map(|_| open(Arc::clone(&vfs))).collect();
    let resident = resident_bytes().unwrap_or(0).saturating_sub(before) / held.len() as u64;
    let mut times: Vec<Duration> = (0..21)
        .map(|_| {
            let start = Instant::now();
            drop(open(Arc::clone(&vfs)));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let device = DeviceVfs::new(vfs, DeviceModel::INSTANT);
    let (orders, dictionaries) = index_bytes(&open(Arc::new(device.clone())).snapshot());
    let (requests, bytes) = device.served();
    let segments = held[0].version().segments.len();
    println!(
        "{segments} segments of {} quads: least {:?}, median {:?}, {:?} a segment; {requests} reads of {bytes} bytes; upper levels of orders {orders} \
         bytes, of dictionaries {dictionaries}; resident {resident} bytes",
        held[0].version().manifest.quads(),
        times[0],
        times[times.len() / 2],
        times[times.len() / 2] / segments.max(1) as u32
    );
}
