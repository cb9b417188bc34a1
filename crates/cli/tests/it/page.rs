//! The page in a browser, where Chromium and Python are installed (docs/testing.md says how tests find them).

use crate::endpoint::Endpoint;
use crate::lode::{Lode, note};
use crate::users::with_line;
use std::process::Command;

const DATA: &str = include_str!("../page/data.ttl");
/// What something follows from, and a contradiction.
const RULES_DATA: &str = include_str!("../page/rules.ttl");
const PASSWORD: &str = "a long password, é";

/// The data, and 100 things with numbers.
fn turtle() -> String {
    let numbers = (0..100)
        .map(|number| format!("<http://e/number/{number}> a <http://e/Number> ; <http://e/n> {number} .\n"));
    DATA.to_owned() + &numbers.collect::<String>()
}

/// A server with a user and a token; the token is written to a file.
fn with_users(lode: &Lode) -> Endpoint {
    with_line(lode, &["user", "add", "users.json", "ann", "--role", "update"], PASSWORD).ok();
    let token = lode.run(&["token", "add", "users.json", "reader", "--role", "read"]).ok();
    lode.write("token", token.trim());
    Endpoint::start(lode, &["--users", "users.json"])
}

fn several(lode: &Lode) -> Endpoint {
    let endpoint = Endpoint::serve_with(lode, &["--databases", "all"], &[]);
    for name in ["d", "other", "rules"] {
        endpoint.send("POST", &format!("/admin/databases?name={name}"), &[], b"").is(201);
    }
    let turtle = [("Content-Type", "text/turtle")];
    endpoint.send("POST", "/d/data?default", &turtle, b"<http://e/s> <http://e/p> 1 .").is(200);
    endpoint.send("POST", "/rules/data?default", &turtle, RULES_DATA.as_bytes()).is(200);
    endpoint.send("POST", "/rules/admin/materialise?rules=owl2-rl", &[], b"").is(200);
    endpoint
}

#[test]
fn people_use_the_page() {
    let python = std::env::var("LODE_CLIENTS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let folder = format!("{}/tests/page", env!("CARGO_MANIFEST_DIR"));
    let found = Command::new(&python)
        .args(["-c", "import chromium, sys; sys.exit(chromium.program() is None)"])
        .env("PYTHONPATH", &folder)
        .output();
    if !found.is_ok_and(|output| output.status.success()) {
        return note(format_args!(
            "skipped: {python} (LODE_CLIENTS_PYTHON) or Chromium (LODE_CHROMIUM) is not here"
        ));
    }
    let (one, users, all) =
        (Lode::with_turtle(&turtle()), Lode::with_turtle("<http://e/s> <http://e/p> 1 ."), Lode::new());
    let (first, second, third) = (Endpoint::start(&one, &[]), with_users(&users), several(&all));
    let turtle = [("Content-Type", "text/turtle")];
    first.send("PUT", "/data?graph=http://e/graph", &turtle, b"<http://e/s> a <http://e/InGraph> .").is(201);
    let output = Command::new(python)
        .arg(format!("{folder}/end_to_end.py"))
        .args([first.base(), second.base(), third.base()])
        .arg(users.path("."))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let said = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.0.trim_end() == "ok", "{} {}", said.0, said.1);
    note(format_args!("{}", said.1.trim_end()));
}
