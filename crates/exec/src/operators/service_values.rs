//! Terms as text in a query for another endpoint.

use crate::context::QueryContext;
use lode_eval::error::ExecError;
use lode_rdf::{Literal, NamedNode, NamedOrBlankNode, Term, ValueId};
use std::collections::HashMap;
use std::sync::Arc;

/// Longer texts are not sent.
const TERM_BYTES_MAX: usize = 64 << 10;
/// Texts that are kept, together, before they are forgotten.
const KEPT_BYTES_MAX: usize = 48 << 10;
/// What a kept text takes besides.
const KEPT_BYTES: usize = 64;

/// What can be sent of a term.
#[derive(Debug, Clone)]
pub(super) enum Sent {
    /// This text.
    Text(Arc<str>),
    /// Nothing, but somebody else may have the same term: it is too long, or not to be read.
    Nothing,
    /// Nothing, and nobody else has it: a blank node.
    Own,
}

/// Texts of ids, each made once as long as it is kept.
#[derive(Debug, Default)]
pub(super) struct TermTexts {
    texts: HashMap<ValueId, Sent>,
    bytes: usize,
}

impl TermTexts {
    /// What can be sent of a bound id.
    pub(super) fn get(&mut self, cx: &QueryContext, id: ValueId) -> Result<Sent, ExecError> {
        if let Some(text) = self.texts.get(&id) {
            return Ok(text.clone());
        }
        let term = cx.term(id)?;
        let sent = sent(&term);
        if self.bytes > KEPT_BYTES_MAX {
            self.texts.clear();
            self.bytes = 0;
        }
        self.bytes += KEPT_BYTES + if let Sent::Text(text) = &sent { text.len() } else { 0 };
        self.texts.insert(id, sent.clone());
        Ok(sent)
    }
}

fn sent(term: &Term) -> Sent {
    if has_blank_node(term) {
        return Sent::Own;
    }
    let text = can_be_sent(term).then(|| term.to_string()).filter(|text| text.len() <= TERM_BYTES_MAX);
    text.map_or(Sent::Nothing, |text| Sent::Text(text.into()))
}

fn has_blank_node(term: &Term) -> bool {
    match term {
        Term::BlankNode(_) => true,
        Term::Triple(triple) => triple.subject.is_blank_node() || has_blank_node(&triple.object),
        Term::NamedNode(_) | Term::Literal(_) => false,
    }
}

/// Whether others can read a term: what a lenient load has kept may not be readable.
fn can_be_sent(term: &Term) -> bool {
    match term {
        Term::NamedNode(name) => is_readable(name),
        Term::BlankNode(_) => false,
        Term::Literal(literal) => is_readable_literal(literal),
        Term::Triple(triple) => {
            matches!(&triple.subject, NamedOrBlankNode::NamedNode(name) if is_readable(name))
                && is_readable(&triple.predicate)
                && can_be_sent(&triple.object)
        }
    }
}

/// SPARQL 1.1, production IRIREF.
fn is_readable(name: &NamedNode) -> bool {
    let bad = |c: char| c <= ' ' || matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\');
    !name.as_str().contains(bad)
}

fn is_readable_literal(literal: &Literal) -> bool {
    let tag = literal.language().unwrap_or_default();
    // The datatype of one with a language is not written.
    tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && is_readable(&literal.datatype().into_owned())
}
