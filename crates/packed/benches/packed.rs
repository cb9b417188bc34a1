//! Speed of packed files: encoding, scanning, looking up and seeking in permutations, and reading dictionaries, over
//! made-up data of a web shop.

#![expect(clippy::expect_used, reason = "a benchmark has nobody to report an error to")]

#[path = "../tests/it/shop.rs"]
mod shop;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lode_base::block_cache::BlockCache;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_packed::{Dictionary, DictionaryWriter, Order, Permutation, PermutationWriter};
use lode_rdf::value_id::Section;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

const CACHE_BYTES: usize = 1 << 30;

fn columns(order: Order) -> [Vec<u64>; 4] {
    let quads = shop::quads(1000);
    let mut rows: Vec<[u64; 4]> =
        quads.iter().map(|quad| order.positions().map(|position| quad[position as usize])).collect();
    rows.sort_unstable();
    std::array::from_fn(|c| rows.iter().map(|row| row[c]).collect())
}

fn write(columns: &[Vec<u64>; 4], order: Order) -> MemVfs {
    let vfs = MemVfs::default();
    let file = vfs.create(Path::new("p")).expect("memory");
    let mut writer = PermutationWriter::new(file, order);
    writer.push(columns.each_ref().map(Vec::as_slice)).expect("sorted");
    writer.finish().expect("memory");
    vfs
}

fn open(vfs: &MemVfs) -> Permutation {
    let file = vfs.open(Path::new("p")).expect("written");
    Permutation::open(file, "p", Arc::new(BlockCache::new(CACHE_BYTES))).expect("whole")
}

fn permutations(criterion: &mut Criterion) {
    for order in [Order::Spog, Order::Posg, Order::Ospg] {
        let columns = columns(order);
        let rows = columns[0].len() as u64;
        let permutation = open(&write(&columns, order));
        let bytes = permutation.info().bytes as f64 / rows as f64;
        eprintln!("{}: {bytes:.2} bytes a row", order.name());
        let mut group = criterion.benchmark_group(order.name());
        group.throughput(Throughput::Elements(rows)).sample_size(10);
        group.bench_function("encode", |b| b.iter(|| write(&columns, order)));
        for (name, mask) in [("scan first", 1), ("scan second", 2), ("scan third", 4), ("scan all", 15)] {
            group.bench_function(name, |b| b.iter(|| scan(&permutation, mask)));
        }
        group.throughput(Throughput::Elements(1));
        let mut at = 0_u64;
        group.bench_function("range of two ids", |b| {
            b.iter(|| {
                at = (at + 7_919_777) % rows;
                permutation.range(&[columns[0][at as usize], columns[1][at as usize]]).expect("whole")
            });
        });
        let mut cursor = permutation.cursor(0..rows, 0);
        group.bench_function("seek near", |b| {
            b.iter(|| {
                if cursor.position() + 100 >= rows {
                    cursor = permutation.cursor(0..rows, 0);
                }
                let row = cursor.position() as usize + 50;
                cursor.seek(&[columns[0][row], columns[1][row]]).expect("whole");
            });
        });
    }
}

fn scan(permutation: &Permutation, mask: u8) -> u64 {
    let mut cursor = permutation.cursor(0..u64::MAX, mask);
    let mut out: [Vec<u64>; 4] = Default::default();
    let mut rows = 0;
    loop {
        out.iter_mut().for_each(Vec::clear);
        let got = cursor.next(4096, &mut out).expect("whole");
        rows += got as u64;
        black_box(&out);
        if got == 0 {
            return rows;
        }
    }
}

fn dictionaries(criterion: &mut Criterion) {
    let vfs = MemVfs::default();
    let mut writer = DictionaryWriter::new(vfs.create(Path::new("d")).expect("memory"));
    let keys: Vec<String> =
        (0..200_000).map(|n| format!("http://example.org/instances/Offer{n:07}")).collect();
    for key in &keys {
        writer.push(Section::Iri, key.as_bytes()).expect("sorted");
    }
    writer.finish().expect("memory");
    let file = vfs.open(Path::new("d")).expect("written");
    let dictionary = Dictionary::open(file, "d", Arc::new(BlockCache::new(CACHE_BYTES))).expect("whole");
    let mut group = criterion.benchmark_group("dictionary");
    let (mut at, mut key) = (0, Vec::new());
    group.bench_function("key of a rank", |b| {
        b.iter(|| {
            at = (at + 7919) % keys.len();
            dictionary.get(Section::Iri, at as u64, &mut key).expect("whole");
        });
    });
    group.bench_function("rank of a key", |b| {
        b.iter(|| {
            at = (at + 7919) % keys.len();
            dictionary.find(Section::Iri, keys[at].as_bytes()).expect("whole")
        });
    });
    group.throughput(Throughput::Elements(keys.len() as u64)).sample_size(10);
    group.bench_function("all keys", |b| {
        b.iter(|| {
            let mut terms = dictionary.iter(Section::Iri);
            while let Some(key) = terms.next().expect("whole") {
                black_box(key);
            }
        });
    });
}

criterion_group!(benches, permutations, dictionaries);
criterion_main!(benches);
