//! What all operators of a running query share.

use crate::error::ExecError;
use crate::exists::{Domain, ExistsCache};
use crate::expr::Memos;
use crate::local_vocab::LocalVocab;
use crate::service::Federation;
use crate::turns::Share;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_rdf::{Term, ValueId, inline};
use lode_sparql::VarTable;
use lode_sparql::plan::Dataset;
use lode_store::Snapshot;
use oxsdatatypes::DateTime;
use std::sync::Arc;

/// State of one running query, shared by its threads. A clone shares it, too: sub-patterns planned while running get one.
#[derive(Clone)]
pub struct QueryContext {
    /// The data.
    pub snapshot: Snapshot,
    /// Terms made by the query.
    pub local: Arc<LocalVocab>,
    /// Bytes that operators may hold.
    pub budget: MemoryBudget,
    /// Stops the query.
    pub cancel: CancelToken,
    /// `NOW()`: the same throughout a query.
    pub now: DateTime,
    /// The dataset, and the base IRI of `IRI()`.
    pub dataset: Arc<Dataset>,
    /// Federation; `None`: SERVICE is an error (SILENT: one empty row).
    pub service: Option<Federation>,
    /// Threads that may work on this query.
    pub threads: usize,
    /// Its share of the processors.
    pub share: Share,
    /// Rows per batch ([`crate::batch::BATCH_ROWS`] unless a test wants less).
    pub batch_rows: usize,
    /// Folder for spill files; each execution makes a folder of its own in it when it first spills.
    pub spill_dir: std::path::PathBuf,
    /// The domain of the dependent plan that runs, if it is one (start with none).
    pub domain: Option<Arc<Domain>>,
    /// Plans and answers of EXISTS patterns (start with its default).
    pub exists: Arc<ExistsCache>,
    /// What expressions were worth for terms met before (start with its default).
    pub memos: Arc<Memos>,
    /// The variables of the plan that runs; `execute` sets it (start with its default).
    pub vars: Arc<VarTable>,
}

impl QueryContext {
    /// The id of any term: inline, of the store, or local to this query.
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
    pub fn term(&self, id: ValueId) -> Result<Term, ExecError> {
        if let Some(term) = self.local.term(id)? {
            return Ok(term);
        }
        Ok(self.snapshot.term(id)?)
    }
}
