//! A log with bytes changed, cut off and added: a prefix of its records or an error, all of them or an error where it was closed, and
//! what is left can be gone on with.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_store::log::{Durability, Log, replay, salvage};
use std::path::Path;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let [records, group, cut, changes, rest @ ..] = data else { return };
    let is_closed = group & 0x80 != 0;
    let (records, group) = (usize::from(records % 16), usize::from(group % 4) + 1);
    let memory = MemVfs::new();
    let vfs: Arc<dyn Vfs> = Arc::new(memory.clone());
    let path = Path::new("/log");
    let Ok(log) = Log::create(&vfs, path, 1, 2, Durability::Sync) else { return };
    let payloads: Vec<&[u8]> = rest.chunks(rest.len() / 16 + 1).take(records).collect();
    for group in payloads.chunks(group) {
        for payload in group {
            assert!(log.append(payload, ()).is_ok());
        }
        assert!(log.drain(&|()| {}).is_ok());
    }
    assert!(!is_closed || log.close().is_ok());
    let Ok(mut bytes) = memory.read(path) else { return };
    for change in rest.chunks_exact(3).take(usize::from(changes % 8)) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] ^= change[2];
    }
    match cut % 4 {
        0 => bytes.truncate(bytes.len() - usize::from(*cut).min(bytes.len())),
        1 => bytes.extend_from_slice(rest),
        _ => {}
    }
    assert!(memory.overwrite(path, bytes).is_ok());

    let mut found = 0;
    let visit = &mut |record: lode_store::log::LogRecord<'_>| {
        assert_eq!(payloads.get(found).copied(), Some(record.payload));
        found += 1;
        Ok(())
    };
    let salvaged = salvage(&*vfs, path, 1, 2, visit);
    assert!(found == payloads.len() || !is_closed || salvaged.as_ref().map_or(true, |salvaged| salvaged.damage.is_some()));
    let Ok(end) = replay(&*vfs, path, 1, 2, &mut |_| Ok(())) else { return };
    assert!(salvaged.is_ok_and(|salvaged| salvaged.end == end && salvaged.damage.is_none()));
    let Ok(log) = Log::reopen(&vfs, path, end, Durability::Sync) else { panic!("not reopened") };
    assert!(log.append(b"and on", ()).and_then(|lsn| log.wait(lsn, &|()| {})).is_ok());
    let again = replay(&*vfs, path, 1, 2, &mut |_| Ok(()));
    assert!(
        again.is_ok_and(|again| again.next_sequence == end.next_sequence + 1 && again.ignored_bytes == 0)
    );
});
