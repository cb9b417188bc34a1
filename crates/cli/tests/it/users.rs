//! Who may what: users and tokens from the command line, and every role at every address.

use crate::endpoint::{Answer, Endpoint};
use crate::lode::{Lode, Outcome};
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

const PASSWORD: &str = "correct horse battery";
const TEXT: &str = "@prefix : <http://e/> . :a :secret \"hidden\" .";

/// Runs a command with a line on standard input.
pub fn with_line(lode: &Lode, args: &[&str], line: &str) -> Outcome {
    let mut command = lode.command(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that refuses may have ended before it reads.
    let _ = child.stdin.take().unwrap().write_all(format!("{line}\n").as_bytes());
    Outcome::of(child.wait_with_output().unwrap())
}

fn add(lode: &Lode, name: &str, role: &str) {
    with_line(lode, &["user", "add", "db", name, "--role", role], PASSWORD).ok();
}

fn add_token(lode: &Lode, name: &str, extra: &[&str]) -> String {
    let token = lode.run(&[&["token", "add", "db", name], extra].concat()).ok();
    format!("Bearer {}", token.trim())
}

fn basic(name: &str, password: &str) -> String {
    // The alphabet of RFC 4648.
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("Basic ");
    for part in format!("{name}:{password}").as_bytes().chunks(3) {
        let bits =
            part.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for digit in 0..4 {
            let value = usize::try_from(bits >> (18 - 6 * digit) & 63).unwrap();
            text.push(if digit <= part.len() { char::from(DIGITS[value]) } else { '=' });
        }
    }
    text
}

fn ask(endpoint: &Endpoint, credentials: &str) -> Answer {
    endpoint.send("GET", "/sparql?query=ASK{}", &[("Authorization", credentials)], b"")
}

/// Waits until it is so.
fn wait_for(is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn when_the_last_user_goes_nobody_gets_more() {
    let lode = Lode::with_turtle(TEXT);
    add(&lode, "ann", "read");
    let endpoint = Endpoint::start(&lode, &[]);
    ask(&endpoint, &basic("ann", PASSWORD)).is(200);
    lode.run(&["user", "remove", "db", "ann"]).ok();
    wait_for(|| ask(&endpoint, &basic("ann", PASSWORD)).status == 401);
    endpoint.send("GET", "/sparql?query=ASK{}", &[], b"").is(401);
    endpoint.send("GET", "/admin/stats", &[], b"").is(401);
}

#[test]
fn a_right_token_passes_whatever_others_have_sent() {
    let lode = Lode::with_turtle(TEXT);
    let token = add_token(&lode, "ci", &[]);
    let endpoint = Endpoint::start(&lode, &[]);
    (0..30).for_each(|_| assert!([401, 429].contains(&ask(&endpoint, "Bearer lode_wrong").status)));
    ask(&endpoint, &token).is(200);
}

#[test]
fn a_database_without_a_name_is_none() {
    let lode = Lode::with_turtle(TEXT);
    let args = ["user", "add", "db", "ann", "--role", "read", "--database", ""];
    with_line(&lode, &args, PASSWORD).fails(2);
    lode.run(&["token", "add", "db", "ci", "--database", ""]).fails(2);
    assert_eq!(lode.run(&["user", "list", "db"]).ok(), "");
}

#[test]
fn a_mistyped_place_makes_no_users() {
    let lode = Lode::with_turtle(TEXT);
    std::fs::create_dir(lode.path("empty")).unwrap();
    for place in ["bd", "none/users.json", "empty"] {
        let error = with_line(&lode, &["user", "add", place, "ann", "--role", "admin"], PASSWORD).fails(1);
        assert!(error.contains("there is no") || error.contains("is no database"), "{error}");
        lode.run(&["token", "add", place, "ci"]).fails(1);
        lode.run(&["user", "list", place]).fails(1);
    }
    lode.run(&["serve", "db", "--users", "typo.json"]).fails(1);
}

#[test]
fn users_and_tokens_come_and_go_while_a_server_runs() {
    let lode = Lode::with_turtle(TEXT);
    add(&lode, "ann", "read");
    let listed = lode.run(&["user", "list", "db"]).ok();
    assert_eq!(listed, "ann\tread\n");
    let endpoint = Endpoint::start(&lode, &[]);
    assert!(endpoint.send("GET", "/sparql?query=ASK{}", &[], b"").is(401).body.contains("log in"));
    ask(&endpoint, &basic("ann", PASSWORD)).is(200);
    ask(&endpoint, &basic("ann", "wrong")).is(401);
    let token = add_token(&lode, "ci", &["--role", "update"]);
    wait_for(|| ask(&endpoint, &token).status == 200);
    let short = add_token(&lode, "short", &["--expires", "4s"]);
    wait_for(|| ask(&endpoint, &short).status == 200);
    let listed = lode.run(&["token", "list", "db"]).ok();
    assert!(
        listed.starts_with("ci\tupdate\texpires in 89 days\n")
            || listed.starts_with("ci\tupdate\texpires in 90 days\n"),
        "{listed}"
    );
    wait_for(|| ask(&endpoint, &short).status == 401);
    assert!(lode.run(&["token", "list", "db"]).ok().contains("short\tread\thas expired"));
    lode.run(&["token", "revoke", "db", "ci"]).ok();
    wait_for(|| ask(&endpoint, &token).status == 401);
    with_line(&lode, &["user", "passwd", "db", "ann"], "another password").ok();
    wait_for(|| ask(&endpoint, &basic("ann", "another password")).status == 200);
    // What was right a moment ago is not remembered beyond that.
    ask(&endpoint, &basic("ann", PASSWORD)).is(401);
    // A file that is none changes nothing.
    let file = lode.path("db/users.json");
    let good = std::fs::read(&file).unwrap();
    std::fs::write(&file, "{").unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    endpoint.send("GET", "/sparql?query=ASK{}", &[], b"").is(401);
    std::fs::remove_file(&file).unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    endpoint.send("GET", "/sparql?query=ASK{}", &[], b"").is(401);
    std::fs::write(&file, good).unwrap();
    let said = endpoint.stop();
    for secret in [PASSWORD, "another password", "wrong", &token[7..], &short[7..]] {
        assert!(!said.contains(secret), "{said}");
    }
    assert!(said.contains("users: "), "{said}");
    // The database does not mind the file.
    lode.run(&["check", "db"]).ok();
}

#[test]
fn what_cannot_be_done_with_users_is_told() {
    let lode = Lode::with_turtle(TEXT);
    add(&lode, "ann", "admin");
    let again = with_line(&lode, &["user", "add", "db", "ann", "--role", "read"], PASSWORD).fails(1);
    assert!(again.contains("already"), "{again}");
    assert!(
        with_line(&lode, &["user", "add", "db", "bob", "--role", "read"], "short")
            .fails(1)
            .contains("at least 8")
    );
    lode.run(&["user", "remove", "db", "bob"]).fails(1);
    with_line(&lode, &["user", "passwd", "db", "bob"], PASSWORD).fails(1);
    lode.run(&["token", "revoke", "db", "bob"]).fails(1);
    lode.run(&["user", "list", "nowhere/db"]).fails(1);
    lode.run(&["user", "add", "db", "bob"]).fails(2);
    lode.run(&["token", "add", "db", "bob", "--expires", "soon"]).fails(2);
    let error = lode.run(&["serve", "db", "--users", "none.json"]).fails(1);
    assert!(error.contains("none.json") && error.contains("lode user add"), "{error}");
    lode.write("bad.json", "{}");
    assert!(
        lode.run(&["serve", "db", "--users", "bad.json"]).fails(1).contains("bad.json is no file of users")
    );
    lode.run(&["user", "remove", "db", "ann"]).ok();
    assert_eq!(lode.run(&["user", "list", "db"]).ok(), "");
    // A file of its own.
    with_line(&lode, &["user", "add", "mine.json", "bob", "--role", "read"], PASSWORD).ok();
    let endpoint = Endpoint::start(&lode, &["--users", "mine.json"]);
    ask(&endpoint, &basic("bob", PASSWORD)).is(200);
    ask(&endpoint, "").is(401);
}

/// A request, and the role that it takes: 0 for all, 1 to 3 for read, update and admin.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str, u8);

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const UPDATE: (&str, &str) = ("Content-Type", "application/sparql-update");
const TURTLE: (&str, &str) = ("Content-Type", "text/turtle");
const INSERT: &str = "INSERT DATA { <http://e/x> <http://e/y> 1 }";

const CASES: [Case; 37] = [
    ("GET", "/sparql?query=SELECT*{?s?p?o}", &[], "", 1),
    ("HEAD", "/sparql?query=SELECT*{?s?p?o}", &[], "", 1),
    ("POST", "/sparql", &[FORM], "query=SELECT*{?s?p?o}", 1),
    ("POST", "/query", &[("Content-Type", "application/sparql-query")], "SELECT*{?s?p?o}", 1),
    ("GET", "/query?query=SELECT*{?s?p?o}&profile=1", &[], "", 1),
    ("GET", "/sparql", &[], "", 1),
    ("GET", "/.well-known/void", &[], "", 1),
    ("GET", "/", &[], "", 0),
    ("GET", "/data", &[], "", 1),
    ("GET", "/data?default", &[], "", 1),
    ("HEAD", "/data?default", &[], "", 1),
    ("GET", "/data/none", &[], "", 1),
    ("GET", "/nothing", &[], "", 1),
    ("POST", "/sparql", &[FORM], "update=INSERT+DATA+{}", 2),
    ("POST", "/sparql", &[UPDATE], INSERT, 2),
    ("POST", "/sparql?update=INSERT+DATA+{}", &[FORM], "", 2),
    ("POST", "/update", &[UPDATE], INSERT, 2),
    ("POST", "/update", &[UPDATE], "LOAD <file:///etc/passwd>", 2),
    ("POST", "/update", &[UPDATE], "not SPARQL", 2),
    ("GET", "/update", &[], "", 2),
    ("PUT", "/data?graph=http://e/g", &[TURTLE], "<http://e/x> <http://e/y> 1 .", 2),
    ("POST", "/data?graph=http://e/g", &[TURTLE], "<http://e/x> <http://e/y> 1 .", 2),
    ("POST", "/data/x", &[TURTLE], "", 2),
    ("DELETE", "/data?graph=http://e/none", &[], "", 2),
    ("GET", "/admin/stats", &[], "", 3),
    ("HEAD", "/admin/stats", &[], "", 3),
    ("GET", "/admin/queries", &[], "", 3),
    ("DELETE", "/admin/queries/999", &[], "", 3),
    ("POST", "/admin/compact", &[], "", 3),
    ("GET", "/admin/materialise", &[], "", 3),
    ("POST", "/admin/materialise?rules=none", &[], "", 3),
    ("DELETE", "/admin/materialise", &[], "", 3),
    ("GET", "/admin/snapshots", &[], "", 3),
    ("POST", "/admin/snapshots", &[], "", 3),
    ("POST", "/admin/backup?to=x", &[], "", 3),
    ("GET", "/admin/nothing", &[], "", 3),
    ("OPTIONS", "/admin/stats", &[], "", 0),
];

/// Every role, by password and by token, and nobody, at every address: what a role has not is refused, and tells nothing.
fn matrix(endpoint: &Endpoint, who: &[(u8, Option<String>)]) {
    for (method, path, headers, body, needed) in CASES {
        for (role, credentials) in who {
            let mut headers = headers.to_vec();
            if let Some(credentials) = credentials {
                headers.push(("Authorization", credentials));
            }
            let answer = endpoint.send(method, path, &headers, body.as_bytes());
            // Others are refused here, too: those say something else.
            let is_of_role = answer.body.contains("this takes the role") || method == "HEAD";
            let is_refused = [401, 403].contains(&answer.status) && is_of_role;
            assert_eq!(is_refused, *role < needed, "{role} {method} {path} {body} {answer:?}");
            if is_refused {
                assert_eq!(answer.status, if credentials.is_some() { 403 } else { 401 }, "{method} {path}");
                assert!(!answer.body.contains("hidden") && !answer.body.contains("http://e/"), "{answer:?}");
            }
        }
    }
}

#[test]
fn every_role_has_what_it_may_at_every_address_and_nothing_else() {
    let lode = Lode::with_turtle(TEXT);
    let mut who = vec![(0, None)];
    for (number, role) in ["read", "update", "admin"].into_iter().enumerate() {
        let number = u8::try_from(number + 1).unwrap();
        add(&lode, role, role);
        who.push((number, Some(basic(role, PASSWORD))));
        who.push((number, Some(add_token(&lode, role, &["--role", role]))));
    }
    matrix(&Endpoint::start(&lode, &[]), &who);
    let endpoint = Endpoint::start(&lode, &["--anonymous", "read", "--admin-token", "master"]);
    who[0] = (1, None);
    who.push((3, Some("Bearer master".to_owned())));
    matrix(&endpoint, &who);
    // Who sends something wrong is not taken for one who sends nothing.
    for wrong in
        ["Basic", "Basic !", "Basic YQ==", "Bearer", "Bearer x", "Digest x", &basic("nobody", PASSWORD), ""]
    {
        assert_eq!(ask(&endpoint, wrong).status, 401, "{wrong}");
    }
}

#[test]
fn without_users_others_than_this_machine_read_only() {
    let lode = Lode::with_turtle(TEXT);
    let endpoint = Endpoint::at(&lode, "db", "0.0.0.0:0", &[]);
    let there = |endpoint: &Endpoint| endpoint.base.replace("0.0.0.0", "127.0.0.1");
    assert!(!there(&endpoint).is_empty());
    assert_eq!(endpoint.quads(), 1);
    assert!(endpoint.update(INSERT).is(401).body.contains("lode user add"));
    endpoint.send("PUT", "/data?default", &[TURTLE], b"").is(401);
    drop(endpoint);
    let endpoint = Endpoint::at(&lode, "db", "0.0.0.0:0", &["--anonymous", "update"]);
    endpoint.update(INSERT).is(200);
    drop(endpoint);
    let endpoint = Endpoint::start(&lode, &["--anonymous", "none"]);
    endpoint.send("GET", "/sparql?query=ASK{}", &[], b"").is(401);
}

#[test]
fn failed_logins_are_slowed_down_and_others_are_not() {
    let lode = Lode::with_turtle(TEXT);
    add(&lode, "ann", "read");
    add(&lode, "bob", "read");
    let endpoint = Endpoint::start(&lode, &["--memory", "64MiB"]);
    ask(&endpoint, &basic("bob", PASSWORD)).is(200);
    let statuses: Vec<u16> =
        (0..8).map(|n| ask(&endpoint, &basic("ann", &format!("wrong password {n}"))).status).collect();
    assert_eq!(statuses[..3], [401; 3], "{statuses:?}");
    assert!(statuses[4..].contains(&429), "{statuses:?}");
    // Not even what is right is looked at, for a while; who is known goes on at once.
    ask(&endpoint, &basic("ann", PASSWORD)).is(429);
    let started = Instant::now();
    (0..200).for_each(|_| drop(ask(&endpoint, &basic("bob", PASSWORD)).is(200)));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    wait_for(|| ask(&endpoint, &basic("ann", PASSWORD)).status == 200);
}

#[test]
fn users_and_tokens_for_some_graphs() {
    let lode = Lode::with_turtle(TEXT);
    let update = "INSERT DATA { GRAPH <http://e/open/a> { <http://e/s> <http://e/p> 1 } GRAPH <http://e/shut> { <http://e/s> <http://e/p> 2 } }";
    lode.run(&["update", "db", update]).ok();
    let add = |extra: &[&str]| {
        let args = [&["user", "add", "db", "ann", "--role", "read"], extra].concat();
        with_line(&lode, &args, PASSWORD)
    };
    for wrong in [
        &["--graphs", "open"][..],
        &["--graphs", "all default"],
        &["--graphs", "default open"],
        &["--write-graphs", "default"],
    ] {
        add(wrong).fails(1);
    }
    let args = ["user", "add", "db", "ann", "--role", "read", "--graphs", "default", "open"];
    lode.run(&args).fails(2);
    // What follows an option is one value of it: a folder and a name are none.
    let args = ["user", "add", "--role", "read", "--graphs", "default", "http://e/open/*", "db", "ann"];
    let told = lode.run(&args).fails(2);
    assert!(told.contains("unexpected argument"), "{told}");
    let args = ["user", "add", "--role", "read", "--graphs", "default http://e/open/*", "db", "cleo"];
    with_line(&lode, &args, PASSWORD).ok();
    assert_eq!(lode.run(&["user", "list", "db"]).ok(), "cleo\tread (graphs default, http://e/open/*)\n");
    lode.run(&["user", "remove", "db", "cleo"]).ok();
    add(&["--graphs", "http://e/open/*"]).ok();
    assert_eq!(lode.run(&["user", "list", "db"]).ok(), "ann\tread (graphs http://e/open/*)\n");
    let token = add_token(
        &lode,
        "feed",
        &["--role", "update", "--graphs", "none", "--write-graphs", "http://e/shut"],
    );
    let endpoint = Endpoint::start(&lode, &[]);
    let count = |credentials: &str| {
        let query = "/sparql?query=SELECT(COUNT(*)AS?n){{?s?p?o}UNION{GRAPH?g{?s?p?o}}}";
        let fields = [("Authorization", credentials), ("Accept", "text/csv")];
        endpoint.send("GET", query, &fields, b"").is(200).body.replace("\r\n", " ")
    };
    assert_eq!((count(&basic("ann", PASSWORD)), count(&token)), ("n 1 ".to_owned(), "n 0 ".to_owned()));
    let insert = |graph: &str| {
        let fields = [("Authorization", token.as_str()), ("Content-Type", "application/sparql-update")];
        let text = format!("INSERT DATA {{ GRAPH <{graph}> {{ <http://e/s> <http://e/p> 2 }} }}");
        endpoint.send("POST", "/update", &fields, text.as_bytes())
    };
    // Whether it was there is not told.
    assert_eq!(insert("http://e/shut").is(200).number("inserted"), 1);
    assert!(
        insert("http://e/open/a").is(403).body.contains("you may not change the graph <http://e/open/a>")
    );
    // What is not said stays.
    lode.run(&["user", "grant", "db", "ann", "--role", "update"]).ok();
    assert_eq!(lode.run(&["user", "list", "db"]).ok(), "ann\tupdate (graphs http://e/open/*)\n");
    lode.run(&["user", "grant", "db", "ann", "--role", "read", "--graphs", "all"]).ok();
    assert_eq!(lode.run(&["user", "list", "db"]).ok(), "ann\tupdate\n");
    wait_for(|| count(&basic("ann", PASSWORD)) == "n 3 ");
}

#[test]
fn who_does_not_log_in_has_rules_like_others() {
    let lode = Lode::with_turtle(TEXT);
    let update = "INSERT DATA { GRAPH <http://e/open/a> { <http://e/s> <http://e/p> 1 } GRAPH <http://e/shut> { <http://e/s> <http://e/p> 2 } }";
    lode.run(&["update", "db", update]).ok();
    let told = with_line(&lode, &["user", "add", "db", "anonymous", "--role", "read"], PASSWORD).fails(1);
    assert!(told.contains("lode user grant"), "{told}");
    lode.run(&["user", "grant", "db", "anonymous", "--role", "admin"]).fails(1);
    lode.run(&["user", "grant", "db", "anonymous", "--role", "update", "--graphs", "http://e/open/*"]).ok();
    assert_eq!(lode.run(&["user", "list", "db"]).ok(), "anonymous\tupdate (graphs http://e/open/*)\n");
    let graphs = |endpoint: &Endpoint| {
        let query = "/sparql?query=SELECT(COUNT(*)AS?n){{?s?p?o}UNION{GRAPH?g{?s?p?o}}}";
        let answer = endpoint.send("GET", query, &[("Accept", "text/csv")], b"");
        (answer.status, answer.body.replace("\r\n", " "))
    };
    let insert = |endpoint: &Endpoint| {
        let text = b"INSERT DATA { GRAPH <http://e/open/a> { <http://e/s> <http://e/p> 1 } }";
        endpoint.send("POST", "/update", &[("Content-Type", "application/sparql-update")], text).status
    };
    // No more than the option says, and nothing where it says so.
    for (option, status, changes) in
        [(&[][..], 200, 200), (&["--anonymous", "read"], 200, 401), (&["--anonymous", "none"], 401, 401)]
    {
        let endpoint = Endpoint::start(&lode, option);
        let (told, text) = graphs(&endpoint);
        assert_eq!((told, insert(&endpoint)), (status, changes), "{option:?}: {text}");
        assert!(told != 200 || text == "n 1 ", "{text}");
    }
    let endpoint = Endpoint::start(&lode, &["--anonymous", "read"]);
    lode.run(&["user", "remove", "db", "anonymous"]).ok();
    // As ever, once the file says nothing.
    wait_for(|| graphs(&endpoint).1 == "n 3 ");
}
