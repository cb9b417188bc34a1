//! Which worker runs which task: by rendezvous hashing, so that a worker mostly gets the ranges whose blocks it has in its caches.

use std::hash::{DefaultHasher, Hash, Hasher};
use url::Url;

/// A worker for each task of a query over this database. Tasks are spread evenly; with each worker that comes or goes few tasks move.
pub fn route(database: u128, tasks: usize, workers: &[Url]) -> Vec<Url> {
    let most = tasks.div_ceil(workers.len().max(1));
    let mut given = vec![0; workers.len()];
    let mut routed = Vec::with_capacity(tasks);
    for task in 0..tasks {
        let free =
            workers.iter().enumerate().filter(|(place, _)| given.get(*place).is_some_and(|n| *n < most));
        let best = free.max_by_key(|(_, url)| weight(database, task, url));
        let Some((place, url)) = best else { break };
        if let Some(count) = given.get_mut(place) {
            *count += 1;
        }
        routed.push(url.clone());
    }
    routed
}

/// The same in every process of a version of the program.
fn weight(database: u128, task: usize, url: &Url) -> u64 {
    let mut hasher = DefaultHasher::new();
    (database, task, url.as_str()).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    //! Evenly, and the same again.
    use super::*;

    fn urls(count: usize) -> Vec<Url> {
        (0..count).map(|n| Url::parse(&format!("http://127.0.0.1:{}", 7000 + n)).unwrap()).collect()
    }

    #[test]
    fn evenly_and_the_same_again() {
        for (tasks, count) in [(2, 1), (3, 3), (7, 3), (8, 2), (16, 5)] {
            let workers = urls(count);
            let routed = route(5, tasks, &workers);
            assert_eq!(routed.len(), tasks);
            assert_eq!(routed, route(5, tasks, &workers));
            for worker in &workers {
                let own = routed.iter().filter(|url| *url == worker).count();
                assert!(own <= tasks.div_ceil(count), "{own} of {tasks} tasks for one of {count}");
            }
        }
    }

    #[test]
    fn order_of_the_list_does_not_matter() {
        let mut workers = urls(4);
        let before = route(9, 8, &workers);
        workers.reverse();
        assert_eq!(before, route(9, 8, &workers));
    }

    #[test]
    fn nobody_runs_nothing() {
        assert!(route(1, 3, &[]).is_empty());
    }
}
