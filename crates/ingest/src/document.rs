//! One document, read on the caller's thread, quad by quad: for transactions, whose documents are small beside those of a load. What a
//! source is, and what is wrong with it, is told as a load tells it.

use crate::error::IngestError;
use crate::read::document_error;
use crate::sniff::{Known, Sniffed, sniff};
use crate::source::Source;
use crate::source_list::SourceList;
use lode_base::cancel::CancelToken;
use lode_rdf::input::Input;
use lode_rdf::parse::{ParseNotes, StatementLimit, parse_noting};
use lode_rdf::{ParseOptions, QuadRef, RdfFormat};
use std::io::{Cursor, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Between two looks at the cancel token.
const QUADS_PER_CHECK: u64 = 1024;

/// Reads a source, plain or compressed, and calls `visit` with every quad; an error of `visit` ends the reading. Returns how many
/// there were; what there is to say besides is added to `notes`.
///
/// # Errors
/// The first of `visit`; where the source cannot be read, is of no known format or not well-formed, or the reading was cancelled.
pub fn read_document<E: From<IngestError>>(
    source: Source,
    base_iri: Option<&str>,
    limit: StatementLimit,
    cancel: &CancelToken,
    notes: &mut ParseNotes,
    visit: &mut dyn FnMut(QuadRef<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let list = SourceList::default();
    let number = list.add(source.name());
    let own_address = source.address();
    let (format, reader) = open(source, &list, number)?;
    let mut options = options(base_iri, &list.name(number))?.with_statement_limit(limit);
    if let Some(address) = own_address {
        options = options.with_own_address(&address);
    }
    let (mut quads, mut failed) = (0, None);
    let result = parse_noting(format, reader, &options, notes, &mut |quad| {
        quads += 1;
        let checked = if quads % QUADS_PER_CHECK == 0 { cancel.check() } else { Ok(()) };
        match checked.map_err(|cancelled| IngestError::from(cancelled).into()).and_then(|()| visit(quad)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    match (failed, result) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(document_error(&list, number, error).into()),
        (None, Ok(())) => Ok(quads),
    }
}

fn options(base_iri: Option<&str>, name: &str) -> Result<ParseOptions, IngestError> {
    let Some(base) = base_iri else { return Ok(ParseOptions::default()) };
    ParseOptions::default()
        .with_base_iri(base)
        .map_err(|error| IngestError::Format { source_name: name.to_owned(), message: error.to_string() })
}

/// The document's format and its plain text.
fn open(
    source: Source,
    list: &SourceList,
    number: usize,
) -> Result<(RdfFormat, Box<dyn Read + Send>), IngestError> {
    let name = list.name(number);
    let failed = |error| IngestError::Input { source_name: name.clone(), error };
    let set = source.format();
    let unpacked_max = source.unpacked_max;
    let opened = source.open().map_err(failed)?;
    let input = Input::new(opened.reader, Arc::default()).map_err(failed)?.limited(unpacked_max);
    let known = Known { number, compression: input.compression(), set, told: opened.format };
    let Sniffed { format, head, rest } = sniff(known, list, input)?;
    let Some(format) = format else {
        let message = "is an archive of several files: load them with `lode load`".to_owned();
        return Err(IngestError::Format { source_name: name, message });
    };
    Ok((format, Box::new(Cursor::new(head).chain(rest))))
}

#[cfg(test)]
mod tests {
    //! Documents of several kinds, and what is none.
    use super::read_document;
    use crate::{IngestError, Source};
    use lode_base::cancel::CancelToken;
    use lode_rdf::parse::{ParseNotes, StatementLimit};

    fn read(name: &str, text: &str) -> Result<Vec<String>, IngestError> {
        let mut quads = Vec::new();
        let source = Source::bytes(name, text);
        read_document(
            source,
            Some("http://e/"),
            StatementLimit::default(),
            &CancelToken::default(),
            &mut ParseNotes::default(),
            &mut |quad| {
                quads.push(quad.to_string());
                Ok::<_, IngestError>(())
            },
        )?;
        Ok(quads)
    }

    #[test]
    fn documents_are_read_by_name_or_by_look() {
        for (name, text) in [("a.ttl", "<a> <b> <c> ."), ("a", "@base <http://e/> . <a> <b> <c> .")] {
            assert_eq!(read(name, text).unwrap(), ["<http://e/a> <http://e/b> <http://e/c>"], "{name}");
        }
        assert_eq!(read("a.trig", "<g> { <a> <b> 1, 2 }").unwrap().len(), 2);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let message = |name, text| read(name, text).unwrap_err().to_string();
        assert!(message("a.ttl", "<a> <b> <c> .\n<a> <b> .").starts_with("a.ttl:2:"));
        assert!(message("a.nt", "@prefix : <x> .").contains("looks like Turtle"));
        assert!(message("a", "<!doctype html>").contains("HTML"));
    }

    #[test]
    fn an_error_of_the_visitor_ends_it() {
        let source = Source::bytes("a.ttl", "<a> <b> 1, 2, 3 .");
        let result = read_document(
            source,
            Some("http://e/"),
            StatementLimit::default(),
            &CancelToken::default(),
            &mut ParseNotes::default(),
            &mut |_| Err(IngestError::NamesGraph { source_name: "the visitor".to_owned() }),
        );
        assert!(result.unwrap_err().to_string().starts_with("the visitor"));
    }
}
