//! Workers that go, stand still, are strangers, or have something else than the head.

use crate::support::{Process, eager, head, here, options, people, prepared, processes, sorted, token, urls};
use lode_cluster::{Head, HeadOptions, Tls, Token, WorkerError, WorkerOptions};
use lode_engine::{CancelToken, Cancelled, Elsewhere, EngineError, ExecError, QueryOptions, QueryResults};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

const TEXT: &str = "SELECT ?a ?b (COUNT(*) AS ?c) { ?a <http://e/knows> ?b . ?b <http://e/knows> ?d . ?d <http://e/knows> ?e } GROUP BY ?a ?b";

/// All rows have to be there before the first goes out.
const COUNTED: &str = "SELECT (COUNT(*) AS ?c) (COUNT(DISTINCT ?d) AS ?x) { ?a <http://e/knows> ?b . ?b <http://e/knows> ?d . ?d <http://e/knows> ?e }";

#[test]
fn a_killed_worker_is_done_without() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 30_000);
    let native = sorted(prepared(&database, COUNTED, None).run().unwrap());
    let mut workers = processes(4, &place, folder.path());
    let head = head(workers.iter().map(|worker| worker.url.clone()).collect());
    for millis in [0, 50, 400] {
        let query = prepared(&database, COUNTED, Some(&head));
        assert!(query.report().elsewhere.is_some());
        let (found, took) = killed_meanwhile(&mut workers, millis, || sorted(query.run().unwrap()));
        println!("answered {took:?} after a worker was killed, after {millis} ms");
        assert_eq!(found, native, "killed after {millis} ms");
    }
}

/// Once rows have gone out there is an error, and never a part of the rows as if it were all.
#[test]
fn rows_that_have_gone_out_are_not_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 30_000);
    let native = sorted(prepared(&database, TEXT, None).run().unwrap());
    let mut workers = processes(4, &place, folder.path());
    let head = head(workers.iter().map(|worker| worker.url.clone()).collect());
    for millis in [0, 100, 700] {
        let query = prepared(&database, TEXT, Some(&head));
        let (found, _) = killed_meanwhile(&mut workers, millis, || {
            query.run().and_then(|results| match results {
                QueryResults::Solutions(mut solutions) => solutions.collect_rows(),
                _ => panic!("rows"),
            })
        });
        match found {
            Ok(rows) => assert_eq!(rows.len(), native.len(), "killed after {millis} ms"),
            Err(error) => assert!(error.to_string().contains("workers of the query are gone"), "{error}"),
        }
    }
}

/// What comes of `work` while one of these is killed, and how long that was after it.
fn killed_meanwhile<T>(workers: &mut Vec<Process>, millis: u64, work: impl FnOnce() -> T) -> (T, Duration) {
    let mut killed = workers.pop().unwrap();
    std::thread::scope(|scope| {
        let at = scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(millis));
            killed.kill();
            Instant::now()
        });
        let found = work();
        let at = at.join().unwrap();
        (found, at.elapsed())
    })
}

#[test]
fn without_workers_it_is_run_here() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let workers = here(2, &place);
    let addresses = urls(&workers);
    let away = head(vec![Url::parse("http://127.0.0.1:9").unwrap()]);
    let native = sorted(prepared(&database, TEXT, None).run().unwrap());
    assert_eq!(sorted(prepared(&database, TEXT, Some(&away)).run().unwrap()), native);
    let head = head(addresses);
    assert_eq!(sorted(prepared(&database, TEXT, Some(&head)).run().unwrap()), native);
    let query = prepared(&database, TEXT, Some(&head));
    drop(workers);
    assert_eq!(sorted(query.run().unwrap()), native);
}

#[test]
fn a_worker_that_stands_still_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 5_000);
    let native = sorted(prepared(&database, COUNTED, None).run().unwrap());
    let workers = processes(2, &place, folder.path());
    let head = head(workers.iter().map(|worker| worker.url.clone()).collect());
    assert_eq!(sorted(prepared(&database, COUNTED, Some(&head)).run().unwrap()), native);
    workers[0].signal("STOP");
    let started = Instant::now();
    let found = sorted(prepared(&database, COUNTED, Some(&head)).run().unwrap());
    println!("answered after {:?}", started.elapsed());
    workers[0].signal("CONT");
    assert_eq!(found, native);
}

#[test]
fn strangers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let workers = here(2, &place);
    let other = HeadOptions { token: Token::new("another token, as long").unwrap(), ..eager(urls(&workers)) };
    let stranger: Arc<dyn Elsewhere> = Arc::new(Head::new(other).unwrap());
    let query = prepared(&database, TEXT, Some(&stranger));
    assert!(query.report().elsewhere.is_none(), "a worker has let in who has another token");
    assert!(!sorted(query.run().unwrap()).is_empty());
}

#[test]
fn nothing_is_taken_in_the_open() {
    let site = || lode_cluster::Site {
        databases: Arc::new(
            lode_cluster::Databases::new(&[], None, lode_engine::OpenOptions::default()).unwrap(),
        ),
        memory: lode_engine::MemoryBudget::new(1 << 20),
        spill_dir: std::env::temp_dir(),
        time_max: Duration::from_secs(1),
        work: Arc::default(),
    };
    let listen = "0.0.0.0:0".parse().unwrap();
    let plain =
        WorkerOptions { listen, token: token(), tls: None, authority: None, site: site(), metrics: None };
    assert!(matches!(lode_cluster::Worker::start(plain), Err(WorkerError::Plain(_))));
}

