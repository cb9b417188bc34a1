//! What is read over a network is kept on local disk, verified, and asked for once.

use crate::web_server::WebServer;
use crate::*;
use lode_remote::CacheOptions;
use std::fs;
use std::path::PathBuf;

/// A published database of some extents, and what it holds.
pub fn published() -> (MemVfs, MemVfs, Vec<String>) {
    let (vfs, target) = (database(60_000), MemVfs::new());
    publish(&vfs, &store(&target));
    let all = contents(&open(&shared(&vfs))).unwrap();
    (vfs, target, all)
}

pub fn cache(folder: &Path) -> ReadOptions {
    let cache = CacheOptions { folder: folder.to_owned(), bytes_max: 1 << 30 };
    ReadOptions { cache: Some(cache), ..ReadOptions::default() }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_in(&path)) } else { files.push(path) }
    }
    files
}

#[test]
fn what_was_read_once_is_not_asked_for_again() {
    let (vfs, target, all) = published();
    let (server, folder) = (WebServer::start(&target), tempfile::tempdir().unwrap());
    let read_all = || {
        let published = read(Arc::new(server.store()), &cache(folder.path())).unwrap();
        assert_eq!(published_contents(&published).unwrap(), all);
        published.counters().sample()
    };
    let cold = read_all();
    let asked = server.requests();
    assert_eq!(cold.requests as usize, asked.len(), "{asked:?}");
    assert_eq!((cold.retries, cold.cache_damaged, cold.cache_unwritten), (0, 0, 0));
    // Each extent once.
    let ranges: Vec<&String> = asked.iter().filter(|line| !line.ends_with(' ')).collect();
    assert!(
        ranges.len() > 2
            && ranges.iter().all(|range| ranges.iter().filter(|other| other == &range).count() == 1),
        "{asked:?}"
    );
    // Afterwards as if in another process: which version there is, and nothing else.
    let warm = read_all();
    assert_eq!(server.requests(), ["/data/manifest/latest ", "/data/manifest/00000000000000000002 "]);
    assert!(warm.requests == 2 && warm.cache_bytes > 0, "{warm:?}");
    // Of the next version, what is new.
    load(&shared(&vfs), 60_000, 3000);
    publish(&vfs, &store(&target));
    let published = read(Arc::new(server.store()), &cache(folder.path())).unwrap();
    assert_eq!(published_contents(&published).unwrap().len(), 63_000);
    let old = server.requests().iter().filter(|line| line.contains("index") || !line.ends_with(' ')).count();
    assert!(old < 10, "{old}");
}

#[test]
fn who_begins_at_an_old_copy_finds_the_newest() {
    let (vfs, target, _) = published();
    let copy = target.read(&Path::new(STORE).join("manifest/latest")).unwrap();
    load(&shared(&vfs), 60_000, 10);
    publish(&vfs, &store(&target));
    load(&shared(&vfs), 60_010, 10);
    publish(&vfs, &store(&target));
    target.overwrite(&Path::new(STORE).join("manifest/latest"), copy).unwrap();
    let (server, folder) = (WebServer::start(&target), tempfile::tempdir().unwrap());
    let published = read(Arc::new(server.store()), &cache(folder.path())).unwrap();
    assert_eq!((published.version().number, published.version().quads), (3, 60_020));
}

/// Whatever becomes of the files of the cache, answers are right, and what was damaged is fetched again.
#[test]
fn copies_that_are_damaged_are_fetched_again() {
    let (_, target, all) = published();
    let (server, folder) = (WebServer::start(&target), tempfile::tempdir().unwrap());
    let read_all = || {
        let published = read(Arc::new(server.store()), &cache(folder.path())).unwrap();
        assert_eq!(published_contents(&published).unwrap(), all);
        published.counters().sample()
    };
    read_all();
    let damages: [&dyn Fn(&Path); 5] = [
        &|file| {
            let mut bytes = fs::read(file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(file, bytes).unwrap();
        },
        &|file| fs::write(file, b"").unwrap(),
        &|file| fs::write(file, vec![0; fs::metadata(file).unwrap().len() as usize]).unwrap(),
        &|file| fs::File::options().write(true).open(file).unwrap().set_len(70_000).unwrap(),
        &|file| fs::remove_file(file).unwrap(),
    ];
    for damage in damages {
        files_in(folder.path()).iter().for_each(|file| damage(file));
        assert!(read_all().requests > 3);
        assert_eq!(read_all().requests, 2);
    }
    // Also while the database is open.
    let published = read(Arc::new(server.store()), &cache(folder.path())).unwrap();
    let database = published.database(&OpenOptions::with_cache(0), OpenFiles::Now).unwrap();
    for damage in damages {
        files_in(folder.path()).iter().for_each(|file| damage(file));
        assert_eq!(contents(&database).unwrap(), all);
    }
    fs::remove_dir_all(folder.path()).unwrap();
    assert_eq!(contents(&database).unwrap(), all);
}

#[test]
fn a_folder_is_read_as_files_and_through_a_cache() {
    let (_, target, all) = published();
    let published = read(Arc::new(store(&target)), &ReadOptions::default()).unwrap();
    assert_eq!(published_contents(&published).unwrap(), all);
    let folder = tempfile::tempdir().unwrap();
    let published = read(Arc::new(store(&target).remote()), &cache(folder.path())).unwrap();
    assert_eq!(published_contents(&published).unwrap(), all);
    assert!(files_in(folder.path()).len() > 3);
}

#[test]
fn many_readers_share_what_comes() {
    let (_, target, all) = published();
    let (server, folder) = (WebServer::start(&target), tempfile::tempdir().unwrap());
    let published = read(Arc::new(server.store()), &cache(folder.path())).unwrap();
    let database = published.database(&OpenOptions::with_cache(0), OpenFiles::WhenRead).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(contents(&database).unwrap(), all));
        }
    });
    let asked = server.requests();
    let ranges: Vec<&String> = asked.iter().filter(|line| !line.ends_with(' ')).collect();
    assert!(
        ranges.iter().all(|range| ranges.iter().filter(|other| other == &range).count() == 1),
        "{asked:?}"
    );
}
