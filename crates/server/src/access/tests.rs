//! What operations ask for, and files of users.

use super::{Operation, Rights, Role, Users};
use axum::http::Method;

#[test]
fn every_address_has_an_operation_and_what_is_not_known_is_read() {
    for (method, path, operation) in [
        ("GET", "/sparql", Operation::Read),
        ("POST", "/sparql", Operation::Read),
        ("POST", "/query", Operation::Read),
        ("POST", "/update", Operation::Update),
        ("GET", "/update", Operation::Update),
        ("GET", "/data", Operation::Read),
        ("HEAD", "/data/x", Operation::Read),
        ("PUT", "/data", Operation::Update),
        ("POST", "/data/", Operation::Update),
        ("DELETE", "/data/x/y", Operation::Update),
        ("PATCH", "/data", Operation::Update),
        ("GET", "/admin", Operation::Administer),
        ("GET", "/admin/", Operation::Administer),
        ("GET", "/admin/stats", Operation::Administer),
        ("DELETE", "/admin/queries/1", Operation::Administer),
        ("GET", "/", Operation::Ask),
        ("GET", "/page/main.js", Operation::Ask),
        ("POST", "/", Operation::Read),
        ("GET", "/.well-known/void", Operation::Read),
        ("GET", "/administration", Operation::Read),
        ("OPTIONS", "/admin/stats", Operation::Ask),
    ] {
        assert_eq!(Operation::of(&method.parse::<Method>().unwrap(), path), operation, "{method} {path}");
    }
}

/// A role in all databases.
fn all(role: Role) -> Rights {
    Rights::new(role, &[])
}

#[test]
fn roles_in_single_databases() {
    let mut rights = Rights::new(Role::Update, &["a".to_owned(), "b".to_owned()]);
    assert_eq!(
        ["a", "b", "c"].map(|name| rights.role(Some(name))),
        [Some(Role::Update), Some(Role::Update), None]
    );
    assert_eq!((rights.role(None), rights.to_string().as_str()), (None, "update in a; update in b"));
    rights.add(all(Role::Read));
    rights.add(Rights::new(Role::Admin, &["c".to_owned()]));
    assert_eq!(
        [None, Some("a"), Some("d")].map(|name| rights.role(name)),
        [Role::Read, Role::Update, Role::Read].map(Some)
    );
    assert_eq!(rights.to_string(), "read; update in a; update in b; admin in c");
    // A role that was given later counts, also where it is less.
    rights.add(Rights::new(Role::Read, &["c".to_owned()]));
    assert_eq!(rights.role(Some("c")), Some(Role::Read));
}

#[test]
fn users_and_tokens_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = Users::file_of(folder.path());
    assert_eq!(path, folder.path().join("users.json"));
    assert!(Users::read(&path).is_err() && Users::read_or_empty(&path).unwrap().is_empty());
    let token = Users::change(&path, |users| {
        users.add("ann", all(Role::Update), "correct horse")?;
        users.add_token("ci", all(Role::Read), None)
    })
    .unwrap();
    let users = Users::read(&path).unwrap();
    assert_eq!(users.verify("ann", "correct horse"), Some(all(Role::Update)));
    for (name, password) in [("ann", "correct hors"), ("ann", ""), ("bob", "correct horse"), ("", "")] {
        assert_eq!(users.verify(name, password), None);
    }
    assert_eq!(users.token(&token), Some(("ci", all(Role::Read))));
    for wrong in [&token[..token.len() - 1], &format!("{token}0"), "lode_", ""] {
        assert_eq!(users.token(wrong), None);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("$argon2id$") && !text.contains("horse") && !text.contains(&token[5..]), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // What is refused changes nothing.
    let refused = [
        Users::change(&path, |users| users.add("ann", all(Role::Admin), "another one")),
        Users::change(&path, |users| users.add("bob", all(Role::Admin), "short")),
        Users::change(&path, |users| users.add("a:b", all(Role::Admin), "long enough")),
        Users::change(&path, |users| users.remove("bob")),
        Users::change(&path, |users| users.revoke_token("bob")),
        Users::change(&path, |users| users.change_password("bob", "long enough")),
    ];
    assert!(refused.iter().all(Result::is_err));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    Users::change(&path, |users| users.change_password("ann", "battery staple")).unwrap();
    Users::change(&path, |users| users.revoke_token("ci")).unwrap();
    let users = Users::read(&path).unwrap();
    assert_eq!(users.verify("ann", "battery staple"), Some(all(Role::Update)));
    assert_eq!((users.verify("ann", "correct horse"), users.token(&token)), (None, None));
}

#[test]
fn a_token_is_worth_nothing_once_it_has_expired() {
    let mut users = Users::default();
    let late = users.add_token("late", all(Role::Admin), Some(1)).unwrap();
    let early = users.add_token("early", all(Role::Admin), Some(u64::MAX)).unwrap();
    assert_eq!((users.token(&late), users.token(&early)), (None, Some(("early", all(Role::Admin)))));
}

#[test]
fn hashes_that_would_take_too_much_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users");
    for (hash, is_fit) in [
        (
            "$argon2id$v=19$m=9216,t=4,p=1$bm9ib2R5IGhhcyB0aGlz$47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
            true,
        ),
        (
            "$argon2id$v=19$m=4194304,t=4,p=1$bm9ib2R5IGhhcyB0aGlz$47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
            false,
        ),
        (
            "$argon2id$v=19$m=9216,t=4000000,p=1$bm9ib2R5IGhhcyB0aGlz$47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
            false,
        ),
        (
            "$argon2d$v=19$m=9216,t=4,p=1$bm9ib2R5IGhhcyB0aGlz$47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
            false,
        ),
        ("secret", false),
        ("", false),
    ] {
        let text = format!("{{\"users\":{{\"ann\":{{\"role\":\"read\",\"password\":\"{hash}\"}}}}}}");
        std::fs::write(&path, text).unwrap();
        assert_eq!(Users::read(&path).is_ok(), is_fit, "{hash}");
    }
    for text in ["", "[]", "{}", "{\"users\":{\"ann\":{\"role\":\"god\",\"password\":\"\"}}}"] {
        std::fs::write(&path, text).unwrap();
        assert!(Users::read(&path).is_err(), "{text}");
    }
}
