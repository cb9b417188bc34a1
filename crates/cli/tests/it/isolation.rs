//! Many clients at once: nothing that was confirmed is lost, nobody sees half a transaction, and everybody sees what was confirmed to them.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

const CLIENTS: usize = 6;
const ROUNDS: usize = 25;
const COUNTERS: usize = 3;
const NT: (&str, &str) = ("Content-Type", "application/n-triples");

/// The number that a query finds, which must be one.
#[track_caller]
fn number(endpoint: &Endpoint, query: &str) -> u64 {
    let rows = endpoint.rows(query);
    assert_eq!(rows.len(), 1, "{query}: {rows:?}");
    rows[0].parse().unwrap()
}

fn served() -> (Lode, Endpoint) {
    let lode = Lode::with_turtle("");
    let endpoint = Endpoint::start(&lode, &["--transaction-quads-max", "100"]);
    (lode, endpoint)
}

/// Reads, adds one and writes, on counters that all clients share.
#[test]
fn no_update_is_lost() {
    let (_lode, endpoint) = served();
    let counters: String = (0..COUNTERS).map(|i| format!("<c:{i}> <c:is> 0 . ")).collect();
    endpoint.update(&format!("INSERT DATA {{ {counters} }}")).is(200);
    let confirmed: Vec<AtomicU64> = (0..COUNTERS).map(|_| AtomicU64::new(0)).collect();
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (endpoint, confirmed) = (&endpoint, &confirmed);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let counter = (client + round) % COUNTERS;
                    let text = format!(
                        "DELETE {{ <c:{counter}> <c:is> ?n }} INSERT {{ <c:{counter}> <c:is> ?m }} \
                         WHERE {{ <c:{counter}> <c:is> ?n BIND(?n + 1 AS ?m) }}"
                    );
                    let answer = endpoint.update(&text).is(200);
                    assert_eq!((answer.number("inserted"), answer.number("deleted")), (1, 1));
                    confirmed[counter].fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    for (counter, confirmed) in confirmed.iter().enumerate() {
        let found = number(&endpoint, &format!("SELECT ?n {{ <c:{counter}> <c:is> ?n }}"));
        assert_eq!(found, confirmed.load(Ordering::Relaxed), "counter {counter}");
    }
    assert_eq!(endpoint.quads(), COUNTERS as u64);
}

/// Two quads in two graphs always say the same, and so do all the quads of a graph that is replaced: by small uploads and by large ones.
#[test]
fn nobody_sees_half_a_transaction() {
    let (_lode, endpoint) = served();
    let ended = AtomicBool::new(false);
    let document = |number: usize| -> String {
        let quads = if number.is_multiple_of(4) { 300 } else { 30 };
        (0..quads).map(|i| format!("<d:{i}> <d:is> \"{number}\" .\n")).collect()
    };
    endpoint.update("INSERT DATA { GRAPH <g:a> { <p:p> <p:is> 0 } GRAPH <g:b> { <p:p> <p:is> 0 } }").is(200);
    endpoint.send("PUT", "/data?graph=g:c", &[NT], document(0).as_bytes()).is(201);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|reader| {
                let (endpoint, ended) = (&endpoint, &ended);
                scope.spawn(move || {
                    while !ended.load(Ordering::Relaxed) {
                        let query = "SELECT ?a ?b { GRAPH <g:a> { <p:p> <p:is> ?a } GRAPH <g:b> { <p:p> <p:is> ?b } }";
                        let rows = endpoint.rows(query);
                        let (a, b) = rows[0].split_once(',').unwrap();
                        assert!(rows.len() == 1 && a == b, "{rows:?}");
                        let query = "SELECT ?n (COUNT(*) AS ?c) { GRAPH <g:c> { ?s <d:is> ?n } } GROUP BY ?n";
                        let rows = endpoint.rows(query);
                        let (number, count) = rows[0].split_once(',').unwrap();
                        let wanted = if number.parse::<usize>().unwrap().is_multiple_of(4) { "300" } else { "30" };
                        assert!(rows.len() == 1 && count == wanted, "reader {reader}: {rows:?}");
                    }
                })
            })
            .collect();
        let pairs = scope.spawn(|| {
            for number in 1..=ROUNDS * 2 {
                let text = format!(
                    "DELETE {{ GRAPH ?g {{ <p:p> <p:is> ?n }} }} INSERT {{ GRAPH ?g {{ <p:p> <p:is> {number} }} }} \
                     WHERE {{ GRAPH ?g {{ <p:p> <p:is> ?n }} }}"
                );
                assert_eq!(endpoint.update(&text).is(200).number("inserted"), 2);
            }
        });
        for number in 1..=ROUNDS {
            endpoint.send("PUT", "/data?graph=g:c", &[NT], document(number).as_bytes()).is(200);
        }
        pairs.join().unwrap();
        ended.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

/// What was confirmed is there for the next request, whichever way it was written.
#[test]
fn everybody_sees_what_was_confirmed() {
    let (_lode, endpoint) = served();
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let endpoint = &endpoint;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let (before, after) = (round, round + 1);
                    match round % 4 {
                        0 => endpoint.update(&format!("INSERT DATA {{ GRAPH <g:{client}> {{ <s:s> <n:n> {after} }} }}")),
                        1 => endpoint.update(&format!("INSERT {{ GRAPH <g:{client}> {{ ?s <n:n> {after} }} }} WHERE {{ GRAPH <g:{client}> {{ ?s <n:n> {before} }} }}")),
                        2 => {
                            let text: String = (0..200).map(|i| format!("<s:{i}> <n:other> \"{round}\" .\n")).collect();
                            let text = format!("{text}<s:s> <n:n> \"{after}\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n");
                            endpoint.send("POST", &format!("/data?graph=g:{client}"), &[NT], text.as_bytes())
                        }
                        _ => {
                            let text = format!("<s:s> <n:n> \"{after}\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n");
                            endpoint.send("PUT", &format!("/data?graph=g:{client}"), &[NT], text.as_bytes())
                        }
                    };
                    let query = format!("SELECT (MAX(?n) AS ?m) {{ GRAPH <g:{client}> {{ <s:s> <n:n> ?n }} }}");
                    assert_eq!(number(endpoint, &query), after as u64, "client {client}, round {round}");
                }
            });
        }
    });
}
