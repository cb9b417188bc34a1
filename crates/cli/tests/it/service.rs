//! SERVICE between running servers, and over https.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// Some hundred things with names; the same number of things as there are in other documents.
fn people(count: usize) -> String {
    let line = |i: usize| format!(":p{i} :name \"name {i}\" ; :age {} .\n", i % 90);
    let text: String = (0..count).map(line).collect();
    format!("@prefix : <http://e/> .\n{text}")
}

#[test]
fn a_server_is_asked_in_blocks() {
    let there = Lode::with_turtle(&people(1000));
    let endpoint = Endpoint::start(&there, &[]);
    let here =
        Lode::with_turtle("@prefix : <http://e/> . :p1 :knows :p2 , :p3 , :nobody . :p900 :knows :p4 .");
    let query = format!(
        "PREFIX : <http://e/> SELECT ?x ?name {{ ?x :knows ?y SERVICE <{}/sparql> {{ ?y :name ?name }} }} ORDER BY ?name",
        endpoint.base
    );
    let allow = format!("{}/*", endpoint.base);
    let answer = here.run(&["query", "db", &query, "--allow-service", &allow, "--format", "csv"]).ok();
    let p = "http://e/p";
    assert_eq!(answer, format!("x,name\r\n{p}1,name 2\r\n{p}1,name 3\r\n{p}900,name 4\r\n"));
    let profile = here.run(&["query", "db", &query, "--allow-service", &allow, "--profile"]).err;
    let head = profile.lines().next().unwrap();
    assert!(["requests", "sent", "received"].iter().all(|column| head.contains(column)), "{profile}");
    let refused = here.run(&["query", "db", &query, "--allow-service", "http://127.0.0.1:9/*"]).fails(1);
    assert!(refused.contains(&format!("--allow-service '{}/sparql'", endpoint.base)), "{refused}");
    let silent = query.replace("SERVICE", "SERVICE SILENT");
    let answer = here.run(&["query", "db", &silent, "--format", "csv"]).ok();
    assert_eq!(answer.lines().count(), 5, "as if the pattern had one solution that binds nothing: {answer}");
}

/// A server that asks itself answers as it does without.
#[test]
fn a_server_can_ask_itself() {
    let lode = Lode::with_turtle(&people(2000));
    let endpoint = Endpoint::start(&lode, &["--allow-service", "*"]);
    for query in [
        "SELECT * { ?x :age 7 S { ?x :name ?name } }",
        "SELECT * { ?x :age ?age S { ?x :name ?name } }",
        "SELECT * { ?x :age 7 OPTIONAL { S { ?x :name ?name FILTER(STRLEN(?name) = 7) } } }",
        "SELECT * { S { ?x :age 7 } S { ?x :name ?name } }",
        "SELECT * { ?x :age 7 S { ?x :name ?name S { ?y :name ?name ; :age ?age } } }",
    ] {
        let rows = |service: &str| {
            let mut rows = endpoint.rows(&format!("PREFIX : <http://e/> {}", query.replace("S {", service)));
            rows.sort();
            rows
        };
        let (with, without) = (rows(&format!("SERVICE <{}/sparql> {{", endpoint.base)), rows("{"));
        assert!(!without.is_empty() && with == without, "{query}: {} {}", with.len(), without.len());
    }
}

/// Answers each https request on the loopback with this body; its address.
fn https(media_type: &'static str, body: &'static str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificates");
    let chain = CertificateDer::pem_file_iter(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let chain = chain.collect::<Result<_, _>>().unwrap();
    let config = Arc::new(config.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // Who does not believe the certificate leaves.
            let _ = answer(stream, Arc::clone(&config), media_type, body);
        }
    });
    format!("https://{address}")
}

fn answer(
    mut stream: TcpStream,
    config: Arc<rustls::ServerConfig>,
    media_type: &str,
    body: &str,
) -> std::io::Result<()> {
    let mut connection = rustls::ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut tls = rustls::Stream::new(&mut connection, &mut stream);
    let (mut length, mut line) = (0, String::new());
    let mut reader = BufReader::new(&mut tls);
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    reader.read_exact(&mut vec![0; length])?;
    // In two parts, with a wait between: the client looks meanwhile whether the answer is still wanted.
    let head = format!(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let (first, second) = body.split_at(body.len() / 2);
    tls.write_all(head.as_bytes())?;
    tls.write_all(first.as_bytes())?;
    tls.flush()?;
    std::thread::sleep(std::time::Duration::from_millis(120));
    tls.write_all(second.as_bytes())?;
    tls.conn.send_close_notify();
    tls.flush()
}

#[test]
fn https_needs_a_certificate_to_believe() {
    let lode = Lode::with_turtle("@prefix : <http://e/> . :a :p 1 .");
    let result =
        r#"{"head":{"vars":["o"]},"results":{"bindings":[{"o":{"type":"literal","value":"over https"}}]}}"#;
    let base = https("application/sparql-results+json", result);
    let query = format!("SELECT ?o {{ SERVICE <{base}/sparql> {{ <http://e/a> <http://e/name> ?o }} }}");
    let args = [
        "query",
        "db",
        &query,
        "--allow-service",
        "https://127.0.0.1*",
        "--allow-service",
        "*",
        "--format",
        "csv",
    ];
    let unknown = lode.run(&args).fails(1);
    assert!(unknown.contains("certificate") && unknown.contains(&base), "{unknown}");
    let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/certificates/authority.pem");
    let with = |file: &str, args: &[&str]| {
        crate::lode::Outcome::of(lode.command(args).env("SSL_CERT_FILE", file).output().unwrap())
    };
    assert_eq!(with(authority, &args).ok(), "o\r\nover https\r\n");
    let missing = with("none.pem", &args).fails(1);
    assert!(missing.contains("none.pem") && missing.contains("SSL_CERT_FILE"), "{missing}");
    let base = https("text/turtle", "<http://e/a> <http://e/p> 1 , 2 .");
    let load = ["load", "other", "--allow-url", &format!("{base}/data.ttl")];
    lode.run(&load).fails(1);
    with(authority, &load).ok();
    assert_eq!(lode.run(&["query", "other", "ASK { ?s ?p 2 }", "--format", "csv"]).ok().trim(), "true");
}
