//! What operations ask for, and files of users.

use super::{Graphs, Operation, Rights, Role, Users};
use axum::http::Method;
use lode_rdf::{GraphNameRef, NamedNodeRef};

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
    let free = Graphs::default();
    rights.give(Role::Read, &[], &free);
    rights.give(Role::Admin, &["c".to_owned()], &free);
    assert_eq!(
        [None, Some("a"), Some("d")].map(|name| rights.role(name)),
        [Role::Read, Role::Update, Role::Read].map(Some)
    );
    assert_eq!(rights.to_string(), "read; update in a; update in b; admin in c");
    // A role that was given later counts, also where it is less.
    rights.give(Role::Read, &["c".to_owned()], &free);
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

#[test]
fn roles_for_some_graphs_add_up_and_come_back_from_the_file() {
    let graphs = |read: &[&str], write: &[&str]| {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Graphs::parse(&texts(read), &texts(write)).unwrap()
    };
    let books = ["books".to_owned()];
    let mut rights = Rights::default();
    rights.give(Role::Read, &[], &graphs(&["default", "http://e/*"], &[]));
    rights.give(Role::Update, &books, &graphs(&["http://f/a"], &["http://f/a", "http://f/b"]));
    assert_eq!(
        rights.to_string(),
        "read (graphs default, http://e/*); update (graphs http://f/a; changes http://f/a, http://f/b) in books"
    );
    let name = |iri| GraphNameRef::NamedNode(NamedNodeRef::new_unchecked(iri));
    let may = |database, graph| {
        let rules = rights.graphs(database);
        (rules.may_read(graph), rules.may_add(graph), rules.may_remove(graph))
    };
    for (database, graph, expected) in [
        (None, GraphNameRef::DefaultGraph, (true, false, false)),
        (None, name("http://e/x"), (true, false, false)),
        (None, name("http://f/a"), (false, false, false)),
        (Some("books"), name("http://e/x"), (true, false, false)),
        (Some("books"), name("http://f/a"), (true, true, true)),
        (Some("books"), name("http://f/b"), (false, true, false)),
        (Some("books"), name("http://f/c"), (false, false, false)),
    ] {
        assert_eq!(may(database, graph), expected, "{database:?} {graph}");
    }
    // What nothing is said of stays; what is said replaces.
    rights.give(Role::Update, &[], &Graphs::default());
    assert_eq!(rights.graphs(None).write, graphs(&["default", "http://e/*"], &[]).read.unwrap());
    rights.give(Role::Read, &[], &graphs(&["all"], &["none"]));
    assert!(rights.to_string().starts_with("update (graphs all; changes none);"), "{rights}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.json");
    let token = Users::change(&path, |users| {
        users.add("ann", rights.clone(), "correct horse")?;
        users.add_token("ci", rights.clone(), None)
    })
    .unwrap();
    let users = Users::read(&path).unwrap();
    assert_eq!(users.verify("ann", "correct horse").as_ref(), Some(&rights));
    assert_eq!(users.token(&token), Some(("ci", rights)));
}

#[test]
fn rules_that_mean_nothing_are_refused() {
    for texts in
        [&["g"][..], &["default*"], &["http://e/*/x*"], &["all", "default"], &["none", "http://e/a"], &[""]]
    {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        assert!(Graphs::parse(&texts, &[]).is_err(), "{texts:?}");
    }
    let graphs = Graphs::parse(&["default".to_owned()], &["default".to_owned()]).unwrap();
    let mut users = Users::default();
    for role in [Role::Admin, Role::Read] {
        let mut rights = Rights::default();
        rights.give(role, &[], &graphs);
        assert!(
            users.add("ann", rights.clone(), "correct horse").is_err()
                && users.add_token("t", rights, None).is_err()
        );
    }
    users.add("ann", all(Role::Update), "correct horse").unwrap();
    assert!(users.grant("ann", Role::Admin, &[], &graphs).is_err());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.json");
    let hash =
        "$argon2id$v=19$m=9216,t=4,p=1$bm9ib2R5IGhhcyB0aGlz$47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";
    for (role, is_fit) in [
        ("\"read\"", true),
        ("{\"role\":\"read\",\"graphs\":[]}", true),
        ("{\"role\":\"read\",\"graphs\":[\"http://e/*\"]}", true),
        ("{\"role\":\"read\",\"graphs\":[\"e\"]}", false),
        ("{\"role\":\"read\",\"grahps\":[]}", false),
        ("{\"role\":\"admin\",\"graphs\":[]}", false),
    ] {
        std::fs::write(
            &path,
            format!("{{\"users\":{{\"ann\":{{\"role\":{role},\"password\":\"{hash}\"}}}}}}"),
        )
        .unwrap();
        assert_eq!(Users::read(&path).is_ok(), is_fit, "{role}");
    }
}
