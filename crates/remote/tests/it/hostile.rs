//! Servers that misbehave and objects that are damaged: the right answer, or an error that names the object; never another answer, and never a wait
//! without end.

use crate::cached::{cache, published};
use crate::web_server::{Trick, WebServer};
use crate::*;
use std::time::{Duration, Instant};

/// Reads everything, from a cache that is empty.
fn read_all(server: &WebServer) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let published =
        read(Arc::new(server.store()), &cache(folder.path())).map_err(|error| error.to_string())?;
    published_contents(&published).map_err(|error| error.to_string())
}

#[test]
fn what_goes_wrong_a_few_times_goes_well() {
    let (_, target, all) = published();
    let server = WebServer::start(&target);
    let tricks = [
        Trick::EndsEarly,
        Trick::Lies,
        Trick::Flips,
        Trick::OtherRange,
        Trick::TooMuch,
        Trick::Status(500),
        Trick::Status(503),
        Trick::Status(429),
        Trick::Redirects,
        Trick::Waits(Duration::from_millis(300)),
        Trick::Closes,
        Trick::StopsInTheMiddle(Duration::from_secs(4)),
    ];
    for trick in tricks {
        for part in ["spog.perm", "manifest/latest", "index", "manifest/0"] {
            server.behave();
            server.play(part, trick, 1);
            assert_eq!(read_all(&server).unwrap_or_else(|error| panic!("{trick:?} {part}: {error}")), all);
        }
    }
}

#[test]
fn what_goes_wrong_always_is_told_with_the_object() {
    let (_, target, _) = published();
    let server = WebServer::start(&target);
    for (trick, words) in [
        (Trick::EndsEarly, &["after"][..]),
        (Trick::Flips, &["damaged at byte"]),
        (Trick::OtherRange, &["another range"]),
        (Trick::TooMuch, &["more than the range"]),
        (Trick::Status(500), &["500"]),
        (Trick::Status(404), &["missing"]),
        (Trick::Status(403), &["403", "does not let us"]),
        (Trick::IgnoresRanges, &["ignores ranges"]),
        (Trick::RedirectsForEver, &["redirect"]),
        (Trick::Closes, &["not to be had"]),
    ] {
        server.behave();
        server.play("spog.perm", trick, usize::MAX);
        server.play("dictionary", trick, usize::MAX);
        let error = read_all(&server).unwrap_err();
        assert!(words.iter().all(|word| error.to_lowercase().contains(word)), "{trick:?}: {error}");
        assert!(
            error.contains("/data/segment-") && (error.contains("spog.perm") || error.contains("dictionary")),
            "{trick:?}: {error}"
        );
    }
    server.behave();
    server.play("index", Trick::Flips, usize::MAX);
    let error = read_all(&server).unwrap_err();
    assert!(error.contains("index: damaged at byte 0"), "{error}");
    server.behave();
    server.play("manifest/latest", Trick::Status(404), usize::MAX);
    let error = read_all(&server).unwrap_err();
    assert!(error.contains("there is no published database at http://"), "{error}");
    server.behave();
    server.play("manifest/latest", Trick::Flips, usize::MAX);
    let error = read_all(&server).unwrap_err();
    assert!(error.contains("manifest/latest: damaged"), "{error}");
}

/// Each object in turn missing, cut short, longer, or with a bit flipped anywhere.
#[test]
fn damaged_objects_give_errors_and_never_other_answers() {
    let (_, target, all) = published();
    let manifests = ["manifest/latest", "manifest/00000000000000000001"];
    for path in target.files() {
        let Ok(key) = path.strip_prefix("store").or_else(|_| path.strip_prefix(STORE)) else { continue };
        let bytes = target.read(&path).unwrap();
        let length = bytes.len();
        let mut damaged: Vec<Option<Vec<u8>>> = vec![
            None,
            Some(Vec::new()),
            Some(bytes[..length / 2].to_vec()),
            Some([&bytes[..], b"x"].concat()),
        ];
        for at in [0, length / 3, length / 2, length - 1] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            damaged.push(Some(flipped));
        }
        for (case, damaged) in damaged.into_iter().enumerate() {
            let copy = target.deep_copy();
            let is_missing = damaged.is_none();
            match damaged {
                Some(bytes) => copy.overwrite(&path, bytes).unwrap(),
                None => copy.remove(&path).unwrap(),
            }
            let folder = tempfile::tempdir().unwrap();
            for (store, options) in
                [(store(&copy), ReadOptions::default()), (store(&copy).remote(), cache(folder.path()))]
            {
                let found = read(Arc::new(store), &options)
                    .map_err(|error| error.to_string())
                    .and_then(|published| published_contents(&published).map_err(|error| error.to_string()));
                match found {
                    // What no query has needed.
                    Ok(found) => assert_eq!(found, all, "{} {case}", key.display()),
                    Err(error) => {
                        let is_of_manifest = manifests.iter().any(|manifest| key == Path::new(manifest));
                        let named = error.contains(&*key.file_name().unwrap().to_string_lossy());
                        assert!(named || (is_of_manifest && is_missing), "{} {case}: {error}", key.display());
                    }
                }
            }
        }
    }
}

#[test]
fn a_server_that_is_silent_is_given_up() {
    let (_, target, _) = published();
    let server = WebServer::start(&target);
    server.play("spog.perm", Trick::Waits(Duration::from_secs(30)), usize::MAX);
    server.play("dictionary", Trick::Waits(Duration::from_secs(30)), usize::MAX);
    let start = Instant::now();
    let error = read_all(&server).unwrap_err();
    assert!(error.to_lowercase().contains("timeout"), "{error}");
    // Three tries of two seconds, of what is read ahead and then by itself.
    assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
}

/// Of a manifest without end no more is taken than the longest has.
#[test]
fn a_manifest_without_end_is_given_up() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        assert!(stream.read(&mut request).unwrap() > 0);
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nlodestore-published 1\n")
            .unwrap();
        let mut sent = 0_u64;
        while stream.write_all(&[b'x'; 64 << 10]).is_ok() {
            sent += 64 << 10;
        }
        sent
    });
    let store = lode_remote::WebStore::new(&url, lode_remote::WebOptions::default()).unwrap();
    let error = lode_remote::newest(&store).unwrap_err();
    assert!(error.to_string().contains("longer than such an object can be"), "{error}");
    drop(store);
    // And what is on its way between the two.
    assert!(server.join().unwrap() < 32 << 20);
}
