//! IRIs, literals and variables.

use super::{Lowering, Result, Wrong};
use lode_rdf::{Literal, NamedNode, Variable};
use lode_syntax::{At, Node, unescaped};
use oxiri_of_oxttl::Iri;
use oxrdf::BaseDirection;
use oxrdf::vocab::xsd;
use spargebra::term::{GroundTerm, GroundTriple, NamedNodePattern, TermPattern};

impl<'t> Lowering<'t> {
    /// The IRI in angle brackets, resolved.
    pub(super) fn reference(&self, at: At<'t>) -> Result<Iri<String>> {
        let written = at.text();
        let inside = written.strip_prefix('<').and_then(|iri| iri.strip_suffix('>')).unwrap_or(written);
        let Some(iri) = unescaped(inside) else {
            return Err(Wrong::at(at, "this IRI has an escape that is none"));
        };
        let parsed = match &self.base {
            Some(base) => base.resolve(&iri),
            None => Iri::parse(iri.clone().into_owned()),
        };
        parsed.map_err(|error| {
            let wrong = Wrong::at(at, format!("<{iri}> is no IRI: {error}"));
            let is_relative = self.base.is_none() && !iri.contains(':');
            if is_relative {
                wrong.help("it is relative: put BASE <...> before the query, or write all of it")
            } else {
                wrong
            }
        })
    }

    /// An IRI, in brackets or with a prefix, or `a`.
    pub(in crate::parse) fn iri(&self, at: At<'t>) -> Result<NamedNode> {
        match at.node() {
            Node::Type => Ok(oxrdf::vocab::rdf::TYPE.into_owned()),
            Node::Name => self.name(at),
            _ => Ok(NamedNode::new_unchecked(self.reference(at)?.into_inner())),
        }
    }

    fn name(&self, at: At<'t>) -> Result<NamedNode> {
        let written = at.text();
        let (prefix, local) = written.split_once(':').unwrap_or((written, ""));
        // Virtuoso has this one without a declaration, and so have texts that were written for it.
        let virtuoso = "bif:".to_owned();
        let known = self.prefixes.get(prefix).or_else(|| (prefix == "bif").then_some(&virtuoso));
        let Some(start) = known else {
            return Err(Wrong::at(at, format!("the prefix `{prefix}:` is not declared")));
        };
        let mut iri = String::with_capacity(start.len() + local.len());
        iri.push_str(start);
        local.split('\\').for_each(|part| iri.push_str(part));
        let iri = Iri::parse(iri).map_err(|error| Wrong::at(at, format!("this is no IRI: {error}")))?;
        Ok(NamedNode::new_unchecked(iri.into_inner()))
    }

    pub(super) fn variable(at: At<'t>) -> Variable {
        Variable::new_unchecked(at.text().trim_start_matches(['?', '$']))
    }

    /// A variable or an IRI.
    pub(super) fn name_or_variable(&self, at: At<'t>) -> Result<NamedNodePattern> {
        Ok(match at.node() {
            Node::Variable => Self::variable(at).into(),
            _ => self.iri(at)?.into(),
        })
    }

    /// A string, a number or a boolean.
    pub(in crate::parse) fn literal(&self, at: At<'t>) -> Result<Literal> {
        match at.node() {
            Node::Number => Ok(number(at.text())),
            Node::Boolean => Ok(Literal::new_typed_literal(at.text().to_ascii_lowercase(), xsd::BOOLEAN)),
            _ => self.string(at),
        }
    }

    fn string(&self, at: At<'t>) -> Result<Literal> {
        let value =
            string_value(at.token(0)).ok_or_else(|| Wrong::at(at, "this text has an escape that is none"))?;
        if let Some(datatype) = at.first() {
            return Ok(Literal::new_typed_literal(value, self.iri(datatype)?));
        }
        let Some(tag) = at.token(1).strip_prefix('@') else { return Ok(Literal::new_simple_literal(value)) };
        let made = match tag.split_once("--") {
            None => Literal::new_language_tagged_literal(value, tag),
            Some((tag, direction)) => {
                let direction = if direction == "ltr" { BaseDirection::Ltr } else { BaseDirection::Rtl };
                Literal::new_directional_language_tagged_literal(value, tag, direction)
            }
        };
        made.map_err(|error| Wrong::at(at, format!("`{tag}` is no language tag: {error}")))
    }

    /// A term without a pattern of its own.
    pub(super) fn term(&mut self, at: At<'t>) -> Result<TermPattern> {
        Ok(match at.node() {
            Node::Variable => Self::variable(at).into(),
            Node::Iri | Node::Name | Node::Type => self.iri(at)?.into(),
            Node::Blank => self.labelled(at)?.into(),
            Node::BlankProperties => oxrdf::BlankNode::default().into(),
            Node::Collection => oxrdf::vocab::rdf::NIL.into_owned().into(),
            Node::TripleTerm => self.triple_term(at)?.into(),
            _ => self.literal(at)?.into(),
        })
    }

    /// A value of VALUES; none for UNDEF.
    pub(super) fn data(&self, at: At<'t>) -> Result<Option<GroundTerm>> {
        Ok(Some(match at.node() {
            Node::Undef => return Ok(None),
            Node::Iri | Node::Name => self.iri(at)?.into(),
            Node::TripleTerm => GroundTerm::Triple(Box::new(self.triple_of_data(at)?)),
            Node::Number | Node::Boolean | Node::Literal => self.literal(at)?.into(),
            _ => return Err(Wrong::at(at, "data are IRIs and literals")),
        }))
    }

    fn triple_of_data(&self, at: At<'t>) -> Result<GroundTriple> {
        let mut parts = at.children();
        let (Some(subject), Some(predicate), Some(object)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(Wrong::at(at, "a triple has three parts"));
        };
        if !matches!(subject.node(), Node::Iri | Node::Name) || predicate.node() == Node::Variable {
            return Err(Wrong::at(at, "a triple of data has an IRI as subject and as property"));
        }
        let Some(object) = crate::stack::room(|| self.data(object))? else {
            return Err(Wrong::at(at, "UNDEF in a triple"));
        };
        Ok(GroundTriple { subject: self.iri(subject)?, predicate: self.iri(predicate)?, object })
    }
}

/// A number as a literal of the type that its form has.
fn number(written: &str) -> Literal {
    let datatype = if written.contains(['e', 'E']) {
        xsd::DOUBLE
    } else if written.contains('.') {
        xsd::DECIMAL
    } else {
        xsd::INTEGER
    };
    Literal::new_typed_literal(written, datatype)
}

/// What stands between quotes.
pub(super) fn string_value(written: &str) -> Option<String> {
    let quotes = if written.starts_with("\"\"\"") || written.starts_with("'''") { 3 } else { 1 };
    let inside = written.get(quotes..written.len().checked_sub(quotes)?)?;
    unescaped(inside).map(std::borrow::Cow::into_owned)
}
