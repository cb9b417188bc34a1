//! The workspace is tidy, and each rule finds what it is for.

use super::*;

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.to_owned(), bytes: text.len() as u64, text: text.to_owned() }
}

fn messages(problems: Vec<Problem>) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_workspace_is_tidy() {
    let problems = check(&crate::workspace_root());
    assert!(problems.is_empty(), "\n{}\n", messages(problems));
}

#[test]
fn undocumented_and_long_files_are_found() {
    let long = format!("//! Long.\n{}", "x\n".repeat(900));
    let tested = format!("//! Fine.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(900));
    let files = [
        file("crates/a/src/bare.rs", "fn main() {}\n"),
        file("crates/a/src/long.rs", &long),
        file("crates/a/src/tested.rs", &tested),
        file("crates/a/src/tests.rs", &long),
    ];
    let found = messages(sizes::check(&files, "crates/a/src/tested.rs 900 once was long\n"));
    assert!(found.contains("bare.rs:1: must open"), "{found}");
    assert!(found.contains("long.rs: 901 lines"), "{found}");
    assert!(found.contains("tested.rs needs no exception"), "{found}");
    assert!(found.contains("the list may only shrink"), "{found}");
    assert_eq!(found.lines().count(), 4, "{found}");
}

#[test]
fn empty_names_and_machine_paths_are_found() {
    let path = concat!("see /ho", "me/me/notes\nhttp://example.org/ho", "me/\n");
    let files = [
        file("crates/a/src/utils.rs", ""),
        file("docs/a.md", path),
        file("docs/b.md", "`crates/gone.rs`\n[a](a.md) [up](../docs/a.md#x) [gone](c.md)\n"),
    ];
    let found = messages(names::check(&files));
    assert!(found.contains("`utils.rs` says nothing"), "{found}");
    assert!(found.contains("docs/a.md:1: a path"), "{found}");
    assert!(found.contains("`crates/gone.rs` does not exist"), "{found}");
    assert!(found.contains("docs/b.md:2: links to `c.md`"), "{found}");
    assert_eq!(found.lines().count(), 4, "{found}");
}

#[test]
fn uses_in_the_wrong_place_are_found() {
    let files = [
        file("crates/exec/src/a.rs", "use std::fs; // std::fs\n// std::fs\n"),
        file("crates/base/src/real_vfs.rs", "use std::fs;\n"),
        file("crates/exec/src/tests.rs", "use std::fs;\n"),
        file("crates/packed/src/b.rs", "let m = Mutex::new(1);\n"),
        file(
            "crates/sparql/src/c.rs",
            "use lode_packed::{Order, Position};\nuse lode_packed::segment::Segment;\n",
        ),
    ];
    let found = messages(restricted::check(&files));
    assert!(found.contains("exec/src/a.rs:1: `std::fs`"), "{found}");
    assert!(found.contains("packed/src/b.rs:1: `Mutex`"), "{found}");
    assert!(found.contains("sparql/src/c.rs:2: `lode_packed::segment`"), "{found}");
    assert_eq!(found.lines().count(), 3, "{found}");
}

#[test]
fn arrows_against_the_layers_are_found() {
    let manifest = "[dependencies]\nlode-exec.workspace = true\nlode-base.workspace = true\n[dev-dependencies]\nlode-rdf = \"1\"\nlode-cli = \"1\"\n";
    let files = [file("crates/store/Cargo.toml", manifest), file("crates/new/Cargo.toml", "")];
    let found = messages(layers::check(&files));
    assert!(found.contains("Cargo.toml:2: store must not depend on exec"), "{found}");
    assert!(found.contains("Cargo.toml:6: store must not depend on cli"), "{found}");
    assert!(found.contains("without a place"), "{found}");
    assert_eq!(found.lines().count(), 3, "{found}");
}

#[test]
fn a_drifted_format_document_is_found() {
    let sources = |version: &str| {
        let mut files: Vec<SourceFile> = [
            "crates/packed/src/format.rs",
            "crates/packed/src/order.rs",
            "crates/rdf/src/key.rs",
            "crates/rdf/src/value_id.rs",
            "crates/store/src/log/frame.rs",
            "crates/store/src/log/record.rs",
            "crates/store/src/manifest.rs",
        ]
        .map(|path| file(path, &format!("//! Doc.\nconst V: u32 = {version};\n")))
        .into();
        files.push(file("docs/format.md", "# Format\n<!-- format sources: 0 -->\n"));
        files
    };
    let found = messages(format_hash::check(&sources("1")));
    assert!(found.contains("docs/format.md:2: the sources of the format changed"), "{found}");
    assert!(messages(format_hash::check(&[])).contains("is missing"));
    assert!(messages(format_hash::check(&sources("1")[7..])).contains("defines the format"));
}
