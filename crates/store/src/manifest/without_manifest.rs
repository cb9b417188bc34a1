//! What a folder without a manifest is: nothing yet, a database that has lost its manifest, or something else.

use super::file_names::{
    BACKUP, BACKUP_TMP, LOCK, MANIFEST_COPY, MANIFEST_COPY_TMP, MANIFEST_TMP, PUBLISHER, PUBLISHER_TMP,
    RESERVE, RESTORING, SET_ASIDE, SNAPSHOTS, log_of,
};
use crate::error::StoreError;
use lode_base::stripes::{STRIPES_FILE, STRIPES_FILE_TMP};
use lode_base::vfs::Vfs;
use lode_packed::segment::META_FILE;
use std::path::Path;

/// Says what is in a folder that has no manifest. Only where it is [`StoreError::Missing`] may a database be made.
pub fn without_manifest(vfs: &dyn Vfs, folder: &Path) -> StoreError {
    let path = folder.to_owned();
    let Ok(names) = vfs.list(folder) else {
        return if vfs.exists(folder) {
            StoreError::NotADatabase { path }
        } else {
            StoreError::Missing { path }
        };
    };
    let names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    if has(RESTORING) {
        return StoreError::RestoreUnfinished { path };
    }
    let found = Found::of(&names);
    if has(BACKUP) {
        return StoreError::NoBackup { path, found: found.to_string() };
    }
    let is_foreign = names.iter().any(|name| !is_own_name(name));
    if found.is_nothing() {
        return if is_foreign { StoreError::NotADatabase { path } } else { StoreError::Missing { path } };
    }
    // Others may call files like ours.
    let is_ours = !is_foreign
        || has(MANIFEST_COPY)
        || names.iter().any(|name| is_segment(name) && vfs.exists(&folder.join(name).join(META_FILE)));
    if is_ours {
        StoreError::NoManifest { path, found: found.to_string() }
    } else {
        StoreError::NotADatabase { path }
    }
}

/// What there is of a database.
struct Found {
    segments: usize,
    logs: usize,
    has_snapshots: bool,
    has_copy: bool,
}

impl Found {
    fn of(names: &[String]) -> Self {
        let count = |is: &dyn Fn(&str) -> bool| names.iter().filter(|name| is(name)).count();
        Self {
            segments: count(&is_segment),
            logs: count(&is_log),
            has_snapshots: names.iter().any(|name| name == SNAPSHOTS),
            has_copy: names.iter().any(|name| name == MANIFEST_COPY),
        }
    }

