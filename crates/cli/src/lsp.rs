//! `lode lsp`: a language server over standard input and output.

mod places;
pub mod source;

use crate::args::LspArgs;
use crate::exit::Done;
use lode_assist::{Completion, Form, Hover, Item, ItemKind, Mark, form_of};
use lsp_server::{Connection, ErrorCode, IoThreads, Message, Notification, Request, Response};
use places::{end_of, offset, place, range};
use serde_json::{Value, json};
use source::Source;
use std::collections::HashMap;

/// Items that are offered at once: an editor asks again as more is typed.
const ITEMS: usize = 50;

/// What it can do: whole texts are sent with each change, places are in UTF-16.
fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 1 },
        "completionProvider": { "triggerCharacters": [":", "?", "$", "<", "\"", " "] },
        "hoverProvider": true,
        "documentFormattingProvider": true,
    })
}

pub fn run(args: &LspArgs) -> anyhow::Result<Done> {
    let source = Source::at(args.target.as_deref(), &args.login)?;
    let (connection, threads) = Connection::stdio();
    serve(connection, threads, source)?;
    Ok(Done::Ok)
}

fn serve(connection: Connection, threads: IoThreads, source: Source) -> anyhow::Result<()> {
    let (id, _) = connection.initialize_start()?;
    let info = json!({ "name": "lode", "version": env!("CARGO_PKG_VERSION") });
    connection.initialize_finish(id, json!({ "capabilities": capabilities(), "serverInfo": info }))?;
    let mut session = Session { connection, source, texts: HashMap::new() };
    session.work()?;
    drop(session);
    threads.join()?;
    Ok(())
}

/// A text that is open in the editor.
struct Text {
    text: String,
    is_update: bool,
}

impl Text {
    fn form(&self) -> Form {
        if self.is_update { Form::Update } else { form_of(&self.text) }
    }
}

struct Session {
    connection: Connection,
    source: Source,
    texts: HashMap<String, Text>,
}

/// The text and the place that a request is about.
fn uri(params: &Value) -> &str {
    params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or("")
}

