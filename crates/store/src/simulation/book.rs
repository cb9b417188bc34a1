//! What was written and what was acknowledged. Each actor has units of its own, and a transaction takes one of them from one state
//! to another: all its quads are there, as one step has written them, or none is.

use std::collections::{BTreeMap, BTreeSet};

use lode_rdf::{Literal, NamedNode, Term};

/// Numbers from here on are those of units that have many quads and a graph of their own.
const LARGE_FROM: u64 = 100;

/// Some quads that change together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// The actor whose it is.
    pub owner: u64,
    pub number: u64,
}

/// What is there of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Absent,
    /// All quads, as this step has written them.
    Written(u64),
}

/// The quads of a database as text: object, subject, predicate, graph.
pub type Contents = BTreeSet<String>;

/// A quad of a unit.
pub struct UnitQuad {
    pub terms: [Term; 3],
    pub graph: Option<NamedNode>,
}

impl UnitQuad {
    /// As [`Contents`] has it.
    pub fn text(&self) -> String {
        let [s, p, o] = &self.terms;
        let graph = self.graph.as_ref().map(NamedNode::to_string).unwrap_or_default();
        format!("{o} {s} {p} {graph}")
    }
}

fn iri(text: String) -> NamedNode {
    NamedNode::new_unchecked(text)
}

impl Unit {
    pub fn large(owner: u64, number: u64) -> Self {
        Self { owner, number: LARGE_FROM + number }
    }

    pub fn is_large(self) -> bool {
        self.number >= LARGE_FROM
    }

    /// The graph that has some of the quads of the owner's small units, or all of a large one and no others.
    pub fn graph(self) -> NamedNode {
        iri(if self.is_large() {
            format!("http://g/{}/{}", self.owner, self.number)
        } else {
            format!("http://g/{}", self.owner)
        })
    }

    /// Its quads in a state.
    pub fn quads(self, state: State) -> Vec<UnitQuad> {
        let State::Written(step) = state else { return Vec::new() };
        let Self { owner, number } = self;
        let quad = |i: u64| {
            let object = match i {
                0 => Literal::from(step),
                _ => Literal::from(format!("{step}-{owner}-{number}-{i}")),
            };
            let subject = iri(format!("http://u/{owner}/{number}/{i}"));
            let graph = (self.is_large() || i % 2 == 1).then(|| self.graph());
            UnitQuad {
                terms: [subject.into(), iri(format!("http://p/{}", i % 2)).into(), object.into()],
                graph,
            }
        };
        // More than a transaction may have that is logged.
        (0..if self.is_large() { 9 } else { 3 }).map(quad).collect()
    }

    fn text(self, state: State) -> Contents {
        self.quads(state).iter().map(UnitQuad::text).collect()
    }
}

/// Which unit and step a quad belongs to.
fn origin(quad: &str) -> Option<(Unit, u64)> {
    let mut words = quad.split(' ');
    let (object, subject) = (words.next()?, words.next()?);
    let mut numbers = subject.strip_prefix("<http://u/")?.split('/').map(str::parse);
    let unit = Unit { owner: numbers.next()?.ok()?, number: numbers.next()?.ok()? };
    Some((unit, object.split(['"', '-']).nth(1)?.parse().ok()?))
}

/// The state of every unit that is there. Panics where there are other quads, or some of a unit only.
pub fn states(contents: &Contents) -> BTreeMap<Unit, State> {
    let mut units: BTreeMap<Unit, (u64, Contents)> = BTreeMap::new();
    for quad in contents {
        let (unit, step) = origin(quad).unwrap_or_else(|| panic!("nobody wrote {quad}"));
        units.entry(unit).or_insert_with(|| (step, Contents::new())).1.insert(quad.clone());
    }
    let whole = |(unit, (step, found)): (Unit, (u64, Contents))| {
        assert_eq!(found, unit.text(State::Written(step)), "{unit:?} is torn");
        (unit, State::Written(step))
    };
    units.into_iter().map(whole).collect()
}

/// What is known of an actor's units.
#[derive(Debug, Default)]
pub struct Book {
    /// States that each may be in, the latest at the end. Where there are several, all but one were asked for by transactions of which
    /// nobody was told that they are committed.
    units: BTreeMap<Unit, Vec<State>>,
}

impl Book {
    /// States that a unit may be in.
    pub fn possible(&self, unit: Unit) -> &[State] {
        self.units.get(&unit).map_or(&[State::Absent], Vec::as_slice)
    }

    /// Notes what became of a transaction that was to bring a unit into a state, whatever state it was in.
    pub fn note(&mut self, unit: Unit, to: State, is_committed: bool) {
        let mut possible = if is_committed { Vec::new() } else { self.possible(unit).to_vec() };
        possible.push(to);
        self.units.insert(unit, possible);
    }

    /// Whether there is more than one possible state of some unit.
    pub fn is_in_doubt(&self) -> bool {
        self.units.values().any(|possible| possible.len() > 1)
    }

    /// Panics where a unit is in a state in which it cannot be.
    pub fn check(&self, found: &BTreeMap<Unit, State>, context: &str) {
        for (unit, possible) in &self.units {
            let state = found.get(unit).copied().unwrap_or(State::Absent);
            assert!(possible.contains(&state), "{context}: {unit:?} is {state:?}, not one of {possible:?}");
        }
    }

    /// The same; what was found is there to stay.
    pub fn settle(&mut self, found: &BTreeMap<Unit, State>, context: &str) {
        self.check(found, context);
        for (unit, possible) in &mut self.units {
            *possible = vec![found.get(unit).copied().unwrap_or(State::Absent)];
        }
    }
}
