//! Proofs of triples from what is stated, a few steps deep: what has one stays, whatever is deleted, and nothing that follows from it need be looked at.
//!
//! That spares the work of deleting and finding again (Motik et al. 2015 look backward for the same reason). A proof that is not found costs only that work: so the
//! search may end anywhere.

use super::super::gather::Triple;
use super::compiled::{Body, Compiled, Form, Slot, Step};
use super::limits::LOOK_ROWS;
use super::solve::Solver;
use super::view::{Empty, Meter, Stop, View};
use lode_rdf::ValueId;
use std::collections::{HashMap, HashSet};

/// Steps from a triple to what is stated.
const DEPTH: u32 = 3;
/// Solutions of a body that are tried for a triple.
const TRIED_MAX: u32 = 16;

/// What is known of proofs.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    proved: HashSet<Triple>,
    /// So many steps were not enough.
    failed: HashMap<Triple, u32>,
    open: HashSet<Triple>,
}

/// The search for proofs in one version: that with the changes of the transaction, before what follows from them.
pub(super) struct Prover<'a> {
    pub compiled: &'a Compiled,
    pub view: &'a View,
    pub ids: &'a [Option<ValueId>],
    pub meter: &'a Meter,
    pub empty: &'a mut Empty,
    pub proofs: &'a mut Proofs,
}

impl Prover<'_> {
    /// Whether a proof is found.
    pub fn prove(&mut self, triple: &Triple) -> Result<bool, Stop> {
        for depth in 1..=DEPTH {
            if self.within(triple, depth)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether it is stated, or follows in so many steps from what is.
    fn within(&mut self, triple: &Triple, depth: u32) -> Result<bool, Stop> {
        if self.proofs.proved.contains(triple) {
            return Ok(true);
        }
        self.meter.take(LOOK_ROWS)?;
        if self.view.status(triple)?.0 {
            return Ok(true);
        }
        let is_known = self.proofs.failed.get(triple).is_some_and(|failed| *failed >= depth);
        if depth == 0 || is_known || !self.proofs.open.insert(*triple) {
            return Ok(false);
        }
        let found = self.by_rules(triple, depth);
        self.proofs.open.remove(triple);
        if found? {
            self.proofs.proved.insert(*triple);
            return Ok(true);
        }
        // What was open meanwhile was not tried: that is no more than a proof that is not found.
        self.proofs.failed.insert(*triple, depth);
        Ok(false)
    }

    fn by_rules(&mut self, triple: &Triple, depth: u32) -> Result<bool, Stop> {
        let compiled = self.compiled;
        for form in &compiled.forms {
            let Form::Body(body) = form else { continue };
            if !may_make(body, triple, self.ids) {
                continue;
            }
            let solver =
                Solver { view: self.view, ids: self.ids, meter: self.meter, stated_only: depth == 1 };
            if solver.is_dead(body, self.empty)? {
                continue;
            }
            for head in 0..body.heads.len() {
                let (mut tried, mut found) = (0, false);
                solver.with_head(body, head, triple, &mut |bindings| {
                    tried += 1;
                    found = self.all(body, bindings, depth - 1)?;
                    Ok(!found && tried < TRIED_MAX)
                })?;
                if found {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether all of a solution follows in so many steps.
    fn all(&mut self, body: &Body, bindings: &[ValueId], depth: u32) -> Result<bool, Stop> {
        if depth == 0 {
            // Found among what is stated, also what paths go along.
            return Ok(true);
        }
        for step in &body.steps {
            // Which triples a path goes along is not told.
            let Step::Triple(pattern) = step else { return Ok(false) };
            let mut triple = [ValueId::UNDEF; 3];
            for (id, slot) in triple.iter_mut().zip(pattern) {
                *id = match slot {
                    Slot::Const(at) => self.ids.get(*at).copied().flatten().unwrap_or_default(),
                    Slot::Var(at) => bindings.get(*at).copied().unwrap_or_default(),
                };
            }
            if !self.within(&triple, depth)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether a head can be this triple, as its constants tell.
pub(super) fn may_make(body: &Body, triple: &Triple, ids: &[Option<ValueId>]) -> bool {
    body.heads.iter().any(|head| {
        head.iter().zip(triple).all(|(slot, id)| match slot {
            Slot::Const(at) => ids.get(*at).copied().flatten() == Some(*id),
            Slot::Var(_) => true,
        })
    })
}
