//! The terms of ids, for who makes something of rows of ids.

use crate::context::QueryContext;
use crate::fresh_blank::blank_of;
use crate::shared::Shared;
use lode_eval::error::ExecError;
use lode_rdf::{Kind, Term, TermRef, ValueId};

/// Takes a term of a list of ids, and its index there.
pub type VisitTerm<'a> = dyn FnMut(usize, TermRef<'_>) -> Result<(), ExecError> + 'a;

/// Calls `visit` with the term of each id, in no order; what is unbound has none. Terms of the dictionary are read in the order of its
/// blocks, so each id had better be there once.
pub(crate) fn visit_terms(
    cx: &QueryContext,
    ids: &[ValueId],
    visit: &mut VisitTerm<'_>,
) -> Result<(), ExecError> {
    let (mut stored, mut places) = (Vec::new(), Vec::new());
    for (place, id) in ids.iter().enumerate() {
        match id.kind() {
            _ if id.is_undef() => {}
            Some(Kind::Special) => visit(place, Term::BlankNode(blank_of(*id)).as_ref())?,
            Some(Kind::Local) => visit(place, cx.term(*id)?.as_ref())?,
            _ => {
                stored.push(*id);
                places.push(place);
            }
        }
    }
    cx.snapshot.term_refs::<ExecError>(&stored, &mut |index, term| match places.get(index) {
        Some(place) => visit(*place, term),
        None => Ok(()),
    })
}

/// The same, as part of the answer: in the query's turn, and on its account.
pub(crate) fn answer_terms(
    shared: &Shared,
    ids: &[ValueId],
    visit: &mut VisitTerm<'_>,
) -> Result<(), ExecError> {
    shared.cx.cancel.check()?;
    let (_at_work, answer) = (shared.counters.work(), shared.counters.answer());
    answer.measure(|| visit_terms(&shared.cx, ids, visit))
}
