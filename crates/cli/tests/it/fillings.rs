//! A small disk that a server fills, again and again: whatever was confirmed is there, whatever had no room has changed nothing, and once there
//! is room it goes on.
//!
//! The disk is an ext4 in a file, which only root may mount: `LODE_FILLINGS=20 cargo test -p lode --test it fillings -- --ignored --nocapture`
//! fills it twenty times (once unless told otherwise); `LODE_SEED` says with what.

use crate::endpoint::{Answer, Endpoint};
use crate::full::{Disk, folder_bytes};
use crate::kill::{number, random};
use crate::lode::{Lode, note};
use lode_bench::soak::{Book, Found, State, Unit, between};
use std::path::Path;

const DISK_BYTES: u64 = 16 << 20;
/// What is removed when the disk is full, as one would make room for it.
const BALLAST_BYTES: usize = 1 << 20;
/// Requests that find no room before a filling ends.
const REFUSED_MAX: usize = 40;
const N_QUADS: (&str, &str) = ("Content-Type", "application/n-quads");
const FLAGS: [&[&str]; 2] = [&["--no-compaction"], &[]];

/// One filling.
struct Filling<'a> {
    endpoint: &'a Endpoint,
    book: Book,
    units: Vec<Unit>,
    random: u64,
    refused: usize,
    confirmed: usize,
}

impl Filling<'_> {
    fn below(&mut self, end: u64) -> u64 {
        random(&mut self.random) % end
    }

    fn update(&self, text: &str) -> Answer {
        self.endpoint.update(text)
    }

    /// Whether it was done; else there was no room for it.
    #[track_caller]
    fn is_done(&mut self, answer: &Answer) -> bool {
        if answer.status == 507 {
            assert!(answer.body.contains("make room"), "{answer:?}");
            self.refused += 1;
            return false;
        }
        assert!([200, 201].contains(&answer.status), "{answer:?}");
        self.confirmed += 1;
        true
    }

    /// Something random: mostly it takes room.
    fn step(&mut self) {
        let is_blind = self.below(2) == 0;
        match self.below(100) {
            0..45 => {
                let unit = self.book.begin();
                let answer = if unit.is_large() || self.below(2) == 0 {
                    self.endpoint.send("POST", "/data", &[N_QUADS], unit.n_quads(1).as_bytes())
                } else {
                    self.update(&unit.insert(1, is_blind))
                };
                self.settle(&answer, unit);
            }
            45..70 if !self.units.is_empty() => {
                let at = self.below(self.units.len() as u64) as usize;
                let unit = self.units.swap_remove(at);
                let Some(State::Written(step)) = self.book.state(unit) else { panic!("unit {}", unit.0) };
                let to = if self.below(4) == 0 { State::Absent } else { State::Written(step + 1) };
                self.book.send(unit, to);
                let answer = match to {
                    State::Written(to) => self.update(&unit.rewrite(step, to, is_blind)),
                    State::Absent => self.update(&unit.remove(step, is_blind)),
                };
                self.settle(&answer, unit);
            }
            70..97 => self.load(),
            97 | 98 => {
                // One snapshot at most: it keeps what compactions would free.
                let answer = self.endpoint.send("POST", "/admin/snapshots?name=s", &[], b"");
                if answer.status != 409 {
                    self.is_done(&answer);
                    return;
                }
                let answer = self.endpoint.send("DELETE", "/admin/snapshots?name=s", &[], b"");
                self.is_done(&answer);
            }
            _ => {
                let answer = self.endpoint.send("POST", "/admin/compact", &[], b"");
                self.is_done(&answer);
            }
        }
    }

    fn settle(&mut self, answer: &Answer, unit: Unit) {
        if self.is_done(answer) {
            self.book.confirm(unit);
        } else {
            self.book.refuse(unit);
        }
        if self.book.state(unit).is_some() {
            self.units.push(unit);
        }
    }

    /// Many units at once, which become a segment.
    fn load(&mut self) {
        let units: Vec<Unit> = (0..100 + self.below(900)).map(|_| self.book.begin()).collect();
        let text: String = units.iter().map(|unit| unit.n_quads(1)).collect();
        let answer = self.endpoint.send("POST", "/data", &[N_QUADS], text.as_bytes());
        let is_done = self.is_done(&answer);
        for unit in units {
            if is_done {
                self.book.confirm(unit);
                self.units.push(unit);
            } else {
                self.book.refuse(unit);
            }
        }
    }

    /// Goes on until there is no room for many.
    fn fill(&mut self) {
        let until = self.refused + REFUSED_MAX;
        while self.refused < until {
            self.step();
        }
    }

    #[track_caller]
    fn check(&self, rows: &[String], what: &str) {
        let rows = rows.iter().map(|row| {
            let cells: Vec<&str> = row.splitn(3, ',').collect();
            (cells[0], cells[1], cells[2].parse().unwrap())
        });
        let wrong = between(&self.book, &self.book, &Found::of_rows(rows.collect::<Vec<_>>()));
        assert!(wrong.is_empty(), "{what}: {wrong:?}");
    }
}

