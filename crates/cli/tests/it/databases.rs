//! Several databases in one server, from the command line and over HTTP.

use crate::endpoint::{Answer, Endpoint};
use crate::lode::Lode;
use std::sync::atomic::{AtomicBool, Ordering};

const INSERT: &str = "application/sparql-update";

/// A server of a folder that was not there.
fn start(lode: &Lode, extra: &[&str]) -> Endpoint {
    Endpoint::serve_with(lode, &["--databases", "all"], extra)
}

fn make(endpoint: &Endpoint, name: &str) -> Answer {
    endpoint.send("POST", &format!("/admin/databases?name={name}"), &[], b"")
}

fn post(endpoint: &Endpoint, path: &str) -> Answer {
    endpoint.send("POST", path, &[], b"")
}

fn insert(endpoint: &Endpoint, path: &str, data: &str) -> Answer {
    let update = format!("INSERT DATA {{ {data} }}");
    endpoint.send("POST", path, &[("Content-Type", INSERT)], update.as_bytes())
}

/// What an ASK answers.
fn ask(endpoint: &Endpoint, path: &str, query: &str) -> String {
    let fields = [("Content-Type", "application/sparql-query"), ("Accept", "text/csv")];
    let answer = endpoint.send("POST", path, &fields, format!("SELECT * {{ {query} }}").as_bytes());
    answer.is(200).body.replace('\r', "")
}

fn get(endpoint: &Endpoint, path: &str, accept: &str) -> Answer {
    endpoint.send("GET", path, &[("Accept", accept)], b"")
}