fn number(value: &Value, pointer: &str) -> usize {
    let number = value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Session {
    fn work(&mut self) -> anyhow::Result<()> {
        while let Ok(message) = self.connection.receiver.recv() {
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    let response = self.answer(request);
                    self.connection.sender.send(Message::Response(response))?;
                }
                Message::Notification(notification) => self.hear(&notification)?,
                Message::Response(_) => {}
            }
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let answer = match method.as_str() {
            "textDocument/completion" => self.completion(&params),
            "textDocument/hover" => self.hover(&params),
            "textDocument/formatting" => Ok(self.formatting(&params)),
            _ => {
                let message = format!("{method} is not known here");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match answer {
            Ok(answer) => Response::new_ok(id, answer),
            Err(error) => Response::new_err(id, ErrorCode::RequestFailed as i32, format!("{error:#}")),
        }
    }

    /// The text of a request, and its place there.
    fn at(&self, params: &Value) -> Option<(&str, usize)> {
        let text = &self.texts.get(uri(params))?.text;
        let (line, character) = (number(params, "/position/line"), number(params, "/position/character"));
        Some((text, offset(text, line, character)))
    }

    fn completion(&self, params: &Value) -> anyhow::Result<Value> {
        let Some((text, position)) = self.at(params) else { return Ok(Value::Null) };
        let Completion { from, to, items, .. } = self.source.complete(text, position, ITEMS)?;
        let units: Vec<u16> = text.encode_utf16().collect();
        let typed = String::from_utf16_lossy(units.get(from..position.max(from)).unwrap_or(&[]));
        let range = range(text, from, to);
        let items = items.iter().enumerate().map(|(at, item)| completion_item(item, at, &typed, &range));
        // What was found by a label or by the data need not begin as was typed: the editor asks again, and sorts nothing itself.
        Ok(json!({ "isIncomplete": true, "items": items.collect::<Vec<_>>() }))
    }

    fn hover(&self, params: &Value) -> anyhow::Result<Value> {
        let Some((text, position)) = self.at(params) else { return Ok(Value::Null) };
        let Some(Hover { from, to, text: markdown, .. }) = self.source.hover(text, position)? else {
            return Ok(Value::Null);
        };
        let contents = json!({ "kind": "markdown", "value": markdown });
        Ok(json!({ "contents": contents, "range": range(text, from, to) }))
    }

    /// The whole text in good order; nothing where it has errors, which are marked anyway.
    fn formatting(&self, params: &Value) -> Value {
        let Some(Text { text, .. }) = self.texts.get(uri(params)) else { return Value::Null };
        match lode_assist::format(text) {
            Ok(formatted) if formatted != *text => {
                let range = json!({ "start": place(text, 0), "end": end_of(text) });
                json!([{ "range": range, "newText": formatted }])
            }
            Ok(_) => json!([]),
            Err(_) => Value::Null,
        }
    }

    fn hear(&mut self, notification: &Notification) -> anyhow::Result<()> {
        let params = &notification.params;
        let uri = uri(params).to_owned();
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let text = params.pointer("/textDocument/text").and_then(Value::as_str).unwrap_or("");
                let language = params.pointer("/textDocument/languageId").and_then(Value::as_str);
                let is_update =
                    uri.ends_with(".ru") || language.is_some_and(|language| language.contains("update"));
                self.texts.insert(uri.clone(), Text { text: text.to_owned(), is_update });
                self.tell(&uri)
            }
            "textDocument/didChange" => {
                let changes = params.get("contentChanges").and_then(Value::as_array);
                let last = changes.and_then(|changes| changes.last()?.get("text")?.as_str());
                if let (Some(text), Some(open)) = (last, self.texts.get_mut(&uri)) {
                    text.clone_into(&mut open.text);
                    self.tell(&uri)?;
                }
                Ok(())
            }
            "textDocument/didClose" => {
                self.texts.remove(&uri);
                self.publish(&uri, &[])
            }
            _ => Ok(()),
        }
    }

    /// Tells what is wrong with a text.
    fn tell(&self, uri: &str) -> anyhow::Result<()> {
        let Some(open) = self.texts.get(uri) else { return Ok(()) };
        // A server that cannot be reached says nothing of the text.
        let Ok(checked) = self.source.check(&open.text, open.form()) else { return Ok(()) };
        let marks = |marks: &[Mark], severity: u8| {
            marks.iter().map(|mark| diagnostic(&open.text, mark, severity)).collect::<Vec<_>>()
        };
        let all = [marks(&checked.errors, 1), marks(&checked.warnings, 2)].concat();
        self.publish(uri, &all)
    }

    fn publish(&self, uri: &str, diagnostics: &[Value]) -> anyhow::Result<()> {
        let params = json!({ "uri": uri, "diagnostics": diagnostics });
        let notification = Notification::new("textDocument/publishDiagnostics".to_owned(), params);
        Ok(self.connection.sender.send(Message::Notification(notification))?)
    }
}

fn diagnostic(text: &str, mark: &Mark, severity: u8) -> Value {
    let message = match &mark.help {
        Some(help) => format!("{}\nhelp: {help}", mark.message),
        None => mark.message.clone(),
    };
    let range = range(text, mark.from, mark.to);
    json!({ "range": range, "severity": severity, "source": "lode", "message": message })
}

fn completion_item(item: &Item, at: usize, typed: &str, range: &Value) -> Value {
    let kind = match item.kind {
        ItemKind::Predicate => 10,
        ItemKind::Class => 7,
        ItemKind::Term => 21,
        ItemKind::Graph => 17,
        ItemKind::Prefix => 9,
        ItemKind::Function => 3,
        ItemKind::Variable => 6,
        ItemKind::Keyword => 14,
    };
    let count = item.count.map(|count| format!("{count}"));
    let mut answer = json!({
        "label": item.label,
        "labelDetails": { "description": count },
        "kind": kind,
        "detail": item.detail,
        "documentation": item.iri,
        "sortText": format!("{at:05}"),
        "filterText": typed,
        "textEdit": { "range": range, "newText": item.insert },
    });
    if let (Some(prefix), Some(answer)) = (&item.prefix, answer.as_object_mut()) {
        let top = json!({ "start": place("", 0), "end": place("", 0) });
        let declaration = format!("PREFIX {}: <{}>\n", prefix.name, prefix.iri);
        answer.insert("additionalTextEdits".to_owned(), json!([{ "range": top, "newText": declaration }]));
    }
    answer
}
