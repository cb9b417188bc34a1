//! `lode serve`: the Graph Store HTTP Protocol, and uploads of all sizes.

use crate::endpoint::{Answer, Endpoint};
use crate::lode::Lode;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

const TURTLE: &str = "<http://e/a> <http://e/p> 1, 2 .";
const TTL: (&str, &str) = ("Content-Type", "text/turtle");
const NT: (&str, &str) = ("Content-Type", "application/n-triples");
const NQ: (&str, &str) = ("Content-Type", "application/n-quads");
const G: &str = "/data?graph=http://e/g";

fn lines(from: usize, to: usize) -> String {
    (from..to).map(|i| format!("<http://e/{i}> <http://e/p> \"{i}\" .\n")).collect()
}

fn get(endpoint: &Endpoint, path: &str, accept: &str) -> Answer {
    endpoint.send("GET", path, &[("Accept", accept)], b"")
}

#[test]
fn graphs_come_and_go() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    get(&endpoint, G, "*/*").is(404);
    endpoint.send("HEAD", G, &[], b"").is(404);
    endpoint.send("DELETE", G, &[], b"").is(404);
    let answer = endpoint.send("PUT", G, &[TTL], b"<a> <b> 1, 2, <#c>, [] .").is(201);
    assert_eq!((answer.number("quads"), answer.number("inserted")), (4, 4));
    let answer = endpoint.send("PUT", G, &[TTL], b"<a> <b> 2, 3 .").is(200);
    assert_eq!((answer.number("inserted"), answer.number("deleted")), (1, 3));
    let answer = endpoint.send("POST", G, &[TTL], b"<a> <b> 3, 4 .").is(200);
    assert_eq!((answer.number("inserted"), answer.number("deleted")), (1, 0));
    let head = endpoint.send("HEAD", G, &[], b"").is(200);
    assert_eq!((head.media_type.as_str(), head.body.as_str()), ("text/turtle; charset=utf-8", ""));
    // Relative IRIs are resolved against the graph's.
    let answer = get(&endpoint, G, "application/n-triples").is(200);
    assert_eq!(answer.body.lines().count(), 3);
    assert!(answer.body.starts_with("<http://e/a> <http://e/b> \"2\""), "{answer:?}");
    assert_eq!(endpoint.send("DELETE", G, &[], b"").is(200).number("deleted"), 3);
    get(&endpoint, G, "*/*").is(404);
    // The default graph always exists.
    assert_eq!(endpoint.send("PUT", "/data?default", &[TTL], b"").is(200).number("deleted"), 2);
    assert_eq!(get(&endpoint, "/data?default", "application/n-triples").is(200).body, "");
    endpoint.send("DELETE", "/data?default", &[], b"").is(200);
}

#[test]
fn graphs_at_their_own_addresses() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    endpoint.send("PUT", "/data/people/1.ttl", &[TTL], b"<> <b> 1 .").is(201);
    let indirect = format!("/data?graph={}/data/people/1.ttl", endpoint.base);
    let answer = get(&endpoint, &indirect, "application/n-triples").is(200);
    assert!(answer.body.starts_with(&format!("<{}/data/people/1.ttl> ", endpoint.base)), "{answer:?}");
    // Triples without a graph make one.
    let made = endpoint.send("POST", "/data", &[TTL], b"[] <http://e/b> 1 .").is(201);
    let location = made.location.unwrap();
    let path = location.strip_prefix(&endpoint.base).unwrap();
    assert_eq!(get(&endpoint, path, "application/n-triples").is(200).body.lines().count(), 1);
    assert_eq!(endpoint.rows(&format!("SELECT ?o {{ GRAPH <{location}> {{ ?s ?p ?o }} }}")), ["1"]);
}

