//! The book of what was sent and what was confirmed, and the comparison of what is found with it.

use super::unit::{BUCKETS, State, Unit};
use std::collections::BTreeMap;

/// What is known of a unit. Its steps are numbered from 1; the last may remove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// After the last step that was confirmed.
    sure: State,
    /// What a step was to make of it that was sent and not confirmed.
    sent: Option<State>,
}

/// What was sent and what was confirmed.
#[derive(Debug, Clone)]
pub struct Book {
    /// All units below have been begun.
    next: u64,
    /// Those that were not removed for sure, by bucket.
    buckets: Vec<BTreeMap<Unit, Entry>>,
}

impl Default for Book {
    fn default() -> Self {
        Self { next: 0, buckets: vec![BTreeMap::new(); BUCKETS as usize] }
    }
}

impl Book {
    /// A new unit, about to be written by its first step.
    pub fn begin(&mut self) -> Unit {
        let unit = Unit(self.next);
        self.next += 1;
        self.bucket_mut(unit).insert(unit, Entry { sure: State::Absent, sent: Some(State::Written(1)) });
        unit
    }

    /// A step of a unit that is there is about to be sent; what it was before. None where something is under way already.
    pub fn send(&mut self, unit: Unit, to: State) -> Option<State> {
        let entry = self.bucket_mut(unit).get_mut(&unit)?;
        if entry.sent.is_some() {
            return None;
        }
        entry.sent = Some(to);
        Some(entry.sure)
    }

    /// What was sent has been confirmed.
    pub fn confirm(&mut self, unit: Unit) {
        let Some(entry) = self.bucket_mut(unit).get_mut(&unit) else { return };
        if let Some(sent) = entry.sent.take() {
            entry.sure = sent;
        }
        if entry.sure == State::Absent {
            self.bucket_mut(unit).remove(&unit);
        }
    }

    /// What was sent was refused, and nothing has changed.
    pub fn refuse(&mut self, unit: Unit) {
        let Some(entry) = self.bucket_mut(unit).get_mut(&unit) else { return };
        entry.sent = None;
        if entry.sure == State::Absent {
            self.bucket_mut(unit).remove(&unit);
        }
    }

    /// What is there of a unit, once nothing is under way; none if it is not in the book (any more).
    pub fn state(&self, unit: Unit) -> Option<State> {
        self.entry(unit).filter(|entry| entry.sent.is_none()).map(|entry| entry.sure)
    }

    /// Quads of the units that are there for sure.
    pub fn quads(&self) -> u64 {
        let written = self.buckets.iter().flatten().filter(|(_, entry)| entry.sure != State::Absent);
        written.map(|(unit, _)| unit.quads()).sum()
    }

    /// Units that are in the book.
    pub fn units(&self) -> usize {
        self.buckets.iter().map(BTreeMap::len).sum()
    }

    /// Units that have ever been begun.
    pub fn begun(&self) -> u64 {
        self.next
    }

    /// What it says of one bucket, and nothing else.
    pub fn bucket(&self, bucket: u64) -> Self {
        let mut part = Self { next: self.next, ..Self::default() };
        if let (Some(to), Some(from)) =
            (part.buckets.get_mut(bucket as usize), self.buckets.get(bucket as usize))
        {
            to.clone_from(from);
        }
        part
    }

    /// What it says of one unit, and nothing else.
    pub fn unit(&self, unit: Unit) -> Self {
        let mut part = Self { next: self.next, ..Self::default() };
        if let Some(entry) = self.entry(unit) {
            part.bucket_mut(unit).insert(unit, *entry);
        }
        part
    }

    /// Nothing is under way any more: what was sent has happened if it is found, else it has not and never will.
    pub fn settle(&mut self, found: &Found) {
        for bucket in &mut self.buckets {
            bucket.retain(|unit, entry| {
                if entry.sent.take().is_some() {
                    entry.sure = found.state(*unit);
                }
                entry.sure != State::Absent
            });
        }
    }

    fn entry(&self, unit: Unit) -> Option<&Entry> {
        self.buckets.get(unit.bucket() as usize)?.get(&unit)
    }

    fn bucket_mut(&mut self, unit: Unit) -> &mut BTreeMap<Unit, Entry> {
        &mut self.buckets[unit.bucket() as usize]
    }
}

/// What was found, and what is wrong with it whatever the book says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    units: BTreeMap<Unit, u32>,
    /// Units of which only a part was there, or parts of different steps; and what is no unit.
    pub torn: Vec<String>,
}

impl Found {
    /// Takes rows of the queries of [`Unit`].
    pub fn of_rows<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str, u64)>) -> Self {
        let mut found = Self::default();
        for (subject, value, count) in rows {
            let Some((unit, step)) = Unit::of_row(subject, value) else {
                found
                    .torn
                    .push(format!("{count} quads of {subject:?} with {value:?}, which nobody has written"));
                continue;
            };
            if count != unit.quads() {
                let quads = unit.quads();
                found.torn.push(format!("{count} of {quads} quads of unit {} as of step {step}", unit.0));
            }
            if let Some(other) = found.units.insert(unit, step) {
                found.torn.push(format!("unit {} as of step {other} and of step {step}", unit.0));
            }
        }
        found
    }

    fn state(&self, unit: Unit) -> State {
        self.units.get(&unit).map_or(State::Absent, |step| State::Written(*step))
    }
}

/// What is wrong with what a query has found that began when the book was `before` and ended when it was `after`. Only what
/// these two tell of is looked for.
pub fn between(before: &Book, after: &Book, found: &Found) -> Vec<String> {
    let mut wrong = found.torn.clone();
    for unit in before.buckets.iter().flat_map(BTreeMap::keys) {
        if let Err(what) = may_be(before, after, *unit, found.state(*unit)) {
            wrong.push(what);
        }
    }
    for unit in found.units.keys().filter(|unit| before.entry(**unit).is_none()) {
        if let Err(what) = may_be(before, after, *unit, found.state(*unit)) {
            wrong.push(what);
        }
    }
    wrong
}

/// Whether a unit may be in a state between two times.
fn may_be(before: &Book, after: &Book, unit: Unit, state: State) -> Result<(), String> {
    let number = unit.0;
    let removed = before.entry(unit).is_none() && number < before.next;
    if removed {
        return match state {
            State::Absent => Ok(()),
            State::Written(step) => {
                Err(format!("unit {number} was removed and is there again, as of step {step}"))
            }
        };
    }
    let first = before.entry(unit).map_or(State::Absent, |entry| entry.sure);
    // Removed for sure meanwhile where the later book does not know it.
    let last = after.entry(unit).map(|entry| entry.sent.unwrap_or(entry.sure));
    let is_removed = matches!(last, None | Some(State::Absent));
    match state {
        State::Absent if first == State::Absent || is_removed => Ok(()),
        State::Absent => Err(format!("unit {number} is lost: {first:?} was confirmed")),
        State::Written(step) => {
            if matches!(first, State::Written(sure) if step < sure) {
                return Err(format!("unit {number} is as of step {step}, but {first:?} was confirmed"));
            }
            match last {
                None if number >= after.next => Err(format!("unit {number} is there, but was never written")),
                Some(State::Written(sent)) if step > sent => {
                    Err(format!("unit {number} is as of step {step}, which was never sent"))
                }
                _ => Ok(()),
            }
        }
    }
}
