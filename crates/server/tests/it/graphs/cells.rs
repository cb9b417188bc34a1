//! The requests of the matrix: each operation, about each graph, at each address that has it.

use super::{ABSENT, GRAPHS, Who};

/// Whether a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Allowed,
    Refused,
}

/// A request; `NAME` in its path is the database.
pub struct Cell {
    pub method: &'static str,
    pub path: String,
    pub fields: Vec<(&'static str, String)>,
    pub body: String,
    pub changes: bool,
    pub effect: Box<dyn Fn(&Who) -> Effect>,
}

fn refused_unless(is_allowed: bool) -> Effect {
    if is_allowed { Effect::Allowed } else { Effect::Refused }
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

const CSV: &str =
    "text/csv, application/n-triples;q=0.9, application/n-quads;q=0.8, application/sparql-results+json;q=0.1";

fn read(method: &'static str, path: String, accept: &str) -> Cell {
    let fields = vec![("Accept", accept.to_owned())];
    Cell { method, path, fields, body: String::new(), changes: false, effect: Box::new(|_| Effect::Allowed) }
}

fn query(path: &str, text: &str) -> Cell {
    read("GET", format!("{path}query={}", encoded(text)), CSV)
}

fn change(
    method: &'static str,
    path: String,
    kind: &str,
    body: &str,
    may: impl Fn(&Who) -> bool + 'static,
) -> Cell {
    let fields = vec![("Content-Type", kind.to_owned()), ("Accept", "*/*".to_owned())];
    let effect = Box::new(move |who: &Who| refused_unless(may(who)));
    Cell { method, path, fields, body: body.to_owned(), changes: true, effect }
}

fn with(mut cell: Cell, name: &'static str, value: &str) -> Cell {
    cell.fields.push((name, value.to_owned()));
    cell
}

/// All of them.
pub fn cells() -> Vec<Cell> {
    let mut cells = of_all_graphs();
    cells.extend(changes_of_all_graphs());
    for graph in GRAPHS.into_iter().chain([ABSENT]) {
        cells.extend(queries_of(graph));
        cells.extend(downloads_of(graph));
        cells.extend(updates_of(graph));
        cells.extend(uploads_to(graph));
    }
    cells
}

/// What is about no graph in particular.
fn of_all_graphs() -> Vec<Cell> {
    let mut cells = Vec::new();
    for text in [
        "SELECT * { ?s ?p ?o }",
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "SELECT ?g { GRAPH ?g {} }",
        "SELECT ?g (COUNT(*) AS ?n) (COUNT(DISTINCT ?p) AS ?m) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g",
        "SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }",
        "SELECT DISTINCT ?p { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }",
        "SELECT * { ?s <http://e/p>* ?o }",
        "SELECT * { GRAPH ?g { ?s <http://e/p>+ ?o } }",
        "SELECT * { GRAPH ?g { ?s a ?c } FILTER NOT EXISTS { GRAPH ?h { ?s <http://e/none> ?c } } }",
        "SELECT * { ?s ?p ?o OPTIONAL { GRAPH ?g { ?s ?q ?o } } }",
        "SELECT * { ?s ?p ?o MINUS { GRAPH ?g { ?s ?p ?o } } }",
        "CONSTRUCT { ?s ?p ?g } WHERE { GRAPH ?g { ?s ?p ?o } }",
        "DESCRIBE <http://e/s>",
        "DESCRIBE ?s { GRAPH ?g { ?s a ?c } }",
        "SELECT (SUM(?o) AS ?n) { ?s <http://e/q> ?o }",
        "SELECT * { ?s <http://e/p> ?o . ?o <http://e/p> ?x . ?x <http://e/q> ?y }",
        "SELECT * {",
        "SELECT * { ?s ?p ?o . ?x ?y ?z } ORDER BY ?s ?x LIMIT 0",
    ] {
        for path in ["/NAME/sparql?", "/NAME?", "/repositories/NAME?"] {
            cells.push(query(path, text));
        }
    }
    for path in ["/NAME/.well-known/void", "/NAME/sparql", "/NAME/query"] {
        for accept in ["application/n-triples", "application/n-quads"] {
            cells.push(read("GET", path.to_owned(), accept));
        }
    }
    for path in [
        "/NAME/data",
        "/NAME/get",
        "/NAME/rdf4j/statements",
        "/NAME/rdf4j/size",
        "/NAME/rdf4j/contexts",
        "/NAME/",
        "/NAME/health/ready",
        "/NAME/nothing",
        "/NAME/data?at=none",
        "/NAME/rdf4j/namespaces",
    ] {
        cells.push(read("GET", path.to_owned(), "application/n-quads, text/csv;q=0.9, */*;q=0.1"));
        cells.push(read("HEAD", path.to_owned(), "application/n-quads, text/csv;q=0.9, */*;q=0.1"));
    }
    for path in ["/NAME/admin/stats", "/NAME/metrics", "/NAME/admin/queries", "/NAME/admin/snapshots"] {
        let cell = read("GET", path.to_owned(), "*/*");
        cells.push(Cell { effect: Box::new(|_| Effect::Refused), ..cell });
    }
    for path in ["/NAME/admin/compact", "/NAME/admin/backup?to=x", "/NAME/admin/snapshots?name=x"] {
        cells.push(change("POST", path.to_owned(), "text/plain", "", |_| false));
    }
    cells
}

const UPDATE: &str = "application/sparql-update";
const QUADS: &str = "<http://e/n> <http://e/p> 2 .";
const PUT_QUADS: &str = "<http://e/n> <http://e/p> <http://e/o> <http://e/open> .";

/// Graphs that are there.
fn all(may: impl Fn(&str) -> bool) -> bool {
    GRAPHS.into_iter().all(may)
}

fn changes_of_all_graphs() -> Vec<Cell> {
    let is_update = |who: &Who| who.role == lode_server::Role::Update;
    let named = |graph: &str| !graph.is_empty();
    // Whether all that there is for somebody may be removed.
    let clears = move |who: &Who, with_default: bool| {
        is_update(who)
            && all(|graph| !who.reads(graph) || !(named(graph) || with_default) || who.removes(graph))
    };
    let mut cells = Vec::new();
    for path in ["/NAME/update", "/NAME/sparql", "/NAME", "/repositories/NAME/statements"] {
        let update =
            |text: &str, may: Box<dyn Fn(&Who) -> bool>| change("POST", path.to_owned(), UPDATE, text, may);
        cells.push(update("CLEAR ALL", Box::new(move |who| clears(who, true))));
        cells.push(update("DROP NAMED", Box::new(move |who| clears(who, false))));
        cells.push(update("DELETE WHERE { GRAPH ?g { ?s ?p ?o } }", Box::new(move |who| clears(who, false))));
        cells.push(update(
            "INSERT { GRAPH <http://e/open> { ?s ?p ?g } } WHERE { GRAPH ?g { ?s ?p ?o } }",
            Box::new(move |who| who.adds("http://e/open")),
        ));
        cells.push(update(
            "INSERT { GRAPH ?g { <http://e/n> <http://e/p> 3 } } WHERE { GRAPH ?g { ?s ?p ?o } }",
            Box::new(move |who| {
                is_update(who) && all(|graph| !named(graph) || !who.reads(graph) || who.adds(graph))
            }),
        ));
    }
    let put = change("PUT", "/NAME/data".to_owned(), "application/n-quads", PUT_QUADS, move |who| {
        clears(who, true) && who.adds("http://e/open")
    });
    let remove = change("DELETE", "/repositories/NAME/statements".to_owned(), "text/plain", "", move |who| {
        clears(who, true)
    });
    cells.extend([put, remove]);
    cells
}

fn queries_of(graph: &str) -> Vec<Cell> {
    let within = |pattern: &str| {
        if graph.is_empty() { pattern.to_owned() } else { format!("GRAPH <{graph}> {{ {pattern} }}") }
    };
    let name = if graph.is_empty() { "http://e/open" } else { graph };
    let mut cells = Vec::new();
    for text in [
        format!("SELECT * {{ {} }}", within("?s ?p ?o")),
        format!("ASK {{ {} }}", within("")),
        format!("ASK {{ {} }}", within("?s ?p ?o")),
        format!("SELECT (COUNT(*) AS ?n) {{ {} }}", within("?s ?p ?o")),
        format!("SELECT * {{ {} }}", within("?s <http://e/p>+ ?o")),
        format!("SELECT * {{ {} }}", within("<http://e/s3> <http://e/p>? ?o")),
        format!("SELECT (COUNT(*) AS ?n) FROM <{name}> {{ ?s ?p ?o }}"),
        format!("SELECT * FROM NAMED <{name}> {{ GRAPH ?g {{ }} }}"),
        format!("SELECT * FROM NAMED <{name}> FROM NAMED <http://e/open> {{ GRAPH ?g {{ ?s ?p ?o }} }}"),
        format!("DESCRIBE <http://e/s0> <http://e/s1> <http://e/s3> FROM <{name}>"),
        format!("SELECT ?x {{ BIND(EXISTS {{ {} }} AS ?x) }}", within("?s <http://e/q> ?o")),
        format!("CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {} }}", within("?s ?p ?o")),
        format!("SELECT * {{ VALUES ?g {{ <{name}> }} GRAPH ?g {{ ?s ?p ?o }} }}"),
        format!("SELECT * {{ GRAPH ?g {{ ?s ?p ?o }} FILTER(?g = <{name}>) }}"),
        format!("SELECT * {{ ?s ?p <{name}> }}"),
    ] {
        cells.push(query("/NAME/sparql?", &text));
    }
    let all = encoded("SELECT * { ?s ?p ?o }");
    cells.push(read("GET", format!("/NAME/query?query={all}&default-graph-uri={}", encoded(name)), CSV));
    let named = encoded("SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g");
    cells.push(read("GET", format!("/NAME?query={named}&named-graph-uri={}", encoded(name)), CSV));
    for wish in ["explain", "profile"] {
        let text = encoded(&format!("SELECT * {{ {} }}", within("?s ?p ?o")));
        let cell = read("GET", format!("/NAME/sparql?query={text}&{wish}=1"), "*/*");
        // Plans of two databases differ for who may read all of both.
        cells.push(Cell { effect: Box::new(|who| refused_unless(who.reads_all())), ..cell });
    }
    cells
}

fn downloads_of(graph: &str) -> Vec<Cell> {
    let selected = if graph.is_empty() { "default".to_owned() } else { format!("graph={}", encoded(graph)) };
    let context = if graph.is_empty() { "null".to_owned() } else { encoded(&format!("<{graph}>")) };
    let mut cells = Vec::new();
    for path in ["/NAME/data?", "/NAME?", "/NAME/get?"] {
        cells.push(read("GET", format!("{path}{selected}"), "application/n-triples"));
    }
    let data = || read("GET", format!("/NAME/data?{selected}"), "application/n-quads");
    cells.push(data());
    cells.push(read("HEAD", format!("/NAME/data?{selected}"), "application/n-triples"));
    cells.push(with(data(), "If-None-Match", "\"0123456789abcdef-1-nq\""));
    cells.push(with(data(), "Accept-Encoding", "gzip"));
    for path in ["statements", "size"] {
        let accept = "application/n-quads, text/plain;q=0.5";
        cells.push(read("GET", format!("/repositories/NAME/{path}?context={context}"), accept));
    }
    cells
}

fn updates_of(graph: &str) -> Vec<Cell> {
    let quoted = graph.to_owned();
    let within = |pattern: &str| {
        if graph.is_empty() { pattern.to_owned() } else { format!("GRAPH <{graph}> {{ {pattern} }}") }
    };
    let target = if graph.is_empty() { "DEFAULT".to_owned() } else { format!("GRAPH <{graph}>") };
    let name = if graph.is_empty() { "DEFAULT".to_owned() } else { format!("<{graph}>") };
    let open = "http://e/open";
    let adds = {
        let graph = quoted.clone();
        move |who: &Who| who.adds(&graph)
    };
    let removes = {
        let graph = quoted.clone();
        move |who: &Who| who.removes(&graph)
    };
    let both = {
        let graph = quoted.clone();
        move |who: &Who| who.adds(&graph) && who.removes(&graph)
    };
    let is_open = graph == open;
    let mut cells = Vec::new();
    let mut push = |text: String, may: Box<dyn Fn(&Who) -> bool>| {
        cells.push(change("POST", "/NAME/update".to_owned(), UPDATE, &text, may));
    };
    push(format!("INSERT DATA {{ {} }}", within("<http://e/n> <http://e/p> 2")), Box::new(adds.clone()));
    push(format!("INSERT DATA {{ {} }}", within("<http://e/s> <http://e/p> 1")), Box::new(adds.clone()));
    push(format!("DELETE DATA {{ {} }}", within("<http://e/s> <http://e/p> 1")), Box::new(removes.clone()));
    push(format!("DELETE WHERE {{ {} }}", within("?s <http://e/p> ?o")), Box::new(removes.clone()));
    push(
        format!("DELETE {{ {0} }} INSERT {{ {0} }} WHERE {{ ?s ?p ?o }}", within("?s <http://e/p> ?o")),
        Box::new(both),
    );
    push(format!("CLEAR {target}"), Box::new(removes.clone()));
    push(format!("DROP SILENT {target}"), Box::new(removes.clone()));
    if !graph.is_empty() {
        push(format!("CREATE {target}"), Box::new(adds.clone()));
        push(format!("CREATE SILENT {target}"), Box::new(adds.clone()));
        push(format!("LOAD <http://e/none> INTO {target}"), Box::new(|_| false));
        let rows = format!(
            "DELETE {{ GRAPH ?g {{ ?s ?p ?o }} }} WHERE {{ VALUES ?g {{ <{graph}> }} <http://e/s> ?p ?o BIND(<http://e/s> AS ?s) }}"
        );
        let (graph, is_there) = (quoted.clone(), |who: &Who| who.reads(""));
        push(
            rows,
            Box::new(move |who| {
                who.role == lode_server::Role::Update && (!is_there(who) || who.removes(&graph))
            }),
        );
    }
    if !is_open {
        let to_open = |who: &Who| who.removes("http://e/open");
        push(format!("COPY {name} TO <{open}>"), Box::new(to_open));
        push(format!("ADD {name} TO <{open}>"), Box::new(|who| who.adds("http://e/open")));
        push(format!("ADD SILENT <{open}> TO {name}"), Box::new(adds.clone()));
        push(format!("COPY SILENT <{open}> TO {name}"), Box::new(removes.clone()));
        let moves = removes.clone();
        push(format!("MOVE SILENT {name} TO <{open}>"), Box::new(move |who| moves(who) && to_open(who)));
    }
    let text = format!("INSERT DATA {{ {} }}", within("<http://e/n> <http://e/p> 2"));
    for path in ["/NAME/sparql", "/NAME", "/repositories/NAME/statements"] {
        cells.push(change("POST", path.to_owned(), UPDATE, &text, adds.clone()));
    }
    let form = format!("update={}", encoded(&text));
    cells.push(change("POST", "/NAME/update".to_owned(), "application/x-www-form-urlencoded", &form, adds));
    cells
}

fn uploads_to(graph: &str) -> Vec<Cell> {
    let selected = if graph.is_empty() { "default".to_owned() } else { format!("graph={}", encoded(graph)) };
    let context = if graph.is_empty() { "null".to_owned() } else { encoded(&format!("<{graph}>")) };
    let quoted = graph.to_owned();
    let adds = {
        let graph = quoted.clone();
        move |who: &Who| who.adds(&graph)
    };
    let removes = move |who: &Who| who.removes(&quoted);
    let mut cells = Vec::new();
    for path in ["/NAME/data?", "/NAME?"] {
        let path = format!("{path}{selected}");
        cells.push(change("POST", path.clone(), "text/turtle", QUADS, adds.clone()));
        cells.push(change("PUT", path.clone(), "text/turtle", QUADS, removes.clone()));
        cells.push(change("DELETE", path, "text/plain", "", removes.clone()));
    }
    let put = || change("PUT", format!("/NAME/data?{selected}"), "text/turtle", QUADS, removes.clone());
    cells.push(with(put(), "If-Match", "*"));
    cells.push(with(put(), "If-None-Match", "*"));
    cells.push(with(put(), "If-Match", "\"0123456789abcdef-1-ttl\""));
    let post = || change("POST", format!("/NAME/data?{selected}"), "text/turtle", QUADS, adds.clone());
    cells.push(with(post(), "If-Match", "*"));
    cells.push(with(post(), "If-None-Match", "*"));
    let quad = if graph.is_empty() {
        QUADS.to_owned()
    } else {
        format!("<http://e/n> <http://e/p> <http://e/o> <{graph}> .")
    };
    let quad = quad.replace(" 2 ", " \"2\" ");
    cells.push(change("POST", "/NAME/data".to_owned(), "application/n-quads", &quad, adds.clone()));
    let statements = format!("/repositories/NAME/statements?context={context}");
    cells.push(change("POST", statements.clone(), "text/turtle", QUADS, adds));
    cells.push(change("PUT", statements.clone(), "text/turtle", QUADS, removes.clone()));
    cells.push(change("DELETE", statements, "text/plain", "", removes));
    cells
}
