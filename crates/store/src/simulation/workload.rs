//! What the actors of a simulation do: each has its own units, and knows what must be there of them.

use super::book::{Book, Contents, State, Unit, states};
use super::keeper::Keeper;
use crate::compact::CompactError;
use crate::crash_tests::read_all;
use crate::dice::Dice;
use crate::load::{LoadOptions, LoadProgress, Replace, Source, load};
use crate::{LoadError, Store, StoreError};
use lode_base::cancel::CancelToken;
use lode_rdf::{Term, ValueId};
use std::sync::Arc;

/// Units of each kind that an actor has.
const UNITS: u64 = 3;

/// Somebody who works with a store, one thing after the other.
#[derive(Debug)]
pub struct Actor {
    number: u64,
    role: Role,
    dice: Dice,
    /// Steps of units so far, of all of them.
    steps: u64,
    pub book: Book,
}

#[derive(Debug)]
enum Role {
    /// Small transactions.
    Writer,
    /// Transactions too large for the log, loads, cleared graphs.
    Loader,
    /// Snapshots, backups, compactions; reads.
    Keeper(Keeper),
}

/// What became of a step; why it failed.
pub type Done = Result<(), String>;

/// Panics where an error tells of damage: that is never made by a failing operation, nor seen by a reader.
pub fn assert_no_damage(error: &StoreError) {
    let is_damage = matches!(
        error,
        StoreError::Corruption { .. } | StoreError::UnknownId(_) | StoreError::Version { .. }
    );
    assert!(!is_damage, "{error}");
}

/// The same of a result.
pub fn undamaged<T>(result: Result<T, StoreError>) -> Result<T, StoreError> {
    result.inspect_err(assert_no_damage)
}

pub fn told<T>(result: Result<T, StoreError>) -> Done {
    undamaged(result).map(|_| ()).map_err(|error| error.to_string())
}

pub fn told_of_load<T>(result: Result<T, LoadError>) -> Done {
    match result {
        Ok(_) => Ok(()),
        Err(LoadError::Store(error)) => told(Err::<(), _>(error)),
        Err(error) => Err(error.to_string()),
    }
}

pub fn told_of_compaction<T>(result: Result<T, CompactError>) -> Done {
    match result {
        Err(CompactError::Build(error)) => told_of_load(Err::<T, _>(error.into())),
        other => other.map(drop).map_err(|error| error.to_string()),
    }
}

/// The quads of the current version, or none where reading fails.
pub fn read(store: &Store) -> Option<Contents> {
    undamaged(read_all(&store.snapshot())).ok()
}

impl Actor {
    /// All actors of a simulation.
    pub fn all(dice: &mut Dice) -> Vec<Self> {
        let roles = [Role::Writer, Role::Writer, Role::Loader, Role::Keeper(Keeper::default())];
        let actor = |(number, role)| Self {
            number,
            role,
            dice: Dice::new(dice.roll()),
            steps: 0,
            book: Book::default(),
        };
        (0..).zip(roles).map(actor).collect()
    }

    pub fn keeper(&mut self) -> Option<&mut Keeper> {
        match &mut self.role {
            Role::Keeper(keeper) => Some(keeper),
            Role::Writer | Role::Loader => None,
        }
    }

    /// Does something.
    pub fn step(&mut self, store: &Store) -> Done {
        let done = match &mut self.role {
            Role::Writer => self.write(store),
            Role::Loader => self.load(store),
            Role::Keeper(keeper) => keeper.step(store, &mut self.dice),
        };
        if done.is_ok()
            && self.book.is_in_doubt()
            && let Some(contents) = read(store)
        {
            // What was committed after it came on top of what is seen now.
            self.book.settle(&states(&contents), "after the next commit");
        }
        done
    }

    fn write(&mut self, store: &Store) -> Done {
        let unit = Unit { owner: self.number, number: self.dice.below(UNITS) };
        let to = self.next_state();
        let is_blind = self.dice.one_in(2);
        self.change(store, unit, to, is_blind)
    }

    fn load(&mut self, store: &Store) -> Done {
        let unit = Unit::large(self.number, self.dice.below(UNITS));
        match self.dice.below(4) {
            0 => self.clear(store, unit),
            1 => {
                let to = self.next_state();
                self.change(store, unit, to, false)
            }
            _ => self.replace(store, unit),
        }
    }

    fn next_state(&mut self) -> State {
        self.steps += 1;
        if self.dice.one_in(4) { State::Absent } else { State::Written(self.steps) }
    }

    fn note(&mut self, unit: Unit, to: State, done: Done) -> Done {
        self.book.note(unit, to, done.is_ok());
        done
    }

    /// Brings a unit into a state, from whichever it is in.
    fn change(&mut self, store: &Store, unit: Unit, to: State, is_blind: bool) -> Done {
        let result = change(store, unit, self.book.possible(unit), to, is_blind);
        self.note(unit, to, told(result))
    }

    fn clear(&mut self, store: &Store, unit: Unit) -> Done {
        let clear = || -> Result<(), StoreError> {
            let mut transaction = store.begin(&CancelToken::default())?;
            let graph = transaction.snapshot()?.id_of(&unit.graph().into())?;
            if let Some(graph) = graph {
                transaction.clear_graph(graph)?;
            }
            transaction.commit().map(|_| ())
        };
        let result = clear();
        self.note(unit, State::Absent, told(result))
    }

    /// Loads a unit in place of what its graph has.
    fn replace(&mut self, store: &Store, unit: Unit) -> Done {
        self.steps += 1;
        let to = State::Written(self.steps);
        let line = |[s, p, o]: &[Term; 3]| format!("{s} {p} {o} .\n");
        let text: String = unit.quads(to).iter().map(|quad| line(&quad.terms)).collect();
        let options = LoadOptions {
            threads: 1,
            memory_bytes: if self.dice.one_in(3) { 0 } else { 1 << 30 },
            graph: Some(unit.graph()),
            replace: Some(Replace::Graph),
            ..LoadOptions::default()
        };
        let progress = Arc::new(LoadProgress::default());
        let loaded = load(store, vec![Source::bytes("x.nt", text)], options, &progress);
        self.note(unit, to, told_of_load(loaded))
    }
}

fn change(store: &Store, unit: Unit, from: &[State], to: State, is_blind: bool) -> Result<(), StoreError> {
    let mut transaction =
        if is_blind { store.begin_blind()? } else { store.begin(&CancelToken::default())? };
    let old = from.iter().filter(|state| **state != to);
    let deletions = old.flat_map(|state| unit.quads(*state)).map(|quad| (quad, false));
    for (quad, is_insertion) in deletions.chain(unit.quads(to).into_iter().map(|quad| (quad, true))) {
        let mut row = [ValueId::DEFAULT_GRAPH; 4];
        let graph = quad.graph.map(Term::from);
        for (id, term) in row.iter_mut().zip(quad.terms.into_iter().chain(graph)) {
            *id = transaction.intern(&term)?.unwrap_or_default();
        }
        if is_insertion { transaction.insert(row) } else { transaction.delete(row) }
    }
    transaction.commit().map(|_| ())
}
