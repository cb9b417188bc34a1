//! A client that asks for units, for all units of a pair of graphs, now and at named snapshots, and compares with the book.

use super::field::Field;
use super::web::{Answer, Client, Gone, QUERY, found};
use lode_bench::bsbm::Random;
use lode_bench::soak::{BUCKETS, Book, Unit, between};
use std::time::Instant;

/// Of so many units that were begun last, most are looked at.
const RECENT: u64 = 2_000;

/// Reads until all is over.
pub fn run(field: &Field, random: Random) {
    let mut reader = Reader { field, random };
    let mut last = 0;
    while let Some(round) = field.enter(last) {
        last = round.number;
        let client = Client::new(field, round);
        while !field.is_paused() && reader.step(&client).is_ok() {}
    }
}

struct Reader<'a> {
    field: &'a Field,
    random: Random,
}

impl Reader<'_> {
    fn step(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        match self.random.below(100) {
            0..60 => self.unit(client),
            60..88 => self.bucket(client),
            88..98 => self.snapshot(client),
            _ => self.halves(client),
        }
    }

    /// Asks, and counts; none where the answer was a refusal.
    fn ask(&self, client: &Client<'_>, query: &str, at: Option<&str>) -> Result<Option<Answer>, Gone> {
        let path = at.map_or_else(|| "/query".to_owned(), |name| format!("/query?at={name}"));
        let start = Instant::now();
        let answer = client.send("POST", &path, QUERY, query)?;
        if answer.is_refusal() {
            self.field.refused();
            return Ok(None);
        }
        self.field.queried(start.elapsed());
        Ok(Some(answer))
    }

    fn unit(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        let begun = self.field.book().begun();
        let since = if self.random.percent(70) { begun.saturating_sub(RECENT) } else { 0 };
        let unit = Unit(since + self.random.below((begun - since).max(1)));
        let before = self.field.book().unit(unit);
        let Some(answer) = self.ask(client, &unit.query(), None)? else { return Ok(()) };
        let after = self.field.book().unit(unit);
        self.compare(&answer, &before, &after, "now");
        Ok(())
    }

    fn bucket(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        let bucket = self.random.below(BUCKETS);
        let before = self.field.book().bucket(bucket);
        let Some(answer) = self.ask(client, &Unit::query_bucket(bucket), None)? else { return Ok(()) };
        let after = self.field.book().bucket(bucket);
        self.compare(&answer, &before, &after, "now");
        Ok(())
    }

    /// A snapshot has, however late one asks, what there was when it was made.
    fn snapshot(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        let snapshots = self.field.snapshots().clone();
        let Some(kept) = snapshots.get(self.random.below(snapshots.len() as u64) as usize) else {
            return self.bucket(client);
        };
        let bucket = self.random.below(BUCKETS);
        let Some(answer) = self.ask(client, &Unit::query_bucket(bucket), Some(&kept.name))? else {
            return Ok(());
        };
        let is_there = self.field.snapshots().iter().any(|other| other.name == kept.name);
        if answer.status == 404 && !is_there {
            return Ok(());
        }
        let name = format!("at snapshot {}", kept.name);
        self.compare(&answer, &kept.before.bucket(bucket), &kept.after.bucket(bucket), &name);
        self.field.did("queries of snapshots");
        Ok(())
    }

    /// Two counts over everything that are equal in every version.
    fn halves(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        let Some(answer) = self.ask(client, &Unit::query_halves(), None)? else { return Ok(()) };
        let row = answer.body.lines().nth(1).unwrap_or_default();
        match row.split_once(',') {
            Some((first, second)) if first == second && answer.status == 200 => {}
            _ => self.field.fail(format!("halves of units: {} {}", answer.status, answer.body)),
        }
        Ok(())
    }

    fn compare(&self, answer: &Answer, before: &Book, after: &Book, when: &str) {
        if answer.status != 200 {
            return self.field.fail(format!("a query {when}: {} {}", answer.status, answer.body));
        }
        match found(&answer.body) {
            Ok(found) => {
                let wrong = between(before, after, &found);
                wrong.into_iter().for_each(|what| self.field.fail(format!("a query {when}: {what}")));
            }
            Err(error) => self.field.fail(format!("a query {when}: {error:#}")),
        }
    }
}
