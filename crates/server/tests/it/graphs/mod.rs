//! Rules for graphs at every address: a generated matrix of who asks, what is asked, which graph it is about, and where.
//!
//! Each request is sent to two databases by somebody with the same rules in both: one has all graphs, the other only those that the rules let be
//! read. The two answers must be the same to the byte, but for numbers of requests, times and the order of rows: status, fields and their places,
//! lengths, bodies. What an answer does not tell nobody can learn from it. Whether a request is refused is worked out from the rules besides; and
//! what changes must change in both alike, and nothing else.

mod cells;

use crate::client::{Answer, ask};
use cells::{Cell, Effect, cells};
use lode_engine::Database;
use lode_server::{Databases, Graphs, Rights, Role, Server, ServerOptions, Users};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

/// The graphs that there are in the one; the default graph has no name.
const GRAPHS: [&str; 4] = ["", "http://e/open", "http://e/other", "http://e/kept/secret"];
/// One that is nowhere.
const ABSENT: &str = "http://e/absent";
/// The names of the two, of the same length, and nowhere else in any answer.
const WHOLE: &str = "dbwhole";
const PART: &str = "dbpart0";

/// Who has no token.
const ANONYMOUS: &str = "anonymous";

/// Somebody with rules.
struct Who {
    name: &'static str,
    role: Role,
    read: &'static [&'static str],
    write: &'static [&'static str],
}

/// The last one does not log in.
const WHO: [Who; 15] = [
    who("reads-all", Role::Read, &[], &[]),
    who("reads-default", Role::Read, &["default"], &[]),
    who("reads-open", Role::Read, &["http://e/open"], &[]),
    who("reads-prefix", Role::Read, &["default", "http://e/o*"], &[]),
    who("reads-named", Role::Read, &["*"], &[]),
    who("reads-kept", Role::Read, &["http://e/kept/*"], &[]),
    who("reads-nothing", Role::Read, &["none"], &[]),
    who("updates-all", Role::Update, &[], &[]),
    who("updates-own", Role::Update, &["default", "http://e/open"], &[]),
    who("updates-one", Role::Update, &["default", "http://e/o*"], &["http://e/open"]),
    who("drops-into", Role::Update, &["http://e/open"], &["http://e/open", "http://e/kept/*", ABSENT]),
    who("reads-all-updates-one", Role::Update, &["all"], &["http://e/open"]),
    who("only-adds", Role::Update, &["none"], &["all"]),
    who("updates-nothing", Role::Update, &["http://e/other", ABSENT], &["none"]),
    who(ANONYMOUS, Role::Update, &["default", "http://e/o*"], &["http://e/open", "default"]),
];

const fn who(
    name: &'static str,
    role: Role,
    read: &'static [&'static str],
    write: &'static [&'static str],
) -> Who {
    Who { name, role, read, write }
}

/// Whether a graph is one of those of a list.
fn is_in(list: &[&str], graph: &str) -> bool {
    list.iter().any(|pattern| match (*pattern, graph) {
        ("all", _) | ("default", "") => true,
        ("none" | "default", _) => false,
        (pattern, graph) => match pattern.strip_suffix('*') {
            Some(start) => !graph.is_empty() && graph.starts_with(start),
            None => pattern == graph,
        },
    })
}

impl Who {
    fn reads(&self, graph: &str) -> bool {
        self.read.is_empty() || is_in(self.read, graph)
    }

    fn adds(&self, graph: &str) -> bool {
        let listed = if self.write.is_empty() { self.reads(graph) } else { is_in(self.write, graph) };
        self.role == Role::Update && listed
    }

    fn removes(&self, graph: &str) -> bool {
        self.reads(graph) && self.adds(graph)
    }

    fn reads_all(&self) -> bool {
        self.read.is_empty() || self.read == ["all"]
    }
}

