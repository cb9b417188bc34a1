//! Parts of plans as bytes, sealed again behind what the fuzzer has done: refused, or written again as they are, and run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_base::checksum::checksum;
use lode_base::mem_vfs::MemVfs;
use lode_engine::{CancelToken, Database, OpenOptions, UpdateOptions};
use lode_fragment::{RunOptions, ScanDescriptor, ranges, read, read_ranges, run, write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A few quads of all kinds.
fn database() -> &'static Database {
    static DATABASE: OnceLock<Database> = OnceLock::new();
    DATABASE.get_or_init(|| {
        let vfs = Arc::new(MemVfs::default());
        let database = Database::create_on(vfs, Path::new("/db"), &OpenOptions::with_cache(1 << 20)).unwrap();
        let data = "PREFIX : <http://e/> INSERT DATA { :a :p 1, 2, \"x\"@en ; :q :b . :b :p 3 GRAPH :g { :a :p 4 } }";
        database.update(data, &UpdateOptions::default()).unwrap();
        database
    })
}

fuzz_target!(|data: &[u8]| {
    let snapshot = database().snapshot();
    // The database is another one in each process: its number and that of the version are put in.
    let mut bytes = data.to_vec();
    if let Some(place) = bytes.get_mut(19..35) {
        place.copy_from_slice(&snapshot.database_number().to_le_bytes());
    }
    let sum = checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    let _ = ScanDescriptor::read(&bytes);
    let _ = read_ranges(&bytes);
    let Ok(fragment) = read(&bytes, &snapshot) else { return };
    assert!(write(&fragment, &snapshot).is_ok());
    let options = RunOptions::new(1 << 20, CancelToken::new(Some(std::time::Duration::from_secs(5))));
    let Ok((_, ranges)) = ranges(&fragment, &snapshot, &options, 3) else { return };
    for range in ranges {
        let Ok(mut execution) = run(&fragment, &snapshot, &range, &options) else { return };
        while let Ok(Some(batch)) = execution.next() {
            assert!(batch.rows > 0);
        }
    }
});
