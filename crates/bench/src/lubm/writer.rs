//! Writes statements, and what follows from them, as N-Triples.

use super::ontology::{self, NAMESPACE};
use std::io::{self, Write};

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

pub(super) struct Writer<'a> {
    out: &'a mut dyn Write,
    inferred: bool,
    triples: u64,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut dyn Write, inferred: bool) -> Self {
        Self { out, inferred, triples: 0 }
    }

    /// Whether what follows from the ontology is written.
    pub(super) fn tells_inferred(&self) -> bool {
        self.inferred
    }

    /// How many triples there are, once all are out.
    pub(super) fn finish(self) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.triples)
    }

    /// All classes of a thing.
    pub(super) fn classes(&mut self, subject: &str, classes: &[&str]) -> io::Result<()> {
        let all = if self.inferred { ontology::with_ancestors(classes) } else { classes.to_vec() };
        for class in all {
            self.triples += 1;
            writeln!(self.out, "<{subject}> <{TYPE}> <{NAMESPACE}{class}> .")?;
        }
        Ok(())
    }

    /// A link to another thing.
    pub(super) fn link(&mut self, subject: &str, property: &str, object: &str) -> io::Result<()> {
        self.links(subject, &[property], object)
    }

    /// All links between two things, of which some may follow from others.
    pub(super) fn links(&mut self, subject: &str, properties: &[&str], object: &str) -> io::Result<()> {
        let mut all = properties.to_vec();
        if self.inferred {
            for property in properties {
                let parents = std::iter::successors(ontology::parent_property(property), |p| {
                    ontology::parent_property(p)
                });
                let new: Vec<&str> = parents.filter(|parent| !all.contains(parent)).collect();
                all.extend(new);
            }
        }
        for property in all {
            self.triple(subject, property, object)?;
            if let Some(inverse) = ontology::inverse(property).filter(|_| self.inferred) {
                self.triple(object, inverse, subject)?;
            }
        }
        Ok(())
    }

    /// A part of an organisation that is a part of others. The property is transitive: only the first of them is asserted.
    pub(super) fn part(&mut self, subject: &str, wholes: &[&str]) -> io::Result<()> {
        let count = if self.inferred { wholes.len() } else { 1 };
        wholes.iter().take(count).try_for_each(|whole| self.triple(subject, "subOrganizationOf", whole))
    }

    pub(super) fn text(&mut self, subject: &str, property: &str, text: &str) -> io::Result<()> {
        self.triples += 1;
        writeln!(self.out, "<{subject}> <{NAMESPACE}{property}> \"{text}\" .")
    }

    fn triple(&mut self, subject: &str, property: &str, object: &str) -> io::Result<()> {
        self.triples += 1;
        writeln!(self.out, "<{subject}> <{NAMESPACE}{property}> <{object}> .")
    }
}