#[test]
fn databases_are_made_used_renamed_and_dropped() {
    let lode = Lode::new();
    let endpoint = start(&lode, &[]);
    make(&endpoint, "books").is(201);
    make(&endpoint, "people").is(201);
    for (name, status) in [
        ("books", 409),
        ("", 400),
        ("..", 400),
        ("a%2Fb", 400),
        ("users.json", 400),
        ("admin", 400),
        (".x", 400),
    ] {
        make(&endpoint, name).is(status);
    }
    insert(&endpoint, "/books/update", "<s> <http://p> 1").is(200);
    insert(&endpoint, "/people", "<s> <http://p> 2").is(200);
    assert_eq!(
        ask(&endpoint, "/books/sparql", "?s <http://p> ?o"),
        format!("s,o\n{}/books/s,1\n", endpoint.base())
    );
    assert_eq!(
        ask(&endpoint, "/people", "?a <http://p> ?o"),
        format!("a,o\n{}/people/s,2\n", endpoint.base())
    );
    let list = get(&endpoint, "/admin/databases", "*/*").is(200).body;
    assert!(
        list.contains(r#"{"name":"books","state":"open","quads":1,"#) && list.contains("people"),
        "{list}"
    );

    post(&endpoint, "/admin/databases/books/rename?to=people").is(409);
    post(&endpoint, "/admin/databases/books/rename?to=../x").is(400);
    post(&endpoint, "/admin/databases/books/rename?to=novels").is(200);
    get(&endpoint, "/books/get", "*/*").is(404);
    assert_eq!(ask(&endpoint, "/novels/query", "?s <http://p> ?o").lines().count(), 2);

    post(&endpoint, "/admin/databases/novels/close").is(200);
    assert!(get(&endpoint, "/novels/get", "*/*").is(503).body.contains("closed"));
    // Another process may have it now.
    assert!(
        lode.run(&["query", "all/novels", "SELECT ?o { ?s ?p ?o }", "--format", "csv"]).ok().contains("\n1")
    );
    lode.run(&["update", "all/novels", "INSERT DATA { <http://s> <http://p> 3 }"]).ok();
    let other = Endpoint::serve(&lode, "all/novels", &[]);
    for refused in [
        endpoint.send("DELETE", "/admin/databases/novels", &[], b""),
        post(&endpoint, "/admin/databases/novels/rename?to=tales"),
        post(&endpoint, "/admin/databases/novels/open"),
    ] {
        assert!(refused.status >= 400 && refused.body.contains("locked"), "{refused:?}");
    }
    other.stop();
    post(&endpoint, "/admin/databases/novels/open").is(200);
    assert_eq!(ask(&endpoint, "/novels/query", "?s <http://p> ?o").lines().count(), 3);

    endpoint.send("DELETE", "/admin/databases/novels", &[], b"").is(200);
    endpoint.send("DELETE", "/admin/databases/novels", &[], b"").is(404);
    assert!(!lode.path("all/novels").exists());
    assert_eq!(std::fs::read_dir(lode.path("all")).unwrap().count(), 1, "nothing is left of it");
    make(&endpoint, "novels").is(201);
    assert_eq!(ask(&endpoint, "/novels/query", "?s ?p ?o"), "s,p,o\n");
    endpoint.stop();

    let endpoint = start(&lode, &["--read-only"]);
    assert_eq!(ask(&endpoint, "/people/query", "?s <http://p> ?o").lines().count(), 2);
    make(&endpoint, "more").is(403);
    insert(&endpoint, "/people", "<s> <http://p> 4").is(403);
    endpoint.send("DELETE", "/admin/databases/people", &[], b"").is(403);
}

#[test]
fn one_address_takes_queries_updates_and_graphs() {
    let lode = Lode::new();
    let endpoint = start(&lode, &[]);
    make(&endpoint, "d").is(201);
    let turtle = [("Content-Type", "text/turtle")];
    endpoint.send("PUT", "/d?graph=http://g", &turtle, b"<http://s> <http://p> 1 .").is(201);
    endpoint.send("POST", "/d?default", &turtle, b"<http://s> <http://p> 2 .").is(200);
    endpoint.send("POST", "/d/data?default", &turtle, b"<http://s> <http://p> 3 .").is(200);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    endpoint
        .send("POST", "/d", &form, b"update=INSERT+DATA+%7B%3Chttp%3A%2F%2Fs%3E+%3Chttp%3A%2F%2Fp%3E+4%7D")
        .is(200);
    let count = "SELECT (COUNT(*) AS ?n) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }";
    let encoded: String = count.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for path in ["/d", "/d/", "/d/sparql", "/d/query"] {
        let answer = get(&endpoint, &format!("{path}?query={encoded}"), "text/csv").is(200);
        assert_eq!(answer.body.replace('\r', ""), "n\n4\n", "{path}");
    }
    for path in ["/d?graph=http://g", "/d/get?graph=http://g", "/d/data?graph=http://g"] {
        assert!(get(&endpoint, path, "application/n-triples").is(200).body.contains("<http://s>"), "{path}");
    }
    assert_eq!(get(&endpoint, "/d", "application/n-quads").is(200).body.lines().count(), 4);
    // A graph that has its address as a name: that of the client, not that within the database.
    endpoint.send("PUT", "/d/data/x", &turtle, b"<> <http://p> 1 .").is(201);
    let own = format!("<{0}/d/data/x> <http://p>", endpoint.base());
    assert!(get(&endpoint, "/d/data/x", "application/n-triples").is(200).body.starts_with(&own));
    // Triples without a graph are for the default graph; quads are where they say.
    endpoint.send("POST", "/d", &turtle, b"<a:more> <a:p> 1 .").is(200);
    endpoint.send("POST", "/d?grahp=a:g", &turtle, b"<a:more> <a:p> 2 .").is(400);
    assert!(get(&endpoint, "/d?default", "application/n-triples").is(200).body.contains("<a:more>"));
    // People get pages.
    for path in ["/d", "/d/"] {
        assert!(
            get(&endpoint, path, "text/html,*/*").is(200).body.contains("src=\"page/main.js\""),
            "{path}"
        );
    }
    let root = get(&endpoint, "/", "text/html").is(200).body;
    assert!(root.contains("href=\"/d/\"") && root.contains("class=\"n\">6</td>"), "{root}");
    endpoint.send("POST", "/d/get", &turtle, b"<a:s> <a:p> 1 .").is(405);
    endpoint.send("DELETE", "/d?graph=http://g", &[], b"").is(200);
    get(&endpoint, "/d/get?graph=http://g", "*/*").is(404);
    // The description's addresses are those of the database.
    let described = get(&endpoint, "/d/sparql", "text/turtle").is(200).body;
    assert!(described.contains(&format!("<{}/d/sparql>", endpoint.base())), "{described}");
    for path in ["/", "/sparql", "/query", "/data", "/admin/compact", "/admin", "/d/nothing", "//d", "/%64"] {
        let answer = endpoint.send("PUT", path, &turtle, b"<a:s> <a:p> 1 .");
        assert!([404, 405].contains(&answer.status), "{path} {}", answer.status);
    }
}

#[test]
fn users_of_one_database_have_nothing_in_another() {
    let lode = Lode::new();
    let setup = start(&lode, &[]);
    for name in ["a", "b", "shut"] {
        make(&setup, name).is(201);
        insert(&setup, &format!("/{name}"), "<http://s> <http://p> \"secret\"").is(200);
    }
    setup.stop();
    let token = |name: &str, rights: &[&str]| {
        let made = lode.run(&[&["token", "add", "all", name], rights].concat()).ok();
        format!("Bearer {}", made.trim())
    };
    let who = [
        ("reads a", token("ra", &["--role", "read", "--database", "a"])),
        ("updates a", token("ua", &["--role", "update", "--database", "a"])),
        ("administers a", token("aa", &["--role", "admin", "--database", "a"])),
        ("reads all", token("r", &["--role", "read"])),
        ("administers all", token("all", &["--role", "admin"])),
        ("nobody", "Bearer lode_nothing".to_owned()),
        ("no name", String::new()),
    ];
    let endpoint = start(&lode, &[]);
    post_as(&endpoint, &who[4].1, "/admin/databases/shut/close").is(200);
    let places = [
        // What, how, and the role that it takes: of the database, or of the server.
        ("GET", "/NAME?query=ASK%7B%7D", 1),
        ("GET", "/NAME/sparql?query=ASK%7B%7D", 1),
        ("GET", "/NAME/", 1),
        ("GET", "/NAME/get", 1),
        ("HEAD", "/NAME/data", 1),
        ("GET", "/NAME/.well-known/void", 1),
        ("GET", "/NAME/sparql", 1),
        ("GET", "/NAME/health/live", 1),
        ("GET", "/NAME/health/ready", 1),
        ("POST", "/NAME?default", 2),
        ("PUT", "/NAME?graph=http://g", 2),
        ("POST", "/NAME/data?default", 2),
        ("DELETE", "/NAME?graph=http://g", 2),
        ("DELETE", "/NAME/data?graph=http://g", 2),
        ("POST", "/NAME/update", 2),
        ("POST", "/NAME", 2),
        ("GET", "/repositories/NAME?query=ASK%7B%7D", 1),
        ("GET", "/repositories/NAME/statements", 1),
        ("GET", "/repositories/NAME/size", 1),
        ("GET", "/NAME/rdf4j/contexts", 1),
        ("POST", "/repositories/NAME/statements", 2),
        ("DELETE", "/repositories/NAME/statements?subj=%3Ca:none%3E", 2),
        ("PUT", "/repositories/NAME/transactions/0?action=COMMIT", 2),
        ("PUT", "/NAME/rdf4j/transactions/0?action=GET", 2),
        ("GET", "/NAME/admin/stats", 3),
        ("POST", "/NAME/admin/compact", 3),
        ("GET", "/NAME/admin/queries", 3),
    ];
    for (name, credentials) in &who {
        for database in ["a", "b", "shut", "absent"] {
            let role = match *name {
                "administers all" => 3,
                "reads all" => 1,
                "reads a" if database == "a" => 1,
                "updates a" if database == "a" => 2,
                "administers a" if database == "a" => 3,
                _ => 0,
            };
            for (method, path, needed) in places {
                let path = path.replace("NAME", database);
                let is_update =
                    path.ends_with("/update") || method == "POST" && path == format!("/{database}");
                let kind = if is_update { INSERT } else { "text/turtle" };
                let body: &[u8] = match method {
                    "GET" | "HEAD" | "DELETE" => b"",
                    _ if is_update => b"INSERT DATA {}",
                    _ => b"<a:s> <a:p> 1 .",
                };
                let answer = endpoint.send(
                    method,
                    &path,
                    &[("Authorization", credentials), ("Content-Type", kind)],
                    body,
                );
                let cell = format!("{name}: {method} {path}: {} {}", answer.status, answer.body);
                match database {
                    _ if role == 0 => assert!([401, 403, 429].contains(&answer.status), "{cell}"),
                    _ if role < needed && answer.status == 403 => {}
                    "shut" => assert_eq!(answer.status, 503, "{cell}"),
                    "absent" => assert_eq!(answer.status, 404, "{cell}"),
                    _ if role >= needed => assert!(answer.status < 300 || answer.status == 404, "{cell}"),
                    _ => assert_eq!(answer.status, 403, "{cell}"),
                }
                assert!(role > 0 || !answer.body.contains("secret"), "{cell}");
                // Neither the status nor the words tell whether a database is there.
                if role == 0 && database != "a" {
                    let absent = endpoint.send(
                        method,
                        &path.replace(database, "other"),
                        &[("Authorization", credentials), ("Content-Type", kind)],
                        body,
                    );
                    // But for the number of the request.
                    let said = |answer: &Answer| answer.body.split(" [request").next().map(str::to_owned);
                    assert_eq!((answer.status, said(&answer)), (absent.status, said(&absent)), "{cell}");
                }
            }
        }
        let server = ["/admin/databases", "/admin/databases/a", "/admin/queries"];
        for path in server {
            let answer = endpoint.send("GET", path, &[("Authorization", credentials)], b"");
            assert_eq!(answer.status == 200, *name == "administers all", "{name}: {path}: {}", answer.status);
        }
        let index = endpoint.send("GET", "/", &[("Authorization", credentials)], b"");
        let told: Vec<bool> = ["/a/", "/b/", "/shut/"].map(|link| index.body.contains(link)).into();
        match *name {
            "nobody" | "no name" => assert!([401, 429].contains(&index.status)),
            "reads all" | "administers all" => assert_eq!(told, [true; 3]),
            _ => assert_eq!(told, [true, false, false], "{name}"),
        }
    }
}

fn post_as(endpoint: &Endpoint, credentials: &str, path: &str) -> Answer {
    endpoint.send("POST", path, &[("Authorization", credentials)], b"")
}

#[test]
fn nothing_acknowledged_is_lost_while_databases_close_and_move() {
    let lode = Lode::new();
    let endpoint = start(&lode, &[]);
    make(&endpoint, "one").is(201);
    let done = AtomicBool::new(false);
    let acknowledged: usize = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (endpoint, done) = (&endpoint, &done);
                scope.spawn(move || {
                    let mut acknowledged = 0;
                    for i in 0.. {
                        if done.load(Ordering::Relaxed) {
                            break;
                        }
                        for name in ["one", "two"] {
                            let data = format!("<http://w{writer}> <http://p> {i}");
                            let status = insert(endpoint, &format!("/{name}"), &data).status;
                            assert!([200, 404, 500, 503].contains(&status), "{status}");
                            if status == 200 {
                                acknowledged += 1;
                                break;
                            }
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        for _ in 0..6 {
            post(&endpoint, "/admin/databases/one/close").is(200);
            post(&endpoint, "/admin/databases/one/open").is(200);
            post(&endpoint, "/admin/databases/one/rename?to=two").is(200);
            post(&endpoint, "/admin/databases/two/rename?to=one").is(200);
        }
        done.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let rows = ask(&endpoint, "/one", "?s <http://p> ?o").lines().count() - 1;
    assert!(acknowledged > 0 && rows >= acknowledged, "{rows} of {acknowledged}");
}

#[test]
fn what_cannot_be_opened_stops_nobody() {
    let lode = Lode::new();
    let endpoint = start(&lode, &[]);
    make(&endpoint, "good").is(201);
    make(&endpoint, "bad").is(201);
    endpoint.stop();
    std::fs::write(lode.path("all/bad/MANIFEST"), "nonsense").unwrap();
    std::fs::create_dir(lode.path("all/no-database")).unwrap();
    std::fs::create_dir(lode.path("all/.dropped-old")).unwrap();
    let endpoint = start(&lode, &[]);
    assert_eq!(ask(&endpoint, "/good", "?s ?p ?o"), "s,p,o\n");
    get(&endpoint, "/bad/sparql?query=ASK%7B%7D", "*/*").is(503);
    get(&endpoint, "/no-database", "*/*").is(404);
    let list = get(&endpoint, "/admin/databases", "*/*").is(200).body;
    assert!(list.contains(r#"{"name":"bad","state":"closed","reason":"#), "{list}");
    assert!(!lode.path("all/.dropped-old").exists());
    make(&endpoint, "no-database").is(409);
    assert!(lode.run(&["serve", "--databases", "all/good"]).fails(1).contains("is a database"));
    assert!(lode.run(&["serve", "db", "--databases", "all"]).fails(2).contains("cannot be used with"));
    assert!(lode.run(&["serve"]).fails(2).contains("--databases"));
}

/// A transaction, and what is done in it.
struct Begun<'a>(&'a Endpoint, String);

impl<'a> Begun<'a> {
    fn new(endpoint: &'a Endpoint, name: &str) -> Self {
        let begun = post(endpoint, &format!("/repositories/{name}/transactions")).is(201);
        let location = begun.location.unwrap();
        Self(endpoint, location.strip_prefix(endpoint.base()).unwrap().to_owned())
    }

    fn act(&self, action: &str, kind: &str, body: &str) -> Answer {
        let fields = [("Content-Type", kind), ("Accept", "text/csv, application/n-quads")];
        self.0.send("PUT", &format!("{}?action={action}", self.1), &fields, body.as_bytes())
    }

    fn rows(&self) -> usize {
        self.act("QUERY", "application/sparql-query", "SELECT * { ?s ?p ?o }").is(200).body.lines().count()
            - 1
    }
}

#[test]
fn metrics_are_those_of_the_server_and_of_each_database() {
    let lode = Lode::new();
    let endpoint = start(&lode, &[]);
    make(&endpoint, "a").is(201);
    make(&endpoint, "b").is(201);
    insert(&endpoint, "/a", "<a:s> <a:p> 1, 2").is(200);
    (0..3).for_each(|_| drop(ask(&endpoint, "/a/query", "?s ?p ?o")));
    ask(&endpoint, "/b", "?s ?p ?o");
    get(&endpoint, "/nothing/here", "*/*").is(404);
    let metrics = |path: &str| get(&endpoint, path, "*/*").is(200).body;
    let has = |text: &str, part: &str| assert!(text.contains(part), "{part}: {text}");
    let own = metrics("/a/metrics");
    for part in [
        "lode_http_requests_total{route=\"/query\",status=\"200\",role=\"update\"} 3\n",
        "lode_http_requests_total{route=\"/NAME\",status=\"200\",role=\"update\"} 1\n",
        "lode_quads 2.0\n",
        "process_open_fds ",
    ] {
        has(&own, part);
    }
    has(
        &metrics("/b/metrics"),
        "lode_http_requests_total{route=\"/NAME\",status=\"200\",role=\"update\"} 1\n",
    );
    assert!(!metrics("/b/metrics").contains("route=\"/query\""), "those of the other are not here");
    let all = metrics("/metrics");
    for part in [
        "lode_http_requests_total{database=\"a\",route=\"/query\",status=\"200\",role=\"update\"} 3\n",
        "lode_http_requests_total{database=\"b\",route=\"/NAME\",status=\"200\",role=\"update\"} 1\n",
        "lode_http_requests_total{route=\"other\",status=\"404\",role=\"none\"} 1\n",
        "lode_http_requests_total{route=\"/admin/databases\",",
        "lode_quads{database=\"a\"} 2.0\n",
        "lode_quads{database=\"b\"} 0.0\n",
        "lode_memory_bytes{of=\"bodies\"} ",
        "lode_memory_bytes{database=\"a\",of=\"cache\"} ",
        "lode_http_request_duration_seconds_bucket{database=\"a\",le=\"0.0005\",route=\"/query\"} ",
    ] {
        has(&all, part);
    }
    for line in all.lines().filter(|line| line.starts_with("# TYPE")) {
        assert_eq!(all.matches(&format!("{line}\n")).count(), 1, "{line}");
    }
    assert!(all.ends_with("# EOF\n") && all.matches("# EOF").count() == 1);
}

#[test]
fn an_old_transaction_ends_whoever_asks_for_it_still() {
    let lode = Lode::new();
    let endpoint = start(&lode, &["--transaction-age", "1.5", "--update-timeout", "20"]);
    make(&endpoint, "d").is(201);
    let open = Begun::new(&endpoint, "d");
    let begun = std::time::Instant::now();
    open.act("UPDATE", INSERT, "INSERT DATA { <a:s> <a:p> 1 }").is(204);
    let told = loop {
        let answer = open.act("PING", "text/plain", "");
        if answer.status == 404 {
            break answer.body;
        }
        assert!(begun.elapsed().as_secs() < 30, "{answer:?}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    assert!(begun.elapsed().as_millis() >= 1500 && told.contains("too old (--transaction-age)"), "{told}");
    insert(&endpoint, "/d", "<a:v> <a:p> 1").is(200);
    assert_eq!(ask(&endpoint, "/d", "?s ?p ?o").lines().count(), 2, "what it did is not there");
}

#[test]
fn a_transaction_that_shapes_refuse_is_told_why() {
    let lode = Lode::new();
    let shapes = "@prefix sh: <http://www.w3.org/ns/shacl#> . <a:S> sh:targetClass <a:C> ; \
                  sh:property [ sh:path <a:p> ; sh:minCount 1 ] .";
    lode.write("shapes.ttl", shapes);
    let endpoint = start(&lode, &["--shapes", "shapes.ttl"]);
    make(&endpoint, "d").is(201);
    let open = Begun::new(&endpoint, "d");
    open.act("ADD", "text/turtle", "<a:s> a <a:C> .").is(204);
    let refused = open.act("COMMIT", "text/plain", "").is(409).body;
    assert!(refused.contains("sh:focusNode <a:s>"), "{refused}");
}

#[test]
fn transactions_over_several_requests() {
    let lode = Lode::new();
    let endpoint = start(&lode, &["--transaction-idle", "2", "--update-timeout", "20"]);
    make(&endpoint, "d").is(201);
    let rows = || ask(&endpoint, "/d", "?s ?p ?o").lines().count() - 1;
    let open = Begun::new(&endpoint, "d");
    open.act("UPDATE", INSERT, "INSERT DATA { <a:s> <a:p> 1 }").is(204);
    open.act("ADD", "text/turtle", "<a:t> <a:p> 2, 3 .").is(204);
    open.act("UPDATE", INSERT, "INSERT { ?s <a:q> ?o } WHERE { ?s <a:p> ?o }").is(204);
    open.act("DELETE", "text/turtle", "<a:t> <a:q> <http://www.openrdf.org/schema/sesame#wildcard> .")
        .is(204);
    assert_eq!((open.rows(), rows()), (4, 0));
    assert_eq!(open.act("SIZE", "text/plain", "").is(200).body, "4");
    assert_eq!(open.act("GET&subj=%3Ca:s%3E", "text/plain", "").is(200).body.lines().count(), 2);
    open.act("PREPARE", "text/plain", "").is(204);
    open.act("COMMIT", "text/plain", "").is(200);
    open.act("COMMIT", "text/plain", "").is(404);
    assert_eq!(rows(), 4);

    let rolled = Begun::new(&endpoint, "d");
    rolled.act("UPDATE", INSERT, "CLEAR ALL").is(204);
    assert_eq!(rolled.rows(), 0);
    endpoint.send("DELETE", &rolled.1, &[], b"").is(204);
    rolled.act("PING", "text/plain", "").is(404);
    assert_eq!(rows(), 4);

    // What is no update changes nothing; what fails in the middle ends the transaction, and lets others write.
    let failed = Begun::new(&endpoint, "d");
    failed.act("UPDATE", INSERT, "nonsense").is(400);
    assert_eq!(failed.rows(), 4);
    failed.act("ADD", "text/turtle", "<a:s> <a:p> 9 . <a:s> nonsense").is(400);
    failed.act("COMMIT", "text/plain", "");
    insert(&endpoint, "/d", "<a:u> <a:p> 1").is(200);
    assert_eq!(rows(), 5);
    for wrong in ["", "NONSENSE", "ADD&context=nonsense"] {
        let open = Begun::new(&endpoint, "d");
        let answer = open.act(wrong, "text/turtle", "<a:s> <a:p> 1 .");
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.body);
        endpoint.send("DELETE", &open.1, &[], b"");
    }

    // One that is left behind holds others up for its time, and no longer.
    let left = Begun::new(&endpoint, "d");
    left.act("UPDATE", INSERT, "CLEAR ALL").is(204);
    insert(&endpoint, "/d", "<a:v> <a:p> 1").is(200);
    left.act("COMMIT", "text/plain", "").is(404);
    assert_eq!(rows(), 6);
    // Nor does one keep a database from being closed.
    let closed = Begun::new(&endpoint, "d");
    closed.act("UPDATE", INSERT, "CLEAR ALL").is(204);
    std::thread::scope(|scope| {
        let waiting: Vec<_> =
            (0..3).map(|_| scope.spawn(|| post(&endpoint, "/repositories/d/transactions").status)).collect();
        std::thread::sleep(std::time::Duration::from_millis(200));
        post(&endpoint, "/admin/databases/d/close").is(200);
        // One may have begun in between, and has ended at once.
        waiting.into_iter().for_each(|begin| assert!(begin.join().unwrap() >= 201));
    });
    post(&endpoint, "/admin/databases/d/open").is(200);
    closed.act("COMMIT", "text/plain", "").is(404);
    assert_eq!(rows(), 6);
}

#[test]
fn what_is_not_there_is_told_as_it_was_asked_for() {
    let lode = Lode::new();
    let endpoint = start(&lode, &[]);
    make(&endpoint, "d").is(201);
    for path in ["/repositories/d/rdf-graphs", "/repositories/d/config", "/repositories/none/rdf-graphs"] {
        let answer = get(&endpoint, path, "*/*").is(404);
        assert!(answer.body.starts_with(&format!("there is nothing at {path};")), "{path}: {}", answer.body);
    }
}

#[test]
fn variables_are_bound_beforehand() {
    let lode = Lode::new();
    let endpoint = start(&lode, &[]);
    make(&endpoint, "d").is(201);
    insert(&endpoint, "/d", "<a:s> <a:p> 1 . <a:t> <a:p> 2").is(200);
    // Also where a block of VALUES behind the query would not reach.
    let query =
        "SELECT%20?n%20%7B%20%7B%20SELECT%20(COUNT(*)%20AS%20?n)%20%7B%20?s%20?p%20?o%20%7D%20%7D%20%7D";
    let path = format!("/repositories/d?query={query}&$s=%3Ca:s%3E");
    assert_eq!(get(&endpoint, &path, "text/csv").is(200).body, "n\r\n1\r\n");
}

#[test]
fn statements_by_pattern() {
    let lode = Lode::new();
    let endpoint = start(&lode, &[]);
    make(&endpoint, "d").is(201);
    let quads = [("Content-Type", "application/n-quads")];
    let turtle = [("Content-Type", "text/turtle")];
    let path = "/repositories/d/statements";
    endpoint
        .send(
            "PUT",
            path,
            &quads,
            b"<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> <a:g> .\n<a:t> <a:p> \"x\"@en <a:h> .\n",
        )
        .is(204);
    endpoint
        .send("POST", &format!("{path}?context=%3Ca:g%3E&baseURI=%3Chttp://b/%3E"), &turtle, b"<s> <a:q> 1 .")
        .is(204);
    let found = |query: &str| {
        let answer = get(&endpoint, &format!("{path}?{query}"), "application/n-quads").is(200);
        let mut lines: Vec<String> = answer.body.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(found("").len(), 4);
    assert_eq!(found("context=null"), ["<a:s> <a:p> <a:o> ."]);
    assert_eq!(
        found("subj=%3Chttp://b/s%3E"),
        ["<http://b/s> <a:q> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> <a:g> ."]
    );
    assert_eq!(found("obj=%22x%22@en&context=%3Ca:h%3E&context=%3Ca:g%3E").len(), 1);
    assert_eq!(found("subj=%3Ca:none%3E").len(), 0);
    assert_eq!(get(&endpoint, "/repositories/d/size?context=%3Ca:g%3E", "*/*").is(200).body, "2");
    assert!(get(&endpoint, "/repositories/d/contexts", "text/csv").is(200).body.contains("a:h"));
    get(&endpoint, &format!("{path}?subj=nonsense"), "*/*").is(400);
    endpoint.send("DELETE", &format!("{path}?subj=%3Ca:s%3E&context=%3Ca:g%3E"), &[], b"").is(204);
    assert_eq!(found("").len(), 3);
    endpoint.send("PUT", path, &turtle, b"<a:only> <a:p> 1 .").is(204);
    assert_eq!(found("").len(), 1);
    assert!(
        get(&endpoint, "/repositories", "text/csv").is(200).body.contains("/repositories/d,d,d,true,true")
    );
    assert_eq!(get(&endpoint, "/protocol", "*/*").is(200).body, "12");
    get(&endpoint, "/repositories/none", "*/*").is(404);
}

#[test]
fn who_asks_for_none_of_several_databases_is_told_which_there_are() {
    let lode = Lode::new();
    let endpoint = Endpoint::serve_with(&lode, &["--databases", "all"], &[]);
    let ask = |path: &str| lode.run(&["query", &format!("{}{path}", endpoint.base), "ASK {}"]).fails(1);
    assert!(ask("").contains("each at /NAME/sparql; there are none"), "{}", ask(""));
    for name in ["books", "films"] {
        endpoint.send("POST", &format!("/admin/databases?name={name}"), &[], b"").is(201);
    }
    let of_root = ask("");
    assert!(
        of_root.contains("this server has several databases, each at /NAME/sparql; there are books, films"),
        "{of_root}"
    );
    assert!(ask("/nope").contains("there is no database nope; there are books, films"), "{}", ask("/nope"));
    assert_eq!(lode.run(&["query", &format!("{}/books", endpoint.base), "ASK {}"]).ok(), "yes\n");
}
