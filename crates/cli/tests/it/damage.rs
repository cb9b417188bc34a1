//! Damaged orders of a database: told, and mended where there is a sound one.

use crate::lode::Lode;

fn damage(lode: &Lode, order: &str) {
    let file = lode.path(&format!("db/segment-000001/{order}.perm"));
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[30] ^= 1;
    std::fs::write(&file, bytes).unwrap();
}

#[test]
fn a_damaged_order_is_told_by_the_compaction_that_mends_it() {
    for order in ["spog", "sopg", "psog", "posg", "ospg", "opsg"] {
        let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, \"x\", <http://e/b> .");
        let before = lode.run(&["dump", "db"]).ok();
        damage(&lode, order);
        let check = lode.run(&["check", "db"]);
        assert!(check.err.contains("`lode compact --force` mends this"), "{order}: {check:#?}");
        assert!(!check.err.contains("restore"), "{order}: {check:#?}");
        let compaction = lode.run(&["compact", "db", "--force", "--json"]);
        for part in [&format!("{order}.perm: damaged at byte"), "1 damaged order made again from sound ones"]
        {
            assert!(compaction.err.contains(part), "{order}: {compaction:#?}");
        }
        let report: serde_json::Value = serde_json::from_str(&compaction.ok()).unwrap();
        assert!(report["damaged"][0]["file"].as_str().unwrap().ends_with(&format!("{order}.perm")));
        lode.run(&["check", "db"]).ok();
        assert_eq!(lode.run(&["dump", "db"]).ok(), before);
        let sound = lode.run(&["compact", "db", "--force"]);
        assert!(!sound.err.contains("damaged"), "{sound:#?}");
    }
}

/// The advice is for databases of any size: a small one, whose rows are all in memory while it is compacted, is mended in more cases.
#[test]
fn where_a_backup_is_advised_a_compaction_mends_all_or_tells_what_is_damaged() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, \"x\", <http://e/b> .");
    let before = lode.run(&["dump", "db"]).ok();
    damage(&lode, "psog");
    damage(&lode, "posg");
    let check = lode.run(&["check", "db"]);
    assert!(check.err.contains("restore the database from a backup"), "{check:#?}");
    assert!(!check.err.contains("lode compact"), "{check:#?}");
    let compaction = lode.run(&["compact", "db", "--force"]);
    assert!(compaction.err.contains("psog.perm: damaged at byte"), "{compaction:#?}");
    if compaction.code == 0 {
        assert_eq!(lode.run(&["dump", "db"]).ok(), before);
        lode.run(&["check", "db"]).ok();
    }
}
