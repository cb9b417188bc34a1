//! Segments: written, opened, checked, and refused when files do not belong together.

use super::*;
use crate::dictionary::DictionaryWriter;
use crate::permutation::PermutationWriter;
use lode_base::checksum::checksum;
use lode_base::fault_vfs::{Fault, FaultVfs, Operation};
use lode_base::mem_vfs::MemVfs;

fn shared(vfs: &MemVfs) -> Arc<dyn Vfs> {
    Arc::new(vfs.clone())
}

fn write(vfs: &MemVfs, folder: &Path, quads: &[[u64; 4]]) -> SegmentMeta {
    vfs.create_dir_all(folder).unwrap();
    let permutations = Order::ALL.map(|order| {
        let keep = |quad: &&[u64; 4]| order != Order::Gspo || quad[3] > 1;
        let mut rows: Vec<[u64; 4]> =
            quads.iter().filter(keep).map(|quad| order.positions().map(|p| quad[p as usize])).collect();
        rows.sort_unstable();
        let file = vfs.create(&folder.join(permutation_file_name(order))).unwrap();
        let mut writer = PermutationWriter::new(file, order);
        let columns: [Vec<u64>; 4] = std::array::from_fn(|c| rows.iter().map(|row| row[c]).collect());
        writer.push(columns.each_ref().map(Vec::as_slice)).unwrap();
        writer.finish().unwrap()
    });
    let mut dictionary = DictionaryWriter::new(vfs.create(&folder.join(DICTIONARY_FILE)).unwrap());
    dictionary.push(Section::Iri, b"http://example.org/").unwrap();
    let dictionary = Some(dictionary.finish().unwrap());
    let origin = SegmentOrigin {
        identity: 7 << 100,
        database: 9 << 90,
        number: 3,
        is_deletions: true,
        is_merge: true,
        is_followed: false,
        version: 11,
        numbering: 2,
        next_blank: 5,
        next_log: 4,
        replaces: vec![1],
        empties: vec![2, 8],
        buried: Vec::new(),
    };
    let mut meta =
        SegmentMeta { origin, permutations, dictionary, bases: [5, 0, 0, 0, 1], characteristic_sets: None };
    meta.characteristic_sets =
        Some(write_characteristic_sets(&shared(vfs), folder, &meta, &|| Ok(())).unwrap().0);
    meta.write(vfs, folder).unwrap();
    meta
}

fn open(vfs: &MemVfs, folder: &Path) -> Result<Segment, PackedError> {
    Segment::open(&shared(vfs), folder, &Arc::new(BlockCache::new(1 << 20)))
}

fn quads(count: u64) -> Vec<[u64; 4]> {
    (0..count).map(|i| [i / 3 + 10, i % 3, i * 7 % 11, 1 + i % 2]).collect()
}

#[test]
fn round_trip_and_check() {
    let vfs = MemVfs::default();
    let meta = write(&vfs, Path::new("a"), &quads(1000));
    assert_eq!(SegmentMeta::decode(&meta.encode(), "m").unwrap(), meta);
    let segment = open(&vfs, Path::new("a")).unwrap();
    assert_eq!(segment.meta(), &meta);
    assert_eq!(segment.meta().quads(), 1000);
    assert_eq!(segment.permutation(Order::Gspo).rows(), 500);
    assert_eq!(segment.dictionary().unwrap().len(Section::Iri), 1);
    let mut done = 0;
    segment.verify(&CancelToken::default(), &mut |n| done += n).unwrap();
    assert_eq!(done, 6 * 1000 + 500 + 1);
}

