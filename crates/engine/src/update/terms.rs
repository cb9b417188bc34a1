//! Ids for terms that a request brings. Blank nodes are the delicate part: a label in a text means a new node, whatever the database calls
//! its own; a label in a solution means a node of the database, unless the query made it (`BNODE()`).

use crate::EngineError;
use lode_rdf::key::{TRIPLE_DEPTH_MAX, blank_node};
use lode_rdf::{BlankNode, NamedOrBlankNode, Term, Triple, ValueId};
use lode_store::Transaction;
use std::collections::HashMap;

/// Where blank nodes' labels come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Labels {
    /// A text of the request, or a document: the database knows none of them.
    OfText,
    /// The solutions of a query over the database.
    OfSolutions,
}

/// The new blank nodes of one text or one operation, by label.
pub(super) struct NewTerms {
    labels: Labels,
    blanks: HashMap<BlankNode, ValueId>,
}

impl NewTerms {
    /// None yet.
    pub fn new(labels: Labels) -> Self {
        Self { labels, blanks: HashMap::new() }
    }

    /// The id of a term, which may become one.
    pub fn id(&mut self, transaction: &mut Transaction, term: &Term) -> Result<ValueId, EngineError> {
        let id = match term {
            Term::BlankNode(node) => return self.blank(transaction, node),
            Term::Triple(triple) => {
                check_depth(triple)?;
                let triple = self.triple(transaction, triple)?;
                transaction.intern(&Term::Triple(Box::new(triple)))?
            }
            Term::NamedNode(_) | Term::Literal(_) => transaction.intern(term)?,
        };
        // Only unknown blank nodes have none, and of these there are none left.
        id.ok_or_else(|| EngineError::Update(format!("{term} has no place in the database")))
    }

    fn blank(&mut self, transaction: &mut Transaction, node: &BlankNode) -> Result<ValueId, EngineError> {
        if let Some(id) = self.blanks.get(node) {
            return Ok(*id);
        }
        if self.labels == Labels::OfSolutions
            && let Some(id) = transaction.intern(&Term::BlankNode(node.clone()))?
        {
            return Ok(id);
        }
        let id = transaction.fresh_blank()?;
        self.blanks.insert(node.clone(), id);
        Ok(id)
    }

    /// The triple with the database's labels.
    fn triple(&mut self, transaction: &mut Transaction, triple: &Triple) -> Result<Triple, EngineError> {
        let subject = match &triple.subject {
            NamedOrBlankNode::BlankNode(node) => {
                NamedOrBlankNode::BlankNode(blank_node(self.blank(transaction, node)?))
            }
            named => named.clone(),
        };
        let object = match &triple.object {
            Term::BlankNode(node) => Term::BlankNode(blank_node(self.blank(transaction, node)?)),
            Term::Triple(inner) => Term::Triple(Box::new(self.triple(transaction, inner)?)),
            other => other.clone(),
        };
        Ok(Triple { subject, predicate: triple.predicate.clone(), object })
    }
}

/// What could not be read again must not be written.
fn check_depth(triple: &Triple) -> Result<(), EngineError> {
    let (mut depth, mut object) = (1, &triple.object);
    while let Term::Triple(inner) = object {
        depth += 1;
        object = &inner.object;
    }
    if depth > TRIPLE_DEPTH_MAX {
        return Err(EngineError::Update(format!("triple terms nest more than {TRIPLE_DEPTH_MAX} deep")));
    }
    Ok(())
}
