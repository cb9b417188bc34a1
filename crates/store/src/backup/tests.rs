//! Round trips, what a second backup writes, what is refused, and backups while others commit.

use super::*;
use crate::check::check;
use crate::compact::{CompactOptions, compact};
use crate::crash_tests::{NEW, OLD, read_all, try_load};
use crate::load::LoadProgress;
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::{commit, open};
use crate::write_guard::WriteGuard;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::{ReadAt, WriteFile};
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;

pub(super) const BACKUP_FOLDER: &str = "/backups/db";

/// The quads in a folder, after a check that finds nothing.
pub(super) fn sound_contents(vfs: &MemVfs, folder: &str) -> Result<BTreeSet<String>, StoreError> {
    let vfs: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let store = Store::open(Arc::clone(&vfs), Path::new(folder), 1 << 16)?;
    let report = check(&vfs, Path::new(folder), &CancelToken::default(), &mut |_| {})?;
    assert_eq!(report.problems, []);
    read_all(&store.snapshot())
}

pub(super) fn back_up(vfs: Arc<dyn Vfs>, link: bool) -> Result<BackupReport, StoreError> {
    let options = BackupOptions { link, check: false };
    let (cancel, progress) = (CancelToken::default(), BackupProgress::default());
    backup(&vfs, Path::new(FOLDER), Path::new(BACKUP_FOLDER), &options, &cancel, &progress)
}

pub(super) fn restore_to(vfs: Arc<dyn Vfs>, folder: &str, link: bool) -> Result<BackupReport, StoreError> {
    let options = BackupOptions { link, check: true };
    let (cancel, progress) = (CancelToken::default(), BackupProgress::default());
    restore(&vfs, Path::new(BACKUP_FOLDER), Path::new(folder), &options, &cancel, &progress)
}

/// Names in a folder, without the end mark that a log may have.
pub(super) fn names(vfs: &MemVfs, folder: &str) -> Vec<PathBuf> {
    let mut names = vfs.list(Path::new(folder)).unwrap();
    let logs = names.iter().filter(|name| name.to_string_lossy().starts_with("log-")).count();
    names.retain(|name| name.extension().is_none_or(|extension| extension != "end"));
    let marks = names.iter().filter(|name| name.to_string_lossy().starts_with("log-")).count();
    assert!(logs <= 2 && marks <= 1, "{folder}: {names:?}");
    names
}

/// Puts all that was committed into segments.
pub(super) fn settle(store: &Store) {
    let cancel = CancelToken::default();
    WriteGuard::lock(store, &cancel).unwrap().settle(&cancel).unwrap();
}

/// A database of two segments and some transactions.
pub(super) fn database() -> MemVfs {
    let vfs = MemVfs::new();
    try_load(Arc::new(vfs.clone()), OLD, 1 << 30).unwrap();
    try_load(Arc::new(vfs.clone()), NEW, 1 << 30).unwrap();
    let store = open(Arc::new(vfs.clone())).unwrap();
    for step in 0..3 {
        commit(&store, step).unwrap();
    }
    vfs
}

#[test]
fn a_backup_is_read_as_a_database_and_restored_to_one() {
    for link in [false, true] {
        let vfs = database();
        let expected = sound_contents(&vfs, FOLDER).unwrap();
        let report = back_up(Arc::new(vfs.clone()), link).unwrap();
        assert_eq!((report.segments, report.segments_kept), (2, 0));
        assert_eq!(report.quads, expected.len() as u64);
        assert_eq!(report.files_linked > 0, link);
        assert_eq!(report.bytes, report.bytes_copied + report.bytes_linked);
        assert_eq!(sound_contents(&vfs, BACKUP_FOLDER).unwrap(), expected);
        let written = Store::create_or_open(Arc::new(vfs.clone()), Path::new(BACKUP_FOLDER), 0);
        assert!(matches!(written, Err(StoreError::IsBackup { .. })));
        let back = restore_to(Arc::new(vfs.clone()), "/new/db", link).unwrap();
        assert_eq!((back.quads, back.version, back.bytes), (report.quads, report.version, report.bytes));
        assert_eq!(sound_contents(&vfs, "/new/db").unwrap(), expected);
        // It is a database like any other, and what becomes of it does not touch the backup, nor the first database.
        let store = Store::create_or_open(Arc::new(vfs.clone()), Path::new("/new/db"), 1 << 16).unwrap();
        commit(&store, 7).unwrap();
        compact(&store, &CompactOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
        assert_ne!(sound_contents(&vfs, "/new/db").unwrap(), expected);
        for folder in [FOLDER, BACKUP_FOLDER] {
            assert_eq!(sound_contents(&vfs, folder).unwrap(), expected);
        }
    }
}

#[test]
fn an_empty_database_too() {
    let vfs = MemVfs::new();
    drop(open(Arc::new(vfs.clone())).unwrap());
    back_up(Arc::new(vfs.clone()), true).unwrap();
    restore_to(Arc::new(vfs.clone()), "/new", false).unwrap();
    assert_eq!(sound_contents(&vfs, "/new").unwrap(), BTreeSet::new());
}

/// Notes which files are made.
#[derive(Debug, Clone, Default)]
struct NotingVfs {
    inner: MemVfs,
    made: Arc<Mutex<Vec<PathBuf>>>,
}

impl NotingVfs {
    fn take(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.made.lock().unwrap())
    }
}

