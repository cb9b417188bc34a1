//! `lode serve`: updates over loopback, and every status they are answered with.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use crate::update::slow_update;
use std::io::Write;
use std::net::TcpStream;

const TURTLE: &str = "<http://e/a> <http://e/p> 1, 2 .";
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const DIRECT: (&str, &str) = ("Content-Type", "application/sparql-update");

#[test]
fn the_update_operation_in_all_its_ways() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    for path in ["/update", "/sparql"] {
        let form = b"update=INSERT+DATA+%7B%3Chttp://e/b%3E+%3Chttp://e/p%3E+1%7D";
        let answer = endpoint.send("POST", path, &[FORM], form).is(200);
        assert_eq!(answer.media_type, "application/json");
        assert_eq!((answer.number("operations"), answer.number("inserted")), (1, 1));
        let answer =
            endpoint.send("POST", path, &[DIRECT], b"DELETE WHERE { <http://e/b> ?p ?o } ; CREATE GRAPH <g>");
        assert_eq!((answer.number("operations"), answer.number("deleted")), (2, 1), "{answer:?}");
    }
    // What changes nothing is done all the same.
    assert_eq!(endpoint.update("DELETE DATA { <http://e/x> <http://e/p> 1 }").is(200).number("deleted"), 0);
    assert_eq!(endpoint.quads(), 2);
}

#[test]
fn graphs_of_the_protocol_are_what_where_sees() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    endpoint.update("INSERT DATA { GRAPH <http://e/g> { <http://e/g> <http://e/p> 7 } GRAPH <http://e/h> { <http://e/h> <http://e/p> 8 } }").is(200);
    let text = b"INSERT { ?s <http://e/seen> ?o } WHERE { ?s <http://e/p> ?o }";
    let answer = endpoint.send("POST", "/update?using-graph-uri=http://e/g", &[DIRECT], text).is(200);
    assert_eq!(answer.number("inserted"), 1);
    let text = b"INSERT { ?s <http://e/named> ?o } WHERE { GRAPH ?g { ?s <http://e/p> ?o } }";
    let answer = endpoint.send("POST", "/update?using-named-graph-uri=http://e/h", &[DIRECT], text).is(200);
    assert_eq!(answer.number("inserted"), 1);
    assert_eq!(endpoint.rows("SELECT ?o { ?s <http://e/seen>|<http://e/named> ?o } ORDER BY ?o"), ["7", "8"]);
    let text = b"WITH <http://e/g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }";
    let answer = endpoint.send("POST", "/update?using-graph-uri=http://e/g", &[DIRECT], text).is(400);
    assert!(answer.body.contains("WITH"), "{answer:?}");
}

#[test]
fn errors_change_nothing_and_have_their_status() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &["--update-timeout", "0.3", "--update-bytes-max", "20KiB"]);
    let answer = endpoint.update("CLEAR ALL ;\nINSERT DATA { ?s <http://e/p> 1 }").is(400);
    assert!(answer.body.contains("line 2, column "), "{answer:?}");
    assert!(endpoint.update("CLEAR ALL ; COPY <http://e/none> TO DEFAULT").is(400).body.contains("COPY"));
    let answer = endpoint.update("CLEAR ALL ; LOAD <file:///etc/hostname>").is(403);
    assert!(answer.body.contains("--allow-load"), "{answer:?}");
    for (path, headers, body, status) in [
        ("/update", &[FORM][..], &b"update=CLEAR+ALL&update=CLEAR+ALL"[..], 400),
        ("/update", &[FORM], b"query=ASK+%7B%7D", 400),
        ("/query", &[FORM], b"update=CLEAR+ALL", 400),
        ("/sparql", &[FORM], b"update=CLEAR+ALL&query=ASK+%7B%7D", 400),
        ("/update", &[FORM], b"", 400),
        ("/update", &[DIRECT], b"CLEAR ALL \xff", 400),
        ("/update", &[("Content-Type", "text/plain")], b"CLEAR ALL", 415),
        ("/update", &[("Content-Type", "application/sparql-update; charset=utf-16")], b"CLEAR ALL", 415),
        ("/update?using-graph-uri=no+iri", &[DIRECT], b"CLEAR ALL", 400),
    ] {
        endpoint.send("POST", path, headers, body).is(status);
    }
    endpoint.send("GET", "/update?update=CLEAR+ALL", &[], b"").is(405);
    endpoint.send("GET", "/sparql?update=CLEAR+ALL", &[], b"").is(405);
    endpoint.send("PUT", "/update", &[DIRECT], b"CLEAR ALL").is(405);
    endpoint.update(&slow_update()).is(504);
    let long = format!("CLEAR ALL # {}", "long ".repeat(20_000));
    assert!(endpoint.update(&long).is(413).body.contains("/data"));
    assert_eq!(endpoint.quads(), 2);
    let options = endpoint.send("OPTIONS", "/data", &[], b"");
    assert_eq!(options.status, 204);
}

