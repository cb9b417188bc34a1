//! RDF4J's own binary syntax, in which its programs send statements, as N-Quads.
//!
//! See <https://rdf4j.org/documentation/reference/rdf4j-binary/>: a head, then records; terms that occur often are declared by number.

use lode_rdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use std::fmt::Write as _;

/// How a document begins, with the only version that there is nowadays.
const HEAD: &[u8] = b"BRDF\0\0\0\x02";
/// The only charset.
const CHARSET: &str = "UTF-8";
/// Triple terms in each other.
const DEPTH_MAX: usize = 32;
/// Terms that may be declared: a number without end would be memory without end.
const DECLARED_MAX: usize = 1 << 20;

/// The document as N-Quads of at most so many bytes.
///
/// # Errors
/// What is wrong, and at which byte.
pub(super) fn as_nquads(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, String> {
    let mut reader = Reader { bytes, at: 0, declared: Vec::new() };
    let mut text = String::new();
    reader.document(&mut text, bytes_max).map_err(|what| format!("byte {}: {what}", reader.at))?;
    Ok(text.into_bytes())
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    declared: Vec<Option<Term>>,
}

impl Reader<'_> {
    fn document(&mut self, text: &mut String, bytes_max: usize) -> Result<(), String> {
        if self.take(HEAD.len())? != HEAD || self.string()? != CHARSET {
            return Err("this is no binary RDF of version 2 in UTF-8".to_owned());
        }
        loop {
            match self.byte()? {
                // A namespace.
                0 => drop((self.string()?, self.string()?)),
                1 => {
                    let quad = self.statement()?;
                    // Terms that were declared once may be long, and be used often.
                    let _ = writeln!(text, "{quad} .");
                    if text.len() > bytes_max {
                        return Err(format!(
                            "it has more than {bytes_max} bytes as N-Quads: send it as these, or in parts"
                        ));
                    }
                }
                // A comment.
                2 => drop(self.string()?),
                3 => self.declare()?,
                127 => return Ok(()),
                other => return Err(format!("there is no record {other}")),
            }
        }
    }

    fn take(&mut self, length: usize) -> Result<&[u8], String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..length).ok_or("it ends too early")?;
        self.at += length;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    /// A number in groups of seven bits, the lowest first.
    fn number(&mut self) -> Result<usize, String> {
        let mut number = 0_u32;
        for shift in (0..32).step_by(7) {
            let byte = self.byte()?;
            number |= u32::from(byte & 127).checked_shl(shift).unwrap_or(0);
            if byte & 128 == 0 {
                return usize::try_from(number).map_err(|error| error.to_string());
            }
        }
        Err("a number is too long".to_owned())
    }

    fn string(&mut self) -> Result<String, String> {
        let length = self.number()?;
        let bytes = self.take(length)?.to_vec();
        String::from_utf8(bytes).map_err(|_| "a text is not UTF-8".to_owned())
    }

    fn declare(&mut self) -> Result<(), String> {
        let number = self.number()?;
        if number >= DECLARED_MAX {
            return Err(format!("more than {DECLARED_MAX} terms are declared"));
        }
        let term = self.term(0)?;
        if self.declared.len() <= number {
            self.declared.resize(number + 1, None);
        }
        self.declared[number] = term;
        Ok(())
    }

    fn statement(&mut self) -> Result<Quad, String> {
        let Triple { subject, predicate, object } = self.triple(0)?;
        let graph_name = match self.term(0)? {
            None => GraphName::DefaultGraph,
            Some(Term::NamedNode(name)) => name.into(),
            Some(Term::BlankNode(node)) => node.into(),
            Some(other) => return Err(format!("{other} is no graph")),
        };
        Ok(Quad { subject, predicate, object, graph_name })
    }

    fn triple(&mut self, depth: usize) -> Result<Triple, String> {
        let subject = match self.term(depth)? {
            Some(Term::NamedNode(name)) => NamedOrBlankNode::from(name),
            Some(Term::BlankNode(node)) => node.into(),
            other => return Err(format!("{other:?} is no subject")),
        };
        let Some(Term::NamedNode(predicate)) = self.term(depth)? else {
            return Err("a predicate is no IRI".to_owned());
        };
        let object = self.term(depth)?.ok_or("a statement has no object")?;
        Ok(Triple { subject, predicate, object })
    }

    /// None: nothing, which is the default graph.
    fn term(&mut self, depth: usize) -> Result<Option<Term>, String> {
        let iri = |text: String| NamedNode::new(&text).map_err(|error| format!("<{text}>: {error}"));
        Ok(Some(match self.byte()? {
            0 => return Ok(None),
            1 => iri(self.string()?)?.into(),
            2 => {
                // Any text may be a label there.
                let label = self.string()?.bytes().fold(String::from("b"), |mut label, byte| {
                    let _ = write!(label, "{byte:02x}");
                    label
                });
                BlankNode::new(label).map_err(|error| error.to_string())?.into()
            }
            3 => Literal::new_simple_literal(self.string()?).into(),
            4 => {
                let (text, language) = (self.string()?, self.string()?);
                let literal = Literal::new_language_tagged_literal(text, language);
                literal.map_err(|error| error.to_string())?.into()
            }
            5 => {
                let (text, datatype) = (self.string()?, self.string()?);
                Literal::new_typed_literal(text, iri(datatype)?).into()
            }
            6 => {
                let number = self.number()?;
                let declared = self.declared.get(number).cloned().flatten();
                declared.ok_or_else(|| format!("the term {number} was not declared"))?
            }
            7 if depth < DEPTH_MAX => Term::Triple(Box::new(self.triple(depth + 1)?)),
            7 => return Err(format!("triple terms nest more than {DEPTH_MAX} deep")),
            other => return Err(format!("there is no kind {other} of terms")),
        }))
    }
}

