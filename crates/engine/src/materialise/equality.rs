//! Groups of equal terms (`owl:sameAs`), and the triples that all members of a group have since one has them. By rules that look at pairs each triple would be found once for
//! each member; here each is found about once: of triples that are equal but for names one is taken, by the first members of groups (representatives), and written out
//! for all members.
//!
//! A literal can be what others are the same as, and is the same as nothing, since it is no subject: it is in no group, but groups have literals.

use super::gather::{Triple, too_much};
use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_packed::Order;
use lode_rdf::{Kind, ValueId};
use lode_store::Snapshot;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Bytes of a term in groups.
const MEMBER_BYTES: usize = 160;
/// Rows read at once.
const ROWS: usize = 4096;
/// Triples whose memory is taken at once.
const AT_ONCE: usize = 4096;

/// What is read.
pub(super) struct Read<'a> {
    pub snapshot: &'a Snapshot,
    /// The graphs that are read; all, where they are not given.
    pub graphs: Option<[ValueId; 2]>,
    pub cancel: &'a CancelToken,
    pub budget: &'a MemoryBudget,
}

/// The groups that there are.
#[derive(Debug)]
pub(super) struct Groups {
    same_as: ValueId,
    parents: HashMap<ValueId, ValueId>,
    /// By representatives.
    groups: HashMap<ValueId, Group>,
    /// Representatives of groups that were changed since what follows was last found; some have another one since.
    changed: Vec<ValueId>,
    /// What has been written out, by representatives, since a group was changed.
    done: HashSet<Triple>,
    held: Reservation,
}

#[derive(Debug, Default)]
struct Group {
    members: Vec<ValueId>,
    literals: BTreeSet<ValueId>,
    /// One member of each group that was there when what follows was last found.
    parts: Vec<ValueId>,
}

impl Groups {
    pub fn new(same_as: ValueId, budget: &MemoryBudget) -> Self {
        Self {
            same_as,
            parents: HashMap::new(),
            groups: HashMap::new(),
            changed: Vec::new(),
            done: HashSet::new(),
            held: budget.reserve_empty(),
        }
    }

    /// Takes in all triples that are read, or those in the graphs `new` where all that follows from others is there. What is to be written out then
    /// ([`Self::write_out`]), sorted, and the memory that it takes.
    pub fn follow(
        &mut self,
        read: &Read<'_>,
        new: Option<[ValueId; 2]>,
    ) -> Result<(Vec<Triple>, Reservation), EngineError> {
        let same_as = self.same_as;
        for graph in new.into_iter().flatten() {
            read.each(Order::Gspo, &[graph], &mut |triple| match triple[1] == same_as {
                true => self.meet(triple),
                false => Ok(()),
            })?;
        }
        if new.is_none() {
            read.each(Order::Psog, &[same_as], &mut |triple| self.meet(triple))?;
        }
        let mut found = Gathered { triples: Vec::new(), held: read.budget.reserve_empty() };
        if self.is_empty() {
            return Ok((found.triples, found.held));
        }
        for part in self.changed_parts(&mut found)? {
            for order in [Order::Spog, Order::Psog, Order::Opsg] {
                read.each(order, &[part], &mut |triple| found.push(self.representative(triple)))?;
            }
        }
        for graph in new.into_iter().flatten() {
            read.each(Order::Gspo, &[graph], &mut |triple| match triple
                .iter()
                .any(|id| self.parents.contains_key(id))
            {
                true => found.push(self.representative(triple)),
                false => Ok(()),
            })?;
        }
        let Gathered { mut triples, held } = found;
        triples.sort_unstable();
        triples.dedup();
        triples.retain(|triple| !self.done.contains(triple));
        self.held.grow(triples.len() * 2 * size_of::<Triple>()).map_err(too_much)?;
        self.done.extend(triples.iter().copied());
        Ok((triples, held))
    }

    /// One member of each group that groups are made of that have changed; also tells what is the same now.
    fn changed_parts(&mut self, found: &mut Gathered) -> Result<Vec<ValueId>, EngineError> {
        let mut all = Vec::new();
        for (root, parts) in self.changed() {
            self.done.clear();
            all.extend(parts);
            if self.members(&root).len() > 1 {
                found.push(self.representative([root, self.same_as, root]))?;
            }
        }
        Ok(all)
    }

    /// The representatives of groups that have changed, each with one member of each group that it is made of.
    pub fn changed(&mut self) -> Vec<(ValueId, Vec<ValueId>)> {
        let changed: BTreeSet<ValueId> =
            std::mem::take(&mut self.changed).into_iter().map(|id| self.find(id)).collect();
        let mut all = Vec::with_capacity(changed.len());
        for root in changed {
            if let Some(group) = self.groups.get_mut(&root) {
                group.members.sort_unstable();
                all.push((root, std::mem::replace(&mut group.parts, vec![root])));
            }
        }
        all
    }

    /// Whether nothing is the same as anything.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Whether a term is in a group.
    pub fn has(&self, id: &ValueId) -> bool {
        self.parents.contains_key(id)
    }