#[test]
fn all_syntaxes_both_ways() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    endpoint.send("PUT", G, &[TTL], b"<a> <b> \"x\"@en, 1 . <c> <b> <a> .").is(201);
    for media_type in [
        "text/turtle",
        "application/n-triples",
        "application/n-quads",
        "application/trig",
        "application/rdf+xml",
        "application/ld+json",
    ] {
        let answer = get(&endpoint, G, media_type).is(200);
        assert!(answer.media_type.starts_with(media_type), "{answer:?}");
        let copy = format!("/data?graph=http://e/copy/{}", media_type.replace('+', "-"));
        let stored =
            endpoint.send("PUT", &copy, &[("Content-Type", &answer.media_type)], answer.body.as_bytes());
        assert_eq!(stored.is(201).number("inserted"), 3, "{media_type}");
    }
    // Everything, in formats that have graphs.
    for media_type in ["application/n-quads", "application/trig", "application/ld+json"] {
        let answer = get(&endpoint, "/data", media_type).is(200);
        let stored =
            endpoint.send("POST", "/data", &[("Content-Type", media_type)], answer.body.as_bytes()).is(200);
        assert_eq!((stored.number("quads"), stored.number("inserted")), (23, 0), "{media_type}");
        let stored =
            endpoint.send("PUT", "/data", &[("Content-Type", media_type)], answer.body.as_bytes()).is(200);
        assert_eq!((stored.number("inserted"), stored.number("deleted")), (0, 0), "{media_type}");
    }
    assert_eq!(
        endpoint.send("PUT", "/data", &[NQ], b"<a:a> <a:b> <a:c> <a:g> .\n").is(200).number("deleted"),
        23
    );
    assert_eq!(endpoint.quads(), 1);
}

#[test]
fn compressed_and_several_files() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let text = lines(0, 100);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let zstd = zstd::stream::encode_all(text.as_bytes(), 0).unwrap();
    for (encoding, body) in [("gzip", gzip.finish().unwrap()), ("zstd", zstd)] {
        let headers = [NT, ("Content-Encoding", encoding)];
        let path = format!("/data?graph=http://e/{encoding}");
        assert_eq!(endpoint.send("POST", &path, &headers, &body).is(201).number("inserted"), 100);
        endpoint.send("POST", &path, &headers, &body[..body.len() - 9]).is(400);
    }
    endpoint.send("POST", G, &[NT, ("Content-Encoding", "compress")], b"x").is(415);
    let form = "--xyz\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.ttl\"\r\n\r\n<a> <b> _:x .\r\n\
                --xyz\r\nContent-Disposition: form-data; name=\"b\"; filename=\"b\"\r\nContent-Type: application/n-triples\r\n\r\n\
                <a:a> <a:b> _:x .\n\r\n--xyz--\r\n";
    let headers = [("Content-Type", "multipart/form-data; boundary=xyz")];
    assert_eq!(endpoint.send("POST", G, &headers, form.as_bytes()).is(201).number("inserted"), 2);
    endpoint.send("POST", G, &headers, b"--xyz\r\nno end").is(400);
    assert_eq!(endpoint.quads(), 204);
}

#[test]
fn errors_change_nothing_and_have_their_status() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &["--transaction-quads-max", "50"]);
    let answer = endpoint.send("POST", G, &[TTL], b"<a> <b> 1 .\n<a> <b> .").is(400);
    assert!(answer.body.starts_with("body:2:"), "{answer:?}");
    // Graphs in a document for one graph, also where it is long.
    let graphs: String = (0..3000).map(|i| format!("<a:a> <a:b> <a:{i}> <a:g> .\n")).collect();
    for (method, text) in [("POST", "<a:a> <a:b> <a:c> <a:g> .\n"), ("POST", &graphs), ("PUT", &graphs)] {
        assert!(
            endpoint.send(method, G, &[NQ], text.as_bytes()).is(400).body.contains("body: names a graph")
        );
    }
    let large = format!("{}<http://e/wrong> <http://e/p> .\n", lines(0, 3000));
    for method in ["POST", "PUT"] {
        let answer = endpoint.send(method, G, &[NT], large.as_bytes()).is(400);
        assert!(answer.body.starts_with("body:3001:"), "{answer:?}");
    }
    for (method, path, headers, body, status) in [
        ("PUT", "/data", &[TTL][..], &b"<a:a> <a:b> 1 ."[..], 400),
        ("DELETE", "/data", &[], b"", 400),
        ("PUT", "/data?graph=", &[TTL], b"", 400),
        ("POST", "/data?graph=relative", &[TTL], b"", 400),
        ("POST", "/data?graph=http://e/a&default", &[TTL], b"", 400),
        ("POST", "/data?graph=http://e/a&graph=http://e/b", &[TTL], b"", 400),
        ("POST", G, &[("Content-Type", "text/csv")], b"a,b", 415),
        ("PATCH", G, &[], b"", 405),
    ] {
        endpoint.send(method, path, headers, body).is(status);
    }
    get(&endpoint, G, "text/turtle").is(404);
    get(&endpoint, "/data?default", "text/csv").is(406);
    // Without named graphs the dataset is a graph.
    get(&endpoint, "/data", "text/turtle").is(200);
    assert_eq!(endpoint.quads(), 2);
}

