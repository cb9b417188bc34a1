//! A load that is killed leaves the database as it was, and nothing else once it is next opened for writing.

use crate::lode::Lode;
use std::process::Stdio;
use std::time::Duration;

/// Moments at which loads are killed.
const KILLS: u64 = 12;

#[test]
fn killed_loads_change_nothing() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    let before = lode.run(&["dump", "db"]).ok();
    let generate = ["bench", "bsbm", "generate", "--products", "400", "--output", "big.nt", "--quiet"];
    lode.run(&generate).ok();
    for kill in 0..KILLS {
        let mut load =
            lode.command(&["load", "db", "big.nt", "--quiet"]).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(5 + kill * 25));
        load.kill().unwrap();
        if load.wait().unwrap().success() {
            break; // this machine loads faster than we kill: the moments before were tried
        }
        assert_eq!(lode.run(&["dump", "db"]).ok(), before, "after kill {kill}");
    }
    lode.write("more.nt", "<http://e/b> <http://e/p> \"2\" .\n");
    lode.run(&["load", "db", "more.nt"]).ok();
    lode.run(&["check", "db"]).ok();
    let names = std::fs::read_dir(lode.path("db")).unwrap();
    let spills =
        names.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("spill"));
    assert_eq!(spills.count(), 0);
}
