//! Limits of roles, kept queries and what else keeps a server upright, as the command line has them.

use crate::endpoint::{Endpoint, wait_for};
use crate::lode::{Lode, Outcome};
use std::process::Command;

const TEXT: &str = "<http://e/a> <http://e/p> 1, 2, 3 .";
const ALL: &str = "SELECT * { ?s ?p ?o }";
const QUERY: (&str, &str) = ("Content-Type", "application/sparql-query");

#[test]
fn limits_of_roles_are_those_of_the_file_and_read_again() {
    let lode = Lode::with_turtle(TEXT);
    let file = |rows: u32| {
        format!(
            "database = \"db\"\nanonymous = \"read\"\n[limits.anonymous]\nrows = {rows}\n[limits.update]\nrows = 1\n"
        )
    };
    lode.write("lode.toml", file(2));
    let token = lode.run(&["token", "add", "db", "writer", "--role", "update"]).ok();
    let named = format!("Bearer {}", token.trim());
    let endpoint = Endpoint::at_config(&lode, &["--config", "lode.toml", "--bind", "127.0.0.1:0"]);
    let ask = |query: &str, named: Option<&str>| {
        let fields: Vec<_> = [QUERY].into_iter().chain(named.map(|named| ("Authorization", named))).collect();
        endpoint.send("POST", "/query", &fields, query.as_bytes())
    };
    ask("SELECT * { ?s ?p ?o } LIMIT 2", None).is(200);
    assert!(ask(ALL, None).is(413).body.contains("anonymous requests is 2 rows (rows of limits.anonymous)"));
    let told = ask(ALL, Some(&named)).is(413).body;
    assert!(told.contains("the role update is 1 rows (rows of limits.update)"), "{told}");
    lode.write("lode.toml", file(3));
    endpoint.hang_up();
    wait_for("the new limit", || ask(ALL, None).status == 200);
    assert!(endpoint.stop().contains("changed: limits-anonymous"));
}

#[test]
fn bodies_that_unpack_to_too_much_are_refused() {
    let lode = Lode::with_turtle(TEXT);
    let endpoint = Endpoint::start(&lode, &["--decoded-bytes-max", "1MiB", "--transaction-quads-max", "100"]);
    let text = |lines: usize| {
        (0..lines).map(|i| format!("<http://e/{i:010}> <http://e/p> <e:o> .\n")).collect::<String>()
    };
    // 43 bytes each.
    let (fits, is_more) = (text((1 << 20) / 43), text((1 << 20) / 43 + 1));
    for (tool, coding) in [("gzip", Some("gzip")), ("gzip", None), ("zstd", Some("zstd")), ("xz", Some("xz"))]
    {
        let packed = |text: &str| {
            lode.write("data.nt", text);
            let input = std::fs::File::open(lode.path("data.nt")).unwrap();
            let packed = Command::new(tool).arg("-c").stdin(input).output();
            packed.ok().filter(|output| output.status.success()).map(|output| output.stdout)
        };
        let (Some(fits), Some(is_more)) = (packed(&fits), packed(&is_more)) else {
            crate::lode::note(format_args!("no {tool}"));
            continue;
        };
        let kind = ("Content-Type", "application/n-triples");
        let fields: Vec<_> =
            [kind].into_iter().chain(coding.map(|coding| ("Content-Encoding", coding))).collect();
        endpoint.send("POST", "/data?graph=http://e/g", &fields, &fits).is(201);
        endpoint.send("DELETE", "/data?graph=http://e/g", &[], b"").is(200);
        let told = endpoint.send("POST", "/data?graph=http://e/g", &fields, &is_more).is(413).body;
        assert!(
            told.contains("more than 1048576 bytes once it is unpacked")
                && told.contains("--decoded-bytes-max"),
            "{told}"
        );
    }
    assert_eq!(endpoint.quads(), 3);
}