#[test]
fn turtle_has_its_prefixes_at_the_beginning() {
    let foaf = "@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n";
    let lode = Lode::with_turtle(&format!("{foaf}<http://e/a> a foaf:Person ; foaf:age 3 ."));
    let endpoint = Endpoint::start(&lode, &[]);
    let person = "<http://e/a> a foaf:Person ;\n\tfoaf:age 3 .\n";
    for path in ["/data", "/data?default"] {
        assert_eq!(get(&endpoint, path, "text/turtle").is(200).body, format!("{foaf}{person}"), "{path}");
    }
    let query = "PREFIX e: <http://e/> PREFIX unused: <http://u/> CONSTRUCT WHERE { ?s a ?o }";
    for accept in ["text/turtle", "application/trig"] {
        let answer = endpoint.query(query, accept).is(200).body;
        // That of the file comes before those of the query.
        assert_eq!(answer, format!("{foaf}@prefix e: <http://e/> .\ne:a a foaf:Person .\n"));
    }
    let other = b"<http://e/b> <http://xmlns.com/foaf/0.1/age> 4 .";
    endpoint.send("PUT", G, &[TTL], other).is(201);
    let trig = get(&endpoint, "/data", "application/trig").is(200).body;
    assert_eq!(trig, format!("{foaf}{person}<http://e/g> {{\n<http://e/b> foaf:age 4 .\n}}\n"));
    let refused = get(&endpoint, "/data", "text/turtle").is(406).body;
    assert!(refused.contains("Turtle holds one graph"), "{refused}");
}

#[test]
fn large_uploads_are_loaded_as_segments() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &["--transaction-quads-max", "50"]);
    let bulk = |answer: &Answer| answer.body.contains("\"bulk\":true");
    let answer = endpoint.send("POST", G, &[NT], lines(0, 20).as_bytes()).is(201);
    assert!(!bulk(&answer) && answer.number("inserted") == 20, "{answer:?}");
    // Small in bytes, but not in quads.
    let dense: String = (0..200).map(|i| format!("{i}, ")).collect();
    let answer = endpoint.send("POST", G, &[TTL], format!("<a:a> <a:b> {dense} 1 .").as_bytes()).is(200);
    assert!(bulk(&answer) && answer.number("inserted") == 200, "{answer:?}");
    let answer = endpoint.send("POST", G, &[NT], lines(10, 5000).as_bytes()).is(200);
    assert!(bulk(&answer) && answer.number("inserted") == 4980, "{answer:?}");
    assert_eq!(endpoint.quads(), 5202);
    // A graph is replaced in one step, however large it is.
    let answer = endpoint.send("PUT", G, &[NT], lines(4000, 9000).as_bytes()).is(200);
    assert_eq!((answer.number("inserted"), answer.number("deleted")), (5000, 5200), "{answer:?}");
    let answer = endpoint.send("PUT", "/data", &[NT_AS_QUADS], lines(0, 300).as_bytes()).is(200);
    assert_eq!((answer.number("inserted"), answer.number("deleted")), (300, 5002), "{answer:?}");
    // In the place of everything, nothing new; and nothing at all.
    let answer = endpoint.send("PUT", "/data?default", &[NT], lines(0, 300).as_bytes()).is(200);
    assert_eq!((answer.number("inserted"), answer.number("deleted")), (300, 300), "{answer:?}");
    let none = "# nothing\n".repeat(3000);
    let answer = endpoint.send("PUT", "/data?default", &[NT], none.as_bytes()).is(200);
    assert_eq!((answer.number("inserted"), answer.number("deleted")), (0, 300), "{answer:?}");
    assert_eq!(endpoint.quads(), 0);
    endpoint.send("PUT", G, &[NT], lines(0, 300).as_bytes()).is(201);
    endpoint.stop();
    lode.run(&["check", "db", "--quiet"]).ok();
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 300);
}

