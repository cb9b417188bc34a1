//! Dictionaries against sorted keys in memory, and damaged files.

use super::*;
use crate::format::SEPARATOR_BYTES_MAX;
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

type Keys = [Vec<Vec<u8>>; Section::COUNT];

fn file(keys: &Keys) -> (MemVfs, DictionaryInfo) {
    let vfs = MemVfs::default();
    let mut writer = DictionaryWriter::new(vfs.create(Path::new("d")).unwrap());
    for (section, keys) in Section::ALL.into_iter().zip(keys) {
        for (rank, key) in keys.iter().enumerate() {
            assert_eq!(writer.push(section, key).unwrap(), rank as u64);
        }
    }
    let info = writer.finish().unwrap();
    (vfs, info)
}

fn open(vfs: &MemVfs) -> Result<Dictionary> {
    Dictionary::open(vfs.open(Path::new("d")).unwrap(), "d", Arc::new(BlockCache::new(1 << 20)))
}

fn built(keys: &Keys) -> Dictionary {
    let (vfs, info) = file(keys);
    let dictionary = open(&vfs).unwrap();
    assert_eq!(dictionary.info(), info);
    dictionary
}

fn sample(count: usize) -> Keys {
    let words = ["graph", "store", "ascending", "of", "packed", "and", "block", "a"];
    let text = |i: usize| -> Vec<u8> {
        let words: Vec<&str> = (0..20).map(|w| words[(i * 31 + w * w * i + i / 7) % words.len()]).collect();
        format!("{} {i}", words.join(" ")).into_bytes()
    };
    let sorted = |keys: Vec<Vec<u8>>| keys.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    [
        sorted((0..count).map(|i| format!("http://example.org/thing/{i}").into_bytes()).collect()),
        sorted((0..count).map(text).collect()),
        vec![b"hello\0\x01en".to_vec()],
        vec![],
        sorted((0..40_u8).map(|i| vec![1, i, 0, 1, 255]).collect()),
    ]
}

#[test]
fn long_keys_have_blocks_of_their_own() {
    let key = |number: u32, bytes: usize| format!("{number:08}{}", "x".repeat(bytes)).into_bytes();
    let short = |from: u32| (from..from + 5).map(move |number| key(number, 10));
    // One that is as long as a chunk, and others that fill one together.
    let long = [8_200, 20_000, 5 << 20, 3 << 20, 3 << 20, 100];
    let mut keys: Vec<Vec<u8>> = short(0).collect();
    for (number, bytes) in (1..).zip(long) {
        keys.push(key(100 * number, bytes));
        keys.extend(short(100 * number + 1));
    }
    let dictionary = built(&[keys.clone(), vec![], vec![], vec![], vec![]]);
    // Five that are long, and what is between them.
    assert_eq!(dictionary.info().blocks, 5 + 6);
    assert_eq!(read_all_terms(&dictionary).unwrap()[0], keys);
    let mut found = Vec::new();
    for (rank, key) in keys.iter().enumerate() {
        assert_eq!(dictionary.find(Section::Iri, key).unwrap(), Some(rank as u64));
        dictionary.get(Section::Iri, rank as u64, &mut found).unwrap();
        assert!(&found == key);
    }
}

fn read_all_terms(dictionary: &Dictionary) -> Result<Keys> {
    let mut keys: Keys = Default::default();
    for (section, keys) in Section::ALL.into_iter().zip(&mut keys) {
        let mut terms = dictionary.iter(section);
        while let Some(key) = terms.next()? {
            keys.push(key.to_vec());
        }
    }
    Ok(keys)
}

fn check(keys: &Keys, absent: &[Vec<u8>]) {
    let dictionary = built(keys);
    assert_eq!(&read_all_terms(&dictionary).unwrap(), keys);
    dictionary.verify(&CancelToken::default(), &mut |_| {}).unwrap();
    let mut buffer = Vec::new();
    for (section, keys) in Section::ALL.into_iter().zip(keys) {
        assert_eq!(dictionary.len(section), keys.len() as u64);
        let step = keys.len() / 300 + 1;
        for (rank, key) in keys.iter().enumerate().step_by(step) {
            dictionary.get(section, rank as u64, &mut buffer).unwrap();
            assert_eq!(&buffer, key);
            assert_eq!(dictionary.find(section, key).unwrap(), Some(rank as u64));
        }
        assert!(dictionary.get(section, keys.len() as u64, &mut buffer).is_err());
        for key in absent {
            let rank = keys.partition_point(|k| k < key);
            assert_eq!(dictionary.lower_bound(section, key).unwrap(), rank as u64);
            let found = (keys.get(rank) == Some(key)).then_some(rank as u64);
            assert_eq!(dictionary.find(section, key).unwrap(), found);
        }
        visit(&dictionary, section, keys);
    }
}

