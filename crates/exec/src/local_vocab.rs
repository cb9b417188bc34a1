//! Terms a query makes that the store does not hold: numbered once per distinct term, so that equal ids mean equal terms.

use lode_rdf::{Term, ValueId};

/// The query's own table of terms, shared by its threads.
#[derive(Debug, Default)]
pub struct LocalVocab {}

impl LocalVocab {
    /// The id of `term`, new or known: [`lode_rdf::Kind::Local`]. Call only for terms that neither are inline nor in the store's
    /// dictionary: `QueryContext::intern` looks there first.
    pub fn intern(&self, _term: &Term) -> ValueId {
        unimplemented!()
    }

    /// The term of a local id.
    pub fn term(&self, _id: ValueId) -> Option<Term> {
        unimplemented!()
    }
}