    /// The literals that members of a group are the same as, by its representative.
    pub fn literals(&self, root: &ValueId) -> Vec<ValueId> {
        self.groups.get(root).map_or_else(Vec::new, |group| group.literals.iter().copied().collect())
    }

    /// Whether it says what is the same.
    pub fn is_same_as(&self, triple: &Triple) -> bool {
        triple[1] == self.find(self.same_as)
    }

    /// All that a triple of representatives stands for.
    pub fn write_out<E: From<EngineError>>(
        &self,
        [s, p, o]: &Triple,
        cancel: &CancelToken,
        told: &mut dyn FnMut(Triple) -> Result<(), E>,
    ) -> Result<(), E> {
        let (subjects, predicates, objects) = (self.members(s), self.members(p), self.members(o));
        let literals = self.literals(o);
        for s in subjects {
            cancel.check().map_err(EngineError::Cancelled)?;
            for p in predicates.iter().filter(|p| p.kind() == Some(Kind::Iri)) {
                for o in objects.iter().chain(&literals) {
                    told([*s, *p, *o])?;
                }
            }
        }
        Ok(())
    }

    /// The members of the group of a representative, or of another term that is alone.
    pub fn members<'a>(&'a self, id: &'a ValueId) -> &'a [ValueId] {
        self.groups.get(id).map_or(std::slice::from_ref(id), |group| &group.members)
    }

    /// A triple of representatives.
    pub fn representative(&self, triple: Triple) -> Triple {
        triple.map(|id| self.find(id))
    }

    fn find(&self, id: ValueId) -> ValueId {
        let mut at = id;
        while let Some(parent) = self.parents.get(&at).filter(|parent| **parent != at) {
            at = *parent;
        }
        at
    }

    /// Takes in that two are the same.
    pub fn meet(&mut self, [x, _, y]: Triple) -> Result<(), EngineError> {
        let is_literal = !matches!(y.kind(), Some(Kind::Iri | Kind::Blank));
        if x == y {
            return Ok(());
        }
        let root = self.root(x)?;
        if is_literal {
            if let Some(group) = self.groups.get_mut(&root)
                && group.literals.insert(y)
            {
                self.held.grow(MEMBER_BYTES).map_err(too_much)?;
                self.changed.push(root);
            }
            return Ok(());
        }
        let other = self.root(y)?;
        let members = |root: &ValueId| self.groups.get(root).map_or(0, |group| group.members.len());
        let (small, large) = if members(&root) < members(&other) { (root, other) } else { (other, root) };
        if small == large {
            return Ok(());
        }
        let small_group = self.groups.remove(&small).unwrap_or_default();
        self.parents.insert(small, large);
        if let Some(group) = self.groups.get_mut(&large) {
            group.members.extend(small_group.members);
            group.literals.extend(small_group.literals);
            group.parts.extend(small_group.parts);
        }
        self.changed.push(large);
        Ok(())
    }

    /// The representative of a term, which is in a group from now on, perhaps alone.
    fn root(&mut self, id: ValueId) -> Result<ValueId, EngineError> {
        if !self.has(&id) {
            self.held.grow(MEMBER_BYTES).map_err(too_much)?;
            self.parents.insert(id, id);
            let group = Group { members: vec![id], literals: BTreeSet::new(), parts: vec![id] };
            self.groups.insert(id, group);
        }
        Ok(self.find(id))
    }
}

/// What is to be written out.
struct Gathered {
    triples: Vec<Triple>,
    held: Reservation,
}

impl Gathered {
    fn push(&mut self, triple: Triple) -> Result<(), EngineError> {
        if self.triples.len().is_multiple_of(AT_ONCE) {
            // What grows is there twice for a moment.
            self.held.grow(3 * AT_ONCE * size_of::<Triple>()).map_err(too_much)?;
        }
        self.triples.push(triple);
        Ok(())
    }
}

impl Read<'_> {
    /// Triples under a prefix; where that begins with a graph, of that one, else of those that are read.
    fn each(
        &self,
        order: Order,
        prefix: &[ValueId],
        each: &mut dyn FnMut(Triple) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut scan = self.snapshot.scan(order, prefix, 0b1111)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        let (places, mut last) = (order.positions(), None);
        loop {
            columns.iter_mut().for_each(Vec::clear);
            let rows = scan.next(ROWS, &mut columns)?;
            if rows == 0 {
                return Ok(());
            }
            self.cancel.check().map_err(EngineError::Cancelled)?;
            for row in 0..rows {
                let mut quad = [ValueId::UNDEF; 4];
                for (place, column) in places.into_iter().zip(&columns) {
                    quad[place as usize] = column[row];
                }
                let [s, p, o, graph] = quad;
                let is_read =
                    order == Order::Gspo || self.graphs.is_none_or(|graphs| graphs.contains(&graph));
                if is_read && last != Some([s, p, o]) {
                    last = Some([s, p, o]);
                    each([s, p, o])?;
                }
            }
        }
    }
}
