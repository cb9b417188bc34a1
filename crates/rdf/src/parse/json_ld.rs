//! JSON-LD. Contexts on the network are an error: a database does not fetch what a document names.

use super::error::{ParseError, SyntaxError, base_error, excerpt, hint};
use super::kept::ParseNotes;
use super::lenient_quads::look;
use super::library::{next_item, take_too_deep, too_deep_message};
use super::options::{ParseOptions, QuadSink};
use super::window::{Guard, Window, window};
use oxjsonld::{
    JsonLdErrorCode, JsonLdLoadDocumentOptions, JsonLdParseError, JsonLdParser, JsonLdRemoteDocument,
    JsonLdSyntaxError,
};
use oxrdf::{GraphNameRef, NamedOrBlankNodeRef, QuadRef, TermRef};
use std::io::{BufReader, Read};
use std::panic::{RefUnwindSafe, UnwindSafe};

/// How much the parser gets at a time: little, because errors of the model are placed where reading had come to.
const STEP_BYTES: usize = 128;

/// How deep objects and arrays may nest: the parser recurses over them, and the time and memory that it takes grow with the square.
const DEPTH_MAX: usize = 200;

/// Refuses what nests deeper, before the parser sees it. It knows only strings and brackets.
#[derive(Default)]
struct DepthGuard {
    depth: usize,
    is_string: bool,
    is_escaped: bool,
}

impl Guard for DepthGuard {
    fn check(&mut self, bytes: &[u8]) -> Result<(), (usize, String)> {
        for (at, byte) in bytes.iter().enumerate() {
            if self.is_escaped {
                self.is_escaped = false;
                continue;
            }
            match byte {
                b'\\' if self.is_string => self.is_escaped = true,
                b'"' => self.is_string = !self.is_string,
                b'{' | b'[' if !self.is_string => self.depth += 1,
                b'}' | b']' if !self.is_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth > DEPTH_MAX {
                return Err((at, format!("objects and arrays nest more than {DEPTH_MAX} deep")));
            }
        }
        Ok(())
    }
}

pub(super) fn parse(
    reader: impl Read,
    options: &ParseOptions,
    notes: &mut ParseNotes,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    let mut parser = JsonLdParser::new();
    if options.is_lenient() {
        parser = parser.lenient();
    }
    if let Some(base) = options.base_iri() {
        parser = parser.with_base_iri(base).map_err(|error| base_error(base, &error.to_string()))?;
    }
    let (reader, window) =
        window(BufReader::new(reader), DepthGuard::default(), STEP_BYTES, options.statement_limit());
    let mut items = parser.for_reader(reader).with_load_document_callback(context_loader(options));
    loop {
        let item = next_item(|| items.next()).map_err(|message| window.borrow().error_near_end(message))?;
        let quad = match item {
            None => return Ok(()),
            Some(Ok(quad)) => quad,
            Some(Err(JsonLdParseError::Io(error))) => return Err(window.borrow().io_error(error)),
            Some(Err(JsonLdParseError::Syntax(error))) => {
                return Err(syntax_error(&error, &window.borrow()).into());
            }
        };
        window.borrow_mut().finish_statement();
        let mut quad =
            take_too_deep(quad).map_err(|()| window.borrow().error_near_end(too_deep_message()))?;
        let is_kept = if options.is_lenient() {
            let place = || {
                let error = window.borrow().error_near_end(String::new());
                (error.line, 0)
            };
            look(&mut quad, &mut notes.kept, &place)
        } else {
            is_well_formed(quad.as_ref())
        };
        notes.see_address(options, quad.as_ref());
        if is_kept && sink(quad.as_ref()).is_break() {
            return Ok(());
        }
    }
}

type Loaded = Result<JsonLdRemoteDocument, Box<dyn std::error::Error + Send + Sync>>;

/// Contexts come from where the options say, and nothing from the network.
fn context_loader(
    options: &ParseOptions,
) -> impl Fn(&str, &JsonLdLoadDocumentOptions) -> Loaded + Send + Sync + UnwindSafe + RefUnwindSafe + 'static
{
    let contexts = options.contexts.clone();
    move |iri, _| match &contexts {
        None => {
            Err("contexts are not fetched from the network; --contexts DIR names a folder that has them"
                .into())
        }
        Some(load) => {
            let document = load(iri)?;
            Ok(JsonLdRemoteDocument { document, document_url: iri.to_owned() })
        }
    }
}

/// Whether the labels of blank nodes follow Turtle's grammar. The library lets colons pass; the standard has quads with
/// other labels dropped, like those with ill-formed IRIs, which the library does drop.
fn is_well_formed(quad: QuadRef<'_>) -> bool {
    let subject = match quad.subject {
        NamedOrBlankNodeRef::BlankNode(node) => node.as_str(),
        NamedOrBlankNodeRef::NamedNode(_) => "",
    };
    let object = match quad.object {
        TermRef::BlankNode(node) => node.as_str(),
        _ => "",
    };
    let graph = match quad.graph_name {
        GraphNameRef::BlankNode(node) => node.as_str(),
        _ => "",
    };
    [subject, object, graph].iter().all(|label| !label.contains(':'))
}

/// A message of the JSON parser without the place, which is told anyway.
fn without_place(message: &str) -> &str {
    let rest = message.strip_prefix("Parser error at line ").and_then(|rest| rest.split_once(": "));
    rest.map_or(message, |(_, rest)| rest)
}

fn syntax_error(error: &JsonLdSyntaxError, window: &Window) -> SyntaxError {
    let message = match error.code() {
        Some(JsonLdErrorCode::LoadingRemoteContextFailed | JsonLdErrorCode::LoadingDocumentFailed) => {
            error.to_string()
        }
        _ => without_place(&error.to_string()).to_owned(),
    };
    let Some(place) = error.location() else { return window.error_near_end(message) };
    let text = excerpt(window.text(place.start.offset, place.end.offset));
    SyntaxError {
        line: place.start.line + 1,
        column: place.start.column + 1,
        offset: place.start.offset,
        approximate: false,
        hint: hint(&message, &text),
        message,
        excerpt: text,
    }
}
