//! SERVICE, and joins with it: an endpoint that is a variable needs rows that bind it.

use super::names::{self, Names};
use super::translator::Translator;
use super::{service_rows, service_terms, service_text};
use crate::logical::{Logical, LogicalOp, term_slot_var};
use crate::plan::{TermSlot, VarId};
use crate::service_call::ServiceCall;
use spargebra::algebra::GraphPattern;
use spargebra::term::NamedNodePattern;
use std::sync::Arc;

impl Translator<'_> {
    pub(super) fn service(&mut self, name: &NamedNodePattern, inner: &GraphPattern, silent: bool) -> Logical {
        let endpoint = match name {
            NamedNodePattern::NamedNode(iri) => TermSlot::Const(iri.clone().into()),
            NamedNodePattern::Variable(v) => self.var_slot(v.as_str()),
        };
        let terms = service_terms::of(inner, |name| self.constants.get(&self.known_var(name)?).cloned());
        let inner = &service_terms::replaced(inner.clone(), &terms);
        let columns = self.visible_vars(inner).as_slice().to_vec();
        let certain = if silent { Names::new() } else { names::certain(inner) };
        let certain: Vec<VarId> = certain.iter().filter_map(|name| self.known_var(name)).collect();
        let certain = columns.iter().filter(|var| certain.contains(var)).copied().collect();
        let (body, is_join) = (service_text::body(inner), service_text::is_join(inner));
        let rows = service_rows::guess(inner);
        Logical::service(
            None,
            Arc::new(ServiceCall { endpoint, body, is_join, columns, certain, silent, rows }),
        )
    }
}

/// The variable endpoint of a service that has no input yet.
fn open_endpoint(logical: &Logical) -> Option<VarId> {
    match &logical.op {
        LogicalOp::Service { input: None, call } => term_slot_var(&call.endpoint),
        _ => None,
    }
}

fn give_input(service: Logical, input: Logical) -> Logical {
    match service.op {
        LogicalOp::Service { call, .. } => Logical::service(Some(input), call),
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
