//! Warnings that know the data: what `lode_sparql::parse::hints` finds in a text, looked up in a version.
//!
//! Nothing is read but the index: how many quads are under a constant, and, where there are none, the predicates or classes that there are, up to a number and
//! within a time. Whatever cannot be told in that time is not said. docs/guide/src/profile.md says what is warned of.

mod below;
mod deleted;
mod graphs;
mod memo;

use crate::options::{DefaultGraph, QueryOptions};
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, ValueId};
use lode_sparql::parse::hints::{
    Constant, Counted, Findings, Hint, HintKind, Role, Unjoined, findings, findings_of_update,
};
use lode_sparql::syntax::nearest;
use lode_sparql::warnings::Known;
use lode_store::{Snapshot, StoreError};
use std::time::{Duration, Instant};

/// rdf:type.
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
/// Everything is to be done in this time. Builds that are not optimised, which tests are, may be held up for longer than that by what
/// runs beside them, and what they say must not depend on it.
const TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 400 } else { 3 });
/// So many predicates, classes or graphs are looked at for one that is meant.
const CANDIDATES_MAX: usize = 2_000;
/// Parts of fewer rows are put together without a warning,
const ROWS_FEW: u64 = 10;
/// and parts that give fewer together.
const PRODUCT_FEW: u64 = 1_000;
/// What is taken of the budget for a byte of the text: its tree, names, constants.
const BYTES_PER_BYTE: usize = 16;

/// Longer texts are not looked at.
pub(crate) use lode_sparql::parse::hints::BYTES_MAX;
pub(crate) use memo::{HintMemo, Instance};

/// What a query's patterns are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patterns {
    /// The default graph, where nothing else is said.
    Default,
    /// Graphs that are given.
    Given,
    /// What follows from the data as well: there may be more than can be counted.
    Reasoned,
    /// Graphs of which the asker may not read all: nothing is told of data.
    Hidden,
}

impl Patterns {
    /// Those of who asks with these options. What the data tells is for who may read all of it.
    pub fn of(options: &QueryOptions) -> Self {
        match Self::of_update(options) {
            Self::Given | Self::Default if options.reasoning.is_some() => Self::Reasoned,
            patterns => patterns,
        }
    }

    /// The same of an update, which never reasons.
    fn of_update(options: &QueryOptions) -> Self {
        let is_given = options.dataset.is_some() || options.default_graph == DefaultGraph::Union;
        match options.graphs.reads_all() {
            false => Self::Hidden,
            true if is_given => Self::Given,
            true => Self::Default,
        }
    }
}

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// The hints, in the order of the text.
    pub hints: Vec<Hint>,
    findings: Findings,
    /// Time and memory were there to look at all.
    is_whole: bool,
}

/// What warnings have to know.
pub(crate) const KNOWN: Known<'static> = Known {
    function_of: &lode_exec::functions::find,
    nearest: &lode_exec::functions::nearest,
    pattern_problem: &lode_exec::regex_problem,
    replace_problem: &lode_exec::functions::replace_problem,
    geometry_problem: &lode_exec::functions::geometry_problem,
    argument_problem: &lode_exec::functions::argument_problem,
};

/// The hints for a query's text; none where time or memory are not there.
pub(crate) fn of_query(
    text: &str,
    base: Option<&str>,
    snapshot: &Snapshot,
    patterns: Patterns,
    cancel: &CancelToken,
    budget: &MemoryBudget,
) -> Looked {
    of(text, &|text| findings(text, base), snapshot, (patterns, true), cancel, budget)
}

/// The hints for an update's text, before anything of it was done.
pub(crate) fn of_update(
    text: &str,
    snapshot: &Snapshot,
    options: &QueryOptions,
    budget: &MemoryBudget,
) -> Vec<Hint> {
    let find = |text: &str| findings_of_update(text, options.base_iri.as_deref());
    of(text, &find, snapshot, (Patterns::of_update(options), false), &options.cancel, budget).hints
}

