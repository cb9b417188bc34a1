//! `lode top` and `lode cancel`: what runs on a server, live, and an end to it.

use crate::args::{CancelArgs, Named, TopArgs};
use crate::exit::{Done, wrong_usage};
use crate::number;
use crate::server_client::ServerClient;
use crate::talk::say;
use anyhow::Context;
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::thread;

/// Home; lines that are too long end at the edge.
const FRAME_START: &str = "\x1b[H\x1b[?7l";
/// Clears what a longer frame before has left.
const FRAME_END: &str = "\x1b[J\x1b[?7h";
const LINE_END: &str = "\x1b[K\n";
/// Columns before the text: name, and whether they stand at the right.
const COLUMNS: [(&str, bool); 12] = [
    ("ID", true),
    ("KIND", false),
    ("STATE", false),
    ("TIME", true),
    ("LEFT", true),
    ("ROWS", true),
    ("MEMORY", true),
    ("THREADS", true),
    ("LOOK-UPS", true),
    ("BLOCKS", true),
    ("DISK", true),
    ("CLIENT", false),
];

pub fn run(args: &TopArgs) -> anyhow::Result<Done> {
    let server = ServerClient::new(args.server.endpoint_or(args.url.as_deref()), &args.server.login)?;
    let mut out = std::io::stdout();
    let is_live = out.is_terminal() && !args.once && !args.json;
    // The first answer must come; later, the server may be started anew.
    let mut list = Ok(server.ask("GET", "/admin/queries")?);
    // Servers of before do not know of workers.
    let has_workers =
        !args.json && server.answer("GET", "/admin/workers").is_ok_and(|(status, _)| status == 200);
    if is_live {
        out.write_all(b"\x1b[2J")?;
    }
    loop {
        let text = match &list {
            Ok(list) if args.json => list.trim_end().to_owned() + "\n",
            Ok(list) => {
                let list = serde_json::from_str(list).context("the server's answer")?;
                let workers = if has_workers { workers(&server) } else { String::new() };
                table(&list, &server.endpoint) + &workers
            }
            Err(error) if is_live => format!("no answer: {error:#}\n"),
            Err(error) => {
                say!("no answer: {error:#}");
                String::new()
            }
        };
        if is_live {
            out.write_all(format!("{FRAME_START}{}{FRAME_END}", text.replace('\n', LINE_END)).as_bytes())?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        out.flush()?;
        if args.once {
            return Ok(Done::Ok);
        }
        thread::sleep(args.interval);
        list = server.ask("GET", "/admin/queries");
    }
}

pub fn cancel(args: &CancelArgs) -> anyhow::Result<Done> {
    let (mut ids, mut urls) = (Vec::new(), Vec::new());
    for named in &args.named {
        match named {
            Named::Id(id) => ids.push(*id),
            Named::Server(url) => urls.push(url.as_str()),
        }
    }
    if urls.len() > 1 {
        return Err(wrong_usage(
            "more than one server is named: name one, and the numbers of what is to be stopped",
        ));
    }
    if ids.is_empty() {
        return Err(wrong_usage("what is to be stopped? Name numbers, as lode top shows them"));
    }
    let server = ServerClient::new(args.server.endpoint_or(urls.first().copied()), &args.server.login)?;
    let mut outcome = Ok(Done::Ok);
    for id in &ids {
        match server.ask("DELETE", &format!("/admin/queries/{id}")) {
            Ok(_) => say!("cancelled {id}"),
            Err(error) if ids.len() == 1 => return Err(error),
            Err(error) => {
                say!("{id}: {error:#}");
                outcome = Err(anyhow::anyhow!("not all were cancelled"));
            }
        }
    }
    outcome
}

/// A line for each worker of the server, if it has any.
fn workers(server: &ServerClient) -> String {
    let answer = server.ask("GET", "/admin/workers").ok();
    let told = answer.and_then(|answer| serde_json::from_str::<Value>(&answer).ok());
    told.map_or_else(String::new, |told| workers_table(&told))
}

fn workers_table(told: &Value) -> String {
    let none = Vec::new();
    let list = told["workers"].as_array().unwrap_or(&none);
    let mut text = String::new();
    let count = |value: &Value| number::short(value.as_f64().unwrap_or(0.0));
    for worker in list {
        let plain = |value: &Value| one_line(value.as_str().unwrap_or_default());
        let why = worker["why"].as_str().map_or_else(String::new, |why| format!(": {}", one_line(why)));
        text += &format!(
            "worker {}  {}{why}  {} tasks, {} rows, {} sent, {} from others, {:.1} s of processors\n",
            plain(&worker["url"]),
            plain(&worker["state"]),
            count(&worker["tasks"]),
            count(&worker["rows"]),
            number::bytes(worker["bytes"].as_u64().unwrap_or(0)),
            number::bytes(worker["bytes_received"].as_u64().unwrap_or(0)),
            worker["processor_seconds"].as_f64().unwrap_or(0.0),
        );
    }
    if let Some(trouble) = told["trouble"].as_str() {
        text += &format!("workers: {}\n", one_line(trouble));
    }
    text
}

/// A line of sums, a head, and a line for each request.
fn table(list: &Value, endpoint: &str) -> String {
    let none = Vec::new();
    let requests = list.as_array().unwrap_or(&none);
    let waiting = requests.iter().filter(|request| request["state"] == "waiting").count();
    let mut text = format!("{endpoint}: {} running, {waiting} waiting\n", requests.len() - waiting);
    if requests.is_empty() {
        return text;
    }
    let rows: Vec<[String; COLUMNS.len()]> = requests.iter().map(cells).collect();
    let head = COLUMNS.map(|(name, _)| name.to_owned());
    let width =
        |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(width);
    let texts = requests.iter().map(|request| one_line(request["text"].as_str().unwrap_or_default()));
    for (row, query) in [&head].into_iter().chain(&rows).zip(["TEXT".to_owned()].into_iter().chain(texts)) {
        for ((cell, width), (_, at_right)) in row.iter().zip(widths).zip(COLUMNS) {
            text += &if at_right { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
        }
        text += &query;
        text.push('\n');
    }
    text
}

fn cells(request: &Value) -> [String; COLUMNS.len()] {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seconds = |value: &Value| value.as_f64().map_or(String::new(), |seconds| format!("{seconds:.1} s"));
    let (run, total) = (&request["run"], &request["run"]["total"]);
    let count = |value: &Value| value.as_u64().map_or(String::new(), |count| number::short(count as f64));
    [
        request["id"].to_string(),
        text(&request["kind"]),
        text(&request["state"]),
        seconds(&request["seconds"]),
        seconds(&request["seconds_left"]),
        count(&run["rows"]),
        run["memory_bytes"].as_u64().map_or(String::new(), number::bytes),
        count(&run["threads"]),
        count(&total["lookups"]),
        count(&total["blocks"]["touched"]),
        count(&total["blocks"]["read"]),
        text(&request["client"]),
    ]
}

/// A text on one line, without its declarations, and without anything that a terminal would obey.
fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    let mut rest = line.as_str();
    while let Some(word) = rest.split(' ').next()
        && ["prefix", "base"].iter().any(|name| word.eq_ignore_ascii_case(name))
        && let Some((_, after)) = rest.split_once('>')
    {
        rest = after.trim_start();
    }
    rest.to_owned()
}

#[cfg(test)]
mod tests {
    //! What is shown of requests.
    use super::{one_line, table};
    use serde_json::json;

    #[test]
    fn texts_on_one_line() {
        let text = "PREFIX a: <http://a/>\nprefix : <x>\n  SELECT *\n\t{ ?s ?p \"\x1b[2J\u{9b}31m\" }";
        assert_eq!(one_line(text), "SELECT * { ?s ?p \" [2J 31m\" }");
        assert_eq!((one_line("PREFIX a: "), one_line("")), ("PREFIX a:".to_owned(), String::new()));
    }

    #[test]
    fn a_line_for_each() {
        let waiting = json!({"id": 12, "kind": "query", "state": "waiting", "seconds": 0.04, "seconds_left": null,
            "client": "127.0.0.1:1", "text": "ASK {}", "run": null});
        let running = json!({"id": 7, "kind": "query", "state": "running", "seconds": 3.21, "seconds_left": 56.8,
            "client": "127.0.0.1:2", "text": "SELECT", "run": {"rows": 12345, "memory_bytes": 2048, "threads": 2,
            "total": {"lookups": 5, "blocks": {"touched": 9, "read": 1}}}});
        let text = table(&json!([running, waiting]), "http://127.0.0.1:7878");
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0].join(" "), "http://127.0.0.1:7878: 1 running, 1 waiting");
        assert_eq!(
            lines[2].join(" "),
            "7 query running 3.2 s 56.8 s 12.3 k 2.00 KiB 2 5 9 1 127.0.0.1:2 SELECT"
        );
        assert_eq!(lines[3].join(" "), "12 query waiting 0.0 s 127.0.0.1:1 ASK {}");
    }
}