#[test]
fn kept_queries_are_there_after_a_restart_and_in_backups() {
    let lode = Lode::with_turtle(TEXT);
    std::fs::create_dir(lode.path("backups")).unwrap();
    let endpoint = Endpoint::start(&lode, &["--backup-dir", &lode.path("backups").display().to_string()]);
    let path = "/queries/above?parameter=least:integer=2";
    endpoint.send("PUT", path, &[QUERY], b"SELECT ?o { ?s ?p ?o FILTER(?o >= ?least) } ORDER BY ?o").is(201);
    endpoint.send("POST", "/admin/backup?to=b", &[], b"").is(200);
    endpoint.stop();
    lode.run(&["backup", "db", "other"]).ok();
    for (place, run) in [("db", true), ("backups/b", false), ("other", false)] {
        let served = if run { place.to_owned() } else { format!("{}-restored", place.replace('/', "-")) };
        if !run {
            lode.run(&["restore", place, &served]).ok();
        }
        let endpoint = Endpoint::serve(&lode, &served, &[]);
        let answer = endpoint.send("GET", "/queries/above?least=3", &[("Accept", "text/csv")], b"").is(200);
        assert_eq!(answer.body, "o\r\n3\r\n", "{place}");
        if run {
            endpoint.send("DELETE", "/queries/above", &[], b"").is(200);
        }
    }
    // What was removed is removed from the backup, too.
    lode.run(&["backup", "db", "other"]).ok();
    assert!(!std::fs::read_to_string(lode.path("other/queries.json")).unwrap().contains("above"));
}

#[test]
fn a_check_of_the_configuration_finds_what_serving_would_refuse() {
    let lode = Lode::with_turtle(TEXT);
    let refuse = |file: &str, told: &str| {
        lode.write("lode.toml", file);
        let error = lode.run(&["serve", "--config", "lode.toml", "--check-config"]).fails(1);
        assert!(error.contains(told), "{file}: {error}");
    };
    refuse("database = \"db\"\n\nusers = \"none.json\"", "lode.toml:3: users: there is no file none.json");
    refuse(
        "database = \"db\"\naccess-log = \"none/a.log\"",
        "lode.toml:2: access-log: there is no folder none",
    );
    refuse("database = \"db\"\naudit-log = \"db\"", "lode.toml:2: audit-log: db is a folder");
    refuse("database = \"db\"\nbackup-dir = \"none\"", "lode.toml:2: backup-dir: there is no folder none");
    refuse("database = \"lode.toml\"", "lode.toml:1: database: lode.toml is no folder");
    refuse("database = \"none\"\nmust-exist = true", "lode.toml:1: database: there is no database none");
    refuse("database = \"db\"\nadmin-token-file = \"none\"", "lode.toml:2: admin-token-file");
    let mut command = lode.command(&["serve", "db", "--check-config"]);
    let said = Outcome::of(command.env("LODE_TIMEOT", "3").output().unwrap());
    assert!(
        said.err.contains("LODE_TIMEOT in the environment is no option: LODE_TIMEOUT is likely meant"),
        "{said:?}"
    );
    said.ok();
}

#[test]
fn a_taken_port_leaves_nothing_behind() {
    let lode = Lode::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for place in [&["new"][..], &["--databases", "new"]] {
        let args: Vec<&str> = ["serve"].iter().chain(place).chain(&["--bind", &address]).copied().collect();
        assert!(lode.run(&args).fails(1).contains("cannot listen on"));
        assert!(!lode.path("new").exists());
    }
}

#[test]
fn servers_are_named_in_two_ways_and_queries_come_from_standard_input() {
    let lode = Lode::with_turtle(TEXT);
    let endpoint = Endpoint::start(&lode, &[]);
    let base = endpoint.base();
    for args in [
        &["top", base, "--once"][..],
        &["top", "--endpoint", base, "--once"],
        &["status", base],
        &["status", "--endpoint", base],
    ] {
        lode.run(args).ok();
    }
    for args in [&["cancel", base, "77"][..], &["cancel", "77", base], &["cancel", "77", "--endpoint", base]]
    {
        assert!(lode.run(args).fails(1).contains("no request 77"), "{args:?}");
    }
    assert!(lode.run(&["cancel", base]).fails(2).contains("what is to be stopped?"));
    assert!(lode.run(&["cancel", "x"]).fails(2).contains("expected the number"));
    endpoint.stop();
    let mut command = lode.command(&["query", "db", "-", "--format", "csv"]);
    let mut child =
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "n\r\n3\r\n");
}
