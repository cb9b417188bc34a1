//! What those use who run a server: configuration from three places, SIGHUP, logs, `lode status`, proxies.

use crate::endpoint::{Endpoint, wait_for};
use crate::lode::{Lode, Outcome};
use serde_json::Value;
use std::time::{Duration, Instant};

const TEXT: &str = "<http://e/a> <http://e/p> 1, 2 .";
/// Of 1,000 triples it takes ages.
const SLOW: &str = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p FILTER(?c != ?p || ?f != ?i) }";

fn lines(lode: &Lode, name: &str) -> Vec<String> {
    std::fs::read_to_string(lode.path(name)).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_server_of_a_file_reads_it_again() {
    let data: String = (0..1000).map(|i| format!("<http://e/s{i}> <http://e/p> {i} . ")).collect();
    let lode = Lode::with_turtle(&data);
    let file = |timeout: &str| {
        format!(
            "database = \"db\"\ntimeout = {timeout}\naccess-log = \"access.log\"\naudit-log = \"audit.log\"\nslow-query-log = \"slow.log\"\n\
             slow-query = 0\nlog-format = \"json\"\n"
        )
    };
    lode.write("lode.toml", file("0.3"));
    let checked = lode.run(&["serve", "--config", "lode.toml", "--check-config"]);
    assert!(checked.err.contains("the configuration is good"), "{checked:?}");
    checked.ok();
    // The database of the command line is that of the file.
    let endpoint = Endpoint::at_config(&lode, &["--config", "lode.toml", "--bind", "127.0.0.1:0"]);
    endpoint.query(SLOW, "text/csv").is(504);
    endpoint.query("ASK {}", "text/csv").is(200);
    wait_for("lines", || lines(&lode, "access.log").len() >= 2 && lines(&lode, "slow.log").len() >= 2);
    // Rotated, and with another limit, and something that waits.
    std::fs::rename(lode.path("access.log"), lode.path("access.1")).unwrap();
    lode.write("lode.toml", file("3600") + "connections-max = 7\n");
    endpoint.hang_up();
    wait_for("the new file", || lode.path("access.log").exists());
    // The limit follows, once the file is read.
    let asked = std::cell::Cell::new(0);
    wait_for("the new limit", || {
        let (started, kind) = (Instant::now(), ("Content-Type", "application/sparql-query"));
        asked.set(asked.get() + 1);
        endpoint.send("POST", "/query?timeout=1.5", &[kind], SLOW.as_bytes()).is(504);
        started.elapsed() > Duration::from_millis(1400)
    });
    wait_for("their lines", || lines(&lode, "access.log").len() == asked.get());
    assert_eq!(lines(&lode, "access.1").len(), 2);
    // One that is wrong changes nothing.
    lode.write("lode.toml", "tiemout = 3");
    endpoint.hang_up();
    std::thread::sleep(Duration::from_millis(300));
    endpoint.update("INSERT DATA { <http://e/b> <http://e/p> 3 }").is(200);
    let said = endpoint.stop();
    for part in [
        "changed: timeout",
        "from the next start on: connections-max",
        "unknown key tiemout: timeout is likely meant",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for line in said.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        assert!(
            line["timestamp"].is_string() && line["level"].is_string() && line["message"].is_string(),
            "{line}"
        );
    }
    let audit: Vec<Value> =
        lines(&lode, "audit.log").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((audit.len(), audit[0]["inserted"].as_u64()), (1, Some(1)), "{audit:?}");
    let access: Value = serde_json::from_str(&lines(&lode, "access.log")[0]).unwrap();
    assert_eq!(access["status"].as_u64(), Some(504));
}

#[test]
fn the_environment_goes_between_command_line_and_file() {
    let lode = Lode::with_turtle(TEXT);
    lode.write(
        "lode.toml",
        "timeout = 3\nupdate-timeout = 4\ndownload-timeout = 5\nadmin-token = \"sesame\"\nread-only = true\n",
    );
    let run = |args: &[&str], environment: &[(&str, &str)]| {
        let mut command = lode.command(args);
        command.envs(environment.iter().copied());
        Outcome::of(command.output().unwrap())
    };
    let environment = [
        ("LODE_CONFIG", "lode.toml"),
        ("LODE_TIMEOUT", "13"),
        ("LODE_UPDATE_TIMEOUT", "14"),
        ("LODE_DATABASE", "db"),
        ("LODE_NO_COMPACTION", "1"),
    ];
    let shown = run(&["config", "show", "--timeout", "23"], &environment).ok();
    for line in [
        "database = \"db\"  # environment, LODE_DATABASE",
        "timeout = 23  # command line",
        "update-timeout = 14  # environment, LODE_UPDATE_TIMEOUT",
        "download-timeout = 5  # lode.toml:3",
        "admin-token = \"(hidden)\"  # lode.toml:4",
        "read-only = true  # lode.toml:5",
        "no-compaction = 1  # environment, LODE_NO_COMPACTION",
        "connections-max = 1024  # default",
        "# cors is not set",
        "# memory is not set",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    assert!(!shown.contains("sesame"));
    // What is shown is a file again.
    lode.write("again.toml", shown.replace("\"(hidden)\"", "\"x\""));
    run(&["serve", "--config", "again.toml", "--check-config"], &[]).ok();
    let wrong = run(&["serve", "db", "--check-config"], &[("LODE_TIMEOUT", "soon")]).fails(2);
    assert!(wrong.contains("expected a number of seconds"), "{wrong}");
    for (file, error) in [
        ("tls-cert = \"a.pem\"", "go together"),
        ("admin-token = \"a\"\nadmin-token-file = \"b\"", "give one of them"),
        ("\n\nmemori = 1", "wrong.toml:3:1: unknown key memori: memory is likely meant"),
    ] {
        lode.write("wrong.toml", file);
        let told = run(&["serve", "db", "--config", "wrong.toml", "--check-config"], &[]).fails(2);
        assert!(told.contains(error), "{told}");
    }
    lode.write("tls.toml", "tls-cert = \"none.pem\"\ntls-key = \"none.pem\"");
    let told = run(&["serve", "db", "--config", "tls.toml", "--check-config"], &[]).fails(1);
    assert!(told.contains("TLS: none.pem"), "{told}");
    lode.write("users.toml", "users = \"none.json\"");
    run(&["serve", "db", "--config", "users.toml", "--check-config"], &[]).fails(1);
    let example = run(&["config", "example"], &[]).ok();
    lode.write("example.toml", &example);
    run(&["serve", "db", "--config", "example.toml", "--check-config"], &[]).ok();
}

#[test]
fn a_token_that_is_in_no_list_of_processes() {
    let lode = Lode::with_turtle(TEXT);
    lode.write("token", "sesame\nmore");
    let endpoint = Endpoint::start(&lode, &["--admin-token-file", "token"]);
    let list = std::fs::read_to_string(format!("/proc/{}/cmdline", endpoint.pid())).unwrap();
    assert!(!list.contains("sesame"));
    let status = |extra: &[&str]| lode.run(&[&["status", &endpoint.base], extra].concat());
    assert!(status(&[]).fails(1).contains("--token"));
    assert!(status(&["--token-file", "token"]).ok().contains("2 quads"));
    let mut command = lode.command(&["top", "--once", "--endpoint", &endpoint.base]);
    assert!(Outcome::of(command.env("LODE_TOKEN", "sesame").output().unwrap()).ok().contains("0 running"));
    lode.write("empty", "\n");
    assert!(status(&["--token-file", "empty"]).fails(1).contains("first line is empty"));
}

#[test]
fn status_is_for_people_and_for_programs() {
    let lode = Lode::with_turtle(TEXT);
    let endpoint = Endpoint::start(&lode, &[]);
    endpoint.update("INSERT DATA { <http://e/b> <http://e/p> 3 }").is(200);
    let text = lode.run(&["status", &endpoint.base]).ok();
    for part in [
        "Health     ready\n",
        "3 quads, version",
        "writable",
        "spog ",
        "dictionary ",
        "1 commits, ",
        "Memory     ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: Value = serde_json::from_str(&lode.run(&["status", &endpoint.base, "--json"]).ok()).unwrap();
    assert_eq!((json["quads"].as_u64(), json["server"]["health"].as_str()), (Some(3), Some("ready")));
    assert!(
        json["disk"]["log_bytes"].as_u64() > Some(0) && json["disk"]["database_bytes"].as_u64() > Some(1000)
    );
    assert!(json["memory"]["pool_bytes_max"].as_u64() > json["memory"]["pool_bytes"].as_u64());
    let nobody = lode.run(&["status", "http://127.0.0.1:1"]).fails(1);
    assert!(nobody.contains("nobody answers"), "{nobody}");
}

#[test]
fn the_word_of_trusted_proxies_counts() {
    let lode = Lode::with_turtle(TEXT);
    let forwarded = [
        ("X-Forwarded-For", "203.0.113.7"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Host", "data.example.org"),
    ];
    let trusting = Endpoint::start(
        &lode,
        &[
            "--trusted-proxy",
            "127.0.0.0/8",
            "--host",
            "data.example.org",
            "--access-log",
            "log",
            "--read-only",
        ],
    );
    // The client is elsewhere, although the proxy is here.
    trusting.send("GET", "/admin/stats", &forwarded, b"").is(403);
    trusting.send("GET", "/admin/stats", &[], b"").is(200);
    let described = trusting.send("GET", "/sparql", &forwarded, b"").is(200);
    assert!(described.body.contains("<https://data.example.org/sparql>"), "{described:?}");
    wait_for("lines", || lines(&lode, "log").len() >= 3);
    assert_eq!(lines(&lode, "log").iter().filter(|line| line.starts_with("203.0.113.7 ")).count(), 2);
    let other = Endpoint::start(&lode, &["--access-log", "log2", "--read-only"]);
    // Nobody believes it, and nobody takes its client for somebody here.
    let refused = other.send("GET", "/admin/stats", &forwarded[..1], b"").is(403);
    assert!(refused.body.contains("--trusted-proxy"), "{refused:?}");
    let described = other.send("GET", "/sparql", &forwarded, b"").is(200);
    assert!(!described.body.contains("example.org"), "{described:?}");
    wait_for("lines", || lines(&lode, "log2").len() >= 2);
    assert!(lines(&lode, "log2").iter().all(|line| line.starts_with("127.0.0.1 ")));
}

#[test]
fn certificates_of_ones_own_are_believed_when_told() {
    let lode = Lode::with_turtle(TEXT);
    let made =
        rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    lode.write("cert.pem", made.cert.pem());
    lode.write("key.pem", made.signing_key.serialize_pem());
    let other = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    lode.write("other.pem", other.cert.pem());
    let endpoint = Endpoint::start(&lode, &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    let status = |extra: &[&str]| lode.run(&[&["status", &endpoint.base], extra].concat());
    status(&[]).fails(1);
    status(&["--ca", "other.pem"]).fails(1);
    status(&["--ca", "key.pem"]).fails(1);
    assert!(status(&["--ca", "cert.pem"]).ok().contains("ready"));
    assert!(status(&["--insecure"]).ok().contains("ready"));
    lode.run(&["top", "--once", "--endpoint", &endpoint.base, "--ca", "cert.pem"]).ok();
}

#[test]
fn a_server_that_stops_is_not_ready_and_writes_its_logs() {
    let lode = Lode::with_turtle(TEXT);
    let endpoint = Endpoint::start(&lode, &["--access-log", "log", "--log-level", "debug"]);
    endpoint.send("GET", "/health/ready", &[], b"").is(200);
    endpoint.send("GET", "/none", &[("User-Agent", "x")], b"").is(404);
    let said = endpoint.stop();
    assert!(said.contains("stopped"), "{said}");
    assert_eq!(lines(&lode, "log").len(), 2);
}