/// A server of the two, in memory, and the tokens of all.
struct Matrix {
    address: SocketAddr,
    admin: String,
    /// Of somebody who may do nothing here.
    stranger: String,
    tokens: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Matrix {
    /// With rules for who does not log in, or without.
    fn start(has_anonymous: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in [WHOLE, PART] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let users = folder.path().join("users.json");
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let add = |name: &str, rights: Rights| {
            let token = Users::change(&users, |users| users.add_token(name, rights, None)).unwrap();
            format!("Bearer {token}")
        };
        let tokens = WHO.iter().map(|who| {
            let graphs = Graphs::parse(&texts(who.read), &texts(who.write)).unwrap();
            if who.name == ANONYMOUS && !has_anonymous {
                return String::new();
            }
            if who.name == ANONYMOUS {
                // In each database by itself, beside one that has nothing for them.
                let databases = [WHOLE, PART].map(str::to_owned);
                Users::change(&users, |users| users.grant_anonymous(who.role, &databases, &graphs)).unwrap();
                return String::new();
            }
            let mut rights = Rights::default();
            rights.give(who.role, &[], &graphs);
            add(who.name, rights)
        });
        let (tokens, admin) = (tokens.collect(), add("admin", Rights::new(Role::Admin, &[])));
        let stranger = add("stranger", Rights::new(Role::Admin, &["elsewhere".to_owned()]));
        let databases = Databases {
            folder: folder.path().to_owned(),
            opener: Box::new(|_, _| Ok(Some(Arc::new(Database::in_memory().unwrap()).into()))),
            is_read_only: false,
        };
        let options = ServerOptions { users: Some(users), ..ServerOptions::default() };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let server = runtime.block_on(Server::bind_all(databases, any, options)).unwrap();
        let lode_server::Bind::Tcp(address) = server.bound().unwrap() else { panic!("a socket") };
        std::thread::spawn(move || runtime.block_on(server.serve(std::future::pending())));
        Self { address, admin, stranger, tokens, _folder: folder }
    }

    /// Puts into a database what is in those of the graphs that are chosen.
    fn reset(&self, database: &str, is_there: impl Fn(&str) -> bool) {
        let mut text = "CLEAR ALL ; INSERT DATA {".to_owned();
        for (number, graph) in GRAPHS.into_iter().enumerate().filter(|(_, graph)| is_there(graph)) {
            // Nothing but one triple is in two of them.
            let triples = format!(
                "<http://e/s{number}> a <http://e/C{number}> ; <http://e/p> <http://e/t{number}> , \"secret{number}\" . \
                 <http://e/t{number}> <http://e/p> _:b{number} . _:b{number} <http://e/q> {number} . <http://e/s> <http://e/p> 1 ."
            );
            text += &if graph.is_empty() { triples } else { format!("GRAPH <{graph}> {{ {triples} }}") };
        }
        let fields = [("Authorization", self.admin.as_str()), ("Content-Type", "application/sparql-update")];
        ask(self.address, "POST", &format!("/{database}/update"), &fields, (text + "}").as_bytes()).is(200);
    }

    /// All quads of a database, without the names of blank nodes.
    fn quads(&self, database: &str) -> BTreeSet<String> {
        let fields = [("Authorization", self.admin.as_str()), ("Accept", "application/n-quads")];
        let text = ask(self.address, "GET", &format!("/{database}/data"), &fields, b"").is(200).text();
        text.lines().map(without_labels).collect()
    }

    fn send(&self, cell: &Cell, token: &str, database: &str) -> Answer {
        let mut fields = Vec::new();
        fields.extend((!token.is_empty()).then_some(("Authorization", token)));
        fields.extend(cell.fields.iter().map(|(name, value)| (*name, value.as_str())));
        let path = cell.path.replace("NAME", database);
        ask(self.address, cell.method, &path, &fields, cell.body.as_bytes())
    }
}

/// Labels of blank nodes are numbers of the database, which tell nothing but how many there have been; so do numbers of versions, which only who may
/// read all graphs is told.
fn without_labels(line: &str) -> String {
    let without = |line: &str, start: &str| {
        let mut parts = line.split(start);
        let first = parts.next().unwrap_or_default().to_owned();
        let rest = parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
        rest.fold(first, |text, part| text + start + part)
    };
    without(&without(line, "_:"), "\"version\":")
}

/// All databases are called the same.
fn with_one_name(text: &str) -> String {
    text.replace(WHOLE, PART).replace(NOWHERE, PART)
}

/// What an answer tells: all but what differs each time.
fn told(answer: &Answer) -> (String, Vec<String>) {
    // A label may have a digit more, which the length of an answer then has as well.
    let has_labels = String::from_utf8_lossy(&answer.body).contains("_:");
    let mut hidden = vec!["x-request-id", "date", "etag", "x-lode-version"];
    let may_have_labels = has_labels || answer.status == 200 && answer.body.is_empty();
    hidden.extend(may_have_labels.then_some("content-length"));
    let masked = |line: &str| match line.split_once(": ") {
        Some((name, _)) if hidden.contains(&name.to_ascii_lowercase().as_str()) => name.to_owned(),
        _ => with_one_name(line),
    };
    let head: Vec<String> = answer.head.lines().map(masked).collect();
    let mut body: Vec<String> = with_one_name(&String::from_utf8_lossy(&answer.body))
        .lines()
        .map(|line| {
            let line = line.split(" [request").next().unwrap_or_default();
            let line = line.split(",\"seconds\"").next().unwrap_or_default();
            without_labels(line)
        })
        .collect();
    body.sort();
    (head.join("\n"), body)
}

/// Sends one cell to both, and looks at all that came of it.
fn check(matrix: &Matrix, who: usize, cell: &Cell) {
    let (identity, name) =
        (&WHO[who], format!("{}: {} {}\n{}", WHO[who].name, cell.method, cell.path, cell.body));
    let token = &matrix.tokens[who];
    let (whole, part) = (matrix.send(cell, token, WHOLE), matrix.send(cell, token, PART));
    // A plan tells how long it took to be made.
    if !cell.path.ends_with("=1") || whole.status != 200 {
        assert_eq!(told(&whole), told(&part), "{name}\n{}", whole.head);
    }
    let effect = (cell.effect)(identity);
    let text = String::from_utf8_lossy(&whole.body);
    match effect {
        // Who might have the role once logged in is told to log in.
        Effect::Refused if identity.name == ANONYMOUS && text.starts_with("log in ") => {
            assert_eq!(whole.status, 401, "{name}: {text}");
        }
        Effect::Refused => assert_eq!(whole.status, 403, "{name}: {text}"),
        Effect::Allowed => {
            assert!(
                whole.status < 300 || [400, 404, 412].contains(&whole.status),
                "{name}: {} {text}",
                whole.status
            );
        }
    }
    for (number, graph) in GRAPHS.into_iter().enumerate() {
        let own = [format!("secret{number}"), format!("http://e/C{number}"), format!("http://e/t{number}")];
        let is_leaked = !identity.reads(graph) && own.iter().any(|own| text.contains(own.as_str()));
        assert!(!is_leaked, "{name}: {text}");
    }
    if !identity.reads_all() {
        let fields = ["etag", "last-modified", "x-lode-version"].map(|field| whole.field(field));
        assert!(fields == [None; 3] && !text.contains("\"version\""), "{name}: {} {text}", whole.head);
    }
}

/// The same of one that may change something: what it changes is the same in both, and nothing of what it may not change.
fn check_change(matrix: &Matrix, who: usize, cell: &Cell) {
    let identity = &WHO[who];
    let hidden = |quads: &BTreeSet<String>| -> BTreeSet<String> {
        quads.iter().filter(|quad| !identity.reads(graph_of(quad))).cloned().collect()
    };
    let (before, before_part) = (matrix.quads(WHOLE), matrix.quads(PART));
    check(matrix, who, cell);
    let (after, after_part) = (matrix.quads(WHOLE), matrix.quads(PART));
    let name = format!("{}: {} {}\n{}", identity.name, cell.method, cell.path, cell.body);
    let expected: BTreeSet<String> = after_part.union(&hidden(&before)).cloned().collect();
    assert_eq!(after, expected, "{name}");
    for quad in after.symmetric_difference(&before) {
        let graph = graph_of(quad);
        let is_allowed = if after.contains(quad) { identity.adds(graph) } else { identity.removes(graph) };
        assert!(is_allowed, "{name}: {quad}");
    }
    if (&after, &after_part) != (&before, &before_part) {
        matrix.reset(WHOLE, |_| true);
        matrix.reset(PART, |graph| identity.reads(graph));
    }
}

/// The graph of a line of N-Quads.
fn graph_of(line: &str) -> &str {
    let parts: Vec<&str> = line.trim_end_matches(" .").split(' ').collect();
    let last = parts.get(3).copied().unwrap_or_default();
    last.trim_start_matches('<').trim_end_matches('>')
}

#[test]
fn a_graph_that_one_may_not_read_does_not_exist() {
    let matrix = Matrix::start(true);
    let mut count = 0;
    for (number, who) in WHO.iter().enumerate() {
        matrix.reset(WHOLE, |_| true);
        matrix.reset(PART, |graph| who.reads(graph));
        for cell in cells() {
            count += 1;
            if cell.changes { check_change(&matrix, number, &cell) } else { check(&matrix, number, &cell) }
        }
    }
    println!("{count} cells");
    assert!(count >= 2000, "{count} cells");
}

/// One that is nowhere, with a name as long as that of the one.
const NOWHERE: &str = "dbnever";

#[test]
fn who_may_nothing_in_a_database_does_not_learn_whether_it_is_there() {
    let matrix = Matrix::start(false);
    matrix.reset(WHOLE, |_| true);
    for token in [matrix.stranger.as_str(), "Bearer lode_nothing", ""] {
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let mut cells = cells();
            cells.dedup_by(|a, b| a.path.split('?').next() == b.path.split('?').next());
            for cell in cells {
                let cell = Cell { method, ..cell };
                let (there, nowhere) = (matrix.send(&cell, token, WHOLE), matrix.send(&cell, token, NOWHERE));
                let name = format!("{token}: {method} {}", cell.path);
                assert!(
                    method == "OPTIONS" || [401, 403, 429].contains(&there.status),
                    "{name}: {}",
                    there.head
                );
                if there.status != 429 && nowhere.status != 429 {
                    assert_eq!(told(&there), told(&nowhere), "{name}");
                }
            }
        }
    }
}