#[test]
fn another_version_of_the_database_is_not_mixed_in() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let workers = here(2, &place);
    let head = head(urls(&workers));
    let before = database.snapshot();
    let native = sorted(database.prepare_at(before.clone(), TEXT, &options(None)).unwrap().run().unwrap());
    let update = "INSERT DATA { <http://e/s1> <http://e/knows> <http://e/s2>, <http://e/s3> }";
    database.update(update, &lode_engine::UpdateOptions::default()).unwrap();
    // Workers find the later version at the place, and say so: the head has the earlier one, and answers by itself.
    let query = database.prepare_at(before, TEXT, &options(Some(&head))).unwrap();
    assert!(query.report().elsewhere.is_some());
    assert_eq!(sorted(query.run().unwrap()), native);
    let later = sorted(prepared(&database, TEXT, None).run().unwrap());
    assert_ne!(later, native);
    assert_eq!(sorted(prepared(&database, TEXT, Some(&head)).run().unwrap()), later);
}

#[test]
fn time_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 20_000);
    let workers = here(2, &place);
    let head = head(urls(&workers));
    let long = "SELECT (COUNT(*) AS ?c) { ?a <http://e/kind> ?k . ?b <http://e/kind> ?k . ?c <http://e/kind> ?k FILTER (?a < ?b) }";
    let cancel = CancelToken::new(Some(Duration::from_millis(700)));
    let options = QueryOptions { cancel, ..options(Some(&head)) };
    let started = Instant::now();
    let outcome = database.prepare(long, &options).unwrap().run().and_then(|results| match results {
        QueryResults::Solutions(mut solutions) => solutions.collect_rows(),
        _ => panic!("rows"),
    });
    println!("called off after {:?}", started.elapsed());
    let is_timeout = matches!(
        outcome,
        Err(EngineError::Cancelled(Cancelled::Timeout)
            | EngineError::Execution(ExecError::Cancelled(Cancelled::Timeout)))
    );
    assert!(is_timeout, "{outcome:?}");
}

#[test]
fn a_worker_that_is_asked_to_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let mut workers = processes(2, &place, folder.path());
    let head = head(workers.iter().map(|worker| worker.url.clone()).collect());
    let native = sorted(prepared(&database, COUNTED, None).run().unwrap());
    assert_eq!(sorted(prepared(&database, COUNTED, Some(&head)).run().unwrap()), native);
    workers[0].signal("TERM");
    let started = Instant::now();
    while !workers[0].has_ended() {
        assert!(started.elapsed() < Duration::from_secs(60), "a worker does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(sorted(prepared(&database, COUNTED, Some(&head)).run().unwrap()), native);
}

/// What is behind a name is found by its own address, and has to show a certificate of the name.
#[test]
fn those_behind_a_name_show_its_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let own = rcgen::generate_simple_self_signed(["workers.example.org".to_owned()]).unwrap();
    let (certificate, key) = (own.cert.pem().into_bytes(), own.signing_key.serialize_pem().into_bytes());
    let worker = crate::support::with_certificate(&place, Tls { certificate: certificate.clone(), key });
    let native = sorted(prepared(&database, COUNTED, None).run().unwrap());
    for (name, is_believed) in [("workers.example.org", true), ("others.example.org", false)] {
        let url = format!("https://{name}:{}/?at=127.0.0.1", worker.address.port());
        let options = HeadOptions {
            authority: Some(certificate.clone().into()),
            ..eager(vec![Url::parse(&url).unwrap()])
        };
        let head: Arc<dyn Elsewhere> = Arc::new(Head::new(options).unwrap());
        let query = prepared(&database, COUNTED, Some(&head));
        assert_eq!(query.report().elsewhere.is_some(), is_believed, "{name}");
        assert_eq!(sorted(query.run().unwrap()), native);
    }
}

#[test]
fn certificates_are_believed_of_their_authority_only() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (own.cert.pem().into_bytes(), own.signing_key.serialize_pem().into_bytes());
    let worker = crate::support::with_certificate(&place, Tls { certificate: certificate.clone(), key });
    let url = Url::parse(&format!("https://localhost:{}", worker.address.port())).unwrap();
    let native = sorted(prepared(&database, COUNTED, None).run().unwrap());
    for (authority, is_believed) in [(certificate, true), (other.cert.pem().into_bytes(), false)] {
        let options = HeadOptions { authority: Some(authority.into()), ..eager(vec![url.clone()]) };
        let head: Arc<dyn Elsewhere> = Arc::new(Head::new(options).unwrap());
        let query = prepared(&database, COUNTED, Some(&head));
        assert_eq!(query.report().elsewhere.is_some(), is_believed);
        assert_eq!(sorted(query.run().unwrap()), native);
    }
    // Nor is a plain connection taken.
    let plain = head(vec![Url::parse(&format!("http://127.0.0.1:{}", worker.address.port())).unwrap()]);
    assert!(prepared(&database, COUNTED, Some(&plain)).report().elsewhere.is_none());
}