fn fill(lode: &Lode, number: u64, seed: u64) {
    let what = format!("filling {number} (LODE_SEED={seed})");
    let database = "disk/db";
    std::fs::write(lode.path("disk/ballast"), vec![b'x'; BALLAST_BYTES]).unwrap();
    lode.write("empty.nt", "");
    lode.run(&["load", database, "empty.nt", "--quiet"]).ok();
    let flags = [&["--transaction-quads-max", "2000"], FLAGS[number as usize % 2]].concat();
    let endpoint = Endpoint::serve(lode, database, &flags);
    let mut filling = Filling {
        endpoint: &endpoint,
        book: Book::default(),
        units: Vec::new(),
        random: seed.wrapping_add(number.wrapping_mul(1_000_003)),
        refused: 0,
        confirmed: 0,
    };
    filling.fill();
    filling.check(&endpoint.rows(&Unit::query_all()), &what);
    std::fs::remove_file(lode.path("disk/ballast")).unwrap();
    // Now there is room: what is small must be done.
    let before = filling.confirmed;
    for _ in 0..5 {
        let unit = filling.book.begin();
        let answer = filling.update(&unit.insert(1, true));
        filling.settle(&answer, unit);
    }
    assert_eq!(filling.confirmed, before + 5, "{what}");
    filling.fill();
    filling.check(&endpoint.rows(&Unit::query_all()), &what);
    let Filling { book, units, random, refused, confirmed, .. } = filling;
    if number.is_multiple_of(3) {
        endpoint.kill();
        drop(endpoint);
    } else {
        endpoint.stop();
    }
    lode.run(&["check", database, "--quiet"]).ok();
    let bytes = folder_bytes(Path::new(&lode.path(database)));
    // Reading needs no room; writing some, once it is opened.
    let reader = Endpoint::serve(lode, database, &["--read-only"]);
    let filling = Filling { endpoint: &reader, book, units, random, refused, confirmed };
    filling.check(&reader.rows(&Unit::query_all()), &what);
    note(format_args!("{what}: {confirmed} requests were confirmed, {refused} had no room; {bytes} bytes"));
    drop(reader);
    std::fs::remove_dir_all(lode.path(database)).unwrap();
}

#[test]
#[ignore = "mounts file systems, which needs root"]
fn a_disk_filled_again_and_again() {
    let lode = Lode::new();
    let Some(_disk) = Disk::mount_real(&lode.path("disk.image"), lode.path("disk"), DISK_BYTES) else {
        note(format_args!("skipped: only root may mount file systems"));
        return;
    };
    let seed = number("LODE_SEED", 1);
    for filling in 0..number("LODE_FILLINGS", 1) {
        fill(&lode, filling, seed);
    }
}
