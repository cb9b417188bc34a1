//! Plans of earlier queries, for those that differ from them in constants only.
//!
//! A plan is right for other constants as [`Reuse`] says; it need not be good for them: `?x a :Rare` and `?x a :Common` want different
//! plans. So the counts of its patterns are compared with what they were, and a query whose counts are far from those of all
//! plans kept for it is planned anew.

pub(crate) mod shortness;

use crate::EngineError;
use crate::hints::{HintMemo, Instance};
use crate::options::{DefaultGraph, QueryOptions};
use lode_rdf::Term;
use lode_sparql::Plan;
use lode_sparql::template::{self, Literals, Parameter, Probe, Reuse, Shape};
use lode_store::Snapshot;
use shortness::Shortness;
use spargebra::Query;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Kinds of queries that are remembered.
const SHELVES_MAX: usize = 512;
/// Plans for each.
const PLANS_MAX: usize = 4;
/// Bytes of all plans, about, where there is as much memory; else this part of it.
const BYTES_MAX: usize = 32 << 20;
const BYTES_PART: usize = 32;
/// A plan that takes more than this part of them is not kept.
const PLAN_PART: usize = 16;
/// Counts may differ by this factor,
const FACTOR: u64 = 4;
/// or be both no larger than this.
const FEW: u64 = 64;

/// The plans.
#[derive(Debug)]
pub(crate) struct PlanCache {
    shelves: Mutex<Shelves>,
    bytes_max: usize,
}

impl Default for PlanCache {
    fn default() -> Self {
        Self { shelves: Mutex::default(), bytes_max: BYTES_MAX }
    }
}

#[derive(Debug, Default)]
struct Shelves {
    by_key: HashMap<Vec<u8>, Shelf>,
    /// Counts uses, to tell which shelf was not used for longest.
    clock: u64,
    /// Bytes of all plans, about.
    bytes: usize,
}

#[derive(Debug, Default)]
struct Shelf {
    plans: Vec<Arc<Known>>,
    /// What is remembered of queries whose plans are not kept.
    unkept: Option<Common>,
    used: u64,
}

/// A plan with what is needed to use it again.
#[derive(Debug)]
struct Known {
    plan: Arc<Plan>,
    parameters: Vec<Parameter>,
    /// Which of them need ids.
    in_patterns: Vec<bool>,
    probes: Vec<(Probe, u64)>,
    /// The snapshot's numbers.
    terms_number: u64,
    version_number: u64,
    /// What its queries have in common.
    common: Common,
    /// What it takes, about.
    bytes: usize,
}

/// What is remembered of all queries with one plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Common {
    /// How long the runs took.
    pub shortness: Arc<Shortness>,
    /// Whether there was nothing to say of one.
    pub hints: Arc<HintMemo>,
}

/// A kept plan for a query.
pub(crate) struct Found {
    pub plan: Arc<Plan>,
    pub common: Common,
    /// The query among those with this plan.
    pub instance: Instance,
}

/// Whether nothing is asked for that changes plans besides what the keys have. Plans for some graphs only are not kept: they have
/// the ids of all graphs that are visible in a version. Nor are those that reason: they have the classes and properties of its schema.
pub(crate) fn is_usual(options: &QueryOptions) -> bool {
    let for_tests = options.groups_early || options.joins_multiway || options.spools_always;
    let is_plain = options.dataset.is_none() && options.graphs.reads_all() && options.reasoning.is_none();
    options.optimize && !for_tests && is_plain
}

/// What queries with the same plan have in common.
pub(crate) struct Keys<'a> {
    query: &'a Query,
    /// What plans depend on besides.
    scope: [u8; 2],
    /// With literals as parameters; none where the query has parts that cannot be compared.
    usual: Option<Shape>,
    /// With literals as part of the key, if there are any: made when the usual one has found nothing.
    literal: OnceCell<Option<Shape>>,
}

impl<'a> Keys<'a> {
    /// The keys of a query; `inferred`: what it depends on of the graph of inferences.
    pub fn new(query: &'a Query, options: &QueryOptions, inferred: u8) -> Self {
        let scope = [u8::from(options.default_graph == DefaultGraph::Union), inferred];
        let usual = shape(query, Literals::Parameters, scope);
        Self { query, scope, usual, literal: OnceCell::new() }
    }

    fn has_literals(&self) -> bool {
        self.usual.as_ref().is_some_and(|usual| usual.parameters.iter().any(Term::is_literal))
    }