fn visit(dictionary: &Dictionary, section: Section, keys: &[Vec<u8>]) {
    let ranks: Vec<u64> =
        (0..keys.len() as u64).flat_map(|r| [r; 2]).filter(|r| r % 3 > 0 || r % 40 == 0).collect();
    let mut next = 0;
    dictionary
        .visit_sorted::<PackedError>(section, &ranks, &mut |index, key| {
            assert_eq!(index, next);
            assert_eq!(key, keys[ranks[index] as usize]);
            next += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(next, ranks.len());
}

#[test]
fn empty() {
    let dictionary = built(&Keys::default());
    assert!(dictionary.is_empty());
    assert_eq!(dictionary.find(Section::Iri, b"x").unwrap(), None);
    check(&Keys::default(), &[b"x".to_vec()]);
}

#[test]
fn several_blocks() {
    let keys = sample(9000);
    assert!(built(&keys).info().blocks > 8);
    let near = |key: &Vec<u8>| {
        let (mut longer, mut shorter) = (key.clone(), key.clone());
        longer.push(0);
        shorter.pop();
        [longer, shorter]
    };
    let absent: Vec<Vec<u8>> = keys[0].iter().chain(&keys[1]).step_by(401).flat_map(near).collect();
    check(&keys, &absent);
}

/// Keys of two sections that fill several chunks: text that gets much smaller, and some that does not.
fn sample_of_chunks() -> Keys {
    let mut keys = Keys::default();
    keys[0] = (0..45_000_u64)
        .map(|i| format!("{i:07} {i:x} the same words {i:o}").repeat(4).into_bytes())
        .collect();
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    keys[1] = (0..3000_u32)
        .map(|i| {
            let tail: Vec<u8> = (0..400).flat_map(|_| noise().to_le_bytes()).collect();
            [&i.to_be_bytes()[..], &tail].concat()
        })
        .collect();
    keys
}

#[test]
fn several_chunks() {
    let keys = sample_of_chunks();
    let dictionary = built(&keys);
    let pages = |section| dictionary.section(section).unwrap().len();
    assert!(pages(Section::Iri) > 1 && pages(Section::String) > 1, "{dictionary:?}");
    assert_eq!(pages(Section::LangString), 0);
    let info = dictionary.info();
    assert!(info.bytes < info.key_bytes - info.key_bytes / 4, "{} of {}", info.bytes, info.key_bytes);
    check(&keys, &[b"0030000".to_vec(), vec![0, 0, 9, 9]]);
    // Nothing depends on what was written before with the same buffers.
    let (vfs, again) = file(&keys);
    assert_eq!(again, info);
    assert_eq!(open(&vfs).unwrap().info(), info);
}

#[test]
fn long_and_odd_keys() {
    let mut keys = Keys::default();
    keys[1] = vec![
        vec![],
        vec![0],
        vec![b'a'; 200_000],
        [vec![b'a'; 200_000], vec![0]].concat(),
        vec![255; 70_000],
    ];
    check(&keys, &[vec![b'a'; 199_999], vec![b'b'], vec![255; 70_001]]);
}

#[test]
fn what_does_not_ascend_is_refused() {
    let writer = || DictionaryWriter::new(MemVfs::default().create(Path::new("d")).unwrap());
    let mut same = writer();
    same.push(Section::Iri, b"a").unwrap();
    assert!(matches!(same.push(Section::Iri, b"a"), Err(PackedError::Unsorted { .. })));
    let mut back = writer();
    back.push(Section::String, b"a").unwrap();
    assert!(matches!(back.push(Section::Iri, b"b"), Err(PackedError::Unsorted { .. })));
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..20),
        (0..2000_u32).prop_map(|i| format!("http://example.org/{i}").into_bytes()),
        (0..9_usize, any::<u8>()).prop_map(|(n, b)| [vec![7; n * 9], vec![b]].concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn reads_like_the_model(
        sets in proptest::array::uniform5(proptest::collection::btree_set(key(), 0..400)),
        absent in proptest::collection::vec(key(), 1..20),
    ) {
        check(&sets.map(|set| set.into_iter().collect()), &absent);
    }

    #[test]
    fn any_bytes_open_without_panic(raw in proptest::collection::vec(any::<u8>(), 0..200), terms in 1_usize..60) {
        if let Ok(view) = OpenBlock::parse(raw, terms) {
            let mut key = Vec::new();
            for rank in 0..terms {
                let _ = view.get(rank, &mut key);
            }
            let _ = view.lower_bound(b"abc");
        }
    }
}

/// Keys that differ only far behind where separators are cut, and some others.
fn long_key() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![Just(0), 250..260_usize, Just(600), Just(9000)];
    let tail = proptest::collection::vec(0..3_u8, 0..4);
    (0..2_u8, length, tail).prop_map(|(byte, length, tail)| [vec![byte; length], tail].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn keys_with_long_common_prefixes_read_like_the_model(
        keys in proptest::collection::btree_set(long_key(), 0..120),
        absent in proptest::collection::vec(long_key(), 1..40),
    ) {
        let mut sets = Keys::default();
        sets[1] = keys.into_iter().collect();
        check(&sets, &absent);
    }
}

#[test]
fn the_index_is_small_whatever_the_keys_share() {
    let mut keys = Keys::default();
    let prefix = vec![b'p'; 32 << 10];
    keys[1] = (0..300_u32).map(|i| [&prefix[..], format!("{i:04}").as_bytes()].concat()).collect();
    let dictionary = built(&keys);
    let blocks = dictionary.info().blocks as usize;
    assert_eq!(blocks, 300);
    let pages = dictionary.section(Section::String).unwrap().len();
    for rank in 0..300 {
        dictionary.get(Section::String, rank, &mut Vec::new()).unwrap();
    }
    assert!(dictionary.index_bytes() < blocks * (SEPARATOR_BYTES_MAX + 100) + pages * 4000);
    check(&keys, &[prefix.clone(), [&prefix[..], b"0150x"].concat(), [&prefix[..], b"9"].concat()]);
}

#[test]
fn the_same_separators_are_told_apart_by_few_blocks() {
    let mut keys = Keys::default();
    keys[1] = (0..256_u32).map(|i| [&vec![b'p'; 9000][..], format!("{i:04}").as_bytes()].concat()).collect();
    let dictionary = built(&keys);
    assert_eq!(dictionary.info().blocks, 256);
    for (rank, key) in keys[1].iter().enumerate().step_by(37) {
        let before = dictionary.0.cache.counters();
        assert_eq!(dictionary.find(Section::String, key).unwrap(), Some(rank as u64));
        let after = dictionary.0.cache.counters();
        assert!(
            after.hits + after.misses - before.hits - before.misses <= 10,
            "2 to the 8th is 256, the first, and a filter"
        );
    }
}

#[test]
fn unknown_keys_read_no_blocks() {
    let mut keys = Keys::default();
    keys[0] = (0..60_000_u32).map(|i| format!("http://example.org/thing/{i:06}").into_bytes()).collect();
    let dictionary = built(&keys);
    assert!(dictionary.section(Section::Iri).unwrap().len() > 1, "several pages");
    let unknown = |i: usize| format!("http://example.org/thing/{i:06}x").into_bytes();
    // So that filters and pages are there.
    (0..60_000)
        .step_by(100)
        .for_each(|i| assert_eq!(dictionary.find(Section::Iri, &keys[0][i]).unwrap(), Some(i as u64)));
    let before = dictionary.0.cache.counters();
    (0..10_000).for_each(|i| assert_eq!(dictionary.find(Section::Iri, &unknown(i * 6)).unwrap(), None));
    let after = dictionary.0.cache.counters();
    let blocks = after.hits + after.misses - before.hits - before.misses - 10_000;
    assert!(blocks < 80, "{blocks} blocks for 10000 look-ups");
}

#[test]
fn opening_reads_no_pages() {
    let keys = sample(9000);
    let (vfs, info) = file(&keys);
    let dictionary = open(&vfs).unwrap();
    let read = |dictionary: &Dictionary| dictionary.0.cache.counters().bytes_read;
    assert!(read(&dictionary) < 1000, "{} of {} bytes", read(&dictionary), info.bytes);
    let none = dictionary.index_bytes();
    dictionary.iter(Section::Iri).next().unwrap();
    assert_eq!(dictionary.index_bytes(), none, "reading all terms keeps no pages");
    dictionary.get(Section::Iri, 0, &mut Vec::new()).unwrap();
    assert!(dictionary.index_bytes() > none);
}

#[test]
fn golden_file() {
    let mut keys = Keys::default();
    keys[0] = vec![b"http://a/1".to_vec(), b"http://a/2".to_vec()];
    keys[1] = vec![b"x".to_vec()];
    let (vfs, info) = file(&keys);
    let mut bytes = vec![0; info.bytes as usize];
    vfs.open(Path::new("d")).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, include_str!("../../tests/golden/dictionary.hex").trim());
}

#[test]
fn another_version_is_told() {
    let (vfs, info) = file(&sample(30));
    let mut bytes = vec![0; info.bytes as usize];
    vfs.open(Path::new("d")).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    let version = bytes.len() - 24;
    bytes[version] = 3;
    vfs.create(Path::new("d")).unwrap().write_all(&bytes).unwrap();
    assert!(matches!(open(&vfs), Err(PackedError::Version { found: 3, supported: 4, .. })));
}

fn read_all(bytes: &[u8], keys: &Keys) -> Result<()> {
    let vfs = MemVfs::default();
    let mut file = vfs.create(Path::new("d")).unwrap();
    file.write_all(bytes).unwrap();
    drop(file);
    let dictionary = open(&vfs)?;
    assert_eq!(&read_all_terms(&dictionary)?, keys, "damage gave a wrong answer");
    dictionary.verify(&CancelToken::default(), &mut |_| {})?;
    Ok(())
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    let keys = sample(30);
    let (vfs, info) = file(&keys);
    let mut bytes = vec![0; info.bytes as usize];
    vfs.open(Path::new("d")).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    read_all(&bytes, &keys).unwrap();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(read_all(&bytes, &keys).is_err(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    for cut in 0..bytes.len() {
        assert!(read_all(&bytes[..cut], &keys).is_err(), "cut at {cut}");
    }
}
