//! A permutation file of any bytes, also with right checksums over wrong content: rows or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_base::block_cache::BlockCache;
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_packed::Permutation;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let vfs = MemVfs::default();
    let path = Path::new("/file");
    let Ok(mut file) = vfs.create(path) else { return };
    if file.write_all(data).is_err() || file.sync().is_err() {
        return;
    }
    let Ok(file) = vfs.open(path) else { return };
    let Ok(permutation) = Permutation::open(file, "file", Arc::new(BlockCache::new(1 << 20))) else { return };
    let _ = permutation.verify(&CancelToken::default(), &mut |_| {});
    let rows = permutation.rows();
    let mut columns: [Vec<u64>; 4] = Default::default();
    let mut cursor = permutation.cursor(0..rows, 0b1111);
    while columns[0].len() < 1 << 20 && matches!(cursor.next(1000, &mut columns), Ok(n) if n > 0) {}
    let _ = permutation.range(&[1 << 60]);
    let _ = permutation.distinct(&[]);
});
