//! Databases whose files are spread over folders: loaded, asked, compacted, backed up, moved and removed as others.

use crate::lode::Lode;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const QUERY: &str = "SELECT ?s ?o { ?s <http://e/p3> ?o } ORDER BY ?s ?o";

fn lines(range: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    for i in range {
        // Long enough for several chunks.
        let noise = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        writeln!(text, "<http://e/s{}> <http://e/p{}> \"{noise:016x} {i} {:016x}\" .", i / 5, i % 5, !noise)
            .unwrap();
    }
    text
}

/// Files of parts in a stripe folder.
fn parts(folder: &Path) -> Vec<PathBuf> {
    let entries =
        |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let below: Vec<PathBuf> = entries(folder).flat_map(|own| entries(&own).collect::<Vec<_>>()).collect();
    below.into_iter().filter(|path| path.extension().is_some_and(|end| end == "part")).collect()
}

fn lode_with_data() -> Lode {
    let lode = Lode::new();
    std::fs::write(lode.path("a.nt"), lines(0..40_000)).unwrap();
    std::fs::write(lode.path("b.nt"), lines(40_000..60_000)).unwrap();
    lode
}

#[test]
fn answers_are_those_of_a_database_in_one_folder() {
    let lode = lode_with_data();
    let disks = ["d0", "d1"].map(|name| lode.path(name));
    lode.run(&["load", "plain", "a.nt", "b.nt", "--quiet"]).ok();
    lode.run(&["load", "db", "a.nt", "--quiet", "--stripe", "d0", "--stripe", "d1"]).ok();
    // It remembers.
    lode.run(&["load", "db", "b.nt", "--quiet", "--no-merge", "--memory", "48MiB"]).ok();
    let ask = |database: &str| lode.run(&["query", database, QUERY, "--format", "csv"]).ok();
    let wanted = ask("plain");
    assert_eq!(ask("db"), wanted);
    assert!(disks.iter().all(|disk| !parts(disk).is_empty()));
    lode.run(&["update", "db", "INSERT DATA { <http://e/x> <http://e/y> 1 }"]).ok();
    lode.run(&["compact", "db", "--quiet"]).ok();
    lode.run(&["check", "db", "--quiet"]).ok();
    lode.run(&["text", "db", "--quiet"]).ok();
    assert_eq!(ask("db"), wanted);
    let stats = lode.run(&["stats", "db"]).ok();
    assert!(stats.contains("spread over the folders") && stats.contains("/d1\n"), "{stats}");
    let shown = lode.run(&["stripe", "db"]).ok();
    assert_eq!(shown.lines().count(), 2);
    // Whole elsewhere.
    lode.run(&["backup", "db", "backup", "--quiet"]).ok();
    assert_eq!(ask("db"), wanted);
    lode.run(&["restore", "backup", "whole", "--quiet"]).ok();
    lode.run(&["restore", "backup", "other", "--quiet", "--stripe", "d0"]).ok();
    let published = format!("file://{}", lode.path("published").display());
    lode.run(&["publish", "db", &published, "--quiet"]).ok();
    let check = lode.run(&["check", &published]);
    assert!(check.err.contains("version 1 is whole"), "{check:?}");
    check.ok();
    assert_eq!((ask("whole"), ask("other"), ask(&published)), (wanted.clone(), wanted.clone(), wanted));
    assert!(!lode.path("whole/stripes").exists() && lode.path("other/stripes").exists());
}

#[test]
fn folders_that_move_or_are_missing_are_told() {
    let lode = lode_with_data();
    // An empty database, too.
    std::fs::create_dir(lode.path("db")).unwrap();
    lode.run(&["stripe", "db", "d0", "d1"]).ok();
    lode.run(&["load", "db", "a.nt", "--quiet"]).ok();
    let other = lode.run(&["load", "db", "b.nt", "--quiet", "--stripe", "d2"]);
    assert!(other.code == 1 && other.err.contains("other stripe folders"), "{other:?}");
    std::fs::create_dir(lode.path("d2")).unwrap();
    let own = std::fs::read_dir(lode.path("d1")).unwrap().next().unwrap().unwrap().file_name();
    std::fs::rename(lode.path("d1").join(&own), lode.path("d2").join(&own)).unwrap();
    for command in
        [&["query", "db", "ASK {}"][..], &["check", "db"], &["load", "db", "b.nt"], &["stripe", "db"]]
    {
        let run = lode.run(command);
        let is_told = run.err.contains("d1") || run.out.contains("d1");
        // What a check finds is damage; what others need is missing.
        let code = if command[0] == "check" { 6 } else { 1 };
        assert!(run.code == code && is_told, "{command:?}: {run:?}");
    }
    let nowhere = lode.run(&["stripe", "db", "--move", "d1", "/nonexist"]).fails(1);
    let advice = format!("move {} to /nonexist/", lode.path("d1").join(&own).display());
    assert!(nowhere.contains(&advice) && !nowhere.contains("--move"), "{nowhere}");
    lode.run(&["stripe", "db", "--move", "d1", "d2"]).ok();
    let check = lode.run(&["check", "db", "--quiet"]);
    assert!(check.err.contains("stripe folder") && check.err.contains("/d2: parts of"), "{check:?}");
    check.ok();
}