#[test]
fn files_of_other_segments_are_refused() {
    let vfs = MemVfs::default();
    write(&vfs, Path::new("a"), &quads(100));
    write(&vfs, Path::new("b"), &quads(99));
    vfs.rename(Path::new("b/posg.perm"), Path::new("a/posg.perm")).unwrap();
    assert!(matches!(open(&vfs, Path::new("a")), Err(PackedError::Corruption { .. })));
    assert!(matches!(open(&vfs, Path::new("b")), Err(PackedError::Io { .. })));
    // Or when they are read.
    for folder in ["a", "b"] {
        let cache = Arc::new(BlockCache::new(1 << 20));
        let segment = Segment::open_when_read(&shared(&vfs), Path::new(folder), &cache).unwrap();
        assert_eq!(segment.permutation(Order::Spog).row(0).unwrap(), quads(1)[0]);
        for _ in 0..2 {
            let posg = segment.permutation(Order::Posg);
            assert_eq!(posg.rows(), segment.meta().quads(), "told by the description");
            match posg.range(&[1]) {
                Err(PackedError::Corruption { what, .. }) if folder == "a" => {
                    assert!(what.to_string().contains("not the file"), "{what}");
                }
                Err(PackedError::Io { .. }) if folder == "b" => {}
                other => panic!("{folder}: {other:?}"),
            }
            segment.open_files().unwrap_err();
        }
    }
}

#[test]
fn permutations_of_different_quads_are_noticed() {
    let vfs = MemVfs::default();
    let mut meta = write(&vfs, Path::new("a"), &quads(100));
    let mut others = quads(100);
    others[50][2] += 100;
    let other = write(&vfs, Path::new("b"), &others);
    meta.permutations[Order::Posg as usize] = other.permutations[Order::Posg as usize];
    vfs.rename(Path::new("b/posg.perm"), Path::new("a/posg.perm")).unwrap();
    meta.write(&vfs, Path::new("a")).unwrap();
    let segment = open(&vfs, Path::new("a")).unwrap();
    assert!(segment.verify(&CancelToken::default(), &mut |_| {}).is_err());
}

#[test]
fn damaged_descriptions_are_refused() {
    let vfs = MemVfs::default();
    let mut bytes = write(&vfs, Path::new("a"), &quads(10)).encode();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(SegmentMeta::decode(&bytes, "m").is_err(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    for cut in 0..bytes.len() {
        assert!(SegmentMeta::decode(&bytes[..cut], "m").is_err(), "cut at {cut}");
    }
    let mut newer = bytes.clone();
    newer[8] = 99;
    let sum = checksum(&newer[..newer.len() - 8]);
    let end = newer.len() - 8;
    newer[end..].copy_from_slice(&sum.to_le_bytes());
    assert!(matches!(SegmentMeta::decode(&newer, "m"), Err(PackedError::Version { found: 99, .. })));
}

#[test]
fn files_in_several_parts_are_for_later_versions() {
    let vfs = MemVfs::default();
    let mut bytes = write(&vfs, Path::new("a"), &quads(10)).encode();
    // Behind the header, the two random numbers, five numbers, and lists of one, two and no numbers.
    let parts = 16 + 32 + 5 * 8 + 16 + 24 + 8;
    assert_eq!(bytes[parts..parts + 8], 1_u64.to_le_bytes());
    bytes[parts] = 2;
    let end = bytes.len() - 8;
    let sum = checksum(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    let error = SegmentMeta::decode(&bytes, "m").unwrap_err().to_string();
    assert!(error.contains("several parts"), "{error}");
}

#[test]
fn sets_of_predicates_that_cannot_be_read_now_are_not_damaged() {
    let vfs = MemVfs::default();
    write(&vfs, Path::new("a"), &quads(100));
    let verify = |segment: &Segment| segment.verify_stars(&CancelToken::default());
    for kind in [Operation::Open, Operation::Read] {
        let faulty = FaultVfs::counting(vfs.clone(), false);
        let shared: Arc<dyn Vfs> = Arc::new(faulty.clone());
        let cache = Arc::new(BlockCache::new(1 << 20));
        let segment = Segment::open_when_read(&shared, Path::new("a"), &cache).unwrap();
        faulty.fail_next(Fault::Outage(2), kind);
        assert!(segment.characteristic_sets().is_none(), "queries go without");
        assert!(matches!(verify(&segment), Err(PackedError::Io { .. })), "{kind:?}");
        verify(&segment).unwrap();
        assert!(segment.characteristic_sets().is_some());
    }
    vfs.remove(&Path::new("a").join(STARS_FILE)).unwrap();
    let segment = open(&vfs, Path::new("a")).unwrap();
    assert!(segment.characteristic_sets().is_none());
    assert!(matches!(verify(&segment), Err(PackedError::Corruption { .. })));
}