fn of(
    text: &str,
    find: &dyn Fn(&str) -> Findings,
    snapshot: &Snapshot,
    (patterns, may_reason): (Patterns, bool),
    cancel: &CancelToken,
    budget: &MemoryBudget,
) -> Looked {
    let until = Instant::now() + TIME;
    let Ok(_held) = budget.reserve(text.len() * BYTES_PER_BYTE) else { return Looked::default() };
    let mut findings = find(text);
    let mut hints = std::mem::take(&mut findings.hints);
    let mut is_whole = true;
    // Of no data nothing can be said.
    if patterns != Patterns::Hidden && snapshot.quad_count() > 0 {
        let found = &findings;
        let mut look = Look { found, snapshot, patterns, may_reason, cancel, until, hints: Vec::new() };
        // What was found until an error is right; reading goes on to tell of that.
        is_whole = look.at_all().is_ok() && !look.is_over();
        hints.append(&mut look.hints);
    }
    hints.sort_by_key(|hint| hint.span.start);
    Looked { hints, findings, is_whole }
}

struct Look<'a> {
    found: &'a Findings,
    snapshot: &'a Snapshot,
    patterns: Patterns,
    /// Whether it could reason.
    may_reason: bool,
    cancel: &'a CancelToken,
    until: Instant,
    hints: Vec<Hint>,
}

/// A predicate, class or graph that there is.
struct Candidate {
    id: ValueId,
    iri: String,
}