    fn literal(&self) -> Option<&Shape> {
        let make = || self.has_literals().then(|| shape(self.query, Literals::Fixed, self.scope))?;
        self.literal.get_or_init(make).as_ref()
    }

    fn all(&self) -> impl Iterator<Item = &Shape> {
        self.usual.iter().chain(std::iter::once_with(|| self.literal()).flatten())
    }
}

fn shape(query: &Query, literals: Literals, scope: [u8; 2]) -> Option<Shape> {
    let mut shape = Shape::new(query, literals)?;
    shape.key.extend(scope);
    Some(shape)
}

impl PlanCache {
    /// One for a process with so much memory.
    pub fn of_memory(bytes: usize) -> Self {
        Self { bytes_max: (bytes / BYTES_PART).min(BYTES_MAX), ..Self::default() }
    }

    /// Whether plans of so many bytes are kept.
    pub fn keeps(&self, plan_bytes: usize) -> bool {
        plan_bytes <= self.bytes_max / PLAN_PART
    }

    fn lock(&self) -> MutexGuard<'_, Shelves> {
        // A panic leaves no half-made entry.
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A plan that is right for a query over `snapshot`, and likely good; with what is remembered of its kind.
    pub fn find(&self, keys: &Keys<'_>, snapshot: &Snapshot) -> Result<Option<Found>, EngineError> {
        for shape in keys.all() {
            for known in self.known(&shape.key) {
                let found = known.plan_for(shape, snapshot)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    fn known(&self, key: &[u8]) -> Vec<Arc<Known>> {
        self.lock().used(key).map_or_else(Vec::new, |shelf| shelf.plans.clone())
    }

    /// What is remembered of the queries with these keys whose plans cannot be kept ([`Reuse::Never`]), if there was one.
    pub fn unkept(&self, keys: &Keys<'_>) -> Option<Common> {
        self.lock().used(&keys.usual.as_ref()?.key)?.unkept.clone()
    }

    /// The same, which begins with this one; nothing is remembered of those that cannot be compared.
    pub fn begin_unkept(&self, keys: &Keys<'_>) -> Common {
        let Some(shape) = &keys.usual else { return Common::default() };
        let mut shelves = self.lock();
        shelves.make_room(&shape.key, 0, self.bytes_max);
        shelves.shelf(&shape.key).unkept.get_or_insert_default().clone()
    }

    /// Remembers a plan of so many bytes, if it can be of use, and how long it will take from now on.
    pub fn keep(
        &self,
        keys: &Keys<'_>,
        plan: &Arc<Plan>,
        snapshot: &Snapshot,
        common: &Common,
        bytes: usize,
    ) -> Result<(), EngineError> {
        if plan.reuse == Reuse::Never || !self.keeps(bytes) {
            return Ok(());
        }
        // A plan for its literals only, of a query whose key with them is too long, is kept nowhere.
        let by_literals = plan.uses_literals && keys.has_literals();
        let shape = if by_literals { keys.literal() } else { keys.usual.as_ref() };
        let Some(shape) = shape else { return Ok(()) };
        let known = Arc::new(Known::new(shape, plan, snapshot, common, bytes)?);
        let mut shelves = self.lock();
        shelves.make_room(&shape.key, bytes, self.bytes_max);
        let shelf = shelves.shelf(&shape.key);
        let before = shelf.bytes();
        shelf.plans.retain(|other| other.is_current(snapshot));
        if shelf.plans.len() == PLANS_MAX {
            shelf.plans.remove(0);
        }
        shelf.plans.push(known);
        let after = shelf.bytes();
        shelves.bytes = shelves.bytes + after - before;
        Ok(())
    }
}

impl Shelves {
    /// The shelf of a key, which is used now.
    fn used(&mut self, key: &[u8]) -> Option<&mut Shelf> {
        self.clock += 1;
        let shelf = self.by_key.get_mut(key)?;
        shelf.used = self.clock;
        Some(shelf)
    }

    /// The same; an empty one if there is none.
    fn shelf(&mut self, key: &[u8]) -> &mut Shelf {
        self.clock += 1;
        let shelf = self.by_key.entry(key.to_vec()).or_default();
        shelf.used = self.clock;
        shelf
    }

    /// Forgets shelves that were not used for longest: one, if a new one is needed and there are many, and more, until a plan of `bytes`
    /// bytes fits.
    fn make_room(&mut self, key: &[u8], bytes: usize, bytes_max: usize) {
        if self.by_key.len() >= SHELVES_MAX && !self.by_key.contains_key(key) {
            self.forget_oldest();
        }
        while self.bytes + bytes > bytes_max && !self.by_key.is_empty() {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let oldest = self.by_key.iter().min_by_key(|(_, shelf)| shelf.used).map(|(key, _)| key.clone());
        let forgotten = oldest.and_then(|key| self.by_key.remove(&key));
        self.bytes -= forgotten.map_or(0, |shelf| shelf.bytes());
    }
}

impl Shelf {
    fn bytes(&self) -> usize {
        self.plans.iter().map(|known| known.bytes).sum()
    }
}

impl Known {
    fn new(
        shape: &Shape,
        plan: &Arc<Plan>,
        snapshot: &Snapshot,
        common: &Common,
        bytes: usize,
    ) -> Result<Self, EngineError> {
        let parameters = shape
            .parameters
            .iter()
            .map(|term| Ok((term.clone(), snapshot.id_of(term)?)))
            .collect::<Result<Vec<Parameter>, EngineError>>()?;
        let in_patterns = template::in_patterns(plan, &parameters);
        let mut probes = Vec::new();
        for probe in template::probes(plan, &parameters) {
            probes.push((probe, count(probe, &parameters, snapshot)?));
        }
        Ok(Self {
            plan: Arc::clone(plan),
            in_patterns,
            probes,
            parameters,
            terms_number: snapshot.terms_number(),
            version_number: snapshot.state_number(),
            common: common.clone(),
            bytes,
        })
    }

    /// Whether what the plan was made from is still so.
    fn is_current(&self, snapshot: &Snapshot) -> bool {
        match self.plan.reuse {
            Reuse::SameTerms => self.terms_number == snapshot.terms_number(),
            Reuse::SameData => self.version_number == snapshot.state_number(),
            Reuse::Never => false,
        }
    }

    /// The plan with the parameters of a query; `None` where it does not fit.
    fn plan_for(&self, shape: &Shape, snapshot: &Snapshot) -> Result<Option<Found>, EngineError> {
        let terms = &shape.parameters;
        if !self.is_current(snapshot) || terms.len() != self.parameters.len() {
            return Ok(None);
        }
        let mut parameters = Vec::with_capacity(terms.len());
        for ((term, known), needs_id) in terms.iter().zip(&self.parameters).zip(&self.in_patterns) {
            if *term == known.0 {
                parameters.push(known.clone());
                continue;
            }
            let id = if *needs_id { snapshot.id_of(term)? } else { None };
            if *needs_id && id.is_none() {
                return Ok(None);
            }
            parameters.push((term.clone(), id));
        }
        let Some(counted) = self.counted(&parameters, snapshot)? else { return Ok(None) };
        let plan = Arc::new(template::with_parameters(&self.plan, &self.parameters, &parameters));
        let instance = Instance {
            version: snapshot.state_number(),
            names: shape.names,
            parameters: terms.clone(),
            counted,
        };
        Ok(Some(Found { plan, common: self.common.clone(), instance }))
    }

    /// Which parameters are in quads of each pattern that has them; `None` where they are in many more or fewer than those of the plan.
    fn counted(
        &self,
        parameters: &[Parameter],
        snapshot: &Snapshot,
    ) -> Result<Option<Vec<bool>>, EngineError> {
        let mut least: Vec<Option<u64>> = vec![None; parameters.len()];
        for (probe, before) in &self.probes {
            let now = count(*probe, parameters, snapshot)?;
            let (less, more) = (now.min(*before), now.max(*before));
            if more > FEW && more / FACTOR > less {
                return Ok(None);
            }
            if let Some(least) = least.get_mut(probe.parameter) {
                *least = Some(least.map_or(now, |least| least.min(now)));
            }
        }
        Ok(Some(least.into_iter().map(|least| least.is_some_and(|least| least > 0)).collect()))
    }
}

fn count(probe: Probe, parameters: &[Parameter], snapshot: &Snapshot) -> Result<u64, EngineError> {
    let Some(id) = parameters.get(probe.parameter).and_then(|parameter| parameter.1) else { return Ok(0) };
    Ok(match probe.before {
        Some(before) => snapshot.count(probe.order, &[before, id])?,
        None => snapshot.count(probe.order, &[id])?,
    })
}

#[cfg(test)]
mod tests;
