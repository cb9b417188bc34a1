//! Sizes of packed files over made-up data: a change that makes them larger has to say so here.

mod shop;

use lode_base::block_cache::BlockCache;
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_packed::{Order, Permutation, PermutationWriter};
use std::path::Path;
use std::sync::Arc;

#[test]
fn six_orders_of_a_shop_are_small() {
    let quads = shop::quads(200);
    let vfs = MemVfs::default();
    let mut bytes = 0;
    for order in Order::ALL.into_iter().filter(|order| *order != Order::Gspo) {
        let mut rows: Vec<[u64; 4]> =
            quads.iter().map(|quad| order.positions().map(|position| quad[position as usize])).collect();
        rows.sort_unstable();
        let columns: [Vec<u64>; 4] = std::array::from_fn(|c| rows.iter().map(|row| row[c]).collect());
        let path = Path::new(order.name());
        let mut writer = PermutationWriter::new(vfs.create(path).unwrap(), order);
        writer.push(columns.each_ref().map(Vec::as_slice)).unwrap();
        let info = writer.finish().unwrap();
        let cache = Arc::new(BlockCache::new(1 << 20));
        let permutation = Permutation::open(vfs.open(path).unwrap(), order.name(), cache).unwrap();
        assert_eq!(permutation.verify(&CancelToken::default(), &mut |_| {}).unwrap(), info);
        bytes += info.bytes;
        println!("{}: {:.2} bytes a row", order.name(), info.bytes as f64 / info.rows as f64);
    }
    let per_quad = bytes as f64 / quads.len() as f64;
    println!("{per_quad:.2} bytes a quad, {} quads", quads.len());
    assert!(per_quad < 10.0, "{per_quad:.2} bytes a quad");
}
