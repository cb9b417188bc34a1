//! Ids for terms that a request brings. Blank nodes are the delicate part: a label in a text means a new node, whatever the database calls
//! its own; a label in a solution means a node of the database, unless the query made it (`BNODE()`).

use super::draft::{Draft, Ids};
use crate::EngineError;
use lode_rdf::key::{TRIPLE_DEPTH_MAX, blank_node};
use lode_rdf::{BlankNode, NamedOrBlankNode, Term, Triple, ValueId};

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
    blanks: Ids<BlankNode>,
}

impl NewTerms {
    /// None yet.
    pub fn new(labels: Labels, draft: &Draft) -> Self {
        Self { labels, blanks: draft.ids() }
    }

    /// The id of a term, which may become one.
    pub fn id(&mut self, draft: &mut Draft, term: &Term) -> Result<ValueId, EngineError> {
        let id = match term {
            Term::BlankNode(node) => return self.blank(draft, node),
            Term::Triple(triple) => {
                check_depth(triple)?;
                let triple = self.triple(draft, triple)?;
                draft.intern(&Term::Triple(Box::new(triple)))?
            }
            Term::NamedNode(_) | Term::Literal(_) => draft.intern(term)?,
        };
        // Only unknown blank nodes have none, and of these there are none left.
        id.ok_or_else(|| EngineError::Update(format!("{term} has no place in the database")))
    }

    fn blank(&mut self, draft: &mut Draft, node: &BlankNode) -> Result<ValueId, EngineError> {
        if let Some(id) = self.blanks.get(node) {
            return Ok(id);
        }
        if self.labels == Labels::OfSolutions
            && let Some(id) = draft.intern(&Term::BlankNode(node.clone()))?
        {
            return Ok(id);
        }
        let id = draft.fresh_blank()?;
        self.blanks.insert(node.clone(), id, node.as_str().len())?;
        Ok(id)
    }

    /// The triple with the database's labels.
    fn triple(&mut self, draft: &mut Draft, triple: &Triple) -> Result<Triple, EngineError> {
        let subject = match &triple.subject {
            NamedOrBlankNode::BlankNode(node) => {
                NamedOrBlankNode::BlankNode(blank_node(self.blank(draft, node)?))
            }
            named => named.clone(),
        };
        let object = match &triple.object {
            Term::BlankNode(node) => Term::BlankNode(blank_node(self.blank(draft, node)?)),
            Term::Triple(inner) => Term::Triple(Box::new(self.triple(draft, inner)?)),
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
