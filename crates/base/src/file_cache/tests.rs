//! Eviction, reading while others evict, and files that are replaced or removed while they have no descriptor.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::sync::atomic::AtomicU64;

fn path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("file{number}"))
}

/// The bytes of a file: different in each file and at each place.
fn bytes(number: usize) -> Vec<u8> {
    (0..100).map(|at| (number * 31 + at * 7) as u8).collect()
}

fn write_files(folder: &Path, count: usize) {
    (0..count).for_each(|number| fs::write(path(folder, number), bytes(number)).unwrap());
}

fn assert_reads(file: &dyn ReadAt, number: usize, offset: usize) {
    let mut found = [0; 10];
    file.read_exact_at(&mut found, offset as u64).unwrap();
    assert_eq!(found, bytes(number)[offset..offset + 10], "file {number} at {offset}");
}

proptest! {
    #[test]
    fn files_are_read_whatever_is_closed(
        files_max in 0_usize..6,
        steps in prop::collection::vec((0_u8..4, 0_usize..12, 0_usize..90), 1..200),
    ) {
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path(), 12);
        let cache = FileCache::new(files_max);
        let mut files: Vec<Option<Arc<dyn ReadAt>>> = vec![None; 12];
        for (kind, number, offset) in steps {
            let file = &mut files[number];
            match kind {
                0 => *file = Some(cache.open(&path(folder.path(), number)).unwrap()),
                1 if number.is_multiple_of(3) => *file = None,
                1 => assert!(cache.close(number) <= number),
                _ => file.iter().for_each(|file| assert_reads(&**file, number, offset)),
            }
            prop_assert!(cache.open_files() <= files_max);
            prop_assert!(cache.lock().len() <= files_max);
        }
    }
}

#[test]
fn what_is_read_again_and_again_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), 20);
    let cache = FileCache::new(4);
    let hot = cache.open(&path(folder.path(), 0)).unwrap();
    for number in 1..20 {
        assert_reads(&*hot, 0, 0);
        drop(cache.open(&path(folder.path(), number)).unwrap());
    }
    // A descriptor keeps a file readable that is gone.
    fs::remove_file(path(folder.path(), 0)).unwrap();
    assert_reads(&*hot, 0, 5);
}

#[test]
fn many_threads_read_more_files_than_may_be_open() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), 30);
    let cache = FileCache::new(5);
    let files: Vec<_> = (0..30).map(|number| cache.open(&path(folder.path(), number)).unwrap()).collect();
    let reads = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (files, reads, cache, folder) = (&files, &reads, &cache, folder.path());
            scope.spawn(move || {
                let mut state = 88_172_645_463_325_252_u64 + thread;
                for step in 0..3000 {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    let (number, offset) = ((state % 30) as usize, (state >> 32) as usize % 90);
                    assert_reads(&*files[number], number, offset);
                    if step % 50 == 0 {
                        assert!(cache.close(3) <= 3);
                        assert_reads(&*cache.open(&path(folder, number)).unwrap(), number, offset);
                    }
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(reads.into_inner(), 12_000);
    // A file that was being read when it was looked at may have stayed.
    assert!(cache.open_files() <= 5 + 4, "{}", cache.open_files());
    assert!(cache.close(100) <= 9);
    assert_eq!(cache.open_files(), 0);
}

#[test]
fn files_that_are_gone_or_others_are_told() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), 3);
    let cache = FileCache::new(8);
    let [gone, other, longer] = [0, 1, 2].map(|number| cache.open(&path(folder.path(), number)).unwrap());
    assert_eq!(cache.close(8), 3);
    fs::remove_file(path(folder.path(), 0)).unwrap();
    fs::write(folder.path().join("new"), bytes(1)).unwrap();
    fs::rename(folder.path().join("new"), path(folder.path(), 1)).unwrap();
    fs::write(path(folder.path(), 2), [1; 200]).unwrap();
    for file in [&gone, &other, &longer] {
        let error = file.read_exact_at(&mut [0; 4], 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StaleNetworkFileHandle, "{error}");
    }
    assert_eq!(gone.len(), 100);
    assert_eq!(cache.open(&path(folder.path(), 0)).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(cache.open(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    let short = cache.open(&path(folder.path(), 1)).unwrap();
    assert_eq!(short.read_exact_at(&mut [0; 4], 98).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn files_are_closed_where_others_need_the_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), 20);
    let cache = FileCache::new(100);
    let files: Vec<_> = (0..20).map(|number| cache.open(&path(folder.path(), number)).unwrap()).collect();
    let attempts = AtomicUsize::new(0);
    let full = || io::Error::from_raw_os_error(Errno::MFILE.raw_os_error());
    let work = || if attempts.fetch_add(1, Ordering::Relaxed) == 0 { Err(full()) } else { Ok(7) };
    assert_eq!(cache.with_room(work).unwrap(), 7);
    assert_eq!(cache.open_files(), 4);
    // Nothing can help where there is nothing to close.
    let error = cache.with_room(|| Err::<(), _>(full())).unwrap_err();
    assert!(is_without_descriptor(&error));
    assert_eq!(cache.open_files(), 0);
    files.iter().enumerate().for_each(|(number, file)| assert_reads(&**file, number, 3));
}

#[test]
fn files_that_nobody_has_any_more_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), 1);
    let cache = FileCache::new(1000);
    for _ in 0..1000 {
        drop(cache.open(&path(folder.path(), 0)).unwrap());
    }
    assert!(cache.lock().len() < 10);
}

#[test]
fn half_of_the_descriptors_are_for_cached_files() {
    assert_eq!([0, 40, 128, 1024].map(files_max), [8, 8, 48, 496]);
    raise_descriptor_limit();
    assert_eq!(Some(descriptors_max()), getrlimit(Resource::Nofile).maximum.or(Some(u64::MAX)));
}
