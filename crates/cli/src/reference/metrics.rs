//! What `/metrics` tells, asked of a server that has been used a little: its text has names, kinds, meanings and labels.

use super::{code, plain, table};
use lode_engine::{Database, UpdateOptions};
use lode_server::{Bind, LogFile, Logs, Server, ServerOptions};
use std::net::SocketAddr;
use std::sync::Arc;

const HEAD: &str = "\
# Metrics

What `GET /metrics` tells, in the format of OpenMetrics; [Run a server](../operations.md#figures) has the configuration for Prometheus, a dashboard and alerts. Of several databases those of one have the label
`database`. A name that ends in `_seconds` and is a histogram has `_bucket`, `_sum` and `_count`. Counters begin at 0 with the process; those with labels are there from the first event on.

";

pub fn page() -> String {
    HEAD.to_owned()
        + table(&["Name", "Kind", "Labels", "What it is"], families(&exposition())).trim_end()
        + "\n"
}

/// The text of a server that has answered a query and an update.
fn exposition() -> String {
    let database = Database::in_memory().unwrap();
    database.update("INSERT DATA { <http://e/a> <http://e/p> 1 }", &UpdateOptions::default()).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let logs = Logs { program: Some(LogFile::standard_error()), ..Logs::default() };
    let options = ServerOptions { logs, ..ServerOptions::default() };
    let server = runtime.block_on(Server::bind(Arc::new(database), any, options)).unwrap();
    let Bind::Tcp(address) = server.bound().unwrap() else { unreachable!() };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = runtime.spawn(server.serve(async { drop(stopped.await) }));
    let get = |path: &str| {
        ureq::get(format!("http://{address}{path}")).call().unwrap().body_mut().read_to_string().unwrap()
    };
    get("/sparql?query=ASK%7B%7D");
    let text = get("/metrics");
    stop.send(()).unwrap();
    runtime.block_on(serving).unwrap();
    text
}

/// A row for each name.
fn families(text: &str) -> Vec<Vec<String>> {
    let mut rows: Vec<(String, String, Vec<String>, String)> = Vec::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')) {
            rows.push((name.to_owned(), String::new(), Vec::new(), help.trim_end_matches('.').to_owned()));
        } else if let Some((_, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            let row = rows.last_mut().unwrap();
            kind.clone_into(&mut row.1);
            if kind == "counter" {
                row.0.push_str("_total");
            }
        } else if let Some((_, labels)) = line.split_once('{') {
            let labels = labels
                .split("=\"")
                .filter_map(|part| part.rsplit(['"', ',']).next().filter(|name| !name.is_empty()));
            let known = &mut rows.last_mut().unwrap().2;
            for label in labels.filter(|label| *label != "le" && !label.contains('}')) {
                if !known.iter().any(|known| known == label) {
                    known.push(label.to_owned());
                }
            }
        }
    }
    let row = |(name, kind, labels, help): (String, String, Vec<String>, String)| {
        vec![
            code(&name),
            kind,
            labels.iter().map(|label| code(label)).collect::<Vec<_>>().join(", "),
            plain(&help),
        ]
    };
    rows.into_iter().map(row).collect()
}
