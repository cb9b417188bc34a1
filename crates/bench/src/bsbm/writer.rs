//! Writes statements in one of the three syntaxes.
//!
//! All text goes through one reused buffer: a statement is a handful of slice copies, no formatting machinery.

use std::io::{self, Write};

use super::dates::Day;
use super::random::Random;
use super::resource::{Document, Resource, put_number, put_two_digits};
use super::vocabulary as v;
use super::vocabulary::Name;
use super::words::{NAMES, WORDS};

/// The syntax that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One triple per line, no abbreviations.
    NTriples,
    /// Prefixed names, statements grouped by subject.
    Turtle,
    /// The same statements, each in the named graph of its document (one per producer, vendor and
    /// rating site), and a provenance graph that says who published each document and when.
    NQuads,
}

const FLUSH_BYTES: usize = 256 * 1024;

/// The sink of a generation run.
pub(super) struct Writer<'a> {
    format: Format,
    out: &'a mut dyn Write,
    progress: &'a mut dyn FnMut(u64),
    buffer: Vec<u8>,
    /// The current subject, as it is written.
    subject: Vec<u8>,
    /// What ends a line of the line-based formats: the graph, if any, and the dot.
    line_end: Vec<u8>,
    /// The predicate of the last statement about the current subject (its full form); Turtle groups by it.
    predicate: Option<&'static str>,
    statements: u64,
    bytes: u64,
}

impl<'a> Writer<'a> {
    pub(super) fn new(format: Format, out: &'a mut dyn Write, progress: &'a mut dyn FnMut(u64)) -> Self {
        Self {
            format,
            out,
            progress,
            buffer: Vec::with_capacity(2 * FLUSH_BYTES),
            subject: Vec::new(),
            line_end: b" .\n".to_vec(),
            predicate: None,
            statements: 0,
            bytes: 0,
        }
    }

    /// Writes what stands before all statements.
    pub(super) fn header(&mut self) -> io::Result<()> {
        if self.format == Format::Turtle {
            for (prefix, namespace) in v::PREFIXES {
                writeln!(self.buffer, "@prefix {prefix}: <{namespace}> .")?;
            }
        }
        Ok(())
    }

    /// Begins the document of a publisher: a prefix in Turtle, a graph with its provenance in N-Quads.
    pub(super) fn document(&mut self, document: Document, published: Day) -> io::Result<()> {
        match self.format {
            Format::NTriples => {}
            Format::Turtle => {
                if !matches!(document, Document::Institution(_)) {
                    self.buffer.extend_from_slice(b"@prefix ");
                    document.put_prefix(&mut self.buffer);
                    self.buffer.extend_from_slice(b": <");
                    document.put_namespace(&mut self.buffer);
                    self.buffer.extend_from_slice(b"> .\n");
                }
            }
            Format::NQuads => self.graph(document, published)?,
        }
        Ok(())
    }

    fn graph(&mut self, document: Document, published: Day) -> io::Result<()> {
        let mut graph = b"<".to_vec();
        document.put_namespace(&mut graph);
        graph.extend_from_slice(b"Graph-");
        graph.extend_from_slice(&published.text());
        graph.push(b'>');

        self.line_end = format!(" {} .\n", v::PROVENANCE_GRAPH).into_bytes();
        self.subject.clone_from(&graph);
        self.resource(v::DC_PUBLISHER, document.publisher());
        self.date(v::DC_DATE, published);
        self.end_subject()?;

        self.line_end.clear();
        self.line_end.push(b' ');
        self.line_end.extend_from_slice(&graph);
        self.line_end.extend_from_slice(b" .\n");
        Ok(())
    }

    /// Begins the statements about a resource.
    pub(super) fn subject(&mut self, subject: Resource) {
        self.subject.clear();
        match self.format {
            Format::Turtle => subject.put_short(&mut self.subject),
            Format::NTriples | Format::NQuads => subject.put_full(&mut self.subject),
        }
        self.predicate = None;
    }

    /// Ends the statements about a resource.
    pub(super) fn end_subject(&mut self) -> io::Result<()> {
        if self.format == Format::Turtle {
            self.buffer.extend_from_slice(b" .\n");
        }
        self.predicate = None;
        if self.buffer.len() >= FLUSH_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what is left; gives the numbers of statements and bytes.
    pub(super) fn finish(mut self) -> io::Result<(u64, u64)> {
        self.flush()?;
        self.out.flush()?;
        Ok((self.statements, self.bytes))
    }

    /// Writes what is in the buffer.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        (self.progress)(self.statements);
        Ok(())
    }

    /// Writes subject and predicate.
    fn open(&mut self, predicate: Name) {
        self.statements += 1;
        if self.format != Format::Turtle {
            self.buffer.extend_from_slice(&self.subject);
            self.buffer.push(b' ');
            self.buffer.extend_from_slice(predicate.full.as_bytes());
            self.buffer.push(b' ');
            return;
        }
        match self.predicate {
            Some(last) if last == predicate.full => {
                self.buffer.extend_from_slice(b" , ");
                return;
            }
            Some(_) => self.buffer.extend_from_slice(b" ;\n    "),
            None => {
                self.buffer.extend_from_slice(&self.subject);
                self.buffer.extend_from_slice(b"\n    ");
            }
        }
        self.predicate = Some(predicate.full);
        self.buffer.extend_from_slice(predicate.short.as_bytes());
        self.buffer.push(b' ');
    }