#[cfg(test)]
mod tests {
    //! A document that RDF4J has written, and damaged ones.
    use super::as_nquads;

    /// Two statements, with a namespace, a comment, declared terms, a graph and a triple term.
    const DOCUMENT: &[u8] = b"BRDF\0\0\0\x02\x05UTF-8\0\x01e\x09http://e/\x02\x01c\
        \x03\x00\x01\x0ahttp://e/s\x03\x01\x01\x0ahttp://e/p\
        \x01\x06\x00\x06\x01\x04\x01a\x02en\x06\x00\
        \x01\x02\x03x y\x06\x01\x07\x06\x00\x06\x01\x05\x015\x28http://www.w3.org/2001/XMLSchema#integer\x00\x7f";

    #[test]
    fn a_document_as_nquads() {
        let text = String::from_utf8(as_nquads(DOCUMENT, 1000).unwrap()).unwrap();
        let integer = "<http://www.w3.org/2001/XMLSchema#integer>";
        let expected = format!(
            "<http://e/s> <http://e/p> \"a\"@en <http://e/s> .\n\
             _:b782079 <http://e/p> <<( <http://e/s> <http://e/p> \"5\"^^{integer} )>> .\n"
        );
        assert_eq!(text.replace("<< ", "<<( "), expected);
        assert!(as_nquads(DOCUMENT, 60).unwrap_err().contains("more than 60 bytes"));
    }

    #[test]
    fn damage_is_told_and_no_more() {
        for end in 0..DOCUMENT.len() {
            assert!(as_nquads(&DOCUMENT[..end], 1000).is_err(), "cut at {end}");
        }
        for at in 0..DOCUMENT.len() {
            for byte in [0, 1, 6, 7, 127, 128, 255] {
                let mut damaged = DOCUMENT.to_vec();
                damaged[at] = byte;
                let _ = as_nquads(&damaged, 1000);
            }
        }
        let deep = [b"BRDF\0\0\0\x02\x05UTF-8\x01".as_slice(), &[7; 100_000]].concat();
        assert!(as_nquads(&deep, 1000).unwrap_err().contains("deep") || as_nquads(&deep, 1000).is_err());
        let far = [b"BRDF\0\0\0\x02\x05UTF-8\x03\xff\xff\xff\xff\x0f\x01".as_slice(), b"\x01a"].concat();
        assert!(as_nquads(&far, 1000).unwrap_err().contains("declared"));
    }
}
