//! `lode lsp`, as an editor talks to it.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

const DATA: &str = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix ex: <http://example.org/> .
    ex:ann a foaf:Person ; foaf:name \"Ann\" ; foaf:knows ex:bob . ex:bob foaf:name \"Bob\" .";

/// An editor.
struct Editor {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last_id: u64,
}

impl Editor {
    fn start(lode: &Lode, args: &[&str]) -> Self {
        let mut command = lode.command(args);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut editor = Self { server, to, from, last_id: 0 };
        let answer =
            editor.ask("initialize", &json!({ "processId": null, "rootUri": null, "capabilities": {} }));
        assert_eq!(answer["capabilities"]["hoverProvider"], json!(true), "{answer}");
        editor.tell("initialized", &json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.to.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The next message.
    fn hear(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.hear();
            if message["id"] == json!(id) {
                return message.get("result").cloned().unwrap_or_else(|| message["error"].clone());
            }
        }
    }

    /// Opens, or changes, a text; what is wrong with it.
    fn show(&mut self, uri: &str, text: &str, opens: bool) -> Vec<Value> {
        if opens {
            let document = json!({ "uri": uri, "languageId": "sparql", "version": 1, "text": text });
            self.tell("textDocument/didOpen", &json!({ "textDocument": document }));
        } else {
            let document = json!({ "uri": uri, "version": 2 });
            let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
            self.tell("textDocument/didChange", &params);
        }
        let message = self.hear();
        assert_eq!(message["method"], "textDocument/publishDiagnostics", "{message}");
        assert_eq!(message["params"]["uri"], uri);
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn at(&mut self, method: &str, uri: &str, line: u64, character: u64) -> Value {
        let position = json!({ "line": line, "character": character });
        self.ask(method, &json!({ "textDocument": { "uri": uri }, "position": position }))
    }

    fn end(mut self) {
        assert_eq!(self.ask("shutdown", &Value::Null), Value::Null);
        self.tell("exit", &Value::Null);
        assert!(self.server.wait().unwrap().success());
    }
}

/// What an editor does with a server that knows the data.
fn edit(mut editor: Editor) {
    let uri = "file:///a.rq";
    let marks = editor.show(uri, "SELECT *\n{ ?s foaf:n }", true);
    assert_eq!(marks[0]["range"]["start"], json!({ "line": 1, "character": 5 }), "{marks:?}");
    assert_eq!(marks[0]["severity"], 1);
    assert!(marks[0]["message"].as_str().unwrap().contains("PREFIX foaf:"), "{marks:?}");
    let tries = (0..50).map(|_| editor.at("textDocument/completion", uri, 1, 11));
    let found = tries.into_iter().find(|found| found["items"][0].is_object()).unwrap();
    let item = &found["items"][0];
    assert_eq!((&item["label"], &item["textEdit"]["newText"]), (&json!("foaf:name"), &json!("foaf:name")));
    let range = json!({ "start": { "line": 1, "character": 5 }, "end": { "line": 1, "character": 11 } });
    assert_eq!(item["textEdit"]["range"], range);
    assert_eq!(item["additionalTextEdits"][0]["newText"], "PREFIX foaf: <http://xmlns.com/foaf/0.1/>\n");
    let text = "PREFIX ex: <http://example.org/>\nselect*{ex:ann ?p ?o}";
    assert!(editor.show(uri, text, false).is_empty());
    let hover = editor.at("textDocument/hover", uri, 1, 10);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("**Ann**"), "{hover}");
    assert_eq!(editor.at("textDocument/hover", uri, 0, 0)["contents"]["kind"], "markdown");
    let edits =
        editor.ask("textDocument/formatting", &json!({ "textDocument": { "uri": uri }, "options": {} }));
    let formatted = "PREFIX ex: <http://example.org/>\n\nSELECT * {\n  ex:ann ?p ?o\n}\n";
    assert_eq!(edits[0]["newText"], formatted, "{edits}");
    assert!(editor.show(uri, formatted, false).is_empty());
    let edits =
        editor.ask("textDocument/formatting", &json!({ "textDocument": { "uri": uri }, "options": {} }));
    assert_eq!(edits, json!([]));
    let update = editor.show("file:///b.ru", "INSERT DATA { ?s <http://e/p> 1 }", true);
    assert_eq!(update.len(), 1, "{update:?}");
    assert_eq!(editor.ask("textDocument/rename", &json!({}))["code"], -32601);
    editor.end();
}

#[test]
fn an_editor_is_helped_over_a_folder() {
    let lode = Lode::with_turtle(DATA);
    edit(Editor::start(&lode, &["lsp", "db"]));
}

#[test]
fn an_editor_is_helped_by_a_server() {
    let lode = Lode::with_turtle(DATA);
    let endpoint = Endpoint::start(&lode, &[]);
    edit(Editor::start(&lode, &["lsp", endpoint.base()]));
}

#[test]
fn without_a_database_the_language_is_left() {
    let mut editor = Editor::start(&Lode::new(), &["lsp"]);
    editor.show("file:///a.rq", "SELECT * { ?s ?p ?o . OPT", true);
    let found = editor.at("textDocument/completion", "file:///a.rq", 0, 25);
    assert_eq!(found["items"][0]["label"], "OPTIONAL", "{found}");
    editor.end();
    let missing = Lode::new().run(&["lsp", "nowhere"]);
    assert!(missing.fails(1).contains("nowhere"));
}