    fn close(&mut self) {
        if self.format != Format::Turtle {
            self.buffer.extend_from_slice(&self.line_end);
        }
    }

    fn put_name(&mut self, name: Name) {
        let text = if self.format == Format::Turtle { name.short } else { name.full };
        self.buffer.extend_from_slice(text.as_bytes());
    }

    fn close_typed(&mut self, datatype: Name) {
        self.buffer.extend_from_slice(b"\"^^");
        self.put_name(datatype);
        self.close();
    }

    /// A statement whose object is a name of the vocabulary.
    pub(super) fn name(&mut self, predicate: Name, object: Name) {
        self.open(predicate);
        self.put_name(object);
        self.close();
    }

    /// A statement whose object is an instance.
    pub(super) fn resource(&mut self, predicate: Name, object: Resource) {
        self.open(predicate);
        match self.format {
            Format::Turtle => object.put_short(&mut self.buffer),
            Format::NTriples | Format::NQuads => object.put_full(&mut self.buffer),
        }
        self.close();
    }

    /// A statement whose object is the home page `http://www.<label><number>.com/`.
    pub(super) fn homepage(&mut self, label: &str, number: u64) {
        self.open(v::HOMEPAGE);
        self.buffer.extend_from_slice(b"<http://www.");
        self.buffer.extend_from_slice(label.as_bytes());
        put_number(&mut self.buffer, number);
        self.buffer.extend_from_slice(b".com/>");
        self.close();
    }

    /// The page of an offer, in the namespace of its vendor.
    pub(super) fn offer_page(&mut self, vendor: u64, number: u64) {
        self.open(v::OFFER_WEBPAGE);
        self.buffer.push(b'<');
        Document::Vendor(vendor).put_namespace(&mut self.buffer);
        self.buffer.extend_from_slice(b"Offer");
        put_number(&mut self.buffer, number);
        self.buffer.extend_from_slice(b"/>");
        self.close();
    }

    /// A plain literal from the writer's own constants; must need no escapes.
    pub(super) fn literal(&mut self, predicate: Name, text: &str) {
        self.open(predicate);
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(text.as_bytes());
        self.buffer.push(b'"');
        self.close();
    }

    /// Random words as a plain literal.
    pub(super) fn words(&mut self, predicate: Name, random: &mut Random, count: u64) {
        self.open_words(predicate, random, count);
        self.buffer.push(b'"');
        self.close();
    }

    /// Random words as an explicitly typed string.
    pub(super) fn words_typed(&mut self, predicate: Name, random: &mut Random, count: u64) {
        self.open_words(predicate, random, count);
        self.close_typed(v::XSD_STRING);
    }

    /// Random words in a language.
    pub(super) fn words_in(&mut self, predicate: Name, random: &mut Random, count: u64, language: &str) {
        self.open_words(predicate, random, count);
        self.buffer.extend_from_slice(b"\"@");
        self.buffer.extend_from_slice(language.as_bytes());
        self.close();
    }

    fn open_words(&mut self, predicate: Name, random: &mut Random, count: u64) {
        self.open(predicate);
        self.buffer.push(b'"');
        WORDS.put_sentence(&mut self.buffer, random, count);
    }

    /// A person's name as a plain literal.
    pub(super) fn person_name(&mut self, random: &mut Random) {
        self.open(v::NAME);
        self.buffer.push(b'"');
        NAMES.put_sentence(&mut self.buffer, random, 1);
        self.buffer.push(b'"');
        self.close();
    }

    /// A fingerprint of a mail address: 40 hexadecimal digits.
    pub(super) fn fingerprint(&mut self, random: &mut Random) {
        self.open(v::MBOX_SHA1SUM);
        self.buffer.push(b'"');
        for _ in 0..5 {
            let bits = random.bits() as u32;
            for shift in (0..8).rev() {
                self.buffer.push(b"0123456789abcdef"[(bits >> (4 * shift)) as usize & 15]);
            }
        }
        self.buffer.push(b'"');
        self.close();
    }

    /// An `xsd:integer`.
    pub(super) fn integer(&mut self, predicate: Name, value: u64) {
        self.open(predicate);
        self.buffer.push(b'"');
        put_number(&mut self.buffer, value);
        self.close_typed(v::XSD_INTEGER);
    }

    /// A price in US dollars.
    pub(super) fn price(&mut self, cents: u64) {
        self.open(v::PRICE);
        self.buffer.push(b'"');
        put_number(&mut self.buffer, cents / 100);
        self.buffer.push(b'.');
        put_two_digits(&mut self.buffer, cents);
        self.close_typed(v::USD);
    }

    /// An `xsd:date`.
    pub(super) fn date(&mut self, predicate: Name, day: Day) {
        self.open(predicate);
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(&day.text());
        self.close_typed(v::XSD_DATE);
    }

    /// An `xsd:dateTime` at midnight.
    pub(super) fn date_time(&mut self, predicate: Name, day: Day) {
        self.open(predicate);
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(&day.text());
        self.buffer.extend_from_slice(b"T00:00:00");
        self.close_typed(v::XSD_DATE_TIME);
    }
}