impl Vfs for NotingVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.inner.open(path)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.made.lock().unwrap().push(path.to_owned());
        self.inner.create(path)
    }
    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        self.inner.open_append(path, len)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir_all(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.inner.list(path)
    }
    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.made.lock().unwrap().push(to.to_owned());
        self.inner.hard_link(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }
    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock(path, exclusive)
    }
}

#[test]
fn a_second_backup_brings_only_what_is_new() {
    let vfs = NotingVfs { inner: database(), ..NotingVfs::default() };
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let in_backup = |name: &str| Path::new(BACKUP_FOLDER).join(name);
    back_up(Arc::clone(&shared), true).unwrap();
    vfs.take();
    // Nothing.
    let report = back_up(Arc::clone(&shared), true).unwrap();
    assert_eq!(vfs.take(), Vec::<PathBuf>::new());
    assert_eq!((report.segments_kept, report.bytes_kept), (2, report.bytes));
    // More in the log.
    let store = open(Arc::clone(&shared)).unwrap();
    commit(&store, 4).unwrap();
    vfs.take();
    let report = back_up(Arc::clone(&shared), true).unwrap();
    assert_eq!(vfs.take(), ["BACKUP.tmp", "log-000001.end.tmp"].map(in_backup));
    assert_eq!((report.segments_kept, report.files_copied), (2, 1));
    // A new segment.
    settle(&store);
    vfs.take();
    let report = back_up(Arc::clone(&shared), true).unwrap();
    assert_eq!(report.segments_kept, 2);
    let made = vfs.take();
    let old = ["segment-000001", "segment-000002"].map(in_backup);
    assert!(
        made.len() > 2 && !made.iter().any(|path| old.iter().any(|old| path.starts_with(old))),
        "{made:?}"
    );
    // Others in the place of those that were there, which go.
    compact(&store, &CompactOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    let report = back_up(Arc::clone(&shared), false).unwrap();
    assert_eq!((report.segments, report.segments_kept, report.files_linked), (1, 0, 0));
    let (here, mut there) = (names(&vfs.inner, FOLDER), names(&vfs.inner, BACKUP_FOLDER));
    there.retain(|name| name.as_os_str() != "BACKUP");
    assert!(here.len() == there.len() + 2 && there.iter().all(|name| here.contains(name)), "{there:?}");
    let expected = sound_contents(&vfs.inner, FOLDER).unwrap();
    assert_eq!(sound_contents(&vfs.inner, BACKUP_FOLDER).unwrap(), expected);
}

#[test]
fn what_is_there_is_never_overwritten() {
    let vfs = database();
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let to = |target: &str| {
        let (cancel, progress) = (CancelToken::default(), BackupProgress::default());
        backup(&shared, Path::new(FOLDER), Path::new(target), &BackupOptions::default(), &cancel, &progress)
    };
    vfs.create_dir_all(Path::new("/photos")).unwrap();
    drop(vfs.create(Path::new("/photos/cat.jpg")).unwrap());
    let message = |target: &str| to(target).unwrap_err().to_string();
    assert!(message("/photos").contains("something else than a backup"));
    assert!(message("/photos/cat.jpg").contains("this is a file"));
    // A database is no backup, nor is one that was made of a backup.
    assert!(message(FOLDER).contains("something else than a backup"));
    to(BACKUP_FOLDER).unwrap();
    restore_to(Arc::clone(&shared), "/restored", false).unwrap();
    assert!(message("/restored").contains("something else than a backup"));
    for folder in ["/restored", "/photos", "/photos/cat.jpg"] {
        assert!(matches!(restore_to(Arc::clone(&shared), folder, false), Err(StoreError::NotEmpty { .. })));
    }
    // A database that was restored and went another way: in the log, and then in its segments.
    let store = open(Arc::clone(&shared)).unwrap();
    let restored = Store::create_or_open(Arc::clone(&shared), Path::new("/restored"), 1 << 16).unwrap();
    let (cancel, progress) = (CancelToken::default(), BackupProgress::default());
    for is_settled in [false, true] {
        commit(&store, 4).unwrap();
        commit(&restored, 5).unwrap();
        if is_settled {
            settle(&store);
            settle(&restored);
        }
        to(BACKUP_FOLDER).unwrap();
        let held = sound_contents(&vfs, BACKUP_FOLDER).unwrap();
        let error = restored.backup(Path::new(BACKUP_FOLDER), &BackupOptions::default(), &cancel, &progress);
        assert!(error.unwrap_err().to_string().contains("gone another way"));
        assert_eq!(sound_contents(&vfs, BACKUP_FOLDER).unwrap(), held);
    }
    // Another database.
    let other = Store::create_or_open(Arc::clone(&shared), Path::new("/other"), 1 << 16).unwrap();
    let error = other.backup(Path::new(BACKUP_FOLDER), &BackupOptions::default(), &cancel, &progress);
    assert!(error.unwrap_err().to_string().contains("of another database"));
    let nothing =
        restore(&shared, Path::new("/none"), Path::new("/x"), &BackupOptions::default(), &cancel, &progress);
    assert!(matches!(nothing, Err(StoreError::NoBackup { .. })));
}

#[test]
fn damage_is_not_restored() {
    let vfs = database();
    back_up(Arc::new(vfs.clone()), false).unwrap();
    let expected = sound_contents(&vfs, FOLDER).unwrap();
    let files = vfs.files().into_iter().filter(|path| path.starts_with(BACKUP_FOLDER));
    for path in files.filter(|path| !path.ends_with("BACKUP")) {
        let good = vfs.read(&path).unwrap();
        for at in (0..good.len()).step_by((good.len() / 7).max(1)) {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            vfs.overwrite(&path, bad).unwrap();
            match restore_to(Arc::new(vfs.clone()), "/new", false) {
                // The log is whole, and gets another mark.
                Ok(report) if path.ends_with("log-000001.end") => {
                    assert!(report.note.unwrap().contains("its end mark is damaged"));
                    assert_eq!(sound_contents(&vfs, "/new").unwrap(), expected);
                    vfs.remove_dir_all(Path::new("/new")).unwrap();
                }
                Ok(_) => panic!("{} at {at}", path.display()),
                Err(StoreError::Corruption { file, .. }) => {
                    assert!(file.starts_with(BACKUP_FOLDER), "{file}");
                }
                Err(StoreError::Version { .. } | StoreError::Limit(_)) => {}
                Err(error) => panic!("{} at {at}: {error}", path.display()),
            }
            assert!(!vfs.exists(Path::new("/new")));
        }
        vfs.overwrite(&path, good).unwrap();
    }
    assert_eq!(sound_contents(&vfs, BACKUP_FOLDER).unwrap(), expected);
}

/// Inserts a quad with the next number, in the write lock, so that numbers are committed in their order.
fn insert_next(store: &Store, next: &AtomicU64) -> u64 {
    let mut transaction = store.begin(&CancelToken::default()).unwrap();
    let number = next.fetch_add(1, Ordering::SeqCst) + 1;
    let iri = |text: String| Term::from(NamedNode::new_unchecked(text));
    let terms = [iri(format!("http://s{number}")), iri("http://p".to_owned()), Literal::from(number).into()];
    let mut row = [ValueId::DEFAULT_GRAPH; 4];
    for (id, term) in row.iter_mut().zip(terms) {
        *id = transaction.intern(&term).unwrap().unwrap();
    }
    transaction.insert(row);
    transaction.commit().unwrap();
    number
}

#[test]
fn indexes_beside_segments_are_not_copied() {
    let vfs = database();
    let segment = Path::new(FOLDER).join("segment-000001");
    let plant = |name: &str| vfs.create(&segment.join(name)).unwrap().write_all(name.as_bytes()).unwrap();
    plant("words-3.lode");
    plant("words-2.perm");
    back_up(Arc::new(vfs.clone()), false).unwrap();
    // Others have come, and one has changed: the next backup goes on all the same.
    plant("places-1.perm");
    plant("places.lode.new");
    plant("words-3.rows");
    vfs.create(&segment.join("words-3.lode")).unwrap().write_all(b"of another length").unwrap();
    back_up(Arc::new(vfs.clone()), false).unwrap();
    let found = vfs.list(&Path::new(BACKUP_FOLDER).join("segment-000001")).unwrap();
    let of_indexes =
        |name: &PathBuf| ["words", "places"].iter().any(|kind| name.display().to_string().starts_with(kind));
    assert!(!found.is_empty() && !found.iter().any(of_indexes), "{found:?}");
    // A backup of before may have some.
    vfs.create(&Path::new(BACKUP_FOLDER).join("segment-000001/words-3.lode"))
        .unwrap()
        .write_all(b"x")
        .unwrap();
    restore_to(Arc::new(vfs.clone()), "/restored", false).unwrap();
    assert!(!vfs.list(Path::new("/restored/segment-000001")).unwrap().iter().any(of_indexes));
}

#[test]
fn backups_while_others_commit_hold_the_beginning_of_what_was_committed() {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                // So many that the backups are among them, and not more while a slow machine makes them.
                for _ in (0..300).take_while(|_| !stop.load(Ordering::Relaxed)) {
                    insert_next(&store, &next);
                }
            });
        }
        scope.spawn(|| {
            for _ in (0..40).take_while(|_| !stop.load(Ordering::Relaxed)) {
                compact(&store, &CompactOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
            }
        });
        let _stop = StopAtEnd(&stop);
        for round in 0..12 {
            let acknowledged = insert_next(&store, &next);
            let link = round % 4 < 2;
            if round % 2 == 0 {
                let (cancel, progress) = (CancelToken::default(), BackupProgress::default());
                let options = BackupOptions { link, check: true };
                store.backup(Path::new(BACKUP_FOLDER), &options, &cancel, &progress).unwrap();
            } else {
                // As another process does it.
                back_up(Arc::new(vfs.clone()), link).unwrap();
            }
            let began = next.load(Ordering::SeqCst);
            let found = sound_contents(&vfs, BACKUP_FOLDER).unwrap();
            assert!((acknowledged..=began).contains(&(found.len() as u64)));
            let words = found.iter().flat_map(|quad| quad.split(' '));
            let subjects: BTreeSet<&str> = words.filter(|word| word.starts_with("<http://s")).collect();
            for number in 1..=found.len() {
                assert!(subjects.contains(format!("<http://s{number}>").as_str()), "{number} is missing");
            }
        }
    });
}

