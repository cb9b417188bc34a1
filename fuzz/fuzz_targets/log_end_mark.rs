//! The end mark of a log: any bytes in its place lose no record, and are told unless they are the mark.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_store::log::{Durability, Log, mark_file, salvage};
use std::path::Path;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let [xor, at, is_whole, rest @ ..] = data else { return };
    let memory = MemVfs::new();
    let vfs: Arc<dyn Vfs> = Arc::new(memory.clone());
    let path = Path::new("/log");
    let Ok(log) = Log::create(&vfs, path, 1, 2, Durability::Sync) else { return };
    assert!(log.append(b"a record", ()).and_then(|lsn| log.wait(lsn, &|()| {})).is_ok() && log.close().is_ok());
    let Ok(good) = memory.read(&mark_file(path)) else { panic!("no mark") };
    let mut bytes = good.clone();
    if is_whole % 2 == 0 {
        let at = usize::from(*at) % bytes.len();
        bytes[at] ^= xor;
    } else {
        bytes = rest.to_vec();
    }
    let is_mark = bytes == good;
    assert!(memory.overwrite(&mark_file(path), bytes).is_ok());
    let mut records = 0;
    let found = salvage(&*vfs, path, 1, 2, &mut |_| {
        records += 1;
        Ok(())
    });
    if let Ok(found) = found {
        assert!(records == 1 && found.damage.is_none());
        assert!(found.mark_damage.is_none() == is_mark && found.end.is_closed == is_mark);
    }
});
