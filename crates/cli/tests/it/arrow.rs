//! Arrow and Parquet: of a build with the feature, by the command line and over HTTP; read by other people's libraries where they are
//! installed. A build without says so.

use crate::endpoint::Endpoint;
use crate::lode::Lode;

const TURTLE: &str =
    "@prefix : <http://e/> . :a a :C ; :p 1, 2 . :b a :C ; :p 3 ; :q :a . :x :p \"text\"@en .";
const QUERY: &str = "SELECT ?s ?o { ?s a <http://e/C> ; <http://e/p> ?o } ORDER BY ?o";
const STREAM: &str = "application/vnd.apache.arrow.stream";

#[cfg(not(feature = "arrow"))]
#[test]
fn a_build_without_says_so() {
    let lode = Lode::with_turtle(TURTLE);
    let error = lode.run(&["query", "db", QUERY, "--format", "arrow"]).fails(2);
    assert!(error.contains("--features arrow"), "{error}");
    let error = lode.run(&["dump", "db", "--format", "parquet"]).fails(2);
    assert!(error.contains("--features arrow"), "{error}");
    let endpoint = Endpoint::serve(&lode, "db", &[]);
    endpoint.query(QUERY, STREAM).is(406);
    let accept = format!("{STREAM}, text/csv;q=0.5");
    assert_eq!(endpoint.query(QUERY, &accept).is(200).media_type, "text/csv; charset=utf-8");
}

#[cfg(feature = "arrow")]
mod with {
    use super::*;
    use crate::lode::note;
    use std::process::Command;

    /// What a stream of Arrow begins with: a message of a schema.
    const CONTINUATION: [u8; 4] = [0xff; 4];

    /// The bytes that a command writes.
    fn bytes(lode: &Lode, args: &[&str]) -> Vec<u8> {
        let output = lode.command(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    #[test]
    fn answers_and_dumps() {
        let lode = Lode::with_turtle(TURTLE);
        for (name, start) in [
            ("arrow", &CONTINUATION[..]),
            ("arrow-struct", &CONTINUATION),
            ("arrow-text", &CONTINUATION),
            ("parquet", b"PAR1"),
            ("parquet-struct", b"PAR1"),
            ("parquet-text", b"PAR1"),
        ] {
            for query in [QUERY, "ASK {}", "CONSTRUCT WHERE { ?s ?p ?o }", "SELECT * {}"] {
                let written = bytes(&lode, &["query", "db", query, "--format", name]);
                assert!(written.starts_with(start), "{name} {query}");
            }
        }
        let table = bytes(&lode, &["dump", "db", "--format", "parquet"]);
        assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"));
        let said = lode.run(&["dump", "db", "--format", "parquet", "--by-class", "--output", "tables"]);
        said.ok();
        assert!(lode.path("tables/C.parquet").is_file());
        let again = ["dump", "db", "--format", "parquet", "--by-class", "--output", "tables"];
        assert!(lode.run(&again).fails(1).contains("not empty"));
        lode.run(&["dump", "db", "--by-class", "--output", "other"]).fails(2);
        lode.run(&["dump", "db", "--format", "parquet", "--by-class"]).fails(2);
    }

    #[test]
    fn servers_answer_so() {
        let lode = Lode::with_turtle(TURTLE);
        let endpoint = Endpoint::serve(&lode, "db", &[]);
        let ask = |path: &str, accept: &str| {
            let request = ureq::get(format!("{}{path}", endpoint.base())).header("Accept", accept);
            let mut answer = request.call().unwrap();
            let media_type = answer.headers().get("content-type").unwrap().to_str().unwrap().to_owned();
            (media_type, answer.body_mut().read_to_vec().unwrap())
        };
        let path = "/sparql?query=SELECT%20*%20%7B%20%3Fs%20%3Fp%20%3Fo%20%7D";
        let (media_type, body) = ask(path, STREAM);
        assert_eq!((media_type.as_str(), &body[..4]), (STREAM, &CONTINUATION[..]));
        let (media_type, body) = ask(&format!("{path}&format=parquet"), "*/*");
        assert_eq!((media_type.as_str(), &body[..4]), ("application/vnd.apache.parquet", &b"PAR1"[..]));
        // Among equals, and with wildcards, it is as before.
        let json = endpoint.query(QUERY, "*/*").is(200);
        assert_eq!(json.media_type, "application/sparql-results+json");
    }

    #[test]
    fn python_libraries_read_them() {
        let python = std::env::var("LODE_CLIENTS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let found = Command::new(&python).args(["-c", "import pyarrow.parquet, pandas"]).output();
        if !found.is_ok_and(|output| output.status.success()) {
            return note(format_args!("skipped: {python} has no pyarrow or pandas (LODE_CLIENTS_PYTHON)"));
        }
        let lode = Lode::new();
        let endpoint = Endpoint::serve(&lode, "db", &[]);
        let program = format!("{}/tests/clients/arrow_client.py", env!("CARGO_MANIFEST_DIR"));
        let output = Command::new(python).args([&program, endpoint.base()]).output().unwrap();
        let said = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.0.trim_end() == "ok", "{} {}", said.0, said.1);
    }
}