/// Ends the other threads also where the test fails.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn nobody_makes_a_database_where_one_is_being_restored() {
    let vfs = database();
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    back_up(Arc::clone(&shared), false).unwrap();
    let folder = Path::new("/restored");
    // As a restore begins, and where one was killed.
    vfs.create_dir_all(folder).unwrap();
    let lock = vfs.lock(&folder.join("LOCK"), true).unwrap();
    let restore = |cancel: &CancelToken| {
        let (options, progress) = (BackupOptions::default(), BackupProgress::default());
        crate::restore(&shared, Path::new(BACKUP_FOLDER), folder, &options, cancel, &progress)
    };
    assert!(matches!(restore(&CancelToken::default()), Err(StoreError::Locked { .. })));
    vfs.create_dir_all(&folder.join("segment-000001")).unwrap();
    drop(vfs.create(&folder.join("RESTORING")).unwrap());
    let open = || crate::Store::create_or_open(Arc::clone(&shared), folder, 0);
    assert!(matches!(open(), Err(StoreError::Locked { .. })));
    drop(lock);
    assert!(matches!(open(), Err(StoreError::RestoreUnfinished { .. })));
    assert!(matches!(
        crate::Store::open(Arc::clone(&shared), folder, 0),
        Err(StoreError::RestoreUnfinished { .. })
    ));
    assert!(vfs.exists(&folder.join("segment-000001")));
    vfs.remove_dir_all(folder).unwrap();
    // One that ends leaves a database, and nothing else.
    restore(&CancelToken::default()).unwrap();
    assert!(!vfs.exists(&folder.join("RESTORING")));
    assert!(vfs.exists(&folder.join("MANIFEST.copy")));
    let store = open().unwrap();
    // Nor does a restore take the place of a database that is being made.
    drop(store);
    assert!(matches!(restore(&CancelToken::default()), Err(StoreError::NotEmpty { .. })));
}

