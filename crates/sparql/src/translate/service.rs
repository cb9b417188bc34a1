//! SERVICE, and joins with it: an endpoint that is a variable needs rows that bind it.

use super::{Translator, names, service_text};
use crate::logical::{Logical, LogicalOp};
use crate::plan::{TermSlot, VarId};
use lode_rdf::Term;
use spargebra::algebra::GraphPattern;
use spargebra::term::NamedNodePattern;

impl Translator<'_> {
    pub(super) fn service(&mut self, name: &NamedNodePattern, inner: &GraphPattern, silent: bool) -> Logical {
        let endpoint = match name {
            NamedNodePattern::NamedNode(iri) => TermSlot::Const(iri.clone().into()),
            NamedNodePattern::Variable(v) => self.var_slot(v.as_str()),
        };
        let mut replaced: Vec<(String, Term)> = Vec::new();
        for name in names::in_scope(inner) {
            let term = self.known_var(&name).and_then(|v| self.constants.get(&v));
            replaced.extend(term.cloned().map(|t| (name, t)));
        }
        let query = service_text::query(inner, &replaced);
        let own = self.visible_vars(inner);
        Logical::service(None, endpoint, query, silent, &own)
    }
}

/// The variable endpoint of a service that has no input yet.
fn open_endpoint(logical: &Logical) -> Option<VarId> {
    match &logical.op {
        LogicalOp::Service { input: None, endpoint: TermSlot::Var(var), .. } => Some(*var),
        _ => None,
    }
}

fn give_input(service: Logical, input: Logical) -> Logical {
    let own = service.vars.clone();
    match service.op {
        LogicalOp::Service { endpoint, query, silent, .. } => {
            Logical::service(Some(input), endpoint, query, silent, &own)
        }
        op => Logical { op, ..service },
    }
}

/// The right side of an OPTIONAL that is a service whose endpoint the left side binds: it runs once per endpoint.
pub(super) fn bind_endpoint(right: Logical, left: &Logical) -> Logical {
    match open_endpoint(&right) {
        Some(var) if left.vars.contains(var) => {
            let endpoints = Logical::distinct(Logical::project(left.clone(), vec![var]));
            give_input(right, endpoints)
        }
        _ => right,
    }
}

/// A join, flat: nested joins without conditions of their own become part of it, and a service with an endpoint that the members
/// before it bind takes these as its input.
pub(super) fn join_members(members: Vec<Logical>) -> Logical {
    let mut flat = Vec::with_capacity(members.len());
    for member in members {
        match member.op {
            LogicalOp::Join { members, filters } if filters.is_empty() => flat.extend(members),
            LogicalOp::Unit => {}
            _ => flat.push(member),
        }
    }
    let mut joined: Vec<Logical> = Vec::with_capacity(flat.len());
    for member in flat {
        let bound = |var| joined.iter().any(|m: &Logical| m.vars.contains(var));
        match open_endpoint(&member) {
            Some(var) if bound(var) => {
                let input = single(std::mem::take(&mut joined));
                joined.push(give_input(member, input));
            }
            _ => joined.push(member),
        }
    }
    single(joined)
}

fn single(mut members: Vec<Logical>) -> Logical {
    match members.len() {
        0 => Logical::unit(),
        1 => members.swap_remove(0),
        _ => Logical::join(members, Vec::new()),
    }
}
