//! A report as triples.

use crate::path::Path;
use crate::result::ValidationResult;
use crate::validate::Summary;
use crate::vocabulary::{RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, SH, XSD_BOOLEAN, sh};
use lode_rdf::serialize::QuadWriter;
use lode_rdf::{
    BlankNode, GraphNameRef, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, QuadRef, RdfFormat, Term,
};
use std::io::{Result, Write};

const PREFIXES: [(&str, &str); 2] = [("sh", SH), ("xsd", "http://www.w3.org/2001/XMLSchema#")];
const COMMENT: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("http://www.w3.org/2000/01/rdf-schema#comment");

pub struct RdfReport<W: Write> {
    writer: QuadWriter<W>,
    results: u64,
    lists: u64,
}

impl<W: Write> RdfReport<W> {
    pub fn start(format: RdfFormat, out: W) -> Result<Self> {
        let writer = QuadWriter::start_with_prefixes(format, out, &PREFIXES)?;
        Ok(Self { writer, results: 0, lists: 0 })
    }

    fn write(&mut self, subject: &BlankNode, predicate: NamedNodeRef<'_>, object: &Term) -> Result<()> {
        self.writer.write(QuadRef::new(subject, predicate, object, GraphNameRef::DefaultGraph))
    }

    fn say(&mut self, subject: &BlankNode, local: &str, object: impl Into<Term>) -> Result<()> {
        self.write(subject, sh(local).as_ref(), &object.into())
    }

    fn head(&mut self, conforms: bool) -> Result<()> {
        let report = report();
        self.write(&report, RDF_TYPE, &sh("ValidationReport").into())?;
        let value = if conforms { "true" } else { "false" };
        self.say(&report, "conforms", Literal::new_typed_literal(value, XSD_BOOLEAN.into_owned()))
    }

    pub fn push(&mut self, result: &ValidationResult) -> Result<()> {
        if self.results == 0 {
            self.head(false)?;
        }
        self.results += 1;
        let node = BlankNode::new_unchecked(format!("result{}", self.results));
        let path = result.path.as_ref().map(|path| self.path(path)).transpose()?;
        self.say(&report(), "result", node.clone())?;
        self.write(&node, RDF_TYPE, &sh("ValidationResult").into())?;
        self.say(&node, "focusNode", result.focus.clone())?;
        if let Some(path) = path {
            self.say(&node, "resultPath", path)?;
        }
        if let Some(value) = &result.value {
            self.say(&node, "value", value.clone())?;
        }
        self.say(&node, "resultSeverity", result.severity.clone())?;
        self.say(&node, "sourceShape", of_shapes(&result.shape))?;
        self.say(&node, "sourceConstraintComponent", result.component.clone())?;
        if let Some(constraint) = &result.constraint {
            self.say(&node, "sourceConstraint", of_shapes(constraint))?;
        }
        for message in &result.messages {
            self.say(&node, "resultMessage", message.clone())?;
        }
        Ok(())
    }

    pub fn finish(mut self, summary: &Summary) -> Result<W> {
        if self.results == 0 {
            self.head(summary.conforms())?;
        }
        if self.results < summary.results {
            let text = format!("the first {} of {} results", self.results, summary.results);
            self.write(&report(), COMMENT, &Literal::new_simple_literal(text).into())?;
        }
        self.writer.finish()
    }

    /// Writes a path, and returns its node.
    fn path(&mut self, path: &Path) -> Result<Term> {
        match path {
            Path::Predicate(name) => Ok(name.clone().into()),
            Path::Sequence(members) => self.list(members),
            Path::Alternative(members) => {
                let list = self.list(members)?;
                self.step("alternativePath", list)
            }
            Path::Inverse(inner) => self.around("inversePath", inner),
            Path::ZeroOrMore(inner) => self.around("zeroOrMorePath", inner),
            Path::OneOrMore(inner) => self.around("oneOrMorePath", inner),
            Path::ZeroOrOne(inner) => self.around("zeroOrOnePath", inner),
        }
    }

    fn around(&mut self, local: &str, inner: &Path) -> Result<Term> {
        let inner = self.path(inner)?;
        self.step(local, inner)
    }

    fn step(&mut self, local: &str, inner: Term) -> Result<Term> {
        let node = self.node();
        self.say(&node, local, inner)?;
        Ok(node.into())
    }

    fn list(&mut self, members: &[Path]) -> Result<Term> {
        let mut rest = Term::from(RDF_NIL.into_owned());
        for member in members.iter().rev() {
            let first = self.path(member)?;
            let node = self.node();
            self.write(&node, RDF_FIRST, &first)?;
            self.write(&node, RDF_REST, &rest)?;
            rest = node.into();
        }
        Ok(rest)
    }

    fn node(&mut self) -> BlankNode {
        self.lists += 1;
        BlankNode::new_unchecked(format!("path{}", self.lists))
    }
}

fn report() -> BlankNode {
    BlankNode::new_unchecked("report")
}

/// A node of the shapes graph: its blank nodes are none of the data.
fn of_shapes(node: &NamedOrBlankNode) -> Term {
    match node {
        NamedOrBlankNode::NamedNode(name) => NamedNode::clone(name).into(),
        NamedOrBlankNode::BlankNode(node) => {
            BlankNode::new_unchecked(format!("shape_{}", node.as_str())).into()
        }
    }
}