/// Files of the backup that are files of the database.
pub(super) fn shared_files(vfs: &MemVfs) -> usize {
    let of =
        |folder: &str| vfs.files().into_iter().filter(|path| path.starts_with(folder)).collect::<Vec<_>>();
    let here = of(FOLDER);
    let is_shared = |path: &PathBuf| here.iter().any(|own| vfs.is_same_file(own, path).unwrap());
    of(BACKUP_FOLDER).iter().filter(|path| is_shared(path)).count()
}

#[test]
fn a_copy_onto_a_linked_backup_shares_nothing_with_the_database() {
    let vfs = database();
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    back_up(Arc::clone(&shared), true).unwrap();
    assert!(shared_files(&vfs) > 10);
    let report = back_up(Arc::clone(&shared), false).unwrap();
    assert_eq!((shared_files(&vfs), report.segments_kept, report.files_linked), (0, 0, 0));
    assert!(report.bytes_copied > 0 && report.bytes_kept + report.bytes_copied <= report.bytes, "{report:?}");
    let (here, there) = (names(&vfs, FOLDER).len(), names(&vfs, BACKUP_FOLDER).len());
    assert_eq!(here, there + 1);
    let expected = sound_contents(&vfs, BACKUP_FOLDER).unwrap();
    // Now it is whole by itself, and there is nothing to do.
    let report = back_up(Arc::clone(&shared), false).unwrap();
    assert_eq!((report.files_copied, report.bytes_kept), (0, report.bytes));
    vfs.overwrite(&Path::new(FOLDER).join("segment-000001/spog.perm"), vec![7; 9]).unwrap();
    assert_eq!(sound_contents(&vfs, BACKUP_FOLDER).unwrap(), expected);
}