const NT_AS_QUADS: (&str, &str) = ("Content-Type", "application/n-quads");

/// Sends a head and a part of what it announces.
fn begin(endpoint: &Endpoint, method: &str, framing: &str, part: &str) -> TcpStream {
    let mut stream = TcpStream::connect(endpoint.address()).unwrap();
    let head = format!(
        "{method} {G} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/n-triples\r\n{framing}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(part.as_bytes()).unwrap();
    stream
}

#[test]
fn uploads_that_break_off_change_nothing() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &["--transaction-quads-max", "50"]);
    let text = lines(0, 2000);
    for method in ["POST", "PUT"] {
        for framing in ["Content-Length: 200", "Content-Length: 99999999", "Transfer-Encoding: chunked"] {
            let chunked = framing.contains("chunked");
            let part =
                if chunked { format!("{:x}\r\n{text}\r\n", text.len()) } else { text[..150].to_owned() };
            // One whose client has gone, and one whose client waits for what the server says.
            drop(begin(&endpoint, method, framing, &part));
            let mut stream = begin(&endpoint, method, framing, &part);
            stream.shutdown(Shutdown::Write).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        }
    }
    // Whoever writes next does so after them, or before nothing.
    endpoint.send("POST", "/data?graph=http://e/h", &[NT], lines(0, 100).as_bytes()).is(201);
    get(&endpoint, G, "*/*").is(404);
    assert_eq!(endpoint.quads(), 102);
    // Without a length, and whole.
    let chunks = format!("{:x}\r\n{text}\r\n0\r\n\r\n", text.len());
    let framing = "Transfer-Encoding: chunked\r\nConnection: close";
    let mut answer = String::new();
    begin(&endpoint, "POST", framing, &chunks).read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201") && answer.contains("\"bulk\":true"), "{answer}");
    assert_eq!(endpoint.quads(), 2102);
}

#[test]
fn writers_do_not_wait_for_uploads_that_are_coming_in() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &["--transaction-quads-max", "50"]);
    let (first, second) = (lines(0, 2000), lines(2000, 4000));
    for (method, count) in [("POST", 4003), ("PUT", 4004)] {
        let framing = format!("Content-Length: {}\r\nConnection: close", first.len() + second.len());
        let mut stream = begin(&endpoint, method, &framing, &first);
        let text = format!("INSERT DATA {{ <a:{method}> <a:b> 1 }}");
        assert_eq!(endpoint.update(&text).is(200).number("inserted"), 1);
        stream.write_all(second.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 20") && answer.contains("\"bulk\":true"), "{answer}");
        assert_eq!(endpoint.quads(), count);
    }
}

#[test]
fn uploads_that_are_not_whole_end_with_the_server() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &["--transaction-quads-max", "50"]);
    let text = lines(0, 2000);
    let waiting: Vec<TcpStream> = ["PUT", "POST"]
        .iter()
        .map(|method| begin(&endpoint, method, "Content-Length: 99999999", &text))
        .collect();
    assert!(endpoint.stop().contains("stopped"));
    drop(waiting);
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 2);
    lode.run(&["check", "db", "--quiet"]).ok();
}