/// Each kind of damage: a part that is gone, cut or changed, a stub, the list of folders, a mark.
#[test]
fn a_check_tells_each_kind_of_damage() {
    let lode = lode_with_data();
    lode.run(&["load", "db", "a.nt", "--quiet", "--stripe", "d0", "--stripe", "d1"]).ok();
    lode.run(&["check", "db", "--quiet"]).ok();
    let damaged = |path: &Path, bytes: Option<&[u8]>, remedy: &str| {
        let sound = std::fs::read(path).unwrap();
        match bytes {
            Some(bytes) => std::fs::write(path, bytes).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
        let check = lode.run(&["check", "db", "--quiet"]);
        assert_eq!(check.code, 6, "{path:?}: {check:?}");
        let first = check.out.lines().next().unwrap_or_default();
        assert!(first.contains(": byte "), "{path:?}: {check:?}");
        assert!(check.err.contains(remedy) && check.err.contains("damaged: "), "{path:?}: {check:?}");
        std::fs::write(path, sound).unwrap();
        check.out
    };
    for part in parts(&lode.path("d0")).into_iter().chain(parts(&lode.path("d1"))) {
        let name = part.to_str().unwrap();
        let bytes = std::fs::read(&part).unwrap();
        assert!(damaged(&part, None, "").contains(name));
        let cut = damaged(&part, Some(&bytes[..bytes.len() - 1]), "");
        assert!(
            cut.contains(name) && cut.contains(&format!("{} bytes of {}", bytes.len() - 1, bytes.len())),
            "{cut}"
        );
        let mut other = bytes.clone();
        other[bytes.len() / 2] ^= 1;
        damaged(&part, Some(&other), "");
    }
    let stub = lode.path("db/segment-000001/dict.lode");
    let mut bytes = std::fs::read(&stub).unwrap();
    assert!(bytes.starts_with(b"LODESTRP"));
    // The last whole record counts, so none is left whole.
    bytes.iter_mut().skip(30).step_by(72).for_each(|byte| *byte ^= 1);
    assert!(damaged(&stub, Some(&bytes), "restore").contains("dict.lode"));
    assert!(damaged(&lode.path("db/stripes"), Some(b"nonsense"), "lode stripe DB").contains("db/stripes"));
    let own = std::fs::read_dir(lode.path("d1")).unwrap().next().unwrap().unwrap().path();
    assert!(damaged(&own.join("stripe"), Some(b"nonsense"), "--move OLD NEW").contains("/d1: byte 0"));
    let owner = own.join("owner");
    let mut bytes = std::fs::read(&owner).unwrap();
    bytes[25] ^= 4;
    assert!(damaged(&owner, Some(&bytes), "writes to the database").contains("(owner) is damaged"));
    assert!(damaged(&owner, None, "writes to the database").contains("(owner) is missing"));
    assert!(damaged(&lode.path("db/MANIFEST"), Some(b"nonsense"), "--salvage").contains("MANIFEST"));
    lode.run(&["check", "db", "--quiet"]).ok();
}

/// As a restore is left that was killed: by the next one it goes, also from the stripe folders.
#[test]
fn a_restore_that_did_not_end_is_removed_by_the_next() {
    let lode = lode_with_data();
    lode.run(&["load", "db", "a.nt", "--quiet"]).ok();
    lode.run(&["backup", "db", "backup", "--quiet"]).ok();
    let restore = |stripes: &[&str]| {
        let mut command = vec!["restore", "backup", "new", "--quiet"];
        stripes.iter().for_each(|folder| command.extend(["--stripe", folder]));
        lode.run(&command)
    };
    let own = |folder: &str| std::fs::read_dir(lode.path(folder)).map_or(0, Iterator::count);
    restore(&["d0", "d1"]).ok();
    std::fs::remove_file(lode.path("new/MANIFEST")).unwrap();
    std::fs::write(lode.path("new/RESTORING"), "").unwrap();
    let told = lode.run(&["query", "new", "ASK {}"]).fails(1);
    assert!(told.contains("restore again"), "{told}");
    // Into other folders, then into none.
    let again = restore(&["d2"]);
    assert!(again.err.contains("removed what a restore had left"), "{again:?}");
    again.ok();
    assert_eq!((own("d0"), own("d1"), own("d2")), (0, 0, 1));
    lode.run(&["check", "new", "--quiet"]).ok();
    // What is whole is not touched.
    assert!(restore(&["d2"]).fails(1).contains("not empty"));
    lode.run(&["check", "new", "--quiet"]).ok();
    std::fs::remove_file(lode.path("new/MANIFEST")).unwrap();
    std::fs::write(lode.path("new/RESTORING"), "").unwrap();
    // What somebody has put there stays.
    lode.write("new/notes.txt", "mine");
    assert!(restore(&[]).fails(1).contains("not empty"));
    std::fs::remove_file(lode.path("new/notes.txt")).unwrap();
    restore(&[]).ok();
    assert!(own("d2") == 0 && !lode.path("new/stripes").exists());
    lode.run(&["check", "new", "--quiet"]).ok();
    // Where the folder of a database was removed by hand, the check of another one on the same disks says so.
    lode.run(&["load", "one", "a.nt", "--quiet", "--stripe", "d0"]).ok();
    lode.run(&["load", "two", "a.nt", "--quiet", "--stripe", "d0"]).ok();
    std::fs::remove_dir_all(lode.path("two")).unwrap();
    let check = lode.run(&["check", "one"]);
    assert!(check.err.contains("rm -r") && check.err.contains("/two and is not there"), "{check:?}");
    check.ok();
}

#[test]
fn what_fails_leaves_nothing_behind() {
    let lode = lode_with_data();
    std::fs::write(lode.path("bad.nt"), "this is no triple\n").unwrap();
    let bad = lode.run(&["load", "db", "bad.nt", "--quiet", "--stripe", "d0"]);
    assert_eq!(bad.code, 4, "{bad:?}");
    assert!(!lode.path("db").exists());
    assert_eq!(std::fs::read_dir(lode.path("d0")).unwrap().count(), 0);
    let bad = lode.run(&["restore", "none", "db", "--quiet", "--stripe", "d0"]);
    assert_eq!(bad.code, 1, "{bad:?}");
    assert_eq!(std::fs::read_dir(lode.path("d0")).unwrap().count(), 0);
    for stripes in [&["db/x"][..], &["d0", "d0"]] {
        let refused = lode.run(&[&["stripe", "db"], stripes].concat());
        assert_eq!(refused.code, 1, "{refused:?}");
    }
}

/// What a check says of the folders of other databases on the same disks, and that what it says to do mends it.
#[test]
fn damage_of_another_database_is_told_as_that() {
    let lode = lode_with_data();
    for database in ["one", "two"] {
        lode.run(&["load", database, "a.nt", "--quiet", "--stripe", "d0", "--stripe", "d1"]).ok();
    }
    let said = || {
        let check = lode.run(&["check", "one", "--quiet"]);
        assert_eq!(check.code, 0, "{check:?}");
        check.err
    };
    assert!(!said().contains("two") && said().contains("another database has files there"), "{}", said());
    let list = std::fs::read(lode.path("two/stripes")).unwrap();
    let own = |folder: &str| {
        let id = String::from_utf8_lossy(&list)
            .lines()
            .find_map(|line| line.strip_prefix("id ").map(str::to_owned));
        lode.path(folder).join(format!("lode-{}", id.unwrap()))
    };
    // A byte of its mark.
    let owner = own("d1").join("owner");
    let mut bytes = std::fs::read(&owner).unwrap();
    bytes[25] ^= 4;
    std::fs::write(&owner, bytes).unwrap();
    assert!(
        said().contains("mark that tells whose (owner) is damaged") && !said().contains("rm -r"),
        "{}",
        said()
    );
    lode.run(&["check", "two", "--quiet"]).fails(6);
    lode.run(&["update", "two", "INSERT DATA { <http://e/x> <http://e/y> 1 }"]).ok();
    assert!(!said().contains("damaged"), "{}", said());
    // A byte of its list, whichever.
    for at in (0..list.len()).step_by(11) {
        let mut bytes = list.clone();
        bytes[at] ^= 4;
        std::fs::write(lode.path("two/stripes"), bytes).unwrap();
        let refused = lode.run(&["query", "two", "ASK {}"]).fails(1);
        assert!(
            refused.contains("list of the stripe folders") && refused.contains("lode stripe"),
            "{refused}"
        );
    }
    let told = said();
    assert!(
        told.contains("/two/stripes) is damaged") && told.contains("lode check ") && !told.contains("rm -r"),
        "{told}"
    );
    lode.run(&["check", "two", "--quiet"]).fails(6);
    assert!(lode.run(&["stripe", "two", "d0"]).fails(1).contains("not all of the folders"));
    lode.run(&["stripe", "two", "d1", "d0"]).ok();
    lode.run(&["check", "two", "--quiet"]).ok();
    assert!(!said().contains("damaged"), "{}", said());
    // What kills leave.
    std::fs::create_dir(lode.path("d0/lode-00000000000000000000000000000007")).unwrap();
    std::fs::create_dir(lode.path("d0/lode-making-0000000000000007")).unwrap();
    assert_eq!(said().matches("left by a command that was stopped").count(), 2, "{}", said());
}

#[test]
fn a_folder_in_the_place_of_a_manifest_is_damage() {
    let lode = lode_with_data();
    lode.run(&["load", "db", "a.nt", "--quiet"]).ok();
    std::fs::remove_file(lode.path("db/MANIFEST")).unwrap();
    std::fs::create_dir(lode.path("db/MANIFEST")).unwrap();
    let check = lode.run(&["check", "db", "--quiet"]);
    assert!(check.code == 6 && check.err.contains("--salvage"), "{check:?}");
    assert!(lode.run(&["query", "db", "ASK {}"]).fails(1).contains("a folder is in its place"));
    lode.run(&["check", "db", "--salvage", "--quiet"]).ok();
    lode.run(&["check", "db", "--quiet"]).ok();
}

#[test]
fn slips_in_names_of_stripe_folders_are_told() {
    let lode = lode_with_data();
    let load = |stripe: &str| lode.run(&["load", "db", "a.nt", "--stripe", stripe]);
    let commas = load("d0,d1").fails(1);
    assert!(commas.contains("--stripe d0 --stripe d1"), "{commas}");
    let commas = lode.run(&["stripe", "db", "d0,d1"]).fails(1);
    assert!(commas.ends_with("one by one: d0 d1\n") && !lode.path("d0,d1").exists(), "{commas}");
    assert!(!lode.path("db").exists());
    // One that there is may be called so.
    std::fs::create_dir(lode.path("a,b")).unwrap();
    let made = lode.run(&["load", "db", "a.nt", "--stripe", "a,b", "--stripe", "d1"]);
    assert!(made.err.contains("made the stripe folder d1\n") && !made.err.contains("folder a,b"), "{made:?}");
    made.ok();
}

#[test]
fn what_is_no_database_is_not_made_one_and_what_is_one_is_told_what_to_do() {
    let lode = lode_with_data();
    for folders in [&[][..], &["d0"], &["d0", "d1"]] {
        let told = lode.run(&[&["stripe", "nope.db"], folders].concat()).fails(1);
        assert!(
            told.contains("there is no database at nope.db: lode load nope.db FILES --stripe DIR"),
            "{told}"
        );
        assert!(!lode.path("nope.db").exists() && !lode.path("d0").exists());
    }
    lode.run(&["load", "db", "a.nt", "--quiet"]).ok();
    let told = lode.run(&["load", "db", "b.nt", "--stripe", "d0"]);
    assert!(
        told.err.contains("what db has stays in its own folder")
            && told.err.contains("lode compact db --force"),
        "{told:?}"
    );
    told.ok();
    let before = parts(&lode.path("d0")).len();
    let again = lode.run(&["load", "db", "b.nt", "--stripe", "d0"]);
    assert!(!again.err.contains("stays in its own folder"), "{again:?}");
    lode.run(&["compact", "db", "--force", "--quiet"]).ok();
    assert!(before > 0 && !parts(&lode.path("d0")).is_empty());
    lode.run(&["check", "db", "--quiet"]).ok();
    let fresh = lode.run(&["load", "other", "b.nt", "--stripe", "d0"]);
    assert!(!fresh.err.contains("stays in its own folder"), "{fresh:?}");
}
