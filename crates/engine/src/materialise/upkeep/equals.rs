//! What follows from what is the same, where a commit changes something about it: by groups, as when all is materialised. By the rules, each triple would be found once for
//! each member of a group.

use super::super::equality::Groups;
use super::super::gather::Triple;
use super::limits::{TRIPLES_MAX, TooMuch};
use super::view::{Meter, Stop, View};
use lode_base::memory_budget::MemoryBudget;
use lode_rdf::{Kind, ValueId};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is looked at: one version.
pub(super) struct Equals<'a> {
    pub view: &'a View,
    pub meter: &'a Meter,
    pub budget: &'a MemoryBudget,
    pub same_as: ValueId,
}

impl Equals<'_> {
    /// What may not follow any more where `delta`, which is part of the version, is taken away: a group that loses one of its statements is all in question.
    pub fn in_question(&self, delta: &[Triple], heads: &mut BTreeSet<Triple>) -> Result<(), Stop> {
        let mut groups = Groups::new(self.same_as, self.budget);
        self.load(&mut groups, delta, &|_| true)?;
        let mut done: HashSet<ValueId> = HashSet::new();
        for triple in delta.iter().filter(|triple| triple[1] == self.same_as) {
            let [root, ..] = groups.representative(*triple);
            if !done.insert(root) {
                continue;
            }
            for one in groups.members(&root).iter().chain(&groups.literals(&root)) {
                let is_literal = !is_resource(one);
                for known in [[Some(*one), None, None], [None, Some(*one), None], [None, None, Some(*one)]] {
                    if is_literal && known[2].is_none() {
                        continue;
                    }
                    self.view.each(known, false, self.meter, &mut |found| {
                        heads.insert(*found);
                        self.bounded(heads)
                    })?;
                }
            }
        }
        self.write_out(&groups, delta.iter().map(|triple| groups.representative(*triple)).collect(), heads)
    }

    /// What follows from `delta` (sorted), which is part of the version. `is_whole`: all that follows from the others is there; else statements of groups were taken away, and what is
    /// left of these is looked at whole.
    pub fn follows(
        &self,
        delta: &[Triple],
        is_whole: bool,
        heads: &mut BTreeSet<Triple>,
    ) -> Result<(), Stop> {
        let mut groups = Groups::new(self.same_as, self.budget);
        let mut before: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
        let pairs = || delta.iter().filter(|triple| triple[1] == self.same_as);
        if is_whole {
            self.load(&mut groups, delta, &|triple| delta.binary_search(triple).is_err())?;
            groups.changed();
            for end in pairs().flat_map(|[x, _, y]| [*x, *y]) {
                let [root, ..] = groups.representative([end; 3]);
                before.entry(root).or_insert_with(|| groups.members(&root).to_vec());
            }
            for triple in pairs() {
                groups.meet(*triple)?;
            }
        } else {
            self.reach(&mut groups, delta)?;
        }
        let mut found: BTreeSet<Triple> = delta.iter().map(|triple| groups.representative(*triple)).collect();
        for (_, parts) in groups.changed() {
            for part in &parts {
                for known in [[Some(*part), None, None], [None, Some(*part), None], [None, None, Some(*part)]]
                {
                    self.view.each(known, false, self.meter, &mut |triple| {
                        found.insert(groups.representative(*triple));
                        Ok(true)
                    })?;
                }
            }
            // Those of one part are the same already.
            let members = |part: &ValueId| before.get(part).cloned().unwrap_or_else(|| vec![*part]);
            let parts: Vec<Vec<ValueId>> = parts.iter().map(members).collect();
            if parts.len() > 1 {
                self.pairs(&parts, heads)?;
            }
        }
        // These have just been found, but where they have other names for their predicate.
        let is_pair = |[s, p, o]: &Triple| s == o && *p == self.same_as && groups.has(s) && !groups.has(p);
        found.retain(|triple| !is_pair(triple));
        self.write_out(&groups, found, heads)
    }

    /// Takes in the groups of all terms in triples, by each of their statements.
    fn reach(&self, groups: &mut Groups, delta: &[Triple]) -> Result<(), Stop> {
        let (mut seen, mut open): (HashSet<ValueId>, Vec<ValueId>) = (HashSet::new(), Vec::new());
        for start in delta.iter().flatten() {
            open.push(*start);
            while let Some(id) = open.pop() {
                if !is_resource(&id) || !seen.insert(id) {
                    continue;
                }
                for known in [[Some(id), Some(self.same_as), None], [None, Some(self.same_as), Some(id)]] {
                    self.view.each(known, false, self.meter, &mut |triple| {
                        groups.meet(*triple)?;
                        open.extend([triple[0], triple[2]]);
                        Ok(true)
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Takes in the groups of all terms in triples, of statements that are meant.
    fn load(
        &self,
        groups: &mut Groups,
        delta: &[Triple],
        is_meant: &dyn Fn(&Triple) -> bool,
    ) -> Result<(), Stop> {
        let mut seen: HashSet<ValueId> = HashSet::new();
        for id in delta.iter().flatten().filter(|id| is_resource(id)) {
            if !seen.insert(*id) {
                continue;
            }
            let mut others = Vec::new();
            self.view.each([Some(*id), Some(self.same_as), None], false, self.meter, &mut |triple| {
                if is_meant(triple) {
                    groups.meet(*triple)?;
                    others.push(triple[2]);
                }
                Ok(true)
            })?;
            // Groups are complete: each member would tell the same.
            seen.extend(others);
        }
        Ok(())
    }

    /// Those of each part are the same as those of each other.
    fn pairs(&self, parts: &[Vec<ValueId>], heads: &mut BTreeSet<Triple>) -> Result<(), Stop> {
        for (at, one) in parts.iter().enumerate() {
            for (other_at, other) in parts.iter().enumerate() {
                if at == other_at && one.len() > 1 {
                    continue;
                }
                for x in one {
                    for y in other {
                        self.meter.take(1)?;
                        heads.insert([*x, self.same_as, *y]);
                        self.bounded(heads)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn write_out(
        &self,
        groups: &Groups,
        found: BTreeSet<Triple>,
        heads: &mut BTreeSet<Triple>,
    ) -> Result<(), Stop> {
        for triple in found.iter().filter(|triple| triple.iter().any(|id| groups.has(id))) {
            groups.write_out(triple, &self.meter.cancel, &mut |triple| {
                heads.insert(triple);
                self.meter.take(1)?;
                self.bounded(heads).map(drop)
            })?;
        }
        Ok(())
    }

    fn bounded(&self, heads: &BTreeSet<Triple>) -> Result<bool, Stop> {
        match heads.len() > TRIPLES_MAX {
            true => Err(Stop::TooMuch(TooMuch::Work)),
            false => Ok(true),
        }
    }
}

fn is_resource(id: &ValueId) -> bool {
    matches!(id.kind(), Some(Kind::Iri | Kind::Blank))
}