impl Look<'_> {
    fn at_all(&mut self) -> Result<(), StoreError> {
        let found = self.found;
        for constant in &found.constants {
            if self.is_over() {
                return Ok(());
            }
            self.constant(constant)?;
        }
        for deleted in &found.deleted {
            if self.is_over() {
                return Ok(());
            }
            self.deleted(deleted)?;
        }
        // Of what follows nobody knows how much there is.
        if self.patterns == Patterns::Reasoned {
            return Ok(());
        }
        if self.hints.is_empty() && self.patterns == Patterns::Default {
            self.of_empty_default_graph()?;
        }
        for unjoined in &found.unjoined {
            self.unjoined(unjoined)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until || self.cancel.check().is_err()
    }

    fn hint(&mut self, kind: HintKind, constant: &Constant, message: String, help: String) {
        self.hints.push(Hint { kind, span: constant.span.clone(), message, help });
    }

    fn id_of(&self, iri: &str) -> Result<Option<ValueId>, StoreError> {
        self.snapshot.id_of(&NamedNode::new_unchecked(iri).into())
    }

    /// Quads that have an IRI in such a place.
    fn count(&self, role: Role, id: ValueId) -> Result<u64, StoreError> {
        let (order, prefix) = match role {
            Role::Subject => (Order::Spog, vec![id]),
            Role::Predicate => (Order::Psog, vec![id]),
            Role::Object => (Order::Ospg, vec![id]),
            Role::Graph => (Order::Gspo, vec![id]),
            Role::Class => match self.id_of(TYPE)? {
                Some(of) => (Order::Posg, vec![of, id]),
                None => return Ok(0),
            },
        };
        self.snapshot.count(order, &prefix)
    }

    fn constant(&mut self, constant: &Constant) -> Result<(), StoreError> {
        let id = self.id_of(&constant.iri)?;
        match id {
            Some(id) if self.count(constant.role, id)? > 0 => self.in_graph(constant, id),
            _ => self.unknown(constant),
        }
    }

    /// No quad has it.
    fn unknown(&mut self, constant: &Constant) -> Result<(), StoreError> {
        if self.patterns == Patterns::Reasoned && self.may_follow(constant)? {
            return Ok(());
        }
        if self.may_reason && self.patterns != Patterns::Reasoned && self.only_below(constant)? {
            return Ok(());
        }
        if constant.role == Role::Predicate && self.follows_from_places(&constant.iri)? {
            return Ok(());
        }
        let meant = match constant.role {
            Role::Subject | Role::Object => self.variant(constant)?,
            _ => self.meant(constant)?,
        };
        let known = if meant.is_none() { self.known_name(constant) } else { None };
        // A pattern need not match where the query goes on without it.
        if meant.is_none() && known.is_none() && !constant.is_required {
            return Ok(());
        }
        let name = self.found.short(&constant.iri);
        let message = match constant.role {
            Role::Subject => format!("no triple has the subject {name}"),
            Role::Predicate => format!("no triple has the predicate {name}"),
            Role::Class => format!("nothing is of the class {name}"),
            Role::Object => format!("no triple has the object {name}"),
            Role::Graph => format!("there is no graph {name}"),
        };
        let help = match meant {
            // It may be one that only others are below.
            Some((iri, 0)) => format!("did you mean {}?", self.found.short(&iri)),
            Some((iri, count)) => format!("{} has {}", self.found.short(&iri), grouped(count)),
            None => known.unwrap_or_default(),
        };
        self.hint(HintKind::UnknownConstant, constant, message, help);
        Ok(())
    }

    /// What may be meant by a property, or a class, of a vocabulary that is known here, where the data has none like it.
    fn known_name(&self, constant: &Constant) -> Option<String> {
        let is_class = match constant.role {
            Role::Predicate => false,
            Role::Class => true,
            _ => return None,
        };
        if !is_class && lode_exec::functions::find(&constant.iri).is_some() {
            let name = self.found.short(&constant.iri);
            return Some(format!("it is a function: call it in FILTER or BIND, {name}(...)"));
        }
        let near = lode_sparql::near_known_name(&constant.iri, is_class)?;
        Some(format!("did you mean {}?", self.found.short(&near)))
    }

    /// Whether a property relates places, and may follow from their geometries.
    fn follows_from_places(&self, property: &str) -> Result<bool, StoreError> {
        if lode_sparql::place_relation(property).is_none() {
            return Ok(false);
        }
        for text in lode_sparql::GEOMETRY_TEXTS {
            if let Some(id) = self.id_of(text)?
                && self.count(Role::Predicate, id)? > 0
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same resource as others write it: of HTTP or HTTPS, with a slash at its end or without.
    fn variant(&self, constant: &Constant) -> Result<Option<(String, u64)>, StoreError> {
        let iri = &constant.iri;
        let scheme = match iri.strip_prefix("http://") {
            Some(rest) => Some(format!("https://{rest}")),
            None => iri.strip_prefix("https://").map(|rest| format!("http://{rest}")),
        };
        let slash = iri.strip_suffix('/').map_or_else(|| format!("{iri}/"), str::to_owned);
        for other in scheme.into_iter().chain([slash]) {
            if let Some(id) = self.id_of(&other)? {
                let count = self.count(constant.role, id)?;
                if count > 0 {
                    return Ok(Some((other, count)));
                }
            }
        }
        Ok(None)
    }

    /// The predicate, class or graph that is meant: one of the same namespace with nearly the same name, else one with the same name.
    fn meant(&self, constant: &Constant) -> Result<Option<(String, u64)>, StoreError> {
        let mut all = self.candidates(constant.role)?;
        if self.patterns == Patterns::Reasoned {
            all.extend(self.uppers(constant.role)?);
        }
        let (namespace, name) = halves(&constant.iri);
        let near = nearest(
            name,
            all.iter().map(|other| halves(&other.iri)).filter(|(n, _)| *n == namespace).map(|(_, l)| l),
        );
        let is_meant = |other: &&Candidate| match near {
            Some(near) => halves(&other.iri) == (namespace, near),
            None => !name.is_empty() && halves(&other.iri).1 == name,
        };
        let Some(found) = all.iter().find(is_meant) else { return Ok(None) };
        Ok(Some((found.iri.clone(), self.count(constant.role, found.id)?)))
    }

    /// The predicates, classes or graphs, as far as there is time.
    fn candidates(&self, role: Role) -> Result<Vec<Candidate>, StoreError> {
        let (order, prefix) = match role {
            Role::Class => (Order::Posg, self.id_of(TYPE)?.into_iter().collect::<Vec<_>>()),
            Role::Graph => (Order::Gspo, Vec::new()),
            _ => (Order::Psog, Vec::new()),
        };
        if role == Role::Class && prefix.is_empty() {
            return Ok(Vec::new());
        }
        self.distinct(order, &prefix)
    }

    /// The IRIs that stand behind a prefix, as far as there is time.
    fn distinct(&self, order: Order, prefix: &[ValueId]) -> Result<Vec<Candidate>, StoreError> {
        let column = prefix.len();
        let mut scan = self.snapshot.scan(order, prefix, 1 << column)?;
        let (mut all, mut columns): (Vec<Candidate>, [Vec<ValueId>; 4]) = Default::default();
        while all.len() < CANDIDATES_MAX && !self.is_over() && scan.next(1, &mut columns)? > 0 {
            let Some(id) = columns[column].pop() else { break };
            columns.iter_mut().for_each(Vec::clear);
            if let Term::NamedNode(iri) = self.snapshot.term(id)? {
                all.push(Candidate { id, iri: iri.into_string() });
            }
            let Some(next) = id.to_bits().checked_add(1) else { break };
            let key: Vec<ValueId> = prefix.iter().copied().chain([ValueId::from_bits(next)]).collect();
            scan.seek(&key)?;
        }
        Ok(all)
    }

    fn unjoined(&mut self, unjoined: &Unjoined) -> Result<(), StoreError> {
        let (before, own) = (self.least(&unjoined.before)?, self.least(&unjoined.own)?);
        let is_few = before.min(own) < ROWS_FEW || before.saturating_mul(own) < PRODUCT_FEW;
        if is_few {
            return Ok(());
        }
        let message = format!(
            "nothing joins this with what is before it: each of up to {} solutions is put together with each of up to {}",
            grouped(own),
            grouped(before)
        );
        let help = "use a variable in both, or two queries (Cartesian product)".to_owned();
        self.hints.push(Hint {
            kind: HintKind::CartesianProduct,
            span: unjoined.span.clone(),
            message,
            help,
        });
        Ok(())
    }

    /// The fewest quads of a triple of these.
    fn least(&self, triples: &[Counted]) -> Result<u64, StoreError> {
        let mut least = self.snapshot.quad_count();
        for Counted { subject, predicate, object } in triples {
            let mut ids = [None; 3];
            for (id, term) in ids.iter_mut().zip([subject, predicate, object]) {
                if let Some(term) = term {
                    let Some(known) = self.snapshot.id_of(term)? else { return Ok(0) };
                    *id = Some(known);
                }
            }
            let (order, prefix) = match ids {
                [Some(s), Some(p), Some(o)] => (Order::Spog, vec![s, p, o]),
                [Some(s), Some(p), None] => (Order::Spog, vec![s, p]),
                [Some(s), None, Some(o)] => (Order::Sopg, vec![s, o]),
                [Some(s), None, None] => (Order::Spog, vec![s]),
                [None, Some(p), Some(o)] => (Order::Posg, vec![p, o]),
                [None, Some(p), None] => (Order::Psog, vec![p]),
                [None, None, Some(o)] => (Order::Ospg, vec![o]),
                [None, None, None] => continue,
            };
            least = least.min(self.snapshot.count(order, &prefix)?);
        }
        Ok(least)
    }
}

/// Namespace and local name of an IRI.
fn halves(iri: &str) -> (&str, &str) {
    let end = iri.rfind(['#', '/', ':']).map_or(0, |at| at + 1);
    iri.split_at(end)
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
