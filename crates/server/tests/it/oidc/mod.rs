//! Tokens of an OpenID Connect provider: which are believed, what they give, and what is told of those that are not.

mod provider;

use crate::client::{Answer, ask};
use crate::{serve_database, wait_for};
use lode_engine::{Database, UpdateOptions};
use lode_server::{Graphs, KeyPlace, LogFile, LogFormat, Logs, Oidc, Rights, Role, ServerOptions, Users};
use provider::{Key, Place, encoded, list, now};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

const ISSUER: &str = "https://id.example.org/realms/a";
const AUDIENCE: &str = "lode";

fn oidc(keys: &str) -> Oidc {
    Oidc {
        issuer: ISSUER.to_owned(),
        audiences: vec![AUDIENCE.to_owned(), "lode-2".to_owned()],
        keys: keys.parse().unwrap(),
        name_claim: "preferred_username".to_owned(),
        roles_claim: "realm_access.roles".to_owned(),
        roles: vec![
            ("readers".to_owned(), Rights::new(Role::Read, &[])),
            ("writers".to_owned(), Rights::new(Role::Update, &[])),
        ],
        fetch_every: Duration::from_millis(500),
    }
}

fn serve(oidc: Oidc, options: ServerOptions) -> SocketAddr {
    let database = Database::in_memory().unwrap();
    let data = "INSERT DATA { GRAPH <http://e/a> { <http://e/s> <http://e/p> 1 } GRAPH <http://e/b> { <http://e/s> <http://e/p> 2 } }";
    database.update(data, &UpdateOptions::default()).unwrap();
    serve_database(database, ServerOptions { oidc: Some(oidc), ..options })
}

fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": now() + 300, "nbf": now() - 5, "sub": "8f1c", "preferred_username": "ann",
        "realm_access": { "roles": ["offline_access", "readers"] } })
}

/// The same with other values; null takes a claim away.
fn but(changes: Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

fn read(address: SocketAddr, token: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    ask(address, "GET", "/sparql?query=ASK%7B%7D", &[("Authorization", &bearer)], b"")
}

fn graphs(address: SocketAddr, token: &str) -> String {
    let bearer = format!("Bearer {token}");
    let query = "/sparql?query=SELECT(COUNT(*)AS?n)%7BGRAPH?g%7B?s?p?o%7D%7D";
    ask(address, "GET", query, &[("Authorization", &bearer), ("Accept", "text/csv")], b"")
        .is(200)
        .text()
        .replace("\r\n", " ")
}

#[test]
fn tokens_of_all_algorithms_are_believed() {
    let keys = [("ed", Key::ed()), ("p256", Key::p256()), ("p384", Key::p384()), ("rsa", Key::rsa())];
    let listed: Vec<Value> = keys.iter().map(|(id, key)| key.listed(id)).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jwks.json");
    std::fs::write(&file, list(&listed)).unwrap();
    let address = serve(oidc(file.to_str().unwrap()), ServerOptions::default());
    let algorithms =
        [&["EdDSA"][..], &["ES256"], &["ES384"], &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]];
    for ((id, key), algorithms) in keys.iter().zip(algorithms) {
        for algorithm in algorithms {
            let head = json!({ "alg": algorithm, "kid": id, "typ": "JWT" });
            read(address, &key.token(&head, &claims())).is(200);
            // Without a name of a key those of its kind are tried.
            read(address, &key.token(&json!({ "alg": algorithm }), &claims())).is(200);
            // One more byte in what is signed, and one less in the signature.
            let token = key.token(&head, &claims());
            let (text, signed) = token.rsplit_once('.').unwrap();
            let (first, _) = text.split_once('.').unwrap();
            let other = encoded(but(json!({ "realm_access": { "roles": ["writers"] } })).to_string());
            // Later ones have to wait, too; tokens that are right pass all the same.
            for wrong in [&format!("{first}.{other}.{signed}"), &token[..token.len() - 2]] {
                let status = read(address, wrong).status;
                assert!([401, 429].contains(&status), "{status}");
            }
        }
    }
    ask(address, "GET", "/sparql?query=ASK%7B%7D", &[], b"").is(401);
}