#[test]
fn load_reads_what_is_allowed() {
    let lode = Lode::with_turtle(TURTLE);
    std::fs::create_dir_all(lode.path("open")).unwrap();
    lode.write("open/a.ttl", "<http://e/c> <http://e/p> 1, 2, 3 .");
    let endpoint = Endpoint::start(&lode, &["--allow-load", "open"]);
    let text = format!("LOAD <file://{}> INTO GRAPH <http://e/g>", lode.path("open/a.ttl").display());
    assert_eq!(endpoint.update(&text).is(200).number("inserted"), 3);
}

#[test]
fn what_load_reads_has_a_greatest_length_once_it_is_unpacked() {
    let lode = Lode::with_turtle(TURTLE);
    std::fs::create_dir_all(lode.path("open")).unwrap();
    let write = |name: &str, lines: usize| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let text = "<http://e/c> <http://e/p> <http://e/o> .\n".repeat(lines);
        encoder.write_all(text.as_bytes()).unwrap();
        lode.write(name, encoder.finish().unwrap());
    };
    write("open/long.nt.gz", 100_000);
    write("open/short.nt.gz", 1000);
    let endpoint = Endpoint::start(&lode, &["--allow-load", "open", "--decoded-bytes-max", "1MiB"]);
    let load = |name: &str| endpoint.update(&format!("LOAD <file://{}>", lode.path(name).display()));
    let refused = load("open/long.nt.gz").is(400).body;
    assert!(refused.contains("more than 1048576 bytes once it is unpacked"), "{refused}");
    assert_eq!(load("open/short.nt.gz").is(200).number("inserted"), 1);
}

#[test]
fn updates_do_not_wait_for_queries() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let slow = slow_update().replace("INSERT { ?a0 ?b0 ?c0 } WHERE", "SELECT (COUNT(*) AS ?n)");
    let head = format!(
        "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nContent-Length: {}\r\n\r\n",
        slow.len()
    );
    // More than run at once, and some that wait for their turn.
    let running = std::thread::available_parallelism().unwrap().get() * 4 + 2;
    let queries: Vec<TcpStream> = (0..running)
        .map(|_| {
            let mut stream = TcpStream::connect(endpoint.address()).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(slow.as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(endpoint.update("INSERT DATA { <http://e/b> <http://e/p> 1 }").is(200).number("inserted"), 1);
    drop(queries);
    assert_eq!(endpoint.quads(), 3);
}

#[test]
fn an_update_whose_client_leaves_is_rolled_back() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let mut stream = TcpStream::connect(endpoint.address()).unwrap();
    let text = format!("INSERT DATA {{ <http://e/early> <http://e/p> 1 }} ; {}", slow_update());
    let head = format!(
        "POST /update HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-update\r\nContent-Length: {}\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    drop(stream);
    // It has, or waits for, the writer's place until it is noticed that its client has gone: this one comes after it.
    let answer = endpoint.update("DELETE { ?s ?p 2 } INSERT { ?s ?p 3 } WHERE { ?s ?p 2 }").is(200);
    assert_eq!((answer.number("inserted"), answer.number("deleted")), (1, 1));
    assert_eq!(endpoint.rows("SELECT ?s { ?s ?p 1 }"), ["http://e/a"]);
}

#[test]
fn batches_are_durable_once_the_server_has_stopped() {
    let lode = Lode::with_turtle(TURTLE);
    for durability in ["batch", "batch:10000", "sync"] {
        let endpoint = Endpoint::start(&lode, &["--durability", durability]);
        for i in 0..20 {
            let text = format!("INSERT DATA {{ <http://e/{durability}> <http://e/p> {i} }}");
            assert_eq!(endpoint.update(&text).is(200).number("inserted"), 1);
        }
        endpoint.stop();
    }
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 62);
    assert!(lode.run(&["serve", "db", "--durability", "never"]).fails(2).contains("batch"));
}
