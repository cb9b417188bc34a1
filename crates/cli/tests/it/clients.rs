//! Programs with other people's libraries, unmodified, where these are installed (docs/testing.md says how to get them).

use crate::endpoint::Endpoint;
use crate::lode::{Lode, note};
use std::process::Command;

/// A database among several, and its address.
fn server(lode: &Lode) -> (Endpoint, String) {
    let endpoint = Endpoint::serve_with(lode, &["--databases", "all"], &[]);
    endpoint.send("POST", "/admin/databases?name=d", &[], b"").is(201);
    let address = format!("{}/d", endpoint.base());
    (endpoint, address)
}

fn program(name: &str) -> String {
    format!("{}/tests/clients/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    let said = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.0.trim_end() == "ok", "{} {}", said.0, said.1);
}

/// `LODE_CLIENTS_CLASSPATH` has the libraries.
fn java(name: &str) {
    let Ok(path) = std::env::var("LODE_CLIENTS_CLASSPATH") else {
        return note(format_args!("skipped: LODE_CLIENTS_CLASSPATH is not set"));
    };
    let lode = Lode::new();
    let (_endpoint, address) = server(&lode);
    succeeds(Command::new("java").args(["-cp", &path, &program(name), &address]));
}

#[test]
fn jena_connections() {
    java("JenaClient.java");
}

#[test]
fn rdf4j_repositories() {
    java("Rdf4jClient.java");
}

#[test]
fn python_libraries() {
    let python = std::env::var("LODE_CLIENTS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import rdflib, SPARQLWrapper"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        return note(format_args!("skipped: {python} has no rdflib or SPARQLWrapper (LODE_CLIENTS_PYTHON)"));
    }
    let lode = Lode::new();
    let (_endpoint, address) = server(&lode);
    succeeds(Command::new(python).args([&program("python_client.py"), &address]));
}
