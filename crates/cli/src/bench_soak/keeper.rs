//! The client that administrates: backups, which are restored and looked into, named snapshots, compactions.

use super::check;
use super::field::{Field, Kept};
use super::places::Places;
use super::web::{Answer, Client, Gone};
use crate::bench_data::{program, run_child};
use lode_bench::bsbm::Random;
use lode_bench::soak::{Book, between};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Snapshots that there may be.
const SNAPSHOTS_MAX: usize = 3;
/// Folders of backups, which are brought up to date in turns.
const BACKUPS: u64 = 2;
/// The longest rest between two deeds.
const REST_MILLISECONDS_MAX: u64 = 4_000;

/// Administrates until all is over.
pub fn run(field: &Field, places: &Places, random: Random) {
    let mut keeper = Keeper { field, places, random, next: 0 };
    let mut last = 0;
    while let Some(round) = field.enter(last) {
        last = round.number;
        let client = Client::new(field, round);
        let mut result = keeper.reconcile(&client);
        while result.is_ok() && !field.is_paused() {
            result = keeper.step(&client);
            keeper.rest();
        }
    }
}

struct Keeper<'a> {
    field: &'a Field,
    places: &'a Places,
    random: Random,
    next: u64,
}

impl Keeper<'_> {
    fn step(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        match self.random.below(100) {
            0..35 => self.back_up(client),
            35..65 => self.create_snapshot(client),
            65..80 => self.drop_snapshot(client),
            _ => self.compact(client),
        }
    }

    fn rest(&mut self) {
        let mut left = self.random.below(REST_MILLISECONDS_MAX);
        while left > 0 && !self.field.is_paused() {
            thread::sleep(Duration::from_millis(left.min(50)));
            left = left.saturating_sub(50);
        }
    }

    /// Whether a request went well; tells if it did not.
    fn is_done(&self, answer: &Answer, what: &'static str) -> bool {
        if matches!(answer.status, 200 | 201) {
            self.field.did(what);
            return true;
        }
        // One that waits for the writer's place may be told to stop waiting.
        if !answer.is_refusal() {
            self.field.fail(format!("{what}: {} {}", answer.status, answer.body));
        }
        false
    }

    fn back_up(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        let name = format!("b{}", self.random.below(BACKUPS));
        let copy = if self.random.percent(30) { "&copy" } else { "" };
        let before = self.field.book().clone();
        let answer = match client.send("POST", &format!("/admin/backup?to={name}{copy}"), "", "") {
            Ok(answer) => answer,
            Err(Gone) => {
                self.verify_what_is_left(&name);
                return Err(Gone);
            }
        };
        let after = self.field.book().clone();
        if self.is_done(&answer, "backups") && self.random.percent(40) {
            self.restore(&name, &before, &after);
        }
        Ok(())
    }

    /// A backup that was cut off leaves the one before or the new one.
    fn verify_what_is_left(&self, name: &str) {
        let folder = self.places.backups.join(name);
        if folder.join("MANIFEST").exists() {
            self.run(&["check", &folder.to_string_lossy(), "--quiet"], "a backup that was cut off");
            self.field.did("backups cut off");
        }
    }

    /// Makes a database of a backup and compares it with the book.
    fn restore(&self, name: &str, before: &Book, after: &Book) {
        let (folder, restored) = (self.places.backups.join(name), &self.places.restored);
        if !self
            .run(&["restore", &folder.to_string_lossy(), &restored.to_string_lossy(), "--quiet"], "a restore")
        {
            return;
        }
        match check::found_in(restored) {
            Ok(found) => {
                let wrong = between(before, after, &found);
                wrong.into_iter().for_each(|what| self.field.fail(format!("in a restored backup: {what}")));
            }
            Err(error) => self.field.fail(format!("a restored backup: {error:#}")),
        }
        self.field.did("restores");
        if let Err(error) = std::fs::remove_dir_all(restored) {
            self.field.fail(format!("removing {}: {error}", restored.display()));
        }
    }

    fn run(&self, args: &[&str], what: &str) -> bool {
        let done = program().and_then(|mut command| {
            command.args(args);
            run_child(command)
        });
        done.map_err(|error| self.field.fail(format!("{what}: {error:#}"))).is_ok()
    }

    fn create_snapshot(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        if self.field.snapshots().len() >= SNAPSHOTS_MAX {
            return self.drop_snapshot(client);
        }
        let name = format!("s{}", self.next);
        self.next += 1;
        let before = self.field.book().clone();
        let answer = client.send("POST", &format!("/admin/snapshots?name={name}"), "", "")?;
        let after = self.field.book().clone();
        if self.is_done(&answer, "snapshots") {
            self.field.snapshots().push(Arc::new(Kept { name, before, after }));
        }
        Ok(())
    }

    fn drop_snapshot(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        let kept = {
            let mut snapshots = self.field.snapshots();
            if snapshots.is_empty() {
                return Ok(());
            }
            let at = self.random.below(snapshots.len() as u64) as usize;
            snapshots.swap_remove(at)
        };
        let answer = client.send("DELETE", &format!("/admin/snapshots?name={}", kept.name), "", "")?;
        if !self.is_done(&answer, "snapshots dropped") {
            self.field.snapshots().push(kept);
        }
        Ok(())
    }

    fn compact(&self, client: &Client<'_>) -> Result<(), Gone> {
        let answer = client.send("POST", "/admin/compact", "", "")?;
        self.is_done(&answer, "compactions");
        Ok(())
    }

    /// After a kill: the snapshots that were confirmed are there, and others may be, which nobody wants.
    fn reconcile(&mut self, client: &Client<'_>) -> Result<(), Gone> {
        let answer = client.send("GET", "/admin/snapshots", "", "")?;
        let listed: Vec<serde_json::Value> = serde_json::from_str(&answer.body).unwrap_or_default();
        let listed: Vec<&str> = listed.iter().filter_map(|snapshot| snapshot["name"].as_str()).collect();
        let known: Vec<String> = self.field.snapshots().iter().map(|kept| kept.name.clone()).collect();
        for name in known.iter().filter(|name| !listed.contains(&name.as_str())) {
            self.field.fail(format!("snapshot {name} is lost"));
            self.field.snapshots().retain(|kept| kept.name != *name);
        }
        for name in listed.iter().filter(|name| !known.iter().any(|known| known == *name)) {
            let answer = client.send("DELETE", &format!("/admin/snapshots?name={name}"), "", "")?;
            self.is_done(&answer, "snapshots dropped");
        }
        Ok(())
    }
}