#[test]
fn a_check_reads_also_what_was_there_before() {
    let vfs = database();
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    back_up(Arc::clone(&shared), false).unwrap();
    let file = Path::new(BACKUP_FOLDER).join("segment-000001/posg.perm");
    let mut bytes = vfs.read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    vfs.overwrite(&file, bytes).unwrap();
    let (cancel, progress) = (CancelToken::default(), BackupProgress::default());
    let options = BackupOptions { link: false, check: true };
    let error = backup(&shared, Path::new(FOLDER), Path::new(BACKUP_FOLDER), &options, &cancel, &progress);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("posg.perm: damaged") && error.contains("in a new folder"), "{error}");
}

#[test]
fn a_backup_that_has_lost_its_manifest_is_made_whole_again() {
    let vfs = database();
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let manifest = Path::new(BACKUP_FOLDER).join("MANIFEST");
    let other = Store::create_or_open(Arc::clone(&shared), Path::new("/other"), 1 << 16).unwrap();
    for is_removed in [true, false] {
        back_up(Arc::clone(&shared), false).unwrap();
        let expected = sound_contents(&vfs, BACKUP_FOLDER).unwrap();
        if is_removed {
            vfs.remove(&manifest).unwrap();
        } else {
            vfs.overwrite(&manifest, b"lodestore 4".to_vec()).unwrap();
        }
        for error in [
            Store::open(Arc::clone(&shared), Path::new(BACKUP_FOLDER), 0).map(drop).unwrap_err(),
            restore_to(Arc::clone(&shared), "/restored", false).map(drop).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(text.contains("`lode backup`") && text.contains("remove the file BACKUP"), "{text}");
        }
        // As these say: without the database, of a copy.
        let copy = vfs.deep_copy();
        copy.remove(&Path::new(BACKUP_FOLDER).join("BACKUP")).unwrap();
        crate::remake_manifest(&copy, Path::new(BACKUP_FOLDER)).unwrap().unwrap();
        assert_eq!(sound_contents(&copy, BACKUP_FOLDER).unwrap(), expected);
        // With the database.
        let (cancel, progress) = (CancelToken::default(), BackupProgress::default());
        let refused = other.backup(Path::new(BACKUP_FOLDER), &BackupOptions::default(), &cancel, &progress);
        assert!(refused.unwrap_err().to_string().contains("another database"));
        let report = back_up(Arc::clone(&shared), false).unwrap();
        assert_eq!(report.segments_kept, 2);
        assert_eq!(sound_contents(&vfs, BACKUP_FOLDER).unwrap(), expected);
    }
}
