//! How a server ends when it is asked to, and a dump whose reader has seen enough.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Takes ages.
const SLOW: &str = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p . ?q ?r ?s FILTER(?c != ?p || ?f != ?s) }";

#[test]
fn what_runs_is_told_and_ended() {
    let lode = Lode::new();
    lode.write(
        "many.nt",
        (0..2000).map(|i| format!("<http://e/{i}> <http://e/p> \"{i}\" .\n")).collect::<String>(),
    );
    lode.run(&["load", "db", "many.nt"]).ok();
    let endpoint = Endpoint::start(&lode, &["--timeout", "3600"]);
    let path = format!("{}/query", endpoint.base);
    let client = thread::spawn(move || {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let answer = agent.post(path).header("Content-Type", "application/sparql-query").send(SLOW);
        answer.map(|answer| answer.status().as_u16())
    });
    while !endpoint.send("GET", "/admin/queries", &[], b"").body.contains("\"running\"") {
        thread::sleep(Duration::from_millis(20));
    }
    let said = endpoint.stop();
    assert!(said.contains("1 request is being answered") && said.contains("stopped"), "{said}");
    // It was told, or saw its connection end.
    assert!(client.join().unwrap().map_or(true, |status| status == 500 || status == 503));
}

#[test]
fn a_dump_whose_reader_leaves_is_no_error() {
    let lode = Lode::new();
    lode.write(
        "many.nt",
        (0..200_000).map(|i| format!("<http://e/{i}> <http://e/p> \"{i}\" .\n")).collect::<String>(),
    );
    lode.run(&["load", "db", "many.nt"]).ok();
    for format in ["nq", "nt", "trig", "jsonld"] {
        let mut child = lode
            .command(&["dump", "db", "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.is_empty(), "{format}: {said}");
    }
}

#[test]
fn who_asks_at_once_to_read_again_does_not_end_the_server() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    for _ in 0..8 {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let bind = address.to_string();
        let mut command = lode.command(&["serve", "db", "--bind", &bind]);
        let mut server = command.stderr(Stdio::null()).spawn().unwrap();
        while TcpStream::connect(address).is_err() {
            assert!(server.try_wait().unwrap().is_none(), "it did not start");
        }
        let process = server.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &process]).status().unwrap().success());
        // It ends as it does when it is asked to, not by the first signal.
        thread::sleep(Duration::from_millis(20));
        assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
        assert!(server.wait().unwrap().success());
    }
}
