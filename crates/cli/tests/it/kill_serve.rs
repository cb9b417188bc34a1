//! A server that is killed while many write: whatever was confirmed is there when it is next started, and of what was not, all or nothing.
//!
//! `LODE_KILLS` says how often it is killed (200 take some minutes), `LODE_SEED` when.

use crate::endpoint::Endpoint;
use crate::kill::{number, random};
use crate::lode::{Lode, note};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Kills unless told otherwise.
const KILLS: u64 = 6;
const WRITERS: usize = 4;
/// Quads of a small and of a large transaction.
const SMALL: usize = 3;
const LARGE: usize = 150;
const MILLISECONDS_MAX: u64 = 400;

/// What was sent, and what was confirmed, by the number of the transaction.
#[derive(Default)]
struct Ledger {
    next: u64,
    sizes: HashMap<u64, usize>,
    confirmed: HashSet<u64>,
    /// Deletions that were confirmed, and those that may have happened.
    deleted: HashSet<u64>,
    perhaps_deleted: HashSet<u64>,
}

fn quads(transaction: u64, count: usize) -> String {
    (0..count).map(|i| format!("<t:{transaction}> <q:{i}> <o:{transaction}> .\n")).collect()
}

/// Writes until the server is gone.
fn write(endpoint: &Endpoint, ledger: &Mutex<Ledger>, writer: usize) {
    let update = [("Content-Type", "application/sparql-update")];
    for round in 0.. {
        let kind = (round + writer) % 5;
        let size = if kind == 0 { LARGE } else { SMALL };
        let transaction = {
            let mut ledger = ledger.lock().unwrap();
            ledger.next += 1;
            let transaction = ledger.next;
            ledger.sizes.insert(transaction, size);
            transaction
        };
        let text = quads(transaction, size);
        let sent = match kind {
            0 => endpoint.try_to_send(
                "POST",
                "/data?default",
                &[("Content-Type", "application/n-triples")],
                text.as_bytes(),
            ),
            1 | 2 => endpoint.try_to_send(
                "POST",
                "/update",
                &update,
                format!("INSERT DATA {{ {text} }}").as_bytes(),
            ),
            _ => {
                let text = format!("INSERT {{ {text} }} WHERE {{}}");
                endpoint.try_to_send("POST", "/update", &update, text.as_bytes())
            }
        };
        let Ok(answer) = sent else { return };
        answer.is(200);
        ledger.lock().unwrap().confirmed.insert(transaction);
        if kind == 3 {
            ledger.lock().unwrap().perhaps_deleted.insert(transaction);
            let text = format!("DELETE WHERE {{ <t:{transaction}> ?p ?o }}");
            let Ok(answer) = endpoint.try_to_send("POST", "/update", &update, text.as_bytes()) else {
                return;
            };
            assert_eq!(answer.is(200).number("deleted"), SMALL as u64);
            ledger.lock().unwrap().deleted.insert(transaction);
        }
    }
}

/// Compares what is there with the ledger.
fn check(endpoint: &Endpoint, ledger: &Ledger, what: &str) {
    let rows = endpoint.rows("SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s");
    let found: HashMap<u64, usize> = rows
        .iter()
        .map(|row| {
            let (subject, count) = row.split_once(',').unwrap();
            (subject.strip_prefix("t:").unwrap().parse().unwrap(), count.parse().unwrap())
        })
        .collect();
    for (transaction, size) in &ledger.sizes {
        let there = found.get(transaction).copied().unwrap_or(0);
        assert!(there == 0 || there == *size, "{what}: {there} of {size} quads of {transaction}");
        let gone = ledger.deleted.contains(transaction);
        assert!(!gone || there == 0, "{what}: the deletion of {transaction} is lost");
        let must = ledger.confirmed.contains(transaction) && !ledger.perhaps_deleted.contains(transaction);
        assert!(!must || there == *size, "{what}: {transaction} is lost");
    }
    assert!(found.keys().all(|transaction| ledger.sizes.contains_key(transaction)), "{what}");
}

#[test]
fn a_killed_server_has_what_it_confirmed() {
    let lode = Lode::with_turtle("");
    let seed = number("LODE_SEED", 1);
    let mut state = seed;
    let ledger = Mutex::new(Ledger::default());
    for kill in 0..number("LODE_KILLS", KILLS) {
        let what = format!("seed {seed}, kill {kill}");
        let endpoint = Endpoint::start(&lode, &["--transaction-quads-max", "100"]);
        check(&endpoint, &ledger.lock().unwrap(), &what);
        let wait = Duration::from_millis(random(&mut state) % MILLISECONDS_MAX);
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (endpoint, ledger) = (&endpoint, &ledger);
                scope.spawn(move || write(endpoint, ledger, writer));
            }
            thread::sleep(wait);
            endpoint.kill();
        });
    }
    let endpoint = Endpoint::start(&lode, &[]);
    let ledger = ledger.into_inner().unwrap();
    check(&endpoint, &ledger, &format!("seed {seed}, at the end"));
    endpoint.stop();
    lode.run(&["check", "db", "--quiet"]).ok();
    note(format_args!(
        "serve: {} transactions were sent and {} confirmed, {} deleted again",
        ledger.sizes.len(),
        ledger.confirmed.len(),
        ledger.deleted.len()
    ));
}
