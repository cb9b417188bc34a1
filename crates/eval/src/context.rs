//! What expressions see of a running query.

use crate::error::ExecError;
use crate::local_vocab::LocalVocab;
use crate::memo::Memos;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_rdf::{Term, ValueId, inline};
use lode_sparql::plan::{Dataset, SubPattern};
use lode_sparql::{VarId, VarTable};
use lode_store::Snapshot;
use oxsdatatypes::DateTime;
use std::fmt;
use std::sync::Arc;

/// The values of a pattern's outer variables; some may be unbound.
pub type Binding = Vec<ValueId>;

/// Runs the patterns of EXISTS inside expressions. Expressions know no plans and no operators: who does hands this in.
pub trait SubQueries: fmt::Debug + Send + Sync {
    /// For each of `bindings` of `vars`, which differ, whether `pattern` has a solution with these values put in.
    ///
    /// # Errors
    ///
    /// Where the pattern cannot be planned, or running it fails.
    fn exist(
        &self,
        cx: &EvalContext,
        pattern: &SubPattern,
        vars: &[VarId],
        bindings: &[Binding],
    ) -> Result<Vec<bool>, ExecError>;
}

/// What expressions see of a running query, shared by its threads. A clone shares it, too.
#[derive(Debug, Clone)]
pub struct EvalContext {
    /// The data.
    pub snapshot: Snapshot,
    /// Terms made by the query.
    pub local: Arc<LocalVocab>,
    /// Bytes that the query may hold.
    pub budget: MemoryBudget,
    /// Stops the query.
    pub cancel: CancelToken,
    /// `NOW()`: the same throughout a query.
    pub now: DateTime,
    /// The dataset, and the base IRI of `IRI()`.
    pub dataset: Arc<Dataset>,
    /// Rows per batch ([`crate::batch::BATCH_ROWS`] unless a test wants less).
    pub batch_rows: usize,
    /// Folder for spill files; each execution makes a folder of its own in it when it first spills.
    pub spill_dir: std::path::PathBuf,
    /// What expressions were worth for terms met before (start with its default).
    pub memos: Arc<Memos>,
    /// The variables of the plan that runs (start with its default).
    pub vars: Arc<VarTable>,
    /// Runs the patterns of EXISTS.
    pub sub_queries: Arc<dyn SubQueries>,
}

impl EvalContext {
    /// The id of any term: inline, of the store, or local to this query.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read, or there is neither memory nor disk for a new term.
    pub fn intern(&self, term: &Term) -> Result<ValueId, ExecError> {
        if let Term::Literal(literal) = term
            && literal.language().is_none()
            && let Some(id) = inline::encode_literal(literal.value(), literal.datatype().as_str())
        {
            return Ok(id);
        }
        if let Some(id) = self.local.get(term)? {
            return Ok(id);
        }
        if let Some(id) = self.snapshot.id_of(term)? {
            self.local.remember(term, id);
            return Ok(id);
        }
        self.local.intern(term, &self.budget, &self.spill_dir)
    }

    /// The term of any id but [`ValueId::UNDEF`].
    ///
    /// # Errors
    ///
    /// Where the store or a temporary file cannot be read.
    pub fn term(&self, id: ValueId) -> Result<Term, ExecError> {
        if let Some(term) = self.local.term(id)? {
            return Ok(term);
        }
        Ok(self.snapshot.term(id)?)
    }
}
