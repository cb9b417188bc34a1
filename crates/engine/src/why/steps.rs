//! Steps that many proofs need: what a property relates two things by, from what is stated or by one rule, for walks over them; and the members of groups of equal names.
//!
//! In a large group each name has all triples that one of them has, so each triple follows in as many ways as there are names. So proofs in large groups are walks: along stated equalities and
//! those that one rule gives, from a name to one of which what is to be proven is stated.

use super::expand::{Binding, Expander, placed};
use super::graph::Key;
use super::known_steps::{ByRules, Made};
use super::walks::search;
use crate::EngineError;
use crate::materialise::too_much;
use lode_rdf::{Kind, ValueId};
use lode_sparql::rules::PremiseReads;
use lode_sparql::schema::vocabulary::owl;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// Smaller groups are proven as everything else is, by the proof of least height.
const SMALL: usize = 16;
/// Members of a group that are looked at.
const MEMBERS_MAX: usize = 100_000;
/// Rows of a way of a rule that walks go along.
const ROWS_MAX: usize = 50_000;
/// Bytes of such a row.
const ROW_BYTES: usize = 256;
/// Bytes of a member of a group.
const MEMBER_BYTES: usize = 64;

impl Expander<'_> {
    /// What rules but one relate by a property, in one step: from stated triples, or from any.
    pub fn by_rules(
        &mut self,
        property: ValueId,
        except: usize,
        is_stated: bool,
    ) -> Result<Rc<ByRules>, EngineError> {
        let place = (property, except, is_stated);
        if let Some(known) = self.steps.by_rules.get(&place) {
            return Ok(Rc::clone(known));
        }
        let (rules, mut made) = (self.rules, ByRules::default());
        let open = [ValueId::UNDEF, property, ValueId::UNDEF, ValueId::UNDEF];
        for (number, known) in rules.rules.iter().enumerate() {
            if number == except || rules.is_equality(number) {
                continue;
            }
            for head in &known.rule.head {
                let Some(unified) = self.unify(known, head, open)? else { continue };
                for way in &known.ways {
                    if way.premises.iter().any(|premise| matches!(premise.reads, PremiseReads::Path { .. })) {
                        continue;
                    }
                    let (terms, same) = placed(way, &unified.terms);
                    let query = way.query(ROWS_MAX, &same);
                    let rows = match is_stated {
                        true => self.facts.stated_rows(&query, &terms),
                        false => self.facts.rows(&query, &terms),
                    };
                    let rows = match rows {
                        Ok(rows) => rows,
                        Err(EngineError::Plan(_)) => continue,
                        Err(error) => return Err(error),
                    };
                    self.hold(rows.rows.len() * ROW_BYTES)?;
                    for row in &rows.rows {
                        self.facts.check()?;
                        let binding = Binding { given: &unified.ids, columns: &rows.columns, row };
                        let [from, p, to] = self.conclusion(known, head, &binding)?;
                        let Some(keys) = self.premises(way, &binding, &mut Vec::new())? else { continue };
                        let is_known = p == property && !from.is_undef() && !to.is_undef();
                        if is_known && !self.leads_round(property, &keys)? {
                            made.before.entry(to).or_default().push(from);
                            made.next.entry(from).or_default().push(Made {
                                to,
                                rule: number,
                                keys: keys.into(),
                            });
                        }
                    }
                }
            }
        }
        let made = Rc::new(made);
        self.steps.by_rules.insert(place, Rc::clone(&made));
        Ok(made)
    }

    /// Whether one of these is of a property, and not stated: what follows from it leads round in the same property.
    fn leads_round(&self, property: ValueId, keys: &[Key]) -> Result<bool, EngineError> {
        for [s, p, o, _] in keys.iter().filter(|key| key[1] == property) {
            if !self.facts.is_asserted(&[*s, *p, *o])? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn hold(&mut self, bytes: usize) -> Result<(), EngineError> {
        let mut held = self.facts.budget.reserve_empty();
        held.grow(bytes).map_err(too_much)?;
        self.steps.held.push(held);
        Ok(())
    }

    /// Notes that a triple follows by one rule; from what is stated, that is all that is to be known of it.
    pub fn note_made(&mut self, [from, property, to]: [ValueId; 3], made: &Made) -> Result<(), EngineError> {
        let at = self.graph.place([from, property, to, ValueId::UNDEF], self.facts)?;
        if !self.graph.nodes[at].is_stated {
            // Otherwise there may be another way that is better.
            let is_stated = self.note((at, made.rule), [from, property, to], &made.keys, Vec::new())?;
            self.graph.nodes[at].is_expanded |= is_stated;
        }
        Ok(())
    }

    /// The name that says what is the same, where the rules of equality are all there and something is the same as anything.
    fn same_as(&mut self) -> Result<Option<ValueId>, EngineError> {
        if self.rules.equality.is_none() {
            return Ok(None);
        }
        self.facts.id(&owl("sameAs"))
    }

    /// The names that are the same as one, and itself.
    fn group(&mut self, name: ValueId, same_as: ValueId) -> Result<Rc<[ValueId]>, EngineError> {
        if let Some(known) = self.steps.groups.get(&name) {
            return Ok(Rc::clone(known));
        }
        let is_name = |id: &ValueId| matches!(id.kind(), Some(Kind::Iri | Kind::Blank));
        let mut members: Vec<ValueId> = vec![name];
        let mut known: HashSet<ValueId> = HashSet::from([name]);
        if is_name(&name) {
            let mut open = VecDeque::from([name]);
            // What was inferred has all of them at once.
            let inferred = self.facts.objects_seen(name, same_as)?;
            for other in inferred.into_iter().filter(is_name) {
                if known.insert(other) {
                    members.push(other);
                    open.push_back(other);
                }
            }
            while let Some(node) = open.pop_front() {
                for other in self.equal_to(node, same_as, None)?.into_iter().filter(is_name) {
                    if known.insert(other) {
                        members.push(other);
                        open.push_back(other);
                    }
                }
                if members.len() > MEMBERS_MAX {
                    self.is_cut = true;
                    break;
                }
            }
        }
        self.hold(members.len() * MEMBER_BYTES)?;
        let group: Rc<[ValueId]> = members.into();
        for member in group.iter() {
            self.steps.groups.insert(*member, Rc::clone(&group));
        }
        Ok(group)
    }

    /// What is stated, or follows by one rule, to be the same as a name.
    fn equal_to(
        &mut self,
        name: ValueId,
        same_as: ValueId,
        made: Option<&ByRules>,
    ) -> Result<Vec<ValueId>, EngineError> {
        let mut equal = self.facts.objects(name, same_as)?;
        equal.extend(self.facts.subjects(same_as, name)?);
        if let Some(made) = made {
            equal.extend(made.next.get(&name).into_iter().flatten().map(|made| made.to));
            equal.extend(made.before.get(&name).into_iter().flatten());
        }
        Ok(equal)
    }

    /// The way in which a triple about a large group of equal names follows, by walks over what is the same. False where there is no such group, or none was found.
    pub fn by_equality(&mut self, at: usize, [s, p, o, graph]: Key) -> Result<bool, EngineError> {
        if !graph.is_undef() || [s, p, o].iter().any(|id| id.is_undef()) {
            return Ok(false);
        }
        let Some(same_as) = self.same_as()? else { return Ok(false) };
        let mut groups = Vec::with_capacity(3);
        for id in [s, p, o] {
            groups.push(self.group(id, same_as)?);
        }
        if groups.iter().all(|group| group.len() <= SMALL) {
            return Ok(false);
        }
        let is_found = match p == same_as {
            true => self.equal(at, [s, o], same_as)?,
            false => self.replaced(at, [s, p, o], same_as, &groups)?,
        };
        // There are other ways, which nobody looks at.
        self.is_cut |= is_found;
        Ok(is_found)
    }

    /// Proves that two names are the same, by a shortest way.
    fn equal(&mut self, at: usize, [s, o]: [ValueId; 2], same_as: ValueId) -> Result<bool, EngineError> {
        let Some((transitive, symmetric)) =
            self.rules.equality.as_ref().map(|rules| (rules.transitive, rules.symmetric))
        else {
            return Ok(false);
        };
        for from_rules in [None, Some(true), Some(false)] {
            let made = match from_rules {
                None => Rc::default(),
                Some(is_stated) => self.by_rules(same_as, usize::MAX, is_stated)?,
            };
            let way = search(s, MEMBERS_MAX, |id| id == o, |id| self.equal_to(id, same_as, Some(&made)))?;
            let Some(way) = way else { continue };
            let mut keys = Vec::with_capacity(way.len());
            for pair in way.windows(2) {
                let [a, b] = [pair[0], pair[1]];
                keys.push([a, same_as, b, ValueId::UNDEF]);
                let place = self.graph.place([a, same_as, b, ValueId::UNDEF], self.facts)?;
                if self.graph.nodes[place].is_stated {
                    continue;
                }
                if let Some(step) = step(&made, a, b) {
                    self.note_made([a, same_as, b], step)?;
                    continue;
                }
                if let Some(step) = step(&made, b, a) {
                    self.note_made([b, same_as, a], step)?;
                }
                let turned = [[b, same_as, a, ValueId::UNDEF]];
                let is_stated = self.note((place, symmetric), [a, same_as, b], &turned, Vec::new())?;
                self.graph.nodes[place].is_expanded |= is_stated;
            }
            if keys.len() > 1 {
                self.note((at, transitive), [s, same_as, o], &keys, Vec::new())?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Proves a triple from one of equal names that is stated.
    fn replaced(
        &mut self,
        at: usize,
        [s, p, o]: [ValueId; 3],
        same_as: ValueId,
        groups: &[Rc<[ValueId]>],
    ) -> Result<bool, EngineError> {
        let Some(rules) = self.rules.equality.clone() else { return Ok(false) };
        let [subjects, predicates, objects] = groups else { return Ok(false) };
        let objects: BTreeSet<ValueId> = objects.iter().copied().collect();
        let mut stated: HashMap<ValueId, [ValueId; 2]> = HashMap::new();
        for subject in std::iter::once(&s).chain(subjects.iter()) {
            for predicate in std::iter::once(&p).chain(predicates.iter()) {
                self.facts.check()?;
                let found = self.facts.objects(*subject, *predicate)?;
                let object =
                    found.iter().find(|id| **id == o).or(found.iter().find(|id| objects.contains(id)));
                if let Some(object) = object {
                    stated.entry(*subject).or_insert([*predicate, *object]);
                }
            }
            if stated.contains_key(&s) {
                break;
            }
        }
        if stated.is_empty() {
            return Ok(false);
        }
        let subject = match stated.contains_key(&s) {
            true => s,
            false => {
                let is_end = |id: ValueId| stated.contains_key(&id);
                let made = self.by_rules(same_as, usize::MAX, true)?;
                let way = search(s, MEMBERS_MAX, is_end, |id| self.equal_to(id, same_as, Some(&made)))?;
                // Where the way goes along what takes more than a rule.
                match way.and_then(|way| way.last().copied()).or_else(|| stated.keys().min().copied()) {
                    Some(subject) => subject,
                    None => return Ok(false),
                }
            }
        };
        let Some([predicate, object]) = stated.get(&subject).copied() else { return Ok(false) };
        let (mut at, mut triple) = (at, [s, p, o]);
        let replaced =
            [(rules.subject, 0, subject), (rules.predicate, 1, predicate), (rules.object, 2, object)];
        for (rule, place, id) in replaced {
            if triple[place] == id {
                continue;
            }
            let mut before = triple;
            before[place] = id;
            let same = [id, same_as, triple[place], ValueId::UNDEF];
            let [a, b, c] = before;
            let key = [a, b, c, ValueId::UNDEF];
            self.note((at, rule), triple, &[same, key], Vec::new())?;
            at = self.graph.place(key, self.facts)?;
            self.graph.nodes[at].is_expanded = true;
            triple = before;
        }
        Ok(true)
    }

    /// Triples as they are but for names of large groups, in whose place the first member is: what differs in them only is as good.
    pub fn canonical(&mut self, keys: &[Key]) -> Result<Option<Vec<Key>>, EngineError> {
        let Some(same_as) = self.same_as()? else { return Ok(None) };
        let (mut canonical, mut is_other) = (keys.to_vec(), false);
        for id in canonical.iter_mut().flat_map(|key| &mut key[..3]) {
            if id.is_undef() {
                continue;
            }
            let group = self.group(*id, same_as)?;
            if group.len() > SMALL {
                *id = group[0];
                is_other = true;
            }
        }
        Ok(is_other.then_some(canonical))
    }
}

fn step(made: &ByRules, from: ValueId, to: ValueId) -> Option<&Made> {
    made.next.get(&from)?.iter().find(|made| made.to == to)
}
