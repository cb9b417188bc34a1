//! A client that writes, rewrites and removes units. A unit belongs to one writer.

use super::field::Field;
use super::web::{Answer, Client, Gone, N_QUADS, UPDATE};
use lode_bench::bsbm::Random;
use lode_bench::soak::{State, Unit};
use std::time::Instant;

/// Writes until all is over. Beyond `units_max` units it removes as many as it makes.
pub fn run(field: &Field, random: Random, units_max: usize) {
    let mut writer = Writer { field, random, units: Vec::new(), units_max, under_way: None };
    let mut last = 0;
    while let Some(round) = field.enter(last) {
        last = round.number;
        writer.settle();
        let client = Client::new(field, round);
        while !field.is_paused() && writer.step(&client).is_ok() {}
    }
}

struct Writer<'a> {
    field: &'a Field,
    random: Random,
    /// Those that are there.
    units: Vec<Unit>,
    units_max: usize,
    /// The one of the last request, if it was not answered.
    under_way: Option<Unit>,
}

impl Writer<'_> {
    /// What was not answered has happened or not: the book knows by now.
    fn settle(&mut self) {
        let Some(unit) = self.under_way.take() else { return };
        if matches!(self.field.book().state(unit), Some(State::Written(_))) {
            self.units.push(unit);
        }
    }

    fn step(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        let new = if self.units.len() < self.units_max { 70 } else { 30 };
        if self.units.is_empty() || self.random.percent(new) {
            let unit = self.field.book().begin();
            return self.write(client, unit, State::Absent, State::Written(1));
        }
        let at = self.random.below(self.units.len() as u64) as usize;
        let unit = self.units.swap_remove(at);
        let mut book = self.field.book();
        let Some(from @ State::Written(step)) = book.state(unit) else { return Ok(()) };
        let to = if self.random.percent(50) { State::Written(step + 1) } else { State::Absent };
        book.send(unit, to);
        drop(book);
        self.write(client, unit, from, to)
    }

    /// Sends what makes of a unit what it is to be.
    fn write(&mut self, client: &Client<'_>, unit: Unit, from: State, to: State) -> Result<(), Gone> {
        let is_blind = self.random.percent(60);
        let by_file = unit.is_large() || self.random.percent(25);
        let (path, media_type, text) = match (from, to) {
            (State::Absent, State::Written(step)) if by_file => ("/data", N_QUADS, unit.n_quads(step)),
            (State::Absent, State::Written(step)) => ("/update", UPDATE, unit.insert(step, is_blind)),
            (State::Written(from), State::Written(to)) => {
                ("/update", UPDATE, unit.rewrite(from, to, is_blind))
            }
            (State::Written(from), State::Absent) => ("/update", UPDATE, unit.remove(from, is_blind)),
            (State::Absent, State::Absent) => return Ok(()),
        };
        self.under_way = Some(unit);
        let start = Instant::now();
        let answer = client.send("POST", path, media_type, &text)?;
        let time = start.elapsed();
        self.under_way = None;
        if answer.is_refusal() {
            self.field.refused();
            self.field.book().refuse(unit);
        } else if matches!(answer.status, 200 | 201) {
            self.field.committed(time);
            self.field.book().confirm(unit);
            self.check(&answer, unit, from, to);
        } else {
            self.field.fail(format!("a write of unit {}: {} {}", unit.0, answer.status, answer.body));
            return Ok(());
        }
        let is_there = matches!(self.field.book().state(unit), Some(State::Written(_)));
        if is_there {
            self.units.push(unit);
        }
        Ok(())
    }

    /// The answer tells what really changed: all of the unit.
    fn check(&self, answer: &Answer, unit: Unit, from: State, to: State) {
        let told = (answer.number("inserted"), answer.number("deleted"));
        let (inserted, deleted) = unit.changed(from, to);
        if told != (Some(inserted), Some(deleted)) {
            let wanted = format!("{inserted} inserted and {deleted} deleted");
            self.field.fail(format!("unit {}: expected {wanted}, but {}", unit.0, answer.body.trim_end()));
        }
    }
}