#[test]
fn what_is_wrong_is_refused_and_told() {
    let key = Key::rsa();
    let listed = key.listed("k1");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jwks.json");
    std::fs::write(&file, list(std::slice::from_ref(&listed))).unwrap();
    // Each refusal is a failed login, and too many of them are told to wait: so each has a server of its own.
    let refused = |token: &str| {
        let address = serve(oidc(file.to_str().unwrap()), ServerOptions::default());
        let answer = read(address, token).is(401);
        assert!(
            answer
                .field("www-authenticate")
                .unwrap()
                .ends_with("Bearer realm=\"lode\", error=\"invalid_token\"")
        );
        answer.text()
    };
    let head = json!({ "alg": "RS256", "kid": "k1" });
    let audience = "this token is for another audience";
    for (changes, told) in [
        (json!({ "exp": now() - 60 }), "this token has expired"),
        (json!({ "exp": null }), "this token is not valid here: it is no signed JWT with exp"),
        (json!({ "exp": "9999999999" }), "this token is not valid here"),
        (json!({ "nbf": now() + 120 }), "this token is not valid yet"),
        (json!({ "nbf": "soon" }), "this token is not valid here"),
        (json!({ "aud": "other" }), audience),
        (json!({ "aud": ["other", "lode2"] }), audience),
        (json!({ "aud": null }), "this token is not valid here"),
        (json!({ "iss": "https://id.example.org/realms/b" }), "this token is of another issuer"),
        (json!({ "iss": format!("{ISSUER}/") }), "this token is of another issuer"),
        (json!({ "iss": null }), "this token is not valid here"),
        (json!({ "sub": null, "preferred_username": null }), "this token is not valid here"),
    ] {
        let text = refused(&key.token(&head, &but(changes.clone())));
        assert!(text.starts_with(told), "{changes}: {text}");
    }
    // Clocks may differ by some seconds.
    let address = serve(oidc(file.to_str().unwrap()), ServerOptions::default());
    for changes in [
        json!({ "exp": now() - 5 }),
        json!({ "nbf": now() + 5 }),
        json!({ "nbf": null }),
        json!({ "aud": ["x", "lode-2"] }),
    ] {
        read(address, &key.token(&head, &but(changes))).is(200);
    }
    let body = encoded(claims().to_string());
    let none = format!("{}.{body}.", encoded(r#"{"alg":"none","kid":"k1"}"#));
    assert!(refused(&none).starts_with("this token is not valid here"));
    // The public key as a shared secret, in the forms that have been taken for one.
    let modulus = base64::Engine::decode(
        &base64::engine::general_purpose::URL_SAFE_NO_PAD,
        listed["n"].as_str().unwrap(),
    )
    .unwrap();
    for secret in [listed.to_string().into_bytes(), modulus] {
        for (name, algorithm) in [("HS256", ring::hmac::HMAC_SHA256), ("HS512", ring::hmac::HMAC_SHA512)] {
            let text = format!("{}.{body}", encoded(json!({ "alg": name, "kid": "k1" }).to_string()));
            let signed = ring::hmac::sign(&ring::hmac::Key::new(algorithm, &secret), text.as_bytes());
            let told = refused(&format!("{text}.{}", encoded(signed)));
            assert!(told.starts_with("this token is signed in a way that is not believed here"), "{told}");
        }
    }
    for (head, told) in [
        (
            json!({ "alg": "RS256", "kid": "k2" }),
            "this token is signed with a key that its issuer does not list",
        ),
        (json!({ "alg": "RS512", "kid": "k1", "crit": ["exp"] }), "this token is not valid here"),
        (json!({ "alg": "ES256", "kid": "k1" }), "this token is signed in a way"),
    ] {
        let text = refused(&key.token(&head, &claims()));
        assert!(text.starts_with(told), "{head}: {text}");
    }
    // Its own key in the head of a token is nobody's.
    let mut own = json!({ "alg": "EdDSA", "kid": "k1" });
    let other = Key::ed();
    own["jwk"] = other.listed("k1");
    refused(&other.token(&own, &claims()));
    for text in ["a.b.c", "..", "lode_x", "a.b", &"x.".repeat(2000)] {
        refused(text);
    }
}

#[test]
fn roles_and_groups_give_what_is_said_of_them() {
    let key = Key::ed();
    let place = Place::start(list(&[key.listed("k1")]));
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users.json");
    let pattern = |text: &str| Graphs::parse(&[text.to_owned()], &[]).unwrap();
    Users::change(&users, |users| users.grant_group("/team a", Role::Read, &[], &pattern("http://e/a")))
        .unwrap();
    Users::change(&users, |users| users.grant_group("/team b", Role::Update, &[], &pattern("http://e/b")))
        .unwrap();
    let address =
        serve(oidc(&place.url), ServerOptions { users: Some(users.clone()), ..ServerOptions::default() });
    let head = json!({ "alg": "EdDSA", "kid": "k1" });
    let token = |roles: &[&str]| key.token(&head, &but(json!({ "realm_access": { "roles": roles } })));
    let update = |roles: &[&str], graph: &str| {
        let bearer = format!("Bearer {}", token(roles));
        let fields = [("Authorization", bearer.as_str()), ("Content-Type", "application/sparql-update")];
        let text = format!("INSERT DATA {{ GRAPH <{graph}> {{ <http://e/s> <http://e/p> 1 }} }}");
        ask(address, "POST", "/update", &fields, text.as_bytes()).status
    };
    assert_eq!(graphs(address, &token(&["/team a"])), "n 1 ");
    assert_eq!(graphs(address, &token(&["/team a", "/team b"])), "n 2 ");
    assert_eq!(graphs(address, &token(&["readers", "x"])), "n 2 ");
    read(address, &token(&["nobody"])).is(403);
    // To read the one and to change the other is not to change both.
    let both = &["/team a", "/team b"][..];
    assert_eq!(
        (update(both, "http://e/b"), update(both, "http://e/a"), update(&["/team a"], "http://e/a")),
        (200, 403, 403)
    );
    assert_eq!((update(&["writers"], "http://e/a"), update(&["readers"], "http://e/b")), (200, 403));
    ask(
        address,
        "GET",
        "/admin/stats",
        &[("Authorization", &format!("Bearer {}", token(&["writers"])))],
        b"",
    )
    .is(403);
    Users::change(&users, |users| users.grant_group("*", Role::Admin, &[], &Graphs::default())).unwrap();
    wait_for("the file is read again", || read(address, &token(&["nobody"])).status == 200);
}

#[test]
fn keys_are_fetched_when_others_come_but_not_for_each_token() {
    let (old, new) = (Key::ed(), Key::p256());
    let place = Place::start(list(&[old.listed("old")]));
    let address = serve(oidc(&place.url), ServerOptions::default());
    let token =
        |key: &Key, id: &str, algorithm: &str| key.token(&json!({ "alg": algorithm, "kid": id }), &claims());
    wait_for("the keys are there", || read(address, &token(&old, "old", "EdDSA")).status == 200);
    let before = place.asked();
    (0..200).for_each(|_| drop(read(address, &token(&old, "old", "EdDSA")).is(200)));
    assert_eq!(place.asked(), before);
    *place.body.lock().unwrap() = list(&[new.listed("new")]);
    std::thread::sleep(Duration::from_millis(600));
    read(address, &token(&new, "new", "ES256")).is(200);
    assert_eq!(place.asked(), before + 1);
    read(address, &token(&old, "old", "EdDSA")).is(401);
    // Nobody has the provider asked more often than is said by sending names of keys.
    std::thread::sleep(Duration::from_millis(600));
    let (before, begin) = (place.asked(), std::time::Instant::now());
    (0..4).for_each(|number| drop(read(address, &token(&old, &format!("x{number}"), "EdDSA"))));
    let most = 1 + begin.elapsed().as_millis() / 500;
    assert!((place.asked() - before) as u128 <= most, "{} of {most}", place.asked() - before);
    read(address, &token(&new, "new", "ES256")).is(200);
}

#[test]
fn a_provider_that_is_down_or_sends_too_much_stops_nobody() {
    let key = Key::ed();
    let token = key.token(&json!({ "alg": "EdDSA", "kid": "k1" }), &claims());
    let mut large = list(&[key.listed("k1")]);
    large.extend(std::iter::repeat_n(b' ', 2 << 20));
    let place = Place::start(large);
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users.json");
    let own =
        Users::change(&users, |users| users.add_token("ci", Rights::new(Role::Read, &[]), None)).unwrap();
    let address = serve(oidc(&place.url), ServerOptions { users: Some(users), ..ServerOptions::default() });
    read(address, &own).is(200);
    let answer = read(address, &token).is(503);
    assert!(
        answer.text().starts_with("tokens cannot be checked") && answer.field("retry-after").is_some(),
        "{}",
        answer.text()
    );
    *place.body.lock().unwrap() = list(&[key.listed("k1")]);
    wait_for("it is asked again", || read(address, &token).status == 200);
    // Nobody listens there.
    let address = serve(oidc("http://127.0.0.1:1/jwks"), ServerOptions::default());
    read(address, &token).is(503);
    // A file must be right from the start.
    let database = Database::in_memory().unwrap();
    let options = ServerOptions { oidc: Some(oidc("/nowhere/jwks.json")), ..ServerOptions::default() };
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let error = crate::serve_on(database, any.into(), options).unwrap_err().to_string();
    assert!(error.contains(ISSUER) && error.contains("/nowhere/jwks.json"), "{error}");
    assert!(matches!(oidc("x").keys, KeyPlace::File(_)));
}

#[test]
fn logs_name_the_user_and_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str| Some(LogFile::open(&folder.path().join(name)).unwrap());
    let logs = Logs {
        access: log("access"),
        access_format: LogFormat::Json,
        audit: log("audit"),
        ..Logs::default()
    };
    let key = Key::ed();
    let place = Place::start(list(&[key.listed("k1")]));
    let address = serve(oidc(&place.url), ServerOptions { logs, ..ServerOptions::default() });
    let head = json!({ "alg": "EdDSA", "kid": "k1" });
    let token = key.token(&head, &but(json!({ "realm_access": { "roles": ["writers"] } })));
    let bearer = format!("Bearer {token}");
    wait_for("the keys are there", || read(address, &token).status == 200);
    let fields = [("Authorization", bearer.as_str()), ("Content-Type", "application/sparql-update")];
    ask(address, "POST", "/update", &fields, b"INSERT DATA { <http://e/s> <http://e/p> 7 }").is(200);
    let expired = key.token(&head, &but(json!({ "exp": 1 })));
    read(address, &expired).is(401);
    let text = |name: &str| std::fs::read_to_string(Path::new(folder.path()).join(name)).unwrap();
    wait_for("all lines", || text("access").contains("\"status\":401") && text("audit").contains("oidc:ann"));
    assert!(text("access").contains("\"user\":\"oidc:ann\""), "{}", text("access"));
    for part in [&token, &expired].iter().flat_map(|token| token.split('.').skip(1)) {
        assert!(!text("access").contains(part) && !text("audit").contains(part));
    }
}