    fn is_nothing(&self) -> bool {
        self.segments == 0 && self.logs == 0 && !self.has_snapshots && !self.has_copy
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |count| if count == 1 { "" } else { "s" };
        let mut parts = Vec::new();
        if self.segments > 0 {
            parts.push(format!("{} segment{}", self.segments, plural(self.segments)));
        }
        if self.logs > 0 {
            parts.push(format!("{} log{}", self.logs, plural(self.logs)));
        }
        if self.has_snapshots {
            parts.push("snapshots".to_owned());
        }
        if self.has_copy {
            parts.push("a copy of the manifest".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|number| number.len() >= 6 && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether this is the name of a segment's folder.
pub fn is_segment(name: &str) -> bool {
    is_numbered(name, "segment-")
}

/// Whether this is the name of a log, or of one that a salvage has replaced.
fn is_log(name: &str) -> bool {
    is_numbered(name.strip_suffix(".damaged").unwrap_or(name), "log-")
}

/// Whether a file may go once no manifest names it: the store made it, and it means nothing by itself.
pub fn is_disposable(name: &str) -> bool {
    [MANIFEST_TMP, MANIFEST_COPY_TMP, BACKUP_TMP, RESTORING].contains(&name)
        || name.starts_with(PUBLISHER_TMP)
        || ["segment-", "spill-", "log-"].iter().any(|prefix| is_numbered(log_of(name), prefix))
}

/// Whether a name in a database's folder is one that the store gives.
fn is_own_name(name: &str) -> bool {
    [LOCK, RESERVE, BACKUP, PUBLISHER, MANIFEST_COPY, SNAPSHOTS, SET_ASIDE].contains(&name)
        || [STRIPES_FILE, STRIPES_FILE_TMP].contains(&name)
        || is_disposable(name)
        || is_log(name)
}

#[cfg(test)]
mod tests {
    //! Each state, and what is said of it.
    use super::*;
    use crate::Store;
    use crate::crash_tests::{OLD, contents, try_load};
    use crate::test_data::FOLDER;
    use lode_base::mem_vfs::MemVfs;
    use std::io::Write;
    use std::sync::Arc;

    fn write(vfs: &MemVfs, path: &Path) {
        vfs.create_dir_all(path.parent().unwrap()).unwrap();
        drop(vfs.create(path).unwrap());
    }

    #[test]
    fn a_database_without_its_manifest_is_refused_and_stays_as_it_is() {
        for with_copy in [true, false] {
            let (vfs, folder) = (MemVfs::new(), Path::new(FOLDER));
            try_load(Arc::new(vfs.clone()), OLD, 1 << 30).unwrap();
            let manifest = vfs.read(&folder.join("MANIFEST")).unwrap();
            vfs.remove(&folder.join("MANIFEST")).unwrap();
            if !with_copy {
                vfs.remove(&folder.join(MANIFEST_COPY)).unwrap();
            }
            let before = vfs.files();
            let told = |error: StoreError| {
                let text = error.to_string();
                assert!(matches!(error, StoreError::NoManifest { .. }), "{text}");
                assert!(text.contains("1 segment") && text.contains("lode check --salvage"), "{text}");
            };
            told(Store::open(Arc::new(vfs.clone()), folder, 0).unwrap_err());
            told(Store::create_or_open(Arc::new(vfs.clone()), folder, 0).unwrap_err());
            assert!(try_load(Arc::new(vfs.clone()), OLD, 1 << 30).is_err());
            assert_eq!(vfs.files(), before);
            vfs.create(&folder.join("MANIFEST")).unwrap().write_all(&manifest).unwrap();
            assert_eq!(contents(&vfs).unwrap().len(), 23);
        }
    }

    #[test]
    fn what_is_left_of_a_database_is_told_from_other_things() {
        let state = |files: &[&str]| {
            let vfs = MemVfs::new();
            vfs.create_dir_all(Path::new(FOLDER)).unwrap();
            files.iter().for_each(|name| write(&vfs, &Path::new(FOLDER).join(name)));
            without_manifest(&vfs, Path::new(FOLDER))
        };
        for nothing in [&[][..], &["LOCK"], &["LOCK", "MANIFEST.tmp"], &["LOCK", "spill-000001/x"]] {
            assert!(matches!(state(nothing), StoreError::Missing { .. }), "{nothing:?}");
        }
        for damaged in [
            &["segment-000001/spog.perm"][..],
            &["LOCK", "log-000003"],
            &["snapshots/a/MANIFEST"],
            &["MANIFEST.copy"],
            &["log-000001.damaged"],
            &["segment-000001/segment.meta", "notes.txt"],
        ] {
            assert!(matches!(state(damaged), StoreError::NoManifest { .. }), "{damaged:?}");
        }
        for foreign in [&["cat.jpg"][..], &["log-20240101", "notes.txt"], &["snapshots/x", "notes.txt"]] {
            assert!(matches!(state(foreign), StoreError::NotADatabase { .. }), "{foreign:?}");
        }
        assert!(matches!(state(&["BACKUP", "segment-000001/x"]), StoreError::NoBackup { .. }));
        assert!(matches!(state(&["RESTORING", "segment-000001/x"]), StoreError::RestoreUnfinished { .. }));
    }
}
