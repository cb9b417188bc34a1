//! A dictionary file of any bytes: terms or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_base::block_cache::BlockCache;
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_packed::Dictionary;
use lode_rdf::value_id::Section;
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
    let Ok(dictionary) = Dictionary::open(file, "file", Arc::new(BlockCache::new(1 << 20))) else { return };
    let _ = dictionary.verify(&CancelToken::default(), &mut |_| {});
    let mut key = Vec::new();
    for section in Section::ALL {
        let _ = dictionary.get(section, dictionary.len(section) / 2, &mut key);
        let _ = dictionary.find(section, b"http://example.org/");
    }
});
