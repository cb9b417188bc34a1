//! Many who publish at once: each number has one winner, and nothing that was confirmed is lost.

use crate::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;

const PUBLISHERS: usize = 16;

/// In a folder of the real file system, whose hard links decide.
#[test]
fn of_sixteen_who_put_one_object_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let rounds = std::env::var("LODE_RACE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(100);
    let barrier = Barrier::new(PUBLISHERS);
    let wins: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let publisher = |me: usize| {
            let store = FolderStore::new(lode_base::real_vfs::RealVfs::shared(), folder.path());
            let mut won = Vec::new();
            for round in 0..rounds {
                barrier.wait();
                let key = manifest_key(round);
                if store.put_if_absent(&key, format!("{me} in {round}").as_bytes()).unwrap() {
                    won.push(round);
                }
                barrier.wait();
            }
            won
        };
        let threads: Vec<_> = (0..PUBLISHERS).map(|me| scope.spawn(move || publisher(me))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let store = FolderStore::new(lode_base::real_vfs::RealVfs::shared(), folder.path());
    let winners: BTreeMap<u64, usize> =
        wins.iter().enumerate().flat_map(|(me, won)| won.iter().map(move |round| (*round, me))).collect();
    assert_eq!(winners.len() as u64, rounds);
    assert_eq!(wins.iter().map(Vec::len).sum::<usize>() as u64, rounds);
    for (round, me) in winners {
        let found = store.get(&manifest_key(round), 100).unwrap();
        assert_eq!(found, format!("{me} in {round}").into_bytes());
    }
    assert!(store.list("uploads").unwrap().unwrap().is_empty());
}

/// Sixteen publish a database that goes on changing.
#[test]
fn nothing_that_was_confirmed_is_lost() {
    let (vfs, target) = (database(20), MemVfs::new());
    let rounds: usize =
        std::env::var("LODE_RACE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(25);
    let database = open(&shared(&vfs));
    publish(&vfs, &store(&target));
    let mut numbers = BTreeSet::from([1]);
    for round in 0..rounds {
        insert(&database, round);
        if round % 8 == 7 {
            let progress = Arc::new(LoadProgress::default());
            lode_store::compact(database.store(), &lode_store::CompactOptions::default(), &progress).unwrap();
        }
        let barrier = Barrier::new(PUBLISHERS);
        let results: Vec<Result<PublishReport, RemoteError>> = std::thread::scope(|scope| {
            let publisher = || {
                barrier.wait();
                try_publish(&vfs, &store(&target), &PublishOptions::default())
            };
            let threads: Vec<_> = (0..PUBLISHERS).map(|_| scope.spawn(publisher)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut new = Vec::new();
        for result in results {
            match result {
                Ok(report) if !report.was_there => new.push(report.number),
                Ok(_) | Err(RemoteError::Conflict { .. } | RemoteError::Lost { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(new.len(), 1, "round {round}: {new:?}");
        assert!(new.into_iter().all(|number| numbers.insert(number)));
        assert_eq!(newest_contents(&target).len(), 20 + round + 1);
    }
    assert_eq!(numbers.len() as u64, *numbers.last().unwrap());
}
